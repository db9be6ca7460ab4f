//! Rows here and there in a mini-block page without levels: each chunk is opened once for all that is wanted of it, and all
//! texts are decoded in one go.

use super::{
    Target,
    block::{ByWord, by_word, inline_width},
    chunks::narrow,
    mini_block::MiniBlock,
    values::{ValueCodec, Variable},
};
use crate::{Result, ensure, leaf::LeafBuilder};
use alloc::vec::Vec;
use core::ops::Range;
use lancet_kernels::{fsst::Symbols, gather, unpack};

/// So many ranges before a value is read, its memory is asked for: they are scattered, and none is near another.
const AHEAD: usize = 16;

/// Where in a chunk a value can be expected, before anything of the chunk is known but its size.
type Places<'a> = &'a dyn Fn(Expected, &mut dyn FnMut(usize));

/// A value of a chunk that is not open yet.
#[derive(Clone, Copy)]
struct Expected {
    slot: usize,
    slots: usize,
    /// Bytes of the chunk.
    bytes: usize,
}

/// Where the first buffer of a chunk without levels begins.
const HEADER: usize = 8;

impl MiniBlock {
    /// Appends rows of `ranges`, which ascend, if there are no levels and the values are of a kind for which this is
    /// quicker than range by range; whether it did.
    ///
    /// # Errors
    /// Corrupt if the chunks are not what they should be.
    pub(super) fn read_picked(&self, ranges: &[Range<u64>], target: &mut Target) -> Result<bool> {
        if self.has_levels() {
            return Ok(false);
        }
        let Some(dictionary) = self.dictionary() else { return self.read_values(ranges, &mut target.leaf) };
        let mut indices = LeafBuilder::new(dictionary.index.clone(), 0, None);
        if !self.read_values(ranges, &mut indices)? {
            return Ok(false);
        }
        let picks = &mut target.scratch.picks;
        picks.clear();
        dictionary.pick(&indices, core::iter::empty(), picks)?;
        dictionary.append_picks(target)?;
        Ok(true)
    }

    fn read_values(&self, ranges: &[Range<u64>], out: &mut LeafBuilder) -> Result<bool> {
        match self.codec() {
            ValueCodec::Packed { bits } => by_word(*bits, PickedWords { page: self, ranges, out })?,
            ValueCodec::Variable { offset_width } => {
                let (bytes, ends) = self.picked_texts(ranges, *offset_width)?;
                out.append_values(&bytes, ends.iter().copied())?;
            }
            ValueCodec::Fsst { symbols, offset_width } => {
                let (codes, ends) = self.picked_texts(ranges, *offset_width)?;
                append_texts(symbols, &codes, &ends, out)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The bytes of texts, or their codes, end to end, and where each ends.
    fn picked_texts(&self, ranges: &[Range<u64>], offset_width: usize) -> Result<(Vec<u8>, Vec<usize>)> {
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(ranges.len()));
        // The offset, and about where the text lies if all are of one length.
        let places = |value: Expected, ask: &mut dyn FnMut(usize)| {
            let texts = HEADER + (value.slots + 1) * offset_width;
            ask(HEADER + value.slot * offset_width);
            let text = texts + value.bytes.saturating_sub(texts) * value.slot / value.slots.max(1);
            ask(text.saturating_sub(32));
            ask(text + 32);
        };
        self.for_each_picked(ranges, &places, |buffer, slots, within| {
            let values = Variable::new(buffer, offset_width, slots, within)?;
            let base = bytes.len();
            ends.extend(values.ends().map(|end| base + end - values.first));
            bytes.extend_from_slice(values.data);
            Ok(())
        })?;
        Ok((bytes, ends))
    }

    /// Asks for the memory of a slot.
    fn ask(&self, slot: u64, places: Places<'_>) {
        let index = self.table().of_slot(slot);
        let (slots, bytes) = (self.table().slots(index), self.table().bytes(index));
        let value = Expected {
            slot: (slot - slots.start) as usize,
            slots: (slots.end - slots.start) as usize,
            bytes: bytes.len(),
        };
        if let Ok(Some(chunk)) = self.chunks().lent(bytes) {
            gather::prefetch(chunk, 0);
            places(value, &mut |at| gather::prefetch(chunk, at));
        }
    }

    /// Calls `visit` with the first buffer of a chunk, the number of its slots, and those of them that are wanted, for each
    /// part of a range that lies in one chunk.
    fn for_each_picked(
        &self,
        ranges: &[Range<u64>],
        places: Places<'_>,
        mut visit: impl FnMut(&[u8], usize, Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let mut ahead = ranges.iter();
        ahead.by_ref().take(AHEAD).for_each(|range| self.ask(range.start, places));
        let mut ranges = ranges.iter().cloned();
        let mut next = ranges.next();
        while let Some(range) = next.clone() {
            let index = self.table().of_slot(range.start);
            let slots = self.table().slots(index);
            let count = (slots.end - slots.start) as usize;
            self.with_chunk(index, |chunk| {
                let buffer = chunk.buffers()[0];
                while let Some(range) = next.clone().filter(|range| range.start < slots.end) {
                    let end = range.end.min(slots.end);
                    visit(buffer, count, narrow(range.start..end, slots.start)?)?;
                    next = if end < range.end { Some(end..range.end) } else { ranges.next() };
                    if let Some(range) = ahead.next() {
                        self.ask(range.start, places);
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn append_texts(symbols: &Symbols, codes: &[u8], ends: &[usize], out: &mut LeafBuilder) -> Result<()> {
    match symbols.is_compressed() {
        true => out.append_coded(symbols, codes, ends.iter().copied()),
        false => out.append_values(codes, ends.iter().copied()),
    }
}

/// Numbers of bit-packed chunks.
struct PickedWords<'a> {
    page: &'a MiniBlock,
    ranges: &'a [Range<u64>],
    out: &'a mut LeafBuilder,
}

impl ByWord for PickedWords<'_> {
    fn run<W: unpack::Word + bytemuck::Pod>(self) -> Result<()> {
        let PickedWords { page, ranges, out } = self;
        let count = ranges.iter().map(|range| range.end - range.start).sum::<u64>() as usize;
        let mut target: &mut [W] = bytemuck::cast_slice_mut(out.grow_fixed(count, size_of::<W>())?);
        let places = |value: Expected, ask: &mut dyn FnMut(usize)| {
            let packed = HEADER + size_of::<W>();
            let width = value.bytes.saturating_sub(packed) / unpack::packed_len(1);
            if width <= W::BITS && value.slot < unpack::BLOCK {
                ask(packed + unpack::position::<W>(width, value.slot));
            }
        };
        page.for_each_picked(ranges, &places, |buffer, slots, within| {
            ensure!(slots <= unpack::BLOCK, "expected at most 1024 bit-packed values, found {slots}");
            let (width, packed) = inline_width::<W>(buffer)?;
            let (own, rest) = core::mem::take(&mut target).split_at_mut(within.len());
            match own {
                [one] => *one = unpack::get(width, packed, within.start),
                own => unpack::range(width, packed, within.start, own),
            }
            target = rest;
            Ok(())
        })
    }
}

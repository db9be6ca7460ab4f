//! The values of a leaf: what a slot is, and the builder that decoders append slots to.
//!
//! A *slot* is one leaf value: a number, a text, or a whole vector. A fixed-size list of numbers is one
//! slot, however deeply nested; nulls inside it are bitmaps beside the values.

mod shape;

use shape::items_at;
pub(crate) use shape::{Item, LeafShape, Room};

use crate::{
    Bitmap, Buffer, Column, DataType, Error, Field, Result, Values,
    bitmap::BitmapBuilder,
    column::{Offset, check_repeated, too_large},
    ensure,
};
use alloc::{boxed::Box, format, sync::Arc, vec::Vec};
use bytes::Bytes;
use core::ops::Range;
use lancet_kernels::{fsst::Symbols, gather};

/// Appends slots; [`LeafBuilder::finish`] makes the column.
#[derive(Debug, Clone)]
pub(crate) struct LeafBuilder {
    shape: LeafShape,
    slots: usize,
    values: Slots,
    /// For each dimension, outermost first: which items are not null.
    item_validity: Vec<BitmapBuilder>,
}

#[derive(Debug, Clone)]
enum Slots {
    Null,
    Bits(BitmapBuilder),
    Fixed(Buffer),
    Variable { offsets: Buffer, bytes: Buffer },
    LargeVariable { offsets: Buffer, bytes: Buffer },
}

impl LeafBuilder {
    /// A builder for about `expected` slots, which reuses the buffers of `old` where they fit.
    pub(crate) fn new(shape: LeafShape, expected: usize, old: Option<Values>) -> Self {
        let old_fixed = |old: Option<Values>| match innermost(old) {
            Some(Values::Fixed(buffer)) => cleared(buffer),
            _ => Buffer::new(),
        };
        let values = match &shape {
            LeafShape::Null => Slots::Null,
            LeafShape::Fixed { item: Item::Bit, items, .. } => {
                Slots::Bits(BitmapBuilder::reuse(Buffer::new(), expected * items))
            }
            LeafShape::Fixed { .. } => Slots::Fixed(old_fixed(old)),
            LeafShape::Variable { large: false, .. } => {
                let (offsets, bytes) = match old {
                    Some(Values::Variable { offsets, bytes }) => (cleared(offsets), cleared(bytes)),
                    _ => Default::default(),
                };
                Slots::Variable { offsets: first_offset::<i32>(offsets, expected), bytes }
            }
            LeafShape::Variable { large: true, .. } => {
                let (offsets, bytes) = match old {
                    Some(Values::LargeVariable { offsets, bytes }) => (cleared(offsets), cleared(bytes)),
                    _ => Default::default(),
                };
                Slots::LargeVariable { offsets: first_offset::<i64>(offsets, expected), bytes }
            }
        };
        let dims = match &shape {
            LeafShape::Fixed { dims, .. } => dims.len(),
            _ => 0,
        };
        let mut item_validity = Vec::new();
        item_validity.resize_with(dims, BitmapBuilder::default);
        LeafBuilder { shape, slots: 0, values, item_validity }
    }

    pub(crate) fn shape(&self) -> &LeafShape {
        &self.shape
    }

    /// The number of slots so far.
    pub(crate) fn len(&self) -> usize {
        self.slots
    }

    /// Takes all slots out and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.slots = 0;
        self.item_validity.iter_mut().for_each(|validity| *validity = BitmapBuilder::default());
        match &mut self.values {
            Slots::Null => {}
            Slots::Bits(bits) => *bits = BitmapBuilder::default(),
            Slots::Fixed(buffer) => buffer.clear(),
            Slots::Variable { offsets, bytes } | Slots::LargeVariable { offsets, bytes } => {
                let first = if matches!(self.shape, LeafShape::Variable { large: true, .. }) { 8 } else { 4 };
                offsets.truncate(first);
                bytes.clear();
            }
        }
    }

    /// Appends `count` slots of whole bytes and lends them; the caller writes all of them.
    ///
    /// # Errors
    /// Corrupt if the slots of this leaf are not `width` bytes each.
    pub(crate) fn grow_fixed(&mut self, count: usize, width: usize) -> Result<&mut [u8]> {
        let own = self.shape.slot_bytes();
        match &mut self.values {
            Slots::Fixed(buffer) if own == Some(width) => {
                self.slots += count;
                for (level, validity) in self.item_validity.iter_mut().enumerate() {
                    validity.append_n(count * items_at(&self.shape, level), true);
                }
                Ok(buffer.grow(count * width))
            }
            _ => Err(Error::corrupt(format!(
                "found values of {width} bytes where the type has {:?}",
                self.shape
            ))),
        }
    }

    /// Makes room, once it is known how much is needed and that the slots will be copied, so that no buffer grows
    /// later. `most` is what the file can hold in bytes: more than that times eight is not believed.
    pub(crate) fn reserve(&mut self, room: Room, most: usize) {
        let bits = self.shape.slot_bits().unwrap_or(1).max(1);
        let slots = room.slots.min(usize::try_from(most as u64 * 8 / bits).unwrap_or(usize::MAX));
        match &mut self.values {
            Slots::Null | Slots::Bits(_) => {}
            Slots::Fixed(buffer) => buffer.reserve(slots * self.shape.slot_bytes().unwrap_or_default()),
            Slots::Variable { offsets, bytes } => {
                offsets.reserve(slots * size_of::<i32>());
                bytes.reserve(room.bytes.min(most.saturating_mul(8)));
            }
            Slots::LargeVariable { offsets, bytes } => {
                offsets.reserve(slots * size_of::<i64>());
                bytes.reserve(room.bytes.min(most.saturating_mul(8)));
            }
        }
    }

    /// The bytes of the texts at `indices` in all; 0 for slots of one width.
    pub(crate) fn text_bytes(&self, indices: &[u32]) -> usize {
        fn sum<O: gather::Offset>(offsets: &[O], indices: &[u32]) -> usize {
            let text = |&i: &u32| offsets[i as usize + 1].position() - offsets[i as usize].position();
            indices.iter().map(text).sum()
        }
        match &self.values {
            Slots::Variable { offsets, .. } => sum::<i32>(offsets.typed(), indices),
            Slots::LargeVariable { offsets, .. } => sum::<i64>(offsets.typed(), indices),
            _ => 0,
        }
    }

    /// Appends `count` slots that lie end to end in `bytes`: shared if they are the first, aligned, and
    /// `keep` says that nothing follows them.
    pub(crate) fn append_fixed(
        &mut self,
        bytes: Bytes,
        count: usize,
        width: usize,
        keep: bool,
    ) -> Result<()> {
        ensure!(
            bytes.len() == count * width,
            "expected {count} values of {width} bytes, found {} bytes",
            bytes.len()
        );
        if keep && self.slots == 0 {
            let align = self.item_align();
            self.grow_fixed(0, width)?;
            let Slots::Fixed(buffer) = &mut self.values else { unreachable!("checked by grow_fixed") };
            *buffer = Buffer::share(bytes, align);
            self.slots = count;
            for (level, validity) in self.item_validity.iter_mut().enumerate() {
                validity.append_n(count * items_at(&self.shape, level), true);
            }
            return Ok(());
        }
        self.grow_fixed(count, width)?.copy_from_slice(&bytes);
        Ok(())
    }

    /// The alignment that Arrow's consumers expect of the items: at most 8 here.
    fn item_align(&self) -> usize {
        match self.shape {
            LeafShape::Fixed { item: Item::Bytes(width), .. } if width.is_power_of_two() => width.min(8),
            LeafShape::Fixed { item: Item::Bytes(width), .. } if width % 8 == 0 => 8,
            _ => 1,
        }
    }

    /// Appends `count` slots whose bits lie end to end in `source` from bit `start * bits of a slot` on.
    pub(crate) fn append_bits(&mut self, source: &[u8], start: usize, count: usize) -> Result<()> {
        let LeafShape::Fixed { items, .. } = self.shape else { return Err(self.mismatch("bits")) };
        let Slots::Bits(out) = &mut self.values else { return Err(self.mismatch("bits")) };
        ensure!(
            holds_bits(source, start, count, items),
            "expected {count} values of {items} bits behind {start} others, found {} bytes",
            source.len()
        );
        out.append_bits(source, start * items, count * items);
        self.slots += count;
        for (level, validity) in self.item_validity.iter_mut().enumerate() {
            validity.append_n(count * items_at(&self.shape, level), true);
        }
        Ok(())
    }

    /// Appends one slot of bits, given one byte an item (0 or 1).
    pub(crate) fn append_bytes_as_bits(&mut self, bytes: &[u8]) -> Result<()> {
        let LeafShape::Fixed { items: 1, .. } = self.shape else {
            return Err(self.mismatch("bytes of bits"));
        };
        let Slots::Bits(out) = &mut self.values else { return Err(self.mismatch("bytes of bits")) };
        for &byte in bytes {
            out.append(byte != 0);
        }
        self.slots += bytes.len();
        // Lists of one boolean.
        for validity in &mut self.item_validity {
            validity.append_n(bytes.len(), true);
        }
        Ok(())
    }

    /// Says which items of the `count` slots just appended are null, for dimension `level`: bit
    /// `start * items` of `source` on, one bit an item, set if not null.
    pub(crate) fn set_item_validity(
        &mut self,
        level: usize,
        source: &[u8],
        start: usize,
        count: usize,
    ) -> Result<()> {
        let items = items_at(&self.shape, level);
        ensure!(level < self.item_validity.len(), "found item validity where the type has no items");
        ensure!(
            holds_bits(source, start, count, items),
            "item validity: expected {count} times {items} bits behind {start} others, found {} bytes",
            source.len()
        );
        let validity = &mut self.item_validity[level];
        ensure!(
            validity.len() >= count * items,
            "item validity: expected no more than {} items, found {count} times {items}",
            validity.len()
        );
        validity.rewind(count * items);
        validity.append_bits(source, start * items, count * items);
        Ok(())
    }

    /// Appends one text or binary value.
    pub(crate) fn append_value(&mut self, value: &[u8]) -> Result<()> {
        match &mut self.values {
            Slots::Variable { offsets, bytes } => {
                bytes.extend_from_slice(value);
                offsets.grow_typed::<i32>(1)[0] = i32::from_usize(bytes.len())?;
            }
            Slots::LargeVariable { offsets, bytes } => {
                bytes.extend_from_slice(value);
                offsets.grow_typed::<i64>(1)[0] = i64::from_usize(bytes.len())?;
            }
            _ => return Err(self.mismatch("text or binary")),
        }
        self.slots += 1;
        Ok(())
    }

    /// Appends as many values as `ends` has, whose bytes lie end to end in `data`; value `i` ends at
    /// `ends[i]` of it. The ends ascend and the last is `data.len()`.
    pub(crate) fn append_values(
        &mut self,
        data: &[u8],
        ends: impl ExactSizeIterator<Item = usize>,
    ) -> Result<()> {
        fn append<O: Offset>(
            offsets: &mut Buffer,
            bytes: &mut Buffer,
            data: &[u8],
            ends: impl ExactSizeIterator<Item = usize>,
        ) -> Result<()> {
            let base = bytes.len();
            // The largest is checked once; the others are smaller.
            O::from_usize(base.checked_add(data.len()).ok_or_else(too_large)?)?;
            bytes.extend_from_slice(data);
            let count = ends.len();
            for (out, end) in offsets.grow_typed::<O>(count).iter_mut().zip(ends) {
                *out = O::truncated(base + end);
            }
            Ok(())
        }
        self.slots += ends.len();
        match &mut self.values {
            Slots::Variable { offsets, bytes } => append::<i32>(offsets, bytes, data, ends),
            Slots::LargeVariable { offsets, bytes } => append::<i64>(offsets, bytes, data, ends),
            _ => Err(self.mismatch("text or binary")),
        }
    }

    /// Appends texts coded by `symbols`, which lie end to end in `codes`; `ends` are relative to it and ascending.
    ///
    /// # Errors
    /// Corrupt if they are not coded so; too large if the bytes no longer fit the offsets.
    pub(crate) fn append_coded(
        &mut self,
        symbols: &Symbols,
        codes: &[u8],
        ends: impl ExactSizeIterator<Item = usize>,
    ) -> Result<()> {
        fn append<O: Offset>(
            offsets: &mut Buffer,
            bytes: &mut Buffer,
            symbols: &Symbols,
            codes: &[u8],
            ends: impl ExactSizeIterator<Item = usize>,
        ) -> Result<()> {
            let base = bytes.len();
            let mut out = offsets.grow_typed::<O>(ends.len()).iter_mut();
            let room = bytes.grow(symbols.most_decoded(codes));
            let total = symbols.decode_texts(codes, ends, room, |end| {
                if let Some(out) = out.next() {
                    *out = O::truncated(base + end);
                }
            });
            let end = total.and_then(|total| base.checked_add(total)).ok_or_else(bad_codes)?;
            bytes.truncate(end);
            // The largest is checked once; the others are smaller.
            O::from_usize(end).map(drop)
        }
        self.slots += ends.len();
        match &mut self.values {
            Slots::Variable { offsets, bytes } => append::<i32>(offsets, bytes, symbols, codes, ends),
            Slots::LargeVariable { offsets, bytes } => append::<i64>(offsets, bytes, symbols, codes, ends),
            _ => Err(self.mismatch("text or binary")),
        }
    }

    /// Adds bytes behind the last text that belong to none, so that all texts can be gathered fast; nothing may be
    /// appended later.
    pub(crate) fn pad(&mut self) {
        if let Slots::Variable { bytes, .. } | Slots::LargeVariable { bytes, .. } = &mut self.values {
            bytes.grow(16).fill(0);
        }
    }

    /// Appends `count` slots of unimportant content, for nulls: zeros, or empty text.
    ///
    /// # Errors
    /// Too large if they would fill memory: no bytes of the file stand behind them.
    pub(crate) fn append_defaults(&mut self, count: usize) -> Result<()> {
        check_repeated(count, self.shape.slot_bits().unwrap_or(64).div_ceil(8))?;
        match &mut self.values {
            Slots::Null => {}
            Slots::Bits(bits) => {
                let LeafShape::Fixed { items, .. } = self.shape else { unreachable!("bits have a width") };
                bits.append_n(count * items, false);
            }
            Slots::Fixed(buffer) => {
                let width = self.shape.slot_bytes().unwrap_or_default();
                buffer.grow(count * width).fill(0);
            }
            Slots::Variable { offsets, bytes } => {
                offsets.grow_typed::<i32>(count).fill(i32::from_usize(bytes.len())?);
            }
            Slots::LargeVariable { offsets, bytes } => {
                offsets.grow_typed::<i64>(count).fill(i64::from_usize(bytes.len())?);
            }
        }
        self.slots += count;
        for (level, validity) in self.item_validity.iter_mut().enumerate() {
            validity.append_n(count * items_at(&self.shape, level), true);
        }
        Ok(())
    }

    /// Appends the slots at `indices` of `other`, which has the same shape; indices are below its length.
    ///
    /// # Errors
    /// Too large if slots that lie in the file once would fill memory.
    pub(crate) fn append_slots_of(&mut self, other: &LeafBuilder, indices: &[u32]) -> Result<()> {
        debug_assert_eq!(self.shape, other.shape);
        match (&mut self.values, &other.values) {
            (Slots::Fixed(_), Slots::Fixed(source)) => {
                let width = self.shape.slot_bytes().unwrap_or_default();
                check_repeated(indices.len(), width as u64)?;
                let out = self.grow_fixed(indices.len(), width)?;
                gather::fixed(width, source.as_slice(), indices, out);
                Ok(())
            }
            (Slots::Bits(_), Slots::Bits(_)) => indices.iter().try_for_each(|&i| {
                let bit = other.bit(i as usize);
                self.append_bytes_as_bits(&[u8::from(bit)])
            }),
            (Slots::Null, _) => self.append_defaults(indices.len()),
            (Slots::Variable { offsets, bytes }, Slots::Variable { offsets: from, bytes: data }) => {
                append_texts::<i32>(offsets, bytes, from.typed(), data.as_slice(), indices)?;
                self.slots += indices.len();
                Ok(())
            }
            (
                Slots::LargeVariable { offsets, bytes },
                Slots::LargeVariable { offsets: from, bytes: data },
            ) => {
                append_texts::<i64>(offsets, bytes, from.typed(), data.as_slice(), indices)?;
                self.slots += indices.len();
                Ok(())
            }
            _ => Err(self.mismatch("a dictionary of another type")),
        }
    }

    /// Appends the one slot of `other`, which has the same shape, `count` times.
    ///
    /// # Errors
    /// Too large if it would fill memory: it lies in the file once.
    pub(crate) fn append_repeated(&mut self, other: &LeafBuilder, count: usize) -> Result<()> {
        fn texts<O: Offset>(
            offsets: &mut Buffer,
            bytes: &mut Buffer,
            text: &[u8],
            count: usize,
        ) -> Result<()> {
            check_repeated(count, text.len() as u64)?;
            let base = bytes.len();
            O::from_usize(base + count * text.len())?;
            for (i, out) in offsets.grow_typed::<O>(count).iter_mut().enumerate() {
                *out = O::truncated(base + (i + 1) * text.len());
            }
            repeat(text, bytes.grow(count * text.len()));
            Ok(())
        }
        debug_assert_eq!((&self.shape, 1), (&other.shape, other.slots));
        match (&mut self.values, &other.values) {
            (Slots::Fixed(_), Slots::Fixed(value)) => {
                check_repeated(count, value.len() as u64)?;
                repeat(value.as_slice(), self.grow_fixed(count, value.len())?);
                return Ok(());
            }
            (Slots::Variable { offsets, bytes }, Slots::Variable { offsets: from, bytes: data }) => {
                let text = &data.as_slice()[..from.typed::<i32>()[1] as usize];
                texts::<i32>(offsets, bytes, text, count)?;
            }
            (
                Slots::LargeVariable { offsets, bytes },
                Slots::LargeVariable { offsets: from, bytes: data },
            ) => {
                let text = &data.as_slice()[..from.typed::<i64>()[1] as usize];
                texts::<i64>(offsets, bytes, text, count)?;
            }
            _ => {
                check_repeated(count, 4)?;
                return self.append_slots_of(other, &alloc::vec![0; count]);
            }
        }
        self.slots += count;
        Ok(())
    }

    fn bit(&self, i: usize) -> bool {
        match &self.values {
            Slots::Bits(bits) => bits.get(i),
            _ => false,
        }
    }

    /// Checks that the slots from `first` on are UTF-8, if this leaf is text.
    pub(crate) fn check_utf8(&self, first: usize) -> Result<()> {
        let LeafShape::Variable { utf8: true, .. } = self.shape else { return Ok(()) };
        match &self.values {
            Slots::Variable { offsets, bytes } => {
                check_utf8(&offsets.typed::<i32>()[first..], bytes, |o| o as usize)
            }
            Slots::LargeVariable { offsets, bytes } => {
                check_utf8(&offsets.typed::<i64>()[first..], bytes, |o| o as usize)
            }
            _ => Ok(()),
        }
    }

    /// The slots as numbers of `T`; `None` unless they have its width.
    pub(crate) fn typed<T: bytemuck::Pod>(&self) -> Option<&[T]> {
        match &self.values {
            Slots::Fixed(buffer) if self.shape.slot_bytes() == Some(size_of::<T>()) => Some(buffer.typed()),
            _ => None,
        }
    }

    /// The column of all slots, of type `data_type`, whose rows have `validity`.
    pub(crate) fn finish(self, data_type: &DataType, validity: Option<Bitmap>) -> Column {
        let slots = self.slots;
        let flat = match self.values {
            Slots::Null => Values::Null,
            Slots::Bits(bits) => Values::Bits(bits.finish_all()),
            Slots::Fixed(buffer) => Values::Fixed(buffer),
            Slots::Variable { offsets, bytes } => Values::Variable { offsets, bytes },
            Slots::LargeVariable { offsets, bytes } => Values::LargeVariable { offsets, bytes },
        };
        // Dictionaries are read as their values.
        let data_type = match data_type {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        nest(data_type, slots, validity, flat, &mut self.item_validity.into_iter())
    }

    /// The column of structs whose fields lie side by side in each slot; none of the fields is null.
    pub(crate) fn finish_packed(
        self,
        data_type: &DataType,
        fields: &[Arc<Field>],
        validity: Option<Bitmap>,
    ) -> Column {
        let (slots, stride) = (self.slots, self.shape.slot_bytes().unwrap_or_default());
        let Slots::Fixed(rows) = self.values else { unreachable!("packed structs are made of bytes") };
        let mut at = 0;
        let children = fields.iter().map(|field| {
            let shape = LeafShape::of(&field.data_type).expect("checked when the page was opened");
            let width = shape.slot_bytes().unwrap_or_default();
            let mut child = Buffer::with_capacity(slots * width);
            let out = child.grow(slots * width);
            for (value, row) in
                out.chunks_exact_mut(width.max(1)).zip(rows.as_slice().chunks_exact(stride.max(1)))
            {
                value.copy_from_slice(&row[at..at + width]);
            }
            at += width;
            nest(&field.data_type, slots, None, Values::Fixed(child), &mut core::iter::empty())
        });
        let children = children.collect();
        Column::new(data_type.clone(), slots, validity, Values::Struct(children))
    }

    #[cold]
    fn mismatch(&self, found: &str) -> Error {
        Error::corrupt(format!("found {found} where the type has {:?}", self.shape))
    }
}

/// Fills `out` with `value` over and over: what is filled is copied behind itself.
fn repeat(value: &[u8], out: &mut [u8]) {
    if out.is_empty() {
        return;
    }
    out[..value.len()].copy_from_slice(value);
    let mut filled = value.len();
    while filled < out.len() {
        let more = filled.min(out.len() - filled);
        out.copy_within(..more, filled);
        filled += more;
    }
}

#[cold]
fn bad_codes() -> Error {
    Error::corrupt("expected FSST codes of the symbol table, found others")
}

/// Wraps flat items in the fixed-size lists of `data_type`.
fn nest(
    data_type: &DataType,
    len: usize,
    validity: Option<Bitmap>,
    flat: Values,
    item_validity: &mut impl Iterator<Item = BitmapBuilder>,
) -> Column {
    match data_type {
        DataType::FixedSizeList(item, dimension) => {
            let inner_validity = item_validity.next().and_then(BitmapBuilder::finish);
            let inner = nest(&item.data_type, len * *dimension as usize, inner_validity, flat, item_validity);
            Column::new(data_type.clone(), len, validity, Values::FixedSizeList(Box::new(inner)))
        }
        _ => Column::new(data_type.clone(), len, validity, flat),
    }
}

/// Whether `source` has `count` slots of `items` bits each behind `start` others.
fn holds_bits(source: &[u8], start: usize, count: usize, items: usize) -> bool {
    let bits = start.checked_add(count).and_then(|slots| slots.checked_mul(items));
    bits.is_some_and(|bits| bits.div_ceil(8) <= source.len())
}

/// The values under all fixed-size lists.
fn innermost(values: Option<Values>) -> Option<Values> {
    match values? {
        Values::FixedSizeList(items) => innermost(Some(items.into_parts().1)),
        other => Some(other),
    }
}

fn cleared(mut buffer: Buffer) -> Buffer {
    buffer.clear();
    buffer
}

/// An offsets buffer with the leading zero and room for `expected` more.
fn first_offset<O: Offset>(mut offsets: Buffer, expected: usize) -> Buffer {
    offsets.reserve((expected + 1) * size_of::<O>());
    offsets.grow(size_of::<O>()).fill(0);
    offsets
}

fn append_texts<O: Offset + gather::Offset + Into<i64>>(
    offsets: &mut Buffer,
    bytes: &mut Buffer,
    from: &[O],
    data: &[u8],
    indices: &[u32],
) -> Result<()> {
    let range = |i: u32| -> Range<usize> {
        let (start, end): (i64, i64) = (from[i as usize].into(), from[i as usize + 1].into());
        start as usize..end as usize
    };
    let base = bytes.len();
    let mut total = base;
    for (out, &i) in offsets.grow_typed::<O>(indices.len()).iter_mut().zip(indices) {
        total += range(i).len();
        *out = O::truncated(total);
    }
    // The last is the largest.
    O::from_usize(total)?;
    check_repeated(1, (total - base) as u64)?;
    gather::texts(from, data, indices, bytes.grow(total - base));
    Ok(())
}

/// The bytes between the first and the last offset are UTF-8, and no offset splits a character.
fn check_utf8<O: Copy>(offsets: &[O], bytes: &Buffer, position: impl Fn(O) -> usize) -> Result<()> {
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else { return Ok(()) };
    let (first, last) = (position(first), position(last));
    let bytes = &bytes.as_slice()[..last];
    let text = &bytes[first..];
    if text.is_ascii() {
        return Ok(());
    }
    let valid = core::str::from_utf8(text).is_ok()
        && offsets.iter().all(|&offset| bytes.get(position(offset)).is_none_or(|byte| byte & 0xc0 != 0x80));
    ensure!(valid, "expected UTF-8 text, found other bytes");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn shape(logical: &str) -> (DataType, LeafShape) {
        let data_type = DataType::parse(logical, Vec::new()).unwrap();
        let shape = LeafShape::of(&data_type).unwrap();
        (data_type, shape)
    }

    #[test]
    fn nested_vectors_with_null_items() {
        let (data_type, shape) = shape("fixed_size_list:fixed_size_list:int8:2:3");
        let mut builder = LeafBuilder::new(shape, 2, None);
        builder.grow_fixed(2, 6).unwrap().copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        builder.set_item_validity(0, &[0b101_111], 0, 2).unwrap();
        builder.set_item_validity(1, &[0xff, 0x07], 0, 2).unwrap();
        let column = builder.finish(&data_type, None);
        let middle = column.child().unwrap();
        assert_eq!((column.len(), middle.len(), middle.is_null(4), middle.is_null(5)), (2, 6, true, false));
        assert_eq!(middle.child().unwrap().null_count(), 1);
        assert_eq!(column.flat::<i8>().unwrap()[11], 12);
    }

    #[test]
    fn text_must_be_utf8_on_value_bounds() {
        let (_, shape) = shape("string");
        let mut builder = LeafBuilder::new(shape, 2, None);
        builder.append_values("aé".as_bytes(), [1usize, 3].into_iter()).unwrap();
        builder.check_utf8(0).unwrap();
        builder.append_values("é".as_bytes(), [1usize, 2].into_iter()).unwrap();
        assert!(builder.check_utf8(0).is_err());
        assert!(builder.check_utf8(2).is_err());
    }

    #[test]
    fn repeated_values_do_not_fill_memory() {
        let too_large = |result: Result<()>| result.unwrap_err().kind() == crate::ErrorKind::TooLarge;
        let (data_type, vectors) = shape("fixed_size_list:float:268435456");
        let mut builder = LeafBuilder::new(vectors, 0, None);
        assert!(too_large(builder.append_defaults(2)));
        assert!(too_large(builder.append_defaults(usize::MAX)));
        assert!(Column::absent(&data_type, 2).is_err());
        let (_, text) = shape("large_string");
        let mut one = LeafBuilder::new(text.clone(), 0, None);
        one.append_value(&[b'a'; 1 << 20]).unwrap();
        let mut builder = LeafBuilder::new(text, 0, None);
        assert!(too_large(builder.append_slots_of(&one, &[0; 1025])));
    }

    #[test]
    fn shares_the_first_page_and_copies_on_growth() {
        let (data_type, shape) = shape("int64");
        let bytes = Bytes::from_owner(bytemuck::cast_slice::<u64, u8>(&[1, 2, 3]).to_vec());
        let aligned = bytes.as_ptr().align_offset(8) == 0;
        let mut builder = LeafBuilder::new(shape.clone(), 3, None);
        builder.append_fixed(bytes.clone(), 3, 8, true).unwrap();
        let column = builder.finish(&data_type, None);
        assert!(matches!(column.values(), Values::Fixed(buffer) if buffer.is_shared() == aligned));
        let mut builder = LeafBuilder::new(shape, 3, Some(column.into_parts().1));
        builder.append_fixed(bytes, 3, 8, true).unwrap();
        builder.append_defaults(1).unwrap();
        assert_eq!(builder.finish(&data_type, None).primitive::<u64>().unwrap(), vec![1, 2, 3, 0]);
    }
}

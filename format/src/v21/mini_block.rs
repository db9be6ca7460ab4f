//! Mini-block pages: many small values, in chunks that are decoded independently.
//!
//! ```text
//! buffer 0   chunk words              (see `chunks`)
//! buffer 1   chunks, end to end
//! next       dictionary, if any: a block; the values are then indices into it
//! last       repetition index, if there are lists
//! ```

use super::{
    Target,
    block::Block,
    chunks::{Chunk, ChunkTable, MAX_BUFFERS, RowIndex, narrow},
    dictionary::Dictionary,
    layers::Layers,
    levels::LevelCodec,
    values::{ValueCodec, replace_first},
};
use crate::{
    Column, DataType, Error, Extent, Result,
    container::PageParts,
    ensure,
    leaf::{LeafBuilder, LeafShape, Room},
    lent::{ChunkValues, Lent},
    proto::v21 as message,
};
use alloc::{format, sync::Arc, vec::Vec};
use core::ops::Range;
use lancet_kernels::{gather, levels};

/// More indices of a dictionary than this are not expected: they may take no bytes in the file.
const MAX_EXPECTED: u64 = 1 << 20;

/// The bytes of a chunk that are asked for before they are needed: header, levels or offsets, and the first values.
const ASKED: usize = 1024;

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// No chunk has more slots.
const MAX_SLOTS: u64 = 1 << 15;

/// An opened mini-block page.
#[derive(Debug)]
pub(crate) struct MiniBlock {
    rep: Option<LevelCodec>,
    def: Option<LevelCodec>,
    values: ValueCodec,
    dictionary: Option<Dictionary>,
    large: bool,
    table: ChunkTable,
    rows: Option<RowIndex>,
    chunks: Extent,
}

/// The first buffer of the chunk that was decompressed last.
#[derive(Debug, Default)]
pub(super) struct DecompressedChunk {
    /// The address of its page, and its number there.
    pub(super) of: Option<(usize, usize)>,
    bytes: Vec<u8>,
}

impl MiniBlock {
    pub(crate) fn open(
        layout: &message::MiniBlock,
        parts: &PageParts,
        layers: &Layers,
        shape: &LeafShape,
    ) -> Result<Self> {
        let rep = LevelCodec::parse(layout.rep_compression.as_ref(), parts.max_decompressed)?;
        let def = LevelCodec::parse(layout.def_compression.as_ref(), parts.max_decompressed)?;
        ensure!(rep.is_some() || layers.max_rep == 0, "expected repetition levels, found none for a list");
        ensure!(
            rep.is_none() || layers.max_rep > 0,
            "expected no repetition levels, found some without a list"
        );
        let compression = layout.value_compression.as_ref();
        let compression =
            compression.ok_or_else(|| Error::corrupt("expected an encoding of values, found none"))?;
        let mut next = 2;
        let dictionary = match &layout.dictionary {
            None => None,
            Some(encoding) => {
                let extent = parts.buffer(next, "dictionary")?;
                next += 1;
                let block = Block::parse(encoding, parts.max_decompressed, 0)?;
                Some(Dictionary::open(&block, extent, layout.num_dictionary_items, compression, shape)?)
            }
        };
        let value_shape = dictionary.as_ref().map_or(shape, |dictionary| &dictionary.index);
        let values = ValueCodec::parse(compression, value_shape, parts.max_decompressed, 0)?;
        ensure!(
            layout.num_buffers == values.num_buffers() as u64 && values.num_buffers() <= MAX_BUFFERS,
            "expected {} buffers in each chunk, found {}",
            values.num_buffers(),
            layout.num_buffers
        );
        let chunks = parts.buffer(1, "chunks")?.clone();
        let words = parts.buffer(0, "chunk words")?;
        let table = ChunkTable::parse(words, layout.has_large_chunk, chunks.len(), layout.num_items)?;
        let rows = match layers.max_rep {
            0 => {
                ensure!(
                    layout.num_items == parts.rows,
                    "expected {} values, found {}",
                    parts.rows,
                    layout.num_items
                );
                None
            }
            _ => {
                let extent = parts.buffer(next, "repetition index")?;
                Some(RowIndex::parse(extent, layout.repetition_index_depth, table.len(), parts.rows)?)
            }
        };
        Ok(MiniBlock { rep, def, values, dictionary, large: layout.has_large_chunk, table, rows, chunks })
    }

    /// The rows of the chunk that holds `row`, if they lie there as they are and can be had without a copy.
    pub(crate) fn lent_rows(&self, row: u64) -> Option<Range<u64>> {
        let is_plain = self.rep.is_none() && self.def.is_none() && self.dictionary.is_none();
        let lends = is_plain && self.values.is_plain() && self.chunks.in_memory();
        lends.then(|| self.table.slots(self.table.of_slot(row)))
    }

    /// `row` and those after it in its chunk, of `width` bytes each, if they can be had without a copy.
    pub(crate) fn lent_from(&self, row: u64, width: usize) -> Result<Option<Lent<'_>>> {
        let Some(slots) = self.lent_rows(row) else { return Ok(None) };
        let Some(bytes) = self.chunks.lent(self.table.bytes(self.table.of_slot(row)))? else {
            return Ok(None);
        };
        let (at, end) = ((row - slots.start) as usize, (slots.end - slots.start) as usize);
        let values = ChunkValues { at: at * width, len: end * width, is_large: self.large };
        Ok(Some(Lent::in_chunk(bytes, values)))
    }

    /// Shares the rows `range` with the file: they lie in one chunk that lends them.
    fn share(&self, range: &Range<u64>, target: &mut Target) -> Result<()> {
        let index = self.table.of_slot(range.start);
        let slots = self.table.slots(index);
        let within = narrow(range.clone(), slots.start)?;
        let whole = self.chunks.share(self.table.bytes(index))?;
        self.with_chunk(index, |chunk| {
            let (count, values) = ((slots.end - slots.start) as usize, chunk.buffers()[0]);
            let width = target.leaf.shape().slot_bytes().unwrap_or_default();
            ensure!(
                values.len() == count * width,
                "expected {count} values of {width} bytes, found {} bytes",
                values.len()
            );
            let bytes = whole.slice_ref(&values[within.start * width..within.end * width]);
            target.structure.append_valid(within.len());
            target.leaf.append_fixed(bytes, within.len(), width, true)
        })
    }

    /// The items of the dictionary, if there is one and it is not empty.
    pub(crate) fn items(&self, data_type: &DataType) -> Option<&Arc<Column>> {
        self.dictionary.as_ref()?.column(data_type)
    }

    pub(crate) fn has_dictionary(&self) -> bool {
        self.dictionary.is_some()
    }

    /// Appends rows `range` of the page.
    pub(crate) fn read(&self, range: Range<u64>, layers: &Layers, target: &mut Target) -> Result<()> {
        if target.keep {
            return self.share(&range, target);
        }
        if self.dictionary.is_some() {
            target.picks().reserve((range.end - range.start).min(MAX_EXPECTED) as usize);
        }
        match &self.rows {
            None => self.read_slots(range, layers, target)?,
            Some(rows) => self.read_lists(range, rows, layers, target)?,
        }
        match &self.dictionary {
            Some(dictionary) if target.codes.is_none() => dictionary.append_picks(target),
            _ => Ok(()),
        }
    }

    /// The room that rows `range` need, or a little more. Of text that is picked from a dictionary it knows the bytes only
    /// if it is asked to `look_up` every index.
    pub(crate) fn room(&self, range: Range<u64>, shape: &LeafShape, look_up: bool) -> Result<Room> {
        // With lists, where the slots of a row begin is known only from the levels: whole chunks are counted.
        let (chunks, wanted) = match &self.rows {
            None => (self.table.of_slot(range.start)..=self.table.of_slot(range.end - 1), range),
            Some(rows) => {
                let chunks = rows.of_row(range.start).0..=rows.last_of_row(range.end - 1);
                let slots = self.table.slots(*chunks.start()).start..self.table.slots(*chunks.end()).end;
                (chunks, slots)
            }
        };
        let mut room = Room::of_slots((wanted.end - wanted.start) as usize);
        if !matches!(shape, LeafShape::Variable { .. }) || (self.dictionary.is_some() && !look_up) {
            return Ok(room);
        }
        for index in chunks {
            let slots = self.table.slots(index);
            let count = (slots.end - slots.start) as usize;
            let within = narrow(slots.start.max(wanted.start)..slots.end.min(wanted.end), slots.start)?;
            self.ask_for_chunk(index + 1);
            // What a chunk says of itself may be anything.
            let bytes = self.with_chunk(index, |chunk| match &self.dictionary {
                None => self.values.text_bytes(chunk.buffers(), count, within),
                Some(dictionary) => {
                    let mut indices = LeafBuilder::new(dictionary.index.clone(), count, None);
                    self.values.decode(chunk.buffers(), count, within, &mut indices)?;
                    let mut picks = Vec::new();
                    // An index that is none is told when the slots are read.
                    dictionary.pick(&indices, core::iter::repeat_n(u16::MAX, count), &mut picks)?;
                    Ok(if dictionary.items.len() == 0 { 0 } else { dictionary.items.text_bytes(&picks) })
                }
            })?;
            room += Room { slots: 0, bytes };
        }
        Ok(room)
    }

    /// Asks for the memory of the beginning of chunk `index`, if there is one: what lies where is known only from there.
    fn ask_for_chunk(&self, index: usize) {
        if index < self.table.len()
            && let Ok(Some(chunk)) = self.chunks.lent(self.table.bytes(index))
        {
            (0..ASKED).step_by(LINE).for_each(|at| gather::prefetch(chunk, at));
        }
    }

    /// Without lists, rows are slots.
    fn read_slots(&self, range: Range<u64>, layers: &Layers, target: &mut Target) -> Result<()> {
        if self.def.is_some() {
            // Chunks differ in size, but none is larger than this.
            target.def.reserve((range.end - range.start).min(MAX_SLOTS) as usize);
        }
        let mut slot = range.start;
        let mut index = self.table.of_slot(slot);
        while slot < range.end {
            let slots = self.table.slots(index);
            let end = slots.end.min(range.end);
            let within = narrow(slot..end, slots.start)?;
            if end < range.end {
                self.ask_for_chunk(index + 1);
            }
            self.with_chunk(index, |chunk| {
                let count = (slots.end - slots.start) as usize;
                target.def.clear();
                match &self.def {
                    Some(codec) => {
                        ensure!(
                            chunk.num_levels == count,
                            "expected {count} definition levels, found {}",
                            chunk.num_levels
                        );
                        codec.decode(chunk.def, count, within.clone(), &mut target.def)?;
                        target.structure.append(layers, &[], &target.def)?;
                    }
                    None => target.structure.append_valid(within.len()),
                }
                let entries = 0..target.def.len();
                self.values(index, chunk, count, within.clone(), entries, layers, target)
            })?;
            slot = end;
            index += 1;
        }
        Ok(())
    }

    /// With lists, rows are runs of entries, which may go on over several chunks.
    fn read_lists(
        &self,
        range: Range<u64>,
        rows: &RowIndex,
        layers: &Layers,
        target: &mut Target,
    ) -> Result<()> {
        let Some(rep_codec) = &self.rep else { return Err(Error::corrupt("expected repetition levels")) };
        let mut wanted = range.end - range.start;
        let (mut index, mut skip) = rows.of_row(range.start);
        let mut inside = false;
        loop {
            let slots = self.table.slots(index);
            let more = self.with_chunk(index, |chunk| {
                let Target { rep, def, structure, scratch, .. } = target;
                rep.clear();
                def.clear();
                rep_codec.decode(chunk.rep, chunk.num_levels, 0..chunk.num_levels, rep)?;
                if let Some(codec) = &self.def {
                    codec.decode(chunk.def, chunk.num_levels, 0..chunk.num_levels, def)?;
                }
                let starts = &mut scratch.starts;
                starts.resize(levels::words(rep.len()), 0);
                levels::not_below(rep, layers.max_rep, starts);
                let start = |n: u64| levels::nth(starts, usize::try_from(n).ok()?);
                // The entry at which the wanted rows start or go on, and the one behind their end.
                let (before, first) = match inside {
                    true => (0, Some(0)),
                    false => (skip, start(skip)),
                };
                let first =
                    first.ok_or_else(|| Error::corrupt("expected more rows to start in the chunk"))?;
                let end = match start(before.saturating_add(wanted)) {
                    Some(end) => {
                        wanted = 0;
                        end
                    }
                    None => {
                        wanted -= levels::count(starts) as u64 - before;
                        rep.len()
                    }
                };
                let visible = |entries: Range<usize>| match def.get(entries.clone()) {
                    Some(levels) if self.def.is_some() => levels::count_at_most(levels, layers.visible),
                    _ => entries.len(),
                };
                let count = (slots.end - slots.start) as usize;
                let (before, here) = (visible(0..first), visible(first..end));
                let total = before + here + visible(end..rep.len());
                ensure!(total == count, "expected {count} entries with a value, found {total}");
                let entries = if def.is_empty() { 0..0 } else { first..end };
                structure.append(layers, &rep[first..end], &def[entries.clone()])?;
                self.values(index, chunk, count, before..before + here, entries, layers, target)?;
                Ok(end == chunk.num_levels)
            })?;
            inside = true;
            skip = 0;
            // The page's last chunk, or a chunk that ends with a row, ends the wanted rows too.
            if !more || (wanted == 0 && !rows.is_open(index)) || index + 1 == self.table.len() {
                break;
            }
            index += 1;
        }
        ensure!(wanted == 0, "expected {wanted} more rows in the page");
        Ok(())
    }

    /// Whether rows are not just slots.
    pub(super) fn has_levels(&self) -> bool {
        self.rep.is_some() || self.def.is_some()
    }

    pub(super) fn dictionary(&self) -> Option<&Dictionary> {
        self.dictionary.as_ref()
    }

    pub(super) fn codec(&self) -> &ValueCodec {
        &self.values
    }

    pub(super) fn chunks(&self) -> &Extent {
        &self.chunks
    }

    pub(super) fn table(&self) -> &ChunkTable {
        &self.table
    }

    pub(super) fn with_chunk<R>(
        &self,
        index: usize,
        work: impl FnOnce(&Chunk<'_>) -> Result<R>,
    ) -> Result<R> {
        let range = self.table.bytes(index);
        let position = self.chunks.position() + range.start as u64;
        let bytes = self.chunks.get(range)?;
        Chunk::parse(&bytes, self.rep.is_some(), self.def.is_some(), self.values.num_buffers(), self.large)
            .and_then(|chunk| work(&chunk))
            .map_err(|error| error.at(position).within(format!("chunk {index}")))
    }

    /// Appends the slots `range` of chunk `index`, which has `count`, or picks them from the dictionary. The definition
    /// levels of `entries`, if there are any, are those of the entries that own the slots or lie between.
    #[expect(clippy::too_many_arguments, reason = "a chunk, what is wanted of it, and where it goes")]
    fn values(
        &self,
        index: usize,
        chunk: &Chunk<'_>,
        count: usize,
        range: Range<usize>,
        entries: Range<usize>,
        layers: &Layers,
        target: &mut Target,
    ) -> Result<()> {
        let Some(dictionary) = &self.dictionary else {
            return self.decode(index, chunk, count, range, &mut target.leaf, &mut target.scratch.chunk);
        };
        if let ValueCodec::Rle { .. } = &self.values
            && target.codes.is_none()
            && dictionary.append_runs(chunk.buffers(), range.clone(), target)?
        {
            return Ok(());
        }
        let scratch = &mut target.scratch;
        let indices =
            scratch.indices.get_or_insert_with(|| LeafBuilder::new(dictionary.index.clone(), 0, None));
        if !indices.shape().is(&dictionary.index) {
            *indices = LeafBuilder::new(dictionary.index.clone(), 0, None);
        }
        indices.clear();
        // The first chunk is often cut short, the next may be as large as this one is as a whole.
        indices.reserve(Room::of_slots(count), usize::MAX / 64);
        self.decode(index, chunk, count, range, indices, &mut scratch.chunk)?;
        let levels = target.def[entries].iter().copied().filter(|level| *level <= layers.visible);
        let picks = target.codes.as_mut().unwrap_or(&mut scratch.picks);
        dictionary.pick(indices, levels, picks)?;
        // Texts get their room when it is known how many bytes all of them have.
        match dictionary.items.fixed() {
            Some(_) if target.codes.is_none() => dictionary.append_picks(target),
            _ => Ok(()),
        }
    }

    /// Decodes slots of a chunk. A compressed one is decompressed once for all ranges that lie in it: `scratch` keeps
    /// the last one.
    fn decode(
        &self,
        index: usize,
        chunk: &Chunk<'_>,
        count: usize,
        range: Range<usize>,
        out: &mut LeafBuilder,
        scratch: &mut DecompressedChunk,
    ) -> Result<()> {
        let buffers = chunk.buffers();
        let ValueCodec::General { inner, .. } = &self.values else {
            return self.values.decode(buffers, count, range, out);
        };
        let own = (core::ptr::from_ref(self).addr(), index);
        if scratch.of != Some(own) {
            scratch.of = None;
            self.values.decompress(buffers[0], count, out.shape(), &mut scratch.bytes)?;
            scratch.of = Some(own);
        }
        inner.decode(&replace_first(buffers, &scratch.bytes), count, range, out)
    }
}

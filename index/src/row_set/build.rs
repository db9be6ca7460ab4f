//! Filling a set: from ids in any order, from ranges, chunk by chunk.

use super::{
    Chunk, Kind, RowSet, Stored,
    block::{Block, WORDS, run},
};
use alloc::vec::Vec;
use core::ops::Range;
use lancet_format::table::Numbers;

/// With so many ids for each chunk it is quicker to set bits than to sort.
const DENSE: u64 = 64;
/// An array holds no more rows: beyond, bits are shorter.
const MAX_ARRAY: u32 = 4096;
const SPAN: u64 = 1 << 16;

/// Ids with more upper halves than this are sorted.
const MAX_SPANS: usize = 64;

/// The chunks of ids with one upper half.
#[derive(Debug, Clone, Copy)]
struct Span {
    upper: u64,
    first: u64,
    last: u64,
}

impl Span {
    const EMPTY: Span = Span { upper: 0, first: 0, last: 0 };

    fn chunks(&self) -> u64 {
        self.last - self.first + 1
    }
}

/// For each lowest byte of an upper half the span that was looked for last: ids of many fragments come in any order.
struct Recent([u8; 256]);

impl Recent {
    const NONE: Recent = Recent([0; 256]);

    #[inline]
    fn find(&mut self, spans: &[Span], upper: u64) -> Option<usize> {
        let slot = &mut self.0[(upper & 0xff) as usize];
        let recent = usize::from(*slot);
        if spans.get(recent).is_some_and(|span| span.upper == upper) {
            return Some(recent);
        }
        let found = spans.iter().position(|span| span.upper == upper)?;
        // There are at most [`MAX_SPANS`].
        *slot = found as u8;
        Some(found)
    }
}

/// The spans of `ids`, ascending; `None` if there are none, or too many.
fn spans_of<'a>(ids: &[u64], spans: &'a mut [Span; MAX_SPANS]) -> Option<&'a [Span]> {
    let (mut count, mut last, mut recent) = (0, 0, Recent::NONE);
    for &id in ids {
        let (upper, key) = (id >> 32, id >> 16);
        if count == 0 || spans[last].upper != upper {
            last = recent.find(&spans[..count], upper).unwrap_or(count);
            if last == MAX_SPANS {
                return None;
            }
            if last == count {
                spans[last] = Span { upper, first: key, last: key };
                count += 1;
            }
        }
        let span = &mut spans[last];
        span.first = span.first.min(key);
        span.last = span.last.max(key);
    }
    spans[..count].sort_unstable_by_key(|span| span.upper);
    (count > 0).then_some(&spans[..count])
}

impl RowSet {
    /// Makes this the set of `ids`, which may be in any order and repeat themselves. `spare` is used for work and
    /// can be used again.
    pub fn assign_ids(&mut self, ids: &[u64], spare: &mut Vec<u64>) {
        self.clear();
        let mut spans = [Span::EMPTY; MAX_SPANS];
        if let Some(spans) = spans_of(ids, &mut spans)
            && spans.iter().map(Span::chunks).sum::<u64>().saturating_mul(DENSE) <= ids.len() as u64
        {
            return self.assign_dense(ids, spans, spare);
        }
        spare.clear();
        spare.extend_from_slice(ids);
        if !spare.is_sorted() {
            spare.sort_unstable();
        }
        spare.dedup();
        for group in spare.chunk_by(|a, b| a >> 16 == b >> 16) {
            self.push_sorted(group[0] >> 16, group);
        }
    }

    /// Sets a bit for each id: at most 16 words an id.
    fn assign_dense(&mut self, ids: &[u64], spans: &[Span], spare: &mut Vec<u64>) {
        spare.clear();
        spare.resize(spans.iter().map(Span::chunks).sum::<u64>() as usize * WORDS, 0);
        // Where the bits of each span begin, less its own start.
        let mut bases = [0u64; MAX_SPANS];
        let mut start = 0u64;
        for (base, span) in bases.iter_mut().zip(spans) {
            *base = (start << 16).wrapping_sub(span.first << 16);
            start += span.chunks();
        }
        let (mut last, mut recent) = (0, Recent::NONE);
        for &id in ids {
            if spans[last].upper != id >> 32 {
                last = recent.find(spans, id >> 32).unwrap_or(last);
            }
            let bit = id.wrapping_add(bases[last]);
            spare[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        let mut block = Block::new();
        let mut words = spare.chunks_exact(WORDS);
        for span in spans {
            for (key, words) in (span.first..=span.last).zip(&mut words) {
                block.assign(words);
                self.push_block(key, &block);
            }
        }
    }

    /// Appends rows of one chunk, ascending.
    fn push_sorted(&mut self, key: u64, rows: &[u64]) {
        if rows.len() > MAX_ARRAY as usize {
            let mut block = Block::new();
            rows.iter().for_each(|row| block.set(*row as u16));
            return self.push_block(key, &block);
        }
        let at = self.arrays.len();
        self.arrays.extend(rows.iter().map(|row| (*row as u16).to_le_bytes()));
        self.push_stored(key, Kind::Array, at, rows.len(), rows.len() as u32);
    }

    /// Makes this the set of all rows of `ranges`, which ascend by their starts; they may overlap.
    pub fn assign_ranges(&mut self, ranges: impl IntoIterator<Item = Range<u64>>) {
        self.clear();
        let mut ranges = ranges.into_iter().filter(|range| range.start < range.end).peekable();
        let mut open: Option<(u64, usize, u32)> = None;
        while let Some(mut range) = ranges.next() {
            while let Some(next) = ranges.next_if(|next| next.start <= range.end) {
                debug_assert!(next.start >= range.start, "ranges that ascend");
                range.end = range.end.max(next.end);
            }
            let mut start = range.start;
            while start < range.end {
                let key = start >> 16;
                // The last chunk of all ends where a sum would overflow.
                let last = (range.end - 1).min(key << 16 | (SPAN - 1));
                if let Some((open_key, at, rows)) = open.filter(|(open_key, ..)| *open_key != key) {
                    self.push_runs(open_key, at, rows);
                    open = None;
                }
                let (_, _, rows) = open.get_or_insert((key, self.runs.len(), 0));
                *rows += (last - start + 1) as u32;
                self.runs.push(run(start as u16, last as u16));
                match last.checked_add(1) {
                    Some(next) => start = next,
                    None => break,
                }
            }
        }
        if let Some((key, at, rows)) = open {
            self.push_runs(key, at, rows);
        }
    }

    /// Appends the chunk whose runs are the last ones, from `at` on.
    fn push_runs(&mut self, key: u64, at: usize, rows: u32) {
        let runs = self.runs.len() - at;
        if runs * 4 <= (rows as usize * 2).min(WORDS * 8) {
            return self.push_stored(key, Kind::Runs, at, runs, rows);
        }
        let mut block = Block::new();
        block.insert(Numbers::Runs(&self.runs[at..]));
        self.runs.truncate(at);
        self.push_block(key, &block);
    }

    /// Appends the rows of a block in the shortest way; nothing if there are none.
    pub(super) fn push_block(&mut self, key: u64, block: &Block) {
        let (rows, runs) = block.count();
        if rows == 0 {
            return;
        }
        if runs * 2 <= rows.min(MAX_ARRAY) {
            let at = self.runs.len();
            self.runs.extend(block.runs().map(|(start, last)| run(start, last)));
            return self.push_stored(key, Kind::Runs, at, runs as usize, rows);
        }
        if rows <= MAX_ARRAY {
            let at = self.arrays.len();
            self.arrays.extend(block.rows().map(u16::to_le_bytes));
            return self.push_stored(key, Kind::Array, at, rows as usize, rows);
        }
        let at = self.words.len();
        self.words.extend(block.words().iter().map(|word| word.to_le_bytes()));
        self.push_stored(key, Kind::Bits, at, WORDS, rows);
    }

    /// Appends a chunk as it is; its key is larger than all before.
    pub(super) fn push_chunk(&mut self, chunk: Chunk<'_>) {
        let (kind, at, entries) = match chunk.rows {
            Numbers::Array(rows) => {
                let at = self.arrays.len();
                self.arrays.extend_from_slice(rows);
                (Kind::Array, at, rows.len())
            }
            Numbers::Runs(runs) => {
                let at = self.runs.len();
                self.runs.extend_from_slice(runs);
                (Kind::Runs, at, runs.len())
            }
            Numbers::Bits(words) => {
                let at = self.words.len();
                self.words.extend_from_slice(words);
                (Kind::Bits, at, words.len())
            }
        };
        if chunk.cardinality > 0 {
            self.push_stored(chunk.key, kind, at, entries, chunk.cardinality);
        }
    }

    /// Appends those rows of an array that `keep` wants.
    pub(super) fn push_filtered(&mut self, key: u64, rows: &[[u8; 2]], keep: impl Fn(&[u8; 2]) -> bool) {
        let at = self.arrays.len();
        self.arrays.extend(rows.iter().filter(|row| keep(row)));
        let kept = self.arrays.len() - at;
        if kept > 0 {
            self.push_stored(key, Kind::Array, at, kept, kept as u32);
        }
    }

    fn push_stored(&mut self, key: u64, kind: Kind, at: usize, entries: usize, cardinality: u32) {
        debug_assert!(self.chunks.last().is_none_or(|last| last.key < key), "chunks ascend");
        self.chunks.push(Stored { key, cardinality, kind, at, entries: entries as u32 });
        self.len += u64::from(cardinality);
    }
}

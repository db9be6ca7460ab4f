//! [`RowSet`]: a set of 64-bit row ids or addresses.
//!
//! ```text
//! chunks   rows with the same upper 48 bits (in an address: the fragment and the upper half of the offset),
//!          ascending, none of them empty; each keeps the lower 16 bits in whichever way is the shortest:
//!            array   2 bytes a row         runs   4 bytes a run         bits   8192 bytes
//! arrays, runs, words   the rows of all chunks, end to end
//! ```
//! The three ways are those of Roaring bitmaps, so that sets which lie in a file take part in the algebra as they
//! are. A set that is cleared and filled again allocates nothing once it had its largest size. Whole fragments are
//! sets of one run for each chunk.

mod algebra;
mod block;
mod build;
mod moved;
#[cfg(test)]
mod tests;

pub use algebra::Chunk;
pub use moved::Moved;

use alloc::vec::Vec;
use block::{bounds, contains, number};
use core::{fmt, ops::Range};
use lancet_format::table::Numbers;

/// A set of row ids or addresses.
#[derive(Clone, Default)]
pub struct RowSet {
    chunks: Vec<Stored>,
    arrays: Vec<[u8; 2]>,
    runs: Vec<[u8; 4]>,
    words: Vec<[u8; 8]>,
    len: u64,
}

/// Where the rows of a chunk are kept.
#[derive(Debug, Clone, Copy)]
struct Stored {
    /// The upper 48 bits.
    key: u64,
    /// How many rows, 1 to 65,536.
    cardinality: u32,
    kind: Kind,
    /// The first entry, among those of its kind.
    at: usize,
    entries: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Array,
    Runs,
    Bits,
}

impl RowSet {
    /// No rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes all rows out and keeps the room for others.
    pub fn clear(&mut self) {
        self.chunks.clear();
        self.arrays.clear();
        self.runs.clear();
        self.words.clear();
        self.len = 0;
    }

    /// How many rows.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes of memory that the set takes.
    pub fn memory(&self) -> usize {
        self.chunks.capacity() * size_of::<Stored>()
            + self.arrays.capacity() * 2
            + self.runs.capacity() * 4
            + self.words.capacity() * 8
    }

    /// Whether the row is in the set.
    pub fn contains(&self, row: u64) -> bool {
        let found = self.chunks.binary_search_by_key(&(row >> 16), |chunk| chunk.key);
        found.is_ok_and(|index| contains(self.rows_of(&self.chunks[index]), row as u16))
    }

    /// The rows, chunk by chunk, ascending.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = Chunk<'_>> {
        self.chunks.iter().map(|chunk| self.chunk(chunk))
    }

    fn chunk(&self, chunk: &Stored) -> Chunk<'_> {
        Chunk { key: chunk.key, cardinality: chunk.cardinality, rows: self.rows_of(chunk) }
    }

    fn rows_of(&self, chunk: &Stored) -> Numbers<'_> {
        let entries = chunk.at..chunk.at + chunk.entries as usize;
        match chunk.kind {
            Kind::Array => Numbers::Array(&self.arrays[entries]),
            Kind::Runs => Numbers::Runs(&self.runs[entries]),
            Kind::Bits => Numbers::Bits(&self.words[entries]),
        }
    }

    /// The chunks of one fragment (of the ids with that upper half).
    fn chunks_of(&self, fragment: u32) -> &[Stored] {
        let first = u64::from(fragment) << 16;
        let start = self.chunks.partition_point(|chunk| chunk.key < first);
        let len = self.chunks[start..].partition_point(|chunk| chunk.key < first + (1 << 16));
        &self.chunks[start..start + len]
    }

    /// The fragments that have rows in the set, ascending, each with how many.
    pub fn fragments(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let fragments = self.chunks.chunk_by(|a, b| a.key >> 16 == b.key >> 16);
        fragments.map(|chunks| {
            let rows = chunks.iter().map(|chunk| u64::from(chunk.cardinality)).sum();
            ((chunks[0].key >> 16) as u32, rows)
        })
    }

    /// How many rows of a fragment.
    pub fn len_of(&self, fragment: u32) -> u64 {
        self.chunks_of(fragment).iter().map(|chunk| u64::from(chunk.cardinality)).sum()
    }

    /// The rows in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.ranges().flatten()
    }

    /// The rows as ascending ranges that do not touch each other.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ranges_in(&self.chunks)
    }

    /// The offsets of the rows of one fragment as ascending ranges that do not touch each other.
    pub fn ranges_of(&self, fragment: u32) -> impl Iterator<Item = Range<u64>> + '_ {
        let base = u64::from(fragment) << 32;
        self.ranges_in(self.chunks_of(fragment)).map(move |range| range.start - base..range.end - base)
    }

    /// The rows that lie in `within`, as ascending ranges that do not touch each other.
    pub fn ranges_within(&self, within: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let start = self.chunks.partition_point(|chunk| chunk.key < within.start >> 16);
        let end = self.chunks.partition_point(|chunk| chunk.key << 16 < within.end);
        let pieces = self.ranges_in(&self.chunks[start.min(end)..end]);
        let cut = move |range: Range<u64>| range.start.max(within.start)..range.end.min(within.end);
        pieces.map(cut).filter(|range| range.start < range.end)
    }

    fn ranges_in<'a>(&'a self, chunks: &'a [Stored]) -> impl Iterator<Item = Range<u64>> + 'a {
        let mut pieces = chunks.iter().flat_map(|chunk| Pieces {
            base: chunk.key << 16,
            rows: self.rows_of(chunk),
            at: 0,
        });
        let mut next = pieces.next();
        core::iter::from_fn(move || {
            let mut range = next.take()?;
            loop {
                match pieces.next() {
                    Some(piece) if piece.start == range.end => range.end = piece.end,
                    other => {
                        next = other;
                        return Some(range);
                    }
                }
            }
        })
    }
}

/// The ranges of a chunk, which may touch each other.
struct Pieces<'a> {
    base: u64,
    rows: Numbers<'a>,
    /// The next entry, or bit.
    at: usize,
}

impl Iterator for Pieces<'_> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        let (start, end) = match self.rows {
            Numbers::Array(rows) => {
                let start = u64::from(number(rows.get(self.at)?));
                self.at += 1;
                (start, start + 1)
            }
            Numbers::Runs(runs) => {
                let (start, last) = bounds(runs.get(self.at)?);
                self.at += 1;
                (start.into(), u64::from(last) + 1)
            }
            Numbers::Bits(words) => {
                let start = next_bit(words, self.at, 0)?;
                let end = next_bit(words, start, u64::MAX).unwrap_or(words.len() * 64);
                self.at = end;
                (start as u64, end as u64)
            }
        };
        Some(self.base + start..self.base + end)
    }
}

/// The first bit at or behind `from` that differs from the bits of `background`.
fn next_bit(words: &[[u8; 8]], from: usize, background: u64) -> Option<usize> {
    let mut mask = u64::MAX << (from % 64);
    for (index, word) in words.iter().enumerate().skip(from / 64) {
        let found = (u64::from_le_bytes(*word) ^ background) & mask;
        if found != 0 {
            return Some(index * 64 + found.trailing_zeros() as usize);
        }
        mask = u64::MAX;
    }
    None
}

impl PartialEq for RowSet {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.ranges().eq(other.ranges())
    }
}

impl Eq for RowSet {}

impl fmt::Debug for RowSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RowSet({} rows)", self.len)
    }
}

impl FromIterator<u64> for RowSet {
    fn from_iter<I: IntoIterator<Item = u64>>(rows: I) -> Self {
        let (rows, mut set): (Vec<u64>, _) = (rows.into_iter().collect(), RowSet::new());
        set.assign_ids(&rows, &mut Vec::new());
        set
    }
}

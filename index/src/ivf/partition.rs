//! [`Partition`]: the rows of a partition, read once and kept by the caller.

use crate::Result;
use alloc::vec::Vec;
use core::ops::Range;
use lancet_format::{Buffer, Column, index::IvfIndex};

/// Row ids and vectors or codes of one partition.
///
/// Vectors and codes are used where they lie in the file, in as many pieces as that takes. What had to be decoded or
/// brought together counts as [`heap_bytes`](Self::heap_bytes).
#[derive(Debug)]
pub struct Partition {
    row_ids: Column,
    /// Vectors or codes of consecutive rows, end to end.
    pieces: Vec<Buffer>,
    /// The first row of each piece, and the number of all rows.
    starts: Vec<usize>,
}

impl Partition {
    pub(super) fn read(file: &IvfIndex, number: usize) -> Result<Self> {
        let (row_ids, pieces) = (file.row_ids(number)?, file.codes(number)?);
        let mut starts = Vec::with_capacity(pieces.len() + 1);
        let mut rows = 0;
        starts.push(rows);
        for piece in &pieces {
            rows += piece.len() / file.row_bytes().max(1);
            starts.push(rows);
        }
        Ok(Partition { row_ids, pieces, starts })
    }

    /// The row ids, in the order of the file.
    pub fn row_ids(&self) -> &[u64] {
        self.row_ids.primitive().unwrap_or_default()
    }

    /// The bytes of memory that it takes, those apart that lie in the file.
    pub fn heap_bytes(&self) -> usize {
        let codes: usize = self.pieces.iter().map(Buffer::heap_bytes).sum();
        let lists =
            self.pieces.capacity() * size_of::<Buffer>() + self.starts.capacity() * size_of::<usize>();
        self.row_ids.heap_bytes() + codes + lists
    }

    /// The pieces in which some of `rows` lie, with the rows of each.
    pub(super) fn pieces(&self, rows: Range<usize>) -> impl Iterator<Item = (Range<usize>, &Buffer)> {
        let first = self.starts.partition_point(|&start| start <= rows.start).saturating_sub(1);
        let pieces = self.pieces.iter().zip(self.starts.windows(2)).skip(first);
        pieces.map(|(piece, ends)| (ends[0]..ends[1], piece)).take_while(move |(own, _)| own.start < rows.end)
    }

    /// The codes of all rows, of a kind that has them in one piece.
    pub(super) fn codes(&self) -> &[u8] {
        self.pieces.first().map_or(&[], Buffer::as_slice)
    }
}

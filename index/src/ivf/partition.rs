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
    row_bytes: usize,
    codes: Vec<Buffer>,
}

/// Some rows of a partition whose vectors or codes lie end to end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
    row_ids: &'a [u64],
    codes: &'a Buffer,
}

impl Partition {
    pub(super) fn read(file: &IvfIndex, number: usize) -> Result<Self> {
        let (row_ids, codes) = (file.row_ids(number)?, file.codes(number)?);
        Ok(Partition { row_ids, row_bytes: file.row_bytes(), codes })
    }

    /// The row ids, in the order of the file.
    pub fn row_ids(&self) -> &[u64] {
        self.row_ids.primitive().unwrap_or_default()
    }

    /// The bytes of memory that it takes, those apart that lie in the file.
    pub fn heap_bytes(&self) -> usize {
        let codes: usize = self.codes.iter().map(Buffer::heap_bytes).sum();
        self.row_ids.heap_bytes() + codes + self.codes.capacity() * size_of::<Buffer>()
    }

    /// All rows, piece after piece.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut start = 0;
        self.codes.iter().map(move |codes| {
            let rows: Range<usize> = start..start + codes.len() / self.row_bytes.max(1);
            start = rows.end;
            Piece { row_ids: &self.row_ids()[rows], codes }
        })
    }
}

impl<'a> Piece<'a> {
    pub(super) fn row_ids(&self) -> &'a [u64] {
        self.row_ids
    }

    /// The bytes of all codes, or vectors.
    pub(super) fn codes(&self) -> &'a Buffer {
        self.codes
    }
}

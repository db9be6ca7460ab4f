//! [`Partition`]: the rows of a partition, read when it is first probed.

use crate::{Error, Result};
use lancet_format::{Column, index::IvfIndex};

/// Row ids and vectors or codes of one partition.
#[derive(Debug)]
pub(super) struct Partition {
    row_ids: Column,
    codes: Column,
}

impl Partition {
    pub(super) fn read(file: &IvfIndex, number: usize) -> Result<Self> {
        Ok(Partition { row_ids: file.row_ids(number)?, codes: file.codes(number)? })
    }

    pub(super) fn row_ids(&self) -> &[u64] {
        self.row_ids.primitive().unwrap_or_default()
    }

    /// Vectors or codes, a fixed-size list a row.
    pub(super) fn codes(&self) -> &Column {
        &self.codes
    }

    /// The bytes of all codes.
    pub(super) fn bytes(&self) -> Result<&[u8]> {
        self.codes.flat::<u8>().ok_or_else(|| Error::corrupt("expected codes of bytes"))
    }
}

//! A little-endian reader over a slice that knows where the slice lies in its file.

use crate::{Error, Result};
use alloc::format;

/// Reads fixed-width values front to back; every read is checked and every error has an offset.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    base: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes`, whose first byte is byte `base` of the file.
    pub(crate) fn new(bytes: &'a [u8], base: u64) -> Self {
        Cursor { bytes, at: 0, base }
    }

    /// The absolute offset of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// How many bytes were read.
    pub(crate) fn consumed(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `len` bytes; `what` names them if they are not there.
    pub(crate) fn take(&mut self, len: usize, what: &str) -> Result<&'a [u8]> {
        let Some(bytes) = self.bytes[self.at..].get(..len) else {
            return Err(Error::corrupt(format!("{what}: expected {len} bytes, found {}", self.remaining()))
                .at(self.offset()));
        };
        self.at += len;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N, what)?);
        Ok(out)
    }

    /// The next two bytes as a number.
    pub(crate) fn u16(&mut self, what: &str) -> Result<u16> {
        self.array(what).map(u16::from_le_bytes)
    }

    /// The next four bytes as a number.
    pub(crate) fn u32(&mut self, what: &str) -> Result<u32> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// The next eight bytes as a number.
    pub(crate) fn u64(&mut self, what: &str) -> Result<u64> {
        self.array(what).map(u64::from_le_bytes)
    }
}

//! Where bytes come from: a [`Source`] is one immutable file, an [`Extent`] a checked part of it.
//!
//! Decoders never touch a file; they ask an extent for a range. A file that lies in memory (mapped,
//! read, or static) lends its bytes; any other source fetches just that range.

use crate::{Error, Result};
use alloc::{format, sync::Arc};
use bytes::Bytes;
use core::{fmt, ops::Deref, ops::Range};

/// The bytes of one immutable file.
///
/// Implement this for a store of your own (see [`crate`]); everything that this crate reads goes through it.
pub trait Source: Send + Sync + fmt::Debug {
    /// The size of the file in bytes.
    fn len(&self) -> u64;

    /// Whether the file has no bytes at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of `range`, which the caller has checked to lie within `0..len()`.
    ///
    /// # Errors
    /// [`Error::source`] when the bytes cannot be had. Returning fewer bytes than asked is reported by the caller.
    fn read(&self, range: Range<u64>) -> Result<Bytes>;

    /// All bytes at once, if the file lies in memory: then columns may borrow them without a copy.
    fn in_memory(&self) -> Option<&Bytes> {
        None
    }
}

impl Source for Bytes {
    fn len(&self) -> u64 {
        Bytes::len(self) as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        Ok(self.slice(range.start as usize..range.end as usize))
    }

    fn in_memory(&self) -> Option<&Bytes> {
        Some(self)
    }
}

/// A part of a file whose bounds were checked against the file's size.
#[derive(Clone, Debug)]
pub struct Extent {
    source: Arc<dyn Source>,
    position: u64,
    len: usize,
}

impl Extent {
    /// The `len` bytes at `position`.
    ///
    /// # Errors
    /// Corrupt if they do not lie within the file; `what` names them in the message.
    pub fn new(source: &Arc<dyn Source>, position: u64, len: u64, what: &str) -> Result<Self> {
        let size = source.len();
        let fits = position.checked_add(len).is_some_and(|end| end <= size);
        match usize::try_from(len) {
            Ok(len) if fits => Ok(Extent { source: source.clone(), position, len }),
            _ => Err(Error::corrupt(format!(
                "{what}: expected {len} bytes inside the file, which has {size} bytes in all"
            ))
            .at(position)),
        }
    }

    /// All bytes of `source`.
    pub fn whole(source: &Arc<dyn Source>) -> Result<Self> {
        Self::new(source, 0, source.len(), "file")
    }

    /// The absolute offset of the first byte.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The size in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the extent has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The absolute file range of the relative `range`, checked against this extent.
    fn absolute(&self, range: &Range<usize>) -> Result<Range<u64>> {
        if range.start > range.end || range.end > self.len {
            return Err(self.outside(range));
        }
        Ok(self.position + range.start as u64..self.position + range.end as u64)
    }

    #[cold]
    fn outside(&self, range: &Range<usize>) -> Error {
        Error::corrupt(format!(
            "expected bytes {}..{} of a buffer that has {} bytes",
            range.start, range.end, self.len
        ))
        .at(self.position)
    }

    /// The bytes of `range` (relative to this extent): lent if in memory, fetched otherwise.
    pub fn get(&self, range: Range<usize>) -> Result<Window<'_>> {
        let absolute = self.absolute(&range)?;
        match self.source.in_memory() {
            Some(all) => match all.get(absolute.start as usize..absolute.end as usize) {
                Some(bytes) => Ok(Window::Lent(bytes)),
                None => Err(self.outside(&range)),
            },
            None => self.fetch(absolute).map(Window::Fetched),
        }
    }

    /// The bytes of `range` where they lie; `None` if they do not lie in memory.
    pub fn lent(&self, range: Range<usize>) -> Result<Option<&[u8]>> {
        let absolute = self.absolute(&range)?;
        let Some(all) = self.source.in_memory() else { return Ok(None) };
        let bytes = all.get(absolute.start as usize..absolute.end as usize);
        bytes.map(Some).ok_or_else(|| self.outside(&range))
    }

    /// The bytes of `range` with a share in their ownership: no copy if the source is in memory.
    pub fn share(&self, range: Range<usize>) -> Result<Bytes> {
        let absolute = self.absolute(&range)?;
        self.fetch(absolute)
    }

    /// All bytes of the extent.
    pub fn all(&self) -> Result<Window<'_>> {
        self.get(0..self.len)
    }

    /// Whether reading costs nothing, so that columns may borrow.
    pub fn in_memory(&self) -> bool {
        self.source.in_memory().is_some()
    }

    fn fetch(&self, range: Range<u64>) -> Result<Bytes> {
        let expected = range.end - range.start;
        let start = range.start;
        let bytes = self.source.read(range)?;
        if bytes.len() as u64 != expected {
            return Err(Error::source(format!("expected {expected} bytes, the source gave {}", bytes.len()))
                .at(start));
        }
        Ok(bytes)
    }
}

/// Bytes that were asked for: lent by a source in memory, or fetched for this request.
#[derive(Debug)]
pub enum Window<'a> {
    /// Part of a file that lies in memory.
    Lent(&'a [u8]),
    /// Read for this request.
    Fetched(Bytes),
}

impl Deref for Window<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Window::Lent(bytes) => bytes,
            Window::Fetched(bytes) => bytes,
        }
    }
}

//! [`Lent`]: values of fixed width where they lie in a file that is in memory.

use crate::v21::chunks::Chunk;
use lancet_kernels::gather;

/// Values of consecutive rows, end to end. Where exactly they begin may stand in the file itself, so asking for that memory
/// and reading it are apart: who wants many asks for all of them first.
#[derive(Debug, Clone, Copy)]
pub struct Lent<'a> {
    bytes: &'a [u8],
    /// If the bytes are a chunk of a mini-block page.
    values: Option<ChunkValues>,
}

/// Which bytes of the one buffer of a chunk, without levels, are meant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkValues {
    /// The first one.
    pub(crate) at: usize,
    /// How many the buffer has.
    pub(crate) len: usize,
    pub(crate) is_large: bool,
}

impl<'a> Lent<'a> {
    pub(crate) fn of_bytes(bytes: &'a [u8]) -> Self {
        Lent { bytes, values: None }
    }

    pub(crate) fn in_chunk(chunk: &'a [u8], values: ChunkValues) -> Self {
        Lent { bytes: chunk, values: Some(values) }
    }

    /// Asks for the memory that [`bytes`](Self::bytes) will read.
    #[inline]
    pub fn prefetch(&self) {
        if self.values.is_some() {
            gather::prefetch(self.bytes, 0);
        }
    }

    /// The bytes of the rows; `None` if the file says of them what cannot be, which reading them will tell.
    pub fn bytes(&self) -> Option<&'a [u8]> {
        let Some(ChunkValues { at, len, is_large }) = self.values else { return Some(self.bytes) };
        let chunk = Chunk::parse(self.bytes, false, false, 1, is_large).ok()?;
        let values: &'a [u8] = chunk.buffers()[0];
        if values.len() == len { values.get(at..) } else { None }
    }
}

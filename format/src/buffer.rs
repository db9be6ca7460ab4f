//! [`Buffer`]: the bytes of one Arrow buffer, shared with a file or owned.

use alloc::{vec, vec::Vec};
use bytemuck::Pod;
use bytes::Bytes;
use core::fmt;

/// Bytes of a column buffer, aligned to 8 bytes unless they are shared with a file.
///
/// Shared buffers are made only where the file's bytes have the alignment of the values
/// (see [`Buffer::share`]), so [`Buffer::typed`] always works for the column's own type.
#[derive(Clone)]
pub struct Buffer(Repr);

#[derive(Clone)]
enum Repr {
    /// `len` bytes of `words`; the words behind them are spare room of unspecified content.
    Owned {
        words: Vec<u64>,
        len: usize,
    },
    Shared(Bytes),
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer(Repr::Owned { words: Vec::new(), len: 0 })
    }
}

impl Buffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty buffer with room for `bytes` bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Buffer(Repr::Owned { words: vec![0; bytes.div_ceil(8)], len: 0 })
    }

    /// Shares `bytes` if they are aligned to `align`, else copies them.
    pub fn share(bytes: Bytes, align: usize) -> Self {
        if bytes.as_ptr().align_offset(align) == 0 {
            Buffer(Repr::Shared(bytes))
        } else {
            Self::copy_of(&bytes)
        }
    }

    /// An owned copy of `bytes`.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut buffer = Self::with_capacity(bytes.len());
        buffer.extend_from_slice(bytes);
        buffer
    }

    /// An owned copy of the bytes of `values`.
    pub fn of<T: Pod>(values: &[T]) -> Self {
        Self::copy_of(bytemuck::cast_slice(values))
    }

    /// The size in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Owned { len, .. } => *len,
            Repr::Shared(bytes) => bytes.len(),
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the bytes are shared with the file that they came from, that is, nothing was copied.
    pub fn is_shared(&self) -> bool {
        matches!(self.0, Repr::Shared(_))
    }

    /// The bytes of memory that it takes, room to grow included; none if it is shared with a file.
    pub fn heap_bytes(&self) -> usize {
        match &self.0 {
            Repr::Owned { words, .. } => words.capacity() * 8,
            Repr::Shared(_) => 0,
        }
    }

    /// The bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Repr::Owned { words, len } => &bytemuck::cast_slice(words)[..*len],
            Repr::Shared(bytes) => bytes,
        }
    }

    /// The bytes with a share in their ownership, without a copy.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self.0 {
            Repr::Shared(bytes) => bytes,
            Repr::Owned { .. } => Bytes::from_owner(self),
        }
    }

    /// The bytes as values of `T`.
    ///
    /// # Panics
    /// If the length is no multiple of `T`'s size, or shared bytes are not aligned to it.
    #[inline]
    pub fn typed<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(self.as_slice())
    }

    /// Empties the buffer; an owned one keeps its room, a shared one lets the file go.
    pub(crate) fn clear(&mut self) {
        match &mut self.0 {
            Repr::Owned { len, .. } => *len = 0,
            Repr::Shared(_) => *self = Self::default(),
        }
    }

    /// Makes room for `additional` more bytes: exactly, since callers know their final size.
    pub(crate) fn reserve(&mut self, additional: usize) {
        self.owned(additional);
    }

    /// The bytes that there is room for.
    pub(crate) fn spare(&self) -> usize {
        match &self.0 {
            Repr::Owned { words, len } => words.len() * 8 - len,
            Repr::Shared(_) => 0,
        }
    }

    /// Appends `additional` bytes of unspecified content and lends them: the caller writes all of them.
    #[inline]
    pub(crate) fn grow(&mut self, additional: usize) -> &mut [u8] {
        let (words, len) = self.owned(additional);
        let start = *len;
        *len += additional;
        &mut bytemuck::cast_slice_mut(words)[start..start + additional]
    }

    /// As [`Buffer::grow`], in values of `T` (alignment at most 8); the length so far is a multiple of its size.
    #[inline]
    pub(crate) fn grow_typed<T: Pod>(&mut self, count: usize) -> &mut [T] {
        bytemuck::cast_slice_mut(self.grow(count * size_of::<T>()))
    }

    /// Appends a copy of `bytes`.
    #[inline]
    pub(crate) fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.grow(bytes.len()).copy_from_slice(bytes);
    }

    /// All bytes, to change in place.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        let (words, len) = self.owned(0);
        &mut bytemuck::cast_slice_mut(words)[..*len]
    }

    /// Cuts the buffer down to `len` bytes.
    pub(crate) fn truncate(&mut self, new_len: usize) {
        match &mut self.0 {
            Repr::Owned { len, .. } => *len = new_len.min(*len),
            Repr::Shared(bytes) => bytes.truncate(new_len),
        }
    }

    /// The owned words with room for `additional` bytes behind `len`; copies shared bytes first.
    #[inline]
    fn owned(&mut self, additional: usize) -> (&mut Vec<u64>, &mut usize) {
        if let Repr::Shared(bytes) = &self.0 {
            let shared = bytes.clone();
            let mut copy = Self::with_capacity(shared.len() + additional);
            copy.extend_from_slice(&shared);
            *self = copy;
        }
        let Repr::Owned { words, len } = &mut self.0 else { unreachable!("just made owned") };
        let needed = (*len + additional).div_ceil(8);
        if needed > words.len() {
            if words.is_empty() {
                // A fresh zeroed allocation costs no pass over its pages.
                *words = vec![0; needed];
            } else {
                // Callers that do not know the final size grow step by step: double, as `Vec` does.
                let room = needed.max(words.len() * 2);
                words.resize(room, 0);
            }
        }
        (words, len)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes, {})", self.len(), if self.is_shared() { "shared" } else { "owned" })
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Buffer {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_clears_and_keeps_room() {
        let mut buffer = Buffer::with_capacity(4);
        buffer.extend_from_slice(&[1, 2, 3]);
        buffer.extend_from_slice(&[4; 30]);
        assert_eq!((buffer.len(), buffer.as_slice()[2..5].to_vec()), (33, vec![3, 4, 4]));
        buffer.clear();
        buffer.grow_typed::<i32>(2).copy_from_slice(&[7, -1]);
        assert_eq!(buffer.typed::<i32>(), [7, -1]);
    }

    #[test]
    fn misaligned_bytes_are_copied() {
        let words = Bytes::from_owner(vec![0u8; 64]);
        let at = words.as_ptr().align_offset(8);
        assert!(Buffer::share(words.slice(at..at + 16), 8).is_shared());
        let copied = Buffer::share(words.slice(at + 1..at + 17), 8);
        assert!(!copied.is_shared());
        assert_eq!(copied.typed::<u64>(), [0, 0]);
    }
}

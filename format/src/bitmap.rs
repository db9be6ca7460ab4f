//! [`Bitmap`]: one bit per item, least significant bit first, and the builder that decoders append to.

use crate::Buffer;
use core::fmt;
use lancet_kernels::{bits, levels};

/// One bit per item as Arrow lays it out: item `i` is bit `i % 8` of byte `i / 8`. Spare bits are zero
/// in bitmaps that lancet decoded, and unspecified in shared ones.
#[derive(Clone)]
pub struct Bitmap {
    bits: Buffer,
    len: usize,
}

impl Bitmap {
    /// A bitmap of the first `len` bits of `bits`.
    ///
    /// # Panics
    /// If `bits` is too short.
    pub fn new(bits: Buffer, len: usize) -> Self {
        assert!(bits.len() >= len.div_ceil(8), "{len} bits need {} bytes", len.div_ceil(8));
        Bitmap { bits, len }
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bit `i`.
    ///
    /// # Panics
    /// If `i` is not below the length.
    #[inline]
    pub fn get(&self, i: usize) -> bool {
        assert!(i < self.len, "bit {i} of {}", self.len);
        bits::get(self.bits.as_slice(), i)
    }

    /// The number of set bits.
    pub fn count_ones(&self) -> usize {
        bits::count_ones(self.bits.as_slice(), 0..self.len)
    }

    /// All bits in order.
    pub fn iter(&self) -> impl Iterator<Item = bool> + '_ {
        (0..self.len).map(|i| bits::get(self.bits.as_slice(), i))
    }

    /// The bytes that hold the bits.
    pub fn buffer(&self) -> &Buffer {
        &self.bits
    }

    /// The buffer, for reuse.
    pub(crate) fn into_buffer(self) -> Buffer {
        self.bits
    }
}

impl fmt::Debug for Bitmap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bitmap({} of {} set)", self.count_ones(), self.len)
    }
}

impl PartialEq for Bitmap {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl Eq for Bitmap {}

/// Appends bits; allocates nothing as long as all of them are set.
#[derive(Debug, Clone, Default)]
pub(crate) struct BitmapBuilder {
    bits: Buffer,
    len: usize,
    ones: usize,
    /// Bits to make room for when the first zero arrives.
    expected: usize,
}

impl BitmapBuilder {
    /// A builder that will receive about `expected` bits, reusing the room of `bits`.
    pub(crate) fn reuse(mut bits: Buffer, expected: usize) -> Self {
        bits.clear();
        BitmapBuilder { bits, len: 0, ones: 0, expected }
    }

    /// Says that about `expected` bits will come in all.
    pub(crate) fn expect(&mut self, expected: usize) {
        self.expected = expected;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The room for bytes, if none were written since every bit is set.
    pub(crate) fn take_unused(&mut self) -> Option<Buffer> {
        self.is_lazy().then(|| core::mem::take(&mut self.bits))
    }

    /// Whether every bit so far is set, so that no bytes were written.
    fn is_lazy(&self) -> bool {
        self.ones == self.len
    }

    /// Bytes with room for `additional` more bits, all bits so far written.
    fn materialize(&mut self, additional: usize) -> &mut [u8] {
        let bytes = (self.len + additional).div_ceil(8);
        let lazy = self.is_lazy();
        if bytes > self.bits.len() {
            if self.bits.is_empty() {
                self.bits.reserve(bytes.max(self.expected.div_ceil(8)));
            }
            let missing = bytes - self.bits.len();
            self.bits.grow(missing).fill(0);
        }
        let out = self.bits.as_mut_slice();
        if lazy {
            bits::fill(out, 0..self.len, true);
        }
        out
    }

    /// Appends `count` equal bits.
    pub(crate) fn append_n(&mut self, count: usize, value: bool) {
        if !(value && self.is_lazy()) {
            let start = self.len;
            bits::fill(self.materialize(count), start..start + count, value);
        }
        self.len += count;
        self.ones += if value { count } else { 0 };
    }

    /// Appends one bit.
    pub(crate) fn append(&mut self, value: bool) {
        self.append_n(1, value);
    }

    /// Appends bits `start..start + count` of `source`.
    pub(crate) fn append_bits(&mut self, source: &[u8], start: usize, count: usize) {
        let ones = bits::count_ones(source, start..start + count);
        if ones == count {
            return self.append_n(count, true);
        }
        let at = self.len;
        bits::copy(self.materialize(count), at, source, start, count);
        self.len += count;
        self.ones += ones;
    }

    /// Appends one bit per level: set where the level is below `threshold`.
    pub(crate) fn append_levels(&mut self, source: &[u16], threshold: u16) {
        let at = self.len;
        let lazy = self.is_lazy();
        if lazy && levels::max(source) < threshold {
            return self.append_n(source.len(), true);
        }
        let ones = levels::less_than(source, threshold, self.materialize(source.len()), at);
        self.len += source.len();
        self.ones += ones;
    }

    /// Appends one bit for each entry of the set `chosen`: whether it is in `set`, too.
    pub(crate) fn append_chosen(&mut self, set: &[u64], chosen: &[u64]) {
        let count = levels::count(chosen);
        let all = set.iter().zip(chosen).all(|(set, chosen)| set & chosen == *chosen);
        if all && self.is_lazy() {
            return self.append_n(count, true);
        }
        let at = self.len;
        let packed = levels::pack(set, chosen, self.materialize(count), at);
        self.len += packed.len;
        self.ones += packed.ones;
    }

    /// Whether all bits so far are set.
    pub(crate) fn all(&self) -> bool {
        self.is_lazy()
    }

    /// How many bits so far are not set.
    pub(crate) fn count_zeros(&self) -> usize {
        self.len - self.ones
    }

    /// Bit `i` of those appended so far.
    pub(crate) fn get(&self, i: usize) -> bool {
        self.is_lazy() || bits::get(self.bits.as_slice(), i)
    }

    /// Takes back the last `count` bits.
    pub(crate) fn rewind(&mut self, count: usize) {
        let start = self.len - count;
        self.ones -=
            if self.is_lazy() { count } else { bits::count_ones(self.bits.as_slice(), start..self.len) };
        self.len = start;
    }

    /// The bits, or `None` if all of them are set (then the buffer that was to be reused is dropped).
    pub(crate) fn finish(self) -> Option<Bitmap> {
        (!self.is_lazy()).then(|| Bitmap { bits: self.bits, len: self.len })
    }

    /// The bits, written out even if all of them are set.
    pub(crate) fn finish_all(mut self) -> Bitmap {
        if self.is_lazy() {
            self.materialize(0);
        }
        Bitmap { bits: self.bits, len: self.len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn stays_lazy_until_the_first_zero() {
        let mut builder = BitmapBuilder::default();
        builder.append_n(11, true);
        builder.append_levels(&[0, 0], 1);
        assert!(builder.bits.is_empty());
        builder.append_levels(&[0, 1, 2], 2);
        builder.append_bits(&[0b0110_1000], 3, 4);
        builder.append(false);
        let bitmap = builder.finish().unwrap();
        let expected: Vec<bool> = [true; 13]
            .into_iter()
            .chain([true, true, false])
            .chain([true, false, true, true, false])
            .collect();
        assert_eq!(bitmap.iter().collect::<Vec<_>>(), expected);
        assert_eq!(bitmap.count_ones(), 18);
    }

    #[test]
    fn all_set_needs_no_bitmap() {
        let mut builder = BitmapBuilder::default();
        builder.append_n(3, true);
        assert_eq!(builder.finish(), None);
        let mut builder = BitmapBuilder::default();
        builder.append_n(3, true);
        assert_eq!(builder.finish_all().buffer().as_slice(), [7]);
    }
}

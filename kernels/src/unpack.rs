//! Integers packed to a few bits each, in the FastLanes order: 1024 values of one width form a block.
//!
//! Let T be the bits of the unpacked word and W the bits kept of each value. A block is W rows of 128 bytes, and a
//! row holds L = 1024 / T little-endian words, one per lane. A lane is a stream of T values of W bits, the lowest
//! bits first, that runs down its column:
//!
//! ```text
//!  T = 16, W = 10, L = 64     lane 0                                lane 1                     …  lane 63
//!  packed row 0 (128 bytes)   v0, low 6 bits of v128                v1, low 6 bits of v129        v63, …
//!  packed row 1               high 4 of v128, v256, low 2 of v384   high 4 of v129, …
//!  …
//!  packed row 9               high 6 of v832, v960                  …
//! ```
//!
//! Value r of lane l is value `ORDER[r / 8] * 16 + r % 8 * 128 + l` of the block. So the r-th values of all lanes are
//! a run of L neighbours in the output, and they lie at the same bits of the same packed rows: a run unpacks with
//! one shift for all its lanes, which the compiler turns into vector instructions.

use core::ops::{BitAnd, BitOr, Shl, Shr};

/// Values in a block.
pub const BLOCK: usize = 1024;

/// Bytes in a packed row, whatever its words.
const ROW: usize = BLOCK / 8;

/// Where in 128 neighbours each group of eight runs goes, in units of 16 values. The table is its own inverse.
const ORDER: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

/// An unsigned integer that blocks unpack to: `u8`, `u16`, `u32` or `u64`.
pub trait Word: sealed::Bits {
    /// Bits of the word, and the largest width of its packed values.
    const BITS: usize;
}

mod sealed {
    use super::{BitAnd, BitOr, ROW, Shl, Shr};

    /// What the loops need of a word.
    pub trait Bits:
        Copy
        + Default
        + 'static
        + BitAnd<Output = Self>
        + BitOr<Output = Self>
        + Shl<usize, Output = Self>
        + Shr<usize, Output = Self>
    {
        /// The word with all its bits set.
        const MAX: Self;

        /// The word as it lies in a file: an array of bytes, unaligned.
        type Bytes: Copy;

        fn words(row: &[u8; ROW]) -> &[Self::Bytes];
        fn words_mut(row: &mut [u8; ROW]) -> &mut [Self::Bytes];
        fn from_bytes(bytes: Self::Bytes) -> Self;
        fn to_bytes(self) -> Self::Bytes;
    }
}

macro_rules! word {
    ($($word:ty),*) => {$(
        impl Word for $word {
            const BITS: usize = <$word>::BITS as usize;
        }

        impl sealed::Bits for $word {
            const MAX: Self = <$word>::MAX;

            type Bytes = [u8; size_of::<$word>()];

            #[inline(always)]
            fn words(row: &[u8; ROW]) -> &[Self::Bytes] {
                row.as_chunks().0
            }

            #[inline(always)]
            fn words_mut(row: &mut [u8; ROW]) -> &mut [Self::Bytes] {
                row.as_chunks_mut().0
            }

            #[inline(always)]
            fn from_bytes(bytes: Self::Bytes) -> Self {
                Self::from_le_bytes(bytes)
            }

            #[inline(always)]
            fn to_bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }
        }
    )*};
}

word!(u8, u16, u32, u64);

/// Bytes of one block of values of `width` bits.
pub const fn packed_len(width: usize) -> usize {
    ROW * width
}

/// Unpacks one block of values of `width` bits.
///
/// # Panics
///
/// If `width > T::BITS` or `packed.len() != packed_len(width)`.
pub fn block<T: Word>(width: usize, packed: &[u8], out: &mut [T; BLOCK]) {
    check::<T>(width, packed);
    if width == 0 {
        return out.fill(T::default());
    }
    let rows = packed.as_chunks().0;
    for run in 0..T::BITS {
        let start = run_start(run);
        unpack_run(width, rows, run, 0, &mut out[start..start + lanes::<T>()]);
    }
}

/// Unpacks value `index` of a block.
///
/// # Panics
///
/// If `width > T::BITS`, `packed.len() != packed_len(width)` or `index >= BLOCK`.
pub fn get<T: Word>(width: usize, packed: &[u8], index: usize) -> T {
    check::<T>(width, packed);
    assert!(index < BLOCK, "value {index} is not in a block");
    if width == 0 {
        return T::default();
    }
    let rows = packed.as_chunks().0;
    let place = Place::new::<T>(run_of::<T>(index), width);
    let word = |row: usize| T::from_bytes(T::words(&rows[row])[index % lanes::<T>()]);
    let mut value = word(place.row) >> place.shift;
    if place.spills {
        value = value | word(place.row + 1) << (T::BITS - place.shift);
    }
    value & mask(width)
}

/// Where in a block of values of `width` bits the first bits of value `index` lie: the position of a byte.
///
/// # Panics
///
/// If `width > T::BITS` or `index >= BLOCK`.
pub fn position<T: Word>(width: usize, index: usize) -> usize {
    assert!(width <= T::BITS && index < BLOCK, "value {index} of {width} bits is not in a block");
    Place::new::<T>(run_of::<T>(index), width).row * ROW + index % lanes::<T>() * size_of::<T>()
}

/// Unpacks values `start .. start + out.len()` of a block, and only those.
///
/// # Panics
///
/// If `width > T::BITS`, `packed.len() != packed_len(width)` or `start + out.len() > BLOCK`.
pub fn range<T: Word>(width: usize, packed: &[u8], start: usize, out: &mut [T]) {
    check::<T>(width, packed);
    assert!(start <= BLOCK && out.len() <= BLOCK - start, "the range leaves the block");
    if width == 0 {
        return out.fill(T::default());
    }
    let rows = packed.as_chunks().0;
    let (mut index, mut rest) = (start, out);
    while !rest.is_empty() {
        let (run, lane) = (run_of::<T>(index), index % lanes::<T>());
        let (now, later) = rest.split_at_mut(rest.len().min(lanes::<T>() - lane));
        index += now.len();
        rest = later;
        // The compiler does better with a length that it knows.
        if now.len() == lanes::<T>() {
            unpack_run(width, rows, run, 0, &mut now[..lanes::<T>()]);
        } else {
            unpack_run(width, rows, run, lane, now);
        }
    }
}

/// Packs the low `width` bits of 1024 values to a block: the inverse of [`block`], for writers.
///
/// # Panics
///
/// If `width > T::BITS` or `packed.len() != packed_len(width)`.
pub fn pack_block<T: Word>(width: usize, values: &[T; BLOCK], packed: &mut [u8]) {
    check::<T>(width, packed);
    if width == 0 {
        return;
    }
    packed.fill(0);
    let (rows, mask) = (packed.as_chunks_mut().0, mask::<T>(width));
    for run in 0..T::BITS {
        let place = Place::new::<T>(run, width);
        let values = &values[run_start(run)..][..lanes::<T>()];
        for (word, &value) in T::words_mut(&mut rows[place.row]).iter_mut().zip(values) {
            *word = (T::from_bytes(*word) | (value & mask) << place.shift).to_bytes();
        }
        if place.spills {
            for (word, &value) in T::words_mut(&mut rows[place.row + 1]).iter_mut().zip(values) {
                *word = ((value & mask) >> (T::BITS - place.shift)).to_bytes();
            }
        }
    }
}

fn check<T: Word>(width: usize, packed: &[u8]) {
    assert!(width <= T::BITS, "a width of {width} bits in words of {}", T::BITS);
    assert!(packed.len() == packed_len(width), "{} bytes for a block of width {width}", packed.len());
}

/// Words in a packed row, and values in a run.
const fn lanes<T: Word>() -> usize {
    BLOCK / T::BITS
}

/// The first value of a run.
const fn run_start(run: usize) -> usize {
    ORDER[run / 8] * 16 + run % 8 * 128
}

/// The run that value `index` is in; its lane is `index % lanes`.
const fn run_of<T: Word>(index: usize) -> usize {
    ORDER[index % 128 / lanes::<T>() * lanes::<T>() / 16] * 8 + index / 128
}

/// The lowest `width` bits, for a `width` of 1 or more.
fn mask<T: Word>(width: usize) -> T {
    T::MAX >> (T::BITS - width)
}

/// Where the values of a run lie.
struct Place {
    /// The packed row with the lowest bits.
    row: usize,
    /// Bits below them in each word.
    shift: usize,
    /// Whether the highest bits are in the next row.
    spills: bool,
}

impl Place {
    #[inline(always)]
    fn new<T: Word>(run: usize, width: usize) -> Self {
        let bit = run * width;
        let shift = bit % T::BITS;
        Place { row: bit / T::BITS, shift, spills: shift + width > T::BITS }
    }
}

/// Unpacks the values of a run from lane `lane` on. Inlined, so that a whole run has a constant length.
#[inline(always)]
fn unpack_run<T: Word>(width: usize, rows: &[[u8; ROW]], run: usize, lane: usize, out: &mut [T]) {
    let place = Place::new::<T>(run, width);
    let mask = mask::<T>(width);
    let low = &T::words(&rows[place.row])[lane..][..out.len()];
    if !place.spills {
        for (value, &low) in out.iter_mut().zip(low) {
            *value = T::from_bytes(low) >> place.shift & mask;
        }
    } else {
        let high = &T::words(&rows[place.row + 1])[lane..][..out.len()];
        for ((value, &low), &high) in out.iter_mut().zip(low).zip(high) {
            let (low, high) = (T::from_bytes(low), T::from_bytes(high));
            *value = (low >> place.shift | high << (T::BITS - place.shift)) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, rounds};
    use std::{vec, vec::Vec};

    /// The layout bit by bit: bit i of value r of lane l is bit `r * width + i` of the lane's stream of words.
    fn pack_by_bits(word_bits: usize, width: usize, values: &[u64]) -> Vec<u8> {
        let lanes = 1024 / word_bits;
        let mut packed = vec![0; 128 * width];
        for run in 0..word_bits {
            for lane in 0..lanes {
                let value = values[[0, 4, 2, 6, 1, 5, 3, 7][run / 8] * 16 + run % 8 * 128 + lane];
                for i in 0..width {
                    let (word, bit) = ((run * width + i) / word_bits, (run * width + i) % word_bits);
                    let bit = (word * lanes + lane) * word_bits + bit;
                    packed[bit / 8] |= ((value >> i & 1) as u8) << (bit % 8);
                }
            }
        }
        packed
    }

    fn all_widths<T: Word + Into<u64> + PartialEq + core::fmt::Debug>(from_u64: fn(u64) -> T) {
        let mut random = Random(T::BITS as u64);
        for width in (0..=T::BITS).filter(|width| !cfg!(miri) || [0, 5, 11].contains(width)) {
            let values: Vec<u64> =
                (0..BLOCK).map(|_| random.word() & ((1u128 << width) - 1) as u64).collect();
            let words: [T; BLOCK] = core::array::from_fn(|i| from_u64(values[i]));
            let expected = pack_by_bits(T::BITS, width, &values);
            assert_eq!(expected.len(), packed_len(width));

            // One byte on, so that no word is aligned.
            let mut buffer = vec![0xff; 1 + expected.len()];
            let packed = &mut buffer[1..];
            pack_block(width, &words, packed);
            assert_eq!(packed, expected, "packed to width {width}");

            let mut out = [T::MAX; BLOCK];
            block(width, packed, &mut out);
            assert_eq!(out, words, "unpacked from width {width}");
            for i in (0..BLOCK).step_by(if cfg!(miri) { 37 } else { 1 }) {
                assert_eq!(get::<T>(width, packed, i), words[i], "value {i} of width {width}");
            }
            for _ in 0..rounds(100) {
                let start = random.below(BLOCK + 1);
                let len = random.below(BLOCK + 1 - start);
                let mut out = vec![T::MAX; len];
                range(width, packed, start, &mut out);
                assert_eq!(out, words[start..start + len], "{len} values from {start} of width {width}");
            }
        }
    }

    #[test]
    fn blocks_of_all_widths() {
        all_widths(|value| value as u8);
        all_widths(|value| value as u16);
        all_widths(|value| value as u32);
        all_widths(|value| value);
    }

    /// A value whose bits are all that is set has the first of them at its position.
    #[test]
    fn positions_of_values() {
        for (width, index) in [(1, 0), (7, 5), (7, 1023), (31, 500), (32, 17), (0, 3)] {
            let mut values = [0u32; BLOCK];
            values[index] = u32::MAX;
            let mut packed = vec![0; packed_len(width)];
            pack_block(width, &values, &mut packed);
            let at = position::<u32>(width, index);
            let first = packed.iter().position(|&byte| byte != 0);
            assert!(
                first.is_none_or(|first| (at..at + 4).contains(&first)),
                "{width} {index}: {first:?} {at}"
            );
            assert_eq!(first.is_none(), width == 0);
        }
    }

    #[test]
    fn packing_keeps_the_low_bits_only() {
        let (mut wide, mut narrow) = (vec![0; packed_len(5)], vec![0; packed_len(5)]);
        pack_block(5, &core::array::from_fn(|i| i as u32), &mut wide);
        pack_block(5, &core::array::from_fn(|i| i as u32 % 32), &mut narrow);
        assert_eq!(wide, narrow);
    }

    #[test]
    fn examples_of_the_format() {
        let mut packed = vec![0; packed_len(3)];
        pack_block(3, &core::array::from_fn(|i| i as u8 % 8), &mut packed);
        assert_eq!(packed[..10], [0x00, 0x49, 0x92, 0xdb, 0x24, 0x6d, 0xb6, 0xff, 0x00, 0x49]);

        let mut packed = vec![0; packed_len(10)];
        pack_block(10, &core::array::from_fn(|i| i as u16), &mut packed);
        assert_eq!(packed[..8], [0x00, 0x00, 0x01, 0x04, 0x02, 0x08, 0x03, 0x0c]);
    }

    #[test]
    #[should_panic = "a width of 9 bits"]
    fn width_beyond_the_word() {
        block(9, &[0; packed_len(9)], &mut [0u8; BLOCK]);
    }

    #[test]
    #[should_panic = "127 bytes for a block of width 1"]
    fn short_block() {
        get::<u8>(1, &[0; 127], 0);
    }

    #[test]
    #[should_panic = "value 1024 is not in a block"]
    fn value_past_the_block() {
        get::<u8>(0, &[], 1024);
    }

    #[test]
    #[should_panic = "leaves the block"]
    fn range_past_the_block() {
        range(0, &[], 1000, &mut [0u8; 25]);
    }
}

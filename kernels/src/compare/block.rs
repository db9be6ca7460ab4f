//! What comparisons of numbers share: the lanes they are made of, the kernels of each instruction set, and the loop
//! that makes a word of the mask of 64 lanes.

#[cfg(target_arch = "aarch64")]
use crate::arch::aarch64::neon;
#[cfg(target_arch = "x86_64")]
use crate::arch::x86_64::{avx2, avx512};
use crate::{
    arch::{all::prefetch, portable},
    isa::Isa,
};

/// An unsigned integer that an item is compared as.
///
/// A signed integer is a lane in two's complement. A float is a lane of the same bits, and its [`order`](Lane::order)
/// puts the bits into the total order.
pub(crate) trait Lane: Copy + Default + Ord + 'static {
    /// The lowest signed number, which is the sign bit.
    const SIGN: Self;
    fn wrapping_sub(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// From the bits of a float to a number in two's complement that orders like it: negative floats have all bits
    /// but the sign inverted. −0 is −1.
    fn order(self) -> Self;
}

macro_rules! lane {
    ($($unsigned:ty, $signed:ty;)*) => {
        $(impl Lane for $unsigned {
            const SIGN: Self = 1 << (<$unsigned>::BITS - 1);

            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                <$unsigned>::wrapping_sub(self, other)
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn order(self) -> Self {
                self ^ (self as $signed >> (<$unsigned>::BITS - 1)) as $unsigned >> 1
            }
        })*
    };
}
lane!(u8, i8; u16, i16; u32, i32; u64, i64;);

/// The comparisons of lanes that are integers, or of lanes that are floats, with one instruction set.
///
/// Each function writes all of a mask of `len.div_ceil(64)` words, with every bit inverted if `flip` is `!0` and not
/// if it is 0, and panics if lengths differ.
pub(crate) struct Kernels<L> {
    /// Of values, a lowest one, and what a highest one is above it: whether a value is within. Floats are given as
    /// floats, and the lowest one by its [order](Lane::order).
    pub(crate) within: fn(&[L], L, L, flip: u64, mask: &mut [u64]),
    /// Whether values equal others.
    pub(crate) equal: fn(&[L], &[L], flip: u64, mask: &mut [u64]),
    /// Whether values are less than others. Integers are signed after the third argument has been xored in: that is
    /// 0, or the sign bit for unsigned ones. Floats ignore it.
    pub(crate) less: fn(&[L], &[L], L, flip: u64, mask: &mut [u64]),
}

/// Writes the words of the mask of `values`: `word` has the bits of 64 values. The last few are copied beside zeros,
/// so that nothing is read past the end.
#[inline(always)]
pub(crate) fn words<L: Copy + Default>(
    values: &[L],
    flip: u64,
    mask: &mut [u64],
    word: impl Fn(&[L; 64]) -> u64,
) {
    check(values.len(), mask);
    let (blocks, rest) = values.as_chunks();
    for (to, block) in mask.iter_mut().zip(blocks) {
        prefetch(block);
        *to = word(block) ^ flip;
    }
    if !rest.is_empty() {
        mask[blocks.len()] = (word(&padded(rest)) ^ flip) & low_bits(rest.len());
    }
}

/// As [`words`], of two columns.
#[inline(always)]
pub(crate) fn words_of_two<L: Copy + Default>(
    left: &[L],
    right: &[L],
    flip: u64,
    mask: &mut [u64],
    word: impl Fn(&[L; 64], &[L; 64]) -> u64,
) {
    assert_eq!(left.len(), right.len(), "rows of two columns");
    check(left.len(), mask);
    let (lefts, left_rest) = left.as_chunks();
    let (rights, right_rest) = right.as_chunks();
    for (to, (left, right)) in mask.iter_mut().zip(lefts.iter().zip(rights)) {
        prefetch(left);
        prefetch(right);
        *to = word(left, right) ^ flip;
    }
    if !left_rest.is_empty() {
        let last = word(&padded(left_rest), &padded(right_rest));
        mask[lefts.len()] = (last ^ flip) & low_bits(left_rest.len());
    }
}

/// Panics if `mask` is not that of `rows` rows.
pub(super) fn check(rows: usize, mask: &[u64]) {
    assert_eq!(mask.len(), rows.div_ceil(64), "words of a mask of {rows} rows");
}

/// A word of the mask of up to 64 rows that are looked at one by one.
#[inline(always)]
pub(super) fn bits(rows: usize, flip: u64, holds: impl Fn(usize) -> bool) -> u64 {
    let word = (0..rows).fold(0, |word, i| word | u64::from(holds(i)) << i);
    (word ^ flip) & low_bits(rows)
}

/// The mask of `len` rows that all have the bit that is in `word`, which is 0 or `!0`.
pub(super) fn uniform(len: usize, word: u64, mask: &mut [u64]) {
    check(len, mask);
    mask.fill(word);
    if let Some(last) = mask.last_mut().filter(|_| !len.is_multiple_of(64)) {
        *last &= low_bits(len % 64);
    }
}

/// Asks for the lines that come some blocks after `block`: two pages on, since processors that read ahead by
/// themselves stop at the end of each. Columns in memory are read a third faster so.
#[inline(always)]
pub(super) fn prefetch<L>(block: &[L]) {
    const LINE: usize = 64;
    const AHEAD: usize = 2 * 4096;
    for line in 0..size_of_val(block) / LINE {
        prefetch::read(block.as_ptr().wrapping_byte_add(AHEAD + line * LINE));
    }
}

fn padded<L: Copy + Default>(few: &[L]) -> [L; 64] {
    let mut block = [L::default(); 64];
    block[..few.len()].copy_from_slice(few);
    block
}

/// The low `len` bits, for a `len` from 1 to 64.
fn low_bits(len: usize) -> u64 {
    u64::MAX >> (64 - len)
}

/// Where the kernels of a width are, by instruction set.
pub(crate) trait Tables: Lane {
    /// Those of floats, if `FLOAT`, or of integers.
    fn kernels<const FLOAT: bool>(isa: Isa) -> &'static Kernels<Self>;
}

macro_rules! tables {
    ($($lane:ty)*) => {
        $(impl Tables for $lane {
            #[inline]
            fn kernels<const FLOAT: bool>(isa: Isa) -> &'static Kernels<Self> {
                match isa {
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => const { &avx512::compare::table::<$lane, FLOAT>() },
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => const { &avx2::compare::table::<$lane, FLOAT>() },
                    #[cfg(target_arch = "aarch64")]
                    Isa::Neon => const { &neon::compare::table::<$lane, FLOAT>() },
                    _ => const { &portable::compare::table::<$lane, FLOAT>() },
                }
            }
        })*
    };
}
tables!(u8 u16 u32 u64);

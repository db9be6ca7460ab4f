//! The functions over codes that have more than one instruction set.

use super::{Candidates, columns::Columns};
use crate::{arch::portable, isa::Isa};
#[cfg(target_arch = "x86_64")]
use crate::{arch::x86_64::avx512, isa::Extensions};

/// Sets the bits of the rows whose bytes, one from the table of each code, add up to the third argument or less. Sums
/// stop at 255. There are as many words as the rows need.
pub(crate) type Within = fn(&Columns<'_>, &[u8], u8, &mut [u64]);

/// What the numbers of a table reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Extent {
    /// The lowest.
    pub(crate) least: f32,
    /// The highest.
    pub(crate) greatest: f32,
    /// The bits of the largest magnitude. A NaN counts as more than infinity.
    pub(crate) magnitude: u32,
}

/// The kernels of one instruction set. Tables are of as many numbers or bytes as there are codewords for each part,
/// part by part.
pub(crate) struct Kernels {
    /// As [`Candidates::pick`], of lengths that fit.
    pub(crate) pick: fn(u32, &[f32], Option<&[u64]>, f32, &mut Candidates),
    /// Sums from a table for codes of 8 bits, of each row and in the order of the parts, begun at zero.
    pub(crate) sums_of_8: fn(&Columns<'_>, &[f32], &mut [f32]),
    /// The same for codes of 4 bits.
    pub(crate) sums_of_4: fn(&Columns<'_>, &[f32], &mut [f32]),
    /// Rows within a bound, for codes of 8 bits, where that is faster than the sums.
    pub(crate) within_of_8: Option<Within>,
    /// The same for codes of 4 bits.
    pub(crate) within_of_4: Option<Within>,
    /// The extent of the numbers of a part; there are a multiple of 16.
    pub(crate) extent: fn(&[f32]) -> Extent,
    /// Each number less the second argument, times the third, cut to a whole number or below that, 255 at most.
    pub(crate) quantise: fn(&[f32], f32, f32, &mut [u8]),
    /// Squared distances of a part of a vector to codewords, which lie number by number.
    pub(crate) squared: fn(&[f32], &[f32], &mut [f32]),
    /// One less the products, likewise.
    pub(crate) products: fn(&[f32], &[f32], &mut [f32]),
    /// Sums of products of a vector with the bytes of rows that lie end to end.
    pub(crate) bytes: fn(&[f32], &[u8], &mut [f32]),
}

impl Kernels {
    pub(crate) fn current() -> &'static Kernels {
        match Isa::current() {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if Extensions::available().vbmi => &avx512::codes::WITH_PERMUTATIONS,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => &avx512::codes::TABLE,
            _ => &portable::codes::TABLE,
        }
    }
}

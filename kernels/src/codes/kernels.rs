//! The functions over codes that have more than one instruction set.

use super::{Candidates, columns::Columns};
#[cfg(target_arch = "aarch64")]
use crate::arch::aarch64::neon;
#[cfg(target_arch = "x86_64")]
use crate::arch::x86_64::{avx2, avx512, detect};
use crate::{arch::portable, isa::Isa};

/// Sets the bits of the rows whose bytes, one from the table of each code, add up to the third argument or less. Sums
/// stop at 255. There are as many words as the rows need.
pub(crate) type Within = fn(&Columns<'_>, &[u8], u8, &mut [u64]);

/// As [`Candidates::pick`], of lengths that fit.
pub(crate) type Pick = fn(u32, &[f32], Option<&[u64]>, f32, &mut Candidates);

/// The kernels of one instruction set. Tables are of as many numbers or bytes as there are codewords for each part,
/// part by part.
pub(crate) struct Kernels {
    pub(crate) pick: Pick,
    /// Sums from a table for codes of 8 bits, of each row and in the order of the parts, begun at zero.
    pub(crate) sums_of_8: fn(&Columns<'_>, &[f32], &mut [f32]),
    /// The same for codes of 4 bits.
    pub(crate) sums_of_4: fn(&Columns<'_>, &[f32], &mut [f32]),
    /// As `sums_of_8`, of a few rows, which the third argument counts from the first.
    pub(crate) few_of_8: fn(&Columns<'_>, &[f32], &[u32], &mut [f32]),
    /// The same for codes of 4 bits.
    pub(crate) few_of_4: fn(&Columns<'_>, &[f32], &[u32], &mut [f32]),
    /// Rows within a bound, for codes of 8 bits, where that is faster than the sums.
    pub(crate) within_of_8: Option<Within>,
    /// The same for codes of 4 bits.
    pub(crate) within_of_4: Option<Within>,
    /// The lowest number of each part of a table, which has 16 or 256 of each; the bits of the largest magnitude in all
    /// of it, of which those of a NaN are above infinity.
    pub(crate) least: fn(&[f32], &mut [f32]) -> u32,
    /// Each number less the lowest of its part, times the third argument, cut to a whole number or one below that, 255 at
    /// most.
    pub(crate) quantise: fn(&[f32], &[f32], f32, &mut [u8]),
    /// Of a vector, the length of its parts, and codewords, of which the numbers of each place lie together, part by part:
    /// the table of squared distances.
    pub(crate) squared: fn(&[f32], usize, &[f32], &mut [f32]),
    /// The same of one less the products.
    pub(crate) products: fn(&[f32], usize, &[f32], &mut [f32]),
    /// Sums of products of a vector with the bytes of rows that lie end to end.
    pub(crate) bytes: fn(&[f32], &[u8], &mut [f32]),
}

impl Kernels {
    pub(crate) fn current() -> &'static Kernels {
        match Isa::current() {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if detect::vbmi() => &avx512::codes::WITH_PERMUTATIONS,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => &avx512::codes::TABLE,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => &avx2::codes::TABLE,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => &neon::codes::TABLE,
            _ => &portable::codes::TABLE,
        }
    }
}

//! Levels and sets of entries with AVX2 and AVX-512, and BMI2, which comes with both.

use crate::{
    isa::Isa,
    levels::{Packed, WORD, below_words, max_of, pack_with, ranks_of},
};
use core::arch::x86_64::*;

/// Whether the instruction set in use has what the functions below need: AVX2, BMI1, BMI2 and POPCNT.
pub(crate) fn is_usable() -> bool {
    matches!(Isa::current(), Isa::Avx2 | Isa::Avx512)
}

/// [`below_words`] for the instruction set in use.
pub(crate) fn below() -> fn(&[[u16; WORD]], u16, &mut [u64]) {
    match Isa::current() {
        // SAFETY: the instruction set in use is one that the machine has.
        Isa::Avx512 => |levels, threshold, out| unsafe { below_avx512(levels, threshold, out) },
        // SAFETY: as above.
        Isa::Avx2 => |levels, threshold, out| unsafe { below_avx2(levels, threshold, out) },
        _ => below_words,
    }
}

#[target_feature(enable = "avx2")]
fn below_avx2(levels: &[[u16; WORD]], threshold: u16, out: &mut [u64]) {
    let threshold = _mm256_set1_epi16(threshold.cast_signed());
    for (word, levels) in out.iter_mut().zip(levels) {
        let half = |half: usize| {
            let not_below = |at: usize| {
                let levels: &[u16; 16] = levels.as_chunks().0[at..].first().expect("four of 16 levels");
                // SAFETY: the array has as many bytes as are loaded.
                let levels = unsafe { _mm256_loadu_si256(levels.as_ptr().cast()) };
                _mm256_cmpeq_epi16(_mm256_max_epu16(levels, threshold), levels)
            };
            // The halves of the registers are packed each for itself: then the middle quarters change places.
            let packed = _mm256_packs_epi16(not_below(2 * half), not_below(2 * half + 1));
            !_mm256_movemask_epi8(_mm256_permute4x64_epi64::<0b11_01_10_00>(packed)).cast_unsigned()
        };
        *word = u64::from(half(0)) | u64::from(half(1)) << 32;
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn below_avx512(levels: &[[u16; WORD]], threshold: u16, out: &mut [u64]) {
    let threshold = _mm512_set1_epi16(threshold.cast_signed());
    for (word, levels) in out.iter_mut().zip(levels) {
        let half = |half: usize| {
            let levels: &[u16; 32] = levels.as_chunks().0[half..].first().expect("two of 32 levels");
            // SAFETY: the array has as many bytes as are loaded.
            let levels = unsafe { _mm512_loadu_si512(levels.as_ptr().cast()) };
            _mm512_cmplt_epu16_mask(levels, threshold)
        };
        *word = u64::from(half(0)) | u64::from(half(1)) << 32;
    }
}

/// [`crate::levels::pack`]; only where it [`is_usable`].
pub(crate) fn pack(set: &[u64], chosen: &[u64], out: &mut [u8], out_start: usize) -> Packed {
    #[target_feature(enable = "bmi1,bmi2,popcnt")]
    fn pack(set: &[u64], chosen: &[u64], out: &mut [u8], out_start: usize) -> Packed {
        pack_with(set, chosen, out, out_start, |word, chosen| _pext_u64(word, chosen))
    }
    assert!(is_usable());
    // SAFETY: the instruction set in use is one that the machine has.
    unsafe { pack(set, chosen, out, out_start) }
}

/// [`ranks_of`]; only where it [`is_usable`].
pub(crate) fn ranks(chosen: &[u64], among: &[u64], base: u64, out: &mut [u64]) {
    #[target_feature(enable = "bmi1,bmi2,popcnt")]
    fn ranks(chosen: &[u64], among: &[u64], base: u64, out: &mut [u64]) {
        ranks_of(chosen, among, base, out);
    }
    assert!(is_usable());
    // SAFETY: the instruction set in use is one that the machine has.
    unsafe { ranks(chosen, among, base, out) }
}

/// [`max_of`]; only where it [`is_usable`].
pub(crate) fn max(levels: &[u16]) -> u16 {
    #[target_feature(enable = "avx2")]
    fn max(levels: &[u16]) -> u16 {
        max_of(levels)
    }
    assert!(is_usable());
    // SAFETY: the instruction set in use is one that the machine has.
    unsafe { max(levels) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, rounds};
    use std::vec::Vec;

    #[test]
    fn below_as_without_instruction_sets() {
        let mut random = Random(12);
        for round in 0..rounds(300) {
            let highest = [2, 5, 0x8001, 0x1_0000][round % 4];
            let mut level = || random.below(highest) as u16;
            let levels: Vec<[u16; WORD]> = (0..5).map(|_| core::array::from_fn(|_| level())).collect();
            let threshold = level();
            let mut expected = [0; 5];
            below_words(&levels, threshold, &mut expected);
            let mut out = [1; 5];
            if Isa::Avx2.is_available() {
                // SAFETY: the machine has the instruction set.
                unsafe { below_avx2(&levels, threshold, &mut out) };
                assert_eq!(out, expected);
            }
            if Isa::Avx512.is_available() {
                // SAFETY: the machine has the instruction set.
                unsafe { below_avx512(&levels, threshold, &mut out) };
                assert_eq!(out, expected);
            }
        }
    }
}

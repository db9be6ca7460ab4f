//! Counts and positions of bits, with AVX-512: 16 row numbers at a time are compressed to those whose bits are set. And
//! bits by their positions: eight words at a time are gathered, and each is rotated until its bit is the lowest.

use crate::{arch::portable, mask::Kernels};
use alloc::vec::Vec;
use core::arch::x86_64::*;

/// With VPOPCNTDQ. It is used only where the machine has AVX-512 and that.
pub(crate) static WITH_COUNT: Kernels = Kernels {
    // SAFETY: the machine has VPOPCNTDQ, as said above.
    count: |words| unsafe { count_words(words) },
    ..TABLE
};

/// It is used only where the machine has AVX-512.
pub(crate) static TABLE: Kernels = Kernels {
    count: super::super::avx2::mask::TABLE.count,
    // SAFETY: the machine has AVX-512, as said above.
    positions: |mask, first, out| unsafe { positions(mask, first, out) },
    // SAFETY: as above.
    gather: |mask, positions, out| unsafe { gather(mask, positions, out) },
};

#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn count_words(words: &[[u8; 8]]) -> u64 {
    portable::mask::count(words)
}

#[target_feature(enable = "avx512f,popcnt")]
fn positions(mask: &[u64], first: u32, out: &mut Vec<u32>) {
    const LANES: usize = 16;
    let ones: usize = mask.iter().map(|word| word.count_ones() as usize).sum();
    out.reserve(ones + LANES);
    let mut len = out.len();
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (i, &word) in mask.iter().enumerate().filter(|(_, word)| **word != 0) {
        for part in 0..64 / LANES {
            let bits = (word >> (part * LANES)) as u16;
            let row = first.wrapping_add((i * 64 + part * LANES) as u32);
            let rows = _mm512_add_epi32(lanes, _mm512_set1_epi32(row as i32));
            // SAFETY: at most `ones` rows were stored before this, after which there is room for 16 more.
            unsafe {
                let to = out.as_mut_ptr().add(len);
                _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi32(bits, rows));
            }
            len += bits.count_ones() as usize;
        }
    }
    // SAFETY: there is room for `ones` rows, and each bit has stored one.
    unsafe { out.set_len(len) };
}

#[target_feature(enable = "avx512f")]
fn gather(mask: &[u64], positions: &[u64], out: &mut [u64]) {
    const LANES: usize = 8;
    let (len, one) = (_mm512_set1_epi64(mask.len() as i64), _mm512_set1_epi64(1));
    for (out, positions) in out.iter_mut().zip(positions.chunks(64)) {
        *out = 0;
        for (part, positions) in positions.chunks(LANES).enumerate() {
            let lanes = 0xff >> (LANES - positions.len());
            // SAFETY: lanes past the last position are not read, and neither are words behind those of the mask.
            let (positions, there, words) = unsafe {
                let positions = _mm512_maskz_loadu_epi64(lanes, positions.as_ptr().cast());
                let at = _mm512_srli_epi64::<6>(positions);
                let there = _mm512_mask_cmplt_epu64_mask(lanes, at, len);
                let none = _mm512_setzero_si512();
                (positions, there, _mm512_mask_i64gather_epi64::<8>(none, there, at, mask.as_ptr().cast()))
            };
            let bits = _mm512_mask_test_epi64_mask(there, _mm512_rorv_epi64(words, positions), one);
            *out |= u64::from(bits) << (part * LANES);
        }
    }
}

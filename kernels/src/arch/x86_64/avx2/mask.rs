//! Counts and positions of bits, with AVX2: a table has the positions of the bits of a byte.

use crate::{arch::portable, mask::Kernels};
use alloc::vec::Vec;
use core::arch::x86_64::*;

/// It is used only where the machine has AVX2.
pub(crate) static TABLE: Kernels = Kernels {
    // SAFETY: the machine has AVX2, as said above.
    count: |words| unsafe { count(words) },
    // SAFETY: as above.
    positions: |mask, first, out| unsafe { positions(mask, first, out) },
    gather: portable::mask::gather,
};

/// The positions of the bits of each byte, ascending, and then zeros.
static POSITIONS: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut found) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][found] = bit;
                found += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

#[target_feature(enable = "avx2,popcnt")]
fn count(words: &[[u8; 8]]) -> u64 {
    portable::mask::count(words)
}

#[target_feature(enable = "avx2,popcnt")]
fn positions(mask: &[u64], first: u32, out: &mut Vec<u32>) {
    const LANES: usize = 8;
    let ones: usize = mask.iter().map(|word| word.count_ones() as usize).sum();
    out.reserve(ones + LANES);
    let mut len = out.len();
    for (i, &word) in mask.iter().enumerate().filter(|(_, word)| **word != 0) {
        for (part, byte) in word.to_le_bytes().into_iter().enumerate() {
            let row = first.wrapping_add((i * 64 + part * LANES) as u32);
            let bits = _mm_cvtsi64_si128(i64::from_le_bytes(POSITIONS[byte as usize]));
            let rows = _mm256_add_epi32(_mm256_cvtepu8_epi32(bits), _mm256_set1_epi32(row as i32));
            // SAFETY: at most `ones` rows were stored before this, after which there is room for 8 more.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().add(len).cast(), rows) };
            len += byte.count_ones() as usize;
        }
    }
    // SAFETY: there is room for `ones` rows, and each bit has stored one.
    unsafe { out.set_len(len) };
}

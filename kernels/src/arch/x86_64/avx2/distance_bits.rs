//! Bits that differ between vectors of bytes: AVX2.

use core::arch::x86_64::*;

use super::{
    sums::{integer_sums, integers},
    tail::{Tail, tail, tail_256},
};
use crate::arch::all::{
    distance,
    measure::{SquaredL2, Vector},
};

/// Two hundred and fifty-six bits. Their number is looked up for each half of a byte.
#[derive(Clone, Copy)]
pub(super) struct BitLanes(__m256i);

/// Adds the number of bits of each eight bytes, which leaves the upper halves of the sums zero.
///
/// # Safety
/// AVX2 is there.
#[inline(always)]
unsafe fn add_ones(sum: __m256i, bits: __m256i) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let ones = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
        let half = _mm256_set1_epi8(15);
        let low = _mm256_shuffle_epi8(ones, _mm256_and_si256(bits, half));
        let high = _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16::<4>(bits), half));
        let counts = _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
        _mm256_add_epi32(sum, counts)
    }
}

impl Vector for BitLanes {
    integer_sums!();
    type Element = u8;
    const LANES: usize = 32;

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm256_loadu_si256(at.cast()) })
    }
    #[inline(always)]
    unsafe fn tail(dim: usize) -> Tail {
        tail::<u8>(dim, Self::LANES)
    }
    #[inline(always)]
    unsafe fn load_tail(vector: *const u8, tail: Tail) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { tail_256(vector, tail) })
    }
    /// Bits that both have.
    #[inline(always)]
    unsafe fn add_product(sum: __m256i, a: Self, b: Self) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { add_ones(sum, _mm256_and_si256(a.0, b.0)) }
    }
    /// Bits that one of them has.
    #[inline(always)]
    unsafe fn add_difference(sum: __m256i, a: Self, b: Self) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { add_ones(sum, _mm256_xor_si256(a.0, b.0)) }
    }
}

/// [`distance::many`] of bits that differ, with a way of its own for rows of 128 bits, of which two fill a register.
///
/// # Safety
/// As [`distance::many`].
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,popcnt")]
pub(super) unsafe fn many_bits<const R: usize>(
    query: *const u8,
    dim: usize,
    rows: *const u8,
    pitch: usize,
    count: usize,
    out: *mut f32,
) {
    // SAFETY: the caller's promise; `done` is at most `count`.
    unsafe {
        let done = if (dim, pitch) == (16, 16) { many_128_bits(query, rows, count, out) } else { 0 };
        let rows = rows.wrapping_add(done * pitch);
        distance::many::<SquaredL2<BitLanes>, R>(query, dim, rows, pitch, count - done, out.add(done));
    }
}

/// Bits that differ, of rows of 16 bytes without gaps, as long as there are eight of them; returns how many were done.
///
/// # Safety
/// `query` has 16 bytes, `rows` has `count` times as many, `out` takes `count` numbers.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn many_128_bits(query: *const u8, rows: *const u8, count: usize, out: *mut f32) -> usize {
    let done = count - count % 8;
    // SAFETY: the caller's promise: eight rows from the `i`-th are there, and eight numbers are taken.
    unsafe {
        let query = _mm256_broadcastsi128_si256(_mm_loadu_si128(query.cast()));
        for i in (0..done).step_by(8) {
            // Both halves of two rows; the ones of a row are at most 128, so four counts share a lane.
            let ones = |two: usize| {
                let rows = _mm256_loadu_si256(rows.add((i + 2 * two) * 16).cast());
                add_ones(_mm256_setzero_si256(), _mm256_xor_si256(rows, query))
            };
            let pair = _mm256_or_si256(ones(0), _mm256_slli_epi64::<16>(ones(1)));
            let other = _mm256_or_si256(ones(2), _mm256_slli_epi64::<16>(ones(3)));
            let halves = _mm256_or_si256(pair, _mm256_slli_epi64::<32>(other));
            let counts = _mm256_add_epi16(halves, _mm256_shuffle_epi32::<0b01_00_11_10>(halves));
            // The 16 bits `j` of half `i` belong to row `2·j + i`.
            let (even, odd) = (_mm256_castsi256_si128(counts), _mm256_extracti128_si256::<1>(counts));
            let counts = _mm256_cvtepu16_epi32(_mm_unpacklo_epi16(even, odd));
            _mm256_storeu_ps(out.add(i), _mm256_cvtepi32_ps(counts));
        }
    }
    done
}

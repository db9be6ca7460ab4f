//! Bits that differ between vectors of bytes: AVX-512 with VPOPCNTDQ.

use core::arch::x86_64::*;

use super::{distance::tail, sums::integers};
use crate::arch::all::{
    distance,
    measure::{SquaredL2, Vector},
    prefetch,
};

/// Five hundred and twelve bits.
#[derive(Clone, Copy)]
pub(super) struct BitLanes(__m512i);

impl Vector for BitLanes {
    type Element = u8;
    type Sum = __m512i;
    type Total = i32;
    type Tail = (usize, u64);
    const LANES: usize = 64;

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm512_loadu_si512(at.cast()) })
    }
    #[inline(always)]
    unsafe fn tail(dim: usize) -> (usize, u64) {
        tail(dim, Self::LANES)
    }
    #[inline(always)]
    unsafe fn load_tail(vector: *const u8, (start, mask): (usize, u64)) -> Self {
        // SAFETY: the caller's promise; a masked load reads only the lanes of the mask.
        Self(unsafe { _mm512_maskz_loadu_epi8(mask, vector.add(start).cast()) })
    }
    #[inline(always)]
    unsafe fn zero() -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_setzero_si512() }
    }
    /// Bits that both have.
    #[inline(always)]
    unsafe fn add_product(sum: __m512i, a: Self, b: Self) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_and_si512(a.0, b.0))) }
    }
    /// Bits that one of them has.
    #[inline(always)]
    unsafe fn add_difference(sum: __m512i, a: Self, b: Self) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_xor_si512(a.0, b.0))) }
    }
    #[inline(always)]
    unsafe fn merge(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_epi64(a, b) }
    }
    #[inline(always)]
    unsafe fn totals<const R: usize>(sums: [__m512i; R]) -> [i32; R] {
        // SAFETY: the caller's promise. Counts of less than 2³² leave the upper halves of the lanes zero.
        unsafe { integers(sums) }
    }
}

/// [`distance::many`] of bits that differ, with ways of their own for rows of 128 and 256 bits, of which several fill a
/// register.
///
/// # Safety
/// As [`distance::many`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vpopcntdq,avx2,fma,f16c")]
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
        let done = match (dim, pitch) {
            (16, 16) => many_128_bits(query, rows, count, out),
            (32, 32) => many_256_bits(query, rows, count, out),
            _ => 0,
        };
        let rows = rows.wrapping_add(done * pitch);
        distance::many::<SquaredL2<BitLanes>, R>(query, dim, rows, pitch, count - done, out.add(done));
    }
}

/// Bits that differ, of rows of 16 bytes without gaps, as long as there are sixteen of them; returns how many were done.
///
/// # Safety
/// `query` has 16 bytes, `rows` has `count` times as many, `out` takes `count` numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
unsafe fn many_128_bits(query: *const u8, rows: *const u8, count: usize, out: *mut f32) -> usize {
    let done = count - count % 16;
    // SAFETY: the caller's promise: sixteen rows from the `i`-th are there, and sixteen numbers are taken.
    unsafe {
        let query = _mm512_broadcast_i32x4(_mm_loadu_si128(query.cast()));
        let lanes = _mm512_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
        let shifts = _mm512_setr_epi32(0, 0, 0, 0, 8, 8, 8, 8, 16, 16, 16, 16, 24, 24, 24, 24);
        for i in (0..done).step_by(16) {
            // Both halves of four rows; a half has at most 64 ones, so four counts share a lane.
            let ones = |four: usize| {
                let at = rows.add((i + 4 * four) * 16);
                prefetch::read(at.wrapping_add(4096));
                let rows = _mm512_loadu_si512(at.cast());
                _mm512_popcnt_epi64(_mm512_xor_si512(rows, query))
            };
            let pair = _mm512_or_si512(ones(0), _mm512_slli_epi64::<8>(ones(1)));
            let other = _mm512_or_si512(ones(2), _mm512_slli_epi64::<8>(ones(3)));
            let halves = _mm512_or_si512(pair, _mm512_slli_epi64::<16>(other));
            let counts = _mm512_add_epi32(halves, _mm512_shuffle_epi32::<0b01_00_11_10>(halves));
            // Byte `j` of the `i`-th quarter belongs to row `4·j + i`.
            let spread = _mm512_srlv_epi32(_mm512_permutexvar_epi32(lanes, counts), shifts);
            let counts = _mm512_and_si512(spread, _mm512_set1_epi32(0xff));
            _mm512_storeu_ps(out.add(i), _mm512_cvtepi32_ps(counts));
        }
    }
    done
}

/// Bits that differ, of rows of 32 bytes without gaps, as long as there are eight of them; returns how many were done.
///
/// # Safety
/// `query` has 32 bytes, `rows` has `count` times as many, `out` takes `count` numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq,avx2")]
unsafe fn many_256_bits(query: *const u8, rows: *const u8, count: usize, out: *mut f32) -> usize {
    let done = count - count % 8;
    // SAFETY: the caller's promise: eight rows from the `i`-th are there, and eight numbers are taken.
    unsafe {
        let query = _mm512_broadcast_i64x4(_mm256_loadu_si256(query.cast()));
        let lanes = _mm512_setr_epi32(0, 8, 0, 8, 1, 9, 1, 9, 0, 0, 0, 0, 0, 0, 0, 0);
        let shifts = _mm256_setr_epi32(0, 0, 16, 16, 0, 0, 16, 16);
        for i in (0..done).step_by(8) {
            // The quarters of two rows; the ones of a row are at most 256, so four counts share a lane.
            let ones = |two: usize| {
                let at = rows.add((i + 2 * two) * 32);
                prefetch::read(at.wrapping_add(4096));
                let rows = _mm512_loadu_si512(at.cast());
                _mm512_popcnt_epi64(_mm512_xor_si512(rows, query))
            };
            let pair = _mm512_or_si512(ones(0), _mm512_slli_epi64::<16>(ones(1)));
            let other = _mm512_or_si512(ones(2), _mm512_slli_epi64::<16>(ones(3)));
            let quarters = _mm512_or_si512(pair, _mm512_slli_epi64::<32>(other));
            let halves = _mm512_add_epi32(quarters, _mm512_shuffle_epi32::<0b01_00_11_10>(quarters));
            let counts = _mm512_add_epi32(halves, _mm512_shuffle_i64x2::<0b10_11_00_01>(halves, halves));
            // The 16 bits `j` of half `i` belong to row `2·j + i`.
            let spread = _mm512_castsi512_si256(_mm512_permutexvar_epi32(lanes, counts));
            let counts = _mm256_and_si256(_mm256_srlv_epi32(spread, shifts), _mm256_set1_epi32(0xffff));
            _mm256_storeu_ps(out.add(i), _mm256_cvtepi32_ps(counts));
        }
    }
    done
}

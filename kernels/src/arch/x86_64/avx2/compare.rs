//! Comparisons of lanes, with AVX2: each yields lanes of ones, whose highest bits are moved to a word.

use core::arch::x86_64::*;

crate::arch::all::compare::compare_kernels!(Avx2, "avx2");

/// `bits` takes the highest bit of each lane, and `at_most` compares unsigned lanes.
macro_rules! vectors {
    ($(
        $lane:ty, $signed:ty, $set:ident, $sub:ident, $equal:ident, $greater:ident, bits: $bits:ident,
        at_most: |$a:ident, $b:ident| $at_most:expr;
    )*) => {
        $(impl Vectors<$lane> for Avx2 {
            type Vector = __m256i;
            const LANES: usize = 32 / size_of::<$lane>();

            #[inline(always)]
            unsafe fn load(block: &[$lane; 64], at: usize) -> __m256i {
                let lanes = &block[at * (32 / size_of::<$lane>())..][..32 / size_of::<$lane>()];
                // SAFETY: the lanes are 32 bytes, and the load needs no alignment; the caller has AVX2.
                unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
            }

            #[inline(always)]
            unsafe fn set(lane: $lane) -> __m256i {
                // SAFETY: the caller has AVX2, here and below.
                unsafe { $set(lane as $signed) }
            }

            #[inline(always)]
            unsafe fn sub(a: __m256i, b: __m256i) -> __m256i {
                // SAFETY: as above.
                unsafe { $sub(a, b) }
            }

            #[inline(always)]
            unsafe fn xor(a: __m256i, b: __m256i) -> __m256i {
                // SAFETY: as above.
                unsafe { _mm256_xor_si256(a, b) }
            }

            #[inline(always)]
            unsafe fn order(a: __m256i) -> __m256i {
                // SAFETY: as above.
                unsafe {
                    let negative = $greater(_mm256_setzero_si256(), a);
                    _mm256_xor_si256(a, _mm256_and_si256(negative, $set(<$signed>::MAX)))
                }
            }

            #[inline(always)]
            unsafe fn equal(a: __m256i, b: __m256i) -> u64 {
                // SAFETY: as above.
                unsafe { $bits($equal(a, b)) }
            }

            #[inline(always)]
            unsafe fn at_most($a: __m256i, $b: __m256i) -> u64 {
                // SAFETY: as above.
                unsafe { $at_most }
            }

            #[inline(always)]
            unsafe fn less(a: __m256i, b: __m256i) -> u64 {
                // SAFETY: as above.
                unsafe { $bits($greater(b, a)) }
            }

            #[inline(always)]
            unsafe fn both_zero(a: __m256i, b: __m256i) -> u64 {
                // SAFETY: as above.
                unsafe {
                    let either = _mm256_and_si256(_mm256_or_si256(a, b), $set(<$signed>::MAX));
                    $bits($equal(either, _mm256_setzero_si256()))
                }
            }
        })*
    };
}

vectors! {
    u8, i8, _mm256_set1_epi8, _mm256_sub_epi8, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, bits: bits_of_8,
    at_most: |a, b| bits_of_8(_mm256_cmpeq_epi8(_mm256_min_epu8(a, b), a));

    u16, i16, _mm256_set1_epi16, _mm256_sub_epi16, _mm256_cmpeq_epi16, _mm256_cmpgt_epi16, bits: bits_of_16,
    at_most: |a, b| bits_of_16(_mm256_cmpeq_epi16(_mm256_min_epu16(a, b), a));

    u32, i32, _mm256_set1_epi32, _mm256_sub_epi32, _mm256_cmpeq_epi32, _mm256_cmpgt_epi32, bits: bits_of_32,
    at_most: |a, b| bits_of_32(_mm256_cmpeq_epi32(_mm256_min_epu32(a, b), a));

    // There is no unsigned minimum of 64 bits: what is inverted in the sign bit orders as signed.
    u64, i64, _mm256_set1_epi64x, _mm256_sub_epi64, _mm256_cmpeq_epi64, _mm256_cmpgt_epi64, bits: bits_of_64,
    at_most: |a, b| {
        let sign = _mm256_set1_epi64x(i64::MIN);
        bits_of_64(_mm256_cmpgt_epi64(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign))) ^ 0xf
    };
}

/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn bits_of_8(lanes: __m256i) -> u64 {
    // SAFETY: the caller has AVX2.
    unsafe { u64::from(_mm256_movemask_epi8(lanes) as u32) }
}

/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn bits_of_16(lanes: __m256i) -> u64 {
    // SAFETY: the caller has AVX2.
    unsafe {
        let (low, high) = (_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
        _mm_movemask_epi8(_mm_packs_epi16(low, high)) as u64
    }
}

/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn bits_of_32(lanes: __m256i) -> u64 {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as u64 }
}

/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn bits_of_64(lanes: __m256i) -> u64 {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_movemask_pd(_mm256_castsi256_pd(lanes)) as u64 }
}

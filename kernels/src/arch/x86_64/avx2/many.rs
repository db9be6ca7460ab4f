//! Many-to-many kernels, with AVX2 and FMA: tiles of 6 rows and two registers of targets, 12 of the 16 registers.

use core::arch::x86_64::*;

use crate::arch::all::bits;

#[derive(Clone, Copy)]
pub(crate) struct F32x8(__m256);

#[derive(Clone, Copy)]
pub(crate) struct F64x4(__m256d);

macro_rules! vector {
    ($name:ident, $item:ty, $lanes:literal,
     $load:ident $store:ident $splat:ident $fmadd:ident $max:ident $min:ident $cmp:ident $blend:ident $bits:ident
     $largest:ident) => {
        impl Vector for $name {
            type Item = $item;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(at: *const $item) -> Self {
                // SAFETY: the caller has AVX2 and gives that many items.
                $name(unsafe { $load(at) })
            }

            #[inline(always)]
            unsafe fn store(self, at: *mut $item) {
                // SAFETY: as above.
                unsafe { $store(at, self.0) }
            }

            #[inline(always)]
            unsafe fn splat(item: $item) -> Self {
                // SAFETY: the caller has AVX2 and FMA, as for all that follow.
                $name(unsafe { $splat(item) })
            }

            #[inline(always)]
            unsafe fn plus_product(self, a: Self, b: Self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $fmadd(a.0, b.0, self.0) })
            }

            #[inline(always)]
            unsafe fn max(self, other: Self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $max(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn min(self, other: Self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $min(self.0, other.0) })
            }

            #[inline(always)]
            unsafe fn select_greater(self, than: Self, then: Self, otherwise: Self) -> Self {
                // SAFETY: as above.
                unsafe { $name($blend(otherwise.0, then.0, $cmp::<_CMP_GT_OQ>(self.0, than.0))) }
            }

            #[inline(always)]
            unsafe fn at_least(self, than: Self) -> u32 {
                // SAFETY: as above.
                unsafe { $bits($cmp::<_CMP_GE_OQ>(self.0, than.0)) as u32 }
            }

            #[inline(always)]
            unsafe fn largest(self) -> $item {
                // SAFETY: as above.
                unsafe { $largest(self.0) }
            }
        }
    };
}
vector!(F32x8, f32, 8,
    _mm256_loadu_ps _mm256_storeu_ps _mm256_set1_ps _mm256_fmadd_ps _mm256_max_ps _mm256_min_ps
    _mm256_cmp_ps _mm256_blendv_ps _mm256_movemask_ps largest_of_8);
vector!(F64x4, f64, 4,
    _mm256_loadu_pd _mm256_storeu_pd _mm256_set1_pd _mm256_fmadd_pd _mm256_max_pd _mm256_min_pd
    _mm256_cmp_pd _mm256_blendv_pd _mm256_movemask_pd largest_of_4);

/// # Safety
/// AVX2 is there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn largest_of_8(lanes: __m256) -> f32 {
    let four = _mm_max_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps::<1>(lanes));
    let two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)))
}

/// # Safety
/// AVX2 is there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn largest_of_4(lanes: __m256d) -> f64 {
    let two = _mm_max_pd(_mm256_castpd256_pd128(lanes), _mm256_extractf128_pd::<1>(lanes));
    _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)))
}

crate::arch::all::many_kernels::entry_points!("avx2,fma,f16c");

pub(crate) static F32: Kernels<f32> = table::<F32x8, 6, 2>();
pub(crate) static F64: Kernels<f64> = table::<F64x4, 6, 2>();

/// Bits that differ.
pub(crate) fn differ(rows: &[u64], panel: &[u64], words: usize) -> [[u64; bits::WIDTH]; bits::ROWS] {
    #[target_feature(enable = "avx2,popcnt")]
    fn differ(rows: &[u64], panel: &[u64], words: usize) -> [[u64; bits::WIDTH]; bits::ROWS] {
        bits::differ(rows, panel, words)
    }
    // SAFETY: handed out where AVX2 is there.
    unsafe { differ(rows, panel, words) }
}

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
     $pairwise:ident) => {
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
            unsafe fn pairwise_max(self, other: Self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $pairwise(self.0, other.0) })
            }
        }
    };
}
vector!(F32x8, f32, 8,
    _mm256_loadu_ps _mm256_storeu_ps _mm256_set1_ps _mm256_fmadd_ps _mm256_max_ps _mm256_min_ps
    _mm256_cmp_ps _mm256_blendv_ps _mm256_movemask_ps pairwise_max_8);
vector!(F64x4, f64, 4,
    _mm256_loadu_pd _mm256_storeu_pd _mm256_set1_pd _mm256_fmadd_pd _mm256_max_pd _mm256_min_pd
    _mm256_cmp_pd _mm256_blendv_pd _mm256_movemask_pd pairwise_max_4);

/// # Safety
/// AVX2 is there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn pairwise_max_8(a: __m256, b: __m256) -> __m256 {
    let max =
        _mm256_max_ps(_mm256_shuffle_ps::<0b10_00_10_00>(a, b), _mm256_shuffle_ps::<0b11_01_11_01>(a, b));
    // Shuffles stay within halves of the register.
    _mm256_castpd_ps(_mm256_permute4x64_pd::<0b11_01_10_00>(_mm256_castps_pd(max)))
}

/// # Safety
/// AVX2 is there.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn pairwise_max_4(a: __m256d, b: __m256d) -> __m256d {
    let max = _mm256_max_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
    _mm256_permute4x64_pd::<0b11_01_10_00>(max)
}

crate::arch::all::many_kernels::entry_points!("avx2,fma,f16c");

pub(crate) static F32: Kernels<f32> = table::<F32x8, 6, 2, 6, 2>();
pub(crate) static F64: Kernels<f64> = table::<F64x4, 6, 2, 6, 2>();

/// Bits that differ.
pub(crate) fn differ(rows: &[u64], panel: &[u64], words: usize) -> [[u64; bits::WIDTH]; bits::ROWS] {
    #[target_feature(enable = "avx2,popcnt")]
    fn differ(rows: &[u64], panel: &[u64], words: usize) -> [[u64; bits::WIDTH]; bits::ROWS] {
        bits::differ(rows, panel, words)
    }
    // SAFETY: handed out where AVX2 is there.
    unsafe { differ(rows, panel, words) }
}

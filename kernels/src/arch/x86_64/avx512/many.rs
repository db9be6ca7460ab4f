//! Many-to-many kernels, with AVX-512: tiles of 6 rows and four registers of targets, 24 of the 32 registers.
//!
//! 14 rows and two registers leave fewer idle, but ask for more instructions beside each product: measured on a host that
//! others used as well, they were a fifth slower, and in quiet moments no faster.

use core::arch::x86_64::*;

use crate::arch::all::bits;

#[derive(Clone, Copy)]
pub(crate) struct F32x16(__m512);

#[derive(Clone, Copy)]
pub(crate) struct F64x8(__m512d);

macro_rules! vector {
    ($name:ident, $item:ty, $lanes:literal,
     $load:ident $store:ident $splat:ident $fmadd:ident $max:ident $min:ident $cmp:ident $blend:ident $pick:ident $even:expr, $odd:expr) => {
        impl Vector for $name {
            type Item = $item;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(at: *const $item) -> Self {
                // SAFETY: the caller has AVX-512 and gives that many items.
                $name(unsafe { $load(at) })
            }

            #[inline(always)]
            unsafe fn store(self, at: *mut $item) {
                // SAFETY: as above.
                unsafe { $store(at, self.0) }
            }

            #[inline(always)]
            unsafe fn splat(item: $item) -> Self {
                // SAFETY: the caller has AVX-512, as for all that follow.
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
                unsafe { $name($blend($cmp::<_CMP_GT_OQ>(self.0, than.0), otherwise.0, then.0)) }
            }

            #[inline(always)]
            unsafe fn at_least(self, than: Self) -> u32 {
                // SAFETY: as above.
                u32::from(unsafe { $cmp::<_CMP_GE_OQ>(self.0, than.0) })
            }

            #[inline(always)]
            unsafe fn pairwise_max(self, other: Self) -> Self {
                // SAFETY: as above.
                unsafe { $name($max($pick(self.0, $even, other.0), $pick(self.0, $odd, other.0))) }
            }
        }
    };
}
vector!(F32x16, f32, 16,
    _mm512_loadu_ps _mm512_storeu_ps _mm512_set1_ps _mm512_fmadd_ps _mm512_max_ps _mm512_min_ps
    _mm512_cmp_ps_mask _mm512_mask_blend_ps _mm512_permutex2var_ps
    _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
    _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31));
vector!(F64x8, f64, 8,
    _mm512_loadu_pd _mm512_storeu_pd _mm512_set1_pd _mm512_fmadd_pd _mm512_max_pd _mm512_min_pd
    _mm512_cmp_pd_mask _mm512_mask_blend_pd _mm512_permutex2var_pd
    _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14),
    _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15));

crate::arch::all::many_kernels::entry_points!("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c");

pub(crate) static F32: Kernels<f32> = table::<F32x16, 6, 4, 12, 2>();
pub(crate) static F64: Kernels<f64> = table::<F64x8, 6, 4, 12, 2>();

/// Bits that differ, with VPOPCNTDQ.
pub(crate) fn differ(rows: &[u64], panel: &[u64], words: usize) -> [[u64; bits::WIDTH]; bits::ROWS] {
    #[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq")]
    fn differ(rows: &[u64], panel: &[u64], words: usize) -> [[u64; bits::WIDTH]; bits::ROWS] {
        bits::differ(rows, panel, words)
    }
    // SAFETY: handed out where AVX-512 and VPOPCNTDQ are there.
    unsafe { differ(rows, panel, words) }
}

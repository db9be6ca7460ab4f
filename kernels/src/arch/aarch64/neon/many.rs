//! Many-to-many kernels, with NEON: tiles of 6 rows and four registers of targets, 24 of the 32 registers.

use core::arch::aarch64::*;

#[derive(Clone, Copy)]
pub(crate) struct F32x4(float32x4_t);

#[derive(Clone, Copy)]
pub(crate) struct F64x2(float64x2_t);

macro_rules! vector {
    ($name:ident, $item:ty, $lanes:literal, $bits:expr,
     $load:ident $store:ident $splat:ident $fma:ident $max:ident $min:ident $gt:ident $ge:ident $select:ident
     $pairwise:ident) => {
        impl Vector for $name {
            type Item = $item;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(at: *const $item) -> Self {
                // SAFETY: the caller gives that many items.
                $name(unsafe { $load(at) })
            }

            #[inline(always)]
            unsafe fn store(self, at: *mut $item) {
                // SAFETY: as above.
                unsafe { $store(at, self.0) }
            }

            #[inline(always)]
            unsafe fn splat(item: $item) -> Self {
                // SAFETY: every aarch64 has NEON, here and in all that follow.
                $name(unsafe { $splat(item) })
            }

            #[inline(always)]
            unsafe fn plus_product(self, a: Self, b: Self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $fma(self.0, a.0, b.0) })
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
                unsafe { $name($select($gt(self.0, than.0), then.0, otherwise.0)) }
            }

            #[inline(always)]
            unsafe fn at_least(self, than: Self) -> u32 {
                // SAFETY: as above.
                unsafe { $bits($ge(self.0, than.0)) }
            }

            #[inline(always)]
            unsafe fn pairwise_max(self, other: Self) -> Self {
                // SAFETY: as above.
                $name(unsafe { $pairwise(self.0, other.0) })
            }
        }
    };
}
vector!(F32x4, f32, 4, bits_of_4,
    vld1q_f32 vst1q_f32 vdupq_n_f32 vfmaq_f32 vmaxq_f32 vminq_f32 vcgtq_f32 vcgeq_f32 vbslq_f32 vpmaxq_f32);
vector!(F64x2, f64, 2, bits_of_2,
    vld1q_f64 vst1q_f64 vdupq_n_f64 vfmaq_f64 vmaxq_f64 vminq_f64 vcgtq_f64 vcgeq_f64 vbslq_f64 vpmaxq_f64);

/// The low bit of each lane.
#[inline]
#[target_feature(enable = "neon")]
fn bits_of_4(lanes: uint32x4_t) -> u32 {
    (vgetq_lane_u32::<0>(lanes) & 1)
        | (vgetq_lane_u32::<1>(lanes) & 2)
        | (vgetq_lane_u32::<2>(lanes) & 4)
        | (vgetq_lane_u32::<3>(lanes) & 8)
}

/// The low bit of each lane.
#[inline]
#[target_feature(enable = "neon")]
fn bits_of_2(lanes: uint64x2_t) -> u32 {
    (vgetq_lane_u64::<0>(lanes) & 1 | vgetq_lane_u64::<1>(lanes) & 2) as u32
}

crate::arch::all::many_kernels::entry_points!("neon");

pub(crate) static F32: Kernels<f32> = table::<F32x4, 6, 4, 6, 4>();
pub(crate) static F64: Kernels<f64> = table::<F64x2, 6, 4, 6, 4>();

//! Distances between vectors of f16: NEON with FEAT_FHM.
//!
//! FMLAL and FMLAL2 multiply the halves of the lower and the upper part of two registers and add the products to f32,
//! with one rounding: what fused multiplications of converted numbers give, bit for bit. Differences of halves would be
//! rounded to halves, so L2 converts.

use core::arch::{aarch64::*, asm};

use half::f16;

use super::distance::{HAMMING, Tail, tail, tails, widen};
use crate::{
    arch::all::{
        distance::{self, Measure},
        distance_kernels::{Kernels, WideProduct, entry_points, wide_products},
        measure::{Cosine, Product, SquaredL2, Total, Vector},
    },
    distance::DistanceTable,
    isa::{Extensions, Isa},
};

entry_points!("neon,fp16,fhm");
wide_products!("neon,fp16,fhm");

/// Rows of a block, as in [`distance`](super::distance).
const ROWS: usize = 4;

pub(crate) static F16: DistanceTable<f16> = DistanceTable {
    isa: Isa::Neon,
    l2: kernels::<SquaredL2<Halves>, ROWS>(),
    cosine: kernels::<Cosine<Halves>, ROWS>(),
    dot: kernels::<Product<Halves, true>, ROWS>(),
    product: kernels::<Product<Halves, false>, ROWS>(),
    wide_product: wide_product::<Halves>(),
    hamming: HAMMING,
};

/// Whether this machine has what these need beyond [`Isa::Neon`].
pub(crate) fn has_instructions() -> bool {
    Extensions::available().fhm
}

/// Eight halves.
#[derive(Clone, Copy)]
struct Halves(uint16x8_t);

impl Vector for Halves {
    tails!(f16, 8);
    type Sum = (float32x4_t, float32x4_t);
    type Total = f32;

    #[inline(always)]
    unsafe fn load(at: *const f16) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { vld1q_u16(at.cast()) })
    }
    #[inline(always)]
    unsafe fn zero() -> Self::Sum {
        // SAFETY: every aarch64 processor has NEON.
        unsafe { (vdupq_n_f32(0.0), vdupq_n_f32(0.0)) }
    }
    #[inline(always)]
    unsafe fn add_product((mut low, mut high): Self::Sum, Halves(a): Self, Halves(b): Self) -> Self::Sum {
        // SAFETY: the caller has FEAT_FHM; nothing but these registers is touched.
        unsafe {
            asm!("fmlal {:v}.4s, {:v}.4h, {:v}.4h", inout(vreg) low, in(vreg) a, in(vreg) b,
                options(pure, nomem, nostack));
            asm!("fmlal2 {:v}.4s, {:v}.4h, {:v}.4h", inout(vreg) high, in(vreg) a, in(vreg) b,
                options(pure, nomem, nostack));
        }
        (low, high)
    }
    #[inline(always)]
    unsafe fn add_difference((low, high): Self::Sum, Halves(a): Self, Halves(b): Self) -> Self::Sum {
        let (a, b) = (widen(a), widen(b));
        // SAFETY: every aarch64 processor has NEON.
        unsafe {
            let differences = (vsubq_f32(a.0, b.0), vsubq_f32(a.1, b.1));
            (vfmaq_f32(low, differences.0, differences.0), vfmaq_f32(high, differences.1, differences.1))
        }
    }
    #[inline(always)]
    unsafe fn merge(a: Self::Sum, b: Self::Sum) -> Self::Sum {
        // SAFETY: every aarch64 processor has NEON.
        unsafe { (vaddq_f32(a.0, b.0), vaddq_f32(a.1, b.1)) }
    }
    #[inline(always)]
    unsafe fn totals<const R: usize>(sums: [Self::Sum; R]) -> [f32; R] {
        // SAFETY: every aarch64 processor has NEON.
        unsafe { sums.map(|(low, high)| vaddvq_f32(vaddq_f32(low, high))) }
    }
}

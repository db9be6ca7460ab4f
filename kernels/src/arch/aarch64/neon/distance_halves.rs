//! Distances between vectors of f16: NEON with FEAT_FHM.
//!
//! FMLAL and FMLAL2 multiply the halves of the lower and the upper part of two registers and add the products to f32,
//! with one rounding: what fused multiplications of converted numbers give, bit for bit. Differences of halves would be
//! rounded to halves, so L2 converts.

use core::arch::{aarch64::*, asm};

use half::f16;

use super::{
    distance::{F16Lanes, HAMMING, widen},
    tail::tails,
};
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

/// Eight halves, of which the sums are those of halves that are f32 already.
#[derive(Clone, Copy)]
struct Halves(uint16x8_t);

impl Halves {
    #[inline(always)]
    fn widened(self) -> F16Lanes {
        let (low, high) = widen(self.0);
        F16Lanes(low, high)
    }
}

impl Vector for Halves {
    tails!(f16, 8);
    type Sum = <F16Lanes as Vector>::Sum;
    type Total = f32;

    #[inline(always)]
    unsafe fn load(at: *const f16) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { vld1q_u16(at.cast()) })
    }
    #[inline(always)]
    unsafe fn zero() -> Self::Sum {
        // SAFETY: the caller's promise.
        unsafe { F16Lanes::zero() }
    }
    #[inline(always)]
    unsafe fn add_product((mut low, mut high): Self::Sum, Halves(a): Self, Halves(b): Self) -> Self::Sum {
        // SAFETY: the caller has FEAT_FHM, and says so to the compiler; nothing but these registers is touched.
        unsafe {
            asm!("fmlal {:v}.4s, {:v}.4h, {:v}.4h", inout(vreg) low, in(vreg) a, in(vreg) b,
                options(pure, nomem, nostack));
            asm!("fmlal2 {:v}.4s, {:v}.4h, {:v}.4h", inout(vreg) high, in(vreg) a, in(vreg) b,
                options(pure, nomem, nostack));
        }
        (low, high)
    }
    /// Converting is free of side effects, so a compiler converts a part of the query once for all rows of a block.
    #[inline(always)]
    unsafe fn add_difference(sum: Self::Sum, a: Self, b: Self) -> Self::Sum {
        // SAFETY: the caller's promise.
        unsafe { F16Lanes::add_difference(sum, a.widened(), b.widened()) }
    }
    #[inline(always)]
    unsafe fn merge(a: Self::Sum, b: Self::Sum) -> Self::Sum {
        // SAFETY: the caller's promise.
        unsafe { F16Lanes::merge(a, b) }
    }
    #[inline(always)]
    unsafe fn totals<const R: usize>(sums: [Self::Sum; R]) -> [f32; R] {
        // SAFETY: the caller's promise.
        unsafe { F16Lanes::totals(sums) }
    }
}

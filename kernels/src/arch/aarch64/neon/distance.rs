//! Distances in registers of 128 bits, two at a time, with what every aarch64 processor has.

use core::arch::{aarch64::*, asm};

use half::{bf16, f16};

use super::tail::tails;
use crate::{
    arch::all::{
        distance::{self, Measure},
        distance_kernels::{Kernels, WideProduct, entry_points, wide_products},
        measure::{Cosine, Product, SquaredL2, Total, Vector},
    },
    distance::DistanceTable,
    isa::Isa,
};

entry_points!();
wide_products!();

pub(crate) static F32: DistanceTable<f32> = table::<F32Lanes>();
pub(crate) static F64: DistanceTable<f64> = table::<F64Lanes>();
pub(crate) static F16: DistanceTable<f16> = table::<F16Lanes>();
pub(crate) static BF16: DistanceTable<bf16> = table::<Bf16Lanes>();
pub(crate) static I8: DistanceTable<i8> = table::<I8Lanes>();
pub(crate) static U8: DistanceTable<u8> = table::<U8Lanes>();

/// Rows of a block: with two registers for a sum, and two sums for a cosine, four of them take sixteen registers.
const ROWS: usize = 4;

const fn table<V: Vector>() -> DistanceTable<V::Element> {
    DistanceTable {
        isa: Isa::Neon,
        l2: kernels::<SquaredL2<V>, ROWS>(),
        cosine: kernels::<Cosine<V>, ROWS>(),
        dot: kernels::<Product<V, true>, ROWS>(),
        product: kernels::<Product<V, false>, ROWS>(),
        wide_product: wide_product::<V>(),
        hamming: HAMMING,
    }
}

pub(super) const HAMMING: Kernels<u8> = kernels::<SquaredL2<BitLanes>, ROWS>();

/// These need nothing beyond [`Isa::Neon`].
pub(crate) fn has_instructions() -> bool {
    true
}

/// Numbers in two registers, fused into sums of two registers.
macro_rules! float_lanes {
    ($name:ident: $element:ty, $lanes:literal, $total:ty as $register:ty,
        $zero:expr, $add:ident, $sub:ident, $fma:ident, $across:ident, $load:expr) => {
        #[derive(Clone, Copy)]
        pub(super) struct $name(pub(super) $register, pub(super) $register);

        impl Vector for $name {
            tails!($element, $lanes);
            type Sum = ($register, $register);
            type Total = $total;

            #[inline(always)]
            unsafe fn load(at: *const $element) -> Self {
                // SAFETY: the caller's promise.
                let (low, high) = unsafe { $load(at) };
                Self(low, high)
            }
            #[inline(always)]
            unsafe fn zero() -> Self::Sum {
                // SAFETY: every aarch64 processor has NEON.
                unsafe { ($zero, $zero) }
            }
            #[inline(always)]
            unsafe fn add_product(sum: Self::Sum, a: Self, b: Self) -> Self::Sum {
                // SAFETY: every aarch64 processor has NEON.
                unsafe { ($fma(sum.0, a.0, b.0), $fma(sum.1, a.1, b.1)) }
            }
            #[inline(always)]
            unsafe fn add_difference(sum: Self::Sum, a: Self, b: Self) -> Self::Sum {
                // SAFETY: every aarch64 processor has NEON.
                unsafe {
                    let (low, high) = ($sub(a.0, b.0), $sub(a.1, b.1));
                    ($fma(sum.0, low, low), $fma(sum.1, high, high))
                }
            }
            #[inline(always)]
            unsafe fn merge(a: Self::Sum, b: Self::Sum) -> Self::Sum {
                // SAFETY: every aarch64 processor has NEON.
                unsafe { ($add(a.0, b.0), $add(a.1, b.1)) }
            }
            #[inline(always)]
            unsafe fn totals<const R: usize>(sums: [Self::Sum; R]) -> [$total; R] {
                // SAFETY: every aarch64 processor has NEON.
                unsafe { sums.map(|(low, high)| $across($add(low, high))) }
            }
        }
    };
}

float_lanes!(F32Lanes: f32, 8, f32 as float32x4_t,
    vdupq_n_f32(0.0), vaddq_f32, vsubq_f32, vfmaq_f32, vaddvq_f32,
    |at: *const f32| (vld1q_f32(at), vld1q_f32(at.add(4))));
float_lanes!(F64Lanes: f64, 4, f64 as float64x2_t,
    vdupq_n_f64(0.0), vaddq_f64, vsubq_f64, vfmaq_f64, vaddvq_f64,
    |at: *const f64| (vld1q_f64(at), vld1q_f64(at.add(2))));
float_lanes!(F16Lanes: f16, 8, f32 as float32x4_t,
    vdupq_n_f32(0.0), vaddq_f32, vsubq_f32, vfmaq_f32, vaddvq_f32,
    |at: *const f16| widen(vld1q_u16(at.cast())));
float_lanes!(Bf16Lanes: bf16, 8, f32 as float32x4_t,
vdupq_n_f32(0.0), vaddq_f32, vsubq_f32, vfmaq_f32, vaddvq_f32,
|at: *const bf16| {
    // A bf16 is the upper half of an f32.
    let bits = vld1q_u16(at.cast());
    let (low, high) = (vshll_n_u16::<16>(vget_low_u16(bits)), vshll_high_n_u16::<16>(bits));
    (vreinterpretq_f32_u32(low), vreinterpretq_f32_u32(high))
});

/// Eight halves as f32, by the instructions of `vcvt_f32_f16` and `vcvt_high_f32_f16`, which the oldest Rust does not
/// have.
#[inline(always)]
pub(super) fn widen(halves: uint16x8_t) -> (float32x4_t, float32x4_t) {
    let (low, high);
    // SAFETY: every aarch64 processor has NEON; nothing but these registers is touched.
    unsafe {
        asm!("fcvtl {:v}.4s, {:v}.4h", lateout(vreg) low, in(vreg) halves, options(pure, nomem, nostack));
        asm!("fcvtl2 {:v}.4s, {:v}.8h", lateout(vreg) high, in(vreg) halves, options(pure, nomem, nostack));
    }
    (low, high)
}

/// Sums of integers.
macro_rules! integer_sums {
    () => {
        type Sum = uint32x4_t;
        type Total = i32;

        #[inline(always)]
        unsafe fn zero() -> uint32x4_t {
            // SAFETY: every aarch64 processor has NEON.
            unsafe { vdupq_n_u32(0) }
        }
        #[inline(always)]
        unsafe fn merge(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
            // SAFETY: every aarch64 processor has NEON.
            unsafe { vaddq_u32(a, b) }
        }
        #[inline(always)]
        unsafe fn totals<const R: usize>(sums: [uint32x4_t; R]) -> [i32; R] {
            // SAFETY: every aarch64 processor has NEON.
            unsafe {
                // Bit for bit the sum of signed lanes, too.
                sums.map(|sum| vaddvq_u32(sum) as i32)
            }
        }
    };
}
pub(super) use integer_sums;

/// Adds squares of sixteen numbers.
#[inline(always)]
fn add_squares(sum: uint32x4_t, numbers: uint8x16_t) -> uint32x4_t {
    // SAFETY: every aarch64 processor has NEON.
    unsafe {
        let low = vmull_u8(vget_low_u8(numbers), vget_low_u8(numbers));
        vpadalq_u16(vpadalq_u16(sum, low), vmull_high_u8(numbers, numbers))
    }
}

#[derive(Clone, Copy)]
struct I8Lanes(int8x16_t);

impl Vector for I8Lanes {
    tails!(i8, 16);
    integer_sums!();

    #[inline(always)]
    unsafe fn load(at: *const i8) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { vld1q_s8(at) })
    }
    #[inline(always)]
    unsafe fn add_product(sum: uint32x4_t, a: Self, b: Self) -> uint32x4_t {
        // SAFETY: every aarch64 processor has NEON.
        unsafe {
            let low = vmull_s8(vget_low_s8(a.0), vget_low_s8(b.0));
            let sum = vpadalq_s16(vpadalq_s16(vreinterpretq_s32_u32(sum), low), vmull_high_s8(a.0, b.0));
            vreinterpretq_u32_s32(sum)
        }
    }
    #[inline(always)]
    unsafe fn add_difference(sum: uint32x4_t, a: Self, b: Self) -> uint32x4_t {
        // SAFETY: every aarch64 processor has NEON.
        unsafe { add_squares(sum, vreinterpretq_u8_s8(vabdq_s8(a.0, b.0))) }
    }
}

#[derive(Clone, Copy)]
struct U8Lanes(uint8x16_t);

impl Vector for U8Lanes {
    tails!(u8, 16);
    integer_sums!();

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { vld1q_u8(at) })
    }
    #[inline(always)]
    unsafe fn add_product(sum: uint32x4_t, a: Self, b: Self) -> uint32x4_t {
        // SAFETY: every aarch64 processor has NEON.
        unsafe {
            let low = vmull_u8(vget_low_u8(a.0), vget_low_u8(b.0));
            vpadalq_u16(vpadalq_u16(sum, low), vmull_high_u8(a.0, b.0))
        }
    }
    #[inline(always)]
    unsafe fn add_difference(sum: uint32x4_t, a: Self, b: Self) -> uint32x4_t {
        // SAFETY: every aarch64 processor has NEON.
        unsafe { add_squares(sum, vabdq_u8(a.0, b.0)) }
    }
}

/// A hundred and twenty-eight bits.
#[derive(Clone, Copy)]
struct BitLanes(uint8x16_t);

/// Adds the number of bits.
#[inline(always)]
fn add_ones(sum: uint32x4_t, bits: uint8x16_t) -> uint32x4_t {
    // SAFETY: every aarch64 processor has NEON.
    unsafe { vpadalq_u16(sum, vpaddlq_u8(vcntq_u8(bits))) }
}

impl Vector for BitLanes {
    tails!(u8, 16);
    integer_sums!();

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { vld1q_u8(at) })
    }
    /// Bits that both have.
    #[inline(always)]
    unsafe fn add_product(sum: uint32x4_t, a: Self, b: Self) -> uint32x4_t {
        // SAFETY: every aarch64 processor has NEON.
        unsafe { add_ones(sum, vandq_u8(a.0, b.0)) }
    }
    /// Bits that one of them has.
    #[inline(always)]
    unsafe fn add_difference(sum: uint32x4_t, a: Self, b: Self) -> uint32x4_t {
        // SAFETY: every aarch64 processor has NEON.
        unsafe { add_ones(sum, veorq_u8(a.0, b.0)) }
    }
}

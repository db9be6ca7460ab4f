//! Distances between vectors of bytes: NEON with FEAT_DotProd.
//!
//! SDOT and UDOT multiply sixteen bytes with sixteen others and add four products to each lane of 32 bits. Differences
//! have no sign when they are squared: the absolute difference of two bytes, signed or not, fits an unsigned one.

use core::arch::{aarch64::*, asm};

use super::{
    distance::{HAMMING, integer_sums},
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

entry_points!("neon,dotprod");
wide_products!("neon,dotprod");

pub(crate) static I8: DistanceTable<i8> = table::<I8Lanes>();
pub(crate) static U8: DistanceTable<u8> = table::<U8Lanes>();

/// Rows of a block.
const ROWS: usize = 8;

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

/// Whether this machine has what these need beyond [`Isa::Neon`].
pub(crate) fn has_instructions() -> bool {
    Extensions::available().dotprod
}

/// Adds products of unsigned bytes.
///
/// # Safety
/// The processor has FEAT_DotProd, and the function that this ends up in says so to the compiler.
#[inline(always)]
unsafe fn udot(mut sum: uint32x4_t, a: uint8x16_t, b: uint8x16_t) -> uint32x4_t {
    // SAFETY: the caller's promise; nothing but these registers is touched.
    unsafe {
        asm!("udot {:v}.4s, {:v}.16b, {:v}.16b", inout(vreg) sum, in(vreg) a, in(vreg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    sum
}

/// Adds products of signed bytes. The sum is that of signed lanes, bit for bit.
///
/// # Safety
/// As for [`udot`].
#[inline(always)]
unsafe fn sdot(mut sum: uint32x4_t, a: int8x16_t, b: int8x16_t) -> uint32x4_t {
    // SAFETY: the caller's promise; nothing but these registers is touched.
    unsafe {
        asm!("sdot {:v}.4s, {:v}.16b, {:v}.16b", inout(vreg) sum, in(vreg) a, in(vreg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    sum
}

/// Sixteen bytes, and the absolute differences of two as unsigned bytes.
macro_rules! byte_lanes {
    ($name:ident: $element:ty as $register:ty, $load:ident, $dot:ident, $difference:expr) => {
        #[derive(Clone, Copy)]
        struct $name($register);

        impl Vector for $name {
            tails!($element, 16);
            integer_sums!();

            #[inline(always)]
            unsafe fn load(at: *const $element) -> Self {
                // SAFETY: the caller's promise.
                Self(unsafe { $load(at) })
            }
            #[inline(always)]
            unsafe fn add_product(sum: uint32x4_t, a: Self, b: Self) -> uint32x4_t {
                // SAFETY: the caller's promise.
                unsafe { $dot(sum, a.0, b.0) }
            }
            #[inline(always)]
            unsafe fn add_difference(sum: uint32x4_t, a: Self, b: Self) -> uint32x4_t {
                // SAFETY: the caller's promise.
                unsafe {
                    let difference = $difference(a.0, b.0);
                    udot(sum, difference, difference)
                }
            }
        }
    };
}

byte_lanes!(I8Lanes: i8 as int8x16_t, vld1q_s8, sdot, |a, b| vreinterpretq_u8_s8(vabdq_s8(a, b)));
byte_lanes!(U8Lanes: u8 as uint8x16_t, vld1q_u8, udot, vabdq_u8);

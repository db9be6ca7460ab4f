//! Scans of codes with NEON. For codes of 8 bits there are no bounds: a table of 256 bytes is four look-ups of 64.

use crate::{
    arch::{
        all::{
            codes,
            within::{Bytes, within_of_4},
        },
        portable,
    },
    codes::Kernels,
};
use core::arch::aarch64::*;

crate::arch::all::code_tables::code_tables!(
    "neon",
    4,
    16,
    vdupq_n_f32,
    vld1q_f32,
    vst1q_f32,
    vaddq_f32,
    vsubq_f32,
    vmulq_f32
);

pub(crate) static TABLE: Kernels = Kernels {
    // SAFETY: every aarch64 processor has NEON.
    within_of_4: Some(|columns, bytes, sum, mask| unsafe {
        within_of_4::<Neon, 8>(columns, bytes, sum, mask)
    }),
    quantise: codes::quantise,
    // SAFETY: as above.
    squared: |vector, width, words, out| unsafe { squared(vector, width, words, out) },
    // SAFETY: as above.
    products: |vector, width, words, out| unsafe { products(vector, width, words, out) },
    ..portable::codes::TABLE
};

struct Neon;

impl Bytes for Neon {
    type Register = uint8x16_t;
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn set(byte: u8) -> uint8x16_t {
        // SAFETY: the caller has NEON, here and below.
        unsafe { vdupq_n_u8(byte) }
    }

    #[inline(always)]
    unsafe fn load(at: *const u8) -> uint8x16_t {
        // SAFETY: as above; the caller has as many bytes there.
        unsafe { vld1q_u8(at) }
    }

    #[inline(always)]
    unsafe fn table(bytes: &[u8; 16]) -> uint8x16_t {
        // SAFETY: as above.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn low(table: uint8x16_t, codes: uint8x16_t) -> uint8x16_t {
        // SAFETY: as above.
        unsafe { vqtbl1q_u8(table, vandq_u8(codes, vdupq_n_u8(15))) }
    }

    #[inline(always)]
    unsafe fn high(table: uint8x16_t, codes: uint8x16_t) -> uint8x16_t {
        // SAFETY: as above.
        unsafe { vqtbl1q_u8(table, vshrq_n_u8::<4>(codes)) }
    }

    #[inline(always)]
    unsafe fn add(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: as above.
        unsafe { vqaddq_u8(a, b) }
    }

    #[inline(always)]
    unsafe fn at_most(a: uint8x16_t, b: uint8x16_t) -> u64 {
        const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
        // SAFETY: as above.
        unsafe {
            let bits = vandq_u8(vcleq_u8(a, b), vld1q_u8(BITS.as_ptr()));
            u64::from(vaddv_u8(vget_low_u8(bits))) | u64::from(vaddv_u8(vget_high_u8(bits))) << 8
        }
    }
}

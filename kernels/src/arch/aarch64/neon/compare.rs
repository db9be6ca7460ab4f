//! Comparisons of lanes, with NEON: 64 lanes at a time, whose results are narrowed to bytes and then added up as
//! bits.

use core::{arch::aarch64::*, array::from_fn};

crate::arch::all::compare::compare_kernels!(Neon, "neon");

/// `bytes` narrows the results of a block, lanes of ones or zeros, to 64 bytes in four registers.
macro_rules! vectors {
    ($(
        $lane:ty, $registers:literal, $vector:ty, $load:ident, $set:ident, $sub:ident, $xor:ident, $or:ident,
        $and:ident, $equal:ident, $at_most:ident, $less:ident, $signed:ident, bytes: $bytes:expr;
    )*) => {
        $(impl Vectors<$lane> for Neon {
            type Vector = [$vector; $registers];
            const LANES: usize = 64;

            #[inline(always)]
            unsafe fn load(block: &[$lane; 64], _: usize) -> [$vector; $registers] {
                let parts = block.as_chunks::<{ 64 / $registers }>().0;
                // SAFETY: a part is the 16 bytes of a register; the caller has NEON, here and below.
                from_fn(|i| unsafe { $load(parts[i].as_ptr()) })
            }

            #[inline(always)]
            unsafe fn set(lane: $lane) -> [$vector; $registers] {
                // SAFETY: as above.
                [unsafe { $set(lane) }; $registers]
            }

            #[inline(always)]
            unsafe fn sub(a: [$vector; $registers], b: [$vector; $registers]) -> [$vector; $registers] {
                // SAFETY: as above.
                from_fn(|i| unsafe { $sub(a[i], b[i]) })
            }

            #[inline(always)]
            unsafe fn xor(a: [$vector; $registers], b: [$vector; $registers]) -> [$vector; $registers] {
                // SAFETY: as above.
                from_fn(|i| unsafe { $xor(a[i], b[i]) })
            }

            #[inline(always)]
            unsafe fn order(a: [$vector; $registers]) -> [$vector; $registers] {
                // SAFETY: as above.
                from_fn(|i| unsafe {
                    let negative = $less($signed(a[i]), $signed($set(0)));
                    $xor(a[i], $and(negative, $set(!<$lane>::SIGN)))
                })
            }

            #[inline(always)]
            unsafe fn equal(a: [$vector; $registers], b: [$vector; $registers]) -> u64 {
                // SAFETY: as above.
                unsafe { bits($bytes(from_fn(|i| $equal(a[i], b[i])))) }
            }

            #[inline(always)]
            unsafe fn at_most(a: [$vector; $registers], b: [$vector; $registers]) -> u64 {
                // SAFETY: as above.
                unsafe { bits($bytes(from_fn(|i| $at_most(a[i], b[i])))) }
            }

            #[inline(always)]
            unsafe fn less(a: [$vector; $registers], b: [$vector; $registers]) -> u64 {
                // SAFETY: as above.
                unsafe { bits($bytes(from_fn(|i| $less($signed(a[i]), $signed(b[i]))))) }
            }

            #[inline(always)]
            unsafe fn both_zero(a: [$vector; $registers], b: [$vector; $registers]) -> u64 {
                // SAFETY: as above.
                unsafe {
                    let either = |i: usize| $and($or(a[i], b[i]), $set(!<$lane>::SIGN));
                    bits($bytes(from_fn(|i| $equal(either(i), $set(0)))))
                }
            }
        })*
    };
}

vectors! {
    u8, 4, uint8x16_t, vld1q_u8, vdupq_n_u8, vsubq_u8, veorq_u8, vorrq_u8, vandq_u8, vceqq_u8, vcleq_u8, vcltq_s8,
    vreinterpretq_s8_u8, bytes: |bytes| bytes;

    u16, 8, uint16x8_t, vld1q_u16, vdupq_n_u16, vsubq_u16, veorq_u16, vorrq_u16, vandq_u16, vceqq_u16, vcleq_u16,
    vcltq_s16, vreinterpretq_s16_u16, bytes: bytes_of_16;

    u32, 16, uint32x4_t, vld1q_u32, vdupq_n_u32, vsubq_u32, veorq_u32, vorrq_u32, vandq_u32, vceqq_u32, vcleq_u32,
    vcltq_s32, vreinterpretq_s32_u32, bytes: |lanes| bytes_of_16(of_32(lanes));

    u64, 32, uint64x2_t, vld1q_u64, vdupq_n_u64, vsubq_u64, veorq_u64, vorrq_u64, vandq_u64, vceqq_u64, vcleq_u64,
    vcltq_s64, vreinterpretq_s64_u64, bytes: |lanes| bytes_of_16(of_32(of_64(lanes)));
}

/// The even bytes of pairs of registers: lanes of 16 bits, all ones or all zeros, as bytes.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
unsafe fn bytes_of_16(lanes: [uint16x8_t; 8]) -> [uint8x16_t; 4] {
    // SAFETY: the caller has NEON.
    from_fn(|i| unsafe {
        vuzp1q_u8(vreinterpretq_u8_u16(lanes[2 * i]), vreinterpretq_u8_u16(lanes[2 * i + 1]))
    })
}

/// Lanes of 32 bits as lanes of 16.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
unsafe fn of_32(lanes: [uint32x4_t; 16]) -> [uint16x8_t; 8] {
    // SAFETY: the caller has NEON.
    from_fn(|i| unsafe {
        vuzp1q_u16(vreinterpretq_u16_u32(lanes[2 * i]), vreinterpretq_u16_u32(lanes[2 * i + 1]))
    })
}

/// Lanes of 64 bits as lanes of 32.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
unsafe fn of_64(lanes: [uint64x2_t; 32]) -> [uint32x4_t; 16] {
    // SAFETY: the caller has NEON.
    from_fn(|i| unsafe {
        vuzp1q_u32(vreinterpretq_u32_u64(lanes[2 * i]), vreinterpretq_u32_u64(lanes[2 * i + 1]))
    })
}

/// Bit i of byte i of each eight, then sums of neighbours until eight bytes are one.
///
/// # Safety
/// The machine has NEON.
#[inline(always)]
unsafe fn bits(bytes: [uint8x16_t; 4]) -> u64 {
    // SAFETY: the caller has NEON.
    unsafe {
        let place = vreinterpretq_u8_u64(vdupq_n_u64(0x8040_2010_0804_0201));
        let [a, b, c, d] = bytes.map(|bytes| vandq_u8(bytes, place));
        let sums = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
        vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)))
    }
}

//! Comparisons of lanes, with AVX-512: each yields its bits in a mask register.

use core::arch::x86_64::*;

crate::arch::all::compare::compare_kernels!(Avx512, "avx512f,avx512bw");

/// The truth table of `a ^ b & c`.
const A_XOR_B_AND_C: i32 = 0b0111_1000;

/// `sign` copies the sign bits of lanes to all their bits.
macro_rules! vectors {
    ($(
        $lane:ty, $signed:ty, $set:ident, $sub:ident, $equal:ident, $at_most:ident, $less:ident, $no_bits:ident,
        sign: $sign:expr;
    )*) => {
        $(impl Vectors<$lane> for Avx512 {
            type Vector = __m512i;
            const LANES: usize = 64 / size_of::<$lane>();

            #[inline(always)]
            unsafe fn load(block: &[$lane; 64], at: usize) -> __m512i {
                let lanes = &block[at * (64 / size_of::<$lane>())..][..64 / size_of::<$lane>()];
                // SAFETY: the lanes are 64 bytes, and the load needs no alignment; the caller has AVX-512.
                unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) }
            }

            #[inline(always)]
            unsafe fn set(lane: $lane) -> __m512i {
                // SAFETY: the caller has AVX-512, here and below.
                unsafe { $set(lane as $signed) }
            }

            #[inline(always)]
            unsafe fn sub(a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: as above.
                unsafe { $sub(a, b) }
            }

            #[inline(always)]
            unsafe fn xor(a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: as above.
                unsafe { _mm512_xor_si512(a, b) }
            }

            #[inline(always)]
            unsafe fn order(a: __m512i) -> __m512i {
                // SAFETY: as above.
                unsafe { _mm512_ternarylogic_epi64::<A_XOR_B_AND_C>(a, $sign(a), $set(<$signed>::MAX)) }
            }

            #[inline(always)]
            unsafe fn equal(a: __m512i, b: __m512i) -> u64 {
                // SAFETY: as above.
                unsafe { $equal(a, b) as u64 }
            }

            #[inline(always)]
            unsafe fn at_most(a: __m512i, b: __m512i) -> u64 {
                // SAFETY: as above.
                unsafe { $at_most(a, b) as u64 }
            }

            #[inline(always)]
            unsafe fn less(a: __m512i, b: __m512i) -> u64 {
                // SAFETY: as above.
                unsafe { $less(a, b) as u64 }
            }

            #[inline(always)]
            unsafe fn both_zero(a: __m512i, b: __m512i) -> u64 {
                // SAFETY: as above.
                unsafe { $no_bits(_mm512_or_si512(a, b), $set(<$signed>::MAX)) as u64 }
            }
        })*
    };
}

vectors! {
    u8, i8, _mm512_set1_epi8, _mm512_sub_epi8, _mm512_cmpeq_epi8_mask, _mm512_cmple_epu8_mask,
    _mm512_cmplt_epi8_mask, _mm512_testn_epi8_mask, sign: |a| _mm512_movm_epi8(_mm512_movepi8_mask(a));

    u16, i16, _mm512_set1_epi16, _mm512_sub_epi16, _mm512_cmpeq_epi16_mask, _mm512_cmple_epu16_mask,
    _mm512_cmplt_epi16_mask, _mm512_testn_epi16_mask, sign: _mm512_srai_epi16::<15>;

    u32, i32, _mm512_set1_epi32, _mm512_sub_epi32, _mm512_cmpeq_epi32_mask, _mm512_cmple_epu32_mask,
    _mm512_cmplt_epi32_mask, _mm512_testn_epi32_mask, sign: _mm512_srai_epi32::<31>;

    u64, i64, _mm512_set1_epi64, _mm512_sub_epi64, _mm512_cmpeq_epi64_mask, _mm512_cmple_epu64_mask,
    _mm512_cmplt_epi64_mask, _mm512_testn_epi64_mask, sign: _mm512_srai_epi64::<63>;
}

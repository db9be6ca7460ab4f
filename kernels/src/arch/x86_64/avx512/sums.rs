//! Adding up the lanes of registers, eight registers together: half of them with each step, as one transposes.
//!
//! ```text
//! a = [a0 a1 a2 a3]  b = [b0 b1 b2 b3]           four quarters each
//! [a0 a1 b2 b3] + [a2 a3 b0 b1]                  → two quarters of a, two of b       8 registers → 4
//! [x0 y1 x2 y3] + [x1 y0 x3 y2]                  → one quarter of each of four      4 registers → 2
//! the same within the quarters                   → one lane (or two) of each of eight
//! ```

use core::arch::x86_64::*;

/// Eight registers of sixteen lanes: the sums of each, in order. `$add` adds two registers.
macro_rules! eight {
    ($sums:ident, $add:expr) => {{
        let add = $add;
        let halves = |a, b| {
            let (kept, crossed) =
                (_mm512_mask_blend_ps(0xff00, a, b), _mm512_shuffle_f32x4::<0b01_00_11_10>(a, b));
            add(kept, crossed)
        };
        let quarters = |a, b| {
            let (kept, other) = (_mm512_mask_blend_ps(0xf0f0, a, b), _mm512_mask_blend_ps(0xf0f0, b, a));
            add(kept, _mm512_shuffle_f32x4::<0b10_11_00_01>(other, other))
        };
        // Quarters of 0, 2, 1, 3 and of 4, 6, 5, 7.
        let a = quarters(halves($sums[0], $sums[1]), halves($sums[2], $sums[3]));
        let b = quarters(halves($sums[4], $sums[5]), halves($sums[6], $sums[7]));
        // In each quarter two lanes of a and two of b, then all four summed twice.
        let both = add(_mm512_mask_blend_ps(0xcccc, a, b), _mm512_shuffle_ps::<0b01_00_11_10>(a, b));
        let all = add(both, _mm512_permute_ps::<0b10_11_00_01>(both));
        let order = _mm512_setr_epi32(0, 8, 4, 12, 2, 10, 6, 14, 0, 0, 0, 0, 0, 0, 0, 0);
        _mm512_castps512_ps256(_mm512_permutexvar_ps(order, all))
    }};
}

/// # Safety
/// AVX-512 F is there.
#[inline(always)]
pub(super) unsafe fn floats<const R: usize>(sums: [__m512; R]) -> [f32; R] {
    let mut out = [0.0; R];
    // SAFETY: the caller's promise; `out` has eight items where eight are stored.
    unsafe {
        if R == 8 {
            let all = eight!(sums, |a, b| _mm512_add_ps(a, b));
            _mm256_storeu_ps(out.as_mut_ptr(), all);
        } else {
            for r in 0..R {
                out[r] = _mm512_reduce_add_ps(sums[r]);
            }
        }
    }
    out
}

/// # Safety
/// AVX-512 F is there.
#[inline(always)]
pub(super) unsafe fn integers<const R: usize>(sums: [__m512i; R]) -> [i32; R] {
    let mut out = [0; R];
    // SAFETY: the caller's promise; `out` has eight items where eight are stored.
    unsafe {
        if R == 8 {
            let sums = sums.map(|sum| _mm512_castsi512_ps(sum));
            let add =
                |a, b| _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
            let all = eight!(sums, add);
            _mm256_storeu_si256(out.as_mut_ptr().cast(), _mm256_castps_si256(all));
        } else {
            for r in 0..R {
                out[r] = _mm512_reduce_add_epi32(sums[r]);
            }
        }
    }
    out
}

/// # Safety
/// AVX-512 F is there.
#[inline(always)]
pub(super) unsafe fn doubles<const R: usize>(sums: [__m512d; R]) -> [f64; R] {
    let mut out = [0.0; R];
    // SAFETY: the caller's promise; `out` has eight items where eight are stored.
    unsafe {
        if R == 8 {
            let halves = |a, b| {
                let crossed = _mm512_shuffle_f64x2::<0b01_00_11_10>(a, b);
                _mm512_add_pd(_mm512_mask_blend_pd(0xf0, a, b), crossed)
            };
            let quarters = |a, b| {
                let other = _mm512_mask_blend_pd(0xcc, b, a);
                let kept = _mm512_mask_blend_pd(0xcc, a, b);
                _mm512_add_pd(kept, _mm512_shuffle_f64x2::<0b10_11_00_01>(other, other))
            };
            let a = quarters(halves(sums[0], sums[1]), halves(sums[2], sums[3]));
            let b = quarters(halves(sums[4], sums[5]), halves(sums[6], sums[7]));
            let all = _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
            let order = _mm512_setr_epi64(0, 4, 2, 6, 1, 5, 3, 7);
            _mm512_storeu_pd(out.as_mut_ptr(), _mm512_permutexvar_pd(order, all));
        } else {
            for r in 0..R {
                out[r] = _mm512_reduce_add_pd(sums[r]);
            }
        }
    }
    out
}

//! Adding up the lanes of registers, eight registers together: half of them with each step, as one transposes.

use core::arch::x86_64::*;

/// Eight registers of eight lanes: the sums of each, in order. `$add` adds two registers.
macro_rules! eight {
    ($sums:ident, $add:expr) => {{
        let add = $add;
        let halves = |a, b| add(_mm256_blend_ps::<0xf0>(a, b), _mm256_permute2f128_ps::<0x21>(a, b));
        let quarters = |a, b| add(_mm256_blend_ps::<0xcc>(a, b), _mm256_shuffle_ps::<0b01_00_11_10>(a, b));
        let a = quarters(halves($sums[0], $sums[1]), halves($sums[2], $sums[3]));
        let b = quarters(halves($sums[4], $sums[5]), halves($sums[6], $sums[7]));
        let other = _mm256_blend_ps::<0xaa>(b, a);
        let all = add(_mm256_blend_ps::<0xaa>(a, b), _mm256_permute_ps::<0b10_11_00_01>(other));
        // Sums of 0, 4, 2, 6, 1, 5, 3, 7: an order that is its own inverse.
        _mm256_permutevar8x32_ps(all, _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7))
    }};
}

/// # Safety
/// AVX2 is there.
#[inline(always)]
pub(super) unsafe fn floats<const R: usize>(sums: [__m256; R]) -> [f32; R] {
    let mut out = [0.0; R];
    // SAFETY: the caller's promise; `out` has eight items where eight are stored.
    unsafe {
        if R == 8 {
            let all = eight!(sums, |a, b| _mm256_add_ps(a, b));
            _mm256_storeu_ps(out.as_mut_ptr(), all);
        } else {
            for r in 0..R {
                let halves = _mm_add_ps(_mm256_castps256_ps128(sums[r]), _mm256_extractf128_ps::<1>(sums[r]));
                let pairs = _mm_add_ps(halves, _mm_movehl_ps(halves, halves));
                out[r] = _mm_cvtss_f32(_mm_add_ss(pairs, _mm_movehdup_ps(pairs)));
            }
        }
    }
    out
}

/// # Safety
/// AVX2 is there.
#[inline(always)]
pub(super) unsafe fn integers<const R: usize>(sums: [__m256i; R]) -> [i32; R] {
    let mut out = [0; R];
    // SAFETY: the caller's promise; `out` has eight items where eight are stored.
    unsafe {
        if R == 8 {
            let sums = sums.map(|sum| _mm256_castsi256_ps(sum));
            let add =
                |a, b| _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b)));
            let all = eight!(sums, add);
            _mm256_storeu_si256(out.as_mut_ptr().cast(), _mm256_castps_si256(all));
        } else {
            for r in 0..R {
                let halves =
                    _mm_add_epi32(_mm256_castsi256_si128(sums[r]), _mm256_extracti128_si256::<1>(sums[r]));
                let pairs = _mm_add_epi32(halves, _mm_unpackhi_epi64(halves, halves));
                out[r] = _mm_cvtsi128_si32(_mm_add_epi32(pairs, _mm_shuffle_epi32::<1>(pairs)));
            }
        }
    }
    out
}

/// # Safety
/// AVX2 is there.
#[inline(always)]
pub(super) unsafe fn doubles<const R: usize>(sums: [__m256d; R]) -> [f64; R] {
    let mut out = [0.0; R];
    // SAFETY: the caller's promise.
    unsafe {
        for r in 0..R {
            let halves = _mm_add_pd(_mm256_castpd256_pd128(sums[r]), _mm256_extractf128_pd::<1>(sums[r]));
            out[r] = _mm_cvtsd_f64(_mm_add_sd(halves, _mm_unpackhi_pd(halves, halves)));
        }
    }
    out
}

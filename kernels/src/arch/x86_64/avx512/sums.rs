//! Adding up the lanes of registers, eight registers together: half of them with each step, as one transposes.
//!
//! ```text
//! a = [a0 a1 a2 a3]  b = [b0 b1 b2 b3]           four quarters each
//! [a0 a1 b2 b3] + [a2 a3 b0 b1]                  → two quarters of a, two of b       8 registers → 4
//! [x0 y1 x2 y3] + [x1 y0 x3 y2]                  → one quarter of each of four      4 registers → 2
//! the same within the quarters                   → one lane (or two) of each of eight
//! ```

use core::arch::x86_64::*;

/// Lanes that are added, kept as those of f32 because most of what happens to them is moving.
trait Lanes {
    /// # Safety
    /// AVX-512 F is there.
    unsafe fn add(a: __m512, b: __m512) -> __m512;
}

struct Floats;

impl Lanes for Floats {
    #[inline(always)]
    unsafe fn add(a: __m512, b: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_ps(a, b) }
    }
}

struct Integers;

impl Lanes for Integers {
    #[inline(always)]
    unsafe fn add(a: __m512, b: __m512) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b))) }
    }
}

/// Two quarters of a, then two of b.
///
/// # Safety
/// AVX-512 F is there.
#[inline(always)]
unsafe fn halves<L: Lanes>(a: __m512, b: __m512) -> __m512 {
    // SAFETY: the caller's promise.
    unsafe { L::add(_mm512_mask_blend_ps(0xff00, a, b), _mm512_shuffle_f32x4::<0b01_00_11_10>(a, b)) }
}

/// Of two results of [`halves`], of ab and cd: quarters of a, c, b, d.
///
/// # Safety
/// AVX-512 F is there.
#[inline(always)]
unsafe fn quarters<L: Lanes>(ab: __m512, cd: __m512) -> __m512 {
    // SAFETY: the caller's promise.
    unsafe {
        let (kept, other) = (_mm512_mask_blend_ps(0xf0f0, ab, cd), _mm512_mask_blend_ps(0xf0f0, cd, ab));
        L::add(kept, _mm512_shuffle_f32x4::<0b10_11_00_01>(other, other))
    }
}

/// The sums of eight registers of sixteen lanes, in order.
///
/// # Safety
/// AVX-512 F is there.
#[inline(always)]
unsafe fn eight<L: Lanes>([a, b, c, d, e, f, g, h]: [__m512; 8]) -> __m256 {
    // SAFETY: the caller's promise.
    unsafe {
        let acbd = quarters::<L>(halves::<L>(a, b), halves::<L>(c, d));
        let egfh = quarters::<L>(halves::<L>(e, f), halves::<L>(g, h));
        // In each quarter two lanes of one and two of the other, then one or the other in all.
        let kept = _mm512_mask_blend_ps(0xcccc, acbd, egfh);
        let pairs = L::add(kept, _mm512_shuffle_ps::<0b01_00_11_10>(acbd, egfh));
        let all = L::add(pairs, _mm512_permute_ps::<0b10_11_00_01>(pairs));
        let order = _mm512_setr_epi32(0, 8, 4, 12, 2, 10, 6, 14, 0, 0, 0, 0, 0, 0, 0, 0);
        _mm512_castps512_ps256(_mm512_permutexvar_ps(order, all))
    }
}

/// # Safety
/// AVX-512 F is there.
#[inline(always)]
pub(super) unsafe fn floats<const R: usize>(sums: [__m512; R]) -> [f32; R] {
    let mut out = [0.0; R];
    // SAFETY: the caller's promise; `out` has eight items where eight are stored.
    unsafe {
        if R == 8 {
            let mut registers = [_mm512_setzero_ps(); 8];
            for (register, sum) in registers.iter_mut().zip(sums) {
                *register = sum;
            }
            _mm256_storeu_ps(out.as_mut_ptr(), eight::<Floats>(registers));
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
            let mut registers = [_mm512_setzero_ps(); 8];
            for (register, sum) in registers.iter_mut().zip(sums) {
                *register = _mm512_castsi512_ps(sum);
            }
            let all = eight::<Integers>(registers);
            _mm256_storeu_si256(out.as_mut_ptr().cast(), _mm256_castps_si256(all));
        } else {
            for r in 0..R {
                out[r] = _mm512_reduce_add_epi32(sums[r]);
            }
        }
    }
    out
}

/// As [`halves`].
///
/// # Safety
/// AVX-512 F is there.
#[inline(always)]
unsafe fn halves_pd(a: __m512d, b: __m512d) -> __m512d {
    // SAFETY: the caller's promise.
    unsafe { _mm512_add_pd(_mm512_mask_blend_pd(0xf0, a, b), _mm512_shuffle_f64x2::<0b01_00_11_10>(a, b)) }
}

/// As [`quarters`].
///
/// # Safety
/// AVX-512 F is there.
#[inline(always)]
unsafe fn quarters_pd(ab: __m512d, cd: __m512d) -> __m512d {
    // SAFETY: the caller's promise.
    unsafe {
        let (kept, other) = (_mm512_mask_blend_pd(0xcc, ab, cd), _mm512_mask_blend_pd(0xcc, cd, ab));
        _mm512_add_pd(kept, _mm512_shuffle_f64x2::<0b10_11_00_01>(other, other))
    }
}

/// # Safety
/// AVX-512 F is there.
#[inline(always)]
pub(super) unsafe fn doubles<const R: usize>(sums: [__m512d; R]) -> [f64; R] {
    let mut out = [0.0; R];
    // SAFETY: the caller's promise; `out` has eight items where eight are stored.
    unsafe {
        if R == 8 {
            let a = quarters_pd(halves_pd(sums[0], sums[1]), halves_pd(sums[2], sums[3]));
            let b = quarters_pd(halves_pd(sums[4], sums[5]), halves_pd(sums[6], sums[7]));
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

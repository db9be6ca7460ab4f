//! Adding up the lanes of registers, eight registers together: half of them with each step, as one transposes.

use core::arch::x86_64::*;

/// Lanes that are added, kept as those of f32 because most of what happens to them is moving.
trait Lanes {
    /// # Safety
    /// AVX2 is there.
    unsafe fn add(a: __m256, b: __m256) -> __m256;
}

struct Floats;

impl Lanes for Floats {
    #[inline(always)]
    unsafe fn add(a: __m256, b: __m256) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_add_ps(a, b) }
    }
}

struct Integers;

impl Lanes for Integers {
    #[inline(always)]
    unsafe fn add(a: __m256, b: __m256) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), _mm256_castps_si256(b))) }
    }
}

/// Half of a, then half of b.
///
/// # Safety
/// AVX2 is there.
#[inline(always)]
unsafe fn halves<L: Lanes>(a: __m256, b: __m256) -> __m256 {
    // SAFETY: the caller's promise.
    unsafe { L::add(_mm256_blend_ps::<0xf0>(a, b), _mm256_permute2f128_ps::<0x21>(a, b)) }
}

/// Of two results of [`halves`], of ab and cd: two lanes each of a, c, b, d.
///
/// # Safety
/// AVX2 is there.
#[inline(always)]
unsafe fn quarters<L: Lanes>(ab: __m256, cd: __m256) -> __m256 {
    // SAFETY: the caller's promise.
    unsafe { L::add(_mm256_blend_ps::<0xcc>(ab, cd), _mm256_shuffle_ps::<0b01_00_11_10>(ab, cd)) }
}

/// The sums of eight registers of eight lanes, in order.
///
/// # Safety
/// AVX2 is there.
#[inline(always)]
unsafe fn eight<L: Lanes>([a, b, c, d, e, f, g, h]: [__m256; 8]) -> __m256 {
    // SAFETY: the caller's promise.
    unsafe {
        let acbd = quarters::<L>(halves::<L>(a, b), halves::<L>(c, d));
        let egfh = quarters::<L>(halves::<L>(e, f), halves::<L>(g, h));
        let other = _mm256_blend_ps::<0xaa>(egfh, acbd);
        let all = L::add(_mm256_blend_ps::<0xaa>(acbd, egfh), _mm256_permute_ps::<0b10_11_00_01>(other));
        // Of a, e, c, g, b, f, d, h: an order that is its own inverse.
        _mm256_permutevar8x32_ps(all, _mm256_setr_epi32(0, 4, 2, 6, 1, 5, 3, 7))
    }
}

/// # Safety
/// AVX2 is there.
#[inline(always)]
pub(super) unsafe fn floats<const R: usize>(sums: [__m256; R]) -> [f32; R] {
    let mut out = [0.0; R];
    // SAFETY: the caller's promise; `out` has eight items where eight are stored.
    unsafe {
        if R == 8 {
            let mut registers = [_mm256_setzero_ps(); 8];
            for (register, sum) in registers.iter_mut().zip(sums) {
                *register = sum;
            }
            _mm256_storeu_ps(out.as_mut_ptr(), eight::<Floats>(registers));
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
            let mut registers = [_mm256_setzero_ps(); 8];
            for (register, sum) in registers.iter_mut().zip(sums) {
                *register = _mm256_castsi256_ps(sum);
            }
            let all = eight::<Integers>(registers);
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

/// What is the same for every [`Vector`](crate::arch::all::measure::Vector) whose sums are integers in eight lanes.
macro_rules! integer_sums {
    () => {
        type Sum = __m256i;
        type Total = i32;
        type Tail = Tail;

        #[inline(always)]
        unsafe fn zero() -> __m256i {
            // SAFETY: the caller's promise.
            unsafe { _mm256_setzero_si256() }
        }
        #[inline(always)]
        unsafe fn merge(a: __m256i, b: __m256i) -> __m256i {
            // SAFETY: the caller's promise.
            unsafe { _mm256_add_epi32(a, b) }
        }
        #[inline(always)]
        unsafe fn totals<const R: usize>(sums: [__m256i; R]) -> [i32; R] {
            // SAFETY: the caller's promise.
            unsafe { integers(sums) }
        }
    };
}
pub(super) use integer_sums;

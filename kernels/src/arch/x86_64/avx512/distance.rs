//! Distances in registers of 512 bits. The last part of a vector is read under a mask.

use core::arch::x86_64::*;

use half::{bf16, f16};

use super::sums::{doubles, floats};
use crate::{
    arch::{
        all::{
            distance::{self, Measure},
            distance_kernels::{Kernels, WideProduct, entry_points, wide_products},
            measure::{Cosine, Product, SquaredL2, Total, Vector},
        },
        x86_64::avx2,
    },
    distance::DistanceTable,
    isa::Isa,
};

entry_points!("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c");
wide_products!("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c");

/// Rows of a block: as many sums hide the latency of a fused multiplication on two ports.
const ROWS: usize = 8;

pub(crate) static F32: DistanceTable<f32> = table::<F32Lanes>();
pub(crate) static F64: DistanceTable<f64> = table::<F64Lanes>();
pub(crate) static F16: DistanceTable<f16> = table::<F16Lanes>();
pub(crate) static BF16: DistanceTable<bf16> = table::<Bf16Lanes>();

const fn table<V: Vector>() -> DistanceTable<V::Element> {
    DistanceTable {
        isa: Isa::Avx512,
        l2: kernels::<SquaredL2<V>, ROWS>(),
        cosine: kernels::<Cosine<V>, ROWS>(),
        dot: kernels::<Product<V, true>, ROWS>(),
        product: kernels::<Product<V, false>, ROWS>(),
        wide_product: wide_product::<V>(),
        hamming: avx2::distance::HAMMING,
    }
}

/// These need nothing beyond [`Isa::Avx512`].
pub(crate) fn has_instructions() -> bool {
    true
}

/// Where the last part begins, and which of its lanes are there.
type Tail = (usize, u64);

/// The tail of `dim` elements after whole parts of `lanes`.
#[inline(always)]
pub(super) fn tail(dim: usize, lanes: usize) -> Tail {
    let rest = dim % lanes;
    (dim - rest, (1 << rest) - 1)
}

/// Sums of f32 in sixteen lanes, with a product and a difference of one register.
macro_rules! float_sums {
    () => {
        type Sum = __m512;
        type Total = f32;

        #[inline(always)]
        unsafe fn zero() -> __m512 {
            // SAFETY: the caller's promise.
            unsafe { _mm512_setzero_ps() }
        }
        #[inline(always)]
        unsafe fn merge(a: __m512, b: __m512) -> __m512 {
            // SAFETY: the caller's promise.
            unsafe { _mm512_add_ps(a, b) }
        }
        #[inline(always)]
        unsafe fn totals<const R: usize>(sums: [__m512; R]) -> [f32; R] {
            // SAFETY: the caller's promise.
            unsafe { floats(sums) }
        }
    };
}

/// Sixteen numbers as f32.
macro_rules! float_lanes {
    ($name:ident: $element:ty, $load:expr, $load_masked:expr) => {
        #[derive(Clone, Copy)]
        pub(super) struct $name(__m512);

        impl Vector for $name {
            float_sums!();
            type Element = $element;
            type Tail = Tail;
            const LANES: usize = 16;

            #[inline(always)]
            unsafe fn load(at: *const $element) -> Self {
                // SAFETY: the caller's promise.
                Self(unsafe { $load(at) })
            }
            #[inline(always)]
            unsafe fn tail(dim: usize) -> Tail {
                tail(dim, Self::LANES)
            }
            #[inline(always)]
            unsafe fn load_tail(vector: *const $element, (start, mask): Tail) -> Self {
                // SAFETY: the caller's promise; a masked load reads only the lanes of the mask.
                Self(unsafe { $load_masked(mask as u16, vector.add(start)) })
            }
            #[inline(always)]
            unsafe fn add_product(sum: __m512, a: Self, b: Self) -> __m512 {
                // SAFETY: the caller's promise.
                unsafe { _mm512_fmadd_ps(a.0, b.0, sum) }
            }
            #[inline(always)]
            unsafe fn add_difference(sum: __m512, a: Self, b: Self) -> __m512 {
                // SAFETY: the caller's promise.
                unsafe {
                    let difference = _mm512_sub_ps(a.0, b.0);
                    _mm512_fmadd_ps(difference, difference, sum)
                }
            }
        }
    };
}

float_lanes!(F32Lanes: f32, _mm512_loadu_ps, _mm512_maskz_loadu_ps);
float_lanes!(F16Lanes: f16,
    |at: *const f16| _mm512_cvtph_ps(_mm256_loadu_si256(at.cast())),
    |mask, at: *const f16| _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, at.cast())));

/// Thirty-two bf16 as f32: those of even places and those of odd places. A bf16 is the upper half of an f32, so each
/// half of the lanes takes one instruction.
#[derive(Clone, Copy)]
struct Bf16Lanes(__m512, __m512);

impl Bf16Lanes {
    #[inline(always)]
    unsafe fn split(pairs: __m512i) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let odd = _mm512_and_si512(pairs, _mm512_set1_epi32(0xffff_0000_u32 as i32));
            Self(_mm512_castsi512_ps(_mm512_slli_epi32::<16>(pairs)), _mm512_castsi512_ps(odd))
        }
    }
}

impl Vector for Bf16Lanes {
    float_sums!();
    type Element = bf16;
    type Tail = Tail;
    const LANES: usize = 32;

    #[inline(always)]
    unsafe fn load(at: *const bf16) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::split(_mm512_loadu_si512(at.cast())) }
    }
    #[inline(always)]
    unsafe fn tail(dim: usize) -> Tail {
        tail(dim, Self::LANES)
    }
    #[inline(always)]
    unsafe fn load_tail(vector: *const bf16, (start, mask): Tail) -> Self {
        // SAFETY: the caller's promise; a masked load reads only the lanes of the mask.
        unsafe { Self::split(_mm512_maskz_loadu_epi16(mask as u32, vector.add(start).cast())) }
    }
    #[inline(always)]
    unsafe fn add_product(sum: __m512, a: Self, b: Self) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe { _mm512_fmadd_ps(a.1, b.1, _mm512_fmadd_ps(a.0, b.0, sum)) }
    }
    #[inline(always)]
    unsafe fn add_difference(sum: __m512, a: Self, b: Self) -> __m512 {
        // SAFETY: the caller's promise.
        unsafe {
            let (even, odd) = (_mm512_sub_ps(a.0, b.0), _mm512_sub_ps(a.1, b.1));
            _mm512_fmadd_ps(odd, odd, _mm512_fmadd_ps(even, even, sum))
        }
    }
}

/// Eight numbers as f64.
#[derive(Clone, Copy)]
struct F64Lanes(__m512d);

impl Vector for F64Lanes {
    type Element = f64;
    type Sum = __m512d;
    type Total = f64;
    type Tail = Tail;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(at: *const f64) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm512_loadu_pd(at) })
    }
    #[inline(always)]
    unsafe fn tail(dim: usize) -> Tail {
        tail(dim, Self::LANES)
    }
    #[inline(always)]
    unsafe fn load_tail(vector: *const f64, (start, mask): Tail) -> Self {
        // SAFETY: the caller's promise; a masked load reads only the lanes of the mask.
        Self(unsafe { _mm512_maskz_loadu_pd(mask as u8, vector.add(start)) })
    }
    #[inline(always)]
    unsafe fn zero() -> __m512d {
        // SAFETY: the caller's promise.
        unsafe { _mm512_setzero_pd() }
    }
    #[inline(always)]
    unsafe fn add_product(sum: __m512d, a: Self, b: Self) -> __m512d {
        // SAFETY: the caller's promise.
        unsafe { _mm512_fmadd_pd(a.0, b.0, sum) }
    }
    #[inline(always)]
    unsafe fn add_difference(sum: __m512d, a: Self, b: Self) -> __m512d {
        // SAFETY: the caller's promise.
        unsafe {
            let difference = _mm512_sub_pd(a.0, b.0);
            _mm512_fmadd_pd(difference, difference, sum)
        }
    }
    #[inline(always)]
    unsafe fn merge(a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_pd(a, b) }
    }
    #[inline(always)]
    unsafe fn totals<const R: usize>(sums: [__m512d; R]) -> [f64; R] {
        // SAFETY: the caller's promise.
        unsafe { doubles(sums) }
    }
}

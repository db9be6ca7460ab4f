//! Distances in registers of 256 bits.
//!
//! AVX2 reads no 16-bit or 8-bit lanes under a mask. So the last part of a vector is a whole one that ends with it,
//! and the lanes that were met before are set to zero (`tail.rs`).

use core::arch::x86_64::*;

use half::{bf16, f16};

use super::{
    distance_bits::{self, BitLanes},
    sums::{doubles, floats, integer_sums, integers},
    tail::{Tail, tail, tail_128, tail_256},
};
use crate::{
    arch::all::{
        distance::{self, Measure},
        distance_kernels::{Kernels, WideProduct, entry_points, wide_products},
        measure::{Cosine, Product, SquaredL2, Total, Vector},
    },
    distance::DistanceTable,
    isa::Isa,
};

entry_points!("avx2,fma,f16c,bmi1,bmi2,popcnt");
wide_products!("avx2,fma,f16c,bmi1,bmi2,popcnt");

pub(crate) static F32: DistanceTable<f32> = table::<F32Lanes>();
pub(crate) static F64: DistanceTable<f64> = table::<F64Lanes>();
pub(crate) static F16: DistanceTable<f16> = table::<F16Lanes>();
pub(crate) static BF16: DistanceTable<bf16> = table::<Bf16Lanes>();
pub(crate) static I8: DistanceTable<i8> = table::<I8Lanes>();
pub(crate) static U8: DistanceTable<u8> = table::<U8Lanes>();

/// What AVX-512 without VNNI and VPOPCNTDQ does not do better.
// SAFETY: the tables of this module are handed out only where its instruction set is there.
pub(crate) const HAMMING: Kernels<u8> = unsafe {
    Kernels::new(one::<SquaredL2<BitLanes>>, distance_bits::many_bits::<4>, pointed::<SquaredL2<BitLanes>, 4>)
};
pub(crate) const I8_PRODUCT: WideProduct<i8> = wide_product::<I8Lanes>();
pub(crate) const U8_PRODUCT: WideProduct<u8> = wide_product::<U8Lanes>();

/// Eight rows of a block, or four where each has two sums: there are sixteen registers.
const fn table<V: Vector>() -> DistanceTable<V::Element> {
    DistanceTable {
        isa: Isa::Avx2,
        l2: kernels::<SquaredL2<V>, 8>(),
        cosine: kernels::<Cosine<V>, 4>(),
        dot: kernels::<Product<V, true>, 8>(),
        product: kernels::<Product<V, false>, 8>(),
        wide_product: wide_product::<V>(),
        hamming: HAMMING,
    }
}

/// Numbers in lanes that are fused into sums.
macro_rules! float_lanes {
    ($name:ident: $element:ty, $lanes:literal, $total:ty as $register:ty, $totals:ident,
        $zero:ident, $add:ident, $sub:ident, $fmadd:ident, $load:expr, $load_tail:expr) => {
        #[derive(Clone, Copy)]
        pub(super) struct $name($register);

        impl Vector for $name {
            type Element = $element;
            type Sum = $register;
            type Total = $total;
            type Tail = Tail;
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(at: *const $element) -> Self {
                // SAFETY: the caller's promise.
                Self(unsafe { $load(at) })
            }
            #[inline(always)]
            unsafe fn tail(dim: usize) -> Tail {
                tail::<$element>(dim, $lanes)
            }
            #[inline(always)]
            unsafe fn load_tail(vector: *const $element, tail: Tail) -> Self {
                // SAFETY: the caller's promise.
                Self(unsafe { $load_tail(vector.cast(), tail) })
            }
            #[inline(always)]
            unsafe fn zero() -> $register {
                // SAFETY: the caller's promise.
                unsafe { $zero() }
            }
            #[inline(always)]
            unsafe fn add_product(sum: $register, a: Self, b: Self) -> $register {
                // SAFETY: the caller's promise.
                unsafe { $fmadd(a.0, b.0, sum) }
            }
            #[inline(always)]
            unsafe fn add_difference(sum: $register, a: Self, b: Self) -> $register {
                // SAFETY: the caller's promise.
                unsafe {
                    let difference = $sub(a.0, b.0);
                    $fmadd(difference, difference, sum)
                }
            }
            #[inline(always)]
            unsafe fn merge(a: $register, b: $register) -> $register {
                // SAFETY: the caller's promise.
                unsafe { $add(a, b) }
            }
            #[inline(always)]
            unsafe fn totals<const R: usize>(sums: [$register; R]) -> [$total; R] {
                // SAFETY: the caller's promise.
                unsafe { $totals(sums) }
            }
        }
    };
}

float_lanes!(F32Lanes: f32, 8, f32 as __m256, floats,
    _mm256_setzero_ps, _mm256_add_ps, _mm256_sub_ps, _mm256_fmadd_ps,
    _mm256_loadu_ps,
    |vector, tail| _mm256_castsi256_ps(tail_256(vector, tail)));
float_lanes!(F64Lanes: f64, 4, f64 as __m256d, doubles,
    _mm256_setzero_pd, _mm256_add_pd, _mm256_sub_pd, _mm256_fmadd_pd,
    _mm256_loadu_pd,
    |vector, tail| _mm256_castsi256_pd(tail_256(vector, tail)));
float_lanes!(F16Lanes: f16, 8, f32 as __m256, floats,
    _mm256_setzero_ps, _mm256_add_ps, _mm256_sub_ps, _mm256_fmadd_ps,
    |at: *const f16| _mm256_cvtph_ps(_mm_loadu_si128(at.cast())),
    |vector, tail| _mm256_cvtph_ps(tail_128(vector, tail)));

/// Sixteen bf16 as f32: those of even places and those of odd places. A bf16 is the upper half of an f32, so each
/// half of the lanes takes one instruction.
#[derive(Clone, Copy)]
struct Bf16Lanes(__m256, __m256);

impl Bf16Lanes {
    #[inline(always)]
    unsafe fn split(pairs: __m256i) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let odd = _mm256_and_si256(pairs, _mm256_set1_epi32(0xffff_0000_u32 as i32));
            Self(_mm256_castsi256_ps(_mm256_slli_epi32::<16>(pairs)), _mm256_castsi256_ps(odd))
        }
    }
}

impl Vector for Bf16Lanes {
    type Element = bf16;
    type Sum = __m256;
    type Total = f32;
    type Tail = Tail;
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn load(at: *const bf16) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::split(_mm256_loadu_si256(at.cast())) }
    }
    #[inline(always)]
    unsafe fn tail(dim: usize) -> Tail {
        tail::<bf16>(dim, Self::LANES)
    }
    #[inline(always)]
    unsafe fn load_tail(vector: *const bf16, tail: Tail) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::split(tail_256(vector.cast(), tail)) }
    }
    #[inline(always)]
    unsafe fn zero() -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_setzero_ps() }
    }
    #[inline(always)]
    unsafe fn add_product(sum: __m256, a: Self, b: Self) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_fmadd_ps(a.1, b.1, _mm256_fmadd_ps(a.0, b.0, sum)) }
    }
    #[inline(always)]
    unsafe fn add_difference(sum: __m256, a: Self, b: Self) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe {
            let (even, odd) = (_mm256_sub_ps(a.0, b.0), _mm256_sub_ps(a.1, b.1));
            _mm256_fmadd_ps(odd, odd, _mm256_fmadd_ps(even, even, sum))
        }
    }
    #[inline(always)]
    unsafe fn merge(a: __m256, b: __m256) -> __m256 {
        // SAFETY: the caller's promise.
        unsafe { _mm256_add_ps(a, b) }
    }
    #[inline(always)]
    unsafe fn totals<const R: usize>(sums: [__m256; R]) -> [f32; R] {
        // SAFETY: the caller's promise.
        unsafe { floats(sums) }
    }
}

/// Sixteen bytes as i16, whose products are added in pairs.
macro_rules! byte_lanes {
    ($name:ident: $element:ty, $widen:ident) => {
        #[derive(Clone, Copy)]
        pub(super) struct $name(__m256i);

        impl Vector for $name {
            integer_sums!();
            type Element = $element;
            const LANES: usize = 16;

            #[inline(always)]
            unsafe fn load(at: *const $element) -> Self {
                // SAFETY: the caller's promise.
                Self(unsafe { $widen(_mm_loadu_si128(at.cast())) })
            }
            #[inline(always)]
            unsafe fn tail(dim: usize) -> Tail {
                tail::<$element>(dim, Self::LANES)
            }
            #[inline(always)]
            unsafe fn load_tail(vector: *const $element, tail: Tail) -> Self {
                // SAFETY: the caller's promise.
                Self(unsafe { $widen(tail_128(vector.cast(), tail)) })
            }
            #[inline(always)]
            unsafe fn add_product(sum: __m256i, a: Self, b: Self) -> __m256i {
                // SAFETY: the caller's promise.
                unsafe { _mm256_add_epi32(sum, _mm256_madd_epi16(a.0, b.0)) }
            }
            #[inline(always)]
            unsafe fn add_difference(sum: __m256i, a: Self, b: Self) -> __m256i {
                // SAFETY: the caller's promise.
                unsafe {
                    let difference = _mm256_sub_epi16(a.0, b.0);
                    _mm256_add_epi32(sum, _mm256_madd_epi16(difference, difference))
                }
            }
        }
    };
}

byte_lanes!(I8Lanes: i8, _mm256_cvtepi8_epi16);
byte_lanes!(U8Lanes: u8, _mm256_cvtepu8_epi16);

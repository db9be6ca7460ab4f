//! Distances in registers of 256 bits.
//!
//! AVX2 reads no 16-bit or 8-bit lanes under a mask. So the last part of a vector is a whole one that ends with it,
//! and the lanes that were met before are set to zero; a vector shorter than one part is copied.

use core::arch::x86_64::*;

use half::{bf16, f16};

use super::sums::{doubles, floats, integers};
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
pub(crate) const HAMMING: Kernels<u8> = kernels::<SquaredL2<BitLanes>, 4>();
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

/// How many bytes a vector has, and how many of them follow its last whole part.
type Tail = (usize, usize);

const fn tail<T>(dim: usize, lanes: usize) -> Tail {
    (dim * size_of::<T>(), dim % lanes * size_of::<T>())
}

/// Ones of which the last `n` bytes are loaded, after zeros, by a load of 32 bytes that begins `n` bytes after the
/// start.
static MASKS: [u8; 64] = {
    let mut masks = [0; 64];
    let mut i = 32;
    while i < 64 {
        masks[i] = 0xff;
        i += 1;
    }
    masks
};

/// The last `rest` bytes of the `len` at `vector`, and zeros: the last 32 bytes if there are as many, with zeros
/// first, or with zeros after them.
///
/// # Safety
/// AVX2 is there; `vector` has `len` bytes; `rest` is at most `len` and less than 32.
#[inline(always)]
unsafe fn tail_256(vector: *const u8, (len, rest): Tail) -> __m256i {
    // SAFETY: the caller's promise: the loads end with the vector and begin in it, and the mask begins before byte 32.
    unsafe {
        if len >= 32 {
            let mask = _mm256_loadu_si256(MASKS.as_ptr().add(rest).cast());
            _mm256_and_si256(_mm256_loadu_si256(vector.add(len - 32).cast()), mask)
        } else {
            let mut bytes = [0u8; 32];
            for (i, byte) in bytes.iter_mut().enumerate().take(rest) {
                *byte = vector.add(len - rest + i).read();
            }
            _mm256_loadu_si256(bytes.as_ptr().cast())
        }
    }
}

/// The same with 16 bytes.
///
/// # Safety
/// AVX2 is there; `vector` has `len` bytes; `rest` is at most `len` and less than 16.
#[inline(always)]
unsafe fn tail_128(vector: *const u8, (len, rest): Tail) -> __m128i {
    // SAFETY: the caller's promise: the loads end with the vector and begin in it, and the mask begins before byte 32.
    unsafe {
        if len >= 16 {
            let mask = _mm_loadu_si128(MASKS.as_ptr().add(16 + rest).cast());
            _mm_and_si128(_mm_loadu_si128(vector.add(len - 16).cast()), mask)
        } else {
            let mut bytes = [0u8; 16];
            for (i, byte) in bytes.iter_mut().enumerate().take(rest) {
                *byte = vector.add(len - rest + i).read();
            }
            _mm_loadu_si128(bytes.as_ptr().cast())
        }
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

/// Sums of integers in eight lanes.
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

/// Two hundred and fifty-six bits. Their number is looked up for each half of a byte.
#[derive(Clone, Copy)]
struct BitLanes(__m256i);

/// Adds the number of bits of each eight bytes, which leaves the upper halves of the sums zero.
///
/// # Safety
/// AVX2 is there.
#[inline(always)]
unsafe fn add_ones(sum: __m256i, bits: __m256i) -> __m256i {
    // SAFETY: the caller's promise.
    unsafe {
        let ones = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
        let half = _mm256_set1_epi8(15);
        let low = _mm256_shuffle_epi8(ones, _mm256_and_si256(bits, half));
        let high = _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16::<4>(bits), half));
        let counts = _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
        _mm256_add_epi32(sum, counts)
    }
}

impl Vector for BitLanes {
    integer_sums!();
    type Element = u8;
    const LANES: usize = 32;

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm256_loadu_si256(at.cast()) })
    }
    #[inline(always)]
    unsafe fn tail(dim: usize) -> Tail {
        tail::<u8>(dim, Self::LANES)
    }
    #[inline(always)]
    unsafe fn load_tail(vector: *const u8, tail: Tail) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { tail_256(vector, tail) })
    }
    /// Bits that both have.
    #[inline(always)]
    unsafe fn add_product(sum: __m256i, a: Self, b: Self) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { add_ones(sum, _mm256_and_si256(a.0, b.0)) }
    }
    /// Bits that one of them has.
    #[inline(always)]
    unsafe fn add_difference(sum: __m256i, a: Self, b: Self) -> __m256i {
        // SAFETY: the caller's promise.
        unsafe { add_ones(sum, _mm256_xor_si256(a.0, b.0)) }
    }
}

//! Distances between vectors of bytes: AVX-512 with VNNI, and VPOPCNTDQ for the bits that differ.
//!
//! VPDPBUSD adds products of unsigned with signed bytes. A byte serves as both, by turning over its upper bit:
//!
//! ```text
//!        unsigned u    signed s        dot product with q                squares
//! u8     v             v − 128     Σ q·s = Σ q·v − 128·Σ q      Σ u·s + Σ 128·s    = Σ v² − 16384·n
//! i8     v + 128       v           Σ u·q = Σ q·v + 128·Σ q      Σ u·s + Σ u·(−128) = Σ v² − 16384·n
//! ```
//!
//! What is too much is known from the query and the number of lanes n (those past the end of a vector are zero and
//! count). The squared distance is Σ q² + Σ v² − 2·Σ q·v, which is exact in integers.

use core::{arch::x86_64::*, marker::PhantomData};

use super::{
    distance::tail,
    distance_bits::{BitLanes, many_bits},
    sums::integers,
};
use crate::{
    arch::{
        all::{
            distance::{self, Measure},
            distance_kernels::{Kernels, entry_points},
            measure::{SquaredL2, Total},
        },
        x86_64::{
            avx2::distance::{I8_PRODUCT, U8_PRODUCT},
            detect,
        },
    },
    distance::DistanceTable,
    isa::Isa,
};

entry_points!("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vpopcntdq,avx2,fma,f16c");

/// Rows of a block.
const ROWS: usize = 8;

pub(crate) static I8: DistanceTable<i8> = DistanceTable {
    isa: Isa::Avx512,
    l2: kernels::<WithSquares<i8, false>, ROWS>(),
    cosine: kernels::<WithSquares<i8, true>, ROWS>(),
    dot: kernels::<Products<i8, true>, ROWS>(),
    product: kernels::<Products<i8, false>, ROWS>(),
    wide_product: I8_PRODUCT,
    hamming: HAMMING,
};

pub(crate) static U8: DistanceTable<u8> = DistanceTable {
    isa: Isa::Avx512,
    l2: kernels::<WithSquares<u8, false>, ROWS>(),
    cosine: kernels::<WithSquares<u8, true>, ROWS>(),
    dot: kernels::<Products<u8, true>, ROWS>(),
    product: kernels::<Products<u8, false>, ROWS>(),
    wide_product: U8_PRODUCT,
    hamming: HAMMING,
};

// SAFETY: the tables of this module are handed out only where its instruction set is there.
const HAMMING: Kernels<u8> = unsafe {
    Kernels::new(one::<SquaredL2<BitLanes>>, many_bits::<ROWS>, pointed::<SquaredL2<BitLanes>, ROWS>)
};

/// Whether this machine has what these need beyond [`Isa::Avx512`].
pub(crate) fn has_instructions() -> bool {
    detect::vnni() && detect::vpopcntdq()
}

/// Bytes of a register.
const LANES: usize = 64;

/// A byte, signed or not.
///
/// # Safety
/// As for [`Measure`].
trait Byte: Copy {
    /// 128 as the factor of the operand that is the byte as it is, to undo the shift of the other.
    const SHIFT: i32;

    fn value(self) -> i32;
    /// Sixty-four of them as unsigned and as signed operands, of which one is shifted by 128.
    unsafe fn operands(bytes: __m512i) -> (__m512i, __m512i);
    /// Adds products of a row, as operands, with a query as it is.
    unsafe fn add_products(sum: __m512i, query: __m512i, row: (__m512i, __m512i)) -> __m512i;
    /// Adds squares of a row, less 128² for each lane.
    unsafe fn add_squares(sum: __m512i, row: (__m512i, __m512i)) -> __m512i;
}

#[inline(always)]
unsafe fn shifted(bytes: __m512i) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_xor_si512(bytes, _mm512_set1_epi8(-128)) }
}

impl Byte for u8 {
    const SHIFT: i32 = 128;

    #[inline(always)]
    fn value(self) -> i32 {
        i32::from(self)
    }
    #[inline(always)]
    unsafe fn operands(bytes: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller's promise.
        (bytes, unsafe { shifted(bytes) })
    }
    #[inline(always)]
    unsafe fn add_products(sum: __m512i, query: __m512i, (_, signed): (__m512i, __m512i)) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_dpbusd_epi32(sum, query, signed) }
    }
    #[inline(always)]
    unsafe fn add_squares(sum: __m512i, (unsigned, signed): (__m512i, __m512i)) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let sum = _mm512_dpbusd_epi32(sum, unsigned, signed);
            _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(-128), signed) // 128, unsigned
        }
    }
}

impl Byte for i8 {
    const SHIFT: i32 = -128;

    #[inline(always)]
    fn value(self) -> i32 {
        i32::from(self)
    }
    #[inline(always)]
    unsafe fn operands(bytes: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller's promise.
        (unsafe { shifted(bytes) }, bytes)
    }
    #[inline(always)]
    unsafe fn add_products(sum: __m512i, query: __m512i, (unsigned, _): (__m512i, __m512i)) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_dpbusd_epi32(sum, unsigned, query) }
    }
    #[inline(always)]
    unsafe fn add_squares(sum: __m512i, (unsigned, signed): (__m512i, __m512i)) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe {
            let sum = _mm512_dpbusd_epi32(sum, unsigned, signed);
            _mm512_dpbusd_epi32(sum, unsigned, _mm512_set1_epi8(-128))
        }
    }
}

/// What is known of the whole query: what a sum of products lacks, its squared norm, and what a sum of squares lacks.
#[derive(Clone, Copy)]
struct Whole {
    products: i32,
    norm: i32,
    squares: i32,
}

impl Whole {
    /// # Safety
    /// `query` has `dim` elements.
    #[inline(always)]
    unsafe fn of<B: Byte>(query: *const B, dim: usize) -> Whole {
        // SAFETY: the caller's promise.
        let query = unsafe { core::slice::from_raw_parts(query, dim) };
        let (mut sum, mut norm) = (0i32, 0i32);
        for value in query {
            let value = value.value();
            sum = sum.wrapping_add(value);
            norm = norm.wrapping_add(value * value);
        }
        let lanes = dim.next_multiple_of(LANES) as i32;
        Whole { products: sum.wrapping_mul(B::SHIFT), norm, squares: lanes.wrapping_mul(128 * 128) }
    }
}

/// What both measures of bytes share.
macro_rules! parts {
    () => {
        type Element = B;
        type Part = __m512i;
        type Query = __m512i;
        type Tail = (usize, u64);
        type Whole = Whole;
        const LANES: usize = LANES;

        #[inline(always)]
        unsafe fn whole(query: *const B, dim: usize) -> Whole {
            // SAFETY: the caller's promise.
            unsafe { Whole::of(query, dim) }
        }
        #[inline(always)]
        unsafe fn tail(dim: usize) -> (usize, u64) {
            tail(dim, LANES)
        }
        #[inline(always)]
        unsafe fn load(at: *const B) -> __m512i {
            // SAFETY: the caller's promise.
            unsafe { _mm512_loadu_si512(at.cast()) }
        }
        #[inline(always)]
        unsafe fn load_tail(vector: *const B, (start, mask): (usize, u64)) -> __m512i {
            // SAFETY: the caller's promise; a masked load reads only the lanes of the mask.
            unsafe { _mm512_maskz_loadu_epi8(mask, vector.add(start).cast()) }
        }
        #[inline(always)]
        unsafe fn ready(part: __m512i) -> __m512i {
            part
        }
    };
}

/// The dot product; `DISTANCE` takes it from 1.
struct Products<B, const DISTANCE: bool>(PhantomData<B>);

impl<B: Byte, const DISTANCE: bool> Measure for Products<B, DISTANCE> {
    parts!();
    type Sums = __m512i;

    #[inline(always)]
    unsafe fn zero() -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_setzero_si512() }
    }
    #[inline(always)]
    unsafe fn add(sum: __m512i, query: __m512i, row: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { B::add_products(sum, query, B::operands(row)) }
    }
    #[inline(always)]
    unsafe fn merge(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_epi32(a, b) }
    }
    #[inline(always)]
    unsafe fn finish<const R: usize>(whole: Whole, sums: [__m512i; R]) -> [f32; R] {
        // SAFETY: the caller's promise.
        let totals = unsafe { integers(sums) };
        let mut out = [0.0; R];
        for r in 0..R {
            let product = totals[r].wrapping_add(whole.products);
            out[r] = if DISTANCE { product.taken_from_one() } else { product.value() };
        }
        out
    }
}

/// The squared distance, or one minus the cosine: products and the squares of the row.
struct WithSquares<B, const COSINE: bool>(PhantomData<B>);

impl<B: Byte, const COSINE: bool> Measure for WithSquares<B, COSINE> {
    parts!();
    /// Products and squares.
    type Sums = (__m512i, __m512i);

    #[inline(always)]
    unsafe fn zero() -> Self::Sums {
        // SAFETY: the caller's promise.
        unsafe { (_mm512_setzero_si512(), _mm512_setzero_si512()) }
    }
    #[inline(always)]
    unsafe fn add(sums: Self::Sums, query: __m512i, row: __m512i) -> Self::Sums {
        // SAFETY: the caller's promise.
        unsafe {
            let row = B::operands(row);
            (B::add_products(sums.0, query, row), B::add_squares(sums.1, row))
        }
    }
    #[inline(always)]
    unsafe fn merge(a: Self::Sums, b: Self::Sums) -> Self::Sums {
        // SAFETY: the caller's promise.
        unsafe { (_mm512_add_epi32(a.0, b.0), _mm512_add_epi32(a.1, b.1)) }
    }
    #[inline(always)]
    unsafe fn finish<const R: usize>(whole: Whole, sums: [Self::Sums; R]) -> [f32; R] {
        let mut out = [0.0; R];
        // SAFETY: the caller's promise.
        unsafe {
            let (mut products, mut squares) = ([_mm512_setzero_si512(); R], [_mm512_setzero_si512(); R]);
            for r in 0..R {
                (products[r], squares[r]) = sums[r];
            }
            if COSINE {
                let (products, squares) = (integers(products), integers(squares));
                for r in 0..R {
                    let product = products[r].wrapping_add(whole.products);
                    out[r] = product.cosine(whole.norm, squares[r].wrapping_add(whole.squares));
                }
            } else {
                // Σ v² − 2·Σ q·v, lane by lane, so that only one register of each row is summed up.
                for r in 0..R {
                    let twice = _mm512_add_epi32(products[r], products[r]);
                    squares[r] = _mm512_sub_epi32(squares[r], twice);
                }
                let totals = integers(squares);
                let lacks =
                    whole.norm.wrapping_add(whole.squares).wrapping_sub(whole.products.wrapping_mul(2));
                for r in 0..R {
                    out[r] = totals[r].wrapping_add(lacks).value();
                }
            }
        }
        out
    }
}

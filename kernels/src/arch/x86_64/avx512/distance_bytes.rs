//! Distances between vectors of bytes, and bits that differ: AVX-512 with VNNI and VPOPCNTDQ.
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

use super::{distance::tail, sums::integers};
use crate::{
    arch::{
        all::{
            distance::{self, Measure},
            distance_kernels::{Kernels, entry_points},
            measure::{SquaredL2, Total, Vector},
            prefetch,
        },
        x86_64::avx2::distance::{I8_PRODUCT, U8_PRODUCT},
    },
    distance::DistanceTable,
    isa::{Extensions, Isa},
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
const HAMMING: Kernels<u8> =
    unsafe { Kernels::new(one::<SquaredL2<BitLanes>>, many_bits, pointed::<SquaredL2<BitLanes>, ROWS>) };

/// [`distance::many`] of bits that differ, with ways of their own for rows of 128 and 256 bits, of which several fill a
/// register.
///
/// # Safety
/// As [`distance::many`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vpopcntdq,avx2,fma,f16c")]
unsafe fn many_bits(
    query: *const u8,
    dim: usize,
    rows: *const u8,
    pitch: usize,
    count: usize,
    out: *mut f32,
) {
    // SAFETY: the caller's promise; `done` is at most `count`.
    unsafe {
        let done = match (dim, pitch) {
            (16, 16) => many_128_bits(query, rows, count, out),
            (32, 32) => many_256_bits(query, rows, count, out),
            _ => 0,
        };
        let rows = rows.wrapping_add(done * pitch);
        distance::many::<SquaredL2<BitLanes>, ROWS>(query, dim, rows, pitch, count - done, out.add(done));
    }
}

/// Bits that differ, of rows of 16 bytes without gaps, as long as there are sixteen of them; returns how many were done.
///
/// # Safety
/// `query` has 16 bytes, `rows` has `count` times as many, `out` takes `count` numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
unsafe fn many_128_bits(query: *const u8, rows: *const u8, count: usize, out: *mut f32) -> usize {
    let done = count - count % 16;
    // SAFETY: the caller's promise: sixteen rows from the `i`-th are there, and sixteen numbers are taken.
    unsafe {
        let query = _mm512_broadcast_i32x4(_mm_loadu_si128(query.cast()));
        let lanes = _mm512_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12);
        let shifts = _mm512_setr_epi32(0, 0, 0, 0, 8, 8, 8, 8, 16, 16, 16, 16, 24, 24, 24, 24);
        for i in (0..done).step_by(16) {
            // Both halves of four rows; a half has at most 64 ones, so four counts share a lane.
            let ones = |four: usize| {
                let at = rows.add((i + 4 * four) * 16);
                prefetch::read(at.wrapping_add(4096));
                let rows = _mm512_loadu_si512(at.cast());
                _mm512_popcnt_epi64(_mm512_xor_si512(rows, query))
            };
            let pair = _mm512_or_si512(ones(0), _mm512_slli_epi64::<8>(ones(1)));
            let other = _mm512_or_si512(ones(2), _mm512_slli_epi64::<8>(ones(3)));
            let halves = _mm512_or_si512(pair, _mm512_slli_epi64::<16>(other));
            let counts = _mm512_add_epi32(halves, _mm512_shuffle_epi32::<0b01_00_11_10>(halves));
            // Byte `j` of the `i`-th quarter belongs to row `4·j + i`.
            let spread = _mm512_srlv_epi32(_mm512_permutexvar_epi32(lanes, counts), shifts);
            let counts = _mm512_and_si512(spread, _mm512_set1_epi32(0xff));
            _mm512_storeu_ps(out.add(i), _mm512_cvtepi32_ps(counts));
        }
    }
    done
}

/// Bits that differ, of rows of 32 bytes without gaps, as long as there are eight of them; returns how many were done.
///
/// # Safety
/// `query` has 32 bytes, `rows` has `count` times as many, `out` takes `count` numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq,avx2")]
unsafe fn many_256_bits(query: *const u8, rows: *const u8, count: usize, out: *mut f32) -> usize {
    let done = count - count % 8;
    // SAFETY: the caller's promise: eight rows from the `i`-th are there, and eight numbers are taken.
    unsafe {
        let query = _mm512_broadcast_i64x4(_mm256_loadu_si256(query.cast()));
        let lanes = _mm512_setr_epi32(0, 8, 0, 8, 1, 9, 1, 9, 0, 0, 0, 0, 0, 0, 0, 0);
        let shifts = _mm256_setr_epi32(0, 0, 16, 16, 0, 0, 16, 16);
        for i in (0..done).step_by(8) {
            // The quarters of two rows; the ones of a row are at most 256, so four counts share a lane.
            let ones = |two: usize| {
                let at = rows.add((i + 2 * two) * 32);
                prefetch::read(at.wrapping_add(4096));
                let rows = _mm512_loadu_si512(at.cast());
                _mm512_popcnt_epi64(_mm512_xor_si512(rows, query))
            };
            let pair = _mm512_or_si512(ones(0), _mm512_slli_epi64::<16>(ones(1)));
            let other = _mm512_or_si512(ones(2), _mm512_slli_epi64::<16>(ones(3)));
            let quarters = _mm512_or_si512(pair, _mm512_slli_epi64::<32>(other));
            let halves = _mm512_add_epi32(quarters, _mm512_shuffle_epi32::<0b01_00_11_10>(quarters));
            let counts = _mm512_add_epi32(halves, _mm512_shuffle_i64x2::<0b10_11_00_01>(halves, halves));
            // The 16 bits `j` of half `i` belong to row `2·j + i`.
            let spread = _mm512_castsi512_si256(_mm512_permutexvar_epi32(lanes, counts));
            let counts = _mm256_and_si256(_mm256_srlv_epi32(spread, shifts), _mm256_set1_epi32(0xffff));
            _mm256_storeu_ps(out.add(i), _mm256_cvtepi32_ps(counts));
        }
    }
    done
}

/// Whether this machine has what these need beyond [`Isa::Avx512`].
pub(crate) fn has_instructions() -> bool {
    let extensions = Extensions::available();
    extensions.vnni && extensions.vpopcntdq
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

/// Five hundred and twelve bits.
#[derive(Clone, Copy)]
struct BitLanes(__m512i);

impl Vector for BitLanes {
    type Element = u8;
    type Sum = __m512i;
    type Total = i32;
    type Tail = (usize, u64);
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { _mm512_loadu_si512(at.cast()) })
    }
    #[inline(always)]
    unsafe fn tail(dim: usize) -> (usize, u64) {
        tail(dim, LANES)
    }
    #[inline(always)]
    unsafe fn load_tail(vector: *const u8, (start, mask): (usize, u64)) -> Self {
        // SAFETY: the caller's promise; a masked load reads only the lanes of the mask.
        Self(unsafe { _mm512_maskz_loadu_epi8(mask, vector.add(start).cast()) })
    }
    #[inline(always)]
    unsafe fn zero() -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_setzero_si512() }
    }
    /// Bits that both have.
    #[inline(always)]
    unsafe fn add_product(sum: __m512i, a: Self, b: Self) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_and_si512(a.0, b.0))) }
    }
    /// Bits that one of them has.
    #[inline(always)]
    unsafe fn add_difference(sum: __m512i, a: Self, b: Self) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_xor_si512(a.0, b.0))) }
    }
    #[inline(always)]
    unsafe fn merge(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller's promise.
        unsafe { _mm512_add_epi64(a, b) }
    }
    #[inline(always)]
    unsafe fn totals<const R: usize>(sums: [__m512i; R]) -> [i32; R] {
        // SAFETY: the caller's promise. Counts of less than 2³² leave the upper halves of the lanes zero.
        unsafe { integers(sums) }
    }
}

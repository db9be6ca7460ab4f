//! Distances over the registers of `wide`: those of the target that a program is compiled for.

use half::{bf16, f16};
use wide::{f32x8, f64x4, i8x16, i16x16, i32x8, u8x16, u16x8, u32x8};

use crate::{
    arch::all::{
        bit_words::BitWords,
        distance::{self, Measure},
        distance_kernels::{Kernels, WideProduct, entry_points, wide_products},
        measure::{Cosine, Product, SquaredL2, Total, Vector},
    },
    distance::DistanceTable,
    isa::Isa,
};

entry_points!();
wide_products!();

/// Rows of a block: with more of them the sums leave the registers of a machine that has sixteen of 128 bits.
const ROWS: usize = 4;

pub(crate) static F32: DistanceTable<f32> = table::<F32Lanes>();
pub(crate) static F64: DistanceTable<f64> = table::<F64Lanes>();
pub(crate) static F16: DistanceTable<f16> = table::<F16Lanes>();
pub(crate) static BF16: DistanceTable<bf16> = table::<Bf16Lanes>();
pub(crate) static I8: DistanceTable<i8> = table::<I8Lanes>();
pub(crate) static U8: DistanceTable<u8> = table::<U8Lanes>();

const fn table<V: Vector>() -> DistanceTable<V::Element> {
    DistanceTable {
        isa: Isa::Portable,
        l2: kernels::<SquaredL2<V>, ROWS>(),
        cosine: kernels::<Cosine<V>, ROWS>(),
        dot: kernels::<Product<V, true>, ROWS>(),
        product: kernels::<Product<V, false>, ROWS>(),
        wide_product: wide_product::<V>(),
        hamming: kernels::<SquaredL2<BitWords>, ROWS>(),
    }
}

/// A [`Vector`] in a register of `wide`: elements that `$widen` makes one, and what of two registers is added to a sum.
macro_rules! lanes {
    ($name:ident: [$element:ty; $lanes:literal] as $register:ty, $sum:ty, $total:ty,
        $widen:expr, $product:expr, $difference:expr) => {
        #[derive(Clone, Copy)]
        pub(super) struct $name($register);

        impl Vector for $name {
            type Element = $element;
            type Sum = $sum;
            type Total = $total;
            /// The first element and how many.
            type Tail = (usize, usize);
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(at: *const $element) -> Self {
                // SAFETY: the caller's promise; an array is as aligned as its items.
                Self($widen(unsafe { at.cast::<[$element; $lanes]>().read() }))
            }
            #[inline(always)]
            unsafe fn tail(dim: usize) -> (usize, usize) {
                (dim - dim % $lanes, dim % $lanes)
            }
            #[inline(always)]
            unsafe fn load_tail(vector: *const $element, (start, count): (usize, usize)) -> Self {
                let mut elements = [<$element>::default(); $lanes];
                for (i, element) in elements.iter_mut().enumerate().take(count) {
                    // SAFETY: the caller's promise: `start + count` elements are there.
                    *element = unsafe { vector.add(start + i).read() };
                }
                Self($widen(elements))
            }
            #[inline(always)]
            unsafe fn zero() -> $sum {
                <$sum>::default()
            }
            #[inline(always)]
            unsafe fn add_product(sum: $sum, a: Self, b: Self) -> $sum {
                sum + $product(a.0, b.0)
            }
            #[inline(always)]
            unsafe fn add_difference(sum: $sum, a: Self, b: Self) -> $sum {
                sum + $difference(a.0, b.0)
            }
            #[inline(always)]
            unsafe fn merge(a: $sum, b: $sum) -> $sum {
                a + b
            }
            #[inline(always)]
            unsafe fn totals<const R: usize>(sums: [$sum; R]) -> [$total; R] {
                sums.map(|sum| sum.reduce_add())
            }
        }
    };
}

/// Lanes of floats, which round.
macro_rules! float_lanes {
    ($name:ident: [$element:ty; $lanes:literal] as $register:ty, $total:ty, $widen:expr) => {
        lanes!($name: [$element; $lanes] as $register, $register, $total, $widen,
            |a: $register, b: $register| a * b,
            |a: $register, b: $register| (a - b) * (a - b));
    };
}

float_lanes!(F32Lanes: [f32; 8] as f32x8, f32, f32x8::new);
float_lanes!(F64Lanes: [f64; 4] as f64x4, f64, f64x4::new);
float_lanes!(F16Lanes: [f16; 8] as f32x8, f32, widen);
// A bf16 is the upper half of an f32.
float_lanes!(Bf16Lanes: [bf16; 8] as f32x8, f32, |elements| bytemuck::cast(bits_of(elements) << 16));

/// Lanes of bytes. No sum of products of bytes leaves 32 bits within [`LONGEST`](crate::distance::Element) elements.
macro_rules! byte_lanes {
    ($name:ident: $element:ty as $bytes:ident) => {
        lanes!($name: [$element; 16] as i16x16, i32x8, i32,
            |elements: [$element; 16]| i16x16::from($bytes::new(elements)),
            i16x16::dot,
            |a: i16x16, b: i16x16| (a - b).dot(a - b));
    };
}

byte_lanes!(I8Lanes: i8 as i8x16);
byte_lanes!(U8Lanes: u8 as u8x16);

/// The bits of 16-bit numbers, each in a lane of 32.
#[inline(always)]
fn bits_of<T: bytemuck::Pod>(elements: [T; 8]) -> u32x8 {
    u32x8::from(u16x8::new(bytemuck::cast(elements)))
}

/// Halves as f32, without a branch.
#[inline(always)]
fn widen(halves: [f16; 8]) -> f32x8 {
    let bits = bits_of(halves);
    let sign = (bits & u32x8::splat(0x8000)) << 16;
    let rest = (bits & u32x8::splat(0x7fff)) << 13;
    // The exponents differ by 127 − 15; a product with that power of two makes denormals normal, too.
    let scale = f32x8::splat(f32::from_bits((127 + 112) << 23));
    let finite: u32x8 = bytemuck::cast(bytemuck::cast::<u32x8, f32x8>(rest) * scale);
    // Compared as signed numbers, which they are not too large for.
    let (rest, least): (i32x8, i32x8) = (bytemuck::cast(rest), i32x8::splat((0x7c00 << 13) - 1));
    let is_endless: u32x8 = bytemuck::cast(rest.simd_gt(least));
    let endless = bytemuck::cast::<i32x8, u32x8>(rest) | u32x8::splat(0x7f80_0000);
    bytemuck::cast(sign | (is_endless & endless) | (!is_endless & finite))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::Metric;
    use std::vec::Vec;

    /// Small whole numbers, whose sums are exact in any order, in slices without a byte to spare.
    fn check<T: crate::distance::Element>(table: &DistanceTable<T>, number: impl Fn(i8) -> T) {
        let dims = [0, 1, 3, 4, 8, 15, 16, 17, 37];
        for dim in dims.into_iter().step_by(if cfg!(miri) { 4 } else { 1 }) {
            for count in [1, 2, 5] {
                let small = |i: usize| (i * 7 % 11) as i8;
                let query: Vec<T> = (0..dim).map(|i| number(small(i + 3))).collect();
                let rows: Vec<T> = (0..dim * count).map(|i| number(small(i))).collect();
                let ids: Vec<u64> = (0..count as u64).rev().collect();
                let sum = |row: usize, term: fn(i32, i32) -> i32| {
                    let pair = |i| (i32::from(small(i + 3)), i32::from(small(row * dim + i)));
                    (0..dim).map(pair).map(|(q, v)| term(q, v)).sum::<i32>() as f32
                };
                let mut out = std::vec![f32::NAN; count];
                table.distances(Metric::L2, &query, &rows, dim, &mut out);
                let expected: Vec<f32> = (0..count).map(|row| sum(row, |q, v| (q - v) * (q - v))).collect();
                assert_eq!(out, expected, "L2, {dim} × {count}");
                table.distances_of(Metric::L2, &query, &rows, dim, &ids, &mut out);
                assert!(out.iter().eq(expected.iter().rev()), "L2 picked, {dim} × {count}");
                table.dots(&query, &rows, dim, &mut out);
                let expected: Vec<f32> = (0..count).map(|row| sum(row, |q, v| q * v)).collect();
                assert_eq!(out, expected, "dot, {dim} × {count}");
                assert_eq!(table.dot(&query, &rows[..dim]), expected[0]);
                table.distances(Metric::Hamming, &query, &rows, dim, &mut out);
                table.distances(Metric::Cosine, &query, &rows, dim, &mut out);
            }
        }
    }

    #[test]
    fn whole_numbers_are_exact() {
        check(&F32, f32::from);
        check(&F64, f64::from);
        check(&F16, f16::from);
        check(&BF16, bf16::from);
        check(&I8, |x| x);
        check(&U8, |x| x as u8);
    }

    #[test]
    fn every_half_is_widened_right() {
        for bits in (0..=u16::MAX).step_by(if cfg!(miri) { 97 } else { 1 }) {
            let half = f16::from_bits(bits);
            let wide = widen([half; 8]).to_array()[0];
            assert!(wide == half.to_f32() || wide.is_nan() && half.is_nan(), "{bits:#x}");
            assert_eq!(wide.is_sign_negative(), half.is_sign_negative(), "{bits:#x}");
        }
    }
}

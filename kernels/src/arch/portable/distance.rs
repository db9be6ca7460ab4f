//! Distances over arrays of lanes.

use half::{bf16, f16};

use crate::{
    arch::all::{
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
        hamming: kernels::<SquaredL2<BitLanes>, ROWS>(),
    }
}

/// A [`Vector`] of lanes in an array: `$element`s that `$widen` makes `$lane`s, and what of two lanes is added to a
/// sum, for `$product` and `$difference`.
macro_rules! lanes {
    ($name:ident: $element:ty as [$lane:ty; $lanes:literal], $total:ty,
        $widen:expr, $add:expr, $product:expr, $difference:expr) => {
        #[derive(Clone, Copy)]
        pub(super) struct $name([$lane; $lanes]);

        impl Vector for $name {
            type Element = $element;
            type Sum = [$total; $lanes];
            type Total = $total;
            /// The first element and how many.
            type Tail = (usize, usize);
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(at: *const $element) -> Self {
                // SAFETY: the caller's promise; an array is as aligned as its items.
                Self(unsafe { at.cast::<[$element; $lanes]>().read() }.map($widen))
            }
            #[inline(always)]
            unsafe fn tail(dim: usize) -> (usize, usize) {
                (dim - dim % $lanes, dim % $lanes)
            }
            #[inline(always)]
            unsafe fn load_tail(vector: *const $element, (start, count): (usize, usize)) -> Self {
                let mut lanes = [<$lane>::default(); $lanes];
                for (i, lane) in lanes.iter_mut().enumerate().take(count) {
                    // SAFETY: the caller's promise: `start + count` elements are there.
                    *lane = $widen(unsafe { vector.add(start + i).read() });
                }
                Self(lanes)
            }
            #[inline(always)]
            unsafe fn zero() -> Self::Sum {
                [<$total>::default(); $lanes]
            }
            #[inline(always)]
            unsafe fn add_product(mut sum: Self::Sum, a: Self, b: Self) -> Self::Sum {
                for i in 0..$lanes {
                    sum[i] = $add(sum[i], $product(a.0[i], b.0[i]));
                }
                sum
            }
            #[inline(always)]
            unsafe fn add_difference(mut sum: Self::Sum, a: Self, b: Self) -> Self::Sum {
                for i in 0..$lanes {
                    sum[i] = $add(sum[i], $difference(a.0[i], b.0[i]));
                }
                sum
            }
            #[inline(always)]
            unsafe fn merge(mut a: Self::Sum, b: Self::Sum) -> Self::Sum {
                for i in 0..$lanes {
                    a[i] = $add(a[i], b[i]);
                }
                a
            }
            #[inline(always)]
            unsafe fn totals<const R: usize>(sums: [Self::Sum; R]) -> [$total; R] {
                sums.map(|mut lanes| {
                    let mut half = $lanes / 2;
                    while half > 0 {
                        for i in 0..half {
                            lanes[i] = $add(lanes[i], lanes[i + half]);
                        }
                        half /= 2;
                    }
                    lanes[0]
                })
            }
        }
    };
}

/// Lanes of floats, which round.
macro_rules! float_lanes {
    ($name:ident: $element:ty as [$lane:ty; $lanes:literal], $widen:expr) => {
        lanes!($name: $element as [$lane; $lanes], $lane, $widen,
            |a: $lane, b: $lane| a + b,
            |a: $lane, b: $lane| a * b,
            |a: $lane, b: $lane| (a - b) * (a - b));
    };
}

float_lanes!(F32Lanes: f32 as [f32; 8], |x: f32| x);
float_lanes!(F64Lanes: f64 as [f64; 4], |x: f64| x);
float_lanes!(F16Lanes: f16 as [f32; 8], widen);
float_lanes!(Bf16Lanes: bf16 as [f32; 8], |x: bf16| f32::from_bits(u32::from(x.to_bits()) << 16));

/// Lanes of bytes. No sum of products of bytes leaves 32 bits within [`LONGEST`](crate::distance::Element) elements.
macro_rules! byte_lanes {
    ($name:ident: $element:ty) => {
        lanes!($name: $element as [i16; 16], i32, i16::from,
            i32::wrapping_add,
            |a: i16, b: i16| i32::from(a) * i32::from(b),
            |a: i16, b: i16| i32::from(a - b) * i32::from(a - b));
    };
}

byte_lanes!(I8Lanes: i8);
byte_lanes!(U8Lanes: u8);

// The product of two bits is their conjunction, the squared difference that they differ.
lanes!(BitLanes: u8 as [u8; 16], i32, |x: u8| x,
    i32::wrapping_add,
    |a: u8, b: u8| (a & b).count_ones() as i32,
    |a: u8, b: u8| (a ^ b).count_ones() as i32);

/// A half as f32, without a branch, so that a loop of it takes vector instructions.
#[inline(always)]
fn widen(half: f16) -> f32 {
    let bits = u32::from(half.to_bits());
    let (sign, rest) = ((bits & 0x8000) << 16, (bits & 0x7fff) << 13);
    // The exponents differ by 127 − 15; a product with that power of two makes denormals normal, too.
    let finite = f32::from_bits(rest) * f32::from_bits((127 + 112) << 23);
    let magnitude = if rest >= 0x7c00 << 13 { rest | 0x7f80_0000 } else { finite.to_bits() };
    f32::from_bits(sign | magnitude)
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
            let wide = widen(half);
            assert!(wide == half.to_f32() || wide.is_nan() && half.is_nan(), "{bits:#x}");
            assert_eq!(wide.is_sign_negative(), half.is_sign_negative(), "{bits:#x}");
        }
    }
}

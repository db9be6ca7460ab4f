//! Sums over vectors in one fixed order, without fused products: the same bits from every instruction set.
//!
//! Element `i` goes to the partial sum `i mod LANES`; at the end the partial sums are folded, the upper half onto
//! the lower one, until one is left.

use core::ops::Range;

use super::{prefetch, sqrt::sqrt_f64};
use crate::many::NONE;

/// An element of a vector.
pub trait Real: Copy {
    const LOWEST: Self;
    fn wide(self) -> f64;
    /// Σ (a − b)²: of f32 in f32, of f64 in f64 and then rounded.
    fn squared_distance(a: &[Self], b: &[Self]) -> f32;
    /// The norm, or a little more; not finite if and only if the norm is not.
    fn norm_bound(row: &[Self]) -> f64;
}

impl Real for f32 {
    const LOWEST: f32 = f32::NEG_INFINITY;

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn squared_distance(a: &[f32], b: &[f32]) -> f32 {
        sum_single(a, b, |a, b| (a - b) * (a - b))
    }

    #[inline(always)]
    fn norm_bound(row: &[f32]) -> f64 {
        let square = sum_single(row, row, |a, b| a * b);
        let exact = (1e-25..f32::INFINITY).contains(&square);
        let square = if exact { f64::from(square) } else { product_wide(row, row) };
        // Each product and sum is rounded, which f64 does far less than this.
        sqrt_f64(square * (1.0 + (row.len() + 8) as f64 * f64::from(f32::EPSILON)))
    }
}

impl Real for f64 {
    const LOWEST: f64 = f64::NEG_INFINITY;

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn squared_distance(a: &[f64], b: &[f64]) -> f32 {
        squared_distance_wide(a, b) as f32
    }

    #[inline(always)]
    fn norm_bound(row: &[f64]) -> f64 {
        sqrt_f64(product_wide(row, row) * (1.0 + (row.len() + 8) as f64 * f64::EPSILON))
    }
}

macro_rules! sum {
    ($name:ident, $number:ty, $lanes:literal) => {
        #[inline(always)]
        fn $name<T: Real>(a: &[T], b: &[T], term: impl Fn(T, T) -> $number) -> $number {
            let mut sums = [0.0; $lanes];
            let (a, rest_a) = a.as_chunks::<$lanes>();
            let (b, rest_b) = b.as_chunks::<$lanes>();
            for (a, b) in a.iter().zip(b) {
                for lane in 0..$lanes {
                    sums[lane] += term(a[lane], b[lane]);
                }
            }
            for (sum, (&a, &b)) in sums.iter_mut().zip(rest_a.iter().zip(rest_b)) {
                *sum += term(a, b);
            }
            let mut half = $lanes / 2;
            while half > 0 {
                for lane in 0..half {
                    sums[lane] += sums[lane + half];
                }
                half /= 2;
            }
            sums[0]
        }
    };
}
sum!(sum_single, f32, 16);
sum!(sum_wide, f64, 16);

/// Σ (a − b)², in f64.
#[inline(always)]
pub(crate) fn squared_distance_wide<T: Real>(a: &[T], b: &[T]) -> f64 {
    sum_wide(a, b, |a, b| {
        let difference = a.wide() - b.wide();
        difference * difference
    })
}

/// Σ a · b, in f64.
#[inline(always)]
pub(crate) fn product_wide<T: Real>(a: &[T], b: &[T]) -> f64 {
    sum_wide(a, b, |a, b| a.wide() * b.wide())
}

/// Adds the elements `columns` of the rows whose cluster is another than before to the sums of their clusters, and takes
/// them off those of the clusters before. Rows are of `dim`, sums of as many items as there are columns; what is not a
/// cluster is [`NONE`].
#[inline(always)]
pub(crate) fn move_rows<T: Real>(
    sums: &mut [f64],
    rows: &[T],
    dim: usize,
    columns: Range<usize>,
    before: &[u32],
    clusters: &[u32],
) {
    /// How many rows ahead memory is asked for.
    const AHEAD: usize = 2;
    /// Sums in a line of the cache.
    const LINE: usize = 8;
    let width = columns.len();
    let start = |cluster: u32| cluster as usize * width;
    for (at, (row, (&before, &cluster))) in
        rows.chunks_exact(dim).zip(before.iter().zip(clusters)).enumerate()
    {
        if before == cluster {
            continue;
        }
        if let Some(&next) = clusters.get(at + AHEAD) {
            for column in (0..width).step_by(LINE) {
                prefetch::read(sums.as_ptr().wrapping_add(start(next) + column));
            }
        }
        let row = &row[columns.clone()];
        if cluster != NONE {
            sums[start(cluster)..][..width].iter_mut().zip(row).for_each(|(sum, item)| *sum += item.wide());
        }
        if before != NONE {
            sums[start(before)..][..width].iter_mut().zip(row).for_each(|(sum, item)| *sum -= item.wide());
        }
    }
}

//! The measures that are written once, over a [`Vector`]: products, squared differences, cosines, and bits that
//! differ.

use core::marker::PhantomData;

use super::{
    distance::Measure,
    sqrt::{sqrt, sqrt_f64},
};

/// A register of some elements, widened to the type in which they are summed.
///
/// # Safety
/// As for [`Measure`].
pub(crate) trait Vector: Copy {
    /// An element of a vector in memory.
    type Element: Copy;
    /// Lanes of sums.
    type Sum: Copy;
    /// A whole sum.
    type Total: Total;
    /// Where the elements after the last whole register are.
    type Tail: Copy;
    /// Elements of a register.
    const LANES: usize;

    unsafe fn load(at: *const Self::Element) -> Self;
    unsafe fn tail(dim: usize) -> Self::Tail;
    unsafe fn load_tail(vector: *const Self::Element, tail: Self::Tail) -> Self;
    unsafe fn zero() -> Self::Sum;
    /// `sum + a·b`
    unsafe fn add_product(sum: Self::Sum, a: Self, b: Self) -> Self::Sum;
    /// `sum + (a − b)²`
    unsafe fn add_difference(sum: Self::Sum, a: Self, b: Self) -> Self::Sum;
    unsafe fn merge(a: Self::Sum, b: Self::Sum) -> Self::Sum;
    unsafe fn totals<const R: usize>(sums: [Self::Sum; R]) -> [Self::Total; R];
}

/// A whole sum: in f32 for f32, f16 and bf16, in f64 for f64, exact for bytes.
pub(crate) trait Total: Copy {
    fn value(self) -> f32;
    /// The value without loss.
    fn wide(self) -> f64;
    /// `1 − self`
    fn taken_from_one(self) -> f32;
    /// `1 − self / √(a·b)`
    fn cosine(self, a: Self, b: Self) -> f32;
}

impl Total for f32 {
    #[inline(always)]
    fn value(self) -> f32 {
        self
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn taken_from_one(self) -> f32 {
        1.0 - self
    }
    #[inline(always)]
    fn cosine(self, a: f32, b: f32) -> f32 {
        1.0 - self / (sqrt(a) * sqrt(b))
    }
}

impl Total for f64 {
    #[inline(always)]
    fn value(self) -> f32 {
        self as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn taken_from_one(self) -> f32 {
        (1.0 - self) as f32
    }
    #[inline(always)]
    fn cosine(self, a: f64, b: f64) -> f32 {
        (1.0 - self / (sqrt_f64(a) * sqrt_f64(b))) as f32
    }
}

impl Total for i32 {
    #[inline(always)]
    fn value(self) -> f32 {
        self as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn taken_from_one(self) -> f32 {
        (1 - self) as f32
    }
    #[inline(always)]
    fn cosine(self, a: i32, b: i32) -> f32 {
        (self as f32).cosine(a as f32, b as f32)
    }
}

/// What all measures over a [`Vector`] share: a part is a register, and so is a part of the query.
macro_rules! parts {
    () => {
        type Element = V::Element;
        type Part = V;
        type Query = V;
        type Tail = V::Tail;
        const LANES: usize = V::LANES;

        #[inline(always)]
        unsafe fn tail(dim: usize) -> V::Tail {
            // SAFETY: the caller's promise.
            unsafe { V::tail(dim) }
        }
        #[inline(always)]
        unsafe fn load(at: *const V::Element) -> V {
            // SAFETY: the caller's promise.
            unsafe { V::load(at) }
        }
        #[inline(always)]
        unsafe fn load_tail(vector: *const V::Element, tail: V::Tail) -> V {
            // SAFETY: the caller's promise.
            unsafe { V::load_tail(vector, tail) }
        }
        #[inline(always)]
        unsafe fn ready(part: V) -> V {
            part
        }
    };
}

/// One sum: where it begins, and how two of it are one.
macro_rules! one_sum {
    () => {
        type Sums = V::Sum;

        #[inline(always)]
        unsafe fn zero() -> V::Sum {
            // SAFETY: the caller's promise.
            unsafe { V::zero() }
        }
        #[inline(always)]
        unsafe fn merge(a: V::Sum, b: V::Sum) -> V::Sum {
            // SAFETY: the caller's promise.
            unsafe { V::merge(a, b) }
        }
    };
}

/// The sum of the products; `DISTANCE` takes it from 1.
pub(crate) struct Product<V, const DISTANCE: bool>(PhantomData<V>);

impl<V: Vector, const DISTANCE: bool> Measure for Product<V, DISTANCE> {
    parts!();
    one_sum!();
    type Whole = ();

    #[inline(always)]
    unsafe fn whole(_: *const V::Element, _: usize) {}
    #[inline(always)]
    unsafe fn add(sum: V::Sum, query: V, row: V) -> V::Sum {
        // SAFETY: the caller's promise.
        unsafe { V::add_product(sum, query, row) }
    }
    #[inline(always)]
    unsafe fn finish<const R: usize>((): (), sums: [V::Sum; R]) -> [f32; R] {
        // SAFETY: the caller's promise.
        let totals = unsafe { V::totals(sums) };
        let mut out = [0.0; R];
        for r in 0..R {
            out[r] = if DISTANCE { totals[r].taken_from_one() } else { totals[r].value() };
        }
        out
    }
}

/// The sum of the squared differences.
pub(crate) struct SquaredL2<V>(PhantomData<V>);

impl<V: Vector> Measure for SquaredL2<V> {
    parts!();
    one_sum!();
    type Whole = ();

    #[inline(always)]
    unsafe fn whole(_: *const V::Element, _: usize) {}
    #[inline(always)]
    unsafe fn add(sum: V::Sum, query: V, row: V) -> V::Sum {
        // SAFETY: the caller's promise.
        unsafe { V::add_difference(sum, query, row) }
    }
    #[inline(always)]
    unsafe fn finish<const R: usize>((): (), sums: [V::Sum; R]) -> [f32; R] {
        // SAFETY: the caller's promise.
        let totals = unsafe { V::totals(sums) };
        let mut out = [0.0; R];
        for r in 0..R {
            out[r] = totals[r].value();
        }
        out
    }
}

/// One minus the cosine of the angle: the products with the query beside the squares of the row.
pub(crate) struct Cosine<V>(PhantomData<V>);

impl<V: Vector> Measure for Cosine<V> {
    parts!();
    type Sums = (V::Sum, V::Sum);
    /// The squared norm of the query.
    type Whole = V::Total;

    #[inline(always)]
    unsafe fn whole(query: *const V::Element, dim: usize) -> V::Total {
        // SAFETY: the caller's promise.
        unsafe { V::totals([super::distance::sums::<Product<V, false>>(query, query, dim)])[0] }
    }
    #[inline(always)]
    unsafe fn zero() -> Self::Sums {
        // SAFETY: the caller's promise.
        unsafe { (V::zero(), V::zero()) }
    }
    #[inline(always)]
    unsafe fn add((product, square): Self::Sums, query: V, row: V) -> Self::Sums {
        // SAFETY: the caller's promise.
        unsafe { (V::add_product(product, query, row), V::add_product(square, row, row)) }
    }
    #[inline(always)]
    unsafe fn merge(a: Self::Sums, b: Self::Sums) -> Self::Sums {
        // SAFETY: the caller's promise.
        unsafe { (V::merge(a.0, b.0), V::merge(a.1, b.1)) }
    }
    #[inline(always)]
    unsafe fn finish<const R: usize>(whole: V::Total, sums: [Self::Sums; R]) -> [f32; R] {
        // SAFETY: the caller's promise.
        unsafe {
            let (mut products, mut squares) = ([V::zero(); R], [V::zero(); R]);
            for r in 0..R {
                (products[r], squares[r]) = sums[r];
            }
            let (products, squares) = (V::totals(products), V::totals(squares));
            let mut out = [0.0; R];
            for r in 0..R {
                out[r] = products[r].cosine(whole, squares[r]);
            }
            out
        }
    }
}

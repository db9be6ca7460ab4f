//! Comparisons of columns, with a literal or with each other, into [masks](crate::mask).
//!
//! | function | for each row |
//! |---|---|
//! | [`literal`] | `value op literal` |
//! | [`range`] | `low ≤ value < high`, and the other kinds of bounds |
//! | [`columns`] | `left op right` |
//! | [`Set::contains`] | `value IN (…)` |
//! | [`not_a_number`] | `isnan(value)` |
//! | [`bytes`] | the same for texts and binaries |
//!
//! **Types.** Integers of 8 to 64 bits; `f16`, `f32` and `f64`; and the unscaled integers of decimals, as 16 or 32
//! little-endian bytes in two's complement. All of them are [`Item`]s. Booleans are masks already: see
//! [`mask`](crate::mask).
//!
//! **Floats** have the total order of IEEE 754, except that −0 and +0 are equal: −NaN, −∞, …, 0, …, +∞, NaN. A NaN
//! equals only a NaN of the same bits.
//!
//! **Nulls** are not known here. What a null slot holds is compared like any value; the caller pairs the mask with
//! the validity of the column, and [`mask::kleene`](crate::mask::kleene) combines such pairs.
//!
//! **Masks** have one word of 64 bits for 64 rows, `rows.div_ceil(64)` in all; every function here panics if the
//! length differs. All words are written, and the spare bits of the last one are zero.
//!
//! A comparison with a literal is one subtraction and one unsigned comparison for each value, whatever the operator:
//! `low ≤ x ≤ high` is `x − low ≤ high − low` in wrapping arithmetic, and each operator is such a range or what is
//! outside it.

mod block;
pub mod bytes;
mod decimal;
mod item;
mod set;

pub(crate) use block::{Kernels, Lane, Tables, words, words_of_two};
pub(crate) use item::Ends;
pub use item::Item;
pub use set::Set;

use crate::isa::Isa;
use core::ops::{Bound, RangeBounds};

/// A relation of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// `=`
    Eq,
    /// `≠`
    Ne,
    /// `<`
    Lt,
    /// `≤`
    Le,
    /// `>`
    Gt,
    /// `≥`
    Ge,
}

impl Op {
    /// All of them.
    pub const ALL: [Op; 6] = [Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge];

    /// Whether the relation holds between two values of which the left one is `ordering` the right one.
    #[inline]
    pub fn holds(self, ordering: core::cmp::Ordering) -> bool {
        match self {
            Op::Eq => ordering.is_eq(),
            Op::Ne => ordering.is_ne(),
            Op::Lt => ordering.is_lt(),
            Op::Le => ordering.is_le(),
            Op::Gt => ordering.is_gt(),
            Op::Ge => ordering.is_ge(),
        }
    }

    /// The relation with its sides swapped: `a op b` is `b op.swapped() a`.
    pub fn swapped(self) -> Op {
        match self {
            Op::Eq | Op::Ne => self,
            Op::Lt => Op::Gt,
            Op::Le => Op::Ge,
            Op::Gt => Op::Lt,
            Op::Ge => Op::Le,
        }
    }

    /// What holds where this does not.
    pub fn negated(self) -> Op {
        match self {
            Op::Eq => Op::Ne,
            Op::Ne => Op::Eq,
            Op::Lt => Op::Ge,
            Op::Le => Op::Gt,
            Op::Gt => Op::Le,
            Op::Ge => Op::Lt,
        }
    }
}

/// Sets the bit of each row whose value is `op` to `literal`.
///
/// # Panics
/// If `mask` has not `values.len().div_ceil(64)` words.
pub fn literal<T: Item>(op: Op, values: &[T], literal: T, mask: &mut [u64]) {
    let (low, high, flip) = match op {
        Op::Eq => (Bound::Included(literal), Bound::Included(literal), 0),
        Op::Ne => (Bound::Included(literal), Bound::Included(literal), !0),
        Op::Lt => (Bound::Unbounded, Bound::Excluded(literal), 0),
        Op::Le => (Bound::Unbounded, Bound::Included(literal), 0),
        Op::Gt => (Bound::Excluded(literal), Bound::Unbounded, 0),
        Op::Ge => (Bound::Included(literal), Bound::Unbounded, 0),
    };
    T::within(Isa::current(), values, low, high, flip, mask);
}

/// Sets the bit of each row whose value is in `range`: `3..7`, `3..=7`, `7..`, or a pair of [`Bound`]s.
///
/// # Panics
/// If `mask` has not `values.len().div_ceil(64)` words.
pub fn range<T: Item>(values: &[T], range: impl RangeBounds<T>, mask: &mut [u64]) {
    let (low, high) = (range.start_bound().cloned(), range.end_bound().cloned());
    T::within(Isa::current(), values, low, high, 0, mask);
}

/// Sets the bit of each row whose value in `left` is `op` to that in `right`.
///
/// # Panics
/// If `left` and `right` differ in length, or `mask` has not `left.len().div_ceil(64)` words.
pub fn columns<T: Item>(op: Op, left: &[T], right: &[T], mask: &mut [u64]) {
    let isa = Isa::current();
    match op {
        Op::Eq => T::equal(isa, left, right, 0, mask),
        Op::Ne => T::equal(isa, left, right, !0, mask),
        Op::Lt => T::less(isa, left, right, 0, mask),
        Op::Ge => T::less(isa, left, right, !0, mask),
        Op::Gt => T::less(isa, right, left, 0, mask),
        Op::Le => T::less(isa, right, left, !0, mask),
    }
}

/// A type of floating-point numbers.
pub trait Float: Item {
    /// Plus infinity.
    const INFINITY: Self;
    /// Minus infinity.
    const NEG_INFINITY: Self;
}

macro_rules! float {
    ($($t:ty)*) => {
        $(impl Float for $t {
            const INFINITY: Self = <$t>::INFINITY;
            const NEG_INFINITY: Self = <$t>::NEG_INFINITY;
        })*
    };
}
float!(half::f16 f32 f64);

/// Sets the bit of each row whose value is a NaN of either sign.
///
/// # Panics
/// If `mask` has not `values.len().div_ceil(64)` words.
pub fn not_a_number<T: Float>(values: &[T], mask: &mut [u64]) {
    let (low, high) = (Bound::Included(T::NEG_INFINITY), Bound::Included(T::INFINITY));
    T::within(Isa::current(), values, low, high, !0, mask);
}

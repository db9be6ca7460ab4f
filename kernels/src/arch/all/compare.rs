//! Comparisons of lanes, written once for the vectors of any instruction set.

use crate::compare::Lane;

/// The vectors of lanes `L` that an instruction set, which is `Self`, has.
///
/// A comparison yields a bit for each lane, the first one lowest, and no other bits.
///
/// # Safety
/// Of all functions: the machine has the instruction set.
pub(crate) trait Vectors<L: Lane> {
    /// Some lanes.
    type Vector: Copy;

    /// How many: 64 or a divisor of it.
    const LANES: usize;

    /// Lanes `at * LANES ..` of a block, of which there must be as many.
    unsafe fn load(block: &[L; 64], at: usize) -> Self::Vector;

    /// The same in all lanes.
    unsafe fn set(lane: L) -> Self::Vector;

    /// Wrapping differences.
    unsafe fn sub(a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Bits of one but not both.
    unsafe fn xor(a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// What [`Lane::order`] is of lanes that are floats.
    unsafe fn order(a: Self::Vector) -> Self::Vector;

    /// Whether lanes are equal.
    unsafe fn equal(a: Self::Vector, b: Self::Vector) -> u64;

    /// Whether unsigned lanes are at most others.
    unsafe fn at_most(a: Self::Vector, b: Self::Vector) -> u64;

    /// Whether signed lanes are less than others.
    unsafe fn less(a: Self::Vector, b: Self::Vector) -> u64;

    /// Whether lanes of both are zero but for their sign bits.
    unsafe fn both_zero(a: Self::Vector, b: Self::Vector) -> u64;
}

/// The word of a block: bits of one vector after the other.
#[inline(always)]
fn word<L: Lane, S: Vectors<L>>(bits: impl Fn(usize) -> u64) -> u64 {
    (0..64 / S::LANES).fold(0, |word, at| word | bits(at) << (at * S::LANES))
}

/// As [`Kernels::within`](crate::compare::Kernels), of 64 lanes.
///
/// # Safety
/// The machine has the instruction set `S`.
#[inline(always)]
pub(crate) unsafe fn within<L: Lane, S: Vectors<L>, const FLOAT: bool>(
    block: &[L; 64],
    low: L,
    span: L,
) -> u64 {
    // SAFETY: as the caller promises; `word` counts up to the vectors of a block.
    word::<L, S>(|at| unsafe {
        let values = S::load(block, at);
        let order = if FLOAT { S::order(values) } else { values };
        S::at_most(S::sub(order, S::set(low)), S::set(span))
    })
}

/// As [`Kernels::equal`](crate::compare::Kernels), of 64 lanes.
///
/// # Safety
/// The machine has the instruction set `S`.
#[inline(always)]
pub(crate) unsafe fn equal<L: Lane, S: Vectors<L>, const FLOAT: bool>(
    left: &[L; 64],
    right: &[L; 64],
) -> u64 {
    // SAFETY: as the caller promises; `word` counts up to the vectors of a block.
    word::<L, S>(|at| unsafe {
        let (left, right) = (S::load(left, at), S::load(right, at));
        let zeros = if FLOAT { S::both_zero(left, right) } else { 0 };
        S::equal(left, right) | zeros
    })
}

/// As [`Kernels::less`](crate::compare::Kernels), of 64 lanes.
///
/// # Safety
/// The machine has the instruction set `S`.
#[inline(always)]
pub(crate) unsafe fn less<L: Lane, S: Vectors<L>, const FLOAT: bool>(
    left: &[L; 64],
    right: &[L; 64],
    bias: L,
) -> u64 {
    // SAFETY: as the caller promises; `word` counts up to the vectors of a block.
    word::<L, S>(|at| unsafe {
        let (left, right) = (S::load(left, at), S::load(right, at));
        if FLOAT {
            // −0 is just below +0 in the order of the bits.
            S::less(S::order(left), S::order(right)) & !S::both_zero(left, right)
        } else {
            S::less(S::xor(left, S::set(bias)), S::xor(right, S::set(bias)))
        }
    })
}

/// The function `table` of the instruction set `$set`: its [`Kernels`](crate::compare::Kernels), by its [`Vectors`].
macro_rules! compare_kernels {
    ($set:ident, $features:literal) => {
        use crate::{
            arch::all::compare::{self as shared, Vectors},
            compare::{Kernels, Lane, words, words_of_two},
        };

        /// The instruction set of this module.
        pub(crate) struct $set;

        /// The kernels of a width. They are called only where [`Isa`](crate::isa::Isa) says that the machine has
        /// the instruction set.
        pub(crate) const fn table<L: Lane, const FLOAT: bool>() -> Kernels<L>
        where
            $set: Vectors<L>,
        {
            Kernels {
                within: |values, low, span, flip, mask| {
                    // SAFETY: the machine has the instruction set, as said above.
                    unsafe { within::<L, FLOAT>(values, low, span, flip, mask) }
                },
                equal: |left, right, flip, mask| {
                    // SAFETY: as above.
                    unsafe { equal::<L, FLOAT>(left, right, flip, mask) }
                },
                less: |left, right, bias, flip, mask| {
                    // SAFETY: as above.
                    unsafe { less::<L, FLOAT>(left, right, bias, flip, mask) }
                },
            }
        }

        #[target_feature(enable = $features)]
        fn within<L: Lane, const FLOAT: bool>(values: &[L], low: L, span: L, flip: u64, mask: &mut [u64])
        where
            $set: Vectors<L>,
        {
            words(values, flip, mask, |block| {
                // SAFETY: this function needs the instruction set too.
                unsafe { shared::within::<L, $set, FLOAT>(block, low, span) }
            });
        }

        #[target_feature(enable = $features)]
        fn equal<L: Lane, const FLOAT: bool>(left: &[L], right: &[L], flip: u64, mask: &mut [u64])
        where
            $set: Vectors<L>,
        {
            words_of_two(left, right, flip, mask, |left, right| {
                // SAFETY: this function needs the instruction set too.
                unsafe { shared::equal::<L, $set, FLOAT>(left, right) }
            });
        }

        #[target_feature(enable = $features)]
        fn less<L: Lane, const FLOAT: bool>(left: &[L], right: &[L], bias: L, flip: u64, mask: &mut [u64])
        where
            $set: Vectors<L>,
        {
            words_of_two(left, right, flip, mask, |left, right| {
                // SAFETY: this function needs the instruction set too.
                unsafe { shared::less::<L, $set, FLOAT>(left, right, bias) }
            });
        }
    };
}
pub(crate) use compare_kernels;

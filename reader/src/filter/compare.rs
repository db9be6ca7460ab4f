//! Comparisons of whole columns of numbers into masks: the kernels' and, for single values, the same order.

use crate::expr::Comparison;
use half::{bf16, f16};
use lancet_kernels::compare::{self, Op};
use std::borrow::Cow;

/// A number as columns hold it, with the order that filters give it.
pub(super) trait Item: bytemuck::Pod {
    /// What orders like the item; −0 has the key of 0.
    type Key: Ord + Copy;

    /// The type in which the kernels compare it.
    type Kernel: compare::Item;

    fn key(self) -> Self::Key;

    /// The values as the kernels take them.
    fn kernel(values: &[Self]) -> Cow<'_, [Self::Kernel]>;
}

macro_rules! items {
    ($($t:ty, $key:ty, $to_key:expr;)*) => {
        $(impl Item for $t {
            type Key = $key;
            type Kernel = $t;

            #[inline]
            fn key(self) -> $key {
                $to_key(self)
            }

            fn kernel(values: &[Self]) -> Cow<'_, [$t]> {
                Cow::Borrowed(values)
            }
        })*
    };
}
items! {
    i8, i8, |value| value;
    i16, i16, |value| value;
    i32, i32, |value| value;
    i64, i64, |value| value;
    u8, u8, |value| value;
    u16, u16, |value| value;
    u32, u32, |value| value;
    u64, u64, |value| value;
    // Widening changes no order, nor which NaNs are equal.
    f16, i64, |value: f16| float_key(value.to_f64());
    f32, i64, |value: f32| float_key(value.into());
    f64, i64, float_key;
    [u8; 16], i128, i128::from_le_bytes;
    [u8; 32], (i128, u128), |bytes| {
        let [low, high] = bytemuck::cast::<[u8; 32], [[u8; 16]; 2]>(bytes);
        (i128::from_le_bytes(high), u128::from_le_bytes(low))
    };
}

/// A bfloat16 is the upper half of a float32, and orders like it.
impl Item for bf16 {
    type Key = i64;
    type Kernel = f32;

    #[inline]
    fn key(self) -> i64 {
        self.to_f32().key()
    }

    fn kernel(values: &[Self]) -> Cow<'_, [f32]> {
        values.iter().map(|value| value.to_f32()).collect()
    }
}

/// IEEE 754's total order, −0 and 0 being one value.
fn float_key(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    match bits ^ ((bits >> 63) as u64 >> 1) as i64 {
        -1 => 0,
        key => key,
    }
}

/// The kernels' word for it.
pub(super) fn kernel_op(op: Comparison) -> Op {
    match op {
        Comparison::Equal => Op::Eq,
        Comparison::NotEqual => Op::Ne,
        Comparison::Less => Op::Lt,
        Comparison::LessOrEqual => Op::Le,
        Comparison::Greater => Op::Gt,
        Comparison::GreaterOrEqual => Op::Ge,
    }
}

/// One bit for each value: whether it is `op` to `literal`.
pub(super) fn literal<T: Item>(op: Comparison, values: &[T], literal: T, mask: &mut [u64]) {
    compare::literal(kernel_op(op), &T::kernel(values), T::kernel(&[literal])[0], mask);
}

/// One bit for each pair of values: whether the left one is `op` to the right one.
pub(super) fn columns<T: Item>(op: Comparison, left: &[T], right: &[T], mask: &mut [u64]) {
    compare::columns(kernel_op(op), &T::kernel(left), &T::kernel(right), mask);
}

/// The distinct members of an IN list.
pub(super) struct Set<T: Item>(compare::Set<T::Kernel>);

impl<T: Item> Set<T> {
    pub(super) fn new(members: &[T]) -> Self {
        Set(compare::Set::new(T::kernel(members).iter().copied()))
    }

    /// One bit for each value: whether it is a member.
    pub(super) fn contains(&self, values: &[T], mask: &mut [u64]) {
        self.0.contains(&T::kernel(values), mask);
    }
}

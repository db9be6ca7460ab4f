//! Comparisons of whole columns into masks: with a constant, with each other, with a set.

use crate::expr::Comparison;
use half::{bf16, f16};

/// A number as columns hold it, with the order that filters give it.
pub(super) trait Item: bytemuck::Pod {
    /// What orders like the item; −0 has the key of 0.
    type Key: Ord + Copy;

    fn key(self) -> Self::Key;
}

macro_rules! integers {
    ($($t:ty)*) => {
        $(impl Item for $t {
            type Key = $t;

            #[inline]
            fn key(self) -> $t {
                self
            }
        })*
    };
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($t:ty, $key:ty, $unsigned:ty;)*) => {
        $(impl Item for $t {
            type Key = $key;

            /// IEEE 754's total order, −0 and 0 being one value.
            #[inline]
            fn key(self) -> $key {
                let bits = self.to_bits() as $key;
                let key = bits ^ ((bits >> (<$key>::BITS - 1)) as $unsigned >> 1) as $key;
                if key == -1 { 0 } else { key }
            }
        })*
    };
}
floats! {
    f16, i16, u16;
    bf16, i16, u16;
    f32, i32, u32;
    f64, i64, u64;
}

impl Item for [u8; 16] {
    type Key = i128;

    #[inline]
    fn key(self) -> i128 {
        i128::from_le_bytes(self)
    }
}

impl Item for [u8; 32] {
    type Key = (i128, u128);

    #[inline]
    fn key(self) -> (i128, u128) {
        let [low, high] = bytemuck::cast::<[u8; 32], [[u8; 16]; 2]>(self);
        (i128::from_le_bytes(high), u128::from_le_bytes(low))
    }
}

/// One bit for each value: whether it is `op` to `literal`.
pub(super) fn literal<T: Item>(op: Comparison, values: &[T], literal: T, mask: &mut [u64]) {
    let literal = literal.key();
    match op {
        Comparison::Equal => fill(values, mask, |value| value.key() == literal),
        Comparison::NotEqual => fill(values, mask, |value| value.key() != literal),
        Comparison::Less => fill(values, mask, |value| value.key() < literal),
        Comparison::LessOrEqual => fill(values, mask, |value| value.key() <= literal),
        Comparison::Greater => fill(values, mask, |value| value.key() > literal),
        Comparison::GreaterOrEqual => fill(values, mask, |value| value.key() >= literal),
    }
}

/// One bit for each pair of values: whether the left one is `op` to the right one.
pub(super) fn columns<T: Item>(op: Comparison, left: &[T], right: &[T], mask: &mut [u64]) {
    for (word, (left, right)) in mask.iter_mut().zip(left.chunks(64).zip(right.chunks(64))) {
        let pairs = left.iter().zip(right);
        *word = bits(pairs.map(|(left, right)| op.holds(left.key().cmp(&right.key()))));
    }
}

fn fill<T: Item>(values: &[T], mask: &mut [u64], test: impl Fn(T) -> bool) {
    for (word, values) in mask.iter_mut().zip(values.chunks(64)) {
        *word = bits(values.iter().map(|&value| test(value)));
    }
}

#[inline]
fn bits(values: impl Iterator<Item = bool>) -> u64 {
    values.enumerate().fold(0, |word, (i, value)| word | u64::from(value) << i)
}

/// The distinct members of an IN list.
#[derive(Debug)]
pub(super) struct Set<T: Item>(Vec<T::Key>);

impl<T: Item> Set<T> {
    pub(super) fn new(members: impl IntoIterator<Item = T>) -> Self {
        let mut keys: Vec<T::Key> = members.into_iter().map(Item::key).collect();
        keys.sort_unstable();
        keys.dedup();
        Set(keys)
    }

    /// One bit for each value: whether it is a member.
    pub(super) fn contains(&self, values: &[T], mask: &mut [u64]) {
        fill(values, mask, |value| self.0.binary_search(&value.key()).is_ok());
    }
}

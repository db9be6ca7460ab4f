//! Decimals: integers of 128 and 256 bits, little-endian in two's complement.

use super::{block, item::Compare};
use crate::isa::Isa;
use core::ops::{Bound, RangeBounds};

macro_rules! decimal {
    ($bytes:literal, $key:ty, $to_key:expr) => {
        impl Compare for [u8; $bytes] {
            type Key = $key;

            #[inline]
            fn key(self) -> $key {
                $to_key(self)
            }

            fn within(
                _: Isa,
                values: &[Self],
                low: Bound<Self>,
                high: Bound<Self>,
                flip: u64,
                mask: &mut [u64],
            ) {
                let bounds = (low.map($to_key), high.map($to_key));
                of_one(values, flip, mask, |value| bounds.contains(&value.key()));
            }

            fn equal(_: Isa, left: &[Self], right: &[Self], flip: u64, mask: &mut [u64]) {
                of_two(left, right, flip, mask, |left, right| left == right);
            }

            fn less(_: Isa, left: &[Self], right: &[Self], flip: u64, mask: &mut [u64]) {
                of_two(left, right, flip, mask, |left, right| left.key() < right.key());
            }
        }
    };
}
decimal!(16, i128, i128::from_le_bytes);
decimal!(32, (i128, u128), |bytes: [u8; 32]| {
    let halves = bytes.as_chunks().0;
    (i128::from_le_bytes(halves[1]), u128::from_le_bytes(halves[0]))
});

fn of_one<T: Copy>(values: &[T], flip: u64, mask: &mut [u64], holds: impl Fn(T) -> bool) {
    block::check(values.len(), mask);
    for (word, values) in mask.iter_mut().zip(values.chunks(64)) {
        *word = block::bits(values.len(), flip, |i| holds(values[i]));
    }
}

fn of_two<T: Copy>(left: &[T], right: &[T], flip: u64, mask: &mut [u64], holds: impl Fn(T, T) -> bool) {
    assert_eq!(left.len(), right.len(), "rows of two columns");
    block::check(left.len(), mask);
    for (word, (left, right)) in mask.iter_mut().zip(left.chunks(64).zip(right.chunks(64))) {
        *word = block::bits(left.len(), flip, |i| holds(left[i], right[i]));
    }
}

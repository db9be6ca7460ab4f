//! Decimals: integers of 128 and 256 bits, little-endian in two's complement.

use super::{
    block,
    item::{Compare, ends},
};
use crate::isa::Isa;
use core::ops::{Bound, RangeBounds};

macro_rules! decimal {
    ($bytes:literal, $key:ty, $to_key:expr, $within:expr) => {
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
                $within(values, low.map($to_key), high.map($to_key), flip, mask);
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
decimal!(16, i128, i128::from_le_bytes, within_128);
decimal!(32, (i128, u128), key_256, within_256);

fn key_256(bytes: [u8; 32]) -> (i128, u128) {
    let halves = bytes.as_chunks().0;
    (i128::from_le_bytes(halves[1]), u128::from_le_bytes(halves[0]))
}

fn within_128(values: &[[u8; 16]], low: Bound<i128>, high: Bound<i128>, flip: u64, mask: &mut [u64]) {
    match ends!(low, high, i128, 0) {
        Some((low, high)) => {
            let span = high.wrapping_sub(low) as u128;
            of_one(values, flip, mask, |value| i128::from_le_bytes(value).wrapping_sub(low) as u128 <= span);
        }
        None => block::uniform(values.len(), flip, mask),
    }
}

fn within_256(
    values: &[[u8; 32]],
    low: Bound<(i128, u128)>,
    high: Bound<(i128, u128)>,
    flip: u64,
    mask: &mut [u64],
) {
    of_one(values, flip, mask, |value| (low, high).contains(&key_256(value)));
}

#[inline(always)]
fn of_one<T: Copy>(values: &[T], flip: u64, mask: &mut [u64], holds: impl Fn(T) -> bool) {
    block::check(values.len(), mask);
    for (word, values) in mask.iter_mut().zip(values.chunks(64)) {
        block::prefetch(values);
        *word = block::bits(values.len(), flip, |i| holds(values[i]));
    }
}

#[inline(always)]
fn of_two<T: Copy>(left: &[T], right: &[T], flip: u64, mask: &mut [u64], holds: impl Fn(T, T) -> bool) {
    assert_eq!(left.len(), right.len(), "rows of two columns");
    block::check(left.len(), mask);
    for (word, (left, right)) in mask.iter_mut().zip(left.chunks(64).zip(right.chunks(64))) {
        block::prefetch(left);
        block::prefetch(right);
        *word = block::bits(left.len(), flip, |i| holds(left[i], right[i]));
    }
}

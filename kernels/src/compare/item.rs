//! [`Item`]: what the types of columns are compared as.

use super::block::{Kernels, Lane, Tables, uniform};
use crate::isa::Isa;
use core::ops::Bound;
use half::f16;

/// A type whose values are compared: `i8` to `i64`, `u8` to `u64`, `f16`, `f32`, `f64`, and the unscaled integers of
/// decimals as `[u8; 16]` and `[u8; 32]`, little-endian in two's complement.
pub trait Item: Compare {}

impl<T: Compare> Item for T {}

/// How an [`Item`] is compared. The module is private, so that only this crate has implementations.
pub trait Compare: Copy + 'static {
    /// What orders like the item.
    type Key: Ord + Copy;

    /// The key of a value; −0 has that of 0.
    fn key(self) -> Self::Key;

    /// Bits of the values between the bounds, inverted if `flip` is `!0`.
    fn within(isa: Isa, values: &[Self], low: Bound<Self>, high: Bound<Self>, flip: u64, mask: &mut [u64]);

    /// Bits of the rows whose values are equal, inverted if `flip` is `!0`.
    fn equal(isa: Isa, left: &[Self], right: &[Self], flip: u64, mask: &mut [u64]);

    /// Bits of the rows whose left value is less than the right one, inverted if `flip` is `!0`.
    fn less(isa: Isa, left: &[Self], right: &[Self], flip: u64, mask: &mut [u64]);
}

/// An item that is a lane: what a pair of bounds is in keys.
pub(crate) trait Ends: Compare {
    /// The lowest and the highest key between the bounds, if there are any. Of floats, −0 has the key −1 here.
    fn ends(low: Bound<Self>, high: Bound<Self>) -> Option<(Self::Key, Self::Key)>;
}

/// The integers between two bounds as the lowest and the highest, if there are any. `zero` is 1 where the two
/// integers −1 and 0 are one value, which goes by 0, and 0 where they are two.
macro_rules! ends {
    ($low:expr, $high:expr, $key:ty, $zero:expr) => {{
        let zero: $key = $zero;
        let joined = |key: $key| if key == 0 { zero } else { 0 };
        let low = match $low {
            Bound::Unbounded => Some(<$key>::MIN),
            Bound::Included(key) => Some(key - joined(key)),
            Bound::Excluded(key) => key.checked_add(1),
        };
        let high = match $high {
            Bound::Unbounded => Some(<$key>::MAX),
            Bound::Included(key) => Some(key),
            Bound::Excluded(key) => (key - joined(key)).checked_sub(1),
        };
        low.zip(high).filter(|(low, high)| low <= high)
    }};
}
pub(super) use ends;

/// Items that are lanes: the type, its key, its lane and whether that is a float, what to xor into it to order it as
/// signed, the `zero` of `ends`, and how a value becomes a key.
macro_rules! item {
    ($($item:ty, $key:ty, $lane:ty, $float:literal, $bias:expr, $zero:expr, $to_key:expr;)*) => {
        $(impl Ends for $item {
            fn ends(low: Bound<Self>, high: Bound<Self>) -> Option<($key, $key)> {
                ends!(low.map($to_key), high.map($to_key), $key, $zero)
            }
        }

        impl Compare for $item {
            type Key = $key;

            #[inline]
            fn key(self) -> $key {
                $to_key(self)
            }

            fn within(isa: Isa, values: &[Self], low: Bound<Self>, high: Bound<Self>, flip: u64, mask: &mut [u64]) {
                let Some((low, high)) = Self::ends(low, high) else {
                    return uniform(values.len(), flip, mask);
                };
                let Kernels { within, .. } = <$lane>::kernels::<$float>(isa);
                let span = high.wrapping_sub(low);
                within(bytemuck::cast_slice(values), low as $lane, span as $lane, flip, mask);
            }

            fn equal(isa: Isa, left: &[Self], right: &[Self], flip: u64, mask: &mut [u64]) {
                let Kernels { equal, .. } = <$lane>::kernels::<$float>(isa);
                equal(bytemuck::cast_slice(left), bytemuck::cast_slice(right), flip, mask);
            }

            fn less(isa: Isa, left: &[Self], right: &[Self], flip: u64, mask: &mut [u64]) {
                let Kernels { less, .. } = <$lane>::kernels::<$float>(isa);
                less(bytemuck::cast_slice(left), bytemuck::cast_slice(right), $bias, flip, mask);
            }
        })*
    };
}

/// Of the keys of the two zeros, −1 and 0, the latter.
macro_rules! one_zero {
    ($key:expr) => {
        match $key {
            -1 => 0,
            key => key,
        }
    };
}

item! {
    i8, i8, u8, false, 0, 0, |v: i8| v;
    i16, i16, u16, false, 0, 0, |v: i16| v;
    i32, i32, u32, false, 0, 0, |v: i32| v;
    i64, i64, u64, false, 0, 0, |v: i64| v;
    u8, u8, u8, false, u8::SIGN, 0, |v: u8| v;
    u16, u16, u16, false, u16::SIGN, 0, |v: u16| v;
    u32, u32, u32, false, u32::SIGN, 0, |v: u32| v;
    u64, u64, u64, false, u64::SIGN, 0, |v: u64| v;
    f16, i16, u16, true, 0, 1, |v: f16| one_zero!(v.to_bits().order() as i16);
    f32, i32, u32, true, 0, 1, |v: f32| one_zero!(v.to_bits().order() as i32);
    f64, i64, u64, true, 0, 1, |v: f64| one_zero!(v.to_bits().order() as i64);
}

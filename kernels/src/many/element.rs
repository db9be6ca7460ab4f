//! Types of elements, and the numbers that are computed with.

use alloc::{borrow::Cow, vec::Vec};

use half::{bf16, f16};

use crate::{
    arch::{
        self,
        all::{fixed::Real, many_kernels::Kernels},
    },
    isa::Isa,
};

/// A number that is computed with: f32 or f64.
pub trait Number: Element<Number = Self> + private::Number {}

impl Number for f32 {}
impl Number for f64 {}

/// A type of elements: f32, f64, and f16 and bf16, which are computed with as f32.
pub trait Element: Copy + Default + Send + Sync + private::Element<Self::Number> + 'static {
    /// What elements are computed with as.
    type Number: Number;
}

impl Element for f32 {
    type Number = f32;
}
impl Element for f64 {
    type Number = f64;
}
impl Element for f16 {
    type Number = f32;
}
impl Element for bf16 {
    type Number = f32;
}

/// What only this crate can implement.
pub(crate) mod private {
    use super::*;

    pub trait Element<N> {
        /// `items` as numbers: themselves, or converted into `room`.
        #[doc(hidden)]
        fn numbers<'a>(items: &'a [Self], room: &'a mut Vec<N>) -> &'a [N]
        where
            Self: Sized;

        /// `items` as numbers: themselves, or converted.
        #[doc(hidden)]
        fn borrow(items: &[Self]) -> Cow<'_, [N]>
        where
            Self: Sized,
            N: Clone;

        /// The nearest element, ties to even.
        #[doc(hidden)]
        fn round(number: f64) -> Self;
    }

    #[allow(private_bounds)]
    pub trait Number: Real + PartialOrd {
        /// Relative error of one rounding.
        #[doc(hidden)]
        const ROUNDING: f64;
        /// Absolute error of a product that is too small for a normal number.
        #[doc(hidden)]
        const SMALLEST: f64;
        /// Scores up to this size do not overflow.
        #[doc(hidden)]
        const LIMIT: f64;
        #[doc(hidden)]
        const NEG_INFINITY: Self;
        #[doc(hidden)]
        const INFINITY: Self;

        #[doc(hidden)]
        fn kernels() -> &'static Kernels<Self>
        where
            Self: Sized;

        /// The largest number that is not above `bound`.
        #[doc(hidden)]
        fn floor_of(bound: f64) -> Self;
    }
}

macro_rules! number {
    ($number:ident, $table:ident, $rounding:expr, $smallest:expr, $limit:expr) => {
        impl private::Element<$number> for $number {
            fn numbers<'a>(items: &'a [$number], _: &'a mut Vec<$number>) -> &'a [$number] {
                items
            }

            fn borrow(items: &[$number]) -> Cow<'_, [$number]> {
                Cow::Borrowed(items)
            }

            fn round(number: f64) -> $number {
                number as $number
            }
        }

        impl private::Number for $number {
            const ROUNDING: f64 = $rounding;
            const SMALLEST: f64 = $smallest;
            const LIMIT: f64 = $limit;
            const NEG_INFINITY: $number = $number::NEG_INFINITY;
            const INFINITY: $number = $number::INFINITY;

            fn kernels() -> &'static Kernels<$number> {
                match Isa::current() {
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => &arch::x86_64::avx512::many::$table,
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => &arch::x86_64::avx2::many::$table,
                    #[cfg(target_arch = "aarch64")]
                    Isa::Neon => &arch::aarch64::neon::many::$table,
                    _ => &arch::portable::many::$table,
                }
            }

            fn floor_of(bound: f64) -> $number {
                let near = bound as $number;
                if f64::from(near) > bound { near.next_down() } else { near }
            }
        }
    };
}
number!(f32, F32, 1.0 / (1u64 << 24) as f64, f32::MIN_POSITIVE as f64 * f32::EPSILON as f64, 1e37);
number!(f64, F64, 1.0 / (1u64 << 53) as f64, f64::MIN_POSITIVE * f64::EPSILON, 1e307);

macro_rules! half {
    ($half:ty, $single:ident) => {
        impl private::Element<f32> for $half {
            fn numbers<'a>(items: &'a [$half], room: &'a mut Vec<f32>) -> &'a [f32] {
                room.clear();
                room.extend(items.iter().map(|item| $single(item.to_bits())));
                room
            }

            fn borrow(items: &[$half]) -> Cow<'_, [f32]> {
                Cow::Owned(items.iter().map(|item| $single(item.to_bits())).collect())
            }

            fn round(number: f64) -> $half {
                <$half>::from_f64(number)
            }
        }
    };
}
half!(f16, single_of_f16);
half!(bf16, single_of_bf16);

/// The f32 of a bf16, which is its upper half.
fn single_of_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The f32 of an f16, without a branch, so that a compiler can take several at once: exponent and fraction are moved
/// to their place, and the product makes up for the smaller bias, subnormal numbers included.
fn single_of_f16(bits: u16) -> f32 {
    const BIAS: f32 = f32::from_bits((127 + 127 - 15) << 23);
    let magnitude = u32::from(bits & 0x7fff);
    let moved = magnitude << 13;
    let number = (f32::from_bits(moved) * BIAS).to_bits();
    let not_finite = moved | 0xff << 23;
    let sign = u32::from(bits & 0x8000) << 16;
    f32::from_bits(sign | if magnitude >= 0x7c00 { not_finite } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_widened_exactly() {
        for bits in 0..=u16::MAX {
            let (a, b) = (single_of_f16(bits), f16::from_bits(bits).to_f32());
            assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{bits:#x}");
            let (a, b) = (single_of_bf16(bits), bf16::from_bits(bits).to_f32());
            assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{bits:#x}");
        }
    }
}

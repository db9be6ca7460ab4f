//! The types of which vectors are made.

use half::{bf16, f16};

use super::DistanceTable;
use crate::{arch, isa::Isa};

/// An element of a vector: f32, f16, bf16, f64, i8 or u8.
pub trait Element: sealed::Tables {}

/// An element that is a floating-point number.
pub trait Float: Element + sealed::Quotient {}

pub(super) mod sealed {
    use super::{DistanceTable, Isa};

    pub trait Tables: bytemuck::Pod {
        /// The longest vectors whose sums of products fit the type in which they are summed.
        const LONGEST: usize;
        /// The table of an instruction set.
        fn table(isa: Isa) -> &'static DistanceTable<Self>;
    }

    pub trait Quotient: Sized {
        /// The number divided by `norm`.
        fn over(self, norm: f64) -> Self;
        /// The same as f32.
        fn over_to_f32(self, norm: f64) -> f32;
    }
}

/// A product of bytes is at most 255², and 2¹⁵ of them are less than 2³¹.
const BYTES: usize = 1 << 15;

macro_rules! elements {
    ($($element:ty, $table:ident, $longest:expr, $avx512:ident, $neon:ident;)*) => {$(
        impl Element for $element {}

        impl sealed::Tables for $element {
            const LONGEST: usize = $longest;

            fn table(isa: Isa) -> &'static DistanceTable<Self> {
                match isa {
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 if arch::x86_64::avx512::$avx512::has_instructions() => {
                        &arch::x86_64::avx512::$avx512::$table
                    }
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 | Isa::Avx2 => &arch::x86_64::avx2::distance::$table,
                    #[cfg(target_arch = "aarch64")]
                    Isa::Neon if arch::aarch64::neon::$neon::has_instructions() => {
                        &arch::aarch64::neon::$neon::$table
                    }
                    #[cfg(target_arch = "aarch64")]
                    Isa::Neon => &arch::aarch64::neon::distance::$table,
                    _ => &arch::portable::distance::$table,
                }
            }
        }
    )*};
}

elements! {
    f32, F32, usize::MAX, distance, distance;
    f64, F64, usize::MAX, distance, distance;
    f16, F16, usize::MAX, distance, distance_halves;
    bf16, BF16, usize::MAX, distance, distance;
    i8, I8, BYTES, distance_bytes, distance_bytes;
    u8, U8, BYTES, distance_bytes, distance_bytes;
}

impl Float for f32 {}
impl Float for f64 {}
impl Float for f16 {}
impl Float for bf16 {}

impl sealed::Quotient for f64 {
    fn over(self, norm: f64) -> f64 {
        self / norm
    }
    fn over_to_f32(self, norm: f64) -> f32 {
        (self / norm) as f32
    }
}

impl sealed::Quotient for f32 {
    fn over(self, norm: f64) -> f32 {
        self / norm as f32
    }
    fn over_to_f32(self, norm: f64) -> f32 {
        self.over(norm)
    }
}

impl sealed::Quotient for f16 {
    fn over(self, norm: f64) -> f16 {
        f16::from_f32(self.over_to_f32(norm))
    }
    fn over_to_f32(self, norm: f64) -> f32 {
        self.to_f32().over(norm)
    }
}

impl sealed::Quotient for bf16 {
    fn over(self, norm: f64) -> bf16 {
        bf16::from_f32(self.over_to_f32(norm))
    }
    fn over_to_f32(self, norm: f64) -> f32 {
        self.to_f32().over(norm)
    }
}

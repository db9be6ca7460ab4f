//! AVX2, with FMA, F16C, BMI1, BMI2 and POPCNT.

pub(crate) mod codes;
pub(crate) mod compare;
pub(crate) mod distance;
mod distance_bits;
pub(crate) mod many;
pub(crate) mod mask;
pub(crate) mod roofline;
mod sums;
mod tail;

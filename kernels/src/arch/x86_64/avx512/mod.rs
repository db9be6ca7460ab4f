//! AVX-512 F, BW, VL and DQ, with what [`Extensions`](crate::isa::Extensions) names where it is there.

mod code_tables;
pub(crate) mod codes;
pub(crate) mod compare;
pub(crate) mod distance;
mod distance_bits;
pub(crate) mod distance_bytes;
mod few_codes;
pub(crate) mod many;
pub(crate) mod mask;
pub(crate) mod roofline;
mod sums;

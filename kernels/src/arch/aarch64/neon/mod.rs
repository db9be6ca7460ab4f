//! NEON, which every aarch64 processor has.

pub(crate) mod codes;
pub(crate) mod compare;
pub(crate) mod distance;
pub(crate) mod distance_bytes;
pub(crate) mod distance_halves;
pub(crate) mod many;
pub(crate) mod roofline;
mod tail;

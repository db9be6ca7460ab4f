//! NEON, which every aarch64 processor has.

pub(crate) mod compare;
pub(crate) mod distance;
pub(crate) mod many;
pub(crate) mod roofline;

//! NEON, which every aarch64 processor has.

pub(crate) mod codes;
pub(crate) mod compare;
pub(crate) mod distance;
pub(crate) mod many;
pub(crate) mod roofline;

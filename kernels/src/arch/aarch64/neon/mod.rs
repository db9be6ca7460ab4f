//! NEON, which every aarch64 has.

pub(crate) mod many;

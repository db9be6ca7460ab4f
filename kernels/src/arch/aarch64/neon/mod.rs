//! NEON, which every 64-bit Arm has.

pub(crate) mod compare;

//! 64-bit Arm.

pub(crate) mod neon;

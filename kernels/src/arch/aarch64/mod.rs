//! 64-bit Arm.

pub(crate) mod detect;
pub(crate) mod neon;

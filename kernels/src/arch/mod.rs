//! What is written for one instruction set: a folder for each, with the same file names in all; `all` has what is
//! written once for every one. Nearly all unsafe code of lancet is here: intrinsics that need their instruction set,
//! and loads and stores through pointers.

#[cfg(target_arch = "aarch64")]
pub(crate) mod aarch64;
pub(crate) mod all;
pub(crate) mod portable;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_64;

//! Written once for every instruction set, over traits that each of them implements.

pub(crate) mod bit_words;
pub(crate) mod bits;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod code_tables;
pub(crate) mod codes;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod compare;
pub(crate) mod distance;
pub(crate) mod distance_kernels;
pub(crate) mod fixed;
pub(crate) mod many;
pub(crate) mod many_kernels;
pub(crate) mod measure;
pub(crate) mod prefetch;
pub(crate) mod roofline;
pub(crate) mod sqrt;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod within;

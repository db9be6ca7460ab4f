//! What is written once for every instruction set, and instantiated by each.

pub(crate) mod bits;
pub(crate) mod fixed;
pub(crate) mod many;
pub(crate) mod many_kernels;
pub(crate) mod prefetch;
pub(crate) mod sqrt;

//! Written once for every instruction set, over traits that each of them implements.

pub(crate) mod bits;
pub(crate) mod distance;
pub(crate) mod distance_kernels;
pub(crate) mod fixed;
pub(crate) mod many;
pub(crate) mod many_kernels;
pub(crate) mod measure;
pub(crate) mod prefetch;
pub(crate) mod roofline;
pub(crate) mod sqrt;

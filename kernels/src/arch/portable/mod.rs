//! For every machine of the target: plain arrays, which the compiler turns into what registers there are.

pub(crate) mod distance;
pub(crate) mod many;
pub(crate) mod roofline;

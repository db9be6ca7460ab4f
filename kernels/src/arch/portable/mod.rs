//! For every machine of the target: plain arrays, which the compiler turns into what registers there are.

pub(crate) mod codes;
pub(crate) mod compare;
pub(crate) mod distance;
pub(crate) mod many;
pub(crate) mod mask;
pub(crate) mod roofline;

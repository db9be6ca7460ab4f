//! x86-64.

pub(crate) mod detect;
pub(crate) mod levels;

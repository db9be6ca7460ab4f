//! What every machine of the target can do.

pub(crate) mod many;

//! Tests that try every byte of an input try some of them under Miri, which is slow.

/// The step of their loops.
pub(crate) const STEP: usize = if cfg!(miri) { 23 } else { 1 };

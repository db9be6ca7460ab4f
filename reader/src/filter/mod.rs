//! Filters at work: which rows of a range a predicate is true for.
//!
//! ```text
//! Predicate ── asks for ──▶ Inputs: the columns of the range, each read when first needed
//!     │
//!     └── narrows ──▶ Mask: the rows still in question; at the end those where the predicate is true
//! ```

mod input;
mod mask;

pub(crate) use input::{Input, Inputs};
pub(crate) use mask::Mask;

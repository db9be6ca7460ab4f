//! The way of a filter through scalar indices.
//!
//! ```text
//! typed filter ─ split ▶ conjuncts, with trees of conditions      once for each filter
//! conditions ── catalog ▶ indices that may serve them             once for each version
//!            ── locate ▶ entries that answer them                 for each query, with its values
//! conjuncts ─── answer ▶ rows by fragment, and what refines them
//! ```

mod answer;
mod bracket;
mod catalog;
mod condition;
mod coverage;
mod direct;
mod fragments;
mod locate;
mod pages;
mod places;
mod rows;
mod split;

pub use answer::IndexUse;
pub(crate) use answer::{Answer, Wanted};
pub(crate) use bracket::Least;
pub(crate) use catalog::{Catalog, OpenedIndices, check_segment};
pub(crate) use condition::Condition;
pub(crate) use direct::{Direct, DirectRoom, Place};
pub(crate) use fragments::Fragments;
pub(crate) use locate::Search;
pub(crate) use rows::Rows;
pub(crate) use split::{Conjunct, split};

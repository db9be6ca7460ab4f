//! Filters at work: which rows of a range a predicate is true for; and the values of computed columns.
//!
//! ```text
//! Predicate ── asks for ──▶ Inputs: the columns of the range, each read when first needed
//!     │
//!     └── narrows ──▶ Mask: the rows still in question; at the end those where the predicate is true
//!
//! compile      typed expression ─▶ Term (a condition) and Expression (a value)
//! logic        AND, OR, NOT and IS over masks, in three-valued logic
//! coded        conditions on distinct values, looked up by row
//! compared, matched, list, number     conditions on values
//! expression   values for chosen rows; CASE and coalesce
//! number, decimal, text, time, cast, list, structs     functions of values
//! ```

mod build;
mod cast;
mod coded;
mod compare;
mod compared;
mod compile;
mod context;
mod decimal;
mod expression;
mod failure;
mod function;
mod input;
mod like;
mod list;
mod literal;
mod logic;
mod mask;
mod matched;
mod number;
mod order;
mod predicate;
mod rows;
mod structs;
mod term;
mod text;
mod time;
mod types;

pub(crate) use input::{Input, Inputs};
pub(crate) use like::like_parts;
pub(crate) use mask::Mask;
pub(crate) use predicate::{Computed, Predicate, Scratch};

#[cfg(test)]
#[path = "../../tests/filter/mod.rs"]
mod tests;
#[cfg(test)]
use literal::column as constants;

//! Filters judged: random schemas, data and expressions, evaluated by the library and, row by row, by a judge that
//! shares no code with it.
//!
//! `LANCET_FILTER_CASES` says how many cases are tried, `LANCET_FILTER_SEED` where to begin; a failure names its seed.

mod data;
mod expressions;
mod judge;
mod judged;

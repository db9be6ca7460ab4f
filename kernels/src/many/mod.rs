//! Many rows against many targets: the nearest target of each row, its nearest `n`, or all distances.
//!
//! ```text
//!  targets ──▶ panels ─┐                      best and second score of each row
//!                      ├──▶ tiles of scores ──▶ certain?  ──yes──▶ id, distance
//!  rows ─────▶ blocks ─┘                          │ no
//!                                                 ▼
//!                                    every target within the rounding, in f64
//! ```
//!
//! A tile computes the products of some rows with a panel of targets in registers, and adds an offset of the target,
//! so that the largest score belongs to the nearest target: `|x − c|² = |x|² − 2 (x·c − |c|²/2)`. No matrix of
//! distances is kept.
//!
//! # What is exact
//! The nearest target is that of the exact distances, computed from the definition in f64 and rounded there; of equal
//! ones, that with the lowest id. Scores only sort out those targets that cannot be it: a bound of their rounding
//! error says which can, and only if that is more than one are the distances of those computed. So the answer does not
//! depend on the instruction set.
//!
//! A distance is that of the definition, too, with no cancellation:
//!
//! | metric | distance | computed |
//! |---|---|---|
//! | L2 | Σ (x − c)² | in f32 for rows of f32, f16 and bf16: relative error at most (d/16 + 6) · 2⁻²⁴; in f64 for f64, then rounded |
//! | dot | 1 − Σ x·c | in f64, then rounded |
//! | cosine | 1 − Σ x·c / (‖x‖ ‖c‖) | in f64, then rounded |
//!
//! All have the same bits from every instruction set and any number of threads.
//!
//! # Rows that have no distance
//! A row with an element that is not finite, or of f64 whose squares add up to more than an f64 holds, or without a
//! direction (all zeros) under cosine, has no nearest target: [`NONE`], and NaN for a distance.

mod bits;
mod block;
mod closest;
mod element;
mod grouped;
mod matrix;
mod panels;
mod targets;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::on_all;

pub use bits::BitTargets;
pub(crate) use block::Scratch;
pub use element::{Element, Number};
pub(crate) use grouped::{Known, Room};
pub(crate) use targets::normalise;
pub use targets::{Error, Metric, Targets};

/// The id where there is no target.
pub const NONE: u32 = u32::MAX;

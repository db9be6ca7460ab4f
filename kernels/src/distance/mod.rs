//! Distances between vectors: [`DistanceTable`].
//!
//! With `q` the query and `v` a row, element by element:
//!
//! | [`Metric`] | distance |
//! |---|---|
//! | [`L2`](Metric::L2) | Σ (q − v)² |
//! | [`Cosine`](Metric::Cosine) | 1 − Σ q·v / (√Σ q² · √Σ v²) |
//! | [`Dot`](Metric::Dot) | 1 − Σ q·v |
//! | [`Hamming`](Metric::Hamming) | bits of q and v that differ |
//!
//! They are what Lance returns as `_distance`: smaller is closer.
//!
//! # Arithmetic
//! | elements | summed in |
//! |---|---|
//! | f32, f16, bf16 | f32; f16 and bf16 are widened first, which loses nothing |
//! | f64 | f64 |
//! | i8, u8 | integers, so sums are exact |
//!
//! Every distance is returned as f32: f64 sums and integers are rounded to it once. Bits that differ are exact up to
//! 2²⁴.
//!
//! The order of a sum is that of the instruction set, so two sets may differ in the last bits. With ε = 2⁻²⁴ and n
//! elements, a term passes at most h = ⌈n/8⌉ + 8 additions in every set (a lane takes every eighth term or fewer, and
//! the lanes, four sums and a tail are added up after that) and at most three roundings before them. To first order
//! the error of a sum of f32, f16 or bf16 is therefore at most
//!
//! ```text
//! (h + 3) · ε · Σ |term|          term: q·v or (q − v)²
//! ```
//!
//! For L2 the terms are positive, and that is a relative error of (h + 3)·ε: 4·10⁻⁷ at 8 dimensions, 1.6·10⁻⁶ at
//! 128, 1.2·10⁻⁵ at 1536; roundings fall to both sides, so what one sees grows as √h: some 10⁻⁶ at 1536. For a dot product the error is
//! relative to Σ |q·v| ≤ |q|·|v|. The cosine divides that by |q|·|v|, and its norms have half of that error each, so
//! it is at most 2·(h + 3)·ε + 4·ε away.
//!
//! A term that underflows adds at most 2⁻¹⁴⁹; the cosine of a vector whose squares all do is NaN. Sums that leave the
//! range of their type become infinite. NaN and infinities go the way of the definitions: a NaN
//! in a vector makes its distance NaN, a zero vector has a NaN cosine (0/0), and L2 to an infinite element is
//! infinite, or NaN if both are.
//!
//! # Rows
//! Rows lie in one slice, `pitch` elements from the start of one to the start of the next. They need no more
//! alignment than their elements. No kernel reads outside the rows.

mod element;
mod table;

pub use element::{Element, Float};
pub use table::DistanceTable;

/// How far apart two vectors are: see [the definitions](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Metric {
    /// The squared Euclidean distance.
    L2,
    /// One minus the cosine of the angle.
    Cosine,
    /// One minus the dot product.
    Dot,
    /// The number of bits that differ, of elements as they lie in memory. Lance has it for u8.
    Hamming,
}

impl Metric {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Metric::L2 => "l2",
            Metric::Cosine => "cosine",
            Metric::Dot => "dot",
            Metric::Hamming => "hamming",
        }
    }
}

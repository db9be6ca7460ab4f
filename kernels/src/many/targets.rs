//! [`Targets`]: made once, met by many rows.

use alloc::{vec, vec::Vec};
use core::fmt;

use super::{Element, Number, panels::Panels};
use crate::arch::all::{many_kernels::Kernels, sqrt::sqrt_f64};

/// What is near.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// Squared Euclidean distance.
    L2,
    /// One minus the inner product.
    Dot,
    /// One minus the cosine of the angle.
    Cosine,
    /// Squared Euclidean distance of the row, brought to unit length, to the target: what k-means under cosine
    /// makes small, and what orders the partitions of an index under cosine.
    UnitL2,
}

/// Targets that cannot be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A vector has no elements.
    NoDimension,
    /// The number of elements is no multiple of the dimension.
    Ragged,
    /// There is no target.
    Empty,
    /// There are more targets than 2²⁴, beyond which not every whole number is an f32.
    TooMany,
    /// An element of this target is not finite, or its squares add up to more than an f64 holds.
    NotFinite(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoDimension => f.write_str("vectors have no elements"),
            Error::Ragged => f.write_str("the number of elements is no multiple of the dimension"),
            Error::Empty => f.write_str("there is no target"),
            Error::TooMany => f.write_str("there are more than 2^24 targets"),
            Error::NotFinite(target) => write!(f, "target {target} is not finite"),
        }
    }
}

impl core::error::Error for Error {}

/// Vectors that rows are compared with, for one metric.
///
/// ```
/// use lancet_kernels::{many::{Metric, Targets}, parallel::Threads};
///
/// let targets = Targets::new(&[0.0f32, 0.0, 3.0, 4.0], 2, Metric::L2).unwrap();
/// let (mut ids, mut distances) = ([0; 2], [0.0; 2]);
/// targets.nearest(&[3.0f32, 3.0, -1.0, 0.0], &mut ids, &mut distances, Threads::One);
/// assert_eq!((ids, distances), ([1, 0], [1.0, 1.0]));
/// ```
pub struct Targets<N: Number> {
    pub(super) metric: Metric,
    pub(super) dim: usize,
    pub(super) count: usize,
    pub(super) kernels: &'static Kernels<N>,
    pub(super) panels: Panels<N>,
    /// Row after row.
    pub(super) vectors: Vec<N>,
    /// Which target is at each place of the panels.
    pub(super) order: Vec<u32>,
    /// What is added to the distance of a target.
    pub(super) weights: Vec<f64>,
    pub(super) norms: Vec<f64>,
    /// How much the score of a target may be too high, for its own sake.
    pub(super) slacks: Vec<f64>,
    pub(super) longest: f64,
    /// The largest offset.
    pub(super) farthest: f64,
}

impl<N: Number> Targets<N> {
    /// Targets of `dim` elements each, one after the other.
    ///
    /// # Errors
    /// If there are none or too many of them, or they are not finite.
    pub fn new<E: Element<Number = N>>(vectors: &[E], dim: usize, metric: Metric) -> Result<Self, Error> {
        Self::in_order(vectors, dim, metric, None, N::kernels())
    }

    /// Targets whose panels hold them in the order that is given, for these kernels.
    pub(crate) fn in_order<E: Element<Number = N>>(
        vectors: &[E],
        dim: usize,
        metric: Metric,
        order: Option<&[u32]>,
        kernels: &'static Kernels<N>,
    ) -> Result<Self, Error> {
        if dim == 0 {
            return Err(Error::NoDimension);
        } else if !vectors.len().is_multiple_of(dim) {
            return Err(Error::Ragged);
        } else if vectors.is_empty() {
            return Err(Error::Empty);
        } else if vectors.len() / dim > 1 << 24 {
            return Err(Error::TooMany);
        }
        let vectors = E::numbers(vectors, &mut Vec::new()).to_vec();
        let count = vectors.len() / dim;
        let norms =
            vectors.chunks_exact(dim).map(|v| sqrt_f64(kernels.product_wide(v, v))).collect::<Vec<_>>();
        if let Some(target) = norms.iter().position(|norm| !norm.is_finite()) {
            return Err(Error::NotFinite(target));
        }
        let order = order.map_or_else(|| (0..count as u32).collect(), <[u32]>::to_vec);
        let mut panels = Panels::new(&order, dim, kernels.width());
        for (place, &target) in order.iter().enumerate() {
            let target = target as usize;
            let (vector, norm) = (&vectors[target * dim..][..dim], norms[target]);
            let scale = if metric == Metric::Cosine && norm > 0.0 { norm.recip() } else { 1.0 };
            match metric {
                Metric::Cosine => panels.set(place, vector.iter().map(|x| N::round(x.wide() * scale))),
                _ => panels.set(place, vector.iter().copied()),
            }
        }
        let longest = match metric {
            Metric::Cosine => 1.0,
            _ => norms.iter().copied().fold(0.0, f64::max),
        };
        let (weights, slacks) = (vec![0.0; count], vec![0.0; count]);
        let mut targets = Targets {
            metric,
            dim,
            count,
            kernels,
            panels,
            vectors,
            order,
            weights,
            norms,
            slacks,
            longest,
            farthest: 0.0,
        };
        targets.set_offsets();
        Ok(targets)
    }

    /// Adds `weights`, one for each target, to the distances that decide which target is nearest; the distances that
    /// are reported stay what they are.
    ///
    /// # Panics
    /// If there are more or fewer weights than targets.
    pub fn set_weights(&mut self, weights: &[f64]) {
        self.weights.copy_from_slice(weights);
        self.set_offsets();
    }

    fn set_offsets(&mut self) {
        self.farthest = 0.0;
        for place in 0..self.count {
            let target = self.order[place] as usize;
            let (norm, weight) = (self.norms[target], self.weights[target]);
            // What a score may be off by for the sake of the target; `row_slack` has the rest.
            let (offset, share) = match self.metric {
                Metric::L2 | Metric::UnitL2 => (-(norm * norm + weight) / 2.0, norm * norm / 2.0),
                Metric::Dot | Metric::Cosine => (-weight, 0.0),
            };
            let slack = self.rounding() * (offset.abs() + share);
            self.slacks[target] = slack;
            self.farthest = self.farthest.max(offset.abs());
            self.panels.set_offset(place, N::round(offset + slack));
        }
    }

    /// Relative to the sum of the sizes of all terms, what a score may be off by: one rounding for each product, sum
    /// and offset, and two for an element of a normalised target.
    fn rounding(&self) -> f64 {
        (self.dim + 6) as f64 * N::ROUNDING
    }

    /// How much a score may be off for the sake of a row of this norm.
    ///
    /// Σ |x c| ≤ ‖x‖ ‖c‖ ≤ (‖x‖² + ‖c‖²) / 2, of which the second half is in the target's own slack.
    pub(super) fn row_slack(&self, norm: f64) -> f64 {
        let terms = match self.metric {
            Metric::L2 | Metric::UnitL2 => norm * norm / 2.0,
            Metric::Dot | Metric::Cosine => norm * self.longest,
        };
        // Of the distances in f64, too, with which scores are compared.
        let wide = (self.dim + 6) as f64 * f64::EPSILON * (norm + self.longest) * (norm + self.longest);
        self.rounding() * terms + wide + self.dim as f64 * N::SMALLEST
    }

    /// Whether scores of a row of this norm, and their slacks, are numbers at all.
    pub(super) fn can_score(&self, norm: f64) -> bool {
        norm * (norm + self.longest) + self.farthest < N::LIMIT
    }

    /// `rows` as numbers, and for [`Metric::UnitL2`] at unit length.
    pub(super) fn prepare<'a, E: Element<Number = N>>(&self, rows: &'a [E], room: &'a mut Vec<N>) -> &'a [N] {
        if self.metric != Metric::UnitL2 {
            return E::numbers(rows, room);
        }
        let mut converted = Vec::new();
        normalise(E::numbers(rows, &mut converted), self.dim, room);
        room
    }

    /// What decides which target is nearest: the distance in f64, or for dot and cosine minus the product.
    pub(super) fn cost(&self, row: &[N], target: usize) -> f64 {
        let vector = self.vector(target);
        self.weights[target]
            + match self.metric {
                Metric::L2 | Metric::UnitL2 => self.kernels.squared_distance_wide(row, vector),
                Metric::Dot => -self.kernels.product_wide(row, vector),
                Metric::Cosine => -self.cosine(row, target),
            }
    }

    /// x·c / ‖c‖
    fn cosine(&self, row: &[N], target: usize) -> f64 {
        let product = self.kernels.product_wide(row, self.vector(target));
        if self.norms[target] > 0.0 { product / self.norms[target] } else { 0.0 }
    }

    /// The distance that is reported.
    pub(super) fn distance(&self, row: &[N], target: usize) -> f32 {
        match self.metric {
            Metric::L2 | Metric::UnitL2 => self.kernels.squared_distance(row, self.vector(target)),
            Metric::Dot => (1.0 - self.kernels.product_wide(row, self.vector(target))) as f32,
            Metric::Cosine => {
                let norm = sqrt_f64(self.kernels.product_wide(row, row));
                (1.0 - self.cosine(row, target) / norm) as f32
            }
        }
    }

    /// A target.
    ///
    /// # Panics
    /// If there is none of that id.
    pub fn vector(&self, target: usize) -> &[N] {
        &self.vectors[target * self.dim..][..self.dim]
    }

    /// How many targets there are.
    #[allow(clippy::len_without_is_empty)] // there is at least one
    pub fn len(&self) -> usize {
        self.count
    }

    /// Elements of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }
}

/// Appends rows at unit length to `out`; rows without a direction, or that are not finite, as they are.
pub(crate) fn normalise<N: Number>(rows: &[N], dim: usize, out: &mut Vec<N>) {
    for row in rows.chunks_exact(dim) {
        let norm = sqrt_f64(N::kernels().product_wide(row, row));
        if norm > 0.0 && norm.is_finite() {
            let scale = norm.recip();
            out.extend(row.iter().map(|x| N::round(x.wide() * scale)));
        } else {
            out.extend_from_slice(row);
        }
    }
}

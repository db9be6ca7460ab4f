//! All distances between rows and targets.

use alloc::vec::Vec;

use super::{Element, Metric, Number, Targets, block::Tile};
use crate::{arch::all::sqrt::sqrt_f64, parallel::Threads};

/// An L2 distance below this share of ‖x‖² + ‖c‖² is computed from the definition: the difference of so much larger
/// numbers would have lost too many digits.
const CANCELLED: f64 = 1.0 / 16.0;

impl<N: Number> Targets<N> {
    /// The distance of each row to each target, row after row. NaN for rows that have none.
    ///
    /// Those of f32 come from products in f32 and have a relative error of at most (d + 6) · 2⁻²⁰ under L2, and an
    /// absolute one of at most (d + 6) · 2⁻²³ · ‖x‖ ‖c‖ under dot and (d + 6) · 2⁻²³ under cosine; the last bits depend
    /// on the instruction set.
    ///
    /// # Panics
    /// If `out` does not have an item for each row and target.
    pub fn distances<E: Element<Number = N>>(&self, rows: &[E], out: &mut [f32], threads: Threads) {
        let count = self.rows_of(rows);
        assert!(count.checked_mul(self.count) == Some(out.len()), "a distance for each row and target");
        let block = self.block_rows();
        let parts = rows.chunks(block * self.dim).zip(out.chunks_mut(block * self.count));
        threads.map(parts.collect(), |(rows, out)| {
            let mut room = Vec::new();
            let rows = self.prepare(rows, &mut room);
            let tile = self.kernels.rows();
            let mut scratch = Tile::new(self);
            for (at, panel) in self.panels.iter().enumerate() {
                let first = at * self.kernels.width();
                let tiles = rows.chunks(tile * self.dim).zip(out.chunks_mut(tile * self.count));
                for (rows, out) in tiles {
                    scratch.clear();
                    rows.chunks_exact(self.dim).for_each(|row| scratch.push(row, N::INFINITY));
                    scratch.meet(panel);
                    self.write(rows, first, &scratch, out);
                }
            }
        });
    }

    /// Turns the scores of a tile with the panel that begins at the place `first` into distances.
    fn write(&self, rows: &[N], first: usize, tile: &Tile<'_, N>, out: &mut [f32]) {
        let width = self.kernels.width();
        let end = self.count.min(first + width);
        let scores = rows.chunks_exact(self.dim).zip(tile.scores.chunks_exact(width));
        for ((row, scores), out) in scores.zip(out.chunks_exact_mut(self.count)) {
            let norm = sqrt_f64(self.kernels.product_wide(row, row));
            let (can_measure, can_score) = (self.can_measure(norm), self.can_score(norm));
            for (&target, score) in self.order[first..end].iter().zip(scores) {
                let target = target as usize;
                // Offsets hold half of the weight and the slack of a target, which a distance has not.
                let score = score.wide() + self.weights[target] / self.weight_share() - self.slacks[target];
                out[target] = match self.metric {
                    _ if !can_measure => f32::NAN,
                    _ if !can_score => self.distance(row, target),
                    Metric::L2 | Metric::UnitL2 => {
                        let distance = norm * norm - 2.0 * score;
                        let squares = norm * norm + self.norms[target] * self.norms[target];
                        if distance < CANCELLED * squares {
                            self.distance(row, target)
                        } else {
                            distance as f32
                        }
                    }
                    Metric::Dot => (1.0 - score) as f32,
                    Metric::Cosine => (1.0 - score / norm) as f32,
                };
            }
        }
    }

    /// A score has the weight of its target divided by this.
    fn weight_share(&self) -> f64 {
        if matches!(self.metric, Metric::L2 | Metric::UnitL2) { 2.0 } else { 1.0 }
    }
}

//! The nearest target of each row of a block, a block being the rows that stay in the cache while panels pass by.

use alloc::{vec, vec::Vec};

use super::{Element, Metric, NONE, Number, Targets};
use crate::parallel::Threads;

/// Bytes of the rows of a block: they share the second level of the cache with panels and with what is kept of rows.
const BLOCK_BYTES: usize = 192 << 10;
/// Rows of a block of short rows.
const BLOCK_ROWS: usize = 512;

/// What a block knows of one of its rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// The nearest target, or [`NONE`].
    pub(crate) id: u32,
    /// The distance to it, without its weight.
    pub(crate) distance: f32,
    /// No score of another target is above this.
    pub(crate) second: f64,
}

impl Found {
    const NOTHING: Found = Found { id: NONE, distance: f32::NAN, second: 0.0 };
}

impl<N: Number> Targets<N> {
    /// The nearest target of each row, and its distance. Of equally near ones, that with the lowest id.
    ///
    /// # Panics
    /// If `ids` or `distances` do not have one item for each row.
    pub fn nearest<E: Element<Number = N>>(
        &self,
        rows: &[E],
        ids: &mut [u32],
        distances: &mut [f32],
        threads: Threads,
    ) {
        let count = self.rows_of(rows);
        assert!(ids.len() == count && distances.len() == count, "one id and one distance for each row");
        let block = self.block_rows();
        let parts = rows.chunks(block * self.dim).zip(ids.chunks_mut(block)).zip(distances.chunks_mut(block));
        threads.map(parts.collect(), |((rows, ids), distances)| {
            let mut room = Vec::new();
            let rows = E::numbers(rows, &mut room);
            let norms: Vec<f64> = rows.chunks_exact(self.dim).map(|row| self.kernels.norm_bound(row)).collect();
            let found = self.nearest_of_block(rows, &norms);
            for ((id, distance), found) in ids.iter_mut().zip(distances).zip(found) {
                (*id, *distance) = (found.id, found.distance);
            }
        });
    }

    /// How many rows there are.
    pub(super) fn rows_of<E>(&self, rows: &[E]) -> usize {
        assert!(rows.len().is_multiple_of(self.dim), "whole rows");
        rows.len() / self.dim
    }

    /// How many rows make a block, whole tiles of them.
    pub(crate) fn block_rows(&self) -> usize {
        let rows = (BLOCK_BYTES / (self.dim * size_of::<N>())).min(BLOCK_ROWS);
        (rows / self.kernels.rows()).max(1) * self.kernels.rows()
    }

    /// Whether a row of this norm has a distance.
    pub(super) fn can_measure(&self, norm: f64) -> bool {
        norm.is_finite() && (norm > 0.0 || self.metric != Metric::Cosine)
    }

    /// The nearest target of each row; `norms` are their norms, or a little more.
    pub(crate) fn nearest_of_block(&self, rows: &[N], norms: &[f64]) -> Vec<Found> {
        let kernels = self.kernels;
        let (tile, kept) = (kernels.rows(), kernels.kept());
        let mut best = vec![N::NEG_INFINITY; norms.len().next_multiple_of(tile) * kept];
        for ids in best.chunks_exact_mut(kept).map(|kept| &mut kept[2 * kernels.lanes()..]) {
            ids.fill(N::default());
        }
        let (whole, rest) = rows.split_at(rows.len() / (tile * self.dim) * tile * self.dim);
        let mut last = Vec::new();
        if !rest.is_empty() {
            last.resize(tile * self.dim, N::default());
            last[..rest.len()].copy_from_slice(rest);
        }
        for panel in self.panels.iter() {
            let tiles = whole.chunks_exact(tile * self.dim).chain(last.chunks_exact(tile * self.dim));
            for (rows, best) in tiles.zip(best.chunks_exact_mut(tile * kept)) {
                kernels.best(rows, panel, self.dim, best);
            }
        }

        let mut found = vec![Found::NOTHING; norms.len()];
        let mut uncertain = Vec::new();
        for (at, ((&norm, best), found)) in norms.iter().zip(best.chunks_exact_mut(kept)).zip(&mut found).enumerate()
        {
            let row = &rows[at * self.dim..][..self.dim];
            if !self.can_measure(norm) {
                continue;
            } else if !self.can_score(norm) {
                *found = self.found(row, self.search(row), f64::INFINITY);
                continue;
            }
            let [best, second, id] = kernels.settle(best).map(|number| number.wide());
            let slack = self.row_slack(norm);
            let reach = best - 2.0 * (self.slacks[id as usize] + slack);
            if second < reach {
                *found = self.found(row, id as usize, second + slack);
            } else {
                uncertain.push(Uncertain { row: at, reach, second: best + slack });
            }
        }
        self.resolve(rows, &uncertain, &mut found);
        found
    }

    fn found(&self, row: &[N], id: usize, second: f64) -> Found {
        Found { id: id as u32, distance: self.distance(row, id), second }
    }

    /// The nearest of all targets, by the distances of all.
    fn search(&self, row: &[N]) -> usize {
        let costs = (0..self.count).map(|target| (self.cost(row, target), target));
        costs.reduce(|best, next| if next.0 < best.0 { next } else { best }).map_or(0, |best| best.1)
    }

    /// Finds the nearest targets of rows for which scores did not decide: by the distances of those that may be it.
    fn resolve(&self, rows: &[N], uncertain: &[Uncertain], found: &mut [Found]) {
        let mut tile = Tile::new(self);
        for uncertain in uncertain.chunks(self.kernels.rows()) {
            tile.clear();
            for row in uncertain {
                tile.push(&rows[row.row * self.dim..][..self.dim], N::floor_of(row.reach));
            }
            let mut best = vec![(f64::INFINITY, 0); uncertain.len()];
            for (at, panel) in self.panels.iter().enumerate() {
                tile.meet(panel);
                for (in_tile, (row, best)) in uncertain.iter().zip(&mut best).enumerate() {
                    for lane in lanes(tile.reached[in_tile]) {
                        let target = at * self.kernels.width() + lane;
                        let cost = self.cost(&rows[row.row * self.dim..][..self.dim], target);
                        if cost < best.0 {
                            *best = (cost, target);
                        }
                    }
                }
            }
            for (row, best) in uncertain.iter().zip(best) {
                found[row.row] = self.found(&rows[row.row * self.dim..][..self.dim], best.1, row.second);
            }
        }
    }
}

/// A row whose best scores are too close to decide.
struct Uncertain {
    row: usize,
    /// The nearest target has at least this score.
    reach: f64,
    second: f64,
}

/// The positions of the set bits.
pub(super) fn lanes(mut bits: u32) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lane = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// A tile of rows from anywhere, with the bounds that their scores are held against.
pub(super) struct Tile<'t, N: Number> {
    targets: &'t Targets<N>,
    rows: Vec<N>,
    pub(super) bounds: Vec<N>,
    len: usize,
    /// Scores with the last panel, row after row.
    pub(super) scores: Vec<N>,
    /// For each row the bits of those scores that are at least its bound.
    pub(super) reached: Vec<u32>,
}

impl<'t, N: Number> Tile<'t, N> {
    pub(super) fn new(targets: &'t Targets<N>) -> Self {
        let (rows, width) = (targets.kernels.rows(), targets.kernels.width());
        Tile {
            targets,
            rows: vec![N::default(); rows * targets.dim],
            bounds: vec![N::INFINITY; rows],
            len: 0,
            scores: vec![N::default(); rows * width],
            reached: vec![0; rows],
        }
    }

    /// Takes all rows out.
    pub(super) fn clear(&mut self) {
        self.bounds.fill(N::INFINITY);
        self.len = 0;
    }

    /// Puts in another row.
    pub(super) fn push(&mut self, row: &[N], bound: N) {
        self.rows[self.len * self.targets.dim..][..row.len()].copy_from_slice(row);
        self.bounds[self.len] = bound;
        self.len += 1;
    }

    /// Computes scores.
    pub(super) fn meet(&mut self, panel: &[N]) {
        let kernels = self.targets.kernels;
        kernels.scores(&self.rows, panel, self.targets.dim, &self.bounds, &mut self.scores, &mut self.reached);
    }
}

//! The nearest `n` targets of each row.

use alloc::{vec, vec::Vec};

use super::{
    Element, NONE, Number, Targets,
    block::{Tile, lanes},
};
use crate::parallel::Threads;

impl<N: Number> Targets<N> {
    /// The nearest `n` targets of each row, the nearest first, and their distances: `n` items for each row. Of
    /// equally near ones, those with the lower ids come first. Where there are fewer than `n` targets,
    /// [`NONE`] and NaN follow.
    ///
    /// # Panics
    /// If `ids` or `distances` do not have `n` items for each row.
    pub fn nearest_n<E: Element<Number = N>>(
        &self,
        rows: &[E],
        n: usize,
        ids: &mut [u32],
        distances: &mut [f32],
        threads: Threads,
    ) {
        let count = self.rows_of(rows);
        assert!(
            count.checked_mul(n) == Some(ids.len()) && ids.len() == distances.len(),
            "n items for each row"
        );
        if n == 0 {
            return;
        }
        let tile = self.kernels.rows();
        let parts =
            rows.chunks(tile * self.dim).zip(ids.chunks_mut(tile * n)).zip(distances.chunks_mut(tile * n));
        threads.map(parts.collect(), |((rows, ids), distances)| {
            let mut room = Vec::new();
            self.nearest_n_of_tile(self.prepare(rows, &mut room), n, ids, distances);
        });
    }

    fn nearest_n_of_tile(&self, rows: &[N], n: usize, ids: &mut [u32], distances: &mut [f32]) {
        let mut candidates: Vec<Candidates> = Vec::new();
        let mut tile = Tile::new(self);
        for row in rows.chunks_exact(self.dim) {
            let norm = self.kernels.norm_bound(row);
            let scored = self.can_measure(norm) && self.can_score(norm);
            tile.push(row, if scored { N::NEG_INFINITY } else { N::INFINITY });
            candidates.push(Candidates::new(n, 2.0 * self.row_slack(norm)));
        }
        for (at, panel) in self.panels.iter().enumerate() {
            tile.meet(panel);
            for (row, candidates) in candidates.iter_mut().enumerate() {
                for lane in lanes(tile.reached[row]) {
                    let Some(&target) = self.order.get(at * self.kernels.width() + lane) else { continue };
                    let score = tile.scores[row * self.kernels.width() + lane].wide();
                    if candidates.add(score, target, &self.slacks) {
                        tile.bounds[row] = N::floor_of(candidates.reach);
                    }
                }
            }
        }
        let rows = rows.chunks_exact(self.dim).zip(candidates);
        for ((row, candidates), (ids, distances)) in rows.zip(ids.chunks_mut(n).zip(distances.chunks_mut(n)))
        {
            let norm = self.kernels.norm_bound(row);
            let near = match (self.can_measure(norm), self.can_score(norm)) {
                (false, _) => Vec::new(),
                (true, false) => self.by_cost(row, 0..self.count as u32),
                (true, true) => self.by_cost(row, candidates.list.iter().map(|c| c.id)),
            };
            ids.fill(NONE);
            distances.fill(f32::NAN);
            for (near, (id, distance)) in near.into_iter().zip(ids.iter_mut().zip(distances)) {
                (*id, *distance) = (near, self.distance(row, near as usize));
            }
        }
    }

    /// Targets in the order of their distances.
    fn by_cost(&self, row: &[N], targets: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut near: Vec<_> = targets.map(|target| (self.cost(row, target as usize), target)).collect();
        near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.into_iter().map(|(_, target)| target).collect()
    }
}

/// Targets that may be among the nearest `n` of a row.
struct Candidates {
    n: usize,
    list: Vec<Candidate>,
    /// A target with a lower score is not.
    reach: f64,
    /// How much two scores of the row may be off, besides the slacks of their targets.
    slack: f64,
}

#[derive(Clone, Copy)]
struct Candidate {
    score: f64,
    /// The score is at least this, but for the slack of the row.
    least: f64,
    id: u32,
}

impl Candidates {
    fn new(n: usize, slack: f64) -> Self {
        Candidates { n, list: vec![], reach: f64::NEG_INFINITY, slack }
    }

    /// Takes a target with a score that reaches; whether the bound has risen.
    fn add(&mut self, score: f64, id: u32, slacks: &[f64]) -> bool {
        if score < self.reach {
            return false;
        }
        self.list.push(Candidate { score, least: score - 2.0 * slacks[id as usize], id });
        // Sorting out is put off until half of the list may go.
        let full = self.list.len() == self.n || self.list.len() >= (2 * self.n).max(self.n + 16);
        full && self.raise()
    }

    /// Raises the bound to what `n` targets have for certain, and drops those below.
    fn raise(&mut self) -> bool {
        let (_, nth, _) = self.list.select_nth_unstable_by(self.n - 1, |a, b| b.least.total_cmp(&a.least));
        let reach = nth.least - self.slack;
        let risen = reach > self.reach;
        self.reach = self.reach.max(reach);
        self.list.retain(|candidate| candidate.score >= reach);
        risen
    }
}

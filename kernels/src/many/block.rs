//! The nearest target of each row of a block, a block being the rows that stay in the second level of the cache while
//! panels pass by, each of which stays in the first level.

use alloc::{vec, vec::Vec};

use super::{Element, Metric, NONE, Number, Targets};
use crate::{arch::all::many_kernels::Kernels, parallel::Threads};

/// Bytes of the rows of a block: they share the second level of the cache with what is kept of them, with panels and
/// with the sums of clusters.
const BLOCK_BYTES: usize = 192 << 10;
/// Rows of a block of short rows.
const BLOCK_ROWS: usize = 512;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Memory that will be read next, and is asked for meanwhile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ahead {
    at: *const u8,
    lines: usize,
}

impl<E> From<&[E]> for Ahead {
    fn from(items: &[E]) -> Self {
        Ahead { at: items.as_ptr().cast(), lines: size_of_val(items).div_ceil(LINE) }
    }
}

/// Room that blocks use one after the other.
pub(crate) struct Scratch<N> {
    numbers: Vec<N>,
    norms: Vec<f64>,
    /// Rows of the last tile of a block, where they are too few for a tile.
    last: Vec<N>,
    kept: Kept<N>,
    /// What follows for as many rows as are settled at once.
    settled: Vec<[N; 3]>,
    uncertain: Vec<Uncertain>,
}

/// What scores say of a row.
pub(super) enum Decision {
    /// It has no distance.
    Nothing,
    /// Nothing: scores are out of range.
    Search,
    /// Its nearest target.
    Certain(usize),
    /// Only that the nearest target has at least this score.
    Uncertain(f64),
}

impl<N> Scratch<N> {
    pub(crate) fn new() -> Self {
        Scratch {
            numbers: Vec::new(),
            norms: Vec::new(),
            last: Vec::new(),
            kept: Kept::new(),
            settled: Vec::new(),
            uncertain: Vec::new(),
        }
    }
}

/// What is kept of rows, on cache lines, which no register load should straddle.
pub(super) struct Kept<N> {
    numbers: Vec<N>,
    start: usize,
    len: usize,
}

impl<N> Kept<N> {
    pub(super) fn new() -> Self {
        Kept { numbers: Vec::new(), start: 0, len: 0 }
    }

    pub(super) fn all(&mut self) -> &mut [N] {
        &mut self.numbers[self.start..][..self.len]
    }
}

impl<N: Number> Kept<N> {
    /// Makes room for so many rows.
    fn make(&mut self, rows: usize, kernels: &Kernels<N>) {
        let spare = LINE / size_of::<N>();
        self.len = rows * kernels.kept();
        self.numbers.resize(self.len + spare, N::default());
        self.start = self.numbers.as_ptr().align_offset(LINE).min(spare);
    }

    /// Makes room for so many rows, of which nothing is known.
    pub(super) fn clear(&mut self, rows: usize, kernels: &Kernels<N>) {
        self.make(rows, kernels);
        for kept in self.all().chunks_exact_mut(kernels.kept()) {
            kept[..2 * kernels.lanes()].fill(N::NEG_INFINITY);
        }
    }
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
        threads.map_with(
            parts.enumerate().collect(),
            Scratch::new,
            |scratch, (part, ((part_rows, ids), distances))| {
                let ahead = rows.chunks(block * self.dim).nth(part + 1).unwrap_or_default();
                let mut room = core::mem::take(&mut scratch.numbers);
                let mut norms = core::mem::take(&mut scratch.norms);
                room.clear();
                norms.clear();
                let part_rows = self.prepare(part_rows, &mut room);
                norms.extend(part_rows.chunks_exact(self.dim).map(|row| self.kernels.norm_bound(row)));
                self.nearest_of_block(part_rows, &norms, ahead.into(), ids, scratch);
                self.measure(part_rows, ids, distances);
                (scratch.numbers, scratch.norms) = (room, norms);
            },
        );
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
    pub(crate) fn can_measure(&self, norm: f64) -> bool {
        norm.is_finite() && (norm > 0.0 || !matches!(self.metric, Metric::Cosine | Metric::UnitL2))
    }

    /// The distances of rows to targets, without weights; NaN where there is no target.
    pub(crate) fn measure(&self, rows: &[N], ids: &[u32], distances: &mut [f32]) {
        for ((row, &id), distance) in rows.chunks_exact(self.dim).zip(ids).zip(distances) {
            *distance = if id == NONE { f32::NAN } else { self.distance(row, id as usize) };
        }
    }

    /// The nearest target of each row; `norms` are their norms, or a little more. `ahead` are the rows that come
    /// next, which are brought into the cache meanwhile.
    pub(crate) fn nearest_of_block(
        &self,
        rows: &[N],
        norms: &[f64],
        ahead: Ahead,
        ids: &mut [u32],
        scratch: &mut Scratch<N>,
    ) {
        let kernels = self.kernels;
        let (tile, kept) = (kernels.rows(), kernels.kept());
        let Scratch { last, kept: all_kept, settled, uncertain, .. } = scratch;
        settled.resize(kernels.lanes(), [N::default(); 3]);
        let (whole, rest) = rows.split_at(rows.len() / (tile * self.dim) * tile * self.dim);
        last.clear();
        if !rest.is_empty() {
            last.extend_from_slice(rest);
            last.resize(tile * self.dim, N::default());
        }
        let tiles = norms.len().div_ceil(tile);
        all_kept.make(tiles * tile, kernels);
        let all_kept = all_kept.all();
        let (of_whole, of_last) = all_kept.split_at_mut(whole.len() / self.dim * kept);
        let panels = self.panels.iter();
        let lines = ahead.lines.div_ceil(tiles * panels.len());
        let mut next = ahead.at;
        for (at, panel) in panels.enumerate() {
            kernels.best(whole, panel, self.dim, at == 0, of_whole, next, lines);
            kernels.best(last, panel, self.dim, at == 0, of_last, next, 0);
            next = next.wrapping_add(tiles * lines * LINE);
        }

        uncertain.clear();
        let lanes = kernels.lanes();
        let rows_of_lanes = norms.chunks(lanes).zip(ids.chunks_mut(lanes));
        for ((at, (norms, ids)), all_kept) in rows_of_lanes.enumerate().zip(all_kept.chunks_mut(lanes * kept))
        {
            let settled = &mut settled[..norms.len()];
            kernels.settle(&mut all_kept[..norms.len() * kept], settled);
            for ((row, id), (&norm, &scores)) in (at * lanes..).zip(ids).zip(norms.iter().zip(&*settled)) {
                *id = match self.decide(norm, scores) {
                    Decision::Certain(id) => id as u32,
                    Decision::Nothing => NONE,
                    Decision::Search => self.search(&rows[row * self.dim..][..self.dim]) as u32,
                    Decision::Uncertain(reach) => {
                        uncertain.push(Uncertain { row, reach });
                        NONE
                    }
                };
            }
        }
        if !uncertain.is_empty() {
            self.resolve(rows, uncertain, ids);
        }
    }

    /// What follows from the best score of a row, the best of the others, and the id of the best.
    pub(super) fn decide(&self, norm: f64, scores: [N; 3]) -> Decision {
        if !self.can_measure(norm) {
            return Decision::Nothing;
        } else if !self.can_score(norm) {
            return Decision::Search;
        }
        let [best, second, id] = scores.map(|number| number.wide());
        let reach = best - 2.0 * (self.slacks[id as usize] + self.row_slack(norm));
        if second < reach { Decision::Certain(id as usize) } else { Decision::Uncertain(reach) }
    }

    /// The nearest of all targets, by the distances of all.
    pub(super) fn search(&self, row: &[N]) -> usize {
        let costs = (0..self.count).map(|target| (self.cost(row, target), target));
        costs.reduce(|best, next| if next.0 < best.0 { next } else { best }).map_or(0, |best| best.1)
    }

    /// Finds the nearest targets of rows for which scores did not decide: by the distances of those that may be it.
    pub(super) fn resolve(&self, rows: &[N], uncertain: &[Uncertain], ids: &mut [u32]) {
        let mut tile = Tile::new(self);
        for uncertain in uncertain.chunks(self.kernels.rows()) {
            tile.clear();
            for row in uncertain {
                tile.push(&rows[row.row * self.dim..][..self.dim], N::floor_of(row.reach));
            }
            let mut best = vec![(f64::INFINITY, NONE); uncertain.len()];
            for (at, panel) in self.panels.iter().enumerate() {
                tile.meet(panel);
                for (in_tile, (row, best)) in uncertain.iter().zip(&mut best).enumerate() {
                    for lane in lanes(tile.reached[in_tile]) {
                        let Some(&target) = self.order.get(at * self.kernels.width() + lane) else {
                            continue;
                        };
                        let cost = self.cost(&rows[row.row * self.dim..][..self.dim], target as usize);
                        if (cost, target) < *best {
                            *best = (cost, target);
                        }
                    }
                }
            }
            for (row, best) in uncertain.iter().zip(best) {
                ids[row.row] = best.1;
            }
        }
    }
}

/// A row whose best scores are too close to decide.
pub(super) struct Uncertain {
    pub(super) row: usize,
    /// The nearest target has at least this score.
    pub(super) reach: f64,
}

/// The positions of the set bits.
pub(super) fn lanes(mut bits: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lane = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (lane < 64).then_some(lane as usize)
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
    pub(super) reached: Vec<u64>,
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
        kernels.scores(
            &self.rows,
            panel,
            self.targets.dim,
            &self.bounds,
            &mut self.scores,
            &mut self.reached,
        );
    }
}

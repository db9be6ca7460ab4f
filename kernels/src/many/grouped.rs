//! The nearest target of rows that know a little already: a target that is near, and for each group of targets, a
//! panel or a part of one, how far these are at least. Groups that are too far are left out (the bounds of Yinyang
//! k-means, Ding et al. 2015).
//!
//! ```text
//!            group 0   group 1   group 2
//! row 0         ·         ×         ·        × meets: its bound is below the distance that is known
//! row 1         ×         ×         ·
//! row 2         ·         ·         ·        stays with its target
//!               │         │
//!               ▼         ▼
//!            tile of   tile of
//!            row 1     rows 0, 1
//! ```

use alloc::{vec, vec::Vec};

use super::{
    NONE, Number, Targets,
    block::{Decision, Kept, Uncertain},
};
use crate::arch::all::{
    many::MOST,
    prefetch,
    sqrt::{sqrt, sqrt_f64},
};

/// How many rows ahead memory is asked for, beyond those of a block, too.
const AHEAD: usize = 8;
/// A share that makes up for all roundings of a few operations in f64.
const LITTLE: f64 = 1e-12;

/// Rows with what is known of them.
pub(crate) struct Known<'a, N> {
    pub(crate) rows: &'a [N],
    /// Exact, but for a rounding.
    pub(crate) norms: &'a [f64],
    /// The target that is near, or [`NONE`]; the nearest afterwards.
    pub(crate) ids: &'a mut [u32],
    /// The distance to the nearest, without its weight, where it is measured.
    pub(crate) distances: &'a mut [f32],
    /// For each row and group a lower bound of the distances, not squared, to the targets of the group other than
    /// the row's own.
    pub(crate) bounds: &'a mut [f32],
}

/// Room that blocks use one after the other.
pub(crate) struct Room<N> {
    /// The rows that meet each group.
    meeting: Vec<Vec<u32>>,
    /// Whether a row meets any.
    meets: Vec<bool>,
    tile: Vec<N>,
    largest: Vec<N>,
    kept: Kept<N>,
    settled: Vec<[N; 3]>,
    /// For each row what is certain of the squared distance to a target, but for twice its score.
    squares: Vec<f64>,
}

impl<N> Room<N> {
    pub(crate) fn new() -> Self {
        Room {
            meeting: Vec::new(),
            meets: Vec::new(),
            tile: Vec::new(),
            largest: Vec::new(),
            kept: Kept::new(),
            settled: Vec::new(),
            squares: Vec::new(),
        }
    }
}

impl<N: Number> Targets<N> {
    /// How many groups of targets there are.
    pub(crate) fn groups(&self) -> usize {
        self.count.div_ceil(self.kernels.group())
    }

    /// Finds the nearest targets under L2, and lower bounds anew for the groups that were met; returns how many
    /// distances were computed. `moved` says how far the targets of each group may have moved since the bounds were
    /// right.
    pub(crate) fn nearest_of_known(
        &self,
        known: &mut Known<'_, N>,
        group_of: &[u32],
        moved: &[f32],
        measure: bool,
        room: &mut Room<N>,
    ) -> u64 {
        let kernels = self.kernels;
        let (groups, width, tile) = (self.groups(), kernels.group(), kernels.placed_rows());
        let weights = || self.weights.iter().copied();
        let (lightest, heaviest) = (weights().fold(f64::INFINITY, f64::min), weights().fold(0.0, f64::max));
        room.squares.clear();
        room.squares.extend(known.norms.iter().map(|norm| {
            // A score may be too low by the slack of the row, and has half of a weight taken off.
            norm * norm * (1.0 - LITTLE) - 2.0 * self.row_slack(*norm) - heaviest
        }));
        let mut computed = self.choose_groups(known, group_of, moved, lightest, room);

        room.tile.resize(tile * self.dim, N::default());
        room.largest.resize(tile, N::default());
        // Rows that only fill up a tile have the place after the last.
        room.kept.clear(known.norms.len() + 1, kernels);
        let kept = room.kept.all();
        let mut filled = [0; MOST];
        let of_panel = kernels.width() / width;
        let panels = self.panels.iter().flat_map(|panel| (0..of_panel).map(move |part| (panel, part)));
        for (at, (panel, part)) in panels.take(groups).enumerate() {
            let members = self.count.min((at + 1) * width) - at * width;
            computed += (room.meeting[at].len() * members) as u64;
            for rows in room.meeting[at].chunks(tile) {
                for (&row, place) in rows.iter().zip(room.tile.chunks_exact_mut(self.dim)) {
                    place.copy_from_slice(&known.rows[row as usize * self.dim..][..self.dim]);
                }
                filled.fill(known.norms.len() as u32);
                filled[..rows.len()].copy_from_slice(rows);
                let (rows_of_tile, largest) = (&room.tile, &mut room.largest);
                kernels.best_placed(rows_of_tile, panel, part, self.dim, &filled[..tile], kept, largest);
                for (&row, largest) in rows.iter().zip(largest) {
                    let square = room.squares[row as usize] - 2.0 * largest.wide();
                    known.bounds[row as usize * groups + at] = root_below(square);
                }
            }
        }
        self.decide_known(known, group_of, measure, room);
        computed
    }

    /// Lists for each group the rows that meet it: those with a bound that is not above the distance they know. A row
    /// that meets any group meets that of its own target. Returns how many distances were computed.
    fn choose_groups(
        &self,
        known: &mut Known<'_, N>,
        group_of: &[u32],
        moved: &[f32],
        lightest: f64,
        room: &mut Room<N>,
    ) -> u64 {
        let groups = self.groups();
        room.meeting.resize_with(groups, Vec::new);
        room.meeting.iter_mut().for_each(Vec::clear);
        room.meets.clear();
        // What a distance in f32 may be off by, see the table of the module.
        let rounding = 1.0 + (self.dim + 16) as f64 * f64::from(f32::EPSILON);
        let smallest = self.dim as f64 * f64::from(f32::MIN_POSITIVE);
        let mut computed = 0;
        let line = (64 / size_of::<N>()).max(1);
        for (row, bounds) in known.bounds.chunks_exact_mut(groups).enumerate() {
            for item in (0..self.dim).step_by(line) {
                prefetch::read(known.rows.as_ptr().wrapping_add((row + AHEAD) * self.dim + item));
            }
            let (mut limit, mut own) = (f64::INFINITY, None);
            if known.ids[row] != NONE {
                let id = known.ids[row] as usize;
                known.distances[row] = self.distance(&known.rows[row * self.dim..][..self.dim], id);
                limit = f64::from(known.distances[row]) * rounding + smallest + self.weights[id] - lightest;
                own = Some(group_of[id] as usize);
                computed += 1;
            }
            let limit = float_above(sqrt_f64(limit.max(0.0)) * (1.0 + LITTLE));
            for (bound, moved) in bounds.iter_mut().zip(moved) {
                // Two roundings, each less than half of the share that is taken off.
                *bound = *bound * (1.0 - f32::EPSILON) - moved;
            }
            // A bound that is not a number is none.
            let reaches = |bound: &f32| *bound <= limit || bound.is_nan() || limit.is_nan();
            let meets = bounds.iter().fold(false, |any, bound| any | reaches(bound));
            room.meets.push(meets);
            if meets {
                for (group, bound) in bounds.iter().enumerate() {
                    if reaches(bound) || Some(group) == own {
                        room.meeting[group].push(row as u32);
                    }
                }
            }
        }
        computed
    }

    /// Settles rows that have met groups.
    fn decide_known(&self, known: &mut Known<'_, N>, group_of: &[u32], measure: bool, room: &mut Room<N>) {
        let (kernels, groups) = (self.kernels, self.groups());
        let lanes = kernels.lanes();
        room.settled.resize(lanes, [N::default(); 3]);
        let mut uncertain = Vec::new();
        let rows_of_lanes = room.meets.chunks(lanes).zip(room.kept.all().chunks_mut(lanes * kernels.kept()));
        for (at, (meets, kept)) in rows_of_lanes.enumerate() {
            if !meets.contains(&true) {
                continue;
            }
            let settled = &mut room.settled[..meets.len()];
            kernels.settle(&mut kept[..meets.len() * kernels.kept()], settled);
            for ((row, &meets), &scores) in (at * lanes..).zip(meets).zip(&*settled) {
                if !meets {
                    continue;
                }
                let (norm, elements) = (known.norms[row], &known.rows[row * self.dim..][..self.dim]);
                let id = match self.decide(norm, scores) {
                    // All rows have a distance.
                    Decision::Nothing => NONE,
                    Decision::Search => {
                        known.bounds[row * groups..][..groups].fill(0.0);
                        self.search(elements) as u32
                    }
                    Decision::Certain(id) => {
                        // No other target of the groups that were met has a better score than the second.
                        let square = room.squares[row] - 2.0 * scores[1].wide();
                        known.bounds[row * groups + group_of[id] as usize] = root_below(square);
                        id as u32
                    }
                    // The bounds of all groups take in the nearest target, whichever it is.
                    Decision::Uncertain(reach) => {
                        uncertain.push(Uncertain { row, reach });
                        continue;
                    }
                };
                self.place(known, row, id, measure);
            }
        }
        if uncertain.is_empty() {
            return;
        }
        let mut ids = vec![NONE; known.norms.len()];
        self.resolve(known.rows, &uncertain, &mut ids);
        for row in uncertain.iter().map(|uncertain| uncertain.row) {
            self.place(known, row, ids[row], measure);
        }
    }

    /// Says what the nearest target of a row is.
    fn place(&self, known: &mut Known<'_, N>, row: usize, id: u32, measure: bool) {
        if measure && id != NONE && id != known.ids[row] {
            known.distances[row] = self.distance(&known.rows[row * self.dim..][..self.dim], id as usize);
        }
        known.ids[row] = id;
    }
}

/// The f32 next to a number, not below it.
fn float_above(number: f64) -> f32 {
    let near = number as f32;
    if f64::from(near) < number { near.next_up() } else { near }
}

/// A number a little below the root of `square`, or zero.
fn root_below(square: f64) -> f32 {
    /// Takes off more than the roundings to f32 and of the root add.
    const LESS: f32 = 1.0 - 4.0 * f32::EPSILON;
    // The smallest of numbers do not lose only a share of themselves.
    if square < f64::from(f32::MIN_POSITIVE) {
        0.0
    } else {
        sqrt(square.min(f64::from(f32::MAX)) as f32) * LESS
    }
}

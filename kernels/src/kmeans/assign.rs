//! Rows go to their nearest centroids, and are summed up while they are in the cache.
//!
//! ```text
//! part 0: block 0 ─▶ ids ─▶ sums of part 0 ─┐
//!         block 1 ─▶ ids ─▶       "        ─┤
//! part 1: block 2 ─▶ ids ─▶ sums of part 1 ─┼─▶ sums
//!         ⋮                                 ┘
//! ```
//!
//! Sums are taken in the order of the rows of a part, and then in the order of parts. How many parts there are depends on
//! nothing but the numbers of rows and clusters, so the sums do not depend on the number of threads. Where there are
//! too many threads for the parts, rows are assigned first and then summed up, some columns by each thread, in the same
//! order.
//!
//! From the second iteration on only rows that have moved are added to the sums of their clusters and taken off those
//! that they left, unless most have. f64 has room for that: each addition is off by 2⁻⁵³ of a sum at most, while the
//! mean is rounded to 2⁻²⁴ of itself. Sums are taken anew every few iterations, and always where some rows are so much
//! longer than others that they would leave their rounding behind, or numbers are f64.

use alloc::{vec, vec::Vec};
use core::sync::atomic::AtomicBool;

use super::{
    bounds::Bounds,
    numbers::{Memory, Numbers},
    options::is_set,
    space::Assigned,
};
use crate::many::{Known, NONE, Number, Room, Scratch, Targets};

/// The most parts; more would not be worth adding up.
const PARTS: usize = 8;
/// Rows of a part for each cluster, at least.
const ROWS_OF_CLUSTER: usize = 8;
/// Parts for each thread, at least, so that all threads end at about the same time.
const PARTS_OF_THREAD: usize = 4;
/// After so many iterations sums are taken anew.
const MOST_AGE: usize = 16;
/// Sums that one thread adds up at once.
const ADDED: usize = 4096;

/// Rows that one thread assigns at once.
struct Job<'a, N> {
    /// Number of the first row.
    first: usize,
    rows: &'a [N],
    norms: &'a [f64],
    /// The clusters that sums have the rows in.
    before: &'a [u32],
    ids: &'a mut [u32],
    distances: &'a mut [f32],
    /// As many for each row as there are groups, or none.
    bounds: &'a mut [f32],
}

/// What all jobs have in common.
struct Task<'a, N: Number> {
    rows: &'a Numbers<'a, N>,
    targets: &'a Targets<N>,
    measure: bool,
    bounds: Option<Moved<'a>>,
    cancel: Option<&'a AtomicBool>,
}

/// What bounds need to know.
struct Moved<'a> {
    /// The group of each centroid.
    group_of: &'a [u32],
    /// How far the centroids of each group have moved at most.
    moved: Vec<f32>,
    /// One block of so many uses bounds.
    every: usize,
}

/// How many distances a job computed.
#[derive(Clone, Copy, Default)]
struct Done {
    computed: u64,
    /// Those of blocks with bounds, and those that they would have computed without.
    bounded: u64,
    of: u64,
}

impl Done {
    fn and(self, other: Done) -> Done {
        let (computed, bounded) = (self.computed + other.computed, self.bounded + other.bounded);
        Done { computed, bounded, of: self.of + other.of }
    }
}

/// Room that one thread uses for one block after the other.
struct Rooms<N> {
    scratch: Scratch<N>,
    room: Room<N>,
}

impl<N> Rooms<N> {
    fn new() -> Self {
        Rooms { scratch: Scratch::new(), room: Room::new() }
    }
}

impl<N: Number> Task<'_, N> {
    /// Assigns the rows of a job block by block, and sums them up unless there is no room for sums.
    fn work(&self, rooms: &mut Rooms<N>, job: Job<'_, N>, sums: &mut [f64]) -> Done {
        let (targets, dim, clusters) = (self.targets, self.targets.dim(), self.targets.len());
        let (block, groups) = (targets.block_rows(), targets.groups());
        sums.fill(0.0);
        let mut done = Done::default();
        let blocks = (job.rows.chunks(block * dim).zip(job.norms.chunks(block)))
            .zip(job.ids.chunks_mut(block).zip(job.distances.chunks_mut(block)))
            .zip(job.before.chunks(block));
        let mut bounds = job.bounds.chunks_mut(block * groups);
        let mut first = job.first;
        for (((rows, norms), (ids, distances)), before) in blocks {
            if is_set(self.cancel) {
                break;
            }
            let all = (norms.len() * clusters) as u64;
            let bounds = bounds.next().unwrap_or_default();
            done.computed += match &self.bounds {
                Some(Moved { group_of, moved, every }) if (first / block).is_multiple_of(*every) => {
                    let mut known = Known { rows, norms, ids, distances, bounds };
                    let computed =
                        targets.nearest_of_known(&mut known, group_of, moved, self.measure, &mut rooms.room);
                    done.bounded += computed;
                    done.of += all;
                    computed
                }
                _ => {
                    let ahead = self.rows.rows[first * dim..].chunks(block * dim).nth(1).unwrap_or_default();
                    targets.nearest_of_block(rows, norms, ahead.into(), ids, &mut rooms.scratch);
                    if self.measure {
                        targets.measure(rows, ids, distances);
                    }
                    all
                }
            };
            if !sums.is_empty() {
                self.rows.kernels.move_rows(sums, rows, dim, 0..dim, before, ids);
            }
            first += norms.len();
        }
        done
    }
}

impl<N: Number> Numbers<'_, N> {
    /// Assigns all rows, and sums up those of each cluster.
    pub(super) fn assign_and_sum(
        &self,
        targets: &Targets<N>,
        measure: bool,
        memory: &mut Memory<N>,
        assigned: &mut Assigned,
        cancel: Option<&AtomicBool>,
    ) -> u64 {
        let Memory { sums, sums_of_parts, may_last, age, bounds } = memory;
        let (rows, dim, threads) = (self.norms.len(), self.dim, self.threads.count());
        let part = rows.div_ceil((rows / (ROWS_OF_CLUSTER * targets.len())).clamp(1, PARTS)).max(1);
        let parts = rows.div_ceil(part);
        let at_once = threads == 1 || parts >= threads * PARTS_OF_THREAD;
        let size = if at_once { part } else { targets.block_rows() };

        let none;
        let before = if *age == 0 {
            sums.fill(0.0);
            none = vec![NONE; rows];
            &none
        } else {
            &assigned.before
        };
        *age = if *may_last { (*age + 1) % MOST_AGE } else { 0 };
        let mut task = Task { rows: self, targets, measure, bounds: None, cancel };
        let mut no_bounds = Vec::new();
        let bounds_of_rows = match bounds {
            None => &mut no_bounds,
            Some(bounds) => {
                let moved = bounds.moved(targets);
                let every = bounds.every();
                let Bounds { group_of, bounds, .. } = bounds;
                task.bounds = Some(Moved { group_of, moved, every });
                bounds
            }
        };
        let mut bounds_of_rows = bounds_of_rows.chunks_mut(size * targets.groups());
        let jobs = (self.rows.chunks(size * dim).zip(self.norms.chunks(size)))
            .zip(assigned.ids.chunks_mut(size).zip(assigned.distances.chunks_mut(size)))
            .zip(before.chunks(size));
        let jobs =
            (0..).step_by(size).zip(jobs).map(|(first, (((rows, norms), (ids, distances)), before))| {
                let bounds = bounds_of_rows.next().unwrap_or_default();
                Job { first, rows, norms, before, ids, distances, bounds }
            });
        let done = if threads == 1 {
            sums_of_parts.resize(sums.len(), 0.0);
            let mut rooms = Rooms::new();
            jobs.fold(Done::default(), |done, job| {
                let more = task.work(&mut rooms, job, sums_of_parts);
                add(sums, sums_of_parts);
                done.and(more)
            })
        } else {
            sums_of_parts.resize(if at_once { parts * sums.len() } else { 0 }, 0.0);
            let mut sums_of_jobs = sums_of_parts.chunks_mut(sums.len());
            let jobs = jobs.map(|job| (job, sums_of_jobs.next().unwrap_or_default())).collect();
            let done =
                self.threads.map_with(jobs, Rooms::new, |rooms, (job, sums)| task.work(rooms, job, sums));
            if at_once {
                self.add_parts(sums_of_parts, sums);
            } else {
                self.sum(before, &assigned.ids, part, sums);
            }
            done.into_iter().fold(Done::default(), Done::and)
        };
        if let Some(bounds) = bounds {
            bounds.learn(done.bounded, done.of);
        }
        done.computed
    }

    /// Whether sums may be kept while rows come and go.
    pub(super) fn sums_may_last(&self) -> bool {
        /// What the squared norm of a row may be of the mean one.
        const MOST: f64 = (1u64 << 32) as f64;
        let longest = self.norms.iter().copied().fold(0.0, f64::max);
        let mean = self.squares / self.norms.len() as f64;
        N::ROUNDING > f64::EPSILON && longest * longest <= mean * MOST && mean.is_finite()
    }

    /// Adds up the sums of parts.
    fn add_parts(&self, sums_of_parts: &[f64], sums: &mut [f64]) {
        let len = sums.len();
        self.threads.map(sums.chunks_mut(ADDED).enumerate().collect(), |(at, sums)| {
            for part in sums_of_parts.chunks_exact(len) {
                add(sums, &part[at * ADDED..][..sums.len()]);
            }
        });
    }

    /// Moves rows between sums, part by part, each thread some columns.
    fn sum(&self, before: &[u32], ids: &[u32], part: usize, sums: &mut [f64]) {
        let dim = self.dim;
        let columns = dim.div_ceil(self.threads.count()).next_multiple_of(16);
        let ranges = (0..dim).step_by(columns).map(|at| at..dim.min(at + columns)).collect();
        let of_ranges = self.threads.map(ranges, |columns| {
            let of_range = sums.chunks_exact(dim).flat_map(|sums| &sums[columns.clone()]);
            let mut sums: Vec<f64> = of_range.copied().collect();
            let mut of_part = vec![0.0; sums.len()];
            let ids = before.chunks(part).zip(ids.chunks(part));
            for (rows, (before, ids)) in self.rows.chunks(part * dim).zip(ids) {
                of_part.fill(0.0);
                self.kernels.move_rows(&mut of_part, rows, dim, columns.clone(), before, ids);
                add(&mut sums, &of_part);
            }
            (columns, sums)
        });
        for (columns, of_range) in of_ranges {
            for (sums, of_range) in sums.chunks_exact_mut(dim).zip(of_range.chunks_exact(columns.len())) {
                sums[columns.clone()].copy_from_slice(of_range);
            }
        }
    }
}

fn add(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

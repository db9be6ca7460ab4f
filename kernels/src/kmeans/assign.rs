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

use alloc::{vec, vec::Vec};
use core::sync::atomic::AtomicBool;

use super::{
    bounds::Bounds,
    numbers::{Memory, Numbers},
    options::is_set,
    space::{Assigned, Met},
};
use crate::many::{Known, Number, Room, Scratch, Targets};

/// The most parts; more would not be worth adding up.
const PARTS: usize = 16;
/// Rows of a part for each cluster, at least.
const ROWS_OF_CLUSTER: usize = 8;
/// Parts for each thread, at least, so that all threads end at about the same time.
const PARTS_OF_THREAD: usize = 4;
/// Sums that one thread adds up at once.
const ADDED: usize = 4096;

/// Rows that one thread assigns at once.
struct Job<'a, N> {
    /// Number of the first row.
    first: usize,
    rows: &'a [N],
    norms: &'a [f64],
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

/// What a job did.
#[derive(Clone, Copy, Default)]
struct Done {
    met: Met,
    /// Distances that blocks with bounds computed, and those that they would have computed without.
    bounded: u64,
    of: u64,
}

impl Done {
    fn and(self, other: Done) -> Done {
        Done {
            met: Met {
                computed: self.met.computed + other.met.computed,
                moved: self.met.moved + other.met.moved,
            },
            bounded: self.bounded + other.bounded,
            of: self.of + other.of,
        }
    }
}

/// Room that one thread uses for one block after the other.
struct Rooms<N> {
    scratch: Scratch<N>,
    room: Room<N>,
    before: Vec<u32>,
}

impl<N> Rooms<N> {
    fn new() -> Self {
        Rooms { scratch: Scratch::new(), room: Room::new(), before: Vec::new() }
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
            .zip(job.ids.chunks_mut(block).zip(job.distances.chunks_mut(block)));
        let mut bounds = job.bounds.chunks_mut(block * groups);
        let mut first = job.first;
        for ((rows, norms), (ids, distances)) in blocks {
            if is_set(self.cancel) {
                break;
            }
            rooms.before.clear();
            rooms.before.extend_from_slice(ids);
            let all = (norms.len() * clusters) as u64;
            let bounds = bounds.next().unwrap_or_default();
            done.met.computed += match &self.bounds {
                Some(Moved { group_of, moved, every }) if (first / block) % every == 0 => {
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
            done.met.moved += rooms.before.iter().zip(&*ids).filter(|(before, id)| before != id).count();
            if !sums.is_empty() {
                self.rows.kernels.add_rows(sums, rows, dim, 0..dim, ids);
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
    ) -> Met {
        let Memory { sums, sums_of_parts, bounds } = memory;
        let (rows, dim, threads) = (self.norms.len(), self.dim, self.threads.count());
        let part = rows.div_ceil((rows / (ROWS_OF_CLUSTER * targets.len())).clamp(1, PARTS)).max(1);
        let parts = rows.div_ceil(part);
        let at_once = threads == 1 || parts >= threads * PARTS_OF_THREAD;
        let size = if at_once { part } else { targets.block_rows() };

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
            .zip(assigned.ids.chunks_mut(size).zip(assigned.distances.chunks_mut(size)));
        let jobs = (0..).step_by(size).zip(jobs).map(|(first, ((rows, norms), (ids, distances)))| {
            let bounds = bounds_of_rows.next().unwrap_or_default();
            Job { first, rows, norms, ids, distances, bounds }
        });
        let done = if threads == 1 {
            sums_of_parts.resize(sums.len(), 0.0);
            sums.fill(0.0);
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
                self.sum(&assigned.ids, part, sums);
            }
            done.into_iter().fold(Done::default(), Done::and)
        };
        if let Some(bounds) = bounds {
            bounds.learn(done.bounded, done.of);
        }
        done.met
    }

    /// Adds up the sums of parts.
    fn add_parts(&self, sums_of_parts: &[f64], sums: &mut [f64]) {
        let len = sums.len();
        self.threads.map(sums.chunks_mut(ADDED).enumerate().collect(), |(at, sums)| {
            sums.fill(0.0);
            for part in sums_of_parts.chunks_exact(len) {
                add(sums, &part[at * ADDED..][..sums.len()]);
            }
        });
    }

    /// Sums up the rows of each cluster, part by part, each thread some columns.
    fn sum(&self, ids: &[u32], part: usize, sums: &mut [f64]) {
        let dim = self.dim;
        let columns = dim.div_ceil(self.threads.count()).next_multiple_of(16);
        let ranges: Vec<_> = (0..dim).step_by(columns).map(|at| at..dim.min(at + columns)).collect();
        let of_ranges = self.threads.map(ranges.clone(), |columns| {
            let mut sums = vec![0.0; sums.len() / dim * columns.len()];
            let mut of_part = sums.clone();
            for (rows, ids) in self.rows.chunks(part * dim).zip(ids.chunks(part)) {
                of_part.fill(0.0);
                self.kernels.add_rows(&mut of_part, rows, dim, columns.clone(), ids);
                add(&mut sums, &of_part);
            }
            sums
        });
        for (columns, of_range) in ranges.into_iter().zip(of_ranges) {
            let width = columns.len();
            for (sums, of_range) in sums.chunks_exact_mut(dim).zip(of_range.chunks_exact(width)) {
                sums[columns.clone()].copy_from_slice(of_range);
            }
        }
    }
}

fn add(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

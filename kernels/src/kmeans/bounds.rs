//! What rows remember from one iteration to the next, so that not all distances are computed again.
//!
//! Centroids are put into groups of near ones, which lie side by side in panels. A row keeps a lower bound of its
//! distances to each group; when centroids move, it falls by the longest way that one of the group has gone. A group
//! whose bound is above the distance of the row to its own centroid, which is computed, cannot hold the nearest.
//!
//! Whether that pays depends on the rows and on how far centroids still move. So a few blocks of rows keep bounds from
//! the beginning, and the others do as long as that leaves enough distances out.
//!
//! Groups of 16 or 32 were chosen by measurement: with one bound for all centroids (Hamerly 2010) three of four rows
//! still had to meet all of them after ten iterations, and with one for each centroid (Elkan 2003) there is little left
//! to compute, but one at a time, and as many bounds as a matrix of distances has.

use alloc::{vec, vec::Vec};

use super::{Control, Iteration, KMeans, lloyd, lloyd::Place, numbers::Numbers};
use crate::{
    arch::all::many_kernels::Kernels,
    many::{Metric, Number, Targets},
    parallel::Threads,
    random::Random,
};

/// Below these, bounds cost more than they save.
const LEAST_DIM: usize = 24;
const LEAST_GROUPS: usize = 2;

/// One block of so many tries bounds.
const SAMPLE: usize = 64;
/// What a row costs that meets a group, beside its products: as much as those of so many elements, by measurement.
const MEETING: f64 = 64.0;
/// All blocks use bounds when those that do save so much of the time,
const BEGIN: f64 = 0.3;
/// and until they save no more than that.
const END: f64 = 0.1;

pub(super) struct Bounds<N: Number> {
    /// Which centroid is at each place of the panels.
    pub(super) order: Vec<u32>,
    /// Which group each centroid is in.
    pub(super) group_of: Vec<u32>,
    /// The centroids that the bounds are right for.
    before: Vec<N>,
    kernels: &'static Kernels<N>,
    /// For each row a bound for each group.
    pub(super) bounds: Vec<f32>,
    used: Used,
}

/// Which blocks use bounds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Used {
    /// A few, to see whether bounds pay.
    Sample,
    /// All, of which most begin to.
    New,
    /// All.
    All,
}

/// Whether bounds pay, with groups of `width` centroids.
pub(super) fn pay(clusters: usize, dim: usize, width: usize) -> bool {
    dim >= LEAST_DIM && clusters > LEAST_GROUPS * width
}

impl<N: Number> Bounds<N> {
    /// Bounds that say nothing yet, for `rows` rows.
    pub(super) fn new(centroids: &[N], dim: usize, rows: usize, kernels: &'static Kernels<N>) -> Self {
        let width = kernels.group();
        let order = groups(centroids, dim, width);
        let mut group_of = vec![0; order.len()];
        for (place, &id) in order.iter().enumerate() {
            group_of[id as usize] = (place / width) as u32;
        }
        let groups = order.len().div_ceil(width);
        Bounds {
            order,
            group_of,
            before: centroids.to_vec(),
            kernels,
            bounds: vec![0.0; rows * groups],
            used: Used::Sample,
        }
    }

    /// How far a centroid of each group has moved at most since the last time.
    pub(super) fn moved(&mut self, targets: &Targets<N>) -> Vec<f32> {
        /// Makes up for the rounding of a distance.
        const MORE: f64 = 1.0 + 1e-6;
        let (kernels, dim) = (self.kernels, targets.dim());
        let mut moved = vec![0.0f32; self.order.len().div_ceil(kernels.group())];
        for ((id, before), &group) in self.before.chunks_exact_mut(dim).enumerate().zip(&self.group_of) {
            let now = targets.vector(id);
            let square = kernels.squared_distance_wide(now, before);
            let longest = &mut moved[group as usize];
            // Not `f32::max`, which would pass over what is not a number.
            let way = (crate::arch::all::sqrt::sqrt_f64(square) * MORE) as f32;
            *longest = if way <= *longest { *longest } else { way };
            before.copy_from_slice(now);
        }
        moved
    }

    /// One block of so many uses bounds.
    pub(super) fn every(&self) -> usize {
        if self.used == Used::Sample { SAMPLE } else { 1 }
    }

    /// Learns that where bounds were used, so many distances were computed, `of` so many.
    pub(super) fn learn(&mut self, computed: u64, of: u64) {
        let dim = (self.before.len() / self.order.len()) as f64;
        let saved = 1.0 - computed as f64 / of as f64 * (dim + MEETING) / dim;
        self.used = match self.used {
            Used::Sample if saved >= BEGIN => Used::New,
            Used::New => Used::All,
            Used::All if saved < END => {
                self.bounds.fill(0.0);
                Used::Sample
            }
            used => used,
        }
    }
}

/// The centroids in an order that has near ones side by side: a small k-means of the centroids.
fn groups<N: Number>(centroids: &[N], dim: usize, width: usize) -> Vec<u32> {
    const ITERATIONS: usize = 5;
    let count = centroids.len() / dim;
    let norms = super::prepare::norms_of(centroids, dim);
    let space = Numbers::new(centroids.into(), norms, dim, Metric::L2, Threads::One);
    let options = KMeans::plain(count.div_ceil(width)).iterations(ITERATIONS).prune(false);
    let (mut log, place): (Vec<Iteration>, _) = (Vec::new(), Place { redo: 0, divided: 0 });
    let run = lloyd::run(
        &space,
        options.clusters,
        &options,
        &mut Random(0),
        place,
        &mut Control::default(),
        &mut log,
    );
    let mut order: Vec<u32> = (0..count as u32).collect();
    if let Ok(run) = run {
        order.sort_by_key(|&id| run.assigned.ids[id as usize]);
    }
    order
}

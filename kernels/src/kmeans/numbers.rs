//! Rows of numbers, under L2 or dot.

use alloc::{borrow::Cow, vec, vec::Vec};
use core::sync::atomic::AtomicBool;

use super::{
    Control, Error,
    bounds::{self, Bounds},
    options::is_set,
    space::{Assigned, Space},
};
use crate::{
    arch::all::many_kernels::Kernels,
    many::{Known, Metric, Number, Room, Scratch, Targets},
    parallel::Threads,
    random::Random,
};

/// Rows for each part of the work that is not done in blocks.
const PART: usize = 4096;

/// Rows whose norms are finite.
pub(super) struct Numbers<'a, N: Number> {
    rows: Cow<'a, [N]>,
    dim: usize,
    metric: Metric,
    norms: Vec<f64>,
    /// Those of the whole training, since panels depend on them.
    kernels: &'static Kernels<N>,
    threads: Threads,
}

impl<'a, N: Number> Numbers<'a, N> {
    /// Rows with their norms.
    pub(super) fn new(
        rows: Cow<'a, [N]>,
        norms: Vec<f64>,
        dim: usize,
        metric: Metric,
        threads: Threads,
    ) -> Self {
        Numbers { rows, dim, metric, norms, kernels: N::kernels(), threads }
    }

    /// Meets all centroids.
    fn assign_all(
        &self,
        targets: &Targets<N>,
        measure: bool,
        assigned: &mut Assigned,
        cancel: Option<&AtomicBool>,
    ) -> u64 {
        let block = targets.block_rows();
        let parts = (self.rows.chunks(block * self.dim).zip(self.norms.chunks(block)))
            .zip(assigned.ids.chunks_mut(block).zip(assigned.distances.chunks_mut(block)));
        self.threads.map_with(parts.enumerate().collect(), Scratch::new, |scratch, (part, parts)| {
            let ((rows, norms), (ids, distances)) = parts;
            if is_set(cancel) {
                return;
            }
            let ahead = self.rows.chunks(block * self.dim).nth(part + 1).unwrap_or_default();
            let found = targets.nearest_of_block(rows, norms, ahead, measure, scratch);
            for (found, (id, distance)) in found.iter().zip(ids.iter_mut().zip(distances)) {
                (*id, *distance) = (found.id, found.distance);
            }
        });
        self.len() as u64 * targets.len() as u64
    }

    /// Meets those centroids that bounds do not exclude.
    fn assign_known(
        &self,
        targets: &Targets<N>,
        measure: bool,
        assigned: &mut Assigned,
        bounds: &mut Bounds<N>,
        moved: &[f32],
        cancel: Option<&AtomicBool>,
    ) -> u64 {
        let block = targets.block_rows();
        let panel_of = &bounds.panel_of;
        let rows = self.rows.chunks(block * self.dim).zip(self.norms.chunks(block));
        let known = assigned.ids.chunks_mut(block).zip(assigned.distances.chunks_mut(block));
        let parts = rows.zip(known).zip(bounds.bounds.chunks_mut(block * targets.panels()));
        let computed = self.threads.map_with(parts.collect(), Room::new, |room, parts| {
            let (((rows, norms), (ids, distances)), bounds) = parts;
            if is_set(cancel) {
                return 0;
            }
            let mut known = Known { rows, norms, ids, distances, bounds };
            targets.nearest_of_known(&mut known, panel_of, moved, measure, room)
        });
        computed.into_iter().sum()
    }

    /// Sums up the rows of each cluster, centroid after centroid. Each thread sums up some columns of all rows in
    /// their order, so that the sums do not depend on the number of threads.
    fn sum(&self, assigned: &Assigned, sums: &mut [f64]) {
        let clusters = assigned.sizes.len();
        let columns = self.dim.div_ceil(self.threads.count()).next_multiple_of(16);
        let parts: Vec<_> = (0..self.dim).step_by(columns).map(|at| at..self.dim.min(at + columns)).collect();
        let kernels = self.kernels;
        if let [_] = parts[..] {
            sums.fill(0.0);
            return kernels.add_rows(sums, &self.rows, self.dim, 0..self.dim, &assigned.ids);
        }
        let by_part = self.threads.map(parts.clone(), |columns| {
            let mut sums = vec![0.0; clusters * columns.len()];
            kernels.add_rows(&mut sums, &self.rows, self.dim, columns, &assigned.ids);
            sums
        });
        for (columns, part) in parts.into_iter().zip(by_part) {
            let width = columns.len();
            for (sums, part) in sums.chunks_exact_mut(self.dim).zip(part.chunks_exact(width)) {
                sums[columns.clone()].copy_from_slice(part);
            }
        }
    }
}

/// What an iteration leaves to the next.
pub(super) struct Memory<N: Number> {
    /// Sums of the rows of clusters.
    sums: Vec<f64>,
    /// What is known of distances, where that pays.
    bounds: Option<Bounds<N>>,
}

impl<N: Number> Space for Numbers<'_, N> {
    type Item = N;
    type Memory = Memory<N>;

    fn len(&self) -> usize {
        self.norms.len()
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn row(&self, row: usize) -> &[N] {
        &self.rows[row * self.dim..][..self.dim]
    }

    fn subset(&self, rows: &[u32]) -> Self {
        let mut taken = Vec::with_capacity(rows.len() * self.dim);
        rows.iter().for_each(|&row| taken.extend_from_slice(self.row(row as usize)));
        let norms = rows.iter().map(|&row| self.norms[row as usize]).collect();
        Numbers { rows: Cow::Owned(taken), norms, ..*self }
    }

    fn by_distance(self) -> Self {
        Numbers { metric: Metric::L2, ..self }
    }

    fn approach(&self, centroid: &[N], nearest: &mut [f64]) {
        let parts = self.rows.chunks(PART * self.dim).zip(nearest.chunks_mut(PART));
        self.threads.map(parts.collect(), |(rows, nearest)| {
            for (row, nearest) in rows.chunks_exact(self.dim).zip(nearest) {
                *nearest = nearest.min(N::kernels().squared_distance_wide(row, centroid));
            }
        });
    }

    fn inertia(&self, rows: &[u32], centroid: &[N]) -> f64 {
        let rows = rows.iter().map(|&row| self.row(row as usize));
        match self.metric {
            Metric::Dot => rows.map(|row| 1.0 - N::kernels().product_wide(row, centroid)).sum(),
            _ => rows.map(|row| N::kernels().squared_distance_wide(row, centroid)).sum(),
        }
    }

    fn memory(&self, centroids: &[N], prune: bool) -> Memory<N> {
        let pays = prune
            && self.metric == Metric::L2
            && bounds::pay(centroids.len() / self.dim, self.dim, self.kernels.width());
        let bounds = pays.then(|| Bounds::new(centroids, self.dim, self.len(), self.kernels));
        Memory { sums: vec![0.0; centroids.len()], bounds }
    }

    fn assign(
        &self,
        centroids: &[N],
        weights: &[f64],
        measure: bool,
        memory: &mut Memory<N>,
        assigned: &mut Assigned,
        control: &Control<'_>,
    ) -> Result<u64, Error> {
        let order = memory.bounds.as_ref().map(|bounds| &bounds.order[..]);
        // Means of finite rows are finite.
        let mut targets = Targets::in_order(centroids, self.dim, self.metric, order, self.kernels)
            .map_err(|_| Error::NotFinite)?;
        targets.set_weights(weights);
        let computed = match &mut memory.bounds {
            None => self.assign_all(&targets, measure, assigned, control.cancel),
            Some(bounds) => {
                let moved = bounds.moved(centroids, self.dim);
                self.assign_known(&targets, measure, assigned, bounds, &moved, control.cancel)
            }
        };
        control.check()?;
        Ok(computed)
    }

    fn means(&self, assigned: &Assigned, memory: &mut Memory<N>, centroids: &mut [N]) -> f64 {
        self.sum(assigned, &mut memory.sums);
        let sums = &memory.sums;
        let (mut products, mut squares) = (0.0, 0.0);
        let clusters =
            centroids.chunks_exact_mut(self.dim).zip(sums.chunks_exact(self.dim)).zip(&assigned.sizes);
        for ((centroid, sums), &size) in clusters {
            let size = f64::from(size);
            products += centroid.iter().zip(sums).map(|(c, sum)| c.wide() * sum).sum::<f64>();
            squares += size * centroid.iter().map(|c| c.wide() * c.wide()).sum::<f64>();
            if size > 0.0 {
                centroid.iter_mut().zip(sums).for_each(|(c, sum)| *c = N::round(sum / size));
            }
        }
        match self.metric {
            Metric::Dot => self.len() as f64 - products,
            // Σ |x − c|² = Σ |x|² − 2 Σ x·c + Σ |c|², of which the middle sum is that of the sums of clusters.
            _ => (self.norms.iter().map(|norm| norm * norm).sum::<f64>() - 2.0 * products + squares).max(0.0),
        }
    }

    /// Both get the donor's centroid, with its elements a little larger and smaller in turn.
    fn split(&self, centroids: &mut [N], donor: usize, empty: usize, _: &mut Random) {
        const LITTLE: f64 = 1.0 / 1024.0;
        for element in 0..self.dim {
            let more = if element % 2 == 0 { LITTLE } else { -LITTLE };
            let of_donor = centroids[donor * self.dim + element].wide();
            centroids[empty * self.dim + element] = N::round(of_donor * (1.0 + more));
            centroids[donor * self.dim + element] = N::round(of_donor * (1.0 - more));
        }
    }
}

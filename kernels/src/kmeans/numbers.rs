//! Rows of numbers, under L2 or dot.

use alloc::{borrow::Cow, vec, vec::Vec};

use super::{
    Control, Error,
    space::{Assigned, Space},
};
use crate::{
    many::{Metric, Number, Scratch, Targets},
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
        Numbers { rows, dim, metric, norms, threads }
    }

    /// Sums of the rows of each cluster, centroid after centroid. Each thread sums up some columns of all rows in
    /// their order, so that the sums do not depend on the number of threads.
    fn sums(&self, assigned: &Assigned) -> Vec<f64> {
        let clusters = assigned.sizes.len();
        let columns = self.dim.div_ceil(self.threads.count()).next_multiple_of(16);
        let parts: Vec<_> = (0..self.dim).step_by(columns).map(|at| at..self.dim.min(at + columns)).collect();
        let kernels = N::kernels();
        let mut by_part = self.threads.map(parts.clone(), |columns| {
            let mut sums = vec![0.0; clusters * columns.len()];
            kernels.add_rows(&mut sums, &self.rows, self.dim, columns, &assigned.ids);
            sums
        });
        if let [_] = by_part[..] {
            return by_part.swap_remove(0);
        }
        let mut sums = vec![0.0; clusters * self.dim];
        for (columns, part) in parts.into_iter().zip(by_part) {
            let width = columns.len();
            for (sums, part) in sums.chunks_exact_mut(self.dim).zip(part.chunks_exact(width)) {
                sums[columns.clone()].copy_from_slice(part);
            }
        }
        sums
    }
}

impl<N: Number> Space for Numbers<'_, N> {
    type Item = N;
    type Memory = ();

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

    fn memory(&self, _: usize) {}

    fn assign(
        &self,
        centroids: &[N],
        weights: &[f64],
        measure: bool,
        _: &mut (),
        assigned: &mut Assigned,
        control: &Control<'_>,
    ) -> Result<u64, Error> {
        // Means of finite rows are finite.
        let mut targets = Targets::new(centroids, self.dim, self.metric).map_err(|_| Error::NoClusters)?;
        targets.set_weights(weights);
        let block = targets.block_rows();
        let parts = (self.rows.chunks(block * self.dim).zip(self.norms.chunks(block)))
            .zip(assigned.ids.chunks_mut(block).zip(assigned.distances.chunks_mut(block)));
        let cancel = control.cancel;
        self.threads.map_with(parts.enumerate().collect(), Scratch::new, |scratch, (part, parts)| {
            let ((rows, norms), (ids, distances)) = parts;
            if super::options::is_set(cancel) {
                return;
            }
            let ahead = self.rows.chunks(block * self.dim).nth(part + 1).unwrap_or_default();
            let found = targets.nearest_of_block(rows, norms, ahead, measure, scratch);
            for (found, (id, distance)) in found.iter().zip(ids.iter_mut().zip(distances)) {
                (*id, *distance) = (found.id, found.distance);
            }
        });
        control.check()?;
        Ok(self.len() as u64 * targets.len() as u64)
    }

    fn means(&self, assigned: &Assigned, centroids: &mut [N]) -> f64 {
        let sums = self.sums(assigned);
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

//! Rows of numbers, under L2 or dot.

use super::{
    Control, Error,
    bounds::{self, Bounds},
    space::{Assigned, Space},
};
use crate::{
    arch::all::many_kernels::Kernels,
    many::{Metric, Number, Targets},
    parallel::Threads,
    random::Random,
};
use alloc::{borrow::Cow, vec, vec::Vec};

/// Rows for each part of the work that is not done in blocks.
pub(super) const PART: usize = 4096;

/// Rows whose norms are finite.
pub(super) struct Numbers<'a, N: Number> {
    pub(super) rows: Cow<'a, [N]>,
    pub(super) dim: usize,
    metric: Metric,
    pub(super) norms: Vec<f64>,
    /// Σ|x|²
    pub(super) squares: f64,
    /// Those of the whole training, since panels depend on them.
    pub(super) kernels: &'static Kernels<N>,
    pub(super) threads: Threads,
}

/// Σ|x|² of rows with these norms.
fn squares(norms: &[f64]) -> f64 {
    norms.iter().map(|norm| norm * norm).sum()
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
        Numbers { rows, dim, metric, squares: squares(&norms), norms, kernels: N::kernels(), threads }
    }
}

/// What an iteration leaves to the next.
pub(super) struct Memory<N: Number> {
    /// Sums of the rows of clusters.
    pub(super) sums: Vec<f64>,
    /// Those of parts of the rows.
    pub(super) sums_of_parts: Vec<f64>,
    /// Whether sums may be kept for more than one iteration.
    pub(super) may_last: bool,
    /// For how many iterations the sums have been kept; 0 if they must be taken anew.
    pub(super) age: usize,
    /// What is known of distances, where that may pay.
    pub(super) bounds: Option<Bounds<N>>,
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
        let norms: Vec<_> = rows.iter().map(|&row| self.norms[row as usize]).collect();
        Numbers { rows: Cow::Owned(taken), squares: squares(&norms), norms, ..*self }
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
            && bounds::pay(centroids.len() / self.dim, self.dim, self.kernels.group());
        let bounds = pays.then(|| Bounds::new(centroids, self.dim, self.len(), self.kernels));
        let (sums, may_last) = (vec![0.0; centroids.len()], self.sums_may_last());
        Memory { sums, sums_of_parts: Vec::new(), may_last, age: 0, bounds }
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
        let computed = self.assign_and_sum(&targets, measure, memory, assigned, control.cancel);
        control.check()?;
        Ok(computed)
    }

    fn means(&self, assigned: &Assigned, memory: &mut Memory<N>, centroids: &mut [N]) -> f64 {
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
            _ => (self.squares - 2.0 * products + squares).max(0.0),
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

//! [`Space`]: rows with a distance and a mean, which is all that k-means asks for.

use alloc::vec::Vec;

use super::{Control, Error};
use crate::random::Random;

/// Rows, and what can be done with them. Rows have numbers below [`len`](Self::len), and all of them have a distance.
pub(super) trait Space: Sized {
    /// What rows and centroids are made of.
    type Item: Copy;
    /// What one iteration leaves to the next.
    type Memory;

    fn len(&self) -> usize;

    /// Items of a row.
    fn dim(&self) -> usize;

    fn row(&self, row: usize) -> &[Self::Item];

    /// Those rows alone, in that order.
    fn subset(&self, rows: &[u32]) -> Self;

    /// The same rows under a distance that is zero only between rows that are alike.
    fn by_distance(self) -> Self {
        self
    }

    /// Lowers what is said of each row to its distance from `centroid`, if that is less: how probable the row is as
    /// the next first centroid.
    fn approach(&self, centroid: &[Self::Item], nearest: &mut [f64]);

    /// The sum of the distances of rows to a centroid.
    fn inertia(&self, rows: &[u32], centroid: &[Self::Item]) -> f64;

    /// The memory to begin with, for these first centroids. With `prune`, distances that cannot matter may be left
    /// out.
    fn memory(&self, centroids: &[Self::Item], prune: bool) -> Self::Memory;

    /// The nearest centroid of each row, the distances of centroids being increased by `weights`; with `measure` the
    /// distances to them, without weights. Both are written, and the number of distances computed is returned.
    fn assign(
        &self,
        centroids: &[Self::Item],
        weights: &[f64],
        measure: bool,
        memory: &mut Self::Memory,
        assigned: &mut Assigned,
        control: &Control<'_>,
    ) -> Result<u64, Error>;

    /// Moves the centroids of clusters with rows to the means of these; returns the sum of the distances of rows to
    /// the centroids that they had before.
    fn means(&self, assigned: &Assigned, memory: &mut Self::Memory, centroids: &mut [Self::Item]) -> f64;

    /// Gives the cluster `empty`, which has no rows, a centroid that takes about half of the rows of `donor`.
    fn split(&self, centroids: &mut [Self::Item], donor: usize, empty: usize, random: &mut Random);
}

/// Which cluster each row belongs to.
pub(super) struct Assigned {
    pub(super) ids: Vec<u32>,
    /// Those of the iteration before.
    pub(super) before: Vec<u32>,
    /// The distance to the centroid, where it was measured.
    pub(super) distances: Vec<f32>,
    /// The number of rows of each cluster.
    pub(super) sizes: Vec<u32>,
}

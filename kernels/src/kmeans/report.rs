//! What is told of a training.

use alloc::vec::Vec;

/// One iteration: rows were assigned to centroids, which then moved to the means of their rows.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Iteration {
    /// How many clusters are being trained: in a hierarchy, those of one division.
    pub clusters: usize,
    /// How many clusters there were before this division of a hierarchy; 0 where there is none.
    pub divided: usize,
    /// Which of the redos, the first being 0.
    pub redo: usize,
    /// Which iteration of this redo, the first being 1.
    pub number: usize,
    /// The sum of the distances of rows to the centroids that they were assigned to, before those moved.
    pub inertia: f64,
    /// The inertia with the price of imbalance.
    pub loss: f64,
    /// Rows whose cluster is another than in the iteration before; in the first all.
    pub moved: usize,
    /// How many rows clusters have.
    pub sizes: Sizes,
    /// Clusters without rows, before they were given half of another.
    pub empty: usize,
    /// Distances that were computed, of rows × clusters.
    pub computed: u64,
}

/// How many rows clusters have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Sizes {
    /// The smallest.
    pub min: usize,
    /// Half of the clusters have at most as many.
    pub p50: usize,
    /// 95 % of the clusters have at most as many.
    pub p95: usize,
    /// The largest.
    pub max: usize,
}

impl Sizes {
    pub(super) fn of(sizes: &[u32]) -> Self {
        let mut sorted = sizes.to_vec();
        sorted.sort_unstable();
        // Nearest rank.
        let at = |percent: usize| match sorted.len() {
            0 => 0,
            len => sorted[(len * percent).div_ceil(100).max(1) - 1] as usize,
        };
        Sizes { min: at(0), p50: at(50), p95: at(95), max: at(100) }
    }
}

/// What a training made.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Trained<T> {
    /// The centroids, one after the other; rows of f16 and bf16 have centroids of f32.
    pub centroids: Vec<T>,
    /// Items of a centroid.
    pub dim: usize,
    /// Rows that were trained on.
    pub rows: usize,
    /// Rows that were left out because they have no distance: not finite, or all zeros under cosine.
    pub left_out: usize,
    /// The last inertia of the best redo, or the sum of those of all divisions of a hierarchy that were not divided
    /// again.
    pub inertia: f64,
    /// All iterations, of redos and divisions too.
    pub iterations: Vec<Iteration>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_ranked() {
        let sizes: Vec<u32> = (1..=100).rev().collect();
        assert_eq!(Sizes::of(&sizes), Sizes { min: 1, p50: 50, p95: 95, max: 100 });
        assert_eq!(Sizes::of(&[7]), Sizes { min: 7, p50: 7, p95: 7, max: 7 });
        assert_eq!(Sizes::of(&[]), Sizes::default());
    }
}

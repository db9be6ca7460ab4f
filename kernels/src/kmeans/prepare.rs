//! The rows that are trained on.

use alloc::{borrow::Cow, vec::Vec};

use super::{KMeans, numbers::PART, seed};
use crate::{
    arch::all::sqrt::sqrt_f64,
    many::{Element, Metric, Number, normalise},
    random::Random,
};

/// Rows that are trained on, with their norms, and how many were left out.
pub(super) struct Prepared<'a, N: Number> {
    pub(super) rows: Cow<'a, [N]>,
    pub(super) norms: Vec<f64>,
    pub(super) left_out: usize,
}

/// Numbers of at most `limit` rows among `count`, ascending; `None` if that is all of them.
pub(super) fn sample(count: usize, options: &KMeans, random: &mut Random) -> Option<Vec<u32>> {
    let limit = options.sample_rate?.saturating_mul(options.clusters);
    (limit < count).then(|| {
        let mut rows = seed::distinct(count, limit, random);
        rows.sort_unstable();
        rows
    })
}

/// Takes a sample of `rows`, brings it to unit length if `unit`, and leaves out rows without a distance.
pub(super) fn prepare<'a, E: Element>(
    rows: &'a [E],
    dim: usize,
    metric: Metric,
    options: &KMeans,
    random: &mut Random,
) -> Prepared<'a, E::Number> {
    let unit = matches!(metric, Metric::Cosine | Metric::UnitL2);
    let mut room = Vec::new();
    let mut numbers = match sample(rows.len() / dim, options, random) {
        None => E::borrow(rows),
        Some(sample) => {
            let taken: Vec<E> =
                sample.iter().flat_map(|&row| &rows[row as usize * dim..][..dim]).copied().collect();
            Cow::Owned(E::numbers(&taken, &mut room).to_vec())
        }
    };
    if unit {
        let mut normalised = Vec::with_capacity(numbers.len());
        normalise(&numbers, dim, &mut normalised);
        numbers = Cow::Owned(normalised);
    }
    let parts = numbers.chunks(PART * dim).collect();
    let mut norms = options.threads.map(parts, |rows| norms_of(rows, dim)).concat();
    let has_distance = |norm: &f64| norm.is_finite() && (*norm > 0.0 || !unit);
    let all = norms.len();
    if !norms.iter().all(has_distance) {
        let kept = numbers.chunks_exact(dim).zip(&norms).filter(|(_, norm)| has_distance(norm));
        let kept: Vec<_> = kept.flat_map(|(row, _)| row).copied().collect();
        norms.retain(has_distance);
        numbers = Cow::Owned(kept);
    }
    Prepared { left_out: all - norms.len(), rows: numbers, norms }
}

/// The norms of rows.
pub(super) fn norms_of<N: Number>(rows: &[N], dim: usize) -> Vec<f64> {
    rows.chunks_exact(dim).map(|row| sqrt_f64(N::kernels().product_wide(row, row))).collect()
}

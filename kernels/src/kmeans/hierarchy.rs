//! Many clusters by hierarchy: a few at first, of which the largest is divided again and again.
//!
//! ```text
//! all rows ──▶ 16 clusters ──▶ the largest into size / 16, at least 2, at most 16 ──▶ … ──▶ as many as are wanted
//! ```

use alloc::{collections::BinaryHeap, vec::Vec};
use core::cmp::Reverse;

use super::{
    Control, Error, Iteration, KMeans, Seeding,
    lloyd::{self, Place},
    space::Space,
};
use crate::random::Random;

/// The most parts of one division, and the rows that a part should have at least.
const PARTS: usize = 16;

/// A cluster that may be divided.
struct Cluster<T> {
    rows: Vec<u32>,
    centroid: Vec<T>,
}

/// Centroids, and the sum of the distances of rows to those of their clusters.
pub(super) fn train<S: Space>(
    space: &S,
    options: &KMeans,
    random: &mut Random,
    redo: usize,
    control: &mut Control<'_>,
    log: &mut Vec<Iteration>,
) -> Result<(Vec<S::Item>, f64), Error> {
    let all = Cluster { rows: (0..space.len() as u32).collect(), centroid: Vec::new() };
    let mut clusters = alloc::vec![all];
    // The largest first, of equal ones the oldest.
    let mut divisible = BinaryHeap::from([(space.len(), Reverse(0))]);
    while clusters.len() < options.clusters {
        let Some((size, Reverse(at))) = divisible.pop() else {
            return Err(Error::TooFewClusters { found: clusters.len(), clusters: options.clusters });
        };
        let wanted = if clusters.len() == 1 { PARTS } else { (size / PARTS).clamp(2, PARTS) };
        let parts = wanted.min(options.clusters - clusters.len() + 1);
        let place = Place { redo, divided: clusters.len() };
        let mut made = divide(space, &clusters[at].rows, parts, options, false, random, place, control, log)?;
        if made.len() < 2 {
            made = divide(space, &clusters[at].rows, parts, options, true, random, place, control, log)?;
        }
        // What is not divided now has rows that are all alike, and never will be.
        if made.len() < 2 {
            continue;
        }
        for (part, cluster) in made.into_iter().enumerate() {
            let size = cluster.rows.len();
            let id = if part == 0 { at } else { clusters.len() };
            if part == 0 {
                clusters[at] = cluster;
            } else {
                clusters.push(cluster);
            }
            if size >= 2 {
                divisible.push((size, Reverse(id)));
            }
        }
    }
    let inertia = clusters.iter().map(|cluster| space.inertia(&cluster.rows, &cluster.centroid)).sum();
    Ok((clusters.into_iter().flat_map(|cluster| cluster.centroid).collect(), inertia))
}

/// The clusters with rows that `rows` fall into. With `careful`, there are at least two if not all rows are alike:
/// first centroids differ, and each keeps at least the row that it was.
#[allow(clippy::too_many_arguments)]
fn divide<S: Space>(
    space: &S,
    rows: &[u32],
    parts: usize,
    options: &KMeans,
    careful: bool,
    random: &mut Random,
    place: Place,
    control: &mut Control<'_>,
    log: &mut Vec<Iteration>,
) -> Result<Vec<Cluster<S::Item>>, Error> {
    let (mut subset, mut options) = (space.subset(rows), *options);
    if careful {
        subset = subset.by_distance();
        options = options.seeding(Seeding::PlusPlus).balance(0.0).iterations(1);
    }
    let run = lloyd::run(&subset, parts.min(rows.len()), &options, random, place, control, log)?;
    let mut clusters: Vec<_> = run
        .centroids
        .chunks_exact(space.dim())
        .map(|centroid| Cluster { rows: Vec::new(), centroid: centroid.to_vec() })
        .collect();
    for (&row, &id) in rows.iter().zip(&run.assigned.ids) {
        clusters[id as usize].rows.push(row);
    }
    clusters.retain(|cluster| !cluster.rows.is_empty());
    Ok(clusters)
}

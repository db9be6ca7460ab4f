//! The nearest rows of many: the k lowest distances under a threshold that falls as rows come.
//!
//! ```text
//! distances ──▶ below the threshold? ──▶ mask ──▶ entries ──full──▶ the k lowest stay, and the threshold falls
//! 256 at a time   (vectors)             (words)   (k + spare)       (partial selection)
//! ```
//!
//! Rows are ordered by distance and then by id, so that the k nearest are the same whatever order they come in.
//! Distances have the total order of IEEE 754, in which −0 is below +0; a NaN never enters.
//!
//! | item | does |
//! |---|---|
//! | [`TopK`] | keeps the nearest of blocks of distances |
//! | [`scan`] | computes distances in blocks that stay in the nearest cache, for a [`TopK`] |
//! | [`smallest`] | the lowest of a few thousand distances, as of centroids |
//! | [`merge`] | joins sorted lists of hits |

mod merge;
mod top_k;

pub use merge::merge;
pub use top_k::TopK;

use crate::mask;
use core::{cmp::Ordering, ops::Range};

/// A row and its distance.
///
/// Hits are ordered by distance, in the total order of floats, and then by id.
#[derive(Debug, Clone, Copy)]
pub struct Hit {
    /// How far the row is; not a NaN.
    pub distance: f32,
    /// The row.
    pub id: u64,
}

impl Ord for Hit {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.distance.total_cmp(&other.distance).then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Hit {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Hit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Hit {}

/// The ids of consecutive rows.
#[derive(Debug, Clone, Copy)]
pub enum Ids<'a> {
    /// One after the other from this one, wrapping.
    From(u64),
    /// As many as there are rows.
    Of(&'a [u64]),
}

impl Ids<'_> {
    /// The ids of the rows in `rows`.
    fn slice(self, rows: Range<usize>) -> Self {
        match self {
            Ids::From(first) => Ids::From(first.wrapping_add(rows.start as u64)),
            Ids::Of(ids) => Ids::Of(&ids[rows]),
        }
    }
}

/// Rows whose distances are computed before they are compared: 1 KiB of them.
const BLOCK: usize = 256;

/// Lets `rows` rows into `top`, whose distances `distances` writes for a range of rows at a time.
///
/// Rows whose bit is set in the [mask] `excluded` do not enter, and where a whole block of them is
/// excluded their distances are not asked for.
///
/// ```
/// use lancet_kernels::select::{Ids, TopK, scan};
///
/// let rows = [3.0f32, 1.0, 4.0, 1.0, 5.0];
/// let mut top = TopK::new();
/// top.reset(2, ..);
/// scan(&mut top, 5, Ids::From(100), None, |range, out| {
///     for (out, row) in out.iter_mut().zip(&rows[range]) {
///         *out = (row - 1.5).abs();
///     }
/// });
/// assert_eq!(top.finish().map(|hit| (hit.id, hit.distance)).collect::<Vec<_>>(), [(101, 0.5), (103, 0.5)]);
/// ```
///
/// # Panics
/// If there are not `rows` ids, or not `rows.div_ceil(64)` words of `excluded`.
pub fn scan(
    top: &mut TopK,
    rows: usize,
    ids: Ids<'_>,
    excluded: Option<&[u64]>,
    mut distances: impl FnMut(Range<usize>, &mut [f32]),
) {
    if let Ids::Of(ids) = ids {
        assert_eq!(ids.len(), rows, "an id for each row");
    }
    if let Some(excluded) = excluded {
        assert_eq!(excluded.len(), rows.div_ceil(64), "words of a mask of {rows} rows");
    }
    let mut block = [0.0; BLOCK];
    for start in (0..rows).step_by(BLOCK) {
        let range = start..rows.min(start + BLOCK);
        let excluded = excluded.map(|mask| &mask[start / 64..range.end.div_ceil(64)]);
        if excluded.is_some_and(|mask| mask::all(mask, range.len())) {
            continue;
        }
        let block = &mut block[..range.len()];
        distances(range.clone(), block);
        top.push_block(block, ids.slice(range), excluded);
    }
}

/// The `n` lowest of `distances`, ascending, with their indices as ids; equal ones by index. `top` is the scratch.
///
/// There are fewer if there are fewer that are not NaN.
pub fn smallest<'a>(
    distances: &[f32],
    n: usize,
    top: &'a mut TopK,
) -> impl ExactSizeIterator<Item = Hit> + Clone + use<'a> {
    top.reset(n, ..=bound(distances, n));
    top.push_block(distances, Ids::From(0), None);
    top.finish()
}

/// A distance that at least `n` of `distances` are not above, infinity if none is found without much ado.
///
/// The lowest distances of some groups are distances themselves: the n-th lowest of these is such a bound, and few
/// others are below it. Without it, a collector would have to take in many rows to find where to stop.
fn bound(distances: &[f32], n: usize) -> f32 {
    /// More than three quarters of them would make a bad bound.
    const GROUPS: usize = 64;
    let last = match n.checked_sub(1) {
        Some(last) if n <= GROUPS / 4 * 3 && distances.len() > 2 * GROUPS => last,
        _ => return f32::INFINITY,
    };
    let mut lowest = [f32::INFINITY; GROUPS];
    for distances in distances.as_chunks::<GROUPS>().0 {
        for (lowest, &distance) in lowest.iter_mut().zip(distances) {
            // A NaN is not less.
            *lowest = if distance < *lowest { distance } else { *lowest };
        }
    }
    // Selecting takes longer than this, and a third of the groups are enough.
    let mut groups = GROUPS;
    while groups >= 3 * n {
        groups /= 2;
        let (low, high) = lowest.split_at_mut(groups);
        low.iter_mut().zip(high).for_each(|(low, high)| *low = low.min(*high));
    }
    *lowest[..groups].select_nth_unstable_by(last, f32::total_cmp).1
}

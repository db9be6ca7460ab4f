//! [`Nearest`] and [`Arrivals`]: the best of many distances.

use alloc::{collections::BinaryHeap, vec::Vec};
use core::cmp::Ordering;

/// Rows that are taken in above `k` before it is looked again how far they may be: at least so many.
const SPARE: usize = 8;

/// How many rows are taken in before it is looked again how far they may be, once `k` were.
fn with_spare(k: usize) -> usize {
    k.saturating_add(SPARE.max(k / 2))
}

/// Rows that [`Arrivals`] writes down, or 16 times `k`: more come only if rows are met in the order of falling distances.
const MOST_WRITTEN: usize = 1024;

/// Rows that [`Arrivals`] has room for from the start, at most, so that it does not allocate while they come.
const MOST_ROOM: usize = 1 << 16;

/// What distances are offered to.
pub trait Collector {
    /// Rows at a greater distance need not be offered: they would be left out.
    fn threshold(&self) -> f32 {
        f32::INFINITY
    }

    /// Offers rows with their distances; those whose bit in `mask` is not set are left out, and those at a distance
    /// that is NaN or outside the range.
    ///
    /// # Panics
    /// If the slices are too short for the distances.
    fn offer(&mut self, distances: &[f32], row_ids: &[u64], mask: Option<&[u64]>);
}

/// A row and its distance from the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// The distance; never NaN.
    pub distance: f32,
    /// The row id.
    pub row_id: u64,
}

impl Neighbour {
    /// The nearer first, and of equal ones that with the lower id.
    pub fn order(&self, other: &Self) -> Ordering {
        self.distance.total_cmp(&other.distance).then(self.row_id.cmp(&other.row_id))
    }
}

/// Collects the `k` nearest rows within a range of distances, infinite ones too where it has no end. What it holds is at
/// most twice that and some.
#[derive(Debug, Clone, Default)]
pub struct Nearest {
    k: usize,
    range: Range,
    /// Distances above it are not among the best any more.
    threshold: f32,
    found: Vec<Neighbour>,
    /// How many rows there are when only the nearest are kept.
    most: usize,
}

/// Distances from `low` up to, not including, `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The least distance.
    pub low: f32,
    /// The first distance that is too great.
    pub high: f32,
}

impl Default for Range {
    /// All distances; whether infinite ones are among them is said where the range is used.
    fn default() -> Self {
        Range { low: f32::NEG_INFINITY, high: f32::INFINITY }
    }
}

impl Nearest {
    /// Empties the collection, which now is to hold the `k` nearest within `range`; keeps its room.
    pub fn start(&mut self, k: usize, range: Range) {
        self.k = k;
        self.range = range;
        self.threshold = f32::INFINITY;
        self.found.clear();
        self.most = k;
    }

    /// How many rows are to be found.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The distances of interest.
    pub fn range(&self) -> Range {
        self.range
    }

    /// How many rows were found, `k` at the most.
    pub fn len(&self) -> usize {
        self.found.len().min(self.k)
    }

    /// Whether none was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Offers one row.
    #[inline]
    pub fn push(&mut self, row: Neighbour) {
        // NaN fails both.
        let near = row.distance < self.range.high || self.range.high == f32::INFINITY;
        if row.distance <= self.threshold && row.distance >= self.range.low && near {
            self.found.push(row);
            if self.found.len() >= self.most {
                self.shrink();
                self.most = with_spare(self.k);
            }
        }
    }

    #[cold]
    fn shrink(&mut self) {
        if let Some(last) = self.k.checked_sub(1).filter(|&last| last < self.found.len()) {
            self.found.select_nth_unstable_by(last, Neighbour::order);
            self.threshold = self.found[last].distance;
        }
        self.found.truncate(self.k);
    }

    /// The rows found, in no order.
    pub fn unordered(&mut self) -> &[Neighbour] {
        self.shrink();
        &self.found
    }

    /// The rows found, the nearest first.
    pub fn finish(&mut self) -> &[Neighbour] {
        self.shrink();
        self.found.sort_unstable_by(Neighbour::order);
        &self.found
    }
}

/// Collects the `k` nearest rows in the order in which they come: among equally far ones it keeps those that Lance
/// keeps, which depends on that order. It is the search of one segment of an index; the rows of all segments then go
/// into a [`Nearest`]. Infinite distances are left out.
///
/// Lance keeps them in a heap, and which of several farthest rows leaves is up to the heap's shape. This matters only if
/// more rows than `k` are as near as the k-th. So rows are written down as they come, as long as they are near enough, and
/// go through a heap only if it matters in the end.
#[derive(Debug, Clone, Default)]
pub struct Arrivals {
    k: usize,
    range: Range,
    /// Rows at this distance or above it were left out by the heap.
    farthest: f32,
    /// In the order in which they came.
    rows: Vec<Neighbour>,
    /// Distances of the `k` nearest rows so far, and of some that came since.
    distances: Vec<f32>,
    /// How many distances there are when only the lowest are kept.
    most: usize,
    /// What came before the rows, if there were too many to write them all down. The farthest is on top; only distances
    /// are compared. It takes the shape of Lance's heap, the standard library's.
    heap: BinaryHeap<ByDistance>,
}

#[derive(Debug, Clone, Copy)]
struct ByDistance(Neighbour);

impl PartialEq for ByDistance {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByDistance {}

impl PartialOrd for ByDistance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ByDistance {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.distance.total_cmp(&other.0.distance)
    }
}

impl Arrivals {
    /// Empties the collection, which now is to hold the `k` nearest within `range`; keeps its room.
    pub fn start(&mut self, k: usize, range: Range) {
        self.k = k;
        self.range = range;
        self.farthest = if k == 0 { f32::NEG_INFINITY } else { range.high };
        self.rows.clear();
        self.rows.reserve(self.most_written().min(MOST_ROOM));
        self.distances.clear();
        self.most = k;
        self.heap.clear();
    }

    /// How many rows are written down before they go through the heap.
    fn most_written(&self) -> usize {
        self.k.saturating_mul(16).max(MOST_WRITTEN)
    }

    /// How many rows were found.
    pub fn len(&self) -> usize {
        self.distances.len().min(self.k)
    }

    /// Whether none was found.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows found, in no order; [`start`](Self::start) comes next.
    pub fn finish(&mut self) -> &[Neighbour] {
        self.tighten();
        let (k, farthest) = (self.k, self.farthest);
        if self.heap.is_empty() {
            if self.rows.len() <= k {
                return &self.rows;
            }
            // The farthest of the k lowest distances: a row at the same one more, and it hangs on the order of all.
            let is_near = |row: &Neighbour| row.distance <= farthest;
            if self.rows.iter().filter(|row| is_near(row)).count() == k {
                self.rows.retain(is_near);
                return &self.rows;
            }
        }
        self.fill_heap();
        self.rows.extend(self.heap.drain().map(|row| row.0));
        &self.rows
    }

    /// Forgets all distances but the k lowest, which tell from where on rows are of no use.
    fn tighten(&mut self) {
        if let Some(last) = self.k.checked_sub(1).filter(|&last| last < self.distances.len()) {
            let (_, &mut farthest, _) = self.distances.select_nth_unstable_by(last, f32::total_cmp);
            self.distances.truncate(self.k);
            self.farthest = farthest;
            self.most = with_spare(self.k);
        }
    }

    /// Has the rows go through the heap.
    #[cold]
    fn fill_heap(&mut self) {
        for row in self.rows.drain(..) {
            if self.heap.len() >= self.k {
                if self.heap.peek().is_some_and(|top| row.distance >= top.0.distance) {
                    continue;
                }
                self.heap.pop();
            }
            self.heap.push(ByDistance(row));
        }
    }
}

impl Collector for Nearest {
    fn threshold(&self) -> f32 {
        self.threshold.min(self.range.high)
    }

    fn offer(&mut self, distances: &[f32], row_ids: &[u64], mask: Option<&[u64]>) {
        let row_ids = &row_ids[..distances.len()];
        for (i, (&distance, &row_id)) in distances.iter().zip(row_ids).enumerate() {
            if mask.is_none_or(|mask| mask[i / 64] >> (i % 64) & 1 == 1) {
                self.push(Neighbour { distance, row_id });
            }
        }
    }
}

impl Collector for Arrivals {
    fn threshold(&self) -> f32 {
        self.farthest
    }

    fn offer(&mut self, distances: &[f32], row_ids: &[u64], mask: Option<&[u64]>) {
        let row_ids = &row_ids[..distances.len()];
        for (i, (&distance, &row_id)) in distances.iter().zip(row_ids).enumerate() {
            // NaN fails this.
            if !(distance < self.farthest && distance >= self.range.low) {
                continue;
            }
            if mask.is_none_or(|mask| mask[i / 64] >> (i % 64) & 1 == 1) {
                self.rows.push(Neighbour { distance, row_id });
                self.distances.push(distance);
                if self.distances.len() >= self.most {
                    self.tighten();
                }
                if self.rows.len() >= self.most_written() {
                    self.fill_heap();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn the_nearest_by_distance_and_id() {
        for k in [1, 3, 10, 1000] {
            let rows: Vec<Neighbour> = (0..2000u64)
                .map(|i| Neighbour { distance: (i * 7919 % 101) as f32, row_id: i * 31 % 2003 })
                .collect();
            let mut nearest = Nearest::default();
            nearest.start(k, Range { low: 3.0, high: 50.0 });
            rows.iter().for_each(|&row| nearest.push(row));
            nearest.push(Neighbour { distance: f32::NAN, row_id: 0 });
            let mut expected = rows;
            expected.retain(|row| row.distance >= 3.0 && row.distance < 50.0);
            expected.sort_by(Neighbour::order);
            expected.truncate(k);
            assert_eq!(nearest.len(), expected.len());
            assert_eq!(nearest.finish(), expected);
        }
    }

    #[test]
    fn all_rows_there_are() {
        let mut nearest = Nearest::default();
        nearest.start(usize::MAX, Range::default());
        nearest.offer(&[2.0, 1.0], &[1, 2], None);
        assert_eq!(nearest.finish().len(), 2);
    }

    #[test]
    fn rows_outside_the_mask_are_left_out() {
        let mut nearest = Nearest::default();
        nearest.start(2, Range::default());
        nearest.offer(&[1.0, 0.5, 3.0], &[10, 11, 12], Some(&[0b101]));
        let found: Vec<u64> = nearest.finish().iter().map(|row| row.row_id).collect();
        assert_eq!(found, vec![10, 12]);
    }

    #[test]
    fn of_equal_ones_the_first_come_stays() {
        let mut arrivals = Arrivals::default();
        arrivals.start(2, Range::default());
        arrivals.offer(&[2.0, 1.0, f32::NAN, 2.0, f32::INFINITY], &[9, 8, 7, 6, 5], None);
        arrivals.offer(&[1.5], &[4], Some(&[0]));
        let mut found: Vec<u64> = arrivals.finish().iter().map(|row| row.row_id).collect();
        found.sort_unstable();
        assert_eq!(found, vec![8, 9]);
        arrivals.start(0, Range::default());
        arrivals.offer(&[1.0], &[1], None);
        assert!(arrivals.is_empty());
    }

    /// Rows go through a heap as they come; which ones it held in the end.
    fn by_heap(k: usize, range: Range, rows: &[Neighbour]) -> Vec<Neighbour> {
        let mut heap = BinaryHeap::new();
        for &row in rows.iter().filter(|row| row.distance >= range.low && row.distance < range.high) {
            if heap.len() == k {
                if heap.peek().is_none_or(|top: &ByDistance| row.distance >= top.0.distance) {
                    continue;
                }
                heap.pop();
            }
            heap.push(ByDistance(row));
        }
        heap.into_iter().map(|row| row.0).collect()
    }

    #[test]
    fn the_rows_that_a_heap_holds() {
        let range = Range { low: -2.0, high: 900.0 };
        let mut arrivals = Arrivals::default();
        for k in [0, 1, 2, 10, 100, 1000, usize::MAX] {
            // Many equal distances, both zeros among them; few; and distances that fall, so that all rows go in.
            for (which, count) in [(0, 3000), (1, 3000), (2, 40_000)] {
                let distance = |i: u64| match which {
                    0 => (i * 7919 % 31) as f32 * 0.5 * if i.is_multiple_of(3) { -1.0 } else { 1.0 },
                    1 => (i * 7919 % 3001) as f32,
                    _ => 800.0 - (i / 2) as f32 / 64.0,
                };
                let rows: Vec<Neighbour> = (0..count)
                    .map(|i| Neighbour { distance: distance(i), row_id: i * 31 % 40_009 })
                    .collect();
                arrivals.start(k, range);
                for rows in rows.chunks(1 + k.min(700)) {
                    let distances: Vec<f32> = rows.iter().map(|row| row.distance).collect();
                    let ids: Vec<u64> = rows.iter().map(|row| row.row_id).collect();
                    arrivals.offer(&distances, &ids, None);
                }
                let mut expected = by_heap(k, range, &rows);
                assert_eq!(arrivals.len(), expected.len());
                let mut found = arrivals.finish().to_vec();
                found.sort_unstable_by(Neighbour::order);
                expected.sort_unstable_by(Neighbour::order);
                assert_eq!(found, expected, "{k} of {which}");
            }
        }
    }
}

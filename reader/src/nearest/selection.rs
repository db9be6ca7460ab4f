//! [`Selection`]: the rows that a search may return; and [`Allowed`], the same for the segments of an index.

use super::{prepared::Prepared, segments::Segment};
use crate::{Dataset, Result, Scan, filter::Mask, read, scan};
use lancet_index::ivf::RowFilter;

/// For each fragment the live rows for which the filter is true, if there is one.
#[derive(Debug)]
pub(super) struct Selection {
    /// By the position of the fragment.
    fragments: Vec<Rows>,
    /// Whether all rows of the dataset are selected.
    is_all: bool,
    /// How many there are.
    count: u64,
}

/// The selected rows of a fragment.
#[derive(Debug)]
enum Rows {
    None,
    All,
    Some(Mask),
}

impl Selection {
    /// The rows of the fragments at `positions` that live and for which `filter` is true.
    ///
    /// # Errors
    /// Those of deletion files, and of evaluating the filter.
    pub(super) fn new(scan: &Scan, filter: Option<&scan::Filter>, positions: &[usize]) -> Result<Self> {
        match filter {
            None => Self::live(scan.dataset(), positions),
            Some(_) => {
                let masks = scan::matches(scan, positions)?;
                Self::of(scan.dataset(), positions.iter().copied().zip(masks.into_iter().map(Rows::Some)))
            }
        }
    }

    /// The rows of the fragments at `positions` that live.
    ///
    /// # Errors
    /// Those of deletion files.
    pub(super) fn live(dataset: &Dataset, positions: &[usize]) -> Result<Self> {
        let mut rows = Vec::with_capacity(positions.len());
        for &position in positions {
            let fragment = &dataset.fragments()[position];
            rows.push(match fragment.deletions(dataset.pool())? {
                None => Rows::All,
                deletions => {
                    let mut mask = Mask::default();
                    read::live_mask(deletions, 0..fragment.physical_rows(dataset.pool())?, &mut mask);
                    Rows::Some(mask)
                }
            });
        }
        Self::of(dataset, positions.iter().copied().zip(rows))
    }

    fn of(dataset: &Dataset, rows: impl Iterator<Item = (usize, Rows)>) -> Result<Self> {
        let mut fragments: Vec<Rows> = Vec::new();
        fragments.resize_with(dataset.fragments().len(), || Rows::None);
        let mut count = 0;
        for (position, rows) in rows {
            count += match &rows {
                Rows::None => 0,
                Rows::All => dataset.fragments()[position].physical_rows(dataset.pool())?,
                Rows::Some(mask) => mask.count() as u64,
            };
            fragments[position] = rows;
        }
        let is_all = fragments.iter().all(|rows| matches!(rows, Rows::All));
        Ok(Selection { fragments, is_all, count })
    }

    /// How many rows are selected.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The selected rows of a fragment: none, all, or those of a mask.
    pub(super) fn of_fragment(&self, position: usize) -> Option<Option<&Mask>> {
        match &self.fragments[position] {
            Rows::None => None,
            Rows::All => Some(None),
            Rows::Some(mask) => Some(Some(mask)),
        }
    }
}

/// The rows that a search may return, told by the ids that the segments of an index hold.
#[derive(Debug)]
pub(super) struct Allowed {
    selection: Selection,
    /// Positions of fragments by their ids.
    positions: Positions,
    segments: Vec<SegmentRows>,
}

/// The rows of a segment that may be returned.
#[derive(Debug)]
enum SegmentRows {
    /// All that it holds.
    All,
    /// Those at selected addresses in fragments that it covers.
    Addresses,
    /// Those with these stable ids.
    Ids(IdSet),
}

impl Allowed {
    /// # Errors
    /// Those of row ids.
    pub(super) fn new(dataset: &Dataset, selection: Selection, prepared: &Prepared) -> Result<Self> {
        let is_alone = prepared.segments.len() == 1;
        let rows_of = |segment: &Segment| {
            Ok(match dataset.manifest().has_stable_row_ids() {
                _ if selection.is_all && is_alone && segment.is_whole => SegmentRows::All,
                false => SegmentRows::Addresses,
                true => SegmentRows::Ids(IdSet::new(dataset, &selection, segment)?),
            })
        };
        let segments = prepared.segments.iter().map(rows_of).collect::<Result<_>>()?;
        Ok(Allowed { positions: Positions::new(dataset), selection, segments })
    }

    pub(super) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The rows of segment `number`, which is `segment`; `None` if all that it holds may be returned.
    pub(super) fn of_segment<'a>(&'a self, number: usize, segment: &'a Segment) -> Option<SegmentFilter<'a>> {
        match &self.segments[number] {
            SegmentRows::All => None,
            rows => Some(SegmentFilter { allowed: self, rows, covered: &segment.covered }),
        }
    }
}

/// The selected rows of the fragments that a segment covers, by row id.
pub(super) struct SegmentFilter<'a> {
    allowed: &'a Allowed,
    rows: &'a SegmentRows,
    covered: &'a [bool],
}

impl SegmentFilter<'_> {
    /// The selected rows of the fragment with this id.
    fn of_fragment(&self, id: u32) -> &Rows {
        match self.allowed.positions.get(id) {
            Some(position) if self.covered[position] => &self.allowed.selection.fragments[position],
            _ => &Rows::None,
        }
    }
}

impl RowFilter for SegmentFilter<'_> {
    fn keep(&self, ids: &[u64], mask: &mut [u64]) {
        let words = mask.iter_mut().zip(ids.chunks(64));
        if let SegmentRows::Ids(set) = self.rows {
            for (word, ids) in words {
                *word =
                    ids.iter().zip(0..).fold(0, |word, (&id, bit)| word | u64::from(set.contains(id)) << bit);
            }
            return;
        }
        let mut last = (u32::MAX, self.of_fragment(u32::MAX));
        for (word, ids) in words {
            *word = 0;
            for (bit, &id) in ids.iter().enumerate() {
                let fragment = (id >> 32) as u32;
                if last.0 != fragment {
                    last = (fragment, self.of_fragment(fragment));
                }
                let kept = match last.1 {
                    Rows::None => false,
                    Rows::All => true,
                    Rows::Some(mask) => (id as u32 as usize) < mask.len() && mask.get(id as u32 as usize),
                };
                *word |= u64::from(kept) << bit;
            }
        }
    }
}

/// The positions of fragments by their ids.
#[derive(Debug)]
enum Positions {
    /// At the id; the greatest number where there is no such fragment.
    Dense(Vec<u32>),
    /// Ascending ids with their positions, where ids are much larger than fragments are many.
    Sparse(Vec<(u32, u32)>),
}

impl Positions {
    fn new(dataset: &Dataset) -> Self {
        let ids = || dataset.fragments().iter().map(|fragment| fragment.meta.id).zip(0u32..);
        let room = ids().map(|(id, _)| id as usize + 1).max().unwrap_or(0);
        if room > 1024 + 16 * dataset.fragments().len() {
            let mut pairs: Vec<(u32, u32)> = ids().collect();
            pairs.sort_unstable();
            return Positions::Sparse(pairs);
        }
        let mut dense = vec![u32::MAX; room];
        ids().for_each(|(id, position)| dense[id as usize] = position);
        Positions::Dense(dense)
    }

    fn get(&self, id: u32) -> Option<usize> {
        let position = match self {
            Positions::Dense(dense) => {
                dense.get(id as usize).copied().filter(|&position| position < u32::MAX)
            }
            Positions::Sparse(pairs) => {
                pairs.binary_search_by_key(&id, |pair| pair.0).ok().map(|found| pairs[found].1)
            }
        };
        position.map(|position| position as usize)
    }
}

/// Stable row ids.
#[derive(Debug)]
enum IdSet {
    /// A bit for each id from `first` on.
    Bits { first: u64, words: Vec<u64> },
    /// Ascending, where they lie far from one another.
    Sorted(Vec<u64>),
}

impl IdSet {
    /// The ids of the selected rows in the fragments that a segment covers. A row that was moved to another fragment is
    /// not among them, whatever the segment holds.
    fn new(dataset: &Dataset, selection: &Selection, segment: &Segment) -> Result<Self> {
        let (pool, mut ids) = (dataset.pool(), Vec::new());
        for (position, fragment) in dataset.fragments().iter().enumerate() {
            let Some(mask) = selection.of_fragment(position).filter(|_| segment.covered[position]) else {
                continue;
            };
            let own = fragment.row_ids(pool)?;
            match mask {
                None => own.extend(0, fragment.physical_rows(pool)?, &mut ids),
                Some(mask) => {
                    mask.ranges().for_each(|rows| own.extend(rows.start as u64, rows.end as u64, &mut ids));
                }
            }
        }
        Ok(Self::of(ids))
    }

    fn of(mut ids: Vec<u64>) -> Self {
        let (first, last) = (ids.iter().min().copied(), ids.iter().max().copied());
        let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
        // Up to as much memory as the ids themselves take.
        if (last - first) / 64 > ids.len() as u64 {
            ids.sort_unstable();
            return IdSet::Sorted(ids);
        }
        let mut words = vec![0u64; ((last - first) / 64 + 1) as usize];
        ids.iter().map(|id| id - first).for_each(|id| words[(id / 64) as usize] |= 1 << (id % 64));
        if ids.is_empty() {
            words.clear();
        }
        IdSet::Bits { first, words }
    }

    fn contains(&self, id: u64) -> bool {
        match self {
            IdSet::Bits { first, words } => {
                let id = id.wrapping_sub(*first);
                usize::try_from(id / 64)
                    .ok()
                    .and_then(|at| words.get(at))
                    .is_some_and(|word| word >> (id % 64) & 1 == 1)
            }
            IdSet::Sorted(ids) => ids.binary_search(&id).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_ids() {
        for ids in [vec![], vec![0], vec![u64::MAX], vec![5, 3, 70, 64], vec![1, u64::MAX, 1 << 40]] {
            let set = IdSet::of(ids.clone());
            for id in [0, 1, 2, 3, 5, 63, 64, 65, 70, 1 << 40, u64::MAX - 1, u64::MAX] {
                assert_eq!(set.contains(id), ids.contains(&id), "{id} in {ids:?}");
            }
        }
    }
}

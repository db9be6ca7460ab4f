//! [`Selection`]: the rows that a search may return; and [`Allowed`], the same for the segments of an index.

use super::{prepared::Prepared, segments::Segment};
use crate::{Dataset, Result, Scan, filter::Mask, read, scan};
use lancet_index::ivf::RowFilter;
use lancet_kernels::mask;
use std::slice;

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

    /// Whether only some rows of a fragment are selected.
    pub(super) fn has_masks(&self) -> bool {
        self.fragments.iter().any(|rows| matches!(rows, Rows::Some(_)))
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
    segments: Vec<SegmentRows>,
}

/// The rows of a segment that may be returned.
#[derive(Debug)]
enum SegmentRows {
    /// All that it holds.
    All,
    /// Those at these addresses.
    Addresses(AddressSet),
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
                false => SegmentRows::Addresses(AddressSet::new(dataset, &selection, segment)),
                true => SegmentRows::Ids(IdSet::new(dataset, &selection, segment)?),
            })
        };
        let segments = prepared.segments.iter().map(rows_of).collect::<Result<_>>()?;
        Ok(Allowed { selection, segments })
    }

    pub(super) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// The rows of segment `number`; `None` if all that it holds may be returned.
    pub(super) fn of_segment(&self, number: usize) -> Option<SegmentFilter<'_>> {
        match &self.segments[number] {
            SegmentRows::All => None,
            rows => Some(SegmentFilter { rows }),
        }
    }
}

/// The selected rows of the fragments that a segment covers, by row id.
pub(super) struct SegmentFilter<'a> {
    rows: &'a SegmentRows,
}

impl RowFilter for SegmentFilter<'_> {
    fn keep(&self, ids: &[u64], mask: &mut [u64]) {
        match self.rows {
            SegmentRows::All => mask.fill(!0),
            SegmentRows::Ids(set) => set.keep(ids, mask),
            SegmentRows::Addresses(set) => set.keep(ids, mask),
        }
    }
}

/// Sets the bits of `mask` to those of `words` at the positions of `ids`; none where there is no such position.
fn bits_of(words: &[u64], ids: &[u64], mask: &mut [u64], position: impl Fn(u64) -> u64) {
    let mut positions = [0; 64];
    for (mask, ids) in mask.iter_mut().zip(ids.chunks(64)) {
        let positions = &mut positions[..ids.len()];
        positions.iter_mut().zip(ids).for_each(|(to, &id)| *to = position(id));
        mask::gather(words, positions, slice::from_mut(mask));
    }
}

/// Addresses: a bit for each row. Rows of several fragments lie mixed in a partition, so nothing branches on them.
///
/// ```text
/// places    by fragment: first bit, how many        words    0 │ ∼0 │ those of a mask, 0 │ …
///           none         0, 0                                ▲   ▲
///           all          64, 0                    beyond its bits, that behind them counts
/// ```
#[derive(Debug)]
struct AddressSet {
    places: Places,
    words: Vec<u64>,
}

/// Where the bits of a fragment begin, and how many there are.
type Place = (u64, u64);

/// By the id of a fragment.
#[derive(Debug)]
enum Places {
    /// At the id.
    Dense(Vec<Place>),
    /// Ascending ids, where they are much larger than fragments are many.
    Sparse(Vec<(u32, Place)>),
}

impl AddressSet {
    const NONE: Place = (0, 0);
    const ALL: Place = (64, 0);

    /// The addresses of the selected rows in the fragments that a segment covers.
    fn new(dataset: &Dataset, selection: &Selection, segment: &Segment) -> Self {
        let mut words = vec![0, u64::MAX];
        let mut places = Vec::with_capacity(dataset.fragments().len());
        for (position, fragment) in dataset.fragments().iter().enumerate() {
            let place = match &selection.fragments[position] {
                _ if !segment.covered[position] => Self::NONE,
                Rows::None => Self::NONE,
                Rows::All => Self::ALL,
                Rows::Some(mask) => {
                    let start = words.len();
                    words.extend_from_slice(mask.words());
                    words.push(0);
                    (start as u64 * 64, (words.len() - 1 - start) as u64 * 64)
                }
            };
            places.push((fragment.meta.id, place));
        }
        AddressSet { places: Places::new(places), words }
    }

    fn keep(&self, addresses: &[u64], mask: &mut [u64]) {
        fn position(place: Option<&Place>, address: u64) -> u64 {
            let (first, len) = place.copied().unwrap_or(AddressSet::NONE);
            first + (address & u64::from(u32::MAX)).min(len)
        }
        match &self.places {
            Places::Dense(places) => bits_of(&self.words, addresses, mask, |address| {
                position(places.get((address >> 32) as usize), address)
            }),
            Places::Sparse(places) => bits_of(&self.words, addresses, mask, |address| {
                let found = places.binary_search_by_key(&((address >> 32) as u32), |place| place.0);
                position(found.ok().map(|found| &places[found].1), address)
            }),
        }
    }
}

impl Places {
    fn new(mut places: Vec<(u32, Place)>) -> Self {
        let room = places.iter().map(|(id, _)| *id as usize + 1).max().unwrap_or(0);
        if room > 1024 + 16 * places.len() {
            places.sort_unstable();
            return Places::Sparse(places);
        }
        let mut dense = vec![AddressSet::NONE; room];
        places.into_iter().for_each(|(id, place)| dense[id as usize] = place);
        Places::Dense(dense)
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

    fn keep(&self, ids: &[u64], mask: &mut [u64]) {
        match self {
            IdSet::Bits { first, words } => bits_of(words, ids, mask, |id| id.wrapping_sub(*first)),
            IdSet::Sorted(sorted) => {
                for (mask, ids) in mask.iter_mut().zip(ids.chunks(64)) {
                    let bit = |id| u64::from(sorted.binary_search(id).is_ok());
                    *mask = ids.iter().zip(0..).fold(0, |word, (id, i)| word | bit(id) << i);
                }
            }
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
            let asked = [0, 1, 2, 3, 5, 63, 64, 65, 70, 1 << 40, u64::MAX - 1, u64::MAX];
            let mut mask = [!0];
            set.keep(&asked, &mut mask);
            let expected = asked.iter().zip(0..).map(|(id, i)| u64::from(ids.contains(id)) << i).sum::<u64>();
            assert_eq!(mask, [expected], "{asked:?} in {ids:?}");
        }
    }
}

//! [`Selection`]: the rows that a search may return.

use crate::{Dataset, Result, Scan, filter::Mask, read, row_ids, scan};
use lancet_index::ivf::RowFilter;
use std::collections::HashMap;

/// For each fragment the live rows for which the filter is true, if there is one.
#[derive(Debug)]
pub(super) struct Selection {
    /// By the position of the fragment.
    fragments: Vec<Rows>,
    /// Whether all rows of the dataset are selected.
    is_all: bool,
}

/// The selected rows of a fragment.
#[derive(Debug)]
enum Rows {
    None,
    All,
    Some(Mask),
}

impl Selection {
    /// The rows of the fragments at `positions`.
    pub(super) fn new(scan: &Scan, filter: Option<&scan::Filter>, positions: &[usize]) -> Result<Self> {
        let dataset = scan.dataset();
        let count = dataset.fragments().len();
        let mut fragments: Vec<Rows> = Vec::new();
        fragments.resize_with(count, || Rows::None);
        let matcher = filter.map(|_| scan::Matcher::new(scan)).transpose()?;
        for &position in positions {
            let fragment = &dataset.fragments()[position];
            let deletions = fragment.deletions(dataset.pool())?;
            fragments[position] = match (&matcher, deletions) {
                (None, None) => Rows::All,
                (None, deletions) => {
                    let mut mask = Mask::default();
                    read::live_mask(deletions, 0..fragment.physical_rows(dataset.pool())?, &mut mask);
                    Rows::Some(mask)
                }
                (Some(matcher), _) => Rows::Some(matcher.matches(position)?),
            };
        }
        let is_all = fragments.iter().all(|rows| matches!(rows, Rows::All));
        Ok(Selection { fragments, is_all })
    }

    /// The selected rows of a fragment: none, all, or those of a mask.
    pub(super) fn of_fragment(&self, position: usize) -> Option<Option<&Mask>> {
        match &self.fragments[position] {
            Rows::None => None,
            Rows::All => Some(None),
            Rows::Some(mask) => Some(Some(mask)),
        }
    }

    /// Those of the fragments that a segment covers; `None` if all rows that it can hold are selected.
    pub(super) fn of_segment<'a>(
        &'a self,
        dataset: &'a Dataset,
        covered: Vec<bool>,
        is_alone: bool,
    ) -> Option<SegmentFilter<'a>> {
        match self.is_all && is_alone && covered.iter().all(|&covered| covered) {
            true => None,
            false => Some(SegmentFilter::new(self, dataset, covered)),
        }
    }
}

/// The selected rows of some fragments, by row id.
pub(super) struct SegmentFilter<'a> {
    selection: &'a Selection,
    dataset: &'a Dataset,
    covered: Vec<bool>,
    /// Positions of fragments by their ids.
    positions: HashMap<u32, usize>,
}

impl<'a> SegmentFilter<'a> {
    fn new(selection: &'a Selection, dataset: &'a Dataset, covered: Vec<bool>) -> Self {
        let ids = dataset.fragments().iter().map(|fragment| fragment.meta.id);
        let positions = ids.enumerate().map(|(position, id)| (id, position)).collect();
        SegmentFilter { selection, dataset, covered, positions }
    }

    fn selects(&self, position: usize, row: u32) -> bool {
        self.covered[position]
            && match &self.selection.fragments[position] {
                Rows::None => false,
                Rows::All => true,
                Rows::Some(mask) => (row as usize) < mask.len() && mask.get(row as usize),
            }
    }
}

impl RowFilter for SegmentFilter<'_> {
    fn keep(&self, ids: &[u64], mask: &mut [u64]) {
        let stable = self.dataset.manifest().has_stable_row_ids();
        let mut last = (u32::MAX, None);
        for (words, ids) in mask.iter_mut().zip(ids.chunks(64)) {
            *words = 0;
            for (bit, &id) in ids.iter().enumerate() {
                let kept = if stable {
                    // An id that is nowhere is that of a row that is gone.
                    row_ids::place(self.dataset, id)
                        .is_ok_and(|(position, row)| self.selects(position as usize, row))
                } else {
                    let fragment = (id >> 32) as u32;
                    if last.0 != fragment {
                        last = (fragment, self.positions.get(&fragment).copied());
                    }
                    last.1.is_some_and(|position| self.selects(position, id as u32))
                };
                *words |= u64::from(kept) << bit;
            }
        }
    }
}

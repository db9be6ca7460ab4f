//! [`Direct`]: the short way of a filter that is one condition which a B-tree answers, as long as it finds few rows.

use super::{
    catalog::{Opened, ScalarIndex},
    condition::{Condition, Room},
    locate::Search,
    split::{Conjunct, Tree},
};
use crate::{Dataset, Error, Result, row_ids};
use lancet_format::{index::IdDomain, table::Deletions};
use lancet_index::btree;
use std::ops::Range;

/// The most rows that are found this way.
const MOST_ROWS: u64 = 1 << 15;

/// Which condition, and which of the indices on its column.
#[derive(Debug, Clone)]
pub(crate) struct Direct {
    condition: usize,
    field: i32,
    index: usize,
    /// Whether every segment has an entry for each row that it answers for, and no others.
    is_complete: bool,
}

/// A row: the position of its fragment, and its offset.
pub(crate) type Place = (u32, u32);

/// Room that searches use one after the other.
#[derive(Debug, Default)]
pub(crate) struct DirectRoom {
    intervals: Vec<Range<u64>>,
    ids: Vec<u64>,
    places: Vec<Place>,
}

impl DirectRoom {
    /// The rows that were found, less the first ones.
    pub(crate) fn window(&self, offset: u64, limit: u64) -> &[Place] {
        let rows = self.places.len();
        let start = usize::try_from(offset).map_or(rows, |offset| offset.min(rows));
        let end = usize::try_from(limit).map_or(rows, |limit| start.saturating_add(limit).min(rows));
        &self.places[start..end]
    }
}

impl Direct {
    /// The way for these conjuncts, if there is one.
    ///
    /// # Errors
    /// Those of the files of indices.
    pub(crate) fn of(
        dataset: &Dataset,
        conjuncts: &[Conjunct],
        conditions: &[Condition],
    ) -> Result<Option<Self>> {
        let [Conjunct { tree: Some(Tree::Leaf(condition)), .. }] = conjuncts else { return Ok(None) };
        let catalog = dataset.catalog()?;
        let field = conditions[*condition].field;
        // Rows that were moved are no short way.
        if conditions[*condition].negated || catalog.reuse().is_some() {
            return Ok(None);
        }
        for (number, index) in catalog.of_field(field).iter().enumerate() {
            if let Some(is_complete) = covers_all(dataset, index)? {
                return Ok(Some(Direct { condition: *condition, field, index: number, is_complete }));
            }
        }
        Ok(None)
    }

    /// Finds the rows, in order; whether they are few enough for this way.
    ///
    /// # Errors
    /// Those of the index's files.
    pub(crate) fn find(
        &self,
        search: Search<'_>,
        conditions: &[Condition],
        room: &mut DirectRoom,
    ) -> Result<bool> {
        let dataset = search.dataset;
        let DirectRoom { intervals, ids, places } = room;
        places.clear();
        let mut values = Room::default();
        let Some(query) = conditions[self.condition].query(search.parameters, &mut values) else {
            return Ok(false);
        };
        let index = &dataset.catalog()?.of_field(self.field)[self.index];
        let stable = dataset.manifest().has_stable_row_ids();
        let mut left = MOST_ROWS;
        for segment in &index.segments {
            let Opened::BTree(tree, pages) = segment.open(dataset, &index.kind)? else { return Ok(false) };
            let fail = |error| Error::index(segment.path(dataset), error);
            intervals.clear();
            let mut looked = pages;
            if !btree::intervals(tree, &query, &mut looked, intervals).map_err(fail)? {
                return Ok(false);
            }
            search.stats.searched_pages(1);
            let rows: u64 = intervals.iter().map(|range| range.end - range.start).sum();
            if rows > left {
                return Ok(false);
            }
            left -= rows;
            ids.clear();
            for range in intervals.drain(..) {
                pages.extend_ids(tree, range, ids).map_err(fail)?;
            }
            search.stats.read_entries(rows);
            let coverage = segment.coverage(dataset, &index.kind)?;
            for &id in &*ids {
                if segment.domain == IdDomain::RowId && stable {
                    row_ids::each_place(dataset, id, |position, offset| {
                        if coverage.contains(position as usize) {
                            places.push((position, offset));
                        }
                    })?;
                } else if let Some(position) = dataset.manifest().position_of((id >> 32) as u32)
                    && coverage.contains(position)
                {
                    places.push((position as u32, id as u32));
                }
            }
        }
        // One number for both is quicker to compare.
        places.sort_unstable_by_key(|&(position, offset)| u64::from(position) << 32 | u64::from(offset));
        places.dedup();
        retain_live(dataset, places)?;
        Ok(true)
    }

    /// The number of rows; `None` if they are too many for this way.
    ///
    /// # Errors
    /// Those of the index's files.
    pub(crate) fn count(
        &self,
        search: Search<'_>,
        conditions: &[Condition],
        room: &mut DirectRoom,
    ) -> Result<Option<u64>> {
        if !self.is_complete {
            return Ok(self.find(search, conditions, room)?.then_some(room.places.len() as u64));
        }
        let dataset = search.dataset;
        let mut values = Room::default();
        let Some(query) = conditions[self.condition].query(search.parameters, &mut values) else {
            return Ok(None);
        };
        let index = &dataset.catalog()?.of_field(self.field)[self.index];
        room.intervals.clear();
        for segment in &index.segments {
            let Opened::BTree(tree, pages) = segment.open(dataset, &index.kind)? else { return Ok(None) };
            let mut looked = pages;
            let served = btree::intervals(tree, &query, &mut looked, &mut room.intervals);
            if !served.map_err(|error| Error::index(segment.path(dataset), error))? {
                return Ok(None);
            }
            search.stats.searched_pages(1);
        }
        Ok(Some(room.intervals.iter().map(|range| range.end - range.start).sum()))
    }
}

/// Whether an index is a B-tree that answers for all fragments, and if so, whether it has an entry for each row and no
/// others.
fn covers_all(dataset: &Dataset, index: &ScalarIndex) -> Result<Option<bool>> {
    let fragments = dataset.fragments();
    let (mut covered, mut entries) = (super::Fragments::none(fragments.len()), 0);
    for segment in &index.segments {
        let Opened::BTree(tree, _) = segment.open(dataset, &index.kind)? else { return Ok(None) };
        covered.extend(segment.coverage(dataset, &index.kind)?);
        entries += tree.num_rows();
    }
    if covered.len() != fragments.len() {
        return Ok(None);
    }
    let mut rows = 0;
    for fragment in fragments {
        if fragment.meta.deletion.is_some() {
            return Ok(Some(false));
        }
        rows += fragment.physical_rows(dataset.pool())?;
    }
    // One segment alone: of several, one may have an entry that another took the place of.
    Ok(Some(index.segments.len() == 1 && rows == entries))
}

/// Takes out the rows that are deleted, or that are not there.
fn retain_live(dataset: &Dataset, places: &mut Vec<Place>) -> Result<()> {
    let mut error = None;
    let mut known: Option<(u32, u64, Option<&Deletions>)> = None;
    places.retain(|&(position, offset)| {
        let fragment = &dataset.fragments()[position as usize];
        if known.as_ref().is_none_or(|(last, ..)| *last != position) {
            let found = fragment
                .physical_rows(dataset.pool())
                .and_then(|rows| Ok((position, rows, fragment.deletions(dataset.pool())?)));
            match found {
                Ok(found) => known = Some(found),
                Err(failed) => {
                    error.get_or_insert(failed);
                    return false;
                }
            }
        }
        let Some((_, rows, deletions)) = &known else { return false };
        u64::from(offset) < *rows && !deletions.is_some_and(|deletions| deletions.contains(offset))
    });
    error.map_or(Ok(()), Err)
}

//! Stable row ids: from a row's place to its id, and from an id to the place where the row lives now.
//!
//! Each fragment knows the ids of its rows. To find an id, fragments are first told apart by the bounds of
//! their ids, which cost a look at the head of each sequence; only those that may hold it are then read and
//! checked, once, and kept. An id may stand in several fragments: where the row was updated or moved, its
//! old place is deleted.

use crate::{Dataset, Error, Result, files::FilePool, fragment::Fragment};
use lancet_format::{Column, table::RowIdSequence};
use std::sync::OnceLock;

/// The ids of a fragment's rows.
#[derive(Debug)]
pub(crate) struct FragmentRowIds {
    ids: Ids,
    /// Ids and offsets in the order of the ids: those that are stored one by one and in no order. Others are
    /// found where they are, however many a few bytes stand for.
    sorted: OnceLock<Box<[(u64, u32)]>>,
}

#[derive(Debug)]
enum Ids {
    Sequence(RowIdSequence),
    /// Stored as a hidden column.
    Column(Column),
}

impl FragmentRowIds {
    pub(crate) fn of_sequence(sequence: RowIdSequence) -> Self {
        FragmentRowIds { ids: Ids::Sequence(sequence), sorted: OnceLock::new() }
    }

    pub(crate) fn of_column(column: Column) -> Self {
        FragmentRowIds { ids: Ids::Column(column), sorted: OnceLock::new() }
    }

    fn column(column: &Column) -> &[u64] {
        column.primitive::<u64>().unwrap_or_default()
    }

    /// Appends the ids of the rows from `start` up to `end`.
    pub(crate) fn extend(&self, start: u64, end: u64, out: &mut Vec<u64>) {
        match &self.ids {
            Ids::Sequence(sequence) => out.extend(sequence.iter_from(start).take((end - start) as usize)),
            Ids::Column(column) => out.extend_from_slice(&Self::column(column)[start as usize..end as usize]),
        }
    }

    /// The offset of the row with this id.
    fn find(&self, id: u64) -> Option<u32> {
        match &self.ids {
            Ids::Sequence(sequence) => match sequence.find_ordered(id) {
                Some(offset) => Some(offset as u32),
                None => self.find_sorted(id),
            },
            Ids::Column(_) => self.find_sorted(id),
        }
    }

    fn find_sorted(&self, id: u64) -> Option<u32> {
        let sorted = self.sorted.get_or_init(|| self.sort());
        let at = sorted.partition_point(|entry| entry.0 < id);
        sorted.get(at).filter(|entry| entry.0 == id).map(|entry| entry.1)
    }

    fn sort(&self) -> Box<[(u64, u32)]> {
        let mut all: Vec<(u64, u32)> = match &self.ids {
            Ids::Sequence(sequence) => sequence.unordered().map(|(id, offset)| (id, offset as u32)).collect(),
            Ids::Column(column) => Self::column(column).iter().copied().zip(0..).collect(),
        };
        all.sort_unstable();
        all.into()
    }
}

/// Which fragments may hold an id: their bounds in ascending order of the lower one.
#[derive(Debug)]
pub(crate) struct RowIdIndex {
    entries: Vec<Bounds>,
}

#[derive(Debug, Clone, Copy)]
struct Bounds {
    min: u64,
    max: u64,
    /// The largest `max` of this entry and all before it.
    max_so_far: u64,
    fragment: u32,
}

impl RowIdIndex {
    /// Looks at the head of every fragment's sequence.
    pub(crate) fn build(fragments: &[std::sync::Arc<Fragment>], pool: &FilePool) -> Result<Self> {
        let mut entries = Vec::with_capacity(fragments.len());
        for (position, fragment) in fragments.iter().enumerate() {
            if let Some((min, max)) = fragment.row_id_bounds(pool)? {
                entries.push(Bounds { min, max, max_so_far: max, fragment: position as u32 });
            }
        }
        entries.sort_unstable_by_key(|entry| entry.min);
        let mut max_so_far = 0;
        for entry in &mut entries {
            max_so_far = entry.max.max(max_so_far);
            entry.max_so_far = max_so_far;
        }
        Ok(RowIdIndex { entries })
    }

    /// The positions of the fragments whose bounds hold `id`.
    fn candidates(&self, id: u64) -> impl Iterator<Item = u32> + '_ {
        let below = self.entries.partition_point(|entry| entry.min <= id);
        let reachable = self.entries[..below].iter().rev().take_while(move |entry| entry.max_so_far >= id);
        reachable.filter(move |entry| entry.max >= id).map(|entry| entry.fragment)
    }
}

/// Calls `visit` with every place of a row with stable row id `id`, deleted or not: the position of its fragment and
/// the physical row.
pub(crate) fn each_place(dataset: &Dataset, id: u64, mut visit: impl FnMut(u32, u32)) -> Result<()> {
    for position in dataset.row_id_index()?.candidates(id) {
        let fragment = &dataset.fragments()[position as usize];
        if let Some(row) = fragment.row_ids(dataset.pool())?.find(id) {
            visit(position, row);
        }
    }
    Ok(())
}

/// The place of the live row with stable row id `id`: the position of its fragment and the physical row.
pub(crate) fn place(dataset: &Dataset, id: u64) -> Result<(u32, u32)> {
    let index = dataset.row_id_index()?;
    for position in index.candidates(id) {
        let fragment = &dataset.fragments()[position as usize];
        let Some(row) = fragment.row_ids(dataset.pool())?.find(id) else { continue };
        if !fragment.deletions(dataset.pool())?.is_some_and(|deletions| deletions.contains(row)) {
            return Ok((position, row));
        }
    }
    Err(Error::invalid_input(format!(
        "row id {id}: expected a row of the dataset, there is none with this id"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_overlapping_bounds() {
        let bounds = |min, max, fragment| Bounds { min, max, max_so_far: 0, fragment };
        let mut entries = vec![bounds(0, 9, 0), bounds(2, 100, 1), bounds(10, 19, 2), bounds(20, 29, 3)];
        let mut max_so_far = 0;
        for entry in &mut entries {
            max_so_far = entry.max.max(max_so_far);
            entry.max_so_far = max_so_far;
        }
        let index = RowIdIndex { entries };
        let found = |id| index.candidates(id).collect::<Vec<_>>();
        assert_eq!(found(5), [1, 0]);
        assert_eq!(found(15), [2, 1]);
        assert_eq!(found(25), [3, 1]);
        assert_eq!(found(50), [1]);
        assert!(found(101).is_empty());
        assert_eq!(found(1), [0]);
    }
}

//! Union, intersection and difference.

use super::{
    RowSet,
    block::{Block, contains, number},
};
use alloc::vec::Vec;
use lancet_format::{
    index::RowAddressSet,
    table::{Numbers, Treemap},
};

/// Rows with the same upper 48 bits, of a [`RowSet`] or as they lie in a file.
#[derive(Debug, Clone, Copy)]
pub struct Chunk<'a> {
    /// The upper 48 bits.
    pub key: u64,
    /// How many rows.
    pub cardinality: u32,
    /// The lower 16 bits.
    pub rows: Numbers<'a>,
}

impl<'a> Chunk<'a> {
    /// The chunks of a set of rows in a file, without those of whole fragments.
    pub fn of_addresses(set: &'a RowAddressSet) -> impl Iterator<Item = Chunk<'a>> {
        let partial = set.fragments().filter_map(|(fragment, rows)| Some((fragment, rows?)));
        partial.flat_map(|(fragment, rows)| Self::of_roaring(fragment, rows))
    }

    /// The chunks of a set of ids in a file.
    pub fn of_treemap(set: &'a Treemap) -> impl Iterator<Item = Chunk<'a>> {
        set.parts().flat_map(|(upper, rows)| Self::of_roaring(upper, rows))
    }

    fn of_roaring(upper: u32, rows: &'a lancet_format::table::Roaring) -> impl Iterator<Item = Chunk<'a>> {
        rows.containers().map(move |(key, cardinality, rows)| Chunk {
            key: u64::from(upper) << 16 | u64::from(key),
            cardinality,
            rows,
        })
    }
}

impl RowSet {
    /// Makes this the union of chunks in any order, of any number of sets. `spare` is used for work and can be used
    /// again.
    pub fn assign_union<'a>(
        &mut self,
        chunks: impl IntoIterator<Item = Chunk<'a>>,
        spare: &mut Vec<Chunk<'a>>,
    ) {
        self.clear();
        spare.clear();
        spare.extend(chunks.into_iter().filter(|chunk| chunk.cardinality > 0));
        if !spare.is_sorted_by_key(|chunk| chunk.key) {
            spare.sort_unstable_by_key(|chunk| chunk.key);
        }
        let mut block = Block::new();
        for group in spare.chunk_by(|a, b| a.key == b.key) {
            match group {
                [only] => self.push_chunk(*only),
                _ => {
                    block.clear();
                    group.iter().for_each(|chunk| block.insert(chunk.rows));
                    self.push_block(group[0].key, &block);
                }
            }
        }
    }

    /// The rows that are in this set or in `other`.
    #[must_use]
    pub fn union(&self, other: &RowSet) -> RowSet {
        let mut out = RowSet::new();
        out.assign_union(self.chunks().chain(other.chunks()), &mut Vec::new());
        out
    }

    /// Makes this the set of the rows that are in all of `sets`; none if there are no sets.
    pub fn assign_intersection(&mut self, sets: &[&RowSet]) {
        self.clear();
        // The smallest set says which chunks there can be.
        let Some(smallest) = (0..sets.len()).min_by_key(|&set| sets[set].len) else { return };
        let mut block = Block::new();
        for chunk in sets[smallest].chunks() {
            let others = || {
                let others = sets.iter().enumerate().filter(|(set, _)| *set != smallest);
                others.map(|(_, set)| set.find(chunk.key))
            };
            if others().any(|rows| rows.is_none()) {
                continue;
            }
            match chunk.rows {
                Numbers::Array(rows) => self.push_filtered(chunk.key, rows, |row| {
                    others().flatten().all(|other| contains(other, number(row)))
                }),
                rows => {
                    block.clear();
                    block.insert(rows);
                    others().flatten().for_each(|other| block.retain(other));
                    self.push_block(chunk.key, &block);
                }
            }
        }
    }

    /// The rows of the chunk with this key, if there is one.
    fn find(&self, key: u64) -> Option<Numbers<'_>> {
        let found = self.chunks.binary_search_by_key(&key, |chunk| chunk.key).ok()?;
        Some(self.rows_of(&self.chunks[found]))
    }

    /// The rows that are in this set and in `other`.
    #[must_use]
    pub fn intersection(&self, other: &RowSet) -> RowSet {
        let mut out = RowSet::new();
        out.assign_intersection(&[self, other]);
        out
    }

    /// Makes this the set of the rows of `left` that are not in `right`.
    pub fn assign_difference(&mut self, left: &RowSet, right: &RowSet) {
        self.clear();
        let mut block = Block::new();
        let mut others = right.chunks().peekable();
        for chunk in left.chunks() {
            while others.next_if(|other| other.key < chunk.key).is_some() {}
            match others.peek() {
                Some(other) if other.key == chunk.key => match chunk.rows {
                    Numbers::Array(rows) => {
                        self.push_filtered(chunk.key, rows, |row| !contains(other.rows, number(row)));
                    }
                    rows => {
                        block.clear();
                        block.insert(rows);
                        block.remove(other.rows);
                        self.push_block(chunk.key, &block);
                    }
                },
                _ => self.push_chunk(chunk),
            }
        }
    }

    /// The rows of this set that are not in `other`.
    #[must_use]
    pub fn difference(&self, other: &RowSet) -> RowSet {
        let mut out = RowSet::new();
        out.assign_difference(self, other);
        out
    }
}

//! What is asked of an index, and what comes back.

use crate::{RowSet, row_set::Chunk};
use alloc::vec::Vec;
use core::ops::Bound;
use lancet_format::{Scalar, index::RowAddressSet};

/// A predicate on one column. Values have the type of the column, and compare in the order of
/// [`lancet_format::Key`]: whoever wants −0 = +0 asks for both.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Query<'a> {
    /// The value is this one.
    Equals(Scalar<'a>),
    /// The value lies between bounds.
    Range(Bound<Scalar<'a>>, Bound<Scalar<'a>>),
    /// The value is one of these, in any order.
    IsIn(&'a [Scalar<'a>]),
    /// The value is NULL.
    IsNull,
    /// The text or binary begins with these bytes.
    StartsWith(&'a [u8]),
    /// The text holds this one.
    Contains(&'a str),
    /// The list holds any of these; `None` is a NULL element.
    HasAny(&'a [Option<Scalar<'a>>]),
    /// The list holds all of these; `None` is a NULL element.
    HasAll(&'a [Option<Scalar<'a>>]),
}

/// The rows that an index finds for a query, and how they relate to the rows for which it is true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It is true for these and no others.
    Exact(RowSet),
    /// It is true for no others.
    AtMost(RowSet),
    /// It is true for all of `least`, and for none but those of `most`, which has them too.
    Between {
        /// The rows for which it is true for sure.
        least: RowSet,
        /// The rows for which it may be true.
        most: RowSet,
    },
}

impl Answer {
    /// All rows for which it may be true.
    pub fn rows(&self) -> &RowSet {
        match self {
            Answer::Exact(rows) | Answer::AtMost(rows) | Answer::Between { most: rows, .. } => rows,
        }
    }

    /// All rows for which it may be true.
    pub fn into_rows(self) -> RowSet {
        match self {
            Answer::Exact(rows) | Answer::AtMost(rows) | Answer::Between { most: rows, .. } => rows,
        }
    }

    /// Whether no row has to be looked at again.
    pub fn is_exact(&self) -> bool {
        matches!(self, Answer::Exact(_))
    }
}

/// How many rows a fragment has (or how many ids there are with an upper half): sets of whole fragments and zones
/// are cut down to it. 0 for fragments that do not exist.
pub type RowsOf<'a> = &'a dyn Fn(u32) -> u64;

/// Makes `out` the union of sets of rows as they lie in a file.
pub fn union_of_addresses<'a>(
    sets: impl IntoIterator<Item = &'a RowAddressSet, IntoIter: Clone>,
    rows_of: RowsOf<'_>,
    out: &mut RowSet,
) {
    let sets = sets.into_iter();
    let mut whole: Vec<u32> = Vec::new();
    for (fragment, rows) in sets.clone().flat_map(RowAddressSet::fragments) {
        if rows.is_none() {
            whole.push(fragment);
        }
    }
    whole.sort_unstable();
    let mut fragments = RowSet::new();
    fragments.assign_ranges(whole.into_iter().map(|fragment| {
        let base = u64::from(fragment) << 32;
        base..base.saturating_add(rows_of(fragment).min(1 << 32))
    }));
    let mut chunks: Vec<Chunk<'_>> = sets.flat_map(Chunk::of_addresses).collect();
    chunks.extend(fragments.chunks());
    out.assign_union(chunks, &mut Vec::new());
}

/// The keys of values, in order, each once.
pub(crate) fn sorted_keys<'a>(values: &[Scalar<'a>]) -> Vec<lancet_format::Key<'a>> {
    let mut keys: Vec<_> = values.iter().map(|value| value.key()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

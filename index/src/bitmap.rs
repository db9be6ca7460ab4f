//! Searching a Bitmap index: one set of rows for each value, many united at once.

use crate::{
    Answer, Query, RowSet,
    query::{RowsOf, sorted_keys, union_of_addresses},
};
use alloc::vec::Vec;
use core::{
    iter,
    ops::{Bound, Range},
};
use lancet_format::{Key, Result, Scalar, index::BitmapIndex};

/// The positions of the keys that a query selects, as ascending ranges; `None` if a Bitmap index does not serve it.
pub fn positions(index: &BitmapIndex, query: &Query<'_>) -> Option<Vec<Range<usize>>> {
    let fits = |value: &Scalar<'_>| value.fits(index.data_type());
    match query {
        Query::Equals(value) if fits(value) => Some(iter::once(index.find(value.key())).collect()),
        Query::Range(lower, upper) => {
            let fits = |bound: &Bound<Scalar<'_>>| match bound {
                Bound::Included(value) | Bound::Excluded(value) => fits(value),
                Bound::Unbounded => true,
            };
            if !fits(lower) || !fits(upper) {
                return None;
            }
            let start = match lower.map(Scalar::key) {
                Bound::Included(key) => index.partition_point(|own| own < key),
                Bound::Excluded(key) => index.partition_point(|own| own <= key),
                Bound::Unbounded => 0,
            };
            let end = match upper.map(Scalar::key) {
                Bound::Included(key) => index.partition_point(|own| own <= key),
                Bound::Excluded(key) => index.partition_point(|own| own < key),
                Bound::Unbounded => index.num_keys(),
            };
            Some(iter::once(start..end.max(start)).collect())
        }
        Query::IsIn(values) if values.iter().all(fits) => {
            Some(sorted_keys(values).into_iter().map(|key| index.find(key)).collect())
        }
        Query::StartsWith(prefix) if Scalar::Bytes(prefix).fits(index.data_type()) => {
            let starts = |own: Key<'_>| matches!(own, Key::Bytes(bytes) if bytes.starts_with(prefix));
            let start = index.partition_point(|own| own < Key::Bytes(prefix));
            let end = index.partition_point(|own| own < Key::Bytes(prefix) || starts(own));
            Some(iter::once(start..end).collect())
        }
        Query::IsNull => Some(Vec::new()),
        _ => None,
    }
}

/// The rows that a query selects, always exact; `None` if a Bitmap index does not serve it. The rows that are NULL,
/// for which it is neither true nor false, go to `nulls` if the caller wants them.
///
/// # Errors
/// Those of reading sets.
pub fn search(
    index: &BitmapIndex,
    query: &Query<'_>,
    rows_of: RowsOf<'_>,
    nulls: Option<&mut RowSet>,
) -> Result<Option<Answer>> {
    let Some(found) = positions(index, query) else { return Ok(None) };
    let mut rows = RowSet::new();
    if *query == Query::IsNull {
        read_nulls(index, rows_of, &mut rows)?;
    } else {
        let sets = found.into_iter().flatten().map(|position| index.rows(position));
        union_of_addresses(&sets.collect::<Result<Vec<_>>>()?, rows_of, &mut rows);
    }
    if let Some(nulls) = nulls {
        nulls.clear();
        if *query != Query::IsNull {
            read_nulls(index, rows_of, nulls)?;
        }
    }
    Ok(Some(Answer::Exact(rows)))
}

/// Makes `out` the rows whose key is NULL.
pub(crate) fn read_nulls(index: &BitmapIndex, rows_of: RowsOf<'_>, out: &mut RowSet) -> Result<()> {
    let sets = (0..index.num_null_sets()).map(|set| index.null_rows(set));
    union_of_addresses(&sets.collect::<Result<Vec<_>>>()?, rows_of, out);
    Ok(())
}

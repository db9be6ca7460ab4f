//! Searching a LabelList: sets of the elements that are asked for, united or intersected.

use crate::{
    Answer, Query, RowSet,
    bitmap::read_nulls,
    query::{RowsOf, union_of_addresses},
};
use alloc::vec::Vec;
use lancet_format::{Result, Scalar, index::LabelListIndex};

/// The rows that a query selects; `None` if a LabelList does not serve it, as with no elements at all. Exact as far as
/// the index has no entries of rows that were updated. The rows whose list is NULL go to `nulls` if the caller wants
/// them; if the index does not know them, nothing is served then.
///
/// # Errors
/// Those of reading sets.
pub fn search(
    index: &LabelListIndex,
    query: &Query<'_>,
    rows_of: RowsOf<'_>,
    nulls: Option<&mut RowSet>,
) -> Result<Option<Answer>> {
    let (Query::HasAny(elements) | Query::HasAll(elements)) = query else { return Ok(None) };
    let data_type = index.elements().data_type();
    if elements.is_empty() || !elements.iter().flatten().all(|value| value.fits(data_type)) {
        return Ok(None);
    }
    if let Some(nulls) = nulls {
        let Some(lists) = index.null_lists() else { return Ok(None) };
        union_of_addresses(core::slice::from_ref(lists), rows_of, nulls);
    }
    let mut sets = Vec::with_capacity(elements.len());
    for element in *elements {
        sets.push(rows_with(index, *element, rows_of)?);
    }
    let mut rows = RowSet::new();
    match query {
        Query::HasAll(_) => rows.assign_intersection(&sets.iter().collect::<Vec<_>>()),
        _ => rows.assign_union(sets.iter().flat_map(RowSet::chunks), &mut Vec::new()),
    }
    Ok(Some(Answer::Exact(rows)))
}

/// The rows whose list holds an element.
fn rows_with(index: &LabelListIndex, element: Option<Scalar<'_>>, rows_of: RowsOf<'_>) -> Result<RowSet> {
    let (elements, mut rows) = (index.elements(), RowSet::new());
    match element {
        None => read_nulls(elements, rows_of, &mut rows)?,
        Some(value) => {
            let sets = elements.find(value.key()).map(|position| elements.rows(position));
            union_of_addresses(&sets.collect::<Result<Vec<_>>>()?, rows_of, &mut rows);
        }
    }
    Ok(rows)
}

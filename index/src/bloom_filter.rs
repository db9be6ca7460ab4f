//! Searching Bloom filters: the zones whose filter may hold a value.

use crate::{
    Answer, Query, RowSet,
    query::{RowsOf, union_of_addresses},
    zone_map::assign_zones,
};
use alloc::{vec, vec::Vec};
use lancet_format::{
    DataType, Result, Scalar,
    index::{BloomFilterIndex, BloomHash},
};

/// The rows of a column of type `data_type` that a query may select; `None` if filters do not serve it.
///
/// # Errors
/// Those of reading the filters.
pub fn search(
    index: &BloomFilterIndex,
    data_type: &DataType,
    query: &Query<'_>,
    rows_of: RowsOf<'_>,
) -> Result<Option<Answer>> {
    let mut rows = RowSet::new();
    let mut selected = vec![false; index.zones().len()];
    let values: &[Scalar<'_>] = match (query, index.null_rows()) {
        (Query::Equals(value), _) => core::slice::from_ref(value),
        (Query::IsIn(values), _) => values,
        (Query::IsNull, Some(nulls)) => {
            union_of_addresses(core::slice::from_ref(nulls), rows_of, &mut rows);
            return Ok(Some(Answer::Exact(rows)));
        }
        (Query::IsNull, None) => {
            selected.copy_from_slice(index.has_null());
            &[]
        }
        _ => return Ok(None),
    };
    let hashes: Option<Vec<BloomHash>> =
        values.iter().map(|value| BloomHash::of(*value, data_type)).collect();
    let Some(hashes) = hashes else { return Ok(None) };
    for hash in hashes {
        index.may_hold(hash)?.for_each(|position| selected[position] = true);
    }
    let zones = index.zones().iter().zip(selected).filter(|(_, selected)| *selected);
    assign_zones(zones.map(|(zone, _)| zone), rows_of, &mut rows);
    Ok(Some(Answer::AtMost(rows)))
}

//! From what an index calls a row to where the row lives now.
//!
//! ```text
//! address, or id that is one    fragment id << 32 | offset         kept if the segment answers for the fragment
//!   of a compacted fragment       ─ fragment reuse ▶ address        or dropped
//! stable id                       ─ row ids of the fragments that the segment answers for ▶ address
//! ```
//! With stable ids a segment may name a row that has since moved to a fragment which another segment answers for; the
//! old entry must not count.

use super::fragments::Fragments;
use crate::{Dataset, Result, row_ids};
use lancet_format::index::IdDomain;
use lancet_index::{RowSet, row_set::Moved};

/// With more ids than this for each fragment, all ids of fragments are gone through, instead of looking each up.
const MANY_IDS: u64 = 4096;

/// How many rows there can be with the upper half `fragment`, in what an index of this domain calls rows.
pub(crate) fn rows_of(dataset: &Dataset, domain: IdDomain, fragment: u32) -> u64 {
    if domain == IdDomain::RowId && dataset.manifest().has_stable_row_ids() {
        return 1 << 32;
    }
    let known = dataset.manifest().position_of(fragment);
    let rows = known.and_then(|position| dataset.fragments()[position].physical_rows(dataset.pool()).ok());
    let before = || dataset.catalog().ok()?.reuse()?.physical_rows(fragment);
    rows.or_else(before).unwrap_or(0)
}

/// The addresses of the rows that an index calls `rows`, in the fragments of `coverage`.
///
/// # Errors
/// Those of the row ids of fragments.
pub(crate) fn addresses(
    dataset: &Dataset,
    domain: IdDomain,
    coverage: &Fragments,
    rows: RowSet,
) -> Result<RowSet> {
    if domain == IdDomain::RowId && dataset.manifest().has_stable_row_ids() {
        return of_stable_ids(dataset, coverage, &rows);
    }
    let rows = match dataset.catalog()?.reuse() {
        Some(reuse) => Moved::of(rows, reuse).rows,
        None => rows,
    };
    let is_covered = |fragment| {
        dataset.manifest().position_of(fragment).is_some_and(|position| coverage.contains(position))
    };
    if rows.fragments().all(|(fragment, _)| is_covered(fragment)) {
        return Ok(rows);
    }
    let mut kept = RowSet::new();
    let chunks = rows.chunks().filter(|chunk| is_covered((chunk.key >> 16) as u32));
    kept.assign_union(chunks, &mut Vec::new());
    Ok(kept)
}

fn of_stable_ids(dataset: &Dataset, coverage: &Fragments, ids: &RowSet) -> Result<RowSet> {
    let mut addresses = Vec::new();
    if ids.len() <= MANY_IDS.saturating_mul(coverage.len() as u64) {
        for id in ids.iter() {
            row_ids::each_place(dataset, id, |position, offset| {
                if coverage.contains(position as usize) {
                    addresses.push(dataset.fragments()[position as usize].base_address() + u64::from(offset));
                }
            })?;
        }
    } else {
        let mut all = Vec::new();
        for position in coverage.iter() {
            let fragment = &dataset.fragments()[position];
            all.clear();
            let rows = fragment.physical_rows(dataset.pool())?;
            fragment.row_ids(dataset.pool())?.extend(0, rows, &mut all);
            let held = (0..rows).zip(&all).filter(|(_, id)| ids.contains(**id));
            addresses.extend(held.map(|(offset, _)| fragment.base_address() + offset));
        }
    }
    Ok(addresses.into_iter().collect())
}

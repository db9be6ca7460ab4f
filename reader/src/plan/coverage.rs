//! [`Coverage`]: what a segment answers for.
//!
//! A segment counts for a fragment if
//!
//! - the manifest says that it covers it, and
//! - no row of it was created after the segment (a merge may add rows to a fragment that Lance still counts as covered),
//!   and
//! - it has zones of it, if it is made of zones (Lance may move the coverage of those to fragments they do not know), and
//! - none of its columns was written again in place, if it is a LabelList: Lance goes on counting such a fragment, since it
//!   knows the column by the field of the list, and the change by that of the elements.
//!
//! Where a compaction left indices untold, the manifest says too much: when a table is compacted again, and its indices
//! are told this time, Lance gives new addresses only to entries that name the fragments of the day. Entries older than
//! that stay as they are, and where they should lead to is nowhere written:
//!
//! ```text
//! rows         1:0 1:2 2:1 ─ deferred ▶ 5:0 5:1 5:2 ─ ordinary ▶ 6:0 6:1 6:2
//! a B-tree     1:0 1:2 2:1                                        1:0 1:2 2:1, said to cover fragment 6
//!   through fragment reuse                                        5:0 5:1 5:2, which are gone
//! ```
//! So all entries are looked at, once: a segment answers for a fragment if it knows each live row of it. An index with
//! one entry for each row must name none of them twice. A list without elements, or a text without three letters, has
//! no entry; the rows of which a LabelList or an NGram index knows nothing are therefore looked at for any answer.

use super::{catalog::Opened, fragments::Fragments, places};
use crate::{Dataset, Result, fragment::Fragment};
use lancet_format::{
    index::{BitmapIndex, IdDomain, IndexKind, RowAddressSet, Zone},
    table::{DataFile, FragmentReuse, IndexMetadata, Roaring},
};
use lancet_index::{
    RowSet, btree,
    query::{RowsOf, union_of_addresses},
    row_set::{Chunk, Moved},
};
use std::ops::Range;

/// So many sets are read at once.
const BATCH: usize = 4096;

/// What a segment answers for.
#[derive(Debug)]
pub(crate) struct Coverage {
    pub(crate) fragments: Fragments,
    /// Live rows of these fragments of which it knows nothing: its answers may lack them.
    pub(crate) unknown: RowSet,
}

/// All rows that a segment names.
#[derive(Debug)]
pub(crate) struct Entries {
    rows: RowSet,
    /// Whether it names some of them twice.
    repeats: bool,
}

impl Coverage {
    /// Of a segment whose rows compactions did not move.
    ///
    /// # Errors
    /// Those of the rows' versions.
    pub(super) fn of(
        dataset: &Dataset,
        meta: &IndexMetadata,
        kind: &IndexKind,
        opened: Option<&Opened>,
    ) -> Result<Self> {
        let zones = opened.and_then(zones).map(|zones| {
            let mut known: Vec<u32> = zones.iter().map(|zone| zone.fragment).collect();
            known.dedup();
            Roaring::from_sorted(&known)
        });
        let mut fragments = Fragments::none(dataset.fragments().len());
        for (position, fragment) in dataset.fragments().iter().enumerate() {
            let has_zones = zones.as_ref().is_none_or(|zones| zones.contains(fragment.meta.id));
            if has_zones && claims(dataset, meta, kind, meta.fragments.as_ref(), fragment)? {
                fragments.insert(position);
            }
        }
        Ok(Coverage { fragments, unknown: RowSet::new() })
    }

    /// Of a segment whose rows compactions may have moved.
    ///
    /// # Errors
    /// Those of deletion files.
    pub(super) fn of_moved(
        dataset: &Dataset,
        meta: &IndexMetadata,
        kind: &IndexKind,
        entries: &Entries,
        reuse: &FragmentReuse,
    ) -> Result<Self> {
        let mut fragments = Fragments::none(dataset.fragments().len());
        let stored = meta.fragments.as_ref().map(|stored| reuse.map_fragments(stored));
        let moved = Moved::of(entries.rows.clone(), reuse);
        let names_each_row_once = matches!(kind, IndexKind::BTree(_) | IndexKind::Bitmap);
        if names_each_row_once && (entries.repeats || moved.is_ambiguous) {
            return Ok(Coverage { fragments, unknown: RowSet::new() });
        }
        let names_each_row = !matches!(kind, IndexKind::LabelList { .. } | IndexKind::NGram);
        let mut unknown = Vec::new();
        for (position, fragment) in dataset.fragments().iter().enumerate() {
            if !claims(dataset, meta, kind, stored.as_ref(), fragment)? {
                continue;
            }
            let before = unknown.len();
            extend_unknown(dataset, fragment, &moved.rows, &mut unknown)?;
            let rows: u64 = unknown[before..].iter().map(|range| range.end - range.start).sum();
            if rows == 0 || !names_each_row && rows < fragment.live_rows(dataset.pool())? {
                fragments.insert(position);
            } else {
                unknown.truncate(before);
            }
        }
        unknown.sort_unstable_by_key(|range| range.start);
        let mut rows = RowSet::new();
        rows.assign_ranges(unknown);
        Ok(Coverage { fragments, unknown: rows })
    }
}

/// Whether the manifest says that a segment covers a fragment, and nothing in it is newer.
fn claims(
    dataset: &Dataset,
    meta: &IndexMetadata,
    kind: &IndexKind,
    stored: Option<&Roaring>,
    fragment: &Fragment,
) -> Result<bool> {
    let is_stored = stored.is_some_and(|stored| stored.contains(fragment.meta.id));
    let is_of_lists = matches!(kind, IndexKind::LabelList { .. });
    if is_of_lists && fragment.meta.files.iter().any(DataFile::has_replaced_fields) {
        return Ok(false);
    }
    Ok(is_stored && fragment.newest_row(dataset.pool())? <= meta.dataset_version)
}

/// Appends the addresses of the live rows of a fragment that are not in `known`, as ranges.
fn extend_unknown(
    dataset: &Dataset,
    fragment: &Fragment,
    known: &RowSet,
    out: &mut Vec<Range<u64>>,
) -> Result<()> {
    let (base, rows) = (fragment.base_address(), fragment.physical_rows(dataset.pool())?);
    let deletions = fragment.deletions(dataset.pool())?;
    let mut start = 0;
    for range in known.ranges_of(fragment.meta.id).chain(std::iter::once(rows..rows)) {
        let gap = start..range.start.min(rows);
        start = range.end;
        match deletions {
            _ if gap.start >= gap.end => {}
            None => out.push(base + gap.start..base + gap.end),
            Some(deletions) => {
                out.extend(deletions.live_ranges(gap).map(|live| base + live.start..base + live.end));
            }
        }
    }
    Ok(())
}

fn zones(opened: &Opened) -> Option<&[Zone]> {
    match opened {
        Opened::ZoneMap(index) => Some(index.zones()),
        Opened::BloomFilter(index) => Some(index.zones()),
        _ => None,
    }
}

impl Entries {
    /// Reads all that a segment names.
    ///
    /// # Errors
    /// Those of its files.
    pub(super) fn of(dataset: &Dataset, domain: IdDomain, opened: &Opened) -> lancet_format::Result<Self> {
        let rows_of = |fragment| places::rows_of(dataset, domain, fragment);
        let (mut rows, mut named) = (RowSet::new(), 0);
        match opened {
            Opened::BTree(tree, _) => {
                let mut scratch = btree::Scratch::default();
                btree::ids(tree, std::slice::from_ref(&(0..tree.num_rows())), &mut scratch, &mut rows)?;
                named = tree.num_rows();
            }
            Opened::Bitmap(keys, _) => named = add_sets(keys, &rows_of, &mut rows)?,
            Opened::LabelList(lists) => {
                add_sets(lists.elements(), &rows_of, &mut rows)?;
                add(lists.null_lists(), &rows_of, &mut rows);
            }
            Opened::NGram(grams) => {
                for tokens in grams.tokens().chunks(BATCH) {
                    let sets = tokens.iter().filter_map(|token| grams.rows(*token).transpose());
                    let sets = sets.collect::<lancet_format::Result<Vec<_>>>()?;
                    let mut all = RowSet::new();
                    let chunks = sets.iter().flat_map(Chunk::of_treemap).chain(rows.chunks());
                    all.assign_union(chunks, &mut Vec::new());
                    rows = all;
                }
            }
            Opened::ZoneMap(_) | Opened::BloomFilter(_) => {
                let zones = zones(opened).unwrap_or_default().iter();
                rows.assign_ranges(zones.map(|zone| {
                    let (addresses, base) = (zone.addresses(), u64::from(zone.fragment) << 32);
                    addresses.start..addresses.end.min(base.saturating_add(rows_of(zone.fragment)))
                }));
            }
        }
        Ok(Entries { repeats: named > rows.len(), rows })
    }
}

/// Adds the rows of all keys and of NULL, and says how many they are if each counts.
fn add_sets(index: &BitmapIndex, rows_of: RowsOf<'_>, out: &mut RowSet) -> lancet_format::Result<u64> {
    let (keys, all) = (index.num_keys(), index.num_keys() + index.num_null_sets());
    let read = |set| if set < keys { index.rows(set) } else { index.null_rows(set - keys) };
    let mut named = 0;
    for start in (0..all).step_by(BATCH) {
        let sets = (start..all.min(start + BATCH)).map(read).collect::<lancet_format::Result<Vec<_>>>()?;
        named += add(&sets, rows_of, out);
    }
    Ok(named)
}

fn add<'a>(
    sets: impl IntoIterator<Item = &'a RowAddressSet, IntoIter: Clone>,
    rows_of: RowsOf<'_>,
    out: &mut RowSet,
) -> u64 {
    let sets = sets.into_iter();
    let mut union = RowSet::new();
    union_of_addresses(sets.clone(), rows_of, &mut union);
    *out = out.union(&union);
    let fragments = sets.flat_map(RowAddressSet::fragments);
    fragments.map(|(fragment, rows)| rows.map_or_else(|| rows_of(fragment), Roaring::len)).sum()
}

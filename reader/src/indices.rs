//! The indices of a dataset: what exists, and which fragments and rows each covers.

use crate::{Dataset, Error, Result};
use lancet_format::table::{FragmentReuse, FragmentReuseDetails, IndexMetadata};
use std::collections::BTreeMap;

/// An index: all segments with one name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Index {
    /// Its name.
    pub name: String,
    /// Its kind as Lance calls it: `BTree`, `Bitmap`, `IVF_PQ`, …; `Unknown` if the manifest does not say.
    pub kind: String,
    /// The indexed columns as dotted paths; empty for indices that the table keeps for itself.
    pub columns: Vec<String>,
    /// Its segments in the order of the manifest.
    pub segments: Vec<IndexMetadata>,
    /// The ids of the fragments that it covers and that still exist, ascending.
    pub fragments: Vec<u32>,
    /// The live rows of these fragments.
    pub rows_covered: u64,
    /// The live rows of all other fragments.
    pub rows_uncovered: u64,
    /// The sizes of its files together, where the manifest says them.
    pub bytes: Option<u64>,
}

/// See [`Dataset::indices`].
pub(crate) fn list(dataset: &Dataset) -> Result<Vec<Index>> {
    let entries = dataset.index_segments();
    let reuse = fragment_reuse(dataset, entries)?;
    let mut by_name: Vec<(String, Vec<IndexMetadata>)> = Vec::new();
    for entry in entries {
        match by_name.iter_mut().find(|(name, _)| *name == entry.name) {
            Some((_, segments)) => segments.push(entry.clone()),
            None => by_name.push((entry.name.clone(), vec![entry.clone()])),
        }
    }
    let live = dataset.live_before()?;
    let rows_of: BTreeMap<u32, u64> = dataset
        .manifest()
        .fragments
        .iter()
        .zip(live.windows(2))
        .map(|(fragment, pair)| (fragment.id, pair[1] - pair[0]))
        .collect();
    let total = live.last().copied().unwrap_or_default();
    let describe = |(name, segments): (String, Vec<IndexMetadata>)| {
        let mut fragments: Vec<u32> = Vec::new();
        for segment in &segments {
            let Some(covered) = &segment.fragments else { continue };
            let covered =
                reuse.as_ref().map_or_else(|| covered.clone(), |reuse| reuse.map_fragments(covered));
            fragments.extend(rows_of.keys().filter(|id| covered.contains(**id)));
        }
        fragments.sort_unstable();
        fragments.dedup();
        let rows_covered: u64 = fragments.iter().map(|id| rows_of[id]).sum();
        let files = || segments.iter().flat_map(|segment| &segment.files);
        let bytes = match segments.iter().all(|segment| !segment.files.is_empty()) {
            true => files().try_fold(0u64, |sum, file| sum.checked_add(file.size?)),
            false => None,
        };
        Index {
            kind: segments.first().map_or_else(String::new, kind),
            columns: segments.first().map_or_else(Vec::new, |segment| columns(dataset, segment)),
            name,
            segments,
            fragments,
            rows_covered,
            rows_uncovered: total - rows_covered,
            bytes,
        }
    };
    Ok(by_name.into_iter().map(describe).collect())
}

/// Where rows of compacted fragments went, if the table keeps an index of that.
pub(crate) fn fragment_reuse(dataset: &Dataset, entries: &[IndexMetadata]) -> Result<Option<FragmentReuse>> {
    for entry in entries {
        match FragmentReuseDetails::of(entry)
            .map_err(|error| Error::format(dataset.manifest_path(), error))?
        {
            None => {}
            Some(FragmentReuseDetails::Inline(reuse)) => return Ok(Some(reuse)),
            Some(FragmentReuseDetails::External { path, offset, size }) => {
                let (path, bytes) = dataset.read_index_file(entry, &path)?;
                let end =
                    offset.checked_add(size).filter(|end| *end <= bytes.len() as u64).ok_or_else(|| {
                        let found = bytes.len();
                        Error::corrupt(
                            &path,
                            format!("expected {size} bytes at {offset}, found a file of {found} bytes"),
                        )
                    })?;
                let bytes = bytes.slice(offset as usize..end as usize);
                return FragmentReuse::parse(&bytes).map(Some).map_err(|error| Error::format(&path, error));
            }
        }
    }
    Ok(None)
}

/// The kind of a segment, from the name of its details.
pub(crate) fn kind(segment: &IndexMetadata) -> String {
    match &segment.details {
        None => "Unknown".into(),
        Some(details) => details.kind(),
    }
}

fn columns(dataset: &Dataset, segment: &IndexMetadata) -> Vec<String> {
    let named = |id: &i32| dataset.schema().path_of(*id).unwrap_or_else(|| format!("field {id}"));
    segment.fields.iter().map(named).collect()
}

//! The fragment reuse index: where the rows of compacted fragments went.
//!
//! A compaction may leave index files as they are and list here, for each group of fragments that it
//! merged, the old addresses of the rows that it kept. In ascending order they are the rows of the new
//! fragments from first to last; old addresses that are not listed were deleted:
//!
//! ```text
//! version 7, group    old fragments 1 (3 rows), 2 (4 rows)          new fragments 5, 6
//!   kept              1:0  1:2  2:1  2:2  2:3
//!   rows of the new   5:0  5:1  5:2  6:0  6:1
//! ```
//! Whoever takes an address out of an index sends it through all versions, the oldest first, as
//! [`FragmentReuse::map`] does. No id of a fragment is ever given again, so an address that an index was told of stays
//! as it is, and nothing is moved twice. What cannot be told from here is whether an index still names all rows that
//! its entry claims.

use super::{IndexMetadata, Roaring, Treemap, check_relative, index::FRAGMENT_REUSE};
use crate::{Error, Result, ensure, proto};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};
use bytes::Bytes;
use core::ops::Range;
use proto::table::fragment_reuse as message;

/// Where the content of the index is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FragmentReuseDetails {
    /// Beside its entry in the manifest.
    Inline(FragmentReuse),
    /// In a file, for [`FragmentReuse::parse`].
    External {
        /// Relative to the segment's folder.
        path: String,
        /// The first byte.
        offset: u64,
        /// The number of bytes.
        size: u64,
    },
}

/// All compactions whose moves are not yet in the index files, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentReuse {
    versions: Vec<ReuseVersion>,
}

/// One compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReuseVersion {
    /// The table version that it started from.
    pub dataset_version: u64,
    /// Fragments that were merged with each other.
    pub groups: Vec<ReuseGroup>,
    /// Old fragments and the positions of their groups, ascending.
    by_old: Vec<(u32, usize)>,
}

/// Fragments whose rows became those of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReuseGroup {
    /// The old addresses of the rows that were kept.
    pub kept: Treemap,
    /// The fragments that are gone.
    pub old_fragments: Vec<FragmentDigest>,
    /// The fragments that hold the rows, in their order.
    pub new_fragments: Vec<FragmentDigest>,
    /// For each new fragment how many rows precede it.
    starts: Vec<u64>,
}

/// What is known about a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FragmentDigest {
    /// The id.
    pub id: u32,
    /// Its rows including deleted ones.
    pub physical_rows: u64,
    /// Its deleted rows.
    pub num_deleted_rows: u64,
}

impl FragmentReuseDetails {
    /// Reads the details of an index entry; `None` if it is not the fragment reuse index.
    ///
    /// # Errors
    /// Corrupt if the details contradict the format; unsupported if they have a form of the future.
    pub fn of(entry: &IndexMetadata) -> Result<Option<Self>> {
        if entry.name != FRAGMENT_REUSE {
            return Ok(None);
        }
        let within = |error: Error| error.within("fragment reuse index");
        if entry.version > 0 {
            let message = format!("version {}: expected 0", entry.version);
            return Err(within(Error::unsupported(message)));
        }
        let value = entry.details.as_ref().map(|details| details.value.clone()).unwrap_or_default();
        Self::parse(value).map(Some).map_err(within)
    }

    fn parse(value: Bytes) -> Result<Self> {
        let details: proto::table::FragmentReuseIndexDetails = proto::decode_shared(value, 0, "details")?;
        match details.content {
            Some(message::Content::Inline(content)) => {
                FragmentReuse::from_proto(content).map(FragmentReuseDetails::Inline)
            }
            Some(message::Content::External(file)) => {
                check_relative(&file.path, "details file")?;
                Ok(FragmentReuseDetails::External { path: file.path, offset: file.offset, size: file.size })
            }
            None => Err(Error::corrupt("details: expected content, found none")),
        }
    }
}

impl FragmentReuse {
    /// Parses the content of a details file.
    ///
    /// # Errors
    /// Corrupt if it contradicts the format; unsupported if it has a form of the future.
    pub fn parse(bytes: &Bytes) -> Result<Self> {
        let content = proto::decode_shared(bytes.clone(), 0, "content").and_then(Self::from_proto);
        content.map_err(|error| error.within("fragment reuse index"))
    }

    fn from_proto(content: message::InlineContent) -> Result<Self> {
        if !content.transitions.is_empty() {
            return Err(Error::unsupported("transitions: expected versions only"));
        }
        let versions = content.versions.into_iter().map(ReuseVersion::from_proto);
        let versions = versions.collect::<Result<Vec<_>>>()?;
        let ascends = versions.is_sorted_by_key(|version| version.dataset_version);
        ensure!(ascends, "expected versions that ascend");
        check_ids(&versions)?;
        Ok(FragmentReuse { versions })
    }

    /// The compactions, the oldest first.
    pub fn versions(&self) -> &[ReuseVersion] {
        &self.versions
    }

    /// The present address of the row that an index knows by `address`; `None` if it was deleted.
    pub fn map(&self, address: u64) -> Option<u64> {
        self.versions.iter().try_fold(address, |address, version| version.map(address))
    }

    /// How many rows a fragment had, deleted ones included, before it was compacted; `None` if no version knows it.
    pub fn physical_rows(&self, fragment: u32) -> Option<u64> {
        let group = self.versions.iter().find_map(|version| version.group_of(fragment))?;
        group.old_fragments.iter().find(|old| old.id == fragment).map(|old| old.physical_rows)
    }

    /// The present ids of the fragments that an index covers. New fragments count as covered if all
    /// fragments that they were made of are.
    pub fn map_fragments(&self, covered: &Roaring) -> Roaring {
        let mut ids: BTreeSet<u32> = covered.iter().collect();
        for group in self.versions.iter().flat_map(|version| &version.groups) {
            let mut all = !group.old_fragments.is_empty();
            for fragment in &group.old_fragments {
                all &= ids.remove(&fragment.id);
            }
            if all {
                ids.extend(group.new_fragments.iter().map(|fragment| fragment.id));
            }
        }
        Roaring::from_sorted(&ids.into_iter().collect::<Vec<_>>())
    }
}

impl ReuseVersion {
    fn from_proto(version: message::Version) -> Result<Self> {
        let dataset_version = version.dataset_version;
        let within = |error: Error| error.within(format!("version {dataset_version}"));
        let groups = version.groups.into_iter().map(ReuseGroup::from_proto);
        let groups = groups.collect::<Result<Vec<_>>>().map_err(within)?;
        let old = |(position, group): (usize, &'_ ReuseGroup)| {
            group.old_fragments.iter().map(move |fragment| (fragment.id, position)).collect::<Vec<_>>()
        };
        let mut by_old: Vec<_> = groups.iter().enumerate().flat_map(old).collect();
        by_old.sort_unstable();
        match by_old.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => {
                let message = format!("expected each old fragment once, found {} twice", pair[0].0);
                Err(within(Error::corrupt(message)))
            }
            None => Ok(ReuseVersion { dataset_version, groups, by_old }),
        }
    }

    /// The group that an old fragment belongs to; `None` if the compaction left the fragment alone.
    pub fn group_of(&self, fragment: u32) -> Option<&ReuseGroup> {
        let found = self.by_old.binary_search_by_key(&fragment, |entry| entry.0).ok()?;
        Some(&self.groups[self.by_old[found].1])
    }

    fn map(&self, address: u64) -> Option<u64> {
        match self.group_of((address >> 32) as u32) {
            Some(group) => group.map(address),
            None => Some(address),
        }
    }
}

/// Ids are never given again: a fragment is written once, and compacted once and later.
fn check_ids(versions: &[ReuseVersion]) -> Result<()> {
    let (mut old, mut new) = (BTreeSet::new(), BTreeSet::new());
    for version in versions {
        for group in &version.groups {
            for fragment in &group.old_fragments {
                ensure!(old.insert(fragment.id), "expected fragment {} to be compacted once", fragment.id);
            }
        }
        for fragment in version.groups.iter().flat_map(|group| &group.new_fragments) {
            let id = fragment.id;
            ensure!(new.insert(id) && !old.contains(&id), "expected {id} to be the id of one new fragment");
        }
    }
    Ok(())
}

impl ReuseGroup {
    fn from_proto(group: message::Group) -> Result<Self> {
        let kept = Treemap::parse(&group.changed_row_addrs)?;
        let digests =
            |digests: Vec<_>| digests.into_iter().map(FragmentDigest::from_proto).collect::<Result<Vec<_>>>();
        let (old_fragments, new_fragments) = (digests(group.old_fragments)?, digests(group.new_fragments)?);
        let (mut starts, mut rows) = (Vec::with_capacity(new_fragments.len()), 0u64);
        for fragment in &new_fragments {
            starts.push(rows);
            rows = rows.saturating_add(fragment.physical_rows);
        }
        ensure!(
            kept.len() == rows,
            "expected {rows} kept rows as in the new fragments, found {}",
            kept.len()
        );
        let rows_of = old_fragments.iter().map(|fragment| (fragment.id, fragment.physical_rows));
        let rows_of: BTreeMap<u32, u64> = rows_of.collect();
        for (id, offsets) in kept.parts() {
            let Some(&rows) = rows_of.get(&id) else {
                return Err(Error::corrupt(format!(
                    "expected rows of the old fragments, found some of {id}"
                )));
            };
            let last = offsets.max().unwrap_or(0);
            ensure!(
                u64::from(last) < rows || offsets.is_empty(),
                "fragment {id}: expected rows below {rows}, found {last}"
            );
        }
        Ok(ReuseGroup { kept, old_fragments, new_fragments, starts })
    }

    /// The new address of a row of an old fragment.
    fn map(&self, address: u64) -> Option<u64> {
        if !self.kept.contains(address) {
            return None;
        }
        let row = self.kept.rank(address);
        self.places(row..row + 1).next().map(|range| range.start)
    }

    /// The new addresses of the kept rows with these numbers, counted from the first that was kept, as a range for
    /// each new fragment.
    pub fn places(&self, rows: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let first = self.starts.partition_point(|start| *start <= rows.start).saturating_sub(1);
        let fragments = self.starts[first..].iter().zip(&self.new_fragments[first..]);
        fragments.take_while(move |(start, _)| **start < rows.end).filter_map(move |(start, fragment)| {
            let base = u64::from(fragment.id) << 32;
            let own = rows.start.max(*start) - start..(rows.end - start).min(fragment.physical_rows);
            (own.start < own.end).then(|| base + own.start..base + own.end)
        })
    }
}

impl FragmentDigest {
    fn from_proto(digest: message::Digest) -> Result<Self> {
        let id = u32::try_from(digest.id).ok().filter(|id| *id != u32::MAX);
        let Some(id) = id.filter(|_| digest.physical_rows <= 1 << 32) else {
            return Err(Error::corrupt(format!(
                "expected a fragment id below {} and at most 2^32 rows, found {} with {}",
                u32::MAX,
                digest.id,
                digest.physical_rows
            )));
        };
        let num_deleted_rows = digest.num_deleted_rows;
        Ok(FragmentDigest { id, physical_rows: digest.physical_rows, num_deleted_rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use prost::Message;

    fn digest(id: u64, physical_rows: u64) -> message::Digest {
        message::Digest { id, physical_rows, num_deleted_rows: 0 }
    }

    fn treemap(parts: &[(u32, &[u32])]) -> Bytes {
        let mut out = (parts.len() as u64).to_le_bytes().to_vec();
        for (upper, values) in parts {
            out.extend(upper.to_le_bytes());
            out.extend(&Roaring::from_sorted(values).as_bytes()[..]);
        }
        out.into()
    }

    fn group(kept: Bytes, old: &[message::Digest], new: &[message::Digest]) -> message::Group {
        message::Group { changed_row_addrs: kept, old_fragments: old.to_vec(), new_fragments: new.to_vec() }
    }

    /// Fragments 1 and 2 become 5 and 6, and then 5 and 6 become 7.
    fn two_compactions() -> Vec<message::Version> {
        let first = group(
            treemap(&[(1, &[0, 2]), (2, &[1, 2, 3])]),
            &[digest(1, 3), digest(2, 4)],
            &[digest(5, 3), digest(6, 2)],
        );
        let second =
            group(treemap(&[(5, &[0, 1, 2]), (6, &[1])]), &[digest(5, 3), digest(6, 2)], &[digest(7, 4)]);
        vec![
            message::Version { dataset_version: 3, groups: vec![first] },
            message::Version { dataset_version: 4, groups: vec![second] },
        ]
    }

    fn parse(versions: Vec<message::Version>) -> Result<FragmentReuse> {
        let content = message::InlineContent { versions, transitions: vec![] };
        FragmentReuse::parse(&content.encode_to_vec().into())
    }

    fn address(fragment: u64, offset: u64) -> u64 {
        fragment << 32 | offset
    }

    #[test]
    fn follows_rows_through_compactions() {
        let first = parse(two_compactions()[..1].to_vec()).unwrap();
        assert_eq!(first.map(address(1, 2)), Some(address(5, 1)));
        assert_eq!(first.map(address(2, 2)), Some(address(6, 0)));
        let both = parse(two_compactions()).unwrap();
        assert_eq!(both.map(address(1, 0)), Some(address(7, 0)));
        assert_eq!(both.map(address(1, 1)), None);
        assert_eq!(both.map(address(2, 1)), Some(address(7, 2)));
        assert_eq!(both.map(address(2, 2)), None);
        assert_eq!(both.map(address(2, 3)), Some(address(7, 3)));
        assert_eq!(both.map(address(4, 9)), Some(address(4, 9)));
        assert_eq!(both.versions().len(), 2);
        assert_eq!([1, 2, 5, 7].map(|id| both.physical_rows(id)), [Some(3), Some(4), Some(3), None]);
        let places: Vec<_> = first.versions()[0].groups[0].places(1..4).collect();
        assert_eq!(places, [address(5, 1)..address(5, 3), address(6, 0)..address(6, 1)]);
    }

    #[test]
    fn follows_covered_fragments() {
        let both = parse(two_compactions()).unwrap();
        let map = |ids: &[u32]| both.map_fragments(&Roaring::from_sorted(ids)).iter().collect::<Vec<_>>();
        assert_eq!(map(&[0, 1, 2]), [0, 7]);
        assert_eq!(map(&[0, 1]), [0]);
        assert_eq!(map(&[0, 7]), [0, 7]);
    }

    #[test]
    fn reads_the_details_of_an_entry() {
        let inline = message::InlineContent { versions: two_compactions(), transitions: vec![] };
        let details = |content| {
            let details = proto::table::FragmentReuseIndexDetails { content: Some(content) };
            FragmentReuseDetails::parse(details.encode_to_vec().into())
        };
        let expected = parse(two_compactions()).unwrap();
        let found = details(message::Content::Inline(inline)).unwrap();
        assert_eq!(found, FragmentReuseDetails::Inline(expected));
        let file = |path: &str| proto::table::ExternalFile { path: path.into(), offset: 0, size: 9 };
        let external = details(message::Content::External(file("details.binpb"))).unwrap();
        assert!(matches!(external, FragmentReuseDetails::External { size: 9, .. }));
        assert!(details(message::Content::External(file("../details.binpb"))).is_err());
        assert!(FragmentReuseDetails::parse(Bytes::new()).is_err());
    }

    #[test]
    fn refuses_what_does_not_add_up() {
        let one = |group| parse(vec![message::Version { dataset_version: 1, groups: vec![group] }]);
        let old = [digest(1, 3)];
        assert!(one(group(treemap(&[(1, &[0, 2])]), &old, &[digest(5, 2)])).is_ok());
        assert!(one(group(treemap(&[(1, &[0, 2])]), &old, &[digest(5, 3)])).is_err(), "count");
        assert!(one(group(treemap(&[(1, &[0, 3])]), &old, &[digest(5, 2)])).is_err(), "offset");
        assert!(one(group(treemap(&[(2, &[0, 2])]), &old, &[digest(5, 2)])).is_err(), "fragment");
        assert!(one(group(Bytes::new(), &old, &[])).is_err(), "no set");
        assert!(one(group(treemap(&[]), &[digest(1 << 32, 0)], &[])).is_err(), "id");
        let twice = group(treemap(&[]), &[digest(1, 3), digest(1, 3)], &[]);
        assert!(one(twice).is_err(), "fragment twice");
        let mut descending = two_compactions();
        descending.reverse();
        assert!(parse(descending).is_err(), "order");
        let again = |old: &[u64], new: &[u64]| {
            let digests = |ids: &[u64]| ids.iter().map(|id| digest(*id, 0)).collect::<Vec<_>>();
            message::Version {
                dataset_version: 9,
                groups: vec![group(treemap(&[]), &digests(old), &digests(new))],
            }
        };
        let with = |old: &[u64], new: &[u64]| parse([two_compactions(), vec![again(old, new)]].concat());
        assert!(with(&[7, 8], &[9]).is_ok());
        assert!(with(&[1], &[9]).is_err(), "compacted twice");
        assert!(with(&[8], &[7]).is_err(), "written twice");
        assert!(with(&[7], &[5]).is_err(), "a circle");
        assert!(with(&[8], &[8]).is_err(), "into itself");
        let future = message::InlineContent { versions: vec![], transitions: vec![Bytes::new()] };
        assert!(FragmentReuse::parse(&future.encode_to_vec().into()).is_err());
    }
}

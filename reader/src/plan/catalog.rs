//! [`Catalog`]: the scalar indices of one version of a dataset.

use super::{
    coverage::{Coverage, Entries},
    fragments::Fragments,
    pages::Pages,
};
use crate::{
    Dataset, Error, ErrorKind, Result,
    cache::{Cached, IndexCache, Shelf},
    indices::{fragment_reuse, kind},
    segment_files::SegmentFiles,
};
use lancet_format::{
    DataType,
    index::{
        BTreeIndex, BitmapIndex, BloomFilterIndex, IdDomain, IndexKind, LabelListIndex, NGramIndex,
        RowAddressSet, ZoneMapIndex,
    },
    table::{FragmentReuse, IndexMetadata},
};
use lancet_index::RowSet;
use std::{
    collections::HashMap,
    mem::discriminant,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

/// The scalar indices that can be searched.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// By the id of their field.
    indices: HashMap<i32, Vec<ScalarIndex>>,
    /// Where rows of compacted fragments went, if indices were not told.
    reuse: Option<FragmentReuse>,
}

/// All segments of one name.
#[derive(Debug)]
pub(crate) struct ScalarIndex {
    pub(crate) name: String,
    pub(crate) kind: IndexKind,
    /// The type of the column.
    pub(crate) data_type: DataType,
    pub(crate) segments: Vec<Segment>,
}

#[derive(Debug)]
pub(crate) struct Segment {
    meta: IndexMetadata,
    pub(crate) domain: IdDomain,
    opened: OnceLock<Arc<Held>>,
    coverage: OnceLock<Coverage>,
}

/// What all versions that have a segment share of it.
#[derive(Debug)]
struct Held {
    opened: Opened,
    /// Read where compactions may have moved its rows.
    entries: OnceLock<Entries>,
}

/// The open files of a segment, and what was read of them.
#[derive(Debug)]
pub(crate) enum Opened {
    BTree(BTreeIndex, Pages),
    /// With the sets of rows, those of NULL behind those of the keys.
    Bitmap(BitmapIndex, Arc<Shelf<RowAddressSet>>),
    ZoneMap(ZoneMapIndex),
    BloomFilter(BloomFilterIndex),
    LabelList(LabelListIndex),
    NGram(NGramIndex),
}

/// Segments that are open, by the names of their folders.
#[derive(Debug, Default)]
pub(crate) struct OpenedIndices(RwLock<HashMap<String, Arc<Held>>>);

impl OpenedIndices {
    /// Those that a version with these segments has too: files never change.
    pub(crate) fn shared_with(&self, segments: &[IndexMetadata]) -> Self {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let uuids = segments.iter().map(|entry| entry.uuid.to_string());
        let kept = uuids.filter_map(|uuid| Some((uuid.clone(), all.get(&uuid)?.clone())));
        OpenedIndices(RwLock::new(kept.collect()))
    }
}

impl Catalog {
    /// # Errors
    /// Corrupt if the entries of the manifest cannot be read.
    pub(crate) fn of(dataset: &Dataset) -> Result<Self> {
        let entries = dataset.index_segments();
        let mut catalog = Catalog::default();
        catalog.reuse = match fragment_reuse(dataset, entries) {
            // No such compaction is known of tables with stable row ids.
            Ok(Some(_)) if dataset.manifest().has_stable_row_ids() => return Ok(catalog),
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(catalog),
            found => found?,
        };
        for meta in entries {
            let ([field], Some(_)) = (&meta.fields[..], &meta.fragments) else { continue };
            let Some(path) = dataset.schema().path_to(*field) else { continue };
            let of_lists = path.last().is_some_and(|field| is_list(&field.data_type));
            let kind = IndexKind::of(meta).map_err(|error| Error::format(dataset.manifest_path(), error))?;
            let names = meta.files.iter().map(|file| &*file.path);
            let kind = kind.unwrap_or_else(|| IndexKind::of_files(names, of_lists));
            if matches!(kind, IndexKind::Other | IndexKind::Inverted(_)) {
                continue;
            }
            let segment = Segment {
                meta: meta.clone(),
                domain: kind.domain(),
                opened: OnceLock::new(),
                coverage: OnceLock::new(),
            };
            let of_field = catalog.indices.entry(*field).or_default();
            let same = |index: &&mut ScalarIndex| {
                index.name == meta.name && discriminant(&index.kind) == discriminant(&kind)
            };
            match of_field.iter_mut().find(same) {
                Some(index) => index.segments.push(segment),
                None => of_field.push(ScalarIndex {
                    name: meta.name.clone(),
                    kind,
                    data_type: path.last().map_or(DataType::Null, |field| field.data_type.clone()),
                    segments: vec![segment],
                }),
            }
        }
        Ok(catalog)
    }

    /// The indices on the column with this field.
    pub(crate) fn of_field(&self, field: i32) -> &[ScalarIndex] {
        self.indices.get(&field).map_or(&[], Vec::as_slice)
    }

    /// Where rows of compacted fragments went, if indices were not told.
    pub(crate) fn reuse(&self) -> Option<&FragmentReuse> {
        self.reuse.as_ref()
    }
}

fn is_list(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(_) | DataType::LargeList(_))
}

impl ScalarIndex {
    /// The kind as Lance calls it.
    pub(crate) fn kind_name(&self) -> String {
        kind(&self.segments[0].meta)
    }
}

impl Segment {
    /// The folder, as errors name it.
    pub(crate) fn path(&self, dataset: &Dataset) -> String {
        format!("{}/_indices/{}", dataset.folder(), self.meta.uuid)
    }

    /// The open files.
    ///
    /// # Errors
    /// Those of the files.
    pub(crate) fn open(&self, dataset: &Dataset, kind: &IndexKind) -> Result<&Opened> {
        self.hold(dataset, kind).map(|held| &held.opened)
    }

    fn hold(&self, dataset: &Dataset, kind: &IndexKind) -> Result<&Held> {
        if let Some(held) = self.opened.get() {
            return Ok(held);
        }
        let uuid = self.meta.uuid.to_string();
        let all = &dataset.opened_indices().0;
        let known = all.read().unwrap_or_else(PoisonError::into_inner).get(&uuid).cloned();
        let held = match known {
            Some(held) => held,
            None => {
                let files = SegmentFiles::new(dataset, &self.meta);
                let opened = Opened::open(kind, &files, dataset.cache())
                    .map_err(|error| Error::index(self.path(dataset), error))?;
                let held = Arc::new(Held { opened, entries: OnceLock::new() });
                let mut all = all.write().unwrap_or_else(PoisonError::into_inner);
                all.entry(uuid).or_insert(held).clone()
            }
        };
        Ok(self.opened.get_or_init(|| held))
    }

    /// The fragments that the segment answers for.
    ///
    /// # Errors
    /// Those of its files, if it has to look at them, and of deletion files.
    pub(crate) fn coverage(&self, dataset: &Dataset, kind: &IndexKind) -> Result<&Fragments> {
        self.covered(dataset, kind).map(|coverage| &coverage.fragments)
    }

    /// Live rows of these fragments of which it knows nothing: its answers may lack them.
    ///
    /// # Errors
    /// As of [`Segment::coverage`].
    pub(crate) fn unknown(&self, dataset: &Dataset, kind: &IndexKind) -> Result<&RowSet> {
        self.covered(dataset, kind).map(|coverage| &coverage.unknown)
    }

    fn covered(&self, dataset: &Dataset, kind: &IndexKind) -> Result<&Coverage> {
        if let Some(found) = self.coverage.get() {
            return Ok(found);
        }
        let coverage = match (dataset.catalog()?.reuse(), kind) {
            (Some(reuse), _) => {
                let entries = self.entries(dataset, kind)?;
                Coverage::of_moved(dataset, &self.meta, kind, entries, reuse)?
            }
            (None, IndexKind::ZoneMap(_) | IndexKind::BloomFilter) => {
                Coverage::of(dataset, &self.meta, kind, Some(self.open(dataset, kind)?))?
            }
            (None, _) => Coverage::of(dataset, &self.meta, kind, None)?,
        };
        Ok(self.coverage.get_or_init(|| coverage))
    }

    /// All that the segment names.
    fn entries(&self, dataset: &Dataset, kind: &IndexKind) -> Result<&Entries> {
        let held = self.hold(dataset, kind)?;
        if let Some(entries) = held.entries.get() {
            return Ok(entries);
        }
        let entries = Entries::of(dataset, self.domain, &held.opened);
        let entries = entries.map_err(|error| Error::index(self.path(dataset), error))?;
        Ok(held.entries.get_or_init(|| entries))
    }
}

/// Opens a segment of a scalar index that can be searched, which checks its tables.
///
/// # Errors
/// Those of its files.
pub(crate) fn check_segment(dataset: &Dataset, meta: &IndexMetadata) -> Result<()> {
    let kind = IndexKind::of(meta).map_err(|error| Error::format(dataset.manifest_path(), error))?;
    let Some(kind) = kind.filter(|kind| !matches!(kind, IndexKind::Other | IndexKind::Inverted(_))) else {
        return Ok(());
    };
    let path = || format!("{}/_indices/{}", dataset.folder(), meta.uuid);
    let opened = Opened::open(&kind, &SegmentFiles::new(dataset, meta), dataset.cache());
    opened.map(drop).map_err(|error| Error::format(path(), error))
}

impl Opened {
    fn open(
        kind: &IndexKind,
        files: &SegmentFiles<'_>,
        cache: &Arc<IndexCache>,
    ) -> lancet_format::Result<Self> {
        Ok(match kind {
            IndexKind::BTree(_) => {
                let tree = BTreeIndex::open(files)?;
                let pages = Pages::new(cache, &tree);
                Opened::BTree(tree, pages)
            }
            IndexKind::Bitmap => {
                let keys = BitmapIndex::open(files)?;
                let sets = Shelf::new(cache.clone(), keys.num_keys() + keys.num_null_sets());
                Opened::Bitmap(keys, sets)
            }
            IndexKind::ZoneMap(_) => Opened::ZoneMap(ZoneMapIndex::open(files)?),
            IndexKind::BloomFilter => Opened::BloomFilter(BloomFilterIndex::open(files)?),
            IndexKind::LabelList { .. } => Opened::LabelList(LabelListIndex::open(files)?),
            IndexKind::NGram => Opened::NGram(NGramIndex::open(files)?),
            _ => return Err(lancet_format::Error::unsupported("an index of this kind is not searched")),
        })
    }
}

impl Cached for RowAddressSet {
    fn bytes(&self) -> usize {
        self.memory() + size_of::<Self>()
    }
}

//! [`Segment`]: an opened part of a vector index, and [`OpenedSegments`], which keeps it open.

use super::prepared::{MAX_VERSION, Prepared, is_vector};
use crate::{
    Dataset, Error, Result,
    cache::{Cached, Item, Shelf},
    fragment::Fragment,
    segment_files::SegmentFiles,
};
use arc_swap::ArcSwap;
use lancet_format::{ErrorKind as FormatErrorKind, index::IvfIndex, table::IndexMetadata};
use lancet_index::ivf::{Ivf, Partition};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

/// One segment of an index, as a version of the dataset sees it.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) opened: Arc<Opened>,
    /// By the position of a fragment, whether the segment covers it.
    pub(super) covered: Vec<bool>,
    /// Whether it covers all fragments, and names none that is gone.
    pub(super) is_whole: bool,
}

/// The files of a segment, and what was read of them.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) ivf: Ivf,
    partitions: Arc<Shelf<Partition>>,
    uuid: String,
    /// The folder, as errors name it.
    path: String,
}

impl Cached for Partition {
    fn bytes(&self) -> usize {
        self.heap_bytes() + size_of::<Self>()
    }
}

impl Opened {
    /// Partition `number`, from the cache or else from the file.
    pub(super) fn partition(&self, number: usize) -> Result<Item<Partition>> {
        self.partitions.get(number, || self.ivf.read(number)).map_err(|error| self.fail(error))
    }

    /// An error about these files.
    pub(super) fn fail(&self, error: lancet_format::Error) -> Error {
        Error::index(&self.path, error)
    }

    /// A fault of these files.
    pub(super) fn corrupt(&self, message: String) -> Error {
        Error::corrupt(&self.path, message)
    }
}

impl Segment {
    /// Opens the segment that `entry` describes.
    ///
    /// # Errors
    /// Those of its files.
    pub(super) fn open(dataset: &Dataset, entry: &IndexMetadata) -> Result<Self> {
        let opened = dataset.opened_segments().open(dataset, entry)?;
        let claims = |id| entry.fragments.as_ref().is_none_or(|covered| covered.contains(id));
        // As in the catalog of scalar indices: a merge may add rows to a fragment that Lance still counts as covered.
        let covers = |fragment: &Fragment| {
            Ok(claims(fragment.meta.id) && fragment.newest_row(dataset.pool())? <= entry.dataset_version)
        };
        let fragments = dataset.fragments().iter();
        let covered = fragments.map(|fragment| covers(fragment)).collect::<Result<Vec<bool>>>()?;
        let is_gone = |id| dataset.manifest().position_of(id).is_none();
        let has_gone = entry.fragments.as_ref().is_none_or(|covered| covered.iter().any(is_gone));
        let is_whole = !has_gone && covered.iter().all(|&covered| covered);
        Ok(Segment { opened, covered, is_whole })
    }
}

/// Segments that are open. Files never change, so all versions of a dataset share them; one that no version uses any
/// more is closed.
#[derive(Debug, Default)]
pub(crate) struct OpenedSegments {
    /// Those of all versions, by the names of their folders.
    known: Arc<Mutex<HashMap<String, Weak<Opened>>>>,
    /// Those of this version.
    own: Mutex<Vec<Arc<Opened>>>,
    /// What was made of them, by the field that is indexed.
    prepared: ArcSwap<Vec<(i32, Arc<Prepared>)>>,
}

impl OpenedSegments {
    /// Those that another version, which has these segments, uses too.
    pub(crate) fn shared_with(&self, segments: &[IndexMetadata]) -> Self {
        let uuids: Vec<String> = segments.iter().map(|entry| entry.uuid.to_string()).collect();
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let own = own.iter().filter(|opened| uuids.contains(&opened.uuid)).cloned().collect();
        OpenedSegments { known: self.known.clone(), own: Mutex::new(own), prepared: ArcSwap::default() }
    }

    /// The index on the column with field `id`; made by `prepare` when it is first asked for.
    pub(super) fn prepared(
        &self,
        id: i32,
        prepare: impl FnOnce() -> Result<Option<Prepared>>,
    ) -> Result<Option<Arc<Prepared>>> {
        let find = |all: &[(i32, Arc<Prepared>)]| {
            all.iter().find(|(own, _)| *own == id).map(|(_, prepared)| prepared.clone())
        };
        if let Some(found) = find(&self.prepared.load()) {
            return Ok(Some(found));
        }
        let Some(made) = prepare()?.map(Arc::new) else { return Ok(None) };
        // Another thread may have been faster.
        self.prepared.rcu(|all| match find(all) {
            Some(_) => all.clone(),
            None => Arc::new(all.iter().cloned().chain([(id, made.clone())]).collect()),
        });
        Ok(find(&self.prepared.load()))
    }

    fn open(&self, dataset: &Dataset, entry: &IndexMetadata) -> Result<Arc<Opened>> {
        let uuid = entry.uuid.to_string();
        // Opening happens under the lock, so that two threads do not open one segment twice.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match known.get(&uuid).and_then(Weak::upgrade) {
            Some(opened) => opened,
            None => {
                let path = format!("{}/_indices/{uuid}", dataset.folder());
                let files = SegmentFiles::new(dataset, entry);
                let ivf = Ivf::open(&files).map_err(|error| Error::index(&path, error))?;
                let partitions = Shelf::new(dataset.cache().clone(), ivf.partitions());
                let opened = Arc::new(Opened { ivf, partitions, uuid: uuid.clone(), path });
                known.retain(|_, opened| opened.strong_count() > 0);
                known.insert(uuid, Arc::downgrade(&opened));
                opened
            }
        };
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if !own.iter().any(|own| own.uuid == opened.uuid) {
            own.push(opened.clone());
        }
        Ok(opened)
    }
}

/// Opens a segment of a vector index, which checks its tables and global buffers.
///
/// # Errors
/// Those of its files, unless they are of a kind or version that is not read.
pub(crate) fn check_segment(dataset: &Dataset, entry: &IndexMetadata) -> Result<()> {
    if !is_vector(entry) || !(0..=MAX_VERSION).contains(&entry.version) {
        return Ok(());
    }
    match IvfIndex::open(&SegmentFiles::new(dataset, entry)) {
        Err(error) if error.kind() != FormatErrorKind::Unsupported => {
            Err(Error::format(format!("{}/_indices/{}", dataset.folder(), entry.uuid), error))
        }
        _ => Ok(()),
    }
}

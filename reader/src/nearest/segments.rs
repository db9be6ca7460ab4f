//! [`Segments`]: the opened segments of a vector index.

use super::Metric;
use crate::{
    Dataset, Error, Result,
    cache::{Cached, Item, Shelf},
};
use lancet_format::{Result as FormatResult, Source, index::IndexFiles, table::IndexMetadata};
use lancet_index::ivf::{Ivf, Partition};
use std::{
    collections::{HashMap, hash_map::Entry},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// The newest layout of a segment that is read; what is newer is left alone.
const MAX_VERSION: i32 = 2;

/// The segments of one index.
#[derive(Debug, Clone)]
pub(super) struct Segments {
    segments: Vec<Segment>,
}

/// One of them.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub(super) opened: Arc<Opened>,
    meta: IndexMetadata,
}

/// The files of a segment, and what was read of them.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) ivf: Ivf,
    partitions: Arc<Shelf<Partition>>,
    /// The folder, as errors name it.
    path: String,
}

/// Segments that are open, by the names of their folders: files never change, so all versions share them.
#[derive(Debug, Default)]
pub(crate) struct OpenedSegments(Mutex<HashMap<String, Arc<Opened>>>);

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
}

/// The first index on the column with field `id`, if there is one.
///
/// # Errors
/// Those of its files.
pub(super) fn of_column(dataset: &Dataset, id: i32) -> Result<Option<Segments>> {
    // Rows of compacted fragments are not translated: exact search is right.
    if dataset.index_segments().iter().any(|entry| entry.name == "__lance_frag_reuse") {
        return Ok(None);
    }
    let usable = |entry: &&IndexMetadata| {
        entry.fields == [id] && is_vector(entry) && (0..=MAX_VERSION).contains(&entry.version)
    };
    let Some(first) = dataset.index_segments().iter().find(usable) else { return Ok(None) };
    let name = first.name.clone();
    let entries = dataset.index_segments().iter().filter(|entry| entry.name == name).filter(usable);
    let mut segments = Vec::new();
    for entry in entries {
        let covers_any = match &entry.fragments {
            None => true,
            Some(covered) => dataset.fragments().iter().any(|fragment| covered.contains(fragment.meta.id)),
        };
        if covers_any {
            segments.push(open(dataset, entry)?);
        }
    }
    Ok(Some(Segments { segments }).filter(|found| !found.segments.is_empty()))
}

fn is_vector(entry: &IndexMetadata) -> bool {
    entry.details.as_ref().is_some_and(|details| details.is("VectorIndexDetails"))
}

fn open(dataset: &Dataset, entry: &IndexMetadata) -> Result<Segment> {
    let uuid = entry.uuid.to_string();
    let path = format!("{}/_indices/{uuid}", dataset.folder());
    let opened = &dataset.opened_segments().0;
    // Opening happens under the lock, so that two threads do not open one segment twice.
    let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
    let opened = match opened.entry(uuid) {
        Entry::Occupied(known) => known.get().clone(),
        Entry::Vacant(vacant) => {
            let files = Files { dataset, entry };
            let ivf = Ivf::open(&files).map_err(|error| Error::index(&path, error))?;
            let partitions = Shelf::new(dataset.cache().clone(), ivf.partitions());
            vacant.insert(Arc::new(Opened { ivf, partitions, path })).clone()
        }
    };
    Ok(Segment { opened, meta: entry.clone() })
}

impl Segments {
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Segment> {
        self.segments.iter()
    }

    /// How vectors are compared.
    ///
    /// # Errors
    /// Corrupt if the segments differ.
    pub(super) fn metric(&self) -> Result<Metric> {
        let metric = self.segments[0].opened.ivf.metric();
        match self.segments.iter().find(|segment| segment.opened.ivf.metric() != metric) {
            None => Ok(metric),
            Some(other) => Err(Error::corrupt(
                &other.opened.path,
                format!(
                    "expected the metric {metric:?}, as other segments have, found {:?}",
                    other.opened.ivf.metric()
                ),
            )),
        }
    }

    /// By the position of a fragment, whether some segment covers it.
    pub(super) fn covered(&self, dataset: &Dataset) -> Vec<bool> {
        let mut covered = vec![false; dataset.fragments().len()];
        for segment in &self.segments {
            let own = segment.covered(dataset);
            covered.iter_mut().zip(own).for_each(|(covered, own)| *covered |= own);
        }
        covered
    }
}

impl Segment {
    /// By the position of a fragment, whether the segment covers it.
    pub(super) fn covered(&self, dataset: &Dataset) -> Vec<bool> {
        let covers = |id| self.meta.fragments.as_ref().is_none_or(|covered| covered.contains(id));
        dataset.fragments().iter().map(|fragment| covers(fragment.meta.id)).collect()
    }

    /// Whether it names fragments that are gone.
    pub(super) fn has_gone(&self, dataset: &Dataset) -> bool {
        let is_gone = |id| dataset.manifest().position_of(id).is_none();
        self.meta.fragments.as_ref().is_none_or(|covered| covered.iter().any(is_gone))
    }
}

/// The files of a segment.
struct Files<'a> {
    dataset: &'a Dataset,
    entry: &'a IndexMetadata,
}

impl fmt::Debug for Files<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Files({})", self.entry.uuid)
    }
}

impl IndexFiles for Files<'_> {
    fn open(&self, name: &str) -> FormatResult<Option<Arc<dyn Source>>> {
        match self.dataset.open_index_file(self.entry, name) {
            Ok((_, source)) => Ok(Some(source)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(lancet_format::Error::source(error)),
        }
    }

    fn names(&self) -> FormatResult<Vec<String>> {
        Ok(self.entry.files.iter().map(|file| file.path.clone()).collect())
    }
}

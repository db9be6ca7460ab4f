//! Open data files: each is opened when a row of it is first needed, and only so many stay open.

use crate::{
    Error, Result,
    blobs::BlobFolder,
    location::{self, Bases, Place},
    storage::Storage,
};
use arc_swap::{ArcSwapOption, Guard};
use lancet_format::{ColumnMap, File, table::DataFile};
use std::{
    collections::VecDeque,
    ops::Deref,
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

/// A data file of one or more versions of a dataset, open or not.
#[derive(Debug)]
pub(crate) struct FileSlot {
    place: Place,
    /// Where the manifest lies that names the file.
    manifest_path: Arc<str>,
    meta: DataFile,
    /// The bases of that manifest, where bytes of blobs may lie.
    bases: Arc<Bases>,
    columns: OnceLock<ColumnMap>,
    open: ArcSwapOption<File>,
    /// Set by every use, taken back by the pool when it looks for a file to close.
    used: AtomicBool,
}

impl FileSlot {
    pub(crate) fn new(place: Place, manifest_path: Arc<str>, meta: DataFile, bases: Arc<Bases>) -> Self {
        let (open, used) = (ArcSwapOption::empty(), AtomicBool::new(false));
        FileSlot { place, manifest_path, meta, bases, columns: OnceLock::new(), open, used }
    }

    /// The path as errors name it.
    pub(crate) fn path(&self) -> &str {
        self.place.as_deref().unwrap_or(&self.meta.path)
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Whether this is the file that `meta` names, at `place`.
    pub(crate) fn is(&self, place: &Place, meta: &DataFile) -> bool {
        self.place == *place && self.meta == *meta
    }

    /// Whether the file has a column for field `id`.
    pub(crate) fn holds(&self, id: i32) -> bool {
        self.meta.column_of(id).is_some_and(|column| column >= 0)
    }

    /// The columns of the fields that have one.
    pub(crate) fn columns(&self) -> &ColumnMap {
        self.columns.get_or_init(|| {
            let pairs = self.meta.fields.iter().zip(self.meta.column_indices.iter());
            ColumnMap::new(pairs.filter_map(|(&id, &column)| Some((id, u32::try_from(column).ok()?))))
        })
    }
}

/// Opens files and closes the ones that were not used for the longest time, roughly: a clock goes round.
///
/// A file that is in use stays mapped until its last user is done with it. Getting a file that is open takes
/// no lock.
#[derive(Debug)]
pub(crate) struct FilePool {
    storage: Arc<dyn Storage>,
    limit: usize,
    /// The most bytes that a compressed buffer of a file may expand to.
    max_decompressed: usize,
    open: Mutex<VecDeque<Weak<FileSlot>>>,
}

/// What a dataset holds open, and what was read of it; see [`Dataset::usage`](crate::Dataset::usage).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Data files that are open.
    pub files: u64,
    /// Their size in bytes: what is mapped, with a storage that maps.
    pub bytes_mapped: u64,
    /// Pages of their columns of which rows have been read.
    pub pages: u64,
    /// Bytes of the buffers of these pages.
    pub page_bytes: u64,
}

/// An open file that stays open while this is held.
pub(crate) struct OpenFile(Guard<Option<Arc<File>>>);

impl Deref for OpenFile {
    type Target = File;

    fn deref(&self) -> &File {
        self.0.as_deref().expect("made only from open files")
    }
}

impl FilePool {
    pub(crate) fn new(storage: Arc<dyn Storage>, limit: usize, max_decompressed: usize) -> Self {
        FilePool { storage, limit: limit.max(1), max_decompressed, open: Mutex::default() }
    }

    pub(crate) fn max_decompressed(&self) -> usize {
        self.max_decompressed
    }

    pub(crate) fn storage(&self) -> &dyn Storage {
        &*self.storage
    }

    /// The open file of `slot`.
    pub(crate) fn get(&self, slot: &Arc<FileSlot>) -> Result<OpenFile> {
        let open = slot.open.load();
        if open.is_some() {
            if !slot.used.load(Ordering::Relaxed) {
                slot.used.store(true, Ordering::Relaxed);
            }
            return Ok(OpenFile(open));
        }
        drop(open);
        self.open(slot)
    }

    /// The files that are open now, and what was read of them.
    pub(crate) fn usage(&self) -> Usage {
        let clock = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut usage = Usage::default();
        for slot in clock.iter().filter_map(Weak::upgrade) {
            if let Some(file) = &*slot.open.load() {
                let (pages, bytes) = file.pages_used();
                usage.files += 1;
                usage.bytes_mapped += file.size();
                usage.pages += pages;
                usage.page_bytes += bytes;
            }
        }
        usage
    }

    #[cold]
    fn open(&self, slot: &Arc<FileSlot>) -> Result<OpenFile> {
        // Opening happens under the lock, so that two threads do not map one file twice.
        let mut clock = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open = slot.open.load();
        if open.is_some() {
            return Ok(OpenFile(open));
        }
        drop(open);
        let path = location::path_of(&slot.place, &slot.manifest_path)?;
        let source = self.storage.open(path).map_err(|error| Error::io(path, error))?;
        if let Some(size) = slot.meta.size
            && size != source.len()
        {
            let found = source.len();
            return Err(Error::corrupt(
                path,
                format!("expected a file of {size} bytes, as the manifest says, found {found}"),
            ));
        }
        let file = File::open(source).map_err(|error| Error::format(path, error))?;
        let blobs = BlobFolder::new(self.storage.clone(), path, slot.bases.clone());
        let file = file.with_blob_files(Arc::new(blobs)).with_max_decompressed(self.max_decompressed);
        // Columns are found by the manifest's schema, but a file that cannot say its own is damaged.
        file.container().schema().map_err(|error| Error::format(path, error))?;
        while clock.len() >= self.limit {
            let Some(weak) = clock.pop_front() else { break };
            let Some(oldest) = weak.upgrade() else { continue };
            match oldest.used.swap(false, Ordering::Relaxed) {
                true => clock.push_back(weak),
                false => oldest.open.store(None),
            }
        }
        slot.open.store(Some(Arc::new(file)));
        clock.push_back(Arc::downgrade(slot));
        Ok(OpenFile(slot.open.load()))
    }
}

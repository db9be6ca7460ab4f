//! [`Dataset`]: one version of a table, open for reading.

use crate::{
    Batch, Error, Projection, Result, Rows, Scan,
    files::{FilePool, FileSlot},
    fragment::Fragment,
    storage::{Mapped, Storage},
    take,
};
use lancet_format::{
    Schema,
    table::{Manifest, ManifestName},
};
use std::{
    path::Path,
    sync::{Arc, OnceLock},
};

/// One version of a dataset. Cloning is cheap, and clones share what they have opened; all methods may be
/// called from any number of threads at once.
///
/// Opening reads the list of versions and one manifest. Data files are opened when their rows are first
/// needed, deletion files when rows of their fragment are.
#[derive(Debug, Clone)]
pub struct Dataset(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    root: String,
    manifest: Manifest,
    fragments: Vec<Fragment>,
    pool: FilePool,
    /// The number of live rows before each fragment, and in all.
    live_before: OnceLock<Vec<u64>>,
}

/// How to open a [`Dataset`]; made by [`Dataset::options`].
#[derive(Debug, Clone)]
pub struct OpenOptions {
    storage: Arc<dyn Storage>,
    max_open_files: usize,
}

impl OpenOptions {
    /// Where the files come from; by default [`Mapped`] files of the local file system.
    #[must_use]
    pub fn storage(mut self, storage: impl Storage + 'static) -> Self {
        self.storage = Arc::new(storage);
        self
    }

    /// How many data files may be open (mapped) at once, at least 1; by default 1,000.
    ///
    /// A file beyond that closes one that was not used lately. Columns that borrow from a file keep it
    /// mapped, also beyond the bound.
    #[must_use]
    pub fn max_open_files(mut self, files: usize) -> Self {
        self.max_open_files = files;
        self
    }

    /// Opens the newest version of the dataset at `root`, a path of the storage.
    ///
    /// # Errors
    /// Io if there is no dataset, corrupt or unsupported if its manifest cannot be read.
    pub fn open(&self, root: &str) -> Result<Dataset> {
        let root = match root.trim_end_matches('/') {
            "" => root,
            trimmed => trimmed,
        };
        let folder = format!("{root}/_versions");
        let not_found = || {
            Error::not_found(root, "expected a dataset, a directory with a folder `_versions`, found none")
        };
        let names = self.storage.list(&folder).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => not_found(),
            _ => Error::io(&folder, error),
        })?;
        let latest = ManifestName::latest(names.iter().map(String::as_str));
        let name = latest.map_err(|error| Error::format(&folder, error))?.ok_or_else(|| {
            Error::not_found(&folder, "expected manifests, files that end in `.manifest`, found none")
        })?;
        let path = format!("{folder}/{}", name.file_name());
        let bytes = self.storage.read(&path).map_err(|error| Error::io(&path, error))?;
        let manifest = Manifest::parse(&bytes).map_err(|error| Error::format(&path, error))?;
        manifest.check_name(name).map_err(|error| Error::format(&path, error))?;
        let pool = FilePool::new(self.storage.clone(), self.max_open_files);
        Dataset::new(root.to_owned(), manifest, pool)
    }
}

impl Dataset {
    /// Opens the newest version of the dataset in the local directory `path`, with files mapped into memory.
    ///
    /// # Errors
    /// Io if there is no dataset, corrupt or unsupported if its manifest cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Dataset> {
        let path = path.as_ref();
        match path.to_str() {
            Some(root) => Self::options().open(root),
            None => Err(Error::invalid_input(format!(
                "expected a path of Unicode text, found {}",
                path.display()
            ))),
        }
    }

    /// Options to open a dataset with: another storage, other bounds.
    pub fn options() -> OpenOptions {
        OpenOptions { storage: Arc::new(Mapped), max_open_files: 1000 }
    }

    fn new(root: String, manifest: Manifest, pool: FilePool) -> Result<Self> {
        let fragments = manifest.fragments.iter().map(|meta| {
            let unsupported = |base: u32| {
                Error::format(
                    &root,
                    lancet_format::Error::unsupported(format!(
                        "base path {base} of a shallow clone is not supported yet"
                    )),
                )
            };
            let files = meta.files.iter().map(|file| match file.base_id {
                None => Ok(Arc::new(FileSlot::new(format!("{root}/data/{}", file.path), file.clone()))),
                Some(base) => Err(unsupported(base)),
            });
            let deletion = match &meta.deletion {
                None => None,
                Some(file) if file.base_id.is_none() => {
                    Some(format!("{root}/_deletions/{}", file.file_name(meta.id)))
                }
                Some(file) => return Err(unsupported(file.base_id.unwrap_or_default())),
            };
            Ok(Fragment::new(meta.clone(), files.collect::<Result<_>>()?, deletion))
        });
        let fragments = fragments.collect::<Result<_>>()?;
        Ok(Dataset(Arc::new(Inner { root, manifest, fragments, pool, live_before: OnceLock::new() })))
    }

    /// The path that the dataset was opened at.
    pub fn root(&self) -> &str {
        &self.0.root
    }

    /// The number of the version.
    pub fn version(&self) -> u64 {
        self.0.manifest.version
    }

    /// The columns.
    pub fn schema(&self) -> &Schema {
        &self.0.manifest.schema
    }

    /// Everything that the version's manifest says.
    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// The number of rows that are not deleted. Reads no file, except where very old manifests do not say.
    ///
    /// # Errors
    /// Those of the files that must be read.
    pub fn count_rows(&self) -> Result<u64> {
        Ok(self.live_before()?.last().copied().unwrap_or_default())
    }

    /// The named columns, to be read in that order.
    ///
    /// A name is that of a top-level column, or a dotted path into structs, whose column is then called by the
    /// whole path. It matches exactly, or without regard to case if only one column does. The system columns
    /// `_rowid`, `_rowaddr`, `_row_created_at_version` and `_row_last_updated_at_version` may be named too.
    ///
    /// # Errors
    /// Invalid input if a name matches no column, or several, or is given twice.
    pub fn projection<S: AsRef<str>>(&self, names: impl IntoIterator<Item = S>) -> Result<Projection> {
        Projection::of(self.schema(), names)
    }

    /// All columns of the schema.
    pub fn full_projection(&self) -> Projection {
        Projection::full(self.schema())
    }

    /// A scan of all rows in order, to be narrowed down and then run.
    pub fn scan(&self) -> Scan {
        Scan::new(self.clone())
    }

    /// The named rows, in the order of `rows`, each as often as it is named.
    ///
    /// # Errors
    /// Invalid input if a row is not there, and the errors of the files that must be read.
    pub fn take(&self, rows: Rows<'_>, projection: &Projection) -> Result<Batch> {
        let mut batch = Batch::new();
        self.take_into(rows, projection, &mut batch)?;
        Ok(batch)
    }

    /// As [`Dataset::take`], into a batch whose buffers are used again where they fit.
    ///
    /// # Errors
    /// As [`Dataset::take`]; the batch is then empty.
    pub fn take_into(&self, rows: Rows<'_>, projection: &Projection, batch: &mut Batch) -> Result<()> {
        take::take_into(self, rows, projection, batch)
    }

    pub(crate) fn fragments(&self) -> &[Fragment] {
        &self.0.fragments
    }

    pub(crate) fn pool(&self) -> &FilePool {
        &self.0.pool
    }

    /// The number of live rows before each fragment, and in all.
    pub(crate) fn live_before(&self) -> Result<&[u64]> {
        if let Some(found) = self.0.live_before.get() {
            return Ok(found);
        }
        let mut sums = Vec::with_capacity(self.fragments().len() + 1);
        let mut total = 0u64;
        sums.push(0);
        for fragment in self.fragments() {
            total = total.checked_add(fragment.live_rows(self.pool())?).ok_or_else(|| {
                Error::corrupt(self.root(), "expected fewer than 2^64 rows in all fragments together")
            })?;
            sums.push(total);
        }
        Ok(self.0.live_before.get_or_init(|| sums))
    }
}

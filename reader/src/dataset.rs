//! [`Dataset`]: one version of a table, open for reading.

use crate::{
    Batch, CacheUsage, Error, Finding, Index, Progress, Projection, Result, Rows, Scan, VectorIndex, Version,
    cache::IndexCache,
    files::{FilePool, FileSlot, Usage},
    fragment::Fragment,
    index_stats::{self, IndexStats},
    indices,
    location::{self, Bases, Location, unicode},
    nearest::OpenedSegments,
    plan::{Catalog, OpenedIndices},
    row_ids::RowIdIndex,
    storage::{Bytes, Mapped, Source, Storage},
    take, verify,
    versions::{self, Stamp},
};
use lancet_format::{
    DEFAULT_MAX_DECOMPRESSED, Schema,
    table::{self, Branch, IndexMetadata, Manifest, Tag},
};
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// The budget of the cache of indices unless the caller says otherwise.
const INDEX_CACHE_BYTES: u64 = 4 << 30;

/// One version of a dataset. Cloning is cheap, and clones share what they have opened; all methods may be
/// called from any number of threads at once.
///
/// Opening reads the list of versions and one manifest. Data files are opened when their rows are first
/// needed, deletion files when rows of their fragment are. Other versions ([`Dataset::at_version`],
/// [`Dataset::refresh`], …) share every file and fragment that they have in common.
#[derive(Debug, Clone)]
pub struct Dataset(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    location: Location,
    manifest: Manifest,
    manifest_path: Arc<str>,
    fragments: Vec<Arc<Fragment>>,
    pool: Arc<FilePool>,
    /// The stamp of the folder of versions when this was known to be the newest one.
    newest_at: Mutex<Option<Stamp>>,
    /// The number of live rows before each fragment, and in all.
    live_before: OnceLock<Vec<u64>>,
    row_id_index: OnceLock<RowIdIndex>,
    /// The segments of all indices.
    segments: Vec<IndexMetadata>,
    bases: Arc<Bases>,
    /// Segments of vector indices that are open.
    opened_segments: OpenedSegments,
    /// Segments of scalar indices that are open.
    opened_indices: OpenedIndices,
    catalog: OnceLock<Catalog>,
    /// What opened indices decoded, shared by all versions.
    cache: Arc<IndexCache>,
}

/// How to open a [`Dataset`]; made by [`Dataset::options`].
#[derive(Debug, Clone)]
pub struct OpenOptions {
    storage: Arc<dyn Storage>,
    max_open_files: usize,
    max_decompressed: usize,
    index_cache_bytes: usize,
    branch: Option<String>,
    which: Which,
}

/// Which version of a branch.
#[derive(Debug, Clone)]
enum Which {
    Newest,
    Number(u64),
    Tag(String),
}

impl OpenOptions {
    /// Where the files come from; by default [`Mapped`] files of the local file system.
    #[must_use]
    pub fn storage(mut self, storage: impl Storage + 'static) -> Self {
        self.storage = Arc::new(storage);
        self
    }

    /// How many data files may be open (mapped) at once, at least 1; by default 8,192: an eighth of the mappings that Linux
    /// lets a process have.
    ///
    /// A file beyond that closes one that was not used lately. Columns that borrow from a file keep it
    /// mapped, also beyond the bound.
    #[must_use]
    pub fn max_open_files(mut self, files: usize) -> Self {
        self.max_open_files = files;
        self
    }

    /// How many bytes one compressed buffer of a file (a chunk of values, a dictionary, in files of version 2.0 a page)
    /// may expand to; by default 256 MiB. Files with larger ones are refused as unsupported.
    #[must_use]
    pub fn max_decompressed(mut self, bytes: usize) -> Self {
        self.max_decompressed = bytes;
        self
    }

    /// How many bytes of memory the [cache of indices](Dataset::index_cache) may take: what of them had to be decoded,
    /// and cannot be used where it lies in the files. By default 4 GiB. What a search uses at a time, some partitions or
    /// pages, may come on top.
    #[must_use]
    pub fn index_cache_bytes(mut self, bytes: usize) -> Self {
        self.index_cache_bytes = bytes;
        self
    }

    /// Opens this version instead of the newest.
    #[must_use]
    pub fn version(mut self, version: u64) -> Self {
        self.which = Which::Number(version);
        self
    }

    /// Opens the version with this tag, on whatever branch it lies.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.which = Which::Tag(tag.into());
        self
    }

    /// Opens a version of this branch instead of the main one; `main` is the main one.
    #[must_use]
    pub fn branch(mut self, branch: impl Into<String>) -> Self {
        self.branch = Some(branch.into()).filter(|branch| branch != "main");
        self
    }

    /// Opens the dataset at `root`, a path of the storage.
    ///
    /// # Errors
    /// Io if there is no dataset, version, tag or branch of that name; corrupt or unsupported if the manifest
    /// cannot be read.
    pub fn open(&self, root: &str) -> Result<Dataset> {
        let root = match root.trim_end_matches('/') {
            "" => root,
            trimmed => trimmed,
        };
        let location = Location { root: root.to_owned(), branch: self.branch.clone() };
        let pool = Arc::new(FilePool::new(self.storage.clone(), self.max_open_files, self.max_decompressed));
        open(pool, location, &self.which, Shared::Budget(self.index_cache_bytes))
    }

    /// As [`OpenOptions::open`], for a path of the local file system.
    ///
    /// # Errors
    /// As [`OpenOptions::open`]; invalid input if the path is not Unicode text.
    pub fn open_path(&self, path: impl AsRef<Path>) -> Result<Dataset> {
        self.open(unicode(path.as_ref())?)
    }

    /// As [`verify_file`](crate::verify_file), with the storage and the bounds of these options.
    pub fn verify_file(&self, path: &str, progress: &mut dyn FnMut(Progress)) -> Vec<Finding> {
        verify::file(&*self.storage, path, self.max_decompressed, progress)
    }

    pub(crate) fn storage_ref(&self) -> &dyn Storage {
        &*self.storage
    }
}

/// What a version that is opened shares with others.
#[derive(Clone, Copy)]
enum Shared<'a> {
    /// Nothing: its cache gets this budget.
    Budget(usize),
    /// Everything that it has in common with this one.
    With(&'a Dataset),
}

/// Opens a version.
fn open(pool: Arc<FilePool>, mut location: Location, which: &Which, shared: Shared<'_>) -> Result<Dataset> {
    let storage = pool.storage();
    if let Some(branch) = &location.branch {
        // Without this file the folder is no branch, or no longer.
        location::read_branch(storage, &location, branch)?;
    }
    let (path, manifest) = match which {
        Which::Newest => {
            let stamp = Stamp::of(storage, &format!("{}/_versions", location.folder()));
            let name = versions::latest(storage, &location)?;
            let (path, manifest) = versions::read_named(storage, &location, name)?;
            return Dataset::new(pool, location, path, manifest, stamp, shared);
        }
        Which::Number(version) => versions::read_manifest(storage, &location, *version)?,
        Which::Tag(tag) => {
            let tag = location::read_tag(storage, &location, tag)?;
            location = location.on(tag.branch.filter(|branch| branch != "main"));
            versions::read_manifest(storage, &location, tag.version)?
        }
    };
    Dataset::new(pool, location, path, manifest, None, shared)
}

impl Dataset {
    /// Opens the newest version of the dataset in the local directory `path`, with files mapped into memory.
    ///
    /// # Errors
    /// Io if there is no dataset, corrupt or unsupported if its manifest cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Dataset> {
        Self::options().open_path(path)
    }

    /// Options to open a dataset with: a version, a tag, a branch, another storage, other bounds.
    pub fn options() -> OpenOptions {
        OpenOptions {
            storage: Arc::new(Mapped),
            max_open_files: 8192,
            max_decompressed: DEFAULT_MAX_DECOMPRESSED,
            index_cache_bytes: usize::try_from(INDEX_CACHE_BYTES).unwrap_or(usize::MAX),
            branch: None,
            which: Which::Newest,
        }
    }

    fn new(
        pool: Arc<FilePool>,
        location: Location,
        path: String,
        manifest: Manifest,
        newest_at: Option<Stamp>,
        shared: Shared<'_>,
    ) -> Result<Self> {
        let bases = Arc::new(Bases::resolve(pool.storage(), &location, &manifest)?);
        let manifest_path: Arc<str> = path.into();
        let segments = manifest.indices().map_err(|error| Error::format(&*manifest_path, error))?;
        let (sibling, cache) = match shared {
            Shared::Budget(bytes) => (None, IndexCache::new(bytes)),
            Shared::With(sibling) => (Some(sibling), sibling.0.cache.clone()),
        };
        let known: HashMap<u32, &Arc<Fragment>> = sibling
            .map(|dataset| dataset.fragments().iter().map(|fragment| (fragment.meta.id, fragment)).collect())
            .unwrap_or_default();
        let fragments = manifest.fragments.iter().map(|meta| {
            let known = known.get(&meta.id).copied();
            share(known, meta, &manifest_path, &bases)
        });
        let fragments = fragments.collect();
        Ok(Dataset(Arc::new(Inner {
            location,
            manifest,
            manifest_path,
            fragments,
            pool,
            newest_at: Mutex::new(newest_at),
            live_before: OnceLock::new(),
            row_id_index: OnceLock::new(),
            opened_segments: sibling
                .map(|dataset| dataset.opened_segments().shared_with(&segments))
                .unwrap_or_default(),
            opened_indices: sibling
                .map(|dataset| dataset.opened_indices().shared_with(&segments))
                .unwrap_or_default(),
            segments,
            bases,
            catalog: OnceLock::new(),
            cache,
        })))
    }

    /// The path that the dataset was opened at.
    pub fn root(&self) -> &str {
        &self.0.location.root
    }

    /// The branch that the version lies on; `None` is the main one.
    pub fn branch(&self) -> Option<&str> {
        self.0.location.branch.as_deref()
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

    /// Another version of the same branch.
    ///
    /// # Errors
    /// Io if there is no such version, and those of its manifest.
    pub fn at_version(&self, version: u64) -> Result<Dataset> {
        open(self.0.pool.clone(), self.0.location.clone(), &Which::Number(version), Shared::With(self))
    }

    /// The version with this tag, on whatever branch it lies.
    ///
    /// # Errors
    /// Io if there is no such tag, and those of its manifest.
    pub fn at_tag(&self, tag: &str) -> Result<Dataset> {
        open(self.0.pool.clone(), self.0.location.clone(), &Which::Tag(tag.into()), Shared::With(self))
    }

    /// The newest version of a branch; `main` is the main one.
    ///
    /// # Errors
    /// Io if there is no such branch, and those of its manifest.
    pub fn at_branch(&self, branch: &str) -> Result<Dataset> {
        let branch = (branch != "main").then(|| branch.to_owned());
        open(self.0.pool.clone(), self.0.location.on(branch), &Which::Newest, Shared::With(self))
    }

    /// The newest version of the same branch: the dataset itself if there is none that is newer. Everything
    /// unchanged is shared, and if the folder of versions has not changed since the last look, that is all
    /// that is looked at.
    ///
    /// # Errors
    /// Those of listing the versions, and of the newest manifest.
    pub fn refresh(&self) -> Result<Dataset> {
        let storage = self.pool().storage();
        let stamp = Stamp::of(storage, &format!("{}/_versions", self.folder()));
        let newest_at = || self.0.newest_at.lock().unwrap_or_else(PoisonError::into_inner);
        if stamp.is_some() && stamp == *newest_at() {
            return Ok(self.clone());
        }
        let name = versions::latest(storage, &self.0.location)?;
        if name.version == self.version() {
            *newest_at() = stamp;
            return Ok(self.clone());
        }
        let (path, manifest) = versions::read_named(storage, &self.0.location, name)?;
        Dataset::new(self.0.pool.clone(), self.0.location.clone(), path, manifest, stamp, Shared::With(self))
    }

    /// The number of the newest version of the same branch.
    ///
    /// # Errors
    /// Those of listing the versions.
    pub fn latest_version(&self) -> Result<u64> {
        versions::latest(self.pool().storage(), &self.0.location).map(|name| name.version)
    }

    /// All versions of the same branch, the oldest first. Reads every manifest.
    ///
    /// # Errors
    /// Those of listing the versions, and of the manifests.
    pub fn versions(&self) -> Result<Vec<Version>> {
        versions::all(self.pool().storage(), &self.0.location)
    }

    /// All tags by name.
    ///
    /// # Errors
    /// Those of listing and reading them.
    pub fn tags(&self) -> Result<BTreeMap<String, Tag>> {
        versions::tags(self.pool().storage(), &self.0.location)
    }

    /// All branches by name; the main one is not among them.
    ///
    /// # Errors
    /// Those of listing and reading them.
    pub fn branches(&self) -> Result<BTreeMap<String, Branch>> {
        versions::branches(self.pool().storage(), &self.0.location)
    }

    /// The indices that the manifest lists, and what each covers. Reads none of their files.
    ///
    /// # Errors
    /// Those of the file that tells where rows of compacted fragments went, if there is one.
    pub fn indices(&self) -> Result<Vec<Index>> {
        indices::list(self)
    }

    /// The vector index on `column`, for searches that cannot wait: see [`VectorIndex`].
    ///
    /// # Errors
    /// Invalid input if the column holds no vectors or has no index; and those of the index's files.
    pub fn vector_index(&self, column: &str) -> Result<VectorIndex> {
        VectorIndex::new(self, column)
    }

    /// Figures of the index called `name`: of values, pages, zones or partitions. Reads its metadata and tables of
    /// contents, and at most one page besides.
    ///
    /// # Errors
    /// Invalid input if there is no such index, and those of its files.
    pub fn index_stats(&self, name: &str) -> Result<IndexStats> {
        index_stats::of_index(self, name)
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

    /// Reads all that the version holds, and tells what is wrong with it: every page of every column,
    /// deletion files, row ids, the files of indices. `progress` is called after each column of a fragment and
    /// each file of an index.
    ///
    /// Columns that were dropped but still lie in a file are not read, nor are other versions.
    pub fn verify(&self, progress: &mut dyn FnMut(Progress)) -> Vec<Finding> {
        verify::dataset(self, progress)
    }

    /// All bytes of a file of an index segment, and its path.
    pub(crate) fn read_index_file(&self, segment: &IndexMetadata, name: &str) -> Result<(String, Bytes)> {
        self.find_index_file(segment, name, |storage, path| storage.read(path))
    }

    /// A file of an index segment, and its path.
    pub(crate) fn open_index_file(
        &self,
        segment: &IndexMetadata,
        name: &str,
    ) -> Result<(String, Arc<dyn Source>)> {
        self.find_index_file(segment, name, |storage, path| storage.open(path))
    }

    fn find_index_file<T>(
        &self,
        segment: &IndexMetadata,
        name: &str,
        get: impl Fn(&dyn Storage, &str) -> std::io::Result<T>,
    ) -> Result<(String, T)> {
        let mut missing = None;
        for folder in self.0.bases.index_folders(segment) {
            let path = format!("{folder}/{name}");
            match get(self.pool().storage(), &path) {
                Ok(found) => return Ok((path, found)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    missing.get_or_insert(Error::io(path, error));
                }
                Err(error) => return Err(Error::io(path, error)),
            }
        }
        Err(missing
            .unwrap_or_else(|| Error::not_found(self.folder(), format!("expected an index file `{name}`"))))
    }

    /// The data files that are open, and what was read of them so far, by all versions that share them.
    pub fn usage(&self) -> Usage {
        self.pool().usage()
    }

    /// The cache of what indices decoded, shared with all versions that were opened from this one.
    pub fn index_cache(&self) -> CacheUsage {
        self.0.cache.usage()
    }

    pub(crate) fn cache(&self) -> &Arc<IndexCache> {
        &self.0.cache
    }

    /// Whether both are clones of one.
    pub(crate) fn is_same(&self, other: &Dataset) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn folder(&self) -> String {
        self.0.location.folder()
    }

    pub(crate) fn manifest_path(&self) -> &str {
        &self.0.manifest_path
    }

    pub(crate) fn opened_segments(&self) -> &OpenedSegments {
        &self.0.opened_segments
    }

    pub(crate) fn opened_indices(&self) -> &OpenedIndices {
        &self.0.opened_indices
    }

    /// The scalar indices that can be searched.
    pub(crate) fn catalog(&self) -> Result<&Catalog> {
        if let Some(found) = self.0.catalog.get() {
            return Ok(found);
        }
        let catalog = Catalog::of(self)?;
        Ok(self.0.catalog.get_or_init(|| catalog))
    }

    pub(crate) fn index_segments(&self) -> &[IndexMetadata] {
        &self.0.segments
    }

    pub(crate) fn fragments(&self) -> &[Arc<Fragment>] {
        &self.0.fragments
    }

    pub(crate) fn pool(&self) -> &FilePool {
        &self.0.pool
    }

    pub(crate) fn row_id_index(&self) -> Result<&RowIdIndex> {
        if let Some(found) = self.0.row_id_index.get() {
            return Ok(found);
        }
        let index = RowIdIndex::build(self.fragments(), self.pool())?;
        Ok(self.0.row_id_index.get_or_init(|| index))
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
                Error::corrupt(
                    self.manifest_path(),
                    "expected fewer than 2^64 rows in all fragments together",
                )
            })?;
            sums.push(total);
        }
        Ok(self.0.live_before.get_or_init(|| sums))
    }
}

/// The fragment that `meta` describes: the known one if nothing of it changed, else a new one that shares
/// the files that are still the same.
fn share(
    known: Option<&Arc<Fragment>>,
    meta: &table::Fragment,
    manifest_path: &Arc<str>,
    bases: &Arc<Bases>,
) -> Arc<Fragment> {
    let paths: Vec<_> = meta.files.iter().map(|file| bases.data_file(file)).collect();
    let deletion = meta.deletion.as_ref().map(|file| bases.deletion_file(file, meta.id));
    if let Some(known) = known
        && known.meta == *meta
        && known.deletion_place() == deletion.as_ref()
        && known.files().iter().zip(&paths).all(|(file, place)| file.place() == place)
    {
        return known.clone();
    }
    let files = paths.into_iter().zip(&meta.files).map(|(place, file)| {
        let known = known.and_then(|known| known.files().iter().find(|known| known.is(&place, file)));
        known.cloned().unwrap_or_else(|| {
            Arc::new(FileSlot::new(place, manifest_path.clone(), file.clone(), bases.clone()))
        })
    });
    Arc::new(Fragment::new(meta.clone(), manifest_path.clone(), files.collect(), deletion))
}

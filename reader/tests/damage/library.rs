//! The stored datasets in memory, and which bytes of which file each of their columns is read from.

use crate::{check, layout};
use lancet::{
    Dataset,
    storage::{Bytes, FormatError, InMemory, Source, Storage},
};
use std::{
    collections::BTreeMap,
    env, fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

pub(crate) const ROOT: &str = "dataset";

/// Bytes of a file, and the columns that are read from them.
pub(crate) type Part = (Range<u64>, Vec<usize>);

/// A dataset whose newest manifest does not say how large the data files are.
pub(crate) struct Stored {
    pub(crate) name: String,
    files: BTreeMap<String, Bytes>,
    pub(crate) columns: Vec<String>,
    /// The parts of each file that is read.
    pub(crate) touched: BTreeMap<String, Vec<Part>>,
}

pub(crate) fn fixtures() -> PathBuf {
    match env::var_os("LANCET_FIXTURES") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures"),
    }
}

/// The datasets below the folder of fixtures whose path begins with one of `prefixes`, by name.
pub(crate) fn datasets(prefixes: &[&str]) -> Vec<Stored> {
    let root = fixtures();
    let mut names = Vec::new();
    for folder in ["", "corrupt", "bugs"] {
        let entries = fs::read_dir(root.join(folder)).expect("the fixtures lie beside the crates");
        for entry in entries {
            let name = entry.expect("a name").file_name().into_string().expect("Unicode");
            let name = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if name.ends_with(".lance") && prefixes.iter().any(|prefix| name.starts_with(prefix)) {
                names.push(name);
            }
        }
    }
    names.sort();
    names.iter().map(|name| Stored::load(&root.join(name), name)).collect()
}

impl Stored {
    fn load(folder: &Path, name: &str) -> Self {
        let mut files = BTreeMap::new();
        collect(folder, ROOT, &mut files);
        for (path, bytes) in &mut files {
            if path.ends_with(".manifest")
                && let Some(changed) = layout::without_sizes(bytes)
            {
                *bytes = changed.into();
            }
        }
        let mut stored = Stored { name: name.into(), files, columns: Vec::new(), touched: BTreeMap::new() };
        stored.explore();
        stored
    }

    /// Finds out what is read for each column.
    fn explore(&mut self) {
        let recorder = Recorder::new(&self.files);
        let mut parts: BTreeMap<(String, u64, u64), Vec<usize>> = BTreeMap::new();
        if let Ok(dataset) = Dataset::options().storage(recorder.clone()).open(ROOT) {
            self.columns = dataset.schema().fields.iter().map(|field| field.name.to_string()).collect();
        }
        for index in 0..self.columns.len().max(1) {
            if let Ok(dataset) = Dataset::options().storage(recorder.clone()).open(ROOT) {
                let _ = check::read(&dataset, &self.columns[index..index + 1]);
            }
            let mut log = recorder.log.lock().expect("no panic while it is held");
            for (path, range) in log.drain(..) {
                let columns = parts.entry((path, range.start, range.end)).or_default();
                if columns.last() != Some(&index) {
                    columns.push(index);
                }
            }
        }
        for ((path, start, end), columns) in parts {
            self.touched.entry(path).or_default().push((start..end, columns));
        }
    }

    pub(crate) fn file(&self, path: &str) -> &Bytes {
        &self.files[path]
    }

    /// The bytes of all files that are read.
    pub(crate) fn size(&self) -> usize {
        self.touched.keys().map(|path| self.files[path].len()).sum()
    }

    /// The columns that are read from byte `position` of a file.
    pub(crate) fn columns_at(&self, path: &str, position: u64) -> Vec<usize> {
        let parts = self.touched.get(path).into_iter().flatten();
        let mut columns: Vec<usize> = parts
            .filter(|(range, _)| range.contains(&position))
            .flat_map(|(_, columns)| columns.iter().copied())
            .collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The dataset with another file at `path`.
    pub(crate) fn with(&self, path: &str, bytes: Vec<u8>) -> InMemory {
        let mut storage = InMemory::new();
        for (own, bytes) in &self.files {
            storage.insert(own.clone(), bytes.clone());
        }
        storage.insert(path, bytes);
        storage
    }
}

fn collect(folder: &Path, path: &str, files: &mut BTreeMap<String, Bytes>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let path = format!("{path}/{}", entry.file_name().to_str().expect("Unicode"));
        // Index files are not read yet.
        match entry.file_type().expect("a type").is_dir() {
            true if path.ends_with("_indices") => {}
            true => collect(&entry.path(), &path, files),
            false => {
                files.insert(path, fs::read(entry.path()).expect("a file").into());
            }
        }
    }
}

/// A storage that notes what is read; nothing is lent, so nothing escapes it.
#[derive(Debug, Clone)]
struct Recorder {
    files: Arc<BTreeMap<String, Bytes>>,
    log: Log,
}

type Log = Arc<Mutex<Vec<(String, Range<u64>)>>>;

#[derive(Debug)]
struct Recorded {
    path: String,
    bytes: Bytes,
    log: Log,
}

impl Recorder {
    fn new(files: &BTreeMap<String, Bytes>) -> Self {
        Recorder { files: Arc::new(files.clone()), log: Log::default() }
    }
}

impl Storage for Recorder {
    fn open(&self, path: &str) -> io::Result<Arc<dyn Source>> {
        let bytes = self.files.get(path).ok_or(io::ErrorKind::NotFound)?.clone();
        Ok(Arc::new(Recorded { path: path.into(), bytes, log: self.log.clone() }))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let names = self.files.keys().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
        Ok(names.filter(|name| !name.contains('/')).map(String::from).collect())
    }
}

impl Source for Recorded {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, FormatError> {
        let mut log = self.log.lock().map_err(FormatError::source)?;
        log.push((self.path.clone(), range.clone()));
        Ok(self.bytes.slice(range.start as usize..range.end as usize))
    }
}

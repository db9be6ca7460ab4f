//! The stored datasets in memory, and which bytes of which file each of their columns is read from.

use crate::{check, layout};
use lancet::{
    Dataset,
    storage::{Bytes, FormatError, InMemory, Source, Storage},
};
use lancet_format::{File, Schema, describe::file as describe};
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
        for (path, bytes) in self.files.iter().filter(|(path, _)| is_index_file(path)) {
            for Range { start, end } in parts_of(bytes).unwrap_or_default() {
                parts.insert((path.clone(), start, end), Vec::new());
            }
        }
        for ((path, start, end), columns) in parts {
            self.touched.entry(path).or_default().push((start..end, columns));
        }
    }

    pub(crate) fn file(&self, path: &str) -> &Bytes {
        &self.files[path]
    }

    /// The bytes of all files that are read for its rows.
    pub(crate) fn size(&self) -> usize {
        let read = self.touched.keys().filter(|path| !is_index_file(path));
        read.map(|path| self.files[path].len()).sum()
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

    /// The dataset as it is.
    pub(crate) fn sound(&self) -> InMemory {
        let mut storage = InMemory::new();
        for (own, bytes) in &self.files {
            storage.insert(own.clone(), bytes.clone());
        }
        storage
    }

    /// The dataset with another file at `path`.
    pub(crate) fn with(&self, path: &str, bytes: Vec<u8>) -> InMemory {
        let mut storage = self.sound();
        storage.insert(path, bytes);
        storage
    }
}

/// Whether it is one of the Lance files of an index.
pub(crate) fn is_index_file(path: &str) -> bool {
    path.contains("/_indices/") && (path.ends_with(".lance") || path.ends_with(".idx"))
}

fn open_file(storage: &dyn Storage, path: &str) -> Option<File> {
    File::open(storage.open(path).ok()?).ok()
}

/// The parts of a Lance file, all but padding: footer, tables, metadata of columns, global buffers, and the buffers
/// of columns and pages. `None` if its footer is damaged.
pub(crate) fn parts_of(bytes: &Bytes) -> Option<Vec<Range<u64>>> {
    let len = bytes.len() as u64;
    let file = describe(File::open(Arc::new(bytes.clone())).ok()?.container());
    let columns = || file.columns.iter().flatten();
    let pages = columns().flat_map(|column| &column.pages).flat_map(|page| page.buffers.iter().flatten());
    let buffers = file.global_buffers.iter().flatten();
    let buffers = buffers
        .chain(columns().map(|column| &column.metadata))
        .chain(columns().flat_map(|column| column.buffers.iter().flatten()))
        .chain(pages)
        .map(|buffer| buffer.position.min(len)..buffer.position.saturating_add(buffer.size).min(len));
    let tables = [
        file.column_table_position..file.global_buffer_table_position,
        file.global_buffer_table_position..file.footer_position,
        file.footer_position..len,
    ];
    Some(buffers.chain(tables).collect())
}

/// The schema that a Lance file states.
pub(crate) fn schema(storage: &dyn Storage, path: &str) -> Option<Schema> {
    open_file(storage, path)?.container().schema().ok().map(|(schema, _)| schema)
}

fn collect(folder: &Path, path: &str, files: &mut BTreeMap<String, Bytes>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let path = format!("{path}/{}", entry.file_name().to_str().expect("Unicode"));
        match entry.file_type().expect("a type").is_dir() {
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

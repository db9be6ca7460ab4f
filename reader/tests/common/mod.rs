//! What the tests share: the fixtures, and storages that watch what is asked of them.
#![allow(dead_code)] // Each test uses its own part.

use lancet::storage::{Bytes, FormatError, InMemory, Mapped, Source, Storage};
use std::{
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

/// The path of a stored dataset.
pub(crate) fn fixture(name: &str) -> String {
    format!("{}/../fixtures/{name}.lance", env!("CARGO_MANIFEST_DIR"))
}

/// The names of all stored datasets that are whole.
pub(crate) fn fixtures() -> Vec<String> {
    let of_folder = |folder: &'static str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(folder);
        let files = fs::read_dir(path).expect("a folder of fixtures");
        let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        names.filter_map(move |name| Some(format!("{folder}{}", name.strip_suffix(".lance")?)))
    };
    let mut names: Vec<_> = ["", "bugs/"].into_iter().flat_map(of_folder).collect();
    names.sort();
    names
}

/// A copy of a stored dataset that a test may change; gone when it is dropped.
pub(crate) struct Copy(PathBuf);

impl Copy {
    pub(crate) fn of(name: &str) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("lancet-test-{}-{number}", std::process::id()));
        copy(Path::new(&fixture(name)), &folder);
        Copy(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn str(&self) -> &str {
        self.0.to_str().expect("the folder for temporary files has a Unicode name")
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// All files of a folder in memory, under their paths.
pub(crate) fn in_memory(root: &str) -> InMemory {
    fn add(store: &mut InMemory, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => add(store, &path),
                false => store.insert(path.to_str().unwrap(), fs::read(&path).unwrap()),
            }
        }
    }
    let mut store = InMemory::new();
    add(&mut store, Path::new(root));
    store
}

/// Maps files, and remembers which were opened and where they lie in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watched(Arc<Mutex<Vec<Opened>>>);

/// The path of a file and the addresses of its bytes.
type Opened = (String, Range<usize>);

impl Watched {
    /// The paths of the data files opened so far, in order.
    pub(crate) fn opened(&self) -> Vec<String> {
        let seen = self.0.lock().unwrap();
        seen.iter().map(|(path, _)| path.clone()).filter(|path| path.contains("/data/")).collect()
    }

    /// Whether `bytes` lie inside one of the mappings.
    pub(crate) fn holds<T>(&self, values: &[T]) -> bool {
        let range = values.as_ptr_range();
        let (start, end) = (range.start as usize, range.end as usize);
        self.0.lock().unwrap().iter().any(|(_, mapping)| mapping.start <= start && end <= mapping.end)
    }
}

impl Storage for Watched {
    fn open(&self, path: &str) -> io::Result<Arc<dyn Source>> {
        let source = Mapped.open(path)?;
        let range = source.in_memory().expect("a mapping is memory").as_ptr_range();
        self.0.lock().unwrap().push((path.into(), range.start as usize..range.end as usize));
        Ok(source)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        Mapped.list(folder)
    }
}

/// Fetches exactly the ranges that it is asked for, as a store over HTTP would, and counts them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranges {
    pub(crate) requests: Arc<AtomicU64>,
    pub(crate) bytes: Arc<AtomicU64>,
}

#[derive(Debug)]
struct RangeFile {
    file: fs::File,
    size: u64,
    counts: Ranges,
}

impl Storage for Ranges {
    fn open(&self, path: &str) -> io::Result<Arc<dyn Source>> {
        let file = fs::File::open(path)?;
        let size = file.metadata()?.len();
        Ok(Arc::new(RangeFile { file, size, counts: self.clone() }))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        Mapped.list(folder)
    }
}

impl Source for RangeFile {
    fn len(&self) -> u64 {
        self.size
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, FormatError> {
        use std::io::{Read, Seek, SeekFrom};
        let mut out = vec![0; (range.end - range.start) as usize];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(range.start)).map_err(FormatError::source)?;
        file.read_exact(&mut out).map_err(FormatError::source)?;
        self.counts.requests.fetch_add(1, Ordering::Relaxed);
        self.counts.bytes.fetch_add(out.len() as u64, Ordering::Relaxed);
        Ok(out.into())
    }
}

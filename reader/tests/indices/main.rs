//! The files of indices in all stored datasets, judged by the values that the rows have.
//!
//! Every file is opened and read whole. What it says about rows that live in fragments which the segment covers must be what
//! the column says, and nothing may be missing; other rows it may name as it likes.

#[path = "../common/allocations.rs"]
mod allocations;
mod compacted;
mod judge;
mod layouts;
mod planner;
mod prepared;
mod probes;
mod search;
mod vectors;

use lancet::{
    Dataset,
    storage::{Bytes, FormatError, Source},
    table::{FragmentReuse, FragmentReuseDetails, IndexMetadata},
};
use lancet_format::index::{IndexFiles, IndexKind};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The files of a segment in a folder.
#[derive(Debug)]
struct Folder(PathBuf);

impl IndexFiles for Folder {
    fn open(&self, name: &str) -> Result<Option<Arc<dyn Source>>, FormatError> {
        match fs::read(self.0.join(name)) {
            Ok(bytes) => Ok(Some(Arc::new(Bytes::from(bytes)))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FormatError::source(error)),
        }
    }

    fn names(&self) -> Result<Vec<String>, FormatError> {
        let entries = fs::read_dir(&self.0).map_err(FormatError::source)?;
        Ok(entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
    }
}

/// The stored datasets of one folder.
fn datasets(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(folder);
    let paths = fs::read_dir(folder).expect("a folder of fixtures").flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "lance")).collect();
    paths.sort();
    paths
}

/// The segments of a dataset with their kinds.
fn segments(dataset: &Dataset) -> Vec<(IndexMetadata, IndexKind)> {
    let entries = dataset.manifest().indices().expect("entries");
    let kind = |entry: &IndexMetadata| IndexKind::of(entry).expect("a kind").expect("details");
    entries.into_iter().map(|entry| (entry.clone(), kind(&entry))).collect()
}

fn reuse(dataset: &Dataset) -> Option<FragmentReuse> {
    let entries = dataset.manifest().indices().expect("entries");
    entries.iter().find_map(|entry| match FragmentReuseDetails::of(entry).expect("details")? {
        FragmentReuseDetails::Inline(reuse) => Some(reuse),
        FragmentReuseDetails::External { .. } => panic!("no stored dataset has an external one"),
    })
}

fn folder(path: &Path, entry: &IndexMetadata) -> Folder {
    Folder(path.join("_indices").join(entry.uuid.to_string()))
}

//! Segments of vector indices as such, below datasets: for what is measured of their steps.

use lancet::storage::{FormatError, Mapped, Source, Storage};
use lancet_format::index::IndexFiles;
use lancet_index::ivf::Ivf;
use std::{error::Error, io, path::Path, sync::Arc};

/// The files of a segment, mapped.
#[derive(Debug)]
struct Folder<'a>(&'a Path);

impl IndexFiles for Folder<'_> {
    fn open(&self, name: &str) -> Result<Option<Arc<dyn Source>>, FormatError> {
        match Mapped.open(&self.0.join(name).to_string_lossy()) {
            Ok(source) => Ok(Some(source)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FormatError::source(error)),
        }
    }

    fn names(&self) -> Result<Vec<String>, FormatError> {
        Mapped.list(&self.0.to_string_lossy()).map_err(FormatError::source)
    }
}

/// Opens the segment whose files, `index.idx` and `auxiliary.idx`, are in `folder`.
pub fn open(folder: &Path) -> Result<Ivf, Box<dyn Error>> {
    Ok(Ivf::open(&Folder(folder))?)
}

/// Opens the only segment of a vector index that the dataset at `root` has.
pub fn of_dataset(root: &Path) -> Result<Ivf, Box<dyn Error>> {
    let folders = root.join("_indices").read_dir()?.collect::<io::Result<Vec<_>>>()?;
    let mut folders = folders.iter().map(|folder| folder.path());
    let folder = folders.find(|folder| folder.join("auxiliary.idx").exists());
    open(&folder.ok_or("expected a vector index, found none")?)
}

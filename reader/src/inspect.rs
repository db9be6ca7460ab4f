//! Looking into single files.

use crate::{
    Error, Result,
    location::unicode,
    storage::{Mapped, Storage},
};
use lancet_format::describe::{Description, describe};
use std::path::Path;

/// What a single file of a dataset holds: data and index files, manifests, deletion files, transactions, tags
/// and branches. The kind is told by the ending of the name, or else by the file's magic.
///
/// No page is read. Damaged parts of a Lance file are told beside the sound ones.
///
/// # Errors
/// Invalid input if the path is not Unicode text, I/O if the file cannot be read, unsupported if its kind or version is not known, corrupt if it cannot be
/// described at all.
pub fn inspect(path: impl AsRef<Path>) -> Result<Description> {
    let name = unicode(path.as_ref())?;
    let source = Mapped.open(name).map_err(|error| Error::io(name, error))?;
    describe(name, &source).map_err(|error| Error::format(name, error))
}

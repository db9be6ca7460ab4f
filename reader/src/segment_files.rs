//! [`SegmentFiles`]: the files of one segment of an index, wherever the dataset keeps them.

use crate::Dataset;
use lancet_format::{Error, Result, Source, index::IndexFiles, table::IndexMetadata};
use std::{fmt, sync::Arc};

/// The files of a segment.
pub(crate) struct SegmentFiles<'a> {
    dataset: &'a Dataset,
    entry: &'a IndexMetadata,
}

impl<'a> SegmentFiles<'a> {
    pub(crate) fn new(dataset: &'a Dataset, entry: &'a IndexMetadata) -> Self {
        SegmentFiles { dataset, entry }
    }
}

impl fmt::Debug for SegmentFiles<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SegmentFiles({})", self.entry.uuid)
    }
}

impl IndexFiles for SegmentFiles<'_> {
    fn open(&self, name: &str) -> Result<Option<Arc<dyn Source>>> {
        match self.dataset.open_index_file(self.entry, name) {
            Ok((_, source)) => Ok(Some(source)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(Error::source(error)),
        }
    }

    fn names(&self) -> Result<Vec<String>> {
        Ok(self.entry.files.iter().map(|file| file.path.clone()).collect())
    }
}

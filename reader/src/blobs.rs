//! The files that bytes of blobs lie in: beside a data file, under a base path, anywhere on this machine.

use crate::{location::Bases, storage::Storage};
use lancet_format::{BlobFile, BlobFiles, Error, Result, Source, blob_file_name};
use std::sync::Arc;

/// Where the blobs of one data file lie.
#[derive(Debug)]
pub(crate) struct BlobFolder {
    storage: Arc<dyn Storage>,
    data_file: String,
    bases: Arc<Bases>,
}

impl BlobFolder {
    pub(crate) fn new(storage: Arc<dyn Storage>, data_file: &str, bases: Arc<Bases>) -> Self {
        BlobFolder { storage, data_file: data_file.to_owned(), bases }
    }

    fn path(&self, file: BlobFile<'_>) -> Result<String> {
        match file {
            BlobFile::Numbered(id) => {
                let folder = self.data_file.strip_suffix(".lance").unwrap_or(&self.data_file);
                Ok(format!("{folder}/{}", blob_file_name(id)))
            }
            BlobFile::External { base: None, uri } => local_path(uri),
            BlobFile::External { base: Some(id), uri } => self.under_base(id, uri),
            _ => Err(Error::unsupported(format!("{file} lies where lancet cannot look"))),
        }
    }

    fn under_base(&self, id: u32, uri: &str) -> Result<String> {
        let Some(folder) = self.bases.folder(id) else {
            return Err(Error::corrupt(format!("expected a base path with id {id}, found none")));
        };
        // A base is all that such a description may reach.
        if uri.starts_with('/') || uri.split('/').any(|part| part == "..") {
            return Err(Error::corrupt(format!("expected a path inside base path {id}, found `{uri}`")));
        }
        Ok(format!("{folder}/{uri}"))
    }
}

impl BlobFiles for BlobFolder {
    fn open(&self, file: BlobFile<'_>) -> Result<Arc<dyn Source>> {
        let path = self.path(file)?;
        self.storage.open(&path).map_err(|error| Error::source(format!("{path}: {error}")))
    }
}

/// The path that an absolute URI names: `file:///a/b`, or the path itself.
fn local_path(uri: &str) -> Result<String> {
    match uri.strip_prefix("file://") {
        Some(path) if path.starts_with('/') => Ok(unescaped(path)),
        None if !uri.contains("://") => Ok(uri.to_owned()),
        _ => Err(Error::unsupported(format!("blobs in `{uri}`: only files of this machine can be read"))),
    }
}

/// `path` with the bytes that `%20` and the like stand for.
fn unescaped(path: &str) -> String {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                out.push(byte);
                rest = &tail[2..];
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_uris() {
        assert_eq!(local_path("file:///a/b%20c%2").unwrap(), "/a/b c%2");
        assert_eq!(local_path("/a/b%20c").unwrap(), "/a/b%20c");
        for uri in ["s3://bucket/key", "https://host/file", "file://host/file"] {
            assert_eq!(local_path(uri).unwrap_err().kind(), lancet_format::ErrorKind::Unsupported, "{uri}");
        }
    }
}

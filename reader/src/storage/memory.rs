//! Files that lie in memory already.

use super::{Bytes, Source, Storage};
use std::{collections::BTreeMap, io, sync::Arc};

/// A map from paths to bytes: for tests, embedded data, and files that arrive over other ways.
#[derive(Debug, Clone, Default)]
pub struct InMemory {
    files: BTreeMap<String, Bytes>,
}

impl InMemory {
    /// A store without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces it. Static bytes are not copied.
    pub fn insert(&mut self, path: impl Into<String>, bytes: impl Into<Bytes>) {
        self.files.insert(path.into(), bytes.into());
    }
}

impl Storage for InMemory {
    fn open(&self, path: &str) -> io::Result<Arc<dyn Source>> {
        match self.files.get(path) {
            Some(bytes) => Ok(Arc::new(bytes.clone())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let prefix = format!("{folder}/");
        let inside = self.files.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix));
        let mut names: Vec<String> = inside
            .map(|(path, _)| path[prefix.len()..].split('/').next().unwrap_or_default().to_owned())
            .collect();
        names.dedup();
        match names.is_empty() {
            true => Err(io::ErrorKind::NotFound.into()),
            false => Ok(names),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_folders_once() {
        let mut store = InMemory::new();
        store.insert("d/_versions/1.manifest", &b"x"[..]);
        store.insert("d/data/a", &b"y"[..]);
        store.insert("d/data/b", &b"z"[..]);
        assert_eq!(store.list("d").unwrap(), ["_versions", "data"]);
        assert_eq!(store.list("d/data").unwrap(), ["a", "b"]);
        assert_eq!(store.list("e").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(&store.read("d/data/a").unwrap()[..], b"y");
    }
}

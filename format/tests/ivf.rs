//! Every vector index of the fixtures, opened and read; and damaged ones.

use lancet_format::{
    Result, Source,
    index::{IndexFiles, IvfIndex, Storage},
};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A folder of this machine, its files read whole.
#[derive(Debug)]
struct Folder(PathBuf);

impl IndexFiles for Folder {
    fn open(&self, name: &str) -> Result<Option<Arc<dyn Source>>> {
        let bytes = fs::read(self.0.join(name)).ok();
        Ok(bytes.map(|bytes| Arc::new(bytes::Bytes::from(bytes)) as Arc<dyn Source>))
    }

    fn names(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

/// The folders below `fixtures/` that hold a vector index, with the name of their dataset.
fn folders(of: &str) -> Vec<(String, PathBuf)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(of);
    let mut found = Vec::new();
    for dataset in fs::read_dir(fixtures).unwrap() {
        let dataset = dataset.unwrap();
        let Ok(indices) = fs::read_dir(dataset.path().join("_indices")) else { continue };
        for folder in indices {
            let folder = folder.unwrap().path();
            if folder.join("index.idx").exists() || folder.join("auxiliary.idx").exists() {
                found.push((dataset.file_name().into_string().unwrap(), folder));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_partition_can_be_read() {
    let mut kinds = BTreeSet::new();
    for (name, folder) in folders("") {
        let index = IvfIndex::open(&Folder(folder)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let kind = index.kind();
        if let Some(stated) = name.strip_prefix("vec-") {
            let stated = stated.replace('-', "_").to_uppercase();
            assert!(stated.starts_with(&kind), "{name}: found {kind}");
        }
        kinds.insert(kind);
        let (mut ids, mut rows) = (BTreeSet::<u64>::new(), 0);
        for partition in 0..index.partitions().len() {
            let found = index.row_ids(partition).unwrap();
            ids.extend(found.primitive::<u64>().unwrap());
            rows += found.len();
            match index.storage() {
                Storage::Rabit { .. } => assert!(index.codes(partition).is_err()),
                _ => assert_eq!(index.codes(partition).unwrap().len(), found.len()),
            }
        }
        assert_eq!((ids.len(), rows as u64), (rows, index.rows()), "{name}");
    }
    assert_eq!(kinds.len(), 7, "{kinds:?}");
}

#[test]
fn damaged_files_are_named() {
    let mut found = 0;
    for (name, folder) in folders("corrupt").into_iter().filter(|(name, _)| name.starts_with("index-ivf")) {
        let error = IvfIndex::open(&Folder(folder)).map(|_| ()).unwrap_err().to_string();
        let file = if name.contains("aux") { "auxiliary.idx" } else { "index.idx" };
        assert!(error.contains(file), "{name}: {error}");
        found += 1;
    }
    assert!(found > 0);
}

//! Every vector index of the fixtures, opened and read; and damaged ones.

use lancet_format::{
    Buffer, Result, Source,
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
        let Ok(bytes) = fs::read(self.0.join(name)) else { return Ok(None) };
        // Aligned as a mapping is.
        let mut words = vec![0u64; bytes.len().div_ceil(8)];
        bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(&bytes);
        let aligned = bytes::Bytes::from_owner(Aligned(words)).slice(..bytes.len());
        Ok(Some(Arc::new(aligned)))
    }

    fn names(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}

struct Aligned(Vec<u64>);

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
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
                storage => {
                    let pieces = index.codes(partition).unwrap();
                    let bytes: usize = pieces.iter().map(Buffer::len).sum();
                    assert_eq!(bytes, found.len() * index.row_bytes());
                    // Vectors and bytes of scalar quantization lie flat in every version of the container.
                    let in_place = !matches!(storage, Storage::Product { .. });
                    assert!(!in_place || pieces.iter().all(Buffer::is_shared), "{name}");
                    assert!(in_place || pieces.len() == 1);
                }
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

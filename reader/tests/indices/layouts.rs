//! Damaged files of indices: every error names the file.

use crate::{datasets, folder, segments};
use lancet::{Dataset, storage::FormatError};
use lancet_format::index::{
    BTreeIndex, BitmapIndex, BloomFilterIndex, BloomHash, IndexFiles, IndexKind, LabelListIndex, NGramIndex,
    ZoneMapIndex,
};

/// Opens an index and reads all that it holds.
fn read(files: &dyn IndexFiles, kind: &IndexKind) -> Result<(), FormatError> {
    let sets = |index: &BitmapIndex| {
        (0..index.num_keys()).try_for_each(|position| index.rows(position).map(drop))?;
        (0..index.num_null_sets()).try_for_each(|set| index.null_rows(set).map(drop))
    };
    match kind {
        IndexKind::BTree(_) => {
            let index = BTreeIndex::open(files)?;
            for page in 0..index.num_pages() {
                index.read_page(page, None)?;
                index.read_ids(index.page_rows(page), None)?;
            }
            Ok(())
        }
        IndexKind::Bitmap => sets(&BitmapIndex::open(files)?),
        IndexKind::LabelList { .. } => sets(LabelListIndex::open(files)?.elements()),
        IndexKind::NGram => {
            let index = NGramIndex::open(files)?;
            index.tokens().iter().try_for_each(|token| index.rows(*token).map(drop))
        }
        IndexKind::ZoneMap(_) => ZoneMapIndex::open(files).map(drop),
        IndexKind::BloomFilter => {
            let hash = BloomHash::of(lancet_format::Scalar::Bytes(b""), &lancet::DataType::Utf8).unwrap();
            BloomFilterIndex::open(files)?.may_hold(hash).map(|zones| assert!(zones.count() < 100))
        }
        _ => Ok(()),
    }
}

#[test]
fn damaged_files_are_named() {
    let mut found = 0;
    for path in datasets("corrupt") {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some((kind, damage)) = name.strip_prefix("index-").and_then(|rest| rest.split_once('-')) else {
            continue;
        };
        let file = match (kind, damage) {
            ("btree", damage) if damage.starts_with("data") => "page_data.lance",
            ("btree", _) => "page_lookup.lance",
            ("bitmap", _) => "bitmap_page_lookup.lance",
            ("zonemap", _) => "zonemap.lance",
            _ => continue,
        };
        let dataset = Dataset::open(&path).unwrap();
        let errors: Vec<FormatError> = segments(&dataset)
            .iter()
            .filter_map(|(entry, kind)| read(&folder(&path, entry), kind).err())
            .collect();
        assert!(!errors.is_empty(), "{name}");
        for error in errors {
            assert!(error.to_string().contains(file), "{name}: {error}");
            println!("{name}: {error}");
            found += 1;
        }
    }
    assert!(found >= 8, "{found}");
}

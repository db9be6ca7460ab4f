//! Verification of stored datasets: of sound ones nothing is told, of damaged ones what is wrong and where.

use lancet::{Dataset, Finding, storage::Mapped, verify_file};
use std::{fs, path::Path};

fn fixtures(folder: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(folder);
    let entries = fs::read_dir(root).expect("the fixtures lie beside the crates");
    let mut paths: Vec<String> =
        entries.map(|entry| entry.unwrap().path().to_str().unwrap().to_owned()).collect();
    paths.retain(|path| path.ends_with(".lance"));
    paths.sort();
    paths
}

/// What opening or verifying a dataset tells.
fn verify(path: &str) -> Vec<String> {
    let tell = |finding: &Finding| finding.to_string();
    match Dataset::open(path) {
        Ok(dataset) => dataset.verify(&mut |_| {}).iter().map(tell).collect(),
        Err(error) => vec![error.to_string()],
    }
}

#[test]
fn nothing_is_wrong_with_sound_datasets() {
    for folder in ["", "bugs"] {
        for path in fixtures(folder) {
            // One of its blobs is a file of the machine that wrote it.
            if !path.ends_with("/types-blob-v22.lance") {
                assert_eq!(verify(&path), [""; 0], "{path}");
            }
        }
    }
}

#[test]
fn a_blob_file_that_is_gone_is_told() {
    let found =
        verify(&fixtures("").into_iter().find(|path| path.ends_with("/types-blob-v22.lance")).unwrap());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("column `external`") && found[0].contains("external blob.bin"), "{found:?}");
}

#[test]
fn damage_is_found() {
    for path in fixtures("corrupt") {
        let found = verify(&path);
        assert!(!found.is_empty(), "{path}");
        assert!(found.iter().all(|finding| finding.contains(&path)), "{found:?} name no file");
    }
}

#[test]
fn sets_of_rows_in_index_files_are_read() {
    let path = fixtures("corrupt").into_iter().find(|path| path.ends_with("/index-bitmap-bad-roaring.lance"));
    let found = Dataset::open(path.unwrap()).unwrap().verify(&mut |_| {});
    assert_eq!(found.len(), 1, "{found:?}");
    let Finding { column, error, .. } = &found[0];
    assert_eq!(column.as_deref(), Some("bitmaps"));
    assert!(error.path().is_some_and(|path| path.ends_with("/bitmap_page_lookup.lance")));
    assert!(error.offset().is_some() && error.to_string().contains("page 0"), "{error}");
    assert!(error.to_string().contains("expected a set of rows in row 0, found: "), "{error}");
}

#[test]
fn files_are_verified_alone() {
    let file = |dataset: &str| {
        let folder = fixtures("corrupt").into_iter().find(|path| path.ends_with(dataset)).unwrap();
        let mut files = fs::read_dir(format!("{folder}/data")).unwrap();
        files.next().unwrap().unwrap().path().to_str().unwrap().to_owned()
    };
    let damaged = file("/data-dictionary-index-out-of-range.lance");
    let mut steps = Vec::new();
    let found = verify_file(&Mapped, &damaged, &mut |progress| steps.push(progress));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].error.path(), Some(&*damaged));
    assert!(
        found[0].column.as_deref() == Some("d") && found[0].to_string().contains("page 0"),
        "{}",
        found[0]
    );
    assert!(steps.last().is_some_and(|last| last.done == last.total && last.done == steps.len() as u64));
    let sound = file("/deletion-missing.lance");
    assert!(verify_file(&Mapped, &sound, &mut |_| {}).is_empty());
    assert_eq!(verify_file(&Mapped, "nothing here", &mut |_| {}).len(), 1);
}

//! Descriptions of damaged files: what is sound is told, and nothing panics.

use lancet::{
    describe::{Content, Description, FileDescription, describe},
    storage::{Bytes, FormatError, Source},
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// The first file in a folder of the fixtures.
fn first(folder: &str) -> (String, Vec<u8>) {
    let entries = fs::read_dir(fixtures().join(folder)).expect("a folder of fixtures");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let bytes = fs::read(&paths[0]).expect("a file");
    (paths[0].to_string_lossy().into_owned(), bytes)
}

fn describe_bytes(name: &str, bytes: Vec<u8>) -> Result<Description, FormatError> {
    let source: Arc<dyn Source> = Arc::new(Bytes::from(bytes));
    describe(name, &source)
}

fn file(name: &str, bytes: &[u8]) -> FileDescription {
    match describe_bytes(name, bytes.to_vec()).expect("a sound footer").content {
        Content::File(file) => *file,
        other => panic!("expected a Lance file, found {other:?}"),
    }
}

/// Shows everything, so that no part of a description is left out.
fn show(description: &Description) -> usize {
    let mut text = format!("{:?}", description.size);
    if let Content::File(file) = &description.content {
        for page in file.columns.iter().flatten().flat_map(|column| &column.pages) {
            text.extend(page.encoding.iter().map(ToString::to_string));
            text.extend(page.buffers.iter().flatten().map(|buffer| buffer.alignment().to_string()));
        }
        text.extend(file.errors().iter().map(ToString::to_string));
    }
    text.len()
}

#[test]
fn a_damaged_page_does_not_hide_the_others() {
    let (name, mut bytes) = first("types-pages-v21.lance/data");
    let sound = file(&name, &bytes);
    assert_eq!(sound.errors(), Vec::<&FormatError>::new());

    let needle = b"lance.encodings21.PageLayout";
    let positions = bytes.windows(needle.len()).enumerate().filter(|(_, window)| window == needle);
    let position = positions.map(|(at, _)| at).nth(2).expect("a page in the third column");
    bytes[position] = b'L';
    bytes[position + needle.len() - 1] = b'x';
    let damaged = file(&name, &bytes);
    let errors = damaged.errors();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].place(), "column 2, page 0");
    assert!(errors[0].message().contains("PageLayoux"), "{}", errors[0]);
    for (sound, damaged) in sound.columns.iter().flatten().zip(damaged.columns.iter().flatten()) {
        assert_eq!(sound.rows, damaged.rows);
        assert_eq!(sound.pages[0].buffers, damaged.pages[0].buffers);
    }
    let kept = damaged.columns.iter().flatten().filter(|column| column.pages[0].encoding.is_ok());
    assert_eq!(kept.count(), damaged.columns.len() - 1);
}

/// Otherwise a small file could have a description without end.
#[test]
fn columns_that_share_their_metadata_are_refused() {
    let (name, mut bytes) = first("types-pages-v21.lance/data");
    let sound = file(&name, &bytes);
    let table = sound.column_table_position as usize;
    let entries = bytes[table..].chunks(16).take(sound.columns.len()).map(<[u8]>::to_vec);
    let largest = entries.max_by_key(|entry| u64::from_le_bytes(entry[8..].try_into().expect("8 bytes")));
    let largest = largest.expect("a column");
    for column in 0..sound.columns.len() {
        bytes[table + 16 * column..][..16].copy_from_slice(&largest);
    }
    let damaged = file(&name, &bytes);
    assert_eq!(damaged.columns.iter().flatten().count(), 1);
    assert!(damaged.errors()[0].to_string().contains("do not overlap"), "{:?}", damaged.errors());
}

#[test]
fn damage_anywhere_is_told_and_never_panics() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for folder in [
        "types-pages-v20.lance/data",
        "types-pages-v21.lance/data",
        "types-pages-v22.lance/data",
        "events-stable.lance/_versions",
        "events-stable.lance/_deletions",
        "events.lance/_deletions",
        "events.lance/_transactions",
        "evolved.lance/_refs/tags",
        "evolved-branch.lance/_refs/branches",
    ] {
        let (name, bytes) = first(folder);
        assert!(show(&describe_bytes(&name, bytes.clone()).expect("a sound file")) > 0);
        // The metadata lies at the end.
        let start = bytes.len().saturating_sub(6000);
        for _ in 0..400 {
            let mut damaged = bytes.clone();
            for _ in 0..=random(3) {
                let at = start + random(damaged.len() - start);
                damaged[at] = random(256) as u8;
            }
            if random(8) == 0 {
                damaged.truncate(start + random(bytes.len() - start));
            }
            if let Ok(description) = describe_bytes(&name, damaged) {
                show(&description);
            }
        }
    }
}

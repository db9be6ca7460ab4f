//! Filters through indices that name rows by addresses from before a compaction.

use crate::{planner::rows, reuse};
use lancet::{
    Dataset, IndexUse, Reading,
    storage::{Bytes, InMemory},
    table::{FragmentReuse, FragmentReuseDetails, Treemap},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

const NUMBERS: [&str; 7] = [
    "v = 3",
    "v != 3",
    "v IS NULL",
    "v IS NOT NULL",
    "v >= 10 AND v < 21",
    "v IN (1, 14, 29)",
    "NOT (v < 16) OR v = 2",
];
const TEXTS: [&str; 4] =
    ["contains(v, 'word3')", "contains(v, 'rd2 1')", "v LIKE 'word4%'", "contains(v, 'word3') OR id < 9"];

fn bug(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/bugs").join(format!("{name}.lance"))
}

#[test]
fn indices_that_were_not_told_are_used() {
    use Reading::{Exact, Recheck, Scan};
    let deferred = |kind: &str| format!("deferred-remap-{kind}");
    let again = |kind: &str| format!("deferred-remap-compacted-{kind}");
    // For each fragment how it is read for the first filter. The second compaction took two of three fragments.
    for (name, filters, readings) in [
        (deferred("btree"), &NUMBERS[..], &[Exact, Exact][..]),
        (deferred("bitmap"), &NUMBERS, &[Exact, Exact]),
        (deferred("zonemap"), &NUMBERS, &[Recheck, Recheck]),
        (deferred("bloomfilter"), &NUMBERS, &[Recheck, Recheck]),
        (again("btree"), &NUMBERS, &[Exact, Scan, Scan]),
        (again("bitmap"), &NUMBERS, &[Exact, Exact, Exact]),
        (again("ngram"), &TEXTS, &[Recheck, Scan, Scan]),
    ] {
        let dataset = Dataset::open(bug(&name)).unwrap();
        assert!(reuse(&dataset).is_some(), "{name}");
        let plan = dataset.scan().indices(IndexUse::Always).filter(filters[0]).unwrap().explain().unwrap();
        let found: Vec<Reading> = plan.fragments.iter().map(|fragment| fragment.reading).collect();
        assert_eq!(found, readings, "{name}");
        for &filter in filters {
            let expected = rows(&dataset, filter, IndexUse::Never);
            assert!(!expected.is_empty(), "{name}: {filter}");
            assert_eq!(rows(&dataset, filter, IndexUse::Always), expected, "{name}: {filter}");
            let scan = dataset.scan().indices(IndexUse::Always).filter(filter).unwrap();
            assert_eq!(scan.count().unwrap(), expected.len() as u64, "{name}: {filter}");
        }
    }
}

/// A dataset in memory, and where in its newest manifest the list of compactions lies.
struct InMemoryBug {
    files: InMemory,
    root: String,
    manifest: (String, Vec<u8>),
    details: std::ops::Range<usize>,
}

impl InMemoryBug {
    fn new(name: &str) -> Self {
        fn add(files: &mut InMemory, folder: &Path) {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                match path.is_dir() {
                    true => add(files, &path),
                    false => files.insert(path.to_str().unwrap(), fs::read(&path).unwrap()),
                }
            }
        }
        let path = bug(name);
        let mut files = InMemory::new();
        add(&mut files, &path);
        let dataset = Dataset::open(&path).unwrap();
        let entries = dataset.manifest().indices().unwrap();
        let entry = entries.iter().find(|entry| entry.is_system()).unwrap();
        let value = entry.details.as_ref().unwrap().value.clone();
        let names = fs::read_dir(path.join("_versions")).unwrap().map(|entry| entry.unwrap().path());
        let newest =
            names.filter(|path| path.extension().is_some_and(|end| end == "manifest")).min().unwrap();
        let manifest = (newest.to_str().unwrap().to_owned(), fs::read(&newest).unwrap());
        let start = manifest.1.windows(value.len()).position(|window| window == value).unwrap();
        let root = path.to_str().unwrap().to_owned();
        InMemoryBug { files, root, manifest, details: start..start + value.len() }
    }

    fn with(&self, manifest: Vec<u8>) -> InMemory {
        let mut files = self.files.clone();
        files.insert(self.manifest.0.as_str(), Bytes::from(manifest));
        files
    }
}

fn kept(reuse: &FragmentReuse) -> Vec<Treemap> {
    let groups = reuse.versions().iter().flat_map(|version| &version.groups);
    groups.map(|group| group.kept.clone()).collect()
}

/// Every byte of the list is changed. Which rows were kept is not written twice, but all else is an error, or a scan.
#[test]
fn damage_to_the_list_changes_no_answer() {
    let (mut refused, mut answered) = (0, 0);
    for name in ["deferred-remap-bitmap", "deferred-remap-compacted-btree"] {
        let bug = InMemoryBug::new(name);
        let sound = Dataset::open(&bug.root).unwrap();
        let filters = &NUMBERS[..3];
        let expected: Vec<_> = filters.iter().map(|filter| rows(&sound, filter, IndexUse::Never)).collect();
        let sound_kept = kept(&reuse(&sound).unwrap());
        for at in bug.details.clone() {
            for change in [1u8, 0x80, 0xff] {
                let mut bytes = bug.manifest.1.clone();
                bytes[at] ^= change;
                let opened = Dataset::options().storage(bug.with(bytes)).open(&bug.root);
                let Ok(dataset) = opened else { continue };
                let what = || format!("{name}: byte {} ^ {change}", at - bug.details.start);
                let entries = dataset.manifest().indices().unwrap();
                let is_same = entries.iter().any(|entry| match FragmentReuseDetails::of(entry) {
                    Ok(Some(FragmentReuseDetails::Inline(reuse))) => kept(&reuse) == sound_kept,
                    _ => false,
                });
                for (&filter, expected) in filters.iter().zip(&expected) {
                    let scan = dataset.scan().indices(IndexUse::Always).filter(filter).unwrap();
                    match scan.columns(["_rowaddr"]).unwrap().collect() {
                        Ok(batch) => {
                            let found = batch.columns()[0].primitive::<u64>().unwrap();
                            assert!(!is_same || found == expected, "{}: {filter}", what());
                            answered += 1;
                        }
                        Err(_) => refused += 1,
                    }
                    assert_eq!(&rows(&dataset, filter, IndexUse::Never), expected, "{}", what());
                }
            }
        }
    }
    assert!(refused > 1000 && answered > 100, "{refused} refused, {answered} answered");
}

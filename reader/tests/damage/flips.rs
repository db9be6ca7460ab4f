//! Small files with every byte changed in five ways, and cut short at every boundary.
//!
//! Of Lance files, these are the bytes of the footer, the tables, the metadata of columns, the global buffers and all
//! buffers of pages: chunk words, levels, offsets, values. Of other files they are all bytes.
//!
//! Without `LANCET_DAMAGE_FLIPS` the smallest files are taken that between them have every encoding that a file of
//! at most [`SMALL`] bytes has, and one file of each other kind; with it, every file of at most so many bytes.

use crate::{harness, library, random::Random, targets};
use lancet::{
    storage::{Bytes, InMemory},
    verify_file,
};
use lancet_format::{File, describe::file as describe};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    env, fs,
    ops::Range,
    path::Path,
    sync::Arc,
};

const SMALL: usize = 1300;

/// What a byte becomes.
const WAYS: [fn(u8, &mut Random) -> u8; 5] = [
    |_, _| 0,
    |_, _| 0xff,
    |byte, _| byte.wrapping_add(1),
    |byte, _| byte.wrapping_sub(1),
    |byte, random| byte ^ 1 << random.below(8),
];

/// A file, and what is done to it.
struct Subject {
    path: String,
    bytes: Vec<u8>,
    /// The kind of file, which is also the name of the target that reads it.
    target: &'static str,
    /// Which bytes are changed.
    places: Vec<usize>,
    /// To which lengths it is cut.
    cuts: Vec<usize>,
}

impl Subject {
    /// `None` for files that are read as they are: those of blobs.
    fn new(path: String, bytes: Vec<u8>) -> Option<Self> {
        let target = match Path::new(&path).extension()?.to_str()? {
            "lance" | "idx" => "file",
            "manifest" => "manifest",
            "txn" => "transaction",
            "arrow" => "deletion_arrow",
            "bin" => "deletion_bitmap",
            "binpb" => "fragment_reuse",
            "json" => "json",
            _ => return None,
        };
        let len = bytes.len();
        let parts = match target {
            "file" => library::parts_of(&Bytes::copy_from_slice(&bytes)),
            _ => None,
        };
        let (places, cuts) = match parts {
            Some(parts) => structure(&parts, len),
            None => ((0..len).collect(), (0..len).collect()),
        };
        Some(Subject { path, bytes, target, places, cuts })
    }

    fn cases(&self) -> usize {
        self.places.len() * WAYS.len() + self.cuts.len()
    }

    /// The file of case `case`, and what was done to it; `None` if that is nothing.
    fn damaged(&self, case: usize) -> Option<(Vec<u8>, &'static str, String)> {
        let mut bytes = self.bytes.clone();
        let Some(&at) = self.places.get(case / WAYS.len()) else {
            let len = self.cuts[case - self.places.len() * WAYS.len()];
            bytes.truncate(len);
            return Some((bytes, "cuts", format!("cut to {len} bytes")));
        };
        let is = WAYS[case % WAYS.len()](bytes[at], &mut Random(case as u64));
        let what = format!("byte {at}: {is} for {}", bytes[at]);
        let changed = bytes[at] != is;
        bytes[at] = is;
        changed.then_some((bytes, "changes", what))
    }

    /// Reads the file with these `bytes`.
    fn read(&self, bytes: &[u8]) {
        match self.target {
            // The number of rows of the fragment comes first.
            "deletion_arrow" | "deletion_bitmap" => {
                targets::run(self.target, &[&(1u32 << 16).to_le_bytes(), bytes].concat());
            }
            target => targets::run(target, bytes),
        }
        if self.path.contains("/_indices/") {
            let mut storage = InMemory::new();
            storage.insert(self.path.as_str(), Bytes::copy_from_slice(bytes));
            let findings = verify_file(&storage, &self.path, &mut |_| {});
            assert!(findings.iter().all(|finding| finding.error.path() == Some(&*self.path)));
        }
    }
}

/// The bytes of these parts, and where they begin and end.
fn structure(parts: &[Range<u64>], len: usize) -> (Vec<usize>, Vec<usize>) {
    let (mut places, mut cuts) = (BTreeSet::new(), BTreeSet::new());
    for (start, end) in parts.iter().map(|part| (part.start as usize, part.end as usize)) {
        places.extend(start..end);
        cuts.extend([start.saturating_sub(1), start, start + 1, end.saturating_sub(1), end]);
    }
    (places.into_iter().collect(), cuts.into_iter().filter(|cut| *cut < len).collect())
}

/// The words of the encodings in a file, with its version and kind.
fn features(subject: &Subject) -> BTreeSet<String> {
    let mut features = BTreeSet::from([subject.target.to_owned()]);
    let file = File::open(Arc::new(Bytes::copy_from_slice(&subject.bytes)));
    let Some(file) = file.ok().filter(|_| subject.target == "file") else { return features };
    let file = describe(file.container());
    for page in file.columns.iter().flatten().flat_map(|column| &column.pages) {
        let layers = page.layers.iter().map(|layer| format!("{layer:?}"));
        let encoding = page.encoding.as_ref().map(ToString::to_string).unwrap_or_default();
        let words = encoding.split(|c: char| !c.is_alphabetic() && c != '-').map(String::from);
        features.extend(layers.chain(words).map(|word| format!("{:?} {word}", file.version)));
    }
    features
}

/// All files below the fixtures of at most `limit` bytes, each content once, smallest first.
fn files(limit: usize) -> Vec<Subject> {
    let mut subjects = Vec::new();
    let mut folders = vec![library::fixtures()];
    let mut seen = HashSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let path = entry.path();
            let meta = entry.metadata().expect("what it is");
            if meta.is_dir() {
                folders.push(path);
            } else if meta.len() <= limit as u64 && path.to_string_lossy().contains(".lance/") {
                let bytes = fs::read(&path).expect("a file");
                let path = path.to_str().expect("Unicode").to_owned();
                if seen.insert(bytes.clone()) {
                    subjects.extend(Subject::new(path, bytes));
                }
            }
        }
    }
    subjects.sort_by(|a, b| (a.bytes.len(), &a.bytes).cmp(&(b.bytes.len(), &b.bytes)));
    subjects
}

#[test]
fn no_changed_byte_does_harm() {
    let limit = env::var("LANCET_DAMAGE_FLIPS").ok().map(|limit| limit.parse().expect("a number of bytes"));
    let mut subjects = files(limit.unwrap_or(SMALL));
    if limit.is_none() {
        let mut seen = BTreeSet::new();
        subjects.retain(|subject| {
            let before = seen.len();
            seen.extend(features(subject));
            seen.len() > before
        });
    }
    let mut starts = vec![0];
    for subject in &subjects {
        starts.push(starts[starts.len() - 1] + subject.cases() as u64);
    }
    let report = harness::for_each(0, starts[subjects.len()], |case, report| {
        let index = starts.partition_point(|start| *start <= case) - 1;
        let subject = &subjects[index];
        let Some((bytes, kind, what)) = subject.damaged((case - starts[index]) as usize) else { return };
        match harness::run(case, || subject.read(&bytes)) {
            Ok(run) => report.add(kind, &run, run.taken.peak as f64 / bytes.len().max(1) as f64),
            Err(failure) => report.failures.push(format!("{}, {what}: {failure}", subject.path)),
        }
    });
    let mut kinds = BTreeMap::new();
    subjects.iter().for_each(|subject| *kinds.entry(subject.target).or_insert(0) += 1);
    println!(
        "{:?} of {} files {kinds:?}: {} failures; slowest {:?}",
        report.counts,
        subjects.len(),
        report.failures.len(),
        report.slowest
    );
    assert!(report.failures.is_empty(), "{} cases fail, see above", report.failures.len());
    assert!(kinds.len() >= 5, "there are files of {kinds:?} only");
}

//! `lancet inspect` over the fixtures.
//!
//! What it says of one small file of each kind lies in `tests/inspect/`; after a change that is meant,
//! `LANCET_BLESS=1 cargo test -p lancet-cli --test inspect` writes it anew. Every other file, the damaged ones
//! included, must have an answer or a clean error.

use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

/// A file in `fixtures/` and the name of what is said of it.
type Golden = (&'static str, &'static str);

/// One file of each kind.
const WHOLE: [Golden; 16] = [
    ("data-2.0", "types-pages-v20.lance/data/111001001011010001000010d3c7da435ab0a45232fa3b5faf.lance"),
    ("data-2.1", "types-pages-v21.lance/data/111011011011110101100010f4379f43ccb0cb7f8e4a4fc741.lance"),
    ("data-2.2", "types-pages-v22.lance/data/11011010111001111010000114fd0349c8ae131c87c118d398.lance"),
    ("index", "vec-ivf-pq-l2.lance/_indices/6d4b6200-611f-4576-a376-eefb36d51fe4/index.idx"),
    ("auxiliary", "vec-ivf-pq-l2.lance/_indices/6d4b6200-611f-4576-a376-eefb36d51fe4/auxiliary.idx"),
    ("hnsw-index", "vec-ivf-hnsw-sq-l2.lance/_indices/2a0c723a-78da-4151-930b-931bea12a1b4/index.idx"),
    (
        "page-lookup",
        "bugs/not-is-false-btree.lance/_indices/3d38a9f5-09cf-4f23-b32f-a1c7e241111c/page_lookup.lance",
    ),
    (
        "bitmap-page-lookup",
        "bugs/stable-stale-segment.lance/_indices/b4ad93fc-33ae-4985-bf6c-74c03dcd92df/bitmap_page_lookup.lance",
    ),
    ("manifest", "evolved.lance/_versions/18446744073709551600.manifest"),
    ("manifest-stable-row-ids", "events-stable.lance/_versions/18446744073709551591.manifest"),
    ("manifest-branch", "evolved-branch.lance/tree/exp/_versions/18446744073709551613.manifest"),
    ("deletions-arrow", "events-compacted.lance/_deletions/3-16-1023150790658646642.arrow"),
    ("deletions-bitmap", "events.lance/_deletions/0-17-4750633712324463016.bin"),
    ("transaction", "events-tiny.lance/_transactions/1-390917e6-4a05-43b7-a227-83339e749310.txn"),
    ("tag", "evolved.lance/_refs/tags/rel-1.json"),
    ("branch", "evolved-branch.lance/_refs/branches/exp.json"),
];

/// Files with many encodings, of which only these are kept.
const ENCODINGS: [Golden; 3] = [
    ("types-2.0", "types-v20.lance/data/000000111100000101100110394e974693a4b8c506f015b41c.lance"),
    ("types-2.1", "types-v21.lance/data/1010110101101110101000017f41b84879a99cde441f9397c5.lance"),
    ("types-2.2", "types-v22.lance/data/0000111000011111001110100f882a4b1d92e2085fe71c33b8.lance"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the workspace")
}

/// Runs the command in the root of the workspace, so that paths in answers are the same everywhere.
fn inspect(file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lancet"));
    command.current_dir(root()).arg("inspect").arg(file).args(["-o", "jsonl"]);
    command.output().expect("the command starts")
}

/// The facts that the command tells of a file in `fixtures/`.
fn facts(file: &str) -> Map<String, Value> {
    let output = inspect(&Path::new("fixtures").join(file));
    assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("an object of facts")
}

/// Compares `found` with the stored output, or stores it.
fn check(name: &str, found: &str) {
    let path = root().join(format!("cli/tests/inspect/{name}.txt"));
    if std::env::var_os("LANCET_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for the outputs");
        fs::write(&path, found).expect("the output is written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == found,
        "{}: not as expected; if it is meant, run again with LANCET_BLESS=1\n{found}",
        path.display()
    );
}

#[test]
fn one_file_of_each_kind() {
    for (name, file) in WHOLE {
        // One fact a line, and one record of a list, so that a difference shows where it is.
        let mut text = String::new();
        for (name, fact) in &facts(file) {
            match fact.as_array().filter(|facts| facts.iter().any(Value::is_object)) {
                Some(facts) => {
                    text.push_str(&format!("{name}:\n"));
                    facts.iter().for_each(|fact| text.push_str(&format!("  {fact}\n")));
                }
                None => text.push_str(&format!("{name}: {fact}\n")),
            }
        }
        check(name, &text);
    }
}

#[test]
fn encodings_of_all_types() {
    for (name, file) in ENCODINGS {
        let facts = facts(file);
        let records = |name: &str| facts[name].as_array().expect("a list").clone();
        let columns = records("columns");
        let mut text = String::new();
        for page in records("pages") {
            let column = &columns[page["column"].as_u64().expect("a number") as usize];
            let word = |value: &Value| value.as_str().expect("a text").to_owned();
            let layers: Vec<String> = page["layers"].as_array().expect("a list").iter().map(word).collect();
            let (field, encoding) = (word(&column["field"]), word(&page["encoding"]));
            text.push_str(&format!("{field}: {encoding} {}\n", layers.join(" ")));
        }
        check(name, &text);
    }
}

#[test]
fn every_file_has_an_answer_or_a_clean_error() {
    let mut files = Vec::new();
    collect(&root().join("fixtures"), &mut files);
    assert!(files.len() > 1000, "expected all fixtures, found {} files", files.len());
    let (first, second) = files.split_at(files.len() / 2);
    let unclean: Vec<String> = thread::scope(|scope| {
        let halves = [first, second].map(|files| scope.spawn(move || unclean_among(files)));
        halves.into_iter().flat_map(|half| half.join().expect("the thread ends")).collect()
    });
    assert!(unclean.is_empty(), "{}", unclean.join("\n"));
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of fixtures") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

/// Complaints about files on which the command neither answers nor fails as the contract says.
fn unclean_among(files: &[PathBuf]) -> Vec<String> {
    let mut unclean = Vec::new();
    for file in files {
        let output = inspect(file);
        let errors = String::from_utf8_lossy(&output.stderr);
        let clean = match output.status.code() {
            Some(0) => errors.is_empty() && output.stdout.ends_with(b"}\n"),
            Some(1) => {
                output.stdout.is_empty() && errors.starts_with("error: ") && errors.lines().count() == 1
            }
            _ => false,
        };
        // A sound dataset has no file that cannot be described.
        let damaged = file.components().any(|part| part.as_os_str() == "corrupt");
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let known = ["lance", "idx", "manifest", "arrow", "bin", "txn"].contains(&ending);
        if !clean || (known && !damaged && !output.status.success()) {
            unclean.push(format!("{}: {}, {errors}", file.display(), output.status));
        }
    }
    unclean
}

//! `query --nearest --explain` and `index stats` over the fixtures.

use serde_json::Value;
use std::{path::Path, process::Command};

/// What the command answers, as JSON.
fn ask(arguments: &[&str]) -> Value {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lancet"));
    let output = command.current_dir(fixtures).args(arguments).args(["-o", "jsonl"]).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn explain(dataset: &str, arguments: &[&str]) -> Value {
    let vector = "[0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1]";
    let query = ["query", dataset, "--nearest", "vec", "--vector", vector, "--explain"];
    ask(&[&query[..], arguments].concat())
}

#[test]
fn the_path_and_why() {
    let pq = "vec-ivf-pq-l2.lance";
    let both = explain(pq, &["--filter", "num < 300"]);
    let nearest = &both["nearest"];
    assert_eq!(nearest["path"], "both");
    assert_eq!(nearest["reason"], "the index does not cover 1 of the fragments");
    let index = &nearest["index"];
    assert_eq!((&index["name"], &index["type"]), (&"vec_idx".into(), &"IVF_PQ".into()));
    assert_eq!((&index["partitions"], &index["min_probes"]), (&8.into(), &20.into()));
    assert_eq!((&index["max_probes"], &index["reranks"]), (&Value::Null, &true.into()));
    assert_eq!(nearest["exact_fragments"].as_array().unwrap().len(), 1);
    let (rows, exact) = (nearest["rows"].as_u64().unwrap(), nearest["exact_rows"].as_u64().unwrap());
    assert!(rows > exact && exact > 0);
    let count = ask(&["count", pq, "--filter", "num < 300"]);
    assert_eq!(count.as_u64(), Some(rows));
    assert_eq!(both["filter"], "num < 300");
    assert!(!both["fragments"].as_array().unwrap().is_empty());

    let only = &explain(pq, &["--indexed-only", "--nprobes", "3", "--refine", "4", "-k", "7"])["nearest"];
    assert_eq!((&only["path"], &only["exact_rows"]), (&"index".into(), &0.into()));
    assert_eq!((&only["index"]["candidates"], &only["index"]["max_probes"]), (&28.into(), &3.into()));
    assert_eq!(only["mask"], "deletions");

    let exact = &explain(pq, &["--no-index", "--filter", "num < 300"])["nearest"];
    assert_eq!((&exact["path"], &exact["index"]), (&"exact".into(), &Value::Null));
    assert_eq!((&exact["reason"], &exact["mask"]), (&"no index may be used".into(), &"scan".into()));
    assert_eq!(exact["rows"].as_u64(), Some(rows));

    let other = &explain(pq, &["--metric", "dot"])["nearest"];
    assert_eq!(other["reason"], "the index compares by l2, the search by dot");
    let after = explain(pq, &["--filter", "num < 300", "--postfilter"]);
    assert_eq!(
        (&after["nearest"]["postfilter"], &after["fragments"]),
        (&true.into(), &Value::Array(Vec::new()))
    );
}

#[test]
fn figures_of_indices() {
    let words = ask(&["index", "stats", "words.lance", "vector_idx"]);
    assert_eq!((&words["name"], &words["type"]), (&"vector_idx".into(), &"IVF_PQ".into()));
    let segment = &words["segments"][0];
    for (name, value) in [
        ("metric", "cosine".into()),
        ("dimension", 50.into()),
        ("quantizer", "pq".into()),
        ("bits", 8.into()),
        ("sub_vectors", 25.into()),
        ("rows", 20000.into()),
        ("partitions", 64.into()),
        ("empty", 0.into()),
        ("length_min", 161.into()),
        ("length_p50", 293.into()),
        ("length_p95", 475.into()),
        ("length_max", 667.into()),
        ("loss", Value::from(11143.857482656837)),
    ] {
        assert_eq!(segment[name], value, "{name}");
    }
    let letters = &ask(&["index", "stats", "words.lance", "word_idx"])["segments"][0];
    assert_eq!((&letters["min"], &letters["max"]), (&"!".into(), &"€".into()));
    assert_eq!((&letters["pages"], &letters["values"]), (&5.into(), &20000.into()));
}

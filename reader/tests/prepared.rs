//! Scans that are planned once and run many times.

mod common;

use common::fixture;
use lancet::{Batch, Dataset, IndexUse, expr::Expr};

fn ids(batch: &Batch) -> Vec<u64> {
    let last = batch.columns().last().expect("a column");
    last.primitive::<u64>().expect("row ids").to_vec()
}

/// The row ids for a filter with its values written out, without indices.
fn scanned(dataset: &Dataset, filter: &str) -> Vec<u64> {
    let scan = dataset.scan().indices(IndexUse::Never).filter(filter).unwrap();
    ids(&scan.columns(["_rowid"]).unwrap().collect().unwrap())
}

#[test]
fn other_values_give_other_rows() {
    let dataset = Dataset::open(fixture("events")).unwrap();
    let mut asked = 0;
    for (filter, written) in [
        ("id = ?", "id = {}"),
        ("id IN (?, 5, $2)", "id IN ({}, 5, {})"),
        ("id BETWEEN ? AND ?", "id BETWEEN {} AND {}"),
        ("id < $1 OR id >= $2", "id < {} OR id >= {}"),
        ("NOT (id = $1) AND id < 50", "NOT (id = {}) AND id < 50"),
        ("id + 0 = ?", "id + 0 = {}"),
        ("score > ?", "score > {}"),
    ] {
        let scan = dataset.scan().filter(filter).unwrap().columns(["id", "_rowid"]).unwrap();
        let mut prepared = scan.prepare().unwrap();
        let mut batch = Batch::new();
        for (low, high) in [(7, 40), (0, 0), (-5, 7), (999, 100_000)] {
            prepared.bind(0, low).unwrap();
            let two = written.matches("{}").count() == 2;
            if two {
                prepared.bind(1, high).unwrap();
            }
            prepared.run_into(&mut batch).unwrap();
            let text = written.replacen("{}", &low.to_string(), 1).replacen("{}", &high.to_string(), 1);
            let expected = scanned(&dataset, &text);
            assert_eq!(ids(&batch), expected, "{text}");
            assert_eq!(prepared.count().unwrap(), expected.len() as u64, "{text}");
            asked += expected.len();
        }
    }
    assert!(asked > 100);
}

#[test]
fn values_must_fit() {
    let dataset = Dataset::open(fixture("words")).unwrap();
    let mut prepared = dataset.scan().filter("word = ? AND rank < ?").unwrap().prepare().unwrap();
    let message = prepared.run().unwrap_err().to_string();
    assert!(message.contains("parameter $1 of the filter has no value"), "{message}");
    assert!(prepared.bind(0, 5).is_err() && prepared.bind(0, "king").is_ok());
    assert!(prepared.bind(1, "5").is_err() && prepared.bind(1, Expr::parse("NULL").unwrap()).is_err());
    assert!(prepared.bind(2, 5).is_err());
    assert_eq!(prepared.bind(1, 100_000).unwrap().run().unwrap().len(), 1);
    // Another thread's values are its own.
    let mut other = prepared.clone();
    other.bind(0, "queen").unwrap();
    assert_eq!(prepared.run().unwrap().columns()[0].str(0), Some("king"));
    assert_eq!(other.run().unwrap().columns()[0].str(0), Some("queen"));
}

#[test]
fn parameters_stand_beside_columns() {
    let dataset = Dataset::open(fixture("words")).unwrap();
    for (filter, message) in [
        ("? = 1", "a parameter stands for a literal"),
        ("rank = ? + 1", "a parameter stands for a literal"),
        ("word = $1 AND rank = $1", "parameter $1 is used as"),
        ("rank = $0", "expected a parameter as `?`"),
        ("rank = $x", "expected"),
    ] {
        let error = dataset.scan().filter(filter).unwrap_err().to_string();
        assert!(error.contains(message), "{filter}: {error}");
    }
    // A scan by itself has no values for them.
    let scan = dataset.scan().filter("rank = ?").unwrap();
    assert!(scan.clone().count().is_err() && scan.clone().explain().is_err());
    assert!(scan.collect().is_err());
}

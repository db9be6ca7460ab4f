//! How fast lancet scans single columns: `lancet-decode-bench DIR [--serve] [VERSION/KIND…]`.
//!
//! DIR is what `benches/peers/columns.py` made. An operation is `VERSION/KIND`: a scan of that dataset, batch by batch
//! of 8,192 rows, without looking at the values. `VERSION/KIND@ROWS` takes batches of so many rows.

use lancet::Dataset;
use lancet_benches::{latency, run, time_rounds};
use std::{hint::black_box, path::Path, process::ExitCode};

const BATCH: usize = 8192;
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, operations @ ..] = arguments.as_slice() else {
        eprintln!("usage: lancet-decode-bench DIR [--serve] [VERSION/KIND…]");
        return ExitCode::from(2);
    };
    let names: Vec<&str> = operations.iter().map(String::as_str).filter(|name| *name != "--serve").collect();
    run(&names, names.is_empty(), |name| measure(Path::new(folder), name));
    ExitCode::SUCCESS
}

fn measure(folder: &Path, operation: &str) -> Option<String> {
    let (name, batch) = match operation.split_once('@') {
        Some((name, rows)) => (name, rows.parse().ok()?),
        None => (operation, BATCH),
    };
    let dataset = Dataset::open(folder.join(format!("{name}.lance"))).ok()?;
    let scan = || {
        for batch in dataset.scan().batch_size(batch).batches().expect("the scan starts") {
            black_box(batch.expect("the batch can be read"));
        }
    };
    Some(latency(time_rounds(ROUNDS, scan)))
}

//! Filtered scans of lancet. An operation is `COLUMNS where FILTER`, or `count where FILTER`; with `--threads` more
//! than one works on it. `benches/peers/filters.py` has the filters that are worth a look.

use lancet::Dataset;
use lancet_benches::{latency, run, time_rounds};
use std::{hint::black_box, process::ExitCode};

/// Measured where nobody asks for anything else.
const OPERATIONS: [&str; 2] = ["count where id < 70003", "id where text LIKE 'item 0001%'"];

const ROUNDS: usize = 15;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dataset, options @ ..] = arguments.as_slice() else {
        eprintln!("usage: lancet-filter-bench DATASET [--threads N] [--serve]");
        return ExitCode::from(2);
    };
    let threads = options.iter().skip_while(|option| *option != "--threads").nth(1);
    let threads: usize = threads.map_or(1, |threads| threads.parse().expect("a number of threads"));
    let dataset = Dataset::open(dataset).unwrap_or_else(|error| panic!("{error}"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("the threads start");
    let serve = options.iter().any(|option| option == "--serve");
    let measure = |name: &str| {
        let (columns, filter) = name.split_once(" where ")?;
        let work = || time_rounds(ROUNDS, || once(&dataset, columns, filter, threads > 1));
        Some(latency(if threads > 1 { pool.install(work) } else { work() }))
    };
    run(&OPERATIONS, serve, measure);
    ExitCode::SUCCESS
}

/// Counts the rows that the filter leaves, or reads all of them, batch by batch.
fn once(dataset: &Dataset, columns: &str, filter: &str, parallel: bool) {
    let scan = dataset.scan().filter(filter).expect("a filter").parallel(parallel);
    if columns == "count" {
        black_box(scan.count().expect("the rows can be counted"));
        return;
    }
    let scan = scan.columns(columns.split(',')).expect("the columns are there");
    for batch in scan.batches().expect("the scan starts") {
        black_box(batch.expect("the batch can be read"));
    }
}

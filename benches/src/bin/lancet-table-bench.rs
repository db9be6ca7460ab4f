//! Opening tables that are large in other ways than rows, made by `benches/peers/tables.py`: many versions,
//! many fragments, many row ids.
//!
//! usage: lancet-table-bench DIR

use lancet::{Dataset, Rows};
use lancet_benches::{median, time_rounds};
use std::{
    hint::black_box,
    process::ExitCode,
    time::{Duration, Instant},
};

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: lancet-table-bench DIR");
        return ExitCode::from(2);
    };
    let path = |name: &str| format!("{folder}/{name}.lance");
    let open = |name: &str| Dataset::open(path(name)).unwrap_or_else(|error| panic!("{error}"));
    let opening = |name: &str| median(&mut time_rounds(20, || drop(black_box(open(name)))));
    let show = |what: &str, time: Duration| println!("{what:<48} {:>10.1} µs", time.as_secs_f64() * 1e6);

    show("open, 10,000 versions", opening("versions"));
    let dataset = open("versions");
    show(
        "refresh, nothing new, 10,000 versions",
        median(&mut time_rounds(100, || {
            black_box(dataset.refresh().expect("the folder can be listed"));
        })),
    );
    show("open, 2,000 fragments", opening("fragments"));

    let ids = row_ids(&open("row-ids"));
    let projection = open("row-ids").projection(["id"]).expect("the column is there");
    let mut next = ids.iter().cycle();
    let mut take = |dataset: &Dataset| {
        let id = *next.next().expect("the ids go round");
        black_box(dataset.take(Rows::Ids(&[id]), &projection).expect("the id is there"));
    };
    show("open, 2,000 fragments with stable row ids", opening("row-ids"));
    show("open and first lookup by row id", median(&mut time_rounds(20, || take(&open("row-ids")))));
    let dataset = open("row-ids");
    let start = Instant::now();
    ids.iter().for_each(|_| take(&dataset));
    show("lookup by row id, first round over fragments", start.elapsed() / ids.len() as u32);
    show("lookup by row id, later", median(&mut time_rounds(1000, || take(&dataset))));
    ExitCode::SUCCESS
}

/// Ids from all over the table, in no order.
fn row_ids(dataset: &Dataset) -> Vec<u64> {
    let count = dataset.count_rows().expect("the manifest says it");
    let offsets: Vec<u64> = (0..2000).map(|i| i * 7_368_787 % count).collect();
    let projection = dataset.projection(["_rowid"]).expect("every dataset has it");
    let batch = dataset.take(Rows::Offsets(&offsets), &projection).expect("the rows are there");
    batch.columns()[0].primitive::<u64>().expect("row ids are numbers").to_vec()
}

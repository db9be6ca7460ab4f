//! Hot loops allocate for each batch, never for each row.

#[path = "common/allocations.rs"]
mod allocations;
mod common;

use allocations::{Taken, measure};
use common::fixture;
use lancet::{Batch, DataType, Dataset, Rows};

/// Allocations of a warm scan of these columns in batches of `size` rows: in all, and the batches.
fn scan(dataset: &Dataset, columns: &[&str], size: usize) -> (usize, usize) {
    let run = || {
        let scan = dataset.scan().columns(columns).unwrap().batch_size(size);
        scan.batches().unwrap().map(|batch| batch.unwrap().len()).filter(|len| *len > 0).count()
    };
    run();
    let (batches, taken) = measure([size as u64, 0, 0], run);
    (taken.number, batches)
}

#[test]
fn scans_allocate_for_each_batch() {
    for (name, columns) in [
        ("words", &["word", "vector", "initial"][..]),
        ("events", &["id", "status", "score", "tags", "loc", "_rowid"]),
    ] {
        let dataset = Dataset::open(fixture(name)).unwrap();
        let (few, few_batches) = scan(&dataset, columns, 8192);
        let (many, many_batches) = scan(&dataset, columns, 256);
        let (per_large, per_small) = (few / few_batches, many / many_batches);
        println!("{name}: {per_large} allocations a batch of 8192 rows, {per_small} a batch of 256");
        // Text grows to its size step by step: some more for larger batches, but nowhere near one a row.
        assert!(per_large < 40 * columns.len(), "{name}: {per_large} allocations a batch");
        assert!(per_small < 20 * columns.len(), "{name}: {per_small} allocations a batch");
    }
}

/// The allocations of a batch of the first `rows` rows of one column, once its pages are open.
fn batch_of(dataset: &Dataset, column: &str, rows: usize) -> Taken {
    let scan = || {
        let scan = dataset.scan().columns([column]).unwrap().batch_size(rows);
        scan.batches().unwrap()
    };
    scan().for_each(|batch| drop(batch.unwrap()));
    let mut batches = scan();
    let (batch, taken) = measure([rows as u64, 0, 0], || batches.next().unwrap().unwrap());
    assert!(batch.len() <= rows);
    taken
}

/// How many leaves lie below lists.
fn leaves_in_lists(data_type: &DataType, in_list: bool) -> usize {
    let is_list = matches!(data_type, DataType::List(_) | DataType::LargeList(_) | DataType::Map(..));
    let in_list = in_list || is_list;
    match data_type.children() {
        [] => usize::from(in_list),
        children => children.iter().map(|child| leaves_in_lists(&child.data_type, in_list)).sum(),
    }
}

/// In every layout and encoding that the fixtures have: a batch of more rows takes no more allocations, and none of them
/// makes an earlier one larger.
#[test]
fn every_buffer_is_allocated_once() {
    // Datasets without deletions, whose rows come in one run.
    for name in [
        "types-v20",
        "types-v21",
        "types-v22",
        "types-pages-v20",
        "types-pages-v21",
        "types-pages-v22",
        "words",
    ] {
        let dataset = Dataset::open(fixture(name)).unwrap();
        let rows = dataset.count_rows().unwrap() as usize;
        for field in &dataset.schema().fields {
            let few = batch_of(&dataset, &field.name, 300);
            let many = batch_of(&dataset, &field.name, rows);
            println!("{name} {}: {} {}, {} {}", field.name, few.number, few.grown, many.number, many.grown);
            let is_compressed = ["zstd", "lz4"].iter().any(|scheme| field.name.contains(scheme))
                || field.name.starts_with("big") && name != "types-pages-v20";
            // What grows is room that is kept: for the levels of each leaf's chunks and sets of them, up to the largest
            // chunk's, and for the largest compressed value.
            let most = 7 * leaves_in_lists(&field.data_type, false) + if is_compressed { 5 } else { 0 };
            assert!(few.grown.max(many.grown) <= most, "{name}, {}: {few:?}, {many:?}", field.name);
            // A decompressor allocates for itself, for each chunk or value.
            let is_once = many.number <= few.number + 2 + most || is_compressed;
            assert!(is_once, "{name}, {}: {few:?}, {many:?}", field.name);
        }
    }
}

#[test]
fn takes_into_a_used_batch_allocate_no_more_for_more_rows() {
    let dataset = Dataset::open(fixture("words")).unwrap();
    let projection = dataset.projection(["word", "initial", "vector"]).unwrap();
    let mut batch = Batch::new();
    let mut number = |rows: &[u64]| {
        for _ in 0..2 {
            dataset.take_into(Rows::Offsets(rows), &projection, &mut batch).unwrap();
        }
        measure([rows.len() as u64, 0, 0], || dataset.take_into(Rows::Offsets(rows), &projection, &mut batch))
            .1
            .number
    };
    let ascending: Vec<u64> = (0..2000).map(|row| row * 10).collect();
    let scattered: Vec<u64> = (0..2000).map(|row| row * 7919 % 20_000).collect();
    for (name, rows) in [("ascending", &ascending), ("scattered", &scattered)] {
        let (one, few, many) = (number(&rows[..1]), number(&rows[..100]), number(rows));
        println!("{name}: {one} allocations for one row, {few} for 100, {many} for 2000");
        assert!(one < 40 && few < 80 && many < 120, "{name}: {one}, {few}, {many} allocations");
    }
}

/// The allocations of three warm look-ups of one row by its id, which is bound to the `?` of the filter.
fn look_ups(dataset: &Dataset, columns: &[&str]) -> usize {
    let scan = dataset.scan().filter("id = ?").unwrap().columns(columns).unwrap();
    let mut prepared = scan.prepare().unwrap();
    let mut batch = Batch::new();
    let ids = dataset.scan().columns(["id"]).unwrap().collect().unwrap();
    let ids = ids.columns()[0].primitive::<i64>().unwrap();
    let mut run = || {
        for row in [0, ids.len() / 2, ids.len() - 1, 5] {
            prepared.bind(0, ids[row]).unwrap().run_into(&mut batch).unwrap();
            assert_eq!(batch.len(), 1);
        }
    };
    run();
    run();
    measure([0, 0, 0], run).1.number
}

#[test]
fn warm_look_ups_of_one_row_allocate_nothing() {
    for (name, version) in [("events", 12), ("events-stable", 12), ("events-compacted", 12)] {
        let dataset = Dataset::open(fixture(name)).unwrap().at_version(version).unwrap();
        for columns in
            [&["id"][..], &["status"], &["score"], &["country"], &["_rowid"], &["id", "status", "score"]]
        {
            let number = look_ups(&dataset, columns);
            assert_eq!(number, 0, "{name}, {columns:?}");
        }
    }
}

//! Takes: any rows in any order equal the rows of a scan, for every type and layout.

mod common;

use common::{fixture, fixtures};
use lancet::{Batch, Column, Dataset, ErrorKind, Rows};
use std::ops::Range;

/// A small generator of numbers, the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// The rows of `batch` at `rows`, by way of the columns' own gather.
fn pick(batch: &Batch, rows: &[u64]) -> Vec<Column> {
    let picks: Vec<(u32, u32)> = rows.iter().map(|&row| (0, row as u32)).collect();
    batch.columns().iter().map(|column| Column::gather(&[column], &picks, None).unwrap()).collect()
}

#[test]
fn random_rows_equal_those_of_a_scan() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let all = fixtures();
    assert!(all.len() >= 94, "only {} fixtures", all.len());
    for name in &all {
        let dataset = Dataset::open(fixture(name)).unwrap();
        // The bytes of this column lie outside of the fixtures.
        let names = dataset.schema().fields.iter().map(|field| &*field.name);
        let names: Vec<&str> = names.filter(|name| *name != "external").collect();
        let projection = dataset.projection(names.iter().copied()).unwrap();
        let whole = dataset.scan().columns(names).unwrap().batch_size(usize::MAX).collect().unwrap();
        let count = dataset.count_rows().unwrap();
        let mut reused = Batch::new();
        for size in [1, 1, 1, 2, 7, 100, 500] {
            let rows: Vec<u64> = (0..size).map(|_| random.below(count)).collect();
            let taken = dataset.take(Rows::Offsets(&rows), &projection).unwrap();
            for ((name, found), expected) in
                taken.names().iter().zip(taken.columns()).zip(pick(&whole, &rows))
            {
                assert!(*found == expected, "column {name}, rows {rows:?}");
            }
            dataset.take_into(Rows::Offsets(&rows), &projection, &mut reused).unwrap();
            assert!(reused == taken, "{name}, rows {rows:?}, into a used batch");
        }
        // Ascending rows of one fragment go another way.
        let rows: Vec<u64> = (0..count.min(400)).filter(|_| random.below(3) == 0).collect();
        let taken = dataset.take(Rows::Offsets(&rows), &projection).unwrap();
        assert!(taken.columns() == pick(&whole, &rows), "{name}, ascending rows");
        // Stretches of rows are copied at once.
        let mut bound = || random.below(count + 1) as usize;
        let stretches: Vec<Range<usize>> = (0..20)
            .map(|_| (bound(), bound()))
            .map(|(a, b)| a.min(b)..a.max(b).min(a.min(b) + 1000))
            .collect();
        let rows: Vec<u64> = stretches.iter().cloned().flatten().map(|row| row as u64).collect();
        for (column, expected) in whole.columns().iter().zip(pick(&whole, &rows)) {
            let parts: Vec<_> = stretches.iter().map(|rows| (column, rows.clone())).collect();
            let once = Column::concat(&parts, None).unwrap();
            assert!(once == expected, "{name}, {stretches:?}");
            assert!(Column::concat(&parts, Some(once)).unwrap() == expected, "{name}, into a used column");
        }
    }
}

#[test]
fn batches_of_any_size_make_the_same_whole() {
    for name in ["types-v20", "types-pages-v21", "types-v22", "events"] {
        let dataset = Dataset::open(fixture(name)).unwrap();
        let expected = dataset.scan().with_row_address().collect().unwrap();
        for size in [1000, 77] {
            let found = dataset.scan().with_row_address().batch_size(size).collect().unwrap();
            assert!(found == expected, "{name} in batches of {size}");
        }
    }
}

#[test]
fn limits_and_offsets_skip_deleted_rows() {
    let dataset = Dataset::open(fixture("events")).unwrap();
    let whole = dataset.scan().with_row_address().collect().unwrap();
    let count = dataset.count_rows().unwrap();
    for (offset, limit) in [(0, 1), (5, 10), (4000, 3000), (count - 1, 5), (count, 5), (0, 0), (3, u64::MAX)]
    {
        let found = dataset.scan().with_row_address().offset(offset).limit(limit).collect().unwrap();
        let rows: Vec<u64> = (offset..offset.saturating_add(limit).min(count)).collect();
        assert_eq!(found.len(), rows.len());
        assert!(found.columns() == pick(&whole, &rows), "{limit} rows after {offset}");
    }
}

#[test]
fn ids_and_addresses_lead_to_their_rows() {
    for name in ["events", "events-stable", "events-compacted"] {
        let dataset = Dataset::open(fixture(name)).unwrap();
        let projection = dataset.projection(["id", "_rowid", "_rowaddr"]).unwrap();
        let whole = dataset.scan().project(projection.clone()).collect().unwrap();
        let ids = whole.column("_rowid").unwrap().primitive::<u64>().unwrap();
        let addresses = whole.column("_rowaddr").unwrap().primitive::<u64>().unwrap();
        assert!(dataset.take(Rows::Ids(ids), &projection).unwrap() == whole, "{name} by id");
        assert!(dataset.take(Rows::Addresses(addresses), &projection).unwrap() == whole, "{name} by address");
    }
}

#[test]
fn rows_that_are_not_there_are_errors() {
    let dataset = Dataset::open(fixture("events-tiny")).unwrap();
    let projection = dataset.full_projection();
    let count = dataset.count_rows().unwrap();
    // The first row of fragment 1 is deleted.
    for rows in [
        Rows::Offsets(&[0, count]),
        Rows::Addresses(&[1 << 32]),
        Rows::Addresses(&[99 << 32]),
        Rows::Addresses(&[1000]),
        Rows::Ids(&[u64::MAX]),
    ] {
        let mut batch = dataset.take(Rows::Offsets(&[0]), &projection).unwrap();
        let error = dataset.take_into(rows, &projection, &mut batch).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{rows:?}: {error}");
        assert!(batch.is_empty());
    }
    let nothing = dataset.take(Rows::Offsets(&[]), &projection).unwrap();
    assert_eq!((nothing.len(), nothing.columns().len()), (0, dataset.schema().fields.len()));
}

#[test]
fn columns_are_chosen_by_name() {
    let dataset = Dataset::open(fixture("events")).unwrap();
    let whole = dataset.scan().limit(50).collect().unwrap();
    let batch = dataset
        .scan()
        .columns(["loc.pos.zip", "ID", "_rowaddr", "loc"])
        .unwrap()
        .limit(50)
        .collect()
        .unwrap();
    assert_eq!(
        batch.names().iter().map(|name| &**name).collect::<Vec<_>>(),
        ["loc.pos.zip", "ID", "_rowaddr", "loc"]
    );
    assert!(batch.columns()[1] == *whole.column("id").unwrap());
    assert!(batch.columns()[3] == *whole.column("loc").unwrap());
    let zip = whole.column("loc").unwrap().children()[1].children()[1].clone();
    assert_eq!(batch.columns()[0].primitive::<i32>(), zip.primitive::<i32>());

    // A system column is found by its exact name only, and before one that differs in case.
    assert!(dataset.projection(["_ROWID"]).is_err());

    for names in [&["nope"][..], &["id", "id"], &["loc.nope"], &["id.x"], &["tags.item"]] {
        let error = dataset.projection(names).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{names:?}: {error}");
    }
}

//! Filtered scans: the same rows as a look at every row of an unfiltered one, whatever else is asked of the scan.

mod common;

use common::fixture;
use lancet::{Batch, Dataset, ErrorKind, IndexUse, Scan, Stats, expr::col};
use std::{
    sync::{Arc, atomic::AtomicBool, atomic::Ordering},
    time::{Duration, Instant},
};

/// With deletions, nulls and several fragments; row ids are addresses in the first, stable in the second.
const DATASETS: [&str; 4] = ["events", "events-stable", "events-compacted", "events-tiny-w14"];

/// Conditions that leave nearly all rows, many, few, one and none; over plain and coded columns.
const FILTERS: [&str; 7] = [
    "id >= 0",
    "id % 3 = 1",
    "event_time >= TIMESTAMP '2026-01-02 00:00:00' AND id % 5 < 2",
    "id IS NOT NULL AND NOT (id > 40)",
    "id = 1",
    "id < 0",
    "id IS NULL OR id % 2 = 0",
];

fn open(name: &str) -> Dataset {
    Dataset::open(fixture(name)).unwrap()
}

/// `scan` without a batch that is empty or larger than `most`, joined.
fn batched(scan: Scan, most: usize) -> Vec<Batch> {
    let batches: Vec<Batch> = scan.batches().unwrap().map(Result::unwrap).collect();
    assert!(batches.iter().all(|batch| (1..=most).contains(&batch.len())));
    batches
}

/// The values of an int64 column without nulls of all batches.
fn integers(batches: &[Batch], column: usize) -> Vec<i64> {
    batches.iter().flat_map(|batch| batch.columns()[column].primitive::<i64>().unwrap().to_vec()).collect()
}

/// The values of a uint64 column of all batches.
fn numbers(batches: &[Batch], column: usize) -> Vec<u64> {
    batches.iter().flat_map(|batch| batch.columns()[column].primitive::<u64>().unwrap().to_vec()).collect()
}

/// The addresses of the rows that `scan` leaves.
fn addresses(scan: Scan) -> Vec<u64> {
    let none: [&str; 0] = [];
    numbers(&batched(scan.columns(none).unwrap().with_row_address(), usize::MAX), 0)
}

#[test]
fn a_filter_leaves_the_rows_for_which_it_is_true() {
    let dataset = open("events");
    let all = dataset.scan().columns(["id", "status", "level", "flag"]).unwrap().collect().unwrap();
    let [id, status, level, flag] = all.columns() else { unreachable!() };
    let (ids, levels) = (id.primitive::<i64>().unwrap(), level.primitive::<i16>().unwrap());
    let is_failed = |row: usize| status.str(row) == Some("failed");
    let is_high = |row: usize| !level.is_null(row) && levels[row] > 5;
    let is_flagged = |row: usize| !flag.is_null(row) && flag.boolean(row) == Some(true);
    type Judge<'a> = &'a dyn Fn(usize) -> bool;
    let cases: [(&str, Judge); 4] = [
        ("status = 'failed'", &is_failed),
        ("level > 5 AND flag", &|row| is_high(row) && is_flagged(row)),
        ("status = 'failed' OR level > 5", &|row| is_failed(row) || is_high(row)),
        ("(flag AND level > 5) IS NOT TRUE", &|row| !(is_flagged(row) && is_high(row))),
    ];
    for (filter, judge) in cases {
        let expected: Vec<i64> = (0..all.len()).filter(|&row| judge(row)).map(|row| ids[row]).collect();
        assert!(!expected.is_empty() && expected.len() < all.len(), "{filter}");
        let scan = dataset.scan().filter(filter).unwrap().columns(["id"]).unwrap();
        assert_eq!(integers(&batched(scan, 8192), 0), expected, "{filter}");
        let count = dataset.scan().filter(filter).unwrap().count().unwrap();
        assert_eq!(count, expected.len() as u64, "{filter}");
    }
}

#[test]
fn deleted_rows_are_never_found() {
    for name in DATASETS {
        let dataset = open(name);
        let live = addresses(dataset.scan());
        let physical: u64 = dataset.manifest().fragments.iter().filter_map(|part| part.physical_rows).sum();
        assert!((live.len() as u64) < physical, "{name}");
        let found = addresses(dataset.scan().filter("_rowaddr >= 0").unwrap());
        assert_eq!(found, live, "{name}");
    }
}

#[test]
fn batches_have_the_size_asked_for() {
    for name in DATASETS {
        let dataset = open(name);
        for filter in FILTERS {
            let expected = addresses(dataset.scan().filter(filter).unwrap());
            // One by one is slow: a look at so many rows is enough.
            let sizes = if expected.len() < 2000 { &[1, 7, 8192][..] } else { &[7, 8192] };
            for &size in sizes {
                let none: [&str; 0] = [];
                let scan = dataset.scan().filter(filter).unwrap().columns(none).unwrap();
                let batches = batched(scan.with_row_address().batch_size(size), size);
                assert_eq!(numbers(&batches, 0), expected, "{name}: {filter}, batches of {size}");
            }
        }
    }
}

#[test]
fn the_rows_are_those_of_a_take() {
    let dataset = open("events");
    let projection = dataset.full_projection();
    for filter in [FILTERS[2], FILTERS[3], FILTERS[5]] {
        let found = addresses(dataset.scan().filter(filter).unwrap());
        let taken = dataset.take(lancet::Rows::Addresses(&found), &projection).unwrap();
        let scanned = dataset.scan().filter(filter).unwrap().collect().unwrap();
        assert!(scanned == taken, "{filter}");
    }
}

#[test]
fn offset_and_limit_count_rows_that_are_left() {
    for name in DATASETS {
        let dataset = open(name);
        for filter in FILTERS {
            let all = addresses(dataset.scan().filter(filter).unwrap());
            for (offset, limit) in [(0, 0), (0, 1), (1, 3), (2, 1000), (100, 7), (5000, 9000), (u64::MAX, 1)]
            {
                let scan = dataset.scan().filter(filter).unwrap().offset(offset).limit(limit);
                let start = all.len().min(usize::try_from(offset).unwrap_or(usize::MAX));
                let end = all.len().min(start + limit as usize);
                assert_eq!(scan.clone().count().unwrap(), (end - start) as u64, "{name}: {filter}");
                assert_eq!(addresses(scan.batch_size(11)), all[start..end], "{name}: {filter}");
            }
        }
    }
}

#[test]
fn a_limit_ends_the_scan_early() {
    let dataset = open("events");
    let live = dataset.count_rows().unwrap();
    let examined = |limit: Option<u64>, count: bool| {
        let stats = Arc::new(Stats::default());
        let scan = dataset.scan().indices(IndexUse::Never);
        let mut scan = scan.filter("id >= 0").unwrap().record(stats.clone());
        if let Some(limit) = limit {
            scan = scan.limit(limit);
        }
        let returned = if count { scan.count().unwrap() } else { addresses(scan).len() as u64 };
        assert_eq!(stats.rows_returned(), returned);
        stats.rows_examined()
    };
    for count in [false, true] {
        assert_eq!(examined(None, count), live);
        assert_eq!(examined(Some(0), count), 0);
        assert!((1..live / 2).contains(&examined(Some(10), count)));
    }
}

#[test]
fn fragments_are_read_in_the_order_of_the_dataset() {
    let dataset = open("events");
    let ids: Vec<u32> = dataset.manifest().fragments.iter().map(|fragment| fragment.id).collect();
    let all = addresses(dataset.scan().filter("id % 3 = 1").unwrap());
    let chosen = [ids[3], ids[1]];
    let found = addresses(dataset.scan().filter("id % 3 = 1").unwrap().fragments(chosen).unwrap());
    let expected: Vec<u64> =
        all.iter().copied().filter(|address| chosen.contains(&((address >> 32) as u32))).collect();
    assert!(!expected.is_empty() && expected.len() < all.len());
    assert_eq!(found, expected);
    assert_eq!(dataset.scan().fragments([u32::MAX]).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn row_ids_and_addresses_can_be_asked_for() {
    for name in DATASETS {
        let dataset = open(name);
        let all = dataset.scan().with_row_id().with_row_address().collect().unwrap();
        let width = all.columns().len();
        let all = [all];
        let (ids, places) = (numbers(&all, width - 2), numbers(&all, width - 1));
        let row = ids.len() / 2;
        let by_id = dataset.scan().filter(format!("_rowid = {}", ids[row])).unwrap();
        assert_eq!(addresses(by_id), [places[row]], "{name}");
        let by_address = dataset.scan().filter(format!("_rowaddr > {}", places[row])).unwrap();
        assert_eq!(addresses(by_address), places[row + 1..], "{name}");
        let both = dataset.scan().filter(format!("_rowid = {} AND id IS NULL", ids[row])).unwrap();
        assert!(both.count().unwrap() <= 1, "{name}");
    }
}

#[test]
fn two_filters_are_one_with_and() {
    let dataset = open("events");
    let twice = dataset.scan().filter("id % 3 = 1 OR flag").unwrap().filter(col("level").gt(5)).unwrap();
    let once = dataset.scan().filter("(id % 3 = 1 OR flag) AND level > 5").unwrap();
    let rows = addresses(once);
    assert!(!rows.is_empty());
    assert_eq!(addresses(twice), rows);
}

#[test]
fn computed_columns_are_computed_of_the_rows_that_are_left() {
    let dataset = open("events");
    let scan = || dataset.scan().filter("score > 10 AND level <> 0").unwrap();
    let found = scan().columns(["score", "score * 2 AS s", "100 / level AS q", "level"]).unwrap();
    let found = found.collect().unwrap();
    assert_eq!(found.names().iter().map(|name| &**name).collect::<Vec<_>>(), ["score", "s", "q", "level"]);
    let [score, double, quotient, level] = found.columns() else { unreachable!() };
    let [scores, doubles] = [score, double].map(|column| column.primitive::<f64>().unwrap());
    let levels = level.primitive::<i16>().unwrap();
    let quotients = quotient.primitive::<i64>().unwrap();
    assert!(!found.is_empty());
    for row in 0..found.len() {
        assert!(doubles[row] == scores[row] * 2.0 || scores[row].is_nan() && doubles[row].is_nan());
        assert_eq!(quotients[row], 100 / i64::from(levels[row]));
    }
    // With a row that divides by zero there is no answer.
    let error = dataset.scan().columns(["100 / level AS q"]).unwrap().collect().unwrap_err();
    assert!(error.to_string().contains("division by zero"), "{error}");
    let error = dataset.scan().filter("level = 0").unwrap().columns(["100 / level AS q"]).unwrap().collect();
    assert!(error.unwrap_err().to_string().contains("division by zero"));
}

#[test]
fn a_filter_that_fails_on_a_row_is_an_error() {
    let dataset = open("events");
    let error = dataset.scan().filter("100 / level > 5").unwrap().count().unwrap_err();
    assert!(error.to_string().contains("division by zero"), "{error}");
    let guarded = ["level <> 0 AND 100 / level > 5", "100 / level > 5 AND level <> 0"];
    let [first, second] = guarded.map(|filter| addresses(dataset.scan().filter(filter).unwrap()));
    assert!(!first.is_empty());
    assert_eq!(first, second);
}

#[test]
fn deadline_and_cancellation_end_a_scan() {
    let dataset = open("events");
    let scan = || dataset.scan().filter("id % 3 = 1").unwrap().batch_size(10);
    let over = Instant::now();
    assert_eq!(scan().deadline(over).collect().unwrap_err().kind(), ErrorKind::DeadlinePassed);
    assert_eq!(scan().deadline(over).count().unwrap_err().kind(), ErrorKind::DeadlinePassed);
    let later = Instant::now() + Duration::from_secs(3600);
    assert!(!scan().deadline(later).collect().unwrap().is_empty());

    let flag = Arc::new(AtomicBool::new(false));
    let mut batches = scan().cancel(flag.clone()).batches().unwrap();
    assert!(batches.next().unwrap().is_ok());
    flag.store(true, Ordering::Relaxed);
    assert_eq!(batches.next().unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(batches.next().is_none());
    assert_eq!(scan().cancel(flag).count().unwrap_err().kind(), ErrorKind::Cancelled);
}

#[cfg(feature = "rayon")]
#[test]
fn threads_change_nothing() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for name in DATASETS {
        let dataset = open(name);
        for filter in FILTERS {
            for (offset, limit) in [(0, u64::MAX), (3, 500)] {
                let scan = dataset.scan().filter(filter).unwrap().columns(["id", "event_time"]).unwrap();
                let scan = scan.with_row_id().offset(offset).limit(limit).batch_size(1000);
                let (rows, count) = pool.install(|| {
                    let scan = scan.clone().parallel(true);
                    (scan.clone().collect().unwrap(), scan.count().unwrap())
                });
                assert!(rows == scan.clone().collect().unwrap(), "{name}: {filter}");
                assert_eq!(count, scan.count().unwrap(), "{name}: {filter}");
            }
        }
    }
    let fails = open("events").scan().filter("100 / level > 5").unwrap();
    let error = pool.install(|| fails.clone().parallel(true).collect().unwrap_err());
    assert_eq!(error.to_string(), fails.collect().unwrap_err().to_string());
}

#[test]
fn a_plan_says_what_a_scan_would_do() {
    let dataset = open("events");
    let scan = dataset.scan().filter("level > 5 and (loc.city = 'city9' or _rowid < 7)").unwrap();
    let plan = scan.columns(["id", "level + 1 AS next"]).unwrap().offset(2).limit(5).explain().unwrap();
    assert_eq!(plan.filter.as_deref(), Some("level > 5 AND (loc.city = 'city9' OR _rowid < 7)"));
    let mut columns = plan.filter_columns;
    columns.sort_unstable();
    assert_eq!(columns, ["_rowid", "level", "loc.city"]);
    assert_eq!(plan.columns, ["id", "next"]);
    assert_eq!((plan.offset, plan.limit), (2, Some(5)));
    let ids: Vec<u32> = dataset.manifest().fragments.iter().map(|fragment| fragment.id).collect();
    assert_eq!(plan.fragments.iter().map(|part| part.fragment).collect::<Vec<_>>(), ids);
    let rows: u64 = plan.fragments.iter().map(|part| part.rows).sum();
    assert_eq!(rows, dataset.count_rows().unwrap());

    let plan = dataset.scan().fragments([ids[2]]).unwrap().explain().unwrap();
    assert_eq!((plan.filter, plan.filter_columns.len(), plan.fragments.len()), (None, 0, 1));
}

#[test]
fn filters_that_do_not_fit_the_schema_are_refused() {
    let dataset = open("events");
    for filter in ["nosuch = 1", "level = 'a'", "level = 70000", "level +", "level", "tags = 1"] {
        let error = dataset.scan().filter(filter).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{filter}: {error}");
    }
}

//! Vector search over the stored datasets, judged by distances that are computed here in f64.

mod common;

use common::fixture;
use half::f16;
use lancet::{Batch, Dataset, ErrorKind, Metric, Nearest};
use std::{
    collections::{HashMap, HashSet},
    time::Instant,
};

/// The rows of a dataset that have not been deleted.
struct Rows {
    dataset: Dataset,
    rows: Vec<Row>,
}

struct Row {
    row_id: u64,
    id: i64,
    num: Option<i32>,
    vector: Vec<f64>,
}

impl Rows {
    fn read(name: &str) -> Self {
        let dataset = Dataset::open(fixture(name)).unwrap();
        let batch = dataset.scan().columns(["id", "num", "vec"]).unwrap().with_row_id().collect().unwrap();
        let column = |name| batch.column(name).unwrap();
        let (ids, row_ids) =
            (column("id").primitive::<i64>().unwrap(), column("_rowid").primitive().unwrap());
        let nums = column("num").primitive::<i32>().unwrap();
        let vector = column("vec");
        let numbers: Vec<f64> = if let Some(numbers) = vector.flat::<f64>() {
            numbers.to_vec()
        } else if let Some(numbers) = vector.flat::<f32>() {
            numbers.iter().map(|&number| number.into()).collect()
        } else if let Some(numbers) = vector.flat::<f16>() {
            numbers.iter().map(|number| number.to_f64()).collect()
        } else {
            vector.flat::<u8>().unwrap().iter().map(|&number| number.into()).collect()
        };
        let rows = numbers.chunks_exact(32).enumerate().map(|(row, vector)| Row {
            row_id: row_ids[row],
            id: ids[row],
            num: (!column("num").is_null(row)).then(|| nums[row]),
            vector: vector.to_vec(),
        });
        let rows: Vec<Row> = rows.collect();
        assert_eq!(rows.len(), ids.len());
        Rows { dataset, rows }
    }

    /// The vector of a row, moved a little: numbers that each type can hold.
    fn query(&self, row: usize) -> Vec<f64> {
        let vector = &self.rows[row].vector;
        match vector.iter().all(|number| number.fract() == 0.0) {
            true => {
                vector.iter().enumerate().map(|(i, x)| f64::from(*x as u8 ^ u8::from(i % 5 == 0))).collect()
            }
            false => {
                let moved = vector.iter().zip(0..).map(|(x, i)| x + 0.125 * f64::from(i % 3));
                moved.map(|x| f16::from_f64(x).to_f64()).collect()
            }
        }
    }

    fn nearest(&self, query: &[f64]) -> Nearest {
        self.dataset.scan().nearest("vec", query).unwrap().columns(["id"]).unwrap()
    }

    /// All rows for which `keep` is true with their distances, the nearest first.
    fn ranked(&self, query: &[f64], metric: Metric, keep: impl Fn(&Row) -> bool) -> Vec<(i64, f64)> {
        let kept = self.rows.iter().filter(|row| keep(row));
        let mut all: Vec<_> =
            kept.map(|row| (row.id, row.row_id, distance(metric, query, &row.vector))).collect();
        all.sort_by(|a, b| a.2.total_cmp(&b.2).then(a.1.cmp(&b.1)));
        all.into_iter().map(|(id, _, distance)| (id, distance)).collect()
    }
}

fn distance(metric: Metric, q: &[f64], v: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    match metric {
        Metric::L2 => q.iter().zip(v).map(|(a, b)| (a - b) * (a - b)).sum(),
        Metric::Cosine => 1.0 - dot(q, v) / (dot(q, q) * dot(v, v)).sqrt(),
        Metric::Dot => 1.0 - dot(q, v),
        Metric::Hamming => q.iter().zip(v).map(|(&a, &b)| f64::from((a as u8 ^ b as u8).count_ones())).sum(),
    }
}

fn ids(batch: &Batch) -> &[i64] {
    batch.column("id").unwrap().primitive().unwrap()
}

fn distances(batch: &Batch) -> &[f32] {
    batch.column("_distance").unwrap().primitive().unwrap()
}

/// Checks that `found` are the first of `ranked`, in order; rows that are as good as equally far may change places.
fn judge(found: &Batch, ranked: &[(i64, f64)], tolerance: f64) {
    let near = |a: f64, b: f64| (a - b).abs() <= tolerance * b.abs().max(1.0);
    let by_id: HashMap<i64, f64> = ranked.iter().copied().collect();
    assert_eq!(ids(found).iter().collect::<HashSet<_>>().len(), found.len(), "a row twice");
    for (place, (id, &distance)) in ids(found).iter().zip(distances(found)).enumerate() {
        let (expected, at) = ranked[place];
        let own = by_id.get(id).unwrap_or_else(|| panic!("row {id} is not to be found"));
        assert!(near(distance.into(), *own), "row {id}: {distance}, expected {own}");
        assert!(near(*own, at), "place {place}: row {id} at {own}, expected {expected} at {at}");
    }
    assert!(distances(found).is_sorted());
}

/// Datasets with each type of number, and the metrics that fit it.
const TYPES: [(&str, &[Metric]); 4] = [
    ("vec-ivf-flat-l2", &[Metric::L2, Metric::Cosine, Metric::Dot]),
    ("vec-ivf-flat-f16-l2", &[Metric::L2, Metric::Cosine, Metric::Dot]),
    ("vec-ivf-pq-f64-l2", &[Metric::L2, Metric::Cosine, Metric::Dot]),
    ("vec-ivf-flat-u8-hamming", &[Metric::Hamming, Metric::L2, Metric::Cosine, Metric::Dot]),
];

const FLAT: [(&str, Metric); 5] = [
    ("vec-ivf-flat-l2", Metric::L2),
    ("vec-ivf-flat-cosine", Metric::Cosine),
    ("vec-ivf-flat-dot", Metric::Dot),
    ("vec-ivf-flat-f16-l2", Metric::L2),
    ("vec-ivf-flat-u8-hamming", Metric::Hamming),
];

const QUANTIZED: [(&str, Metric); 8] = [
    ("vec-ivf-pq-l2", Metric::L2),
    ("vec-ivf-pq-cosine", Metric::Cosine),
    ("vec-ivf-pq-dot", Metric::Dot),
    ("vec-ivf-pq-4bit-l2", Metric::L2),
    ("vec-ivf-pq-delta-l2", Metric::L2),
    ("vec-ivf-sq-l2", Metric::L2),
    ("vec-ivf-sq-cosine", Metric::Cosine),
    ("vec-ivf-sq-dot", Metric::Dot),
];

#[test]
fn exact_search_is_right() {
    for (name, metrics) in TYPES {
        let rows = Rows::read(name);
        for &metric in metrics {
            for row in [0, 1000, 2050] {
                let query = rows.query(row);
                let found = rows.nearest(&query).k(50).metric(metric).use_index(false).collect().unwrap();
                assert_eq!(found.len(), 50);
                judge(&found, &rows.ranked(&query, metric, |_| true), 1e-5);
            }
        }
    }
}

#[test]
fn flat_index_with_all_partitions_is_exact() {
    for (name, metric) in FLAT {
        let rows = Rows::read(name);
        // Unit vectors of f16 are rounded.
        let tolerance = if metric == Metric::Cosine { 2e-5 } else { 1e-5 };
        for row in [3, 700, 2060] {
            let query = rows.query(row);
            let found = rows.nearest(&query).k(30).nprobes(8).collect().unwrap();
            assert_eq!(found.len(), 30);
            judge(&found, &rows.ranked(&query, metric, |_| true), tolerance);
            // The index alone: rows that it does not cover, those of the last fragment, are not there.
            let found = rows.nearest(&query).k(30).nprobes(8).indexed_only(true).collect().unwrap();
            let covered: HashSet<i64> =
                rows.rows.iter().filter(|row| row.row_id >> 32 < 2).map(|row| row.id).collect();
            judge(&found, &rows.ranked(&query, metric, |row| covered.contains(&row.id)), tolerance);
        }
    }
}

#[test]
fn refined_and_mixed_answers_have_exact_distances() {
    for (name, metric) in QUANTIZED {
        let rows = Rows::read(name);
        let query = rows.query(42);
        let all: HashMap<i64, f64> = rows.ranked(&query, metric, |_| true).into_iter().collect();
        // Candidates that are most of all rows: the nearest are among them.
        let found = rows.nearest(&query).k(20).nprobes(8).refine(60).collect().unwrap();
        judge(&found, &rows.ranked(&query, metric, |_| true), 1e-5);
        // Every dataset has rows that no index covers, so that without refining all distances are exact, too.
        let found = rows.nearest(&query).k(20).collect().unwrap();
        for (id, &distance) in ids(&found).iter().zip(distances(&found)) {
            assert!(
                (f64::from(distance) - all[id]).abs() <= 1e-5 * all[id].abs().max(1.0),
                "{name}, row {id}"
            );
        }
    }
}

/// Quantized distances are estimates on the scale of exact ones.
#[test]
fn estimates_are_on_the_scale_of_the_metric() {
    for (name, metric) in QUANTIZED {
        let rows = Rows::read(name);
        let query = rows.query(42);
        let all: HashMap<i64, f64> = rows.ranked(&query, metric, |_| true).into_iter().collect();
        let found = rows.nearest(&query).k(500).nprobes(8).indexed_only(true).collect().unwrap();
        let estimated: f64 = distances(&found).iter().map(|&distance| f64::from(distance)).sum();
        let exact: f64 = ids(&found).iter().map(|id| all[id]).sum();
        assert!((estimated / exact - 1.0).abs() < 0.25, "{name}: {estimated} for {exact}");
    }
}

#[test]
fn prefilter_searches_the_rows_that_match() {
    for (name, metric) in FLAT {
        let rows = Rows::read(name);
        let query = rows.query(9);
        for (filter, limit) in [("num < 300", 300), ("num < 3", 3), ("num < -1", -1)] {
            let expected = rows.ranked(&query, metric, |row| row.num.is_some_and(|num| num < limit));
            for search in
                [rows.nearest(&query).nprobes(8), rows.nearest(&query).metric(metric).use_index(false)]
            {
                let found = search.filter(filter).unwrap().k(25).collect().unwrap();
                assert_eq!(found.len(), expected.len().min(25), "{name}, {filter}");
                judge(&found, &expected, 2e-5);
            }
        }
    }
}

/// A filter after the search is computed for the rows found only, so that others cannot fail.
#[test]
fn postfilter_leaves_other_rows_alone() {
    let (name, _) = FLAT[0];
    let rows = Rows::read(name);
    let search = rows.nearest(&rows.query(77)).k(5);
    let found = ids(&search.clone().collect().unwrap()).to_vec();
    let near: Vec<i32> =
        rows.rows.iter().filter(|row| found.contains(&row.id)).filter_map(|row| row.num).collect();
    let far = rows.rows.iter().filter_map(|row| row.num).find(|num| !near.contains(num)).unwrap();
    let search = search.filter(format!("1 / (num - {far}) < 2")).unwrap();
    assert_eq!(
        search.collect().unwrap_err().kind(),
        ErrorKind::InvalidInput,
        "before the search all are computed"
    );
    assert_eq!(search.postfilter(true).collect().unwrap().len(), near.len());
}

#[test]
fn postfilter_keeps_some_of_the_rows_found() {
    for (name, _) in FLAT.into_iter().chain(QUANTIZED) {
        let rows = Rows::read(name);
        let query = rows.query(77);
        let search = rows.nearest(&query).k(40);
        let all = search.clone().collect().unwrap();
        let nums: HashMap<i64, Option<i32>> = rows.rows.iter().map(|row| (row.id, row.num)).collect();
        let matches = |id: &i64| nums[id].is_some_and(|num| num % 2 == 0);
        let expected: Vec<i64> = ids(&all).iter().copied().filter(matches).collect();
        let found = search.filter("num % 2 = 0").unwrap().postfilter(true).collect().unwrap();
        assert_eq!(ids(&found), expected, "{name}");
        assert!(!expected.is_empty() && expected.len() < 40);
    }
}

#[test]
fn more_rows_than_there_are() {
    for (name, _) in FLAT.into_iter().chain(QUANTIZED) {
        let rows = Rows::read(name);
        let live: HashSet<i64> = rows.rows.iter().map(|row| row.id).collect();
        let query = rows.query(5);
        for search in [rows.nearest(&query), rows.nearest(&query).use_index(false)] {
            let found = search.k(100_000).collect().unwrap();
            // Each live row once: no deleted one, though the index still has them.
            assert_eq!(found.len(), live.len(), "{name}");
            assert_eq!(ids(&found).iter().copied().collect::<HashSet<_>>(), live, "{name}");
        }
        let dataset = &rows.dataset;
        assert!(dataset.scan().nearest("vec", &query).unwrap().k(usize::MAX).refine(2).collect().is_ok());
    }
}

#[test]
fn offset_and_limit_count_rows_of_the_answer() {
    let rows = Rows::read("vec-ivf-pq-l2");
    let query = rows.query(5);
    let all = rows.nearest(&query).k(20).collect().unwrap();
    for (offset, limit) in [(0, 7), (5, 7), (18, 7), (20, 1), (u64::MAX, u64::MAX)] {
        let scan = rows.dataset.scan().offset(offset).limit(limit);
        let part = scan.nearest("vec", &query).unwrap().columns(["id"]).unwrap().k(20).collect().unwrap();
        let start = (offset as usize).min(20);
        let end = start.saturating_add(limit as usize).min(20);
        assert_eq!(ids(&part), &ids(&all)[start..end]);
        assert_eq!(distances(&part), &distances(&all)[start..end]);
    }
}

#[test]
fn ranges_of_distances() {
    for (name, _) in FLAT.into_iter().chain(QUANTIZED) {
        let rows = Rows::read(name);
        let query = rows.query(8);
        let search = rows.nearest(&query).nprobes(8).indexed_only(true);
        let all = search.clone().k(3000).collect().unwrap();
        let at = |place: usize| distances(&all)[place];
        let (low, high) = (at(10), at(200));
        for (from, to) in [(Some(low), Some(high)), (None, Some(high)), (Some(low), None)] {
            let found = search.clone().k(3000).distance_range(from, to).collect().unwrap();
            let inside = |d: f32| from.is_none_or(|low| d >= low) && to.is_none_or(|high| d < high);
            let expected: Vec<f32> = distances(&all).iter().copied().filter(|&d| inside(d)).collect();
            assert_eq!(distances(&found), expected, "{name}, {from:?} to {to:?}");
        }
        let empty = search.k(10).distance_range(Some(high), Some(low)).collect().unwrap();
        assert!(empty.is_empty() || low == high);
    }
}

#[test]
fn several_queries() {
    for name in ["vec-ivf-flat-l2", "vec-ivf-sq-dot"] {
        let rows = Rows::read(name);
        let queries: Vec<Vec<f64>> = [4, 1500, 4].map(|row| rows.query(row)).into();
        let each = rows.dataset.scan().nearest_each("vec", &queries).unwrap();
        let found = each.columns(["id"]).unwrap().k(6).collect().unwrap();
        let numbers: Vec<i64> = (0..3).flat_map(|number| [number; 6]).collect();
        assert_eq!(found.column("_query").unwrap().primitive::<i64>().unwrap(), numbers);
        for (number, query) in queries.iter().enumerate() {
            let alone = rows.nearest(query).k(6).collect().unwrap();
            assert!(alone.column("_query").is_none());
            assert_eq!(ids(&alone), &ids(&found)[number * 6..number * 6 + 6]);
        }
        let none = rows.dataset.scan().nearest_each("vec", Vec::<Vec<f32>>::new()).unwrap();
        assert!(none.collect().unwrap().is_empty());
    }
}

#[test]
fn another_metric_than_the_index_has() {
    for (name, own) in QUANTIZED {
        let rows = Rows::read(name);
        let query = rows.query(1234);
        for metric in [Metric::L2, Metric::Cosine, Metric::Dot].into_iter().filter(|&metric| metric != own) {
            let found = rows.nearest(&query).metric(metric).nprobes(1).k(15).collect().unwrap();
            assert_eq!(found.len(), 15);
            judge(&found, &rows.ranked(&query, metric, |_| true), 1e-5);
        }
    }
}

#[test]
fn wrong_questions() {
    let rows = Rows::read("vec-ivf-pq-cosine");
    let scan = || rows.dataset.scan();
    let good = rows.query(0);
    let with = |number: f64| {
        let mut query = good.clone();
        query[7] = number;
        query
    };
    let refused = |result: lancet::Result<Batch>, words: &str| {
        let error = result.expect_err(words);
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    };
    let ask = |query: &[f64]| scan().nearest("vec", query).and_then(|search| search.collect());
    refused(ask(&good[1..]), "expected 32 numbers");
    refused(ask(&[]), "expected 32 numbers");
    refused(ask(&with(f64::NAN)), "finite");
    refused(ask(&with(f64::INFINITY)), "finite");
    refused(ask(&with(1e300)), "does not fit");
    refused(ask(&[0.0; 32]), "zeros");
    refused(scan().nearest("num", &good).and_then(|search| search.collect()), "num");
    refused(scan().nearest("nothing", &good).and_then(|search| search.collect()), "nothing");
    let search = || scan().nearest("vec", &good).unwrap();
    refused(search().k(0).collect(), "at least 1");
    refused(search().refine(0).collect(), "at least 1");
    refused(search().nprobes(0).collect(), "at least one probe");
    refused(search().min_probes(3).max_probes(2).collect(), "below the maximum");
    refused(search().metric(Metric::Hamming).collect(), "hamming");
    refused(
        scan().nearest_each("vec", [&good, &with(f64::NAN)]).and_then(|search| search.collect()),
        "finite",
    );
    // Under another metric a vector of zeros is one as any other.
    assert_eq!(scan().nearest("vec", &[0.0; 32]).unwrap().metric(Metric::L2).collect().unwrap().len(), 10);

    let late = scan().deadline(Instant::now()).nearest("vec", &good).unwrap().collect();
    assert_eq!(late.expect_err("too late").kind(), ErrorKind::DeadlinePassed);
}

/// The README's search.
#[test]
fn words_near_a_word() {
    let dataset = Dataset::open(fixture("words")).unwrap();
    let all = dataset.scan().columns(["word", "vector"]).unwrap().collect().unwrap();
    let (words, vectors) =
        (all.column("word").unwrap(), all.column("vector").unwrap().flat::<f32>().unwrap());
    let vector = |row: usize| &vectors[row * 50..row * 50 + 50];
    let king = (0..all.len()).find(|&row| words.str(row) == Some("king")).unwrap();
    let as_f64 = |row: usize| vector(row).iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    let query = as_f64(king);
    let mut ranked: Vec<_> =
        (0..all.len()).map(|row| (row, distance(Metric::Cosine, &query, &as_f64(row)))).collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    let expected: Vec<_> = ranked[..10].iter().map(|&(row, _)| words.str(row).unwrap()).collect();
    assert!(expected.contains(&"queen"));

    let search = dataset.scan().nearest("vector", vector(king)).unwrap().columns(["word"]).unwrap();
    let found = search.nprobes(64).refine(20).collect().unwrap();
    let column = found.column("word").unwrap();
    assert_eq!((0..10).map(|row| column.str(row).unwrap()).collect::<Vec<_>>(), expected);
}

//! The low-level searcher: its answers are those of `Scan::nearest`, it shares one cache, and it allocates nothing.

#[path = "common/allocations.rs"]
mod allocations;
mod common;

use allocations::measure;
use common::{Copy, fixture};
use lancet::{Dataset, ErrorKind, Neighbour, Prefilter, SearchParams, VectorIndex};
use std::{
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Instant,
};

const NAMES: [&str; 14] = [
    "vec-ivf-flat-l2",
    "vec-ivf-flat-cosine",
    "vec-ivf-flat-dot",
    "vec-ivf-flat-f16-l2",
    "vec-ivf-flat-u8-hamming",
    "vec-ivf-pq-l2",
    "vec-ivf-pq-cosine",
    "vec-ivf-pq-dot",
    "vec-ivf-pq-4bit-l2",
    "vec-ivf-pq-f64-l2",
    "vec-ivf-pq-delta-l2",
    "vec-ivf-sq-l2",
    "vec-ivf-sq-cosine",
    "vec-ivf-sq-dot",
];

/// Vectors of numbers that every type can hold, near those of the datasets.
fn queries(name: &str, count: usize) -> Vec<Vec<f32>> {
    let number = |query: usize, i: usize| (query * 31 + i * 17 + query * i) % 64;
    let vector = |query| match name.contains("u8") {
        true => (0..32).map(|i| number(query, i) as f32 * 4.0).collect(),
        false => (0..32).map(|i| number(query, i) as f32 / 16.0 - 2.0).collect(),
    };
    (0..count).map(vector).collect()
}

fn open(name: &str) -> (Dataset, VectorIndex) {
    let dataset = Dataset::open(fixture(name)).unwrap();
    let index = dataset.vector_index("vec").unwrap();
    (dataset, index)
}

fn params() -> [SearchParams; 6] {
    let params = SearchParams::default;
    [
        params(),
        params().k(1).nprobes(1),
        params().k(25).nprobes(3),
        params().k(300).min_probes(2),
        params().k(400).min_probes(1).max_probes(3),
        params().k(12).nprobes(4).refine(7),
    ]
}

/// What `Scan::nearest` finds of rows that the index covers.
fn expected(dataset: &Dataset, query: &[f32], params: usize, filter: Option<&str>) -> Vec<(u64, f32)> {
    let mut scan = dataset.scan().columns(["id"]).unwrap().with_row_id();
    if let Some(filter) = filter {
        scan = scan.filter(filter).unwrap();
    }
    let nearest = scan.nearest("vec", query).unwrap().indexed_only(true);
    let nearest = match params {
        0 => nearest,
        1 => nearest.k(1).nprobes(1),
        2 => nearest.k(25).nprobes(3),
        3 => nearest.k(300).min_probes(2),
        4 => nearest.k(400).min_probes(1).max_probes(3),
        _ => nearest.k(12).nprobes(4).refine(7),
    };
    let found = nearest.collect().unwrap();
    let ids = found.column("_rowid").unwrap().primitive::<u64>().unwrap();
    let distances = found.column("_distance").unwrap().primitive::<f32>().unwrap();
    ids.iter().copied().zip(distances.iter().copied()).collect()
}

fn pairs(hits: &[Neighbour]) -> Vec<(u64, f32)> {
    hits.iter().map(|row| (row.row_id, row.distance)).collect()
}

#[test]
fn answers_are_those_of_the_scan() {
    for name in NAMES {
        let (dataset, index) = open(name);
        assert_eq!((index.dimension(), index.is_complete()), (32, false), "{name}");
        let (mut scratch, mut hits) = (index.scratch(), Vec::new());
        for filter in [None, Some("num < 300"), Some("num < 4"), Some("num < -1")] {
            let prefilter = match filter {
                None => Prefilter::default(),
                Some(filter) => index.prefilter(&dataset.scan().filter(filter).unwrap()).unwrap(),
            };
            for (number, params) in params().iter().enumerate() {
                for query in queries(name, 2) {
                    let searched = index.search(&query, params, &prefilter, &mut scratch, &mut hits).unwrap();
                    assert_eq!(pairs(&hits), expected(&dataset, &query, number, filter), "{name} {params:?}");
                    assert!(searched.partitions >= 1 && searched.rows >= hits.len() as u64);
                }
            }
        }
    }
}

/// A partition is visited once for all queries, which changes no answer: not even which of equally far rows come last.
#[test]
fn batches_are_as_good_as_single_queries() {
    let mut ties = 0;
    for name in NAMES {
        let (dataset, index) = open(name);
        let some = index.prefilter(&dataset.scan().filter("num < 600").unwrap()).unwrap();
        let (mut scratch, mut hits, mut batch) = (index.scratch(), Vec::new(), Vec::new());
        let queries = queries(name, 20);
        for params in params() {
            for prefilter in [Prefilter::default(), some.clone()] {
                let all =
                    index.search_batch(&queries, &params, &prefilter, &mut scratch, &mut batch).unwrap();
                assert_eq!(batch.len(), queries.len());
                let mut alone = 0;
                for (query, found) in queries.iter().zip(&batch) {
                    let searched = index.search(query, &params, &prefilter, &mut scratch, &mut hits).unwrap();
                    assert_eq!(pairs(found), pairs(&hits), "{name} {params:?}");
                    alone += searched.partitions;
                }
                ties += usize::from(all.partitions > alone);
            }
        }
        index.search_batch(&queries[..0], &params()[0], &some, &mut scratch, &mut batch).unwrap();
        assert!(batch.is_empty());
    }
    assert!(ties > 0, "some queries have rows that are equally far, and are searched alone");
}

#[test]
fn a_warm_search_allocates_nothing() {
    for name in NAMES {
        let (dataset, index) = open(name);
        let prefilter = index.prefilter(&dataset.scan().filter("num < 600").unwrap()).unwrap();
        let (mut scratch, mut hits) = (index.scratch(), Vec::new());
        let queries = queries(name, 8);
        index.prewarm().unwrap();
        for params in &params() {
            for prefilter in [Prefilter::default(), prefilter.clone()] {
                let mut run = || {
                    for query in &queries {
                        index.search(query, params, &prefilter, &mut scratch, &mut hits).unwrap();
                    }
                };
                run();
                let ((), taken) = measure([0; 3], run);
                assert_eq!(taken.number, 0, "{name} {params:?}");
            }
        }
    }
}

#[test]
fn what_was_decoded_is_shared_and_bounded() {
    let queries = queries("", 20);
    let everything = SearchParams::default().nprobes(8);
    let answers = |index: &VectorIndex| {
        let (mut scratch, mut hits, mut all) = (index.scratch(), Vec::new(), Vec::new());
        for query in &queries {
            index.search(query, &everything, &Prefilter::default(), &mut scratch, &mut hits).unwrap();
            all.push(pairs(&hits));
        }
        all
    };
    for name in ["vec-ivf-flat-l2", "vec-ivf-pq-l2", "vec-ivf-sq-l2"] {
        let (dataset, index) = open(name);
        let right = answers(&index);
        let usage = dataset.index_cache();
        let rows = 2000u64;
        assert_eq!((usage.entries, usage.misses, usage.evictions), (8, 8, 0));
        assert_eq!(usage.hits, 20 * 8 - 8);
        // Row ids are packed. Codes of product quantization are brought together, unless a partition lies in one chunk;
        // the others take no memory but for knowing where they lie.
        let most = rows * if name.contains("pq") { 16 } else { 12 };
        assert!((rows * 8..=most + 8 * 256).contains(&(usage.bytes as u64)), "{name}: {usage:?}");

        // Other versions and other handles of this one share it.
        let older = dataset.at_version(dataset.version() - 1).unwrap();
        if let Ok(index) = older.vector_index("vec") {
            answers(&index);
            assert_eq!(dataset.index_cache().misses, 8);
        }
        answers(&dataset.clone().vector_index("vec").unwrap());
        assert_eq!(dataset.index_cache().misses, 8);

        for budget in [0, 4096, usage.bytes / 2] {
            let small = Dataset::options().index_cache_bytes(budget).open(&fixture(name)).unwrap();
            assert_eq!(answers(&small.vector_index("vec").unwrap()), right);
            let usage = small.index_cache();
            assert!(usage.bytes <= budget && usage.evictions > 0, "{usage:?}");
        }
    }
}

#[test]
fn threads_read_a_partition_once() {
    for name in ["vec-ivf-pq-l2", "vec-ivf-flat-l2"] {
        let (dataset, index) = open(name);
        let queries = queries(name, 50);
        let params = SearchParams::default().nprobes(8);
        let run = || {
            let (mut scratch, mut hits, mut all) = (index.scratch(), Vec::new(), Vec::new());
            for query in &queries {
                index.search(query, &params, &Prefilter::default(), &mut scratch, &mut hits).unwrap();
                all.push(pairs(&hits));
            }
            all
        };
        let answers =
            thread::scope(|scope| [(); 4].map(|()| scope.spawn(run)).map(|thread| thread.join().unwrap()));
        assert!(answers.iter().all(|answer| *answer == answers[0]));
        let usage = dataset.index_cache();
        assert_eq!((usage.misses, usage.hits), (8, 4 * 50 * 8 - 8));
    }
}

/// A thousand queries hold the codes and row ids of what they touch, and little else; with a budget, no more than that.
#[test]
fn memory_grows_by_what_is_decoded() {
    const ROWS: usize = 20_000;
    const CODE: usize = 25;
    let plain = Dataset::open(fixture("words")).unwrap();
    let vectors = plain.scan().columns(["vector"]).unwrap().collect().unwrap();
    let vectors: Vec<&[f32]> = vectors.columns()[0].flat().unwrap().chunks_exact(50).step_by(20).collect();
    assert_eq!(vectors.len(), 1000);
    let params = SearchParams::default().nprobes(6);
    let everything = ROWS * 8 + ROWS * CODE * 12 / 10;
    for budget in [usize::MAX, everything / 4] {
        let dataset = Dataset::options().index_cache_bytes(budget).open(&fixture("words")).unwrap();
        let index = dataset.vector_index("vector").unwrap();
        let (mut scratch, mut hits) = (index.scratch(), Vec::new());
        let ((), taken) = measure([budget as u64, 0, 0], || {
            for vector in &vectors {
                index.search(vector, &params, &Prefilter::default(), &mut scratch, &mut hits).unwrap();
            }
        });
        let usage = dataset.index_cache();
        println!("{usage:?}, {taken:?}");
        assert!(usage.bytes <= budget && usage.entries > 10);
        // The tables of pages, room for one search, and a partition that is being read.
        assert!(taken.peak <= budget.min(everything) + (160 << 10), "{usage:?}, {taken:?}");
    }
}

/// What a version no longer uses is closed when the last one that does is gone.
#[test]
fn segments_live_as_long_as_their_versions() {
    let copy = Copy::of("vec-ivf-pq-l2");
    let dataset = Dataset::open(copy.path()).unwrap();
    let index = dataset.vector_index("vec").unwrap();
    index.prewarm().unwrap();
    let newer = dataset.at_version(dataset.version()).unwrap();
    let usage = dataset.index_cache();
    assert_eq!(usage.entries, 8);
    drop((dataset, index));
    // The newer handle was opened from the older: it keeps the segment, and what was read of it.
    assert_eq!(newer.index_cache(), usage);
    newer.vector_index("vec").unwrap().prewarm().unwrap();
    assert_eq!(newer.index_cache().misses, 8);
    let first = newer.at_version(1).unwrap();
    drop(newer);
    assert_eq!(first.index_cache().entries, 0);
}

#[test]
fn wrong_questions() {
    let (dataset, index) = open("vec-ivf-pq-cosine");
    let (mut scratch, mut hits) = (index.scratch(), vec![Neighbour { distance: 0.0, row_id: 0 }]);
    let good = vec![0.5f32; 32];
    let other = Dataset::open(fixture("vec-ivf-pq-l2")).unwrap();
    let foreign = other.vector_index("vec").unwrap().prefilter(&other.scan()).unwrap();
    let late = SearchParams::default().deadline(Instant::now());
    let cancelled = SearchParams::default().cancel(Arc::new(AtomicBool::new(true)));
    let (all, params) = (Prefilter::default(), SearchParams::default());
    let nan = vec![f32::NAN; 32];
    let zeros = vec![0.0; 32];
    for (query, params, prefilter, kind, words) in [
        (&good[..31], &params, &all, ErrorKind::InvalidInput, "expected 32 numbers"),
        (&nan, &params, &all, ErrorKind::InvalidInput, "finite"),
        (&zeros, &params, &all, ErrorKind::InvalidInput, "zeros"),
        (&good, &params.clone().k(0), &all, ErrorKind::InvalidInput, "at least 1"),
        (&good, &params.clone().nprobes(0), &all, ErrorKind::InvalidInput, "at least one probe"),
        (&good, &params, &foreign, ErrorKind::InvalidInput, "prefilter"),
        (&good, &late, &all, ErrorKind::DeadlinePassed, "deadline"),
        (&good, &cancelled, &all, ErrorKind::Cancelled, "cancelled"),
    ] {
        let error = index.search(query, params, prefilter, &mut scratch, &mut hits).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(words) && hits.is_empty(), "{error}");
    }
    assert!(index.prefilter(&other.scan()).is_err());
    assert!(dataset.vector_index("num").unwrap_err().to_string().contains("num"));
    let plain = Dataset::open(fixture("events")).unwrap();
    assert!(plain.vector_index("id").is_err());
}

//! Figures of the fixtures' indices, beside those that Lance tells of them.

mod common;

use common::fixture;
use lancet::{Column, Dataset, Figures, IndexStats, index::Storage};

fn stats(dataset: &str, index: &str) -> IndexStats {
    Dataset::open(fixture(dataset)).unwrap().index_stats(index).unwrap()
}

/// Dataset and index; sizes of the smallest partition, the middle, the 95th of a hundred and the largest, empty ones, and
/// the loss.
type Partitions = (&'static str, &'static str, usize, [u64; 4], usize, f64);

const PARTITIONS: [Partitions; 7] = [
    ("words", "vector_idx", 64, [161, 293, 475, 667], 0, 11143.857482656837),
    ("vec-ivf-pq-l2", "vec_idx", 8, [161, 228, 370, 370], 0, 60142.45635962486),
    ("vec-ivf-sq-l2", "vec_idx", 8, [38, 206, 425, 425], 0, 69450.46272420883),
    ("vec-ivf-flat-cosine", "vec_idx", 8, [85, 208, 425, 425], 0, 678.8502205833793),
    ("vec-ivf-hnsw-sq-l2", "vec_idx", 8, [85, 153, 471, 471], 0, 68151.40945959091),
    ("vec-ivf-pq-4bit-l2", "vec_idx", 8, [61, 147, 560, 560], 0, 75245.44261360168),
    ("vec-ivf-pq-delta-l2", "vec_idx", 8, [18, 264, 454, 454], 0, 67017.13100743294),
];

#[test]
fn partitions_of_vectors() {
    for (dataset, index, count, lengths, empty, loss) in PARTITIONS {
        let stats = stats(dataset, index);
        let Figures::Vector(figures) = &stats.segments[0].figures else { panic!("{stats:?}") };
        let found = figures.lengths;
        assert_eq!((found.count, found.empty), (count, empty), "{dataset}");
        assert_eq!([found.min, found.p50, found.p95, found.max], lengths, "{dataset}");
        assert_eq!(figures.loss, Some(loss), "{dataset}");
        assert_eq!(stats.index.kind, figures.kind, "{dataset}");
    }
    let delta = stats("vec-ivf-pq-delta-l2", "vec_idx");
    let Figures::Vector(second) = &delta.segments[1].figures else { panic!("{delta:?}") };
    assert_eq!((second.lengths.min, second.lengths.p50, second.lengths.max), (0, 14, 246));
    assert_eq!((second.lengths.empty, second.metric.name(), second.dimension), (1, "l2", 32));
    assert_eq!(second.storage, Storage::Product { bits: 8, parts: 8, transposed: true });
    let scalar = stats("vec-ivf-sq-l2", "vec_idx");
    let Figures::Vector(scalar) = &scalar.segments[0].figures else { panic!("{scalar:?}") };
    let bounds = Storage::Scalar { start: -6.568027973175049, end: 6.444080829620361 };
    assert_eq!((scalar.storage, scalar.rows), (bounds, 2000));
}

/// The least and the greatest value of a column, NULLs apart.
fn bounds_of(column: &Column) -> (usize, usize) {
    let rows = (0..column.len()).filter(|&row| !column.is_null(row));
    let by_key = |a: &usize, b: &usize| column.key(*a).cmp(&column.key(*b));
    (rows.clone().min_by(by_key).unwrap(), rows.max_by(by_key).unwrap())
}

/// Whether a bound is the value of a row.
fn is(bound: &Column, column: &Column, row: usize) -> bool {
    bound.len() == 1 && bound.key(0) == column.key(row)
}

#[test]
fn values_in_order() {
    for (index, column, pages, least_page) in [
        ("id_idx", "id", 5, 0),
        ("country_idx", "country", 5, 0),
        ("score_idx", "score", 5, 1),
        ("event_time_shuffled_idx", "event_time_shuffled", 5, 1),
        ("loc.pos.zip_idx", "loc.pos.zip", 5, 1),
    ] {
        let stats = stats("events", index);
        let Figures::BTree { pages: found, values, nulls, batch_size, bounds, .. } =
            &stats.segments[0].figures
        else {
            panic!("{stats:?}")
        };
        assert_eq!((*found, *batch_size), (pages, 4096), "{index}");
        assert!(*values > 4 * 4096 && *values <= 5 * 4096 && *nulls >= least_page);
        // Deleted rows are in the index still: live values of fragments that it covers lie between its bounds.
        let dataset = Dataset::open(fixture("events")).unwrap();
        let scan = dataset.scan().fragments(stats.index.fragments.clone()).unwrap();
        let batch = scan.columns([column]).unwrap().collect().unwrap();
        let (column, (least, greatest)) = (&batch.columns()[0], bounds_of(&batch.columns()[0]));
        let (min, max) = bounds.as_ref().unwrap();
        assert!(min.key(0) <= column.key(least) && max.key(0) >= column.key(greatest), "{index}");
    }
    let words = stats("words", "word_idx");
    let Figures::BTree { pages, values, nulls, bounds, .. } = &words.segments[0].figures else {
        panic!("{words:?}")
    };
    assert_eq!((*pages, *values, *nulls), (5, 20_000, 0));
    let (min, max) = bounds.as_ref().unwrap();
    assert_eq!((min.str(0), max.str(0)), (Some("!"), Some("€")));
    // The least value shares its page with NULLs.
    let num = stats("vec-ivf-pq-l2", "num_idx");
    let Figures::BTree { pages, nulls, bounds, .. } = &num.segments[0].figures else { panic!("{num:?}") };
    assert!(*pages == 1 && *nulls > 0);
    let dataset = Dataset::open(fixture("vec-ivf-pq-l2")).unwrap();
    let scan = dataset.scan().fragments(num.index.fragments.clone()).unwrap();
    let batch = scan.columns(["num"]).unwrap().collect().unwrap();
    let (min, max) = bounds.as_ref().unwrap();
    assert!(is(min, &batch.columns()[0], bounds_of(&batch.columns()[0]).0));
    assert_eq!(max.primitive::<i32>(), Some(&[998][..]));
}

#[test]
fn other_kinds() {
    for (index, expected) in [
        ("status_idx", "Bitmap { keys: 8, has_nulls: true"),
        ("flag_idx", "Bitmap { keys: 2, has_nulls: true"),
        ("tags_idx", "LabelList { labels: 12,"),
        ("note_ngram", "NGram { tokens: 100 }"),
        ("key_idx", "BloomFilter { zones: 39, rows_per_zone: 512, probability: 0.001,"),
        ("event_time_idx", "ZoneMap { zones: 39, rows_per_zone: 512,"),
    ] {
        let found = format!("{:?}", stats("events", index).segments[0].figures);
        assert!(found.starts_with(expected), "{index}: {found}");
    }
    let Figures::Inverted(words) = &stats("events", "note_fts").segments[0].figures else { panic!() };
    assert_eq!((words.base_tokenizer.as_deref(), &*words.language), (Some("simple"), "English"));
    assert_eq!((words.max_token_length, words.stem, words.with_position), (Some(40), true, false));
    let zones = stats("events-tiny-zonemap", "event_time_idx");
    let count = |segment: usize| format!("{:?}", zones.segments[segment].figures);
    assert!(count(0).starts_with("ZoneMap { zones: 2, rows_per_zone: 8192"), "{}", count(0));
    assert!(count(1).starts_with("ZoneMap { zones: 1, rows_per_zone: 8192"), "{}", count(1));
    let status = stats("events", "status_idx");
    let Figures::Bitmap { bounds: Some((min, max)), .. } = &status.segments[0].figures else { panic!() };
    assert!(min.key(0) < max.key(0));
    assert!(Dataset::open(fixture("events")).unwrap().index_stats("nothing").is_err());
}

/// Every index of every dataset has figures.
#[test]
fn all_indices() {
    let mut count = 0;
    for entry in std::fs::read_dir(format!("{}/../fixtures", env!("CARGO_MANIFEST_DIR"))).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "lance") {
            continue;
        }
        let dataset = Dataset::open(&path).unwrap();
        for index in dataset.indices().unwrap() {
            let stats = dataset.index_stats(&index.name).unwrap();
            assert_eq!(stats.segments.len(), index.segments.len());
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn an_index_that_is_not_there() {
    for (dataset, expected) in [
        ("words", "the dataset has no index `no_idx`; it has `word_idx`, `initial_idx`, `vector_idx`"),
        ("types-v21", "the dataset has no index `no_idx`; it has none"),
    ] {
        let error = Dataset::open(fixture(dataset)).unwrap().index_stats("no_idx").unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

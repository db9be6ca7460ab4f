//! Searches of all stored indices: what they select is what the values of the rows say.

use crate::{datasets, folder, judge::Truth, segments};
use lancet::Dataset;
use lancet_format::{
    Key, Scalar,
    index::{
        BTreeIndex, BitmapIndex, BloomFilterIndex, IdDomain, IndexKind, LabelListIndex, NGramIndex,
        ZoneMapIndex,
    },
};
use lancet_index::{
    Answer, Query, RowSet, bitmap, bloom_filter,
    btree::{self, LastPage, Scratch},
    label_list, ngram, zone_map,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound::{self, Excluded, Included, Unbounded},
};

/// How often each kind answered, and how many rows it selected of how many that there were.
#[derive(Debug, Default)]
struct Tally {
    answers: usize,
    /// Rows of which the index was sure, although not of all.
    sure: usize,
    found: usize,
    expected: usize,
}

/// What is searched, and how: a query, and whether NULL rows are wanted.
type Search<'a> = &'a mut dyn FnMut(&Query<'_>, Option<&mut RowSet>) -> Option<Answer>;

#[test]
fn searches_select_what_the_values_say() {
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    for path in datasets("").into_iter().chain(datasets("bugs")) {
        let dataset = Dataset::open(&path).unwrap();
        let rows_of = |fragment: u32| match dataset.manifest().position_of(fragment) {
            Some(at) => dataset.manifest().fragments[at].physical_rows.unwrap(),
            // Of a fragment that was compacted away all rows are in play: they have moved.
            None => 1 << 20,
        };
        for (entry, kind) in segments(&dataset) {
            let [field] = entry.fields[..] else { continue };
            let Some(column) = dataset.schema().path_of(field) else { continue };
            let mut truth = Truth::of(&dataset, &entry, &column).without_lost(&path.to_string_lossy());
            let files = folder(&path, &entry);
            match &kind {
                IndexKind::ZoneMap(_) => {
                    truth.retain_fragments(ZoneMapIndex::open(&files).unwrap().fragments())
                }
                IndexKind::BloomFilter => {
                    truth.retain_fragments(BloomFilterIndex::open(&files).unwrap().fragments());
                }
                _ => {}
            }
            let name = format!("{}, index {}, segment {}", path.display(), entry.name, entry.uuid);
            let mut check = |name_of_kind, queries: &[Query<'_>], search: Search<'_>| {
                let tally = tallies.entry(name_of_kind).or_default();
                for query in queries {
                    check(query, search, &truth, kind.domain(), &name, tally);
                }
            };
            let samples = samples(&truth);
            let queries = of_values(&samples);
            match &kind {
                IndexKind::BTree(_) => {
                    let index = BTreeIndex::open(&files).unwrap();
                    let (mut pages, mut scratch) = (LastPage::default(), Scratch::default());
                    check("BTree", &queries, &mut |query, nulls| {
                        btree::search(&index, query, &mut pages, &mut scratch, RowSet::new(), nulls).unwrap()
                    });
                }
                IndexKind::Bitmap => {
                    let index = BitmapIndex::open(&files).unwrap();
                    check("Bitmap", &queries, &mut |query, nulls| {
                        bitmap::search(&index, query, &rows_of, nulls).unwrap()
                    });
                }
                IndexKind::ZoneMap(_) => {
                    let index = ZoneMapIndex::open(&files).unwrap();
                    check("ZoneMap", &queries, &mut |query, _| {
                        zone_map::search(&index, query, &rows_of).unwrap()
                    });
                }
                IndexKind::BloomFilter => {
                    let index = BloomFilterIndex::open(&files).unwrap();
                    let data_type = truth.values.data_type();
                    check("BloomFilter", &queries, &mut |query, _| {
                        bloom_filter::search(&index, data_type, query, &rows_of).unwrap()
                    });
                }
                IndexKind::LabelList { .. } => {
                    let index = LabelListIndex::open(&files).unwrap();
                    let lists = of_lists(&truth);
                    let queries: Vec<Query<'_>> =
                        lists.iter().flat_map(|items| [Query::HasAny(items), Query::HasAll(items)]).collect();
                    check("LabelList", &queries, &mut |query, nulls| {
                        label_list::search(&index, query, &rows_of, nulls).unwrap()
                    });
                }
                IndexKind::NGram => {
                    let index = NGramIndex::open(&files).unwrap();
                    let needles = needles(&truth);
                    let queries: Vec<Query<'_>> =
                        needles.iter().map(|needle| Query::Contains(needle)).collect();
                    check("NGram", &queries, &mut |query, _| ngram::search(&index, query).unwrap());
                }
                _ => {}
            }
        }
    }
    println!("{tallies:#?}");
    for (kind, least) in [
        ("BTree", 1500),
        ("Bitmap", 500),
        ("ZoneMap", 300),
        ("BloomFilter", 60),
        ("LabelList", 20),
        ("NGram", 20),
    ] {
        assert!(tallies[kind].answers >= least, "{kind}: {tallies:?}");
    }
    assert!(tallies["ZoneMap"].sure > 10_000, "{tallies:?}");
    // Filters let few rows by that they should not.
    let bloom = &tallies["BloomFilter"];
    assert!(bloom.found < bloom.expected + 12 * 512 * bloom.answers, "{bloom:?}");
}

/// Six distinct values of the column or less: the first and the last in order, and some between.
fn samples<'a>(truth: &'a Truth) -> Vec<Scalar<'a>> {
    let mut rows: Vec<usize> =
        (0..truth.values.len()).filter(|&row| truth.values.scalar(row).is_some()).collect();
    rows.sort_by_key(|&row| truth.values.key(row));
    rows.dedup_by_key(|row| truth.values.key(*row));
    let step = rows.len().div_ceil(5).max(1);
    let chosen = rows.iter().step_by(step).chain(rows.last());
    chosen.filter_map(|&row| truth.values.scalar(row)).collect()
}

fn of_values<'a>(samples: &'a [Scalar<'a>]) -> Vec<Query<'a>> {
    let mut queries = vec![Query::IsNull, Query::Range(Unbounded, Unbounded), Query::IsIn(&[])];
    let bound = |kind: usize, value| [Included(value), Excluded(value), Unbounded][kind % 3];
    for (at, &value) in samples.iter().enumerate() {
        queries.push(Query::Equals(value));
        // Every pair of bounds occurs, and some ranges are empty.
        let other = samples[(at + 1) % samples.len()];
        queries
            .extend([0, 1, 3].map(|turn| Query::Range(bound(at + turn, value), bound(at / 3 + turn, other))));
        if let Scalar::Bytes(bytes) = value {
            queries.push(Query::StartsWith(&bytes[..(at % 4).min(bytes.len())]));
        }
        queries.extend(beside(value).map(Query::Equals));
    }
    queries.push(Query::IsIn(&samples[samples.len() / 2..]));
    queries
}

/// A value that is close by and rarely there.
fn beside(value: Scalar<'_>) -> Option<Scalar<'_>> {
    match value {
        Scalar::Int(value) => value.checked_add(1).map(Scalar::Int),
        Scalar::UInt(value) => value.checked_add(1).map(Scalar::UInt),
        Scalar::Float64(value) => Some(Scalar::Float64(-value)),
        Scalar::Float32(value) => Some(Scalar::Float32(-value)),
        _ => None,
    }
}

fn of_lists(truth: &Truth) -> Vec<Vec<Option<Scalar<'_>>>> {
    let items = truth.values.child().unwrap();
    let mut lists: Vec<Vec<Option<Scalar<'_>>>> = vec![vec![None], vec![Some(Scalar::Bytes(b"none such"))]];
    for row in (0..truth.values.len()).step_by(1 + truth.values.len() / 12) {
        let list: Vec<_> = truth.values.range(row).unwrap().map(|item| items.scalar(item)).collect();
        lists.extend(list.iter().map(|item| vec![*item]));
        lists.push(list);
    }
    lists.retain(|list| !list.is_empty());
    lists
}

fn needles(truth: &Truth) -> Vec<String> {
    let texts = (0..truth.values.len()).step_by(1 + truth.values.len() / 12);
    let texts: Vec<&str> = texts.filter_map(|row| truth.values.str(row)).collect();
    let parts = texts.iter().flat_map(|text| text.split(' ').map(str::to_owned));
    parts.chain(["none such".to_owned(), "a b".to_owned()]).filter(|needle| needle.is_ascii()).collect()
}

/// Whether the query is true for a row; `None` is NULL.
fn holds(query: &Query<'_>, truth: &Truth, row: usize) -> Option<bool> {
    let values = &truth.values;
    if *query == Query::IsNull {
        return Some(values.is_null(row));
    }
    if values.is_null(row) {
        return None;
    }
    let above = |bound: &Bound<Scalar<'_>>, key: Key<'_>| match bound.map(Scalar::key) {
        Included(lower) => lower <= key,
        Excluded(lower) => lower < key,
        Unbounded => true,
    };
    let below = |bound: &Bound<Scalar<'_>>, key: Key<'_>| match bound.map(Scalar::key) {
        Included(upper) => key <= upper,
        Excluded(upper) => key < upper,
        Unbounded => true,
    };
    let items = || {
        let items = values.child().unwrap();
        values.range(row).unwrap().map(|item| items.key(item)).collect::<Vec<_>>()
    };
    Some(match query {
        Query::Equals(value) => values.key(row) == Some(value.key()),
        Query::Range(lower, upper) => {
            let key = values.key(row).unwrap();
            above(lower, key) && below(upper, key)
        }
        Query::IsIn(set) => set.iter().any(|value| values.key(row) == Some(value.key())),
        Query::StartsWith(prefix) => values.bytes(row).unwrap().starts_with(prefix),
        Query::Contains(needle) => values.str(row).unwrap().contains(needle),
        Query::HasAny(set) => set.iter().any(|value| items().contains(&value.map(Scalar::key))),
        Query::HasAll(set) => set.iter().all(|value| items().contains(&value.map(Scalar::key))),
        _ => panic!("another query"),
    })
}

fn check(
    query: &Query<'_>,
    search: Search<'_>,
    truth: &Truth,
    domain: IdDomain,
    name: &str,
    tally: &mut Tally,
) {
    let mut nulls: RowSet = [u64::MAX - 1].into_iter().collect();
    let Some(answer) = search(query, Some(&mut nulls)) else { return };
    let again = search(query, None);
    assert_eq!(again.as_ref(), Some(&answer), "{name}: {query:?}");
    let rows =
        |set: &RowSet| -> BTreeSet<usize> { set.iter().filter_map(|id| truth.find(domain, id)).collect() };
    let found = rows(answer.rows());
    let expected = truth.rows_where(|row| holds(query, truth, row) == Some(true));
    let is_list = matches!(query, Query::HasAny(_) | Query::HasAll(_));
    match &answer {
        // A LabelList under stable row ids keeps the elements of rows that were updated.
        Answer::Exact(_) if truth.stable && is_list => {
            assert!(found.is_superset(&expected), "{name}: {query:?}");
        }
        Answer::Exact(_) => assert_eq!(found, expected, "{name}: {query:?}"),
        Answer::AtMost(_) => assert!(found.is_superset(&expected), "{name}: {query:?}"),
        Answer::Between { least, .. } => {
            assert!(found.is_superset(&expected), "{name}: {query:?}");
            assert!(rows(least).is_subset(&expected), "{name}: {query:?}");
            tally.sure += rows(least).len();
        }
    }
    // Indices that do not tell leave the set alone.
    if !nulls.contains(u64::MAX - 1) {
        let expected = truth.rows_where(|row| holds(query, truth, row).is_none());
        match truth.stable && is_list {
            true => assert!(rows(&nulls).is_superset(&expected), "{name}: {query:?}"),
            false => assert_eq!(rows(&nulls), expected, "{name}: {query:?}"),
        }
    }
    tally.answers += 1;
    tally.found += found.len();
    tally.expected += expected.len();
}

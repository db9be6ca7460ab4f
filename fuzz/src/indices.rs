//! Targets of indices: a segment is opened, read, and searched for values that it holds.

use super::{MAX_NUMBERS, check, check_set, pieces};
use lancet::storage::{Bytes, FormatError, Source};
use lancet_format::{
    DataType, Key, Physical, Scalar,
    index::{
        BTreeIndex, BitmapIndex, BloomFilterIndex, BloomHash, IndexFiles, IvfIndex, LabelListIndex,
        NGramIndex, RowAddressSet, Zone, ZoneMapIndex,
    },
};
use lancet_index::{
    Query, RowSet, bitmap as bitmap_search, bloom_filter as bloom_search,
    btree::{self as btree_search, LastPage},
    ivf::{Ivf, Scratch},
    nearest::{Nearest, Range},
    vector::Vector,
    zone_map as zone_search,
};
use std::sync::Arc;

/// Pages and keys that are looked at.
const MAX_PAGES: usize = 16;
/// What one value of text or binary may take, in rows that all have the same.
const MAX_VALUE: usize = 16 << 10;
/// Rows of every fragment, as far as sets of whole fragments and zones go.
const ROWS: u64 = 1 << 18;

/// The files of a segment, by name.
#[derive(Debug)]
struct Files(Vec<(&'static str, Bytes)>);

impl IndexFiles for Files {
    fn open(&self, name: &str) -> Result<Option<Arc<dyn Source>>, FormatError> {
        let found = self.0.iter().find(|(own, _)| *own == name);
        Ok(found.map(|(_, bytes)| Arc::new(bytes.clone()) as Arc<dyn Source>))
    }

    fn names(&self) -> Result<Vec<String>, FormatError> {
        Ok(self.0.iter().map(|(name, _)| (*name).to_owned()).collect())
    }
}

/// The input as the only file.
fn only(name: &'static str, bytes: &Bytes) -> Files {
    Files(vec![(name, bytes.clone())])
}

/// The bytes that so many values of a type may take.
fn bytes_of(data_type: &DataType, rows: usize) -> usize {
    let width = match data_type.physical() {
        Physical::Variable | Physical::LargeVariable => MAX_VALUE,
        _ => check::width(data_type),
    };
    width.saturating_mul(rows)
}

pub(super) fn btree(bytes: &Bytes) -> usize {
    let [lookup, data] = &pieces(bytes)[..] else { return 0 };
    let files =
        Files(vec![("page_lookup.lance", lookup.clone().into()), ("page_data.lance", data.clone().into())]);
    let Ok(index) = BTreeIndex::open(&files) else { return 0 };
    let mut pages = LastPage::default();
    let mut rows = 0;
    for page in 0..index.num_pages().min(MAX_PAGES) {
        let own = index.page_rows(page);
        assert!(own.start < own.end && own.end <= index.num_rows());
        rows += (own.end - own.start) as usize;
        if let Ok(ids) = index.read_ids(own.clone(), None) {
            assert_eq!(ids.primitive::<u64>().map(<[u64]>::len), Some((own.end - own.start) as usize));
        }
        let Ok(values) = index.read_page(page, None) else { continue };
        check::check_column(&values, index.data_type(), "values");
        for row in [0, values.len() / 2, values.len() - 1] {
            let Some(value) = values.scalar(row) else { continue };
            let mut found = Vec::new();
            if let Ok(served) = btree_search::intervals(&index, &Query::Equals(value), &mut pages, &mut found)
            {
                let row = own.start + row as u64;
                assert!(served && found.len() == 1 && found[0].contains(&row), "{row} in {found:?}");
            }
        }
    }
    bytes_of(index.data_type(), rows + 2 * index.num_pages())
}

pub(super) fn bitmap(bytes: &Bytes) -> usize {
    let Ok(lists) = LabelListIndex::open(&only("bitmap_page_lookup.lance", bytes)) else { return 0 };
    lists.null_lists().map(check_rows);
    let index: &BitmapIndex = lists.elements();
    for position in 0..index.num_keys().min(MAX_NUMBERS) {
        let key: Key<'_> = index.key(position);
        assert!(position == 0 || index.key(position - 1) <= key);
        assert!(index.find(key).contains(&position));
        if let Ok(rows) = index.rows(position) {
            check_rows(&rows);
        }
    }
    if let Ok(Some(answer)) = bitmap_search::search(index, &Query::IsNull, &|_| ROWS, None) {
        assert!(answer.is_exact());
    }
    bytes_of(index.data_type(), index.num_keys())
}

fn check_rows(rows: &RowAddressSet) {
    rows.fragments().take(MAX_PAGES).filter_map(|(_, rows)| rows).for_each(check_set);
    let mut set = RowSet::new();
    lancet_index::query::union_of_addresses(std::slice::from_ref(rows), &|_| ROWS, &mut set);
    assert!(rows.len().is_none_or(|len| len == set.len()));
    assert!(set.ranges().take(MAX_NUMBERS).all(|range| rows.contains(range.start)));
}

fn check_zones(zones: &[Zone]) {
    assert!(zones.is_sorted());
    assert!(zones.iter().all(|zone| zone.len > 0 && zone.addresses().end > zone.addresses().start));
}

pub(super) fn zone_map(bytes: &Bytes) -> usize {
    let Ok(index) = ZoneMapIndex::open(&only("zonemap.lance", bytes)) else { return 0 };
    check_zones(index.zones());
    index.null_rows().map(check_rows);
    let all = zone_search::zones(&index, &Query::IsNull).expect("a query that is served");
    assert!(all.iter().all(|&position| index.null_counts()[position] > 0));
    if index.zones().len() < MAX_NUMBERS {
        let answer = zone_search::search(&index, &Query::IsNull, &|_| ROWS).expect("all is in memory");
        assert!(answer.is_some());
    }
    bytes_of(index.data_type(), 2 * index.zones().len())
}

pub(super) fn bloom_filter(bytes: &Bytes) -> usize {
    let Ok(index) = BloomFilterIndex::open(&only("bloomfilter.lance", bytes)) else { return 0 };
    check_zones(index.zones());
    index.null_rows().map(check_rows);
    let hash = BloomHash::of(Scalar::Int(5), &DataType::Int64).expect("a type that has filters");
    if let Ok(zones) = index.may_hold(hash) {
        assert!(zones.count() <= index.zones().len());
        let answer =
            bloom_search::search(&index, &DataType::Int64, &Query::Equals(Scalar::Int(5)), &|_| ROWS);
        assert!(answer.is_ok_and(|answer| answer.is_some()));
    }
    // A filter that is the same in all zones takes its bytes once in the file.
    bytes_of(&DataType::Binary, index.zones().len())
}

pub(super) fn ngram(bytes: &Bytes) -> usize {
    let Ok(index) = NGramIndex::open(&only("ngram_postings.lance", bytes)) else { return 0 };
    for &token in index.tokens().iter().take(MAX_NUMBERS) {
        if let Ok(rows) = index.rows(token) {
            let rows = rows.expect("a token that is there");
            rows.parts().take(MAX_PAGES).for_each(|(_, rows)| check_set(rows));
        }
    }
    0
}

/// Every partition is searched with its own centroid, as far as there are not too many.
pub(super) fn ivf(bytes: &Bytes) -> usize {
    let [index, auxiliary] = &pieces(bytes)[..] else { return 0 };
    let files = Files(vec![("index.idx", index.clone().into()), ("auxiliary.idx", auxiliary.clone().into())]);
    // What is recognised only must not panic either.
    let Ok(file) = IvfIndex::open(&files) else { return 0 };
    let Ok(ivf) = Ivf::open(&files) else { return 0 };
    let (centroids, dimension) = (file.centroids(), file.dimension());
    let zeros = vec![0.0; dimension];
    let queries = [&zeros, &vec![1.0; dimension]].map(|numbers| Vector::new(numbers, centroids.item()));
    let (mut scratch, mut nearest) = (Scratch::default(), Nearest::default());
    for query in queries.into_iter().flatten() {
        let Ok(query) = ivf.query(&query) else { continue };
        let count = ivf.partitions().min(MAX_PAGES);
        ivf.rank(&query, count, &mut scratch);
        nearest.start(MAX_NUMBERS, Range::default());
        for rank in 0..count {
            let number = scratch.ranked()[rank].1 as usize;
            if let Ok(partition) = ivf.read(number) {
                let _ = ivf.probe(&query, number, &partition, None, &mut scratch, &mut nearest);
            }
        }
        assert!(nearest.finish().is_sorted_by(|a, b| a.order(b).is_lt() || a == b));
    }
    // Row ids, and vectors or codes of at most eight bytes a number.
    (file.rows() as usize).saturating_mul(8 + 8 * dimension)
}

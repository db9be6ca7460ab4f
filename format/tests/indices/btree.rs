//! BTrees.

use crate::{Files, Writer, nullable, numbers, refused};
use lancet_format::{Key, Result, Scalar, index::BTreeIndex};

const LOOKUP: &str = "page_lookup.lance";
const DATA: &str = "page_data.lance";

/// Five values in pages of two.
#[derive(Clone)]
struct Sample {
    values: Vec<Option<i32>>,
    ids: Vec<u64>,
    min: Vec<Option<i32>>,
    max: Vec<Option<i32>>,
    nulls: Vec<u32>,
    positions: Vec<u32>,
    batch_size: &'static str,
    max_type: &'static str,
    claimed_rows: Option<u64>,
}

impl Sample {
    fn new() -> Self {
        Sample {
            values: vec![None, Some(1), Some(1), Some(5), Some(9)],
            ids: vec![4, 3, 7, 0, 1 << 40],
            min: vec![None, Some(1), Some(9)],
            max: vec![Some(1), Some(5), Some(9)],
            nulls: vec![1, 0, 0],
            positions: vec![0, 1, 2],
            batch_size: "2",
            max_type: "int32",
            claimed_rows: None,
        }
    }

    fn data(&self) -> Vec<u8> {
        let writer = Writer::default().field("values", None, "int32", nullable(&self.values)).field(
            "ids",
            None,
            "uint64",
            numbers(&self.ids, u64::to_le_bytes),
        );
        writer.finish(self.claimed_rows.unwrap_or(self.ids.len() as u64))
    }

    fn lookup(&self, metadata: &[(&str, &str)]) -> Vec<u8> {
        let writer = Writer::default()
            .field("min", None, "int32", nullable(&self.min))
            .field("max", None, self.max_type, nullable(&self.max))
            .field("null_count", None, "uint32", numbers(&self.nulls, u32::to_le_bytes))
            .field("page_idx", None, "uint32", numbers(&self.positions, u32::to_le_bytes))
            .metadata("batch_size", self.batch_size);
        let writer = metadata.iter().fold(writer, |writer, (key, value)| writer.metadata(key, value));
        writer.finish(self.nulls.len() as u64)
    }

    fn open(&self) -> Result<BTreeIndex> {
        BTreeIndex::open(&Files::default().with(LOOKUP, self.lookup(&[])).with(DATA, self.data()))
    }
}

fn with(change: impl FnOnce(&mut Sample)) -> Result<BTreeIndex> {
    let mut sample = Sample::new();
    change(&mut sample);
    sample.open()
}

fn keys(index: &BTreeIndex, page: usize) -> Vec<Option<Key<'static>>> {
    let values = index.read_page(page, None).unwrap();
    let key =
        |row| values.key(row).map(|key| if let Key::Word(word) = key { Key::Word(word) } else { panic!() });
    (0..values.len()).map(key).collect()
}

fn key(value: i32) -> Key<'static> {
    Scalar::Int(value.into()).key()
}

#[test]
fn pages_and_ids() {
    let index = Sample::new().open().unwrap();
    assert_eq!((index.num_rows(), index.num_nulls(), index.num_pages(), index.batch_size()), (5, 1, 3, 2));
    assert_eq!([0, 1, 2].map(|page| index.page_rows(page)), [0..2, 2..4, 4..5]);
    assert_eq!(keys(&index, 0), [None, Some(key(1))]);
    assert_eq!(keys(&index, 2), [Some(key(9))]);
    assert_eq!(index.read_ids(1..5, None).unwrap().primitive::<u64>().unwrap(), [3, 7, 0, 1 << 40]);
    assert_eq!(index.read_ids(5..5, None).unwrap().len(), 0);
    let first = |value| index.page_partition_point(|own| own < key(value));
    assert_eq!([0, 1, 2, 5, 6, 10].map(first), [0, 0, 1, 1, 2, 3]);
}

#[test]
fn an_empty_index_has_no_pages() {
    let index = with(|sample| {
        *sample = Sample {
            values: vec![],
            ids: vec![],
            min: vec![],
            max: vec![],
            nulls: vec![],
            positions: vec![],
            ..sample.clone()
        };
    });
    let index = index.unwrap();
    assert_eq!((index.num_rows(), index.num_pages()), (0, 0));
    assert_eq!(index.read_ids(0..0, None).unwrap().len(), 0);
}

#[test]
fn tables_that_contradict_themselves() {
    let lookup = |change: fn(&mut Sample), expected: &str| refused(with(change), LOOKUP, expected);
    lookup(|sample| sample.batch_size = "0", "batch_size");
    lookup(|sample| sample.batch_size = "99999999999", "batch_size");
    // What is no number is the default, of which there would be one page.
    lookup(|sample| sample.batch_size = "two", "expected 1 pages of 4096 rows");
    lookup(|sample| sample.batch_size = "1", "expected 5 pages");
    lookup(|sample| sample.positions[1] = 2, "row 1: expected page 1, found 2");
    lookup(|sample| sample.nulls[0] = 3, "row 0: expected at most 2 nulls");
    lookup(|sample| sample.nulls[0] = 0, "row 0: expected bounds");
    lookup(|sample| sample.nulls[1] = 1, "row 1: expected bounds");
    lookup(|sample| sample.max[1] = None, "row 1: expected bounds");
    lookup(|sample| sample.max[1] = Some(0), "row 1: expected bounds that ascend");
    lookup(|sample| sample.min[2] = Some(4), "row 2: expected bounds that ascend");
    lookup(|sample| sample.max_type = "uint32", "column `max`: expected type int32, found uint32");
}

#[test]
fn values_that_contradict_the_table() {
    let page = |change: fn(&mut Sample), page: usize, expected: &str| {
        refused(with(change).unwrap().read_page(page, None), DATA, expected);
    };
    page(|sample| sample.values[0] = Some(0), 0, "(page 0): expected 1 nulls before all others");
    page(|sample| sample.values.swap(0, 1), 0, "(page 0): expected 1 nulls before all others");
    page(|sample| sample.values[2] = Some(0), 1, "rows 2..4 (page 1): expected the bounds");
    page(|sample| sample.values[3] = Some(6), 1, "expected the bounds");
    let unordered = with(|sample| {
        sample.batch_size = "5";
        sample.values = vec![Some(1), Some(7), Some(5), Some(6), Some(9)];
        (sample.min, sample.max) = (vec![Some(1)], vec![Some(9)]);
        (sample.nulls, sample.positions) = (vec![0], vec![0]);
    });
    refused(unordered.unwrap().read_page(0, None), DATA, "values that ascend");
    refused(with(|sample| sample.claimed_rows = Some(1 << 40)), DATA, "expected at most");
    let long = with(|sample| sample.claimed_rows = Some(6)).unwrap();
    refused(long.read_ids(0..6, None), DATA, "column `ids`");
}

#[test]
fn missing_files_and_columns() {
    let sample = Sample::new();
    refused(BTreeIndex::open(&Files::default().with(DATA, sample.data())), LOOKUP, "found none");
    refused(BTreeIndex::open(&Files::default().with(LOOKUP, sample.lookup(&[]))), DATA, "found none");
    let swapped = Files::default().with(LOOKUP, sample.lookup(&[])).with(DATA, sample.lookup(&[]));
    refused(BTreeIndex::open(&swapped), DATA, "expected a column `values`");
}

/// Values 1, 1, 2 in one part and 3, 4 in another, in pages of two.
fn parts(listed: Option<&str>) -> Files {
    let part = |values: &[i32], ids: &[u64]| Sample {
        values: values.iter().copied().map(Some).collect(),
        ids: ids.into(),
        ..Sample::new()
    };
    let table = Sample {
        min: vec![Some(1), Some(2), Some(3)],
        max: vec![Some(1), Some(2), Some(4)],
        nulls: vec![0; 3],
        ..Sample::new()
    };
    let mut metadata = vec![("range_partitioned", "true")];
    metadata.extend(listed.map(|listed| ("page_num_per_range_partition", listed)));
    Files::default()
        .with(LOOKUP, table.lookup(&metadata))
        .with("part_4294967296_page_data.lance", part(&[1, 1, 2], &[10, 11, 12]).data())
        .with("part_0_page_data.lance", part(&[3, 4], &[13, 14]).data())
}

#[test]
fn indices_of_several_parts() {
    let index = BTreeIndex::open(&parts(Some("[[4294967296,2],[0,1]]"))).unwrap();
    assert_eq!([0, 1, 2].map(|page| index.page_rows(page)), [0..2, 2..3, 3..5]);
    assert_eq!(keys(&index, 1), [Some(key(2))]);
    assert_eq!(keys(&index, 2), [Some(key(3)), Some(key(4))]);
    for (rows, ids) in [(0..5, &[10, 11, 12, 13, 14][..]), (2..4, &[12, 13]), (3..5, &[13, 14])] {
        assert_eq!(index.read_ids(rows, None).unwrap().primitive::<u64>().unwrap(), ids);
    }
    refused(BTreeIndex::open(&parts(None)), LOOKUP, "expected parts, found none");
    refused(BTreeIndex::open(&parts(Some("[7]"))), LOOKUP, "expected pairs");
    refused(BTreeIndex::open(&parts(Some("[[0,1],[1,2]]"))), "part_1_page_data.lance", "found none");
    let wrong = parts(Some("[[4294967296,1],[0,2]]"));
    refused(BTreeIndex::open(&wrong), "part_4294967296_page_data.lance", "expected 1 pages");
}

#[test]
fn the_only_part_is_the_index() {
    let sample = Sample::new();
    let part = |lookup: &str, data: &str| {
        Files::default()
            .with(&format!("part_{lookup}_{LOOKUP}"), sample.lookup(&[]))
            .with(&format!("part_{data}_{DATA}"), sample.data())
    };
    assert_eq!(BTreeIndex::open(&part("7", "7")).unwrap().num_rows(), 5);
    refused(BTreeIndex::open(&part("7", "8")), LOOKUP, "found none");
}

//! Bitmap, LabelList and NGram indices.

use crate::{Files, Writer, blobs, nullable, numbers, refused};
use lancet_format::{
    Result, Scalar,
    index::{BitmapIndex, LabelListIndex, NGramIndex},
};

const BITMAP: &str = "bitmap_page_lookup.lance";
const NGRAM: &str = "ngram_postings.lance";

/// A set of one row.
fn row(offset: u8) -> Vec<u8> {
    let roaring = [0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, offset, 0];
    [&[1, 0, 0, 0, 0, 0, 0, 0, 18, 0, 0, 0][..], &roaring].concat()
}

fn bitmap(keys: &[Option<i32>], sets: &[&[u8]]) -> Writer {
    Writer::default().field("keys", None, "int32", nullable(keys)).field(
        "bitmaps",
        None,
        "binary",
        blobs(sets),
    )
}

fn rows(index: &BitmapIndex, value: i64) -> Vec<u64> {
    let sets = index.find(Scalar::Int(value).key()).map(|position| index.rows(position).unwrap());
    let sets: Vec<_> = sets.collect();
    (0..100).filter(|row| sets.iter().any(|set| set.contains(*row))).collect()
}

#[test]
fn keys_in_any_order_and_twice() {
    let sets = [row(1), row(2), row(3), row(4), vec![0; 4]];
    let sets: Vec<&[u8]> = sets.iter().map(|set| &set[..]).collect();
    let keys = [Some(9), None, Some(-1), Some(9), Some(4)];
    let index = BitmapIndex::open(&Files::default().with(BITMAP, bitmap(&keys, &sets).finish(5))).unwrap();
    assert_eq!((index.num_keys(), index.num_null_sets()), (4, 1));
    assert!((1..4).all(|position| index.key(position - 1) <= index.key(position)));
    assert_eq!((rows(&index, 9), rows(&index, -1), rows(&index, 4)), (vec![1, 4], vec![3], vec![]));
    assert_eq!(index.find(Scalar::Int(5).key()).len(), 0);
    assert!(index.null_rows(0).unwrap().contains(2));
}

#[test]
fn sets_that_are_none() {
    let index =
        BitmapIndex::open(&Files::default().with(BITMAP, bitmap(&[Some(1)], &[b"\x01\0\0"]).finish(1)));
    refused(index.unwrap().rows(0), BITMAP, "row 0, byte 0: set of rows");
    let many = bitmap(&[Some(1)], &[b""]).finish(u64::MAX);
    refused(BitmapIndex::open(&Files::default().with(BITMAP, many)), BITMAP, "expected at most");
    let unordered = Writer::default().field("keys", None, "null", vec![]).finish(0);
    refused(BitmapIndex::open(&Files::default().with(BITMAP, unordered)), BITMAP, "no order");
    refused(BitmapIndex::open(&Files::default()), BITMAP, "found none");
}

#[test]
fn lists_that_are_null() {
    let open = |writer: Writer| LabelListIndex::open(&Files::default().with(BITMAP, writer.finish(1)));
    let elements = || bitmap(&[Some(1)], &[&row(5)]);
    assert!(open(elements()).unwrap().null_lists().is_none());
    let nulls =
        |number: &str, set: &[u8]| open(elements().metadata("lance:label_list_nulls", number).global(set));
    let index = nulls("1", &row(7)).unwrap();
    assert!(index.null_lists().unwrap().contains(7) && rows(index.elements(), 1) == [5]);
    refused(nulls("2", &row(7)), BITMAP, "expected global buffer 2");
    refused(nulls("0", &row(7)), BITMAP, "which is the schema");
    refused(nulls("-1", &row(7)), BITMAP, "expected a number");
    refused(nulls("1", b"\x01"), BITMAP, "global buffer 1");
}

fn ngram(tokens: &[u32], sets: &[&[u8]]) -> Result<NGramIndex> {
    let writer = Writer::default().field("tokens", None, "uint32", numbers(tokens, u32::to_le_bytes)).field(
        "posting_list",
        None,
        "binary",
        blobs(sets),
    );
    NGramIndex::open(&Files::default().with(NGRAM, writer.finish(tokens.len() as u64)))
}

#[test]
fn tokens_and_their_rows() {
    // Row id 8.
    let eight = b"\x01\0\0\0\0\0\0\0\0\0\0\0\x3a\x30\0\0\x01\0\0\0\0\0\0\0\x10\0\0\0\x08\0";
    let index = ngram(&[0, 25219], &[eight, eight]).unwrap();
    assert_eq!(index.rows(25219).unwrap().unwrap().iter().collect::<Vec<_>>(), [8]);
    assert!(index.rows(25220).unwrap().is_none());
    refused(ngram(&[5, 5], &[eight, eight]), NGRAM, "ascend");
    refused(ngram(&[50653], &[eight]), NGRAM, "at most 50652");
    refused(ngram(&[7], &[&eight[..9]]).unwrap().rows(7), NGRAM, "row 0");
}

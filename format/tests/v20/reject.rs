//! Files that must be refused: with an error of the right kind, at an offset if they are corrupt, and never a panic.

use crate::{lists, symbols, writer::*};
use bytes::Bytes;
use lancet_format::ErrorKind::{self, Corrupt, TooLarge, Unsupported};
use std::sync::Arc;

fn refuses(name: &str, kind: ErrorKind, writer: Writer, rows: u64) {
    let error = match Opened::new(Arc::new(Bytes::from(writer.finish(rows)))) {
        Ok(file) => file.all(0).map(|column| format!("{column:?}")).expect_err(name),
        Err(error) => error,
    };
    assert_eq!(error.kind(), kind, "{name}: {error}");
    assert!(error.offset().is_some() || kind != Corrupt, "{name} has no offset: {error}");
}

fn leaf(name: &str, kind: ErrorKind, logical: &str, encoding: Message, buffers: &[&[u8]]) {
    let buffers = buffers.iter().map(|bytes| bytes.to_vec()).collect();
    refuses(name, kind, Writer::default().field("c", None, logical, vec![Page(2, encoding, buffers)]), 2);
}

#[test]
fn arrays() {
    let two = [1u8, 0, 0, 0, 2, 0, 0, 0];
    leaf("buffer not there", Corrupt, "int32", flat(32, 1), &[&two]);
    leaf("buffer too short", Corrupt, "int32", flat(32, 0), &[&two[..7]]);
    leaf("bits of another type", Corrupt, "int32", flat(16, 0), &[&two]);
    leaf("no bits", Corrupt, "int32", message(1, &[&message(2, &[])]), &[&two]);
    leaf("no buffer named", Corrupt, "int32", message(1, &[&number(1, 32)]), &[&two]);
    let column_buffer = message(1, &[&number(1, 32), &message(2, &[&number(2, 1)])]);
    leaf("column buffer", Unsupported, "int32", column_buffer, &[&two]);
    leaf("unknown compression", Unsupported, "int32", compressed(32, 0, "snappy"), &[&two]);
    leaf("broken compression", Corrupt, "int32", compressed(32, 0, "lz4"), &[&two]);
    leaf(
        "compressed to more than needed",
        Corrupt,
        "int8",
        compressed(8, 0, "lz4"),
        &[&[3, 0, 0, 0, 0x30, 1, 2, 3]],
    );
    leaf(
        "compressed to less than needed",
        Corrupt,
        "int8",
        compressed(8, 0, "lz4"),
        &[&[1, 0, 0, 0, 0x10, 1]],
    );
    leaf("unknown encoding", Unsupported, "int32", message(20, &[]), &[&two]);
    leaf("constant", Unsupported, "int32", message(13, &[]), &[&two]);
    leaf("no encoding", Unsupported, "int32", vec![], &[&two]);
    leaf("no protobuf", Corrupt, "int32", vec![0xff; 3], &[&two]);
    leaf("text for a number", Unsupported, "int32", text(0, 1), &[&[0; 16], &[]]);
    leaf("number for text", Unsupported, "string", flat(8, 0), &[&two]);
    leaf("nullable of nothing", Corrupt, "int32", message(2, &[]), &[&two]);
    leaf("values missing", Corrupt, "int32", message(2, &[&message(1, &[])]), &[&two]);
    leaf("validity too short", Corrupt, "int8", some_nulls(&flat(1, 0), &flat(8, 1)), &[&[], &two]);
    let doubly = some_nulls(&flat(1, 0), &some_nulls(&flat(1, 0), &flat(8, 0)));
    leaf("nullable in nullable", Unsupported, "int8", doubly, &[&two]);
    leaf("dimension", Corrupt, "fixed_size_list:int8:4", fixed_size_list(3, &flat(8, 0)), &[&two]);
    leaf("no list", Unsupported, "fixed_size_list:int8:4", flat(8, 0), &[&two]);
    leaf("packed to 0 bits", Corrupt, "int8", bitpacked(10, 0, 8, false), &[&two]);
    leaf("packed to more bits", Corrupt, "int8", bitpacked(12, 9, 8, false), &[&[0; 2048]]);
    leaf("unpacked to another type", Corrupt, "int8", bitpacked(10, 3, 16, false), &[&two]);
    leaf("stream too short", Corrupt, "int64", bitpacked(10, 33, 64, false), &[&two]);
    leaf("block too short", Corrupt, "int8", bitpacked(12, 1, 8, false), &[&[0; 127]]);

    let mut deep = flat(32, 0);
    for _ in 0..200 {
        deep = no_nulls(&deep);
    }
    leaf("too deep", Corrupt, "int32", deep, &[&two]);
}

#[test]
fn texts() {
    let leaf = |name: &str, ends: &[u64], adjustment: u64, bytes: &[u8]| {
        leaf(name, Corrupt, "string", text(0, adjustment), &[&u64s(ends), bytes]);
    };
    leaf("ends descend", &[2, 1], 3, b"ab");
    leaf("end beyond the bytes", &[1, 3], 4, b"ab");
    leaf("adjustment too small", &[1, 2], 2, b"ab");
    leaf("no adjustment", &[1, 2], 0, b"ab");
    leaf("null beyond", &[1, 9], 4, b"ab");
    leaf("no UTF-8", &[1, 2], 3, b"a\xff");
    leaf("a character in two rows", &[1, 2], 3, "é".as_bytes());
    leaf("too few ends", &[1], 3, b"ab");

    let ends = u64s(&[1, 2]);
    let coded = |name: &str, table: &[u8], codes: &[u8]| {
        super::reject::leaf(name, Corrupt, "string", fsst(&text(0, 3), table), &[&ends, codes]);
    };
    coded("no code of the table", &symbols(), &[0, 7]);
    coded("an escape at the end", &symbols(), &[0, 255]);
    coded("table too short", &symbols()[1..], &[0, 0]);
    let no_width = fixed_size_binary(0, &flat(8, 0));
    super::reject::leaf("no width", Corrupt, "string", no_width, &[b"ab"]);
    let width = fixed_size_binary(2, &flat(8, 0));
    super::reject::leaf("too few bytes of one width", Corrupt, "string", width, &[b"abc"]);
}

#[test]
fn dictionaries() {
    let items = u64s(&[1, 2]);
    let leaf = |name: &str, kind, logical: &str, indices: &[u8], count: u64| {
        let encoding = dictionary(&flat(8, 0), &text(1, 3), count);
        super::reject::leaf(name, kind, logical, encoding, &[indices, &items, b"ab"]);
    };
    leaf("index beyond the items", Corrupt, "string", &[0, 3], 2);
    leaf("index equal to the items", Corrupt, "dict:string:int8:false", &[0, 2], 2);
    leaf("negative index", Corrupt, "dict:string:int8:false", &[0, 0xff], 2);
    leaf("more items than there are", Corrupt, "string", &[0, 1], 3);
    leaf("billions of items", Corrupt, "string", &[0, 1], 0xffff_ffff);
    let nested = dictionary(&flat(8, 0), &dictionary(&flat(8, 0), &text(1, 3), 2), 2);
    super::reject::leaf("nested", Unsupported, "string", nested, &[&[1, 2], &items, b"ab"]);
}

fn list_of(ends: &[u64], adjustment: u64, items: u64, column: u64) -> Writer {
    let page = Page(2, list(&flat(64, 0), adjustment, items), vec![u64s(ends)]);
    Writer::default().field("l", None, "list", vec![page]).field(
        "item",
        Some(0),
        "int8",
        vec![Page(column, flat(8, 0), vec![vec![0; column as usize]])],
    )
}

#[test]
fn nested() {
    refuses("ends descend", Corrupt, list_of(&[2, 1], 4, 3, 3), 2);
    refuses("ends beyond the items", Corrupt, list_of(&[2, 4], 9, 3, 3), 2);
    refuses("last end before the items'", Corrupt, list_of(&[1, 2], 4, 3, 3), 2);
    refuses("adjustment too small", Corrupt, list_of(&[1, 3], 3, 3, 3), 2);
    refuses("item column too short", Corrupt, list_of(&[1, 3], 4, 3, 2), 2);
    let huge = list_of(&[0, 1 << 62], 1 << 63, 1 << 62, 2);
    refuses("more items than can be", Corrupt, huge, 2);

    let nulls = |logical: &str| {
        let items = 1 << 39;
        let page = Page(2, list(&flat(64, 0), items + 1, items), vec![u64s(&[5, items])]);
        Writer::default().field("l", None, logical, vec![page]).field(
            "item",
            Some(0),
            "int64",
            vec![Page(items, all_nulls(), vec![])],
        )
    };
    refuses("items without bytes", TooLarge, nulls("list"), 2);
    refuses("items without bytes", TooLarge, nulls("large_list"), 2);

    refuses("column too short", Corrupt, lists("list"), 7);
    refuses("column too long", Corrupt, lists("list"), 5);
    let short = Writer::default().field("s", None, "struct", vec![Page(2, header(), vec![])]).field(
        "a",
        Some(0),
        "int8",
        vec![Page(1, flat(8, 0), vec![vec![1]])],
    );
    refuses("child too short", Corrupt, short, 2);
    let page = |bytes| vec![Page(2, packed_struct(0), vec![vec![0; bytes]])];
    let packed = Writer::default().packed("p", &[("a", "int8"), ("b", "int32")], page(9));
    refuses("packed rows too short", Corrupt, packed, 2);
    let packed = Writer::default().packed("p", &[("a", "string")], page(9));
    refuses("packed text", Unsupported, packed, 2);
}

#[test]
fn blobs() {
    let blobs =
        |words: &[u64]| Writer::default().blobs("b", vec![Page(2, packed_struct(0), vec![u64s(words)])]);
    refuses("position beyond the file", Corrupt, blobs(&[1 << 40, 1, 0, 0]), 2);
    refuses("size beyond the file", Corrupt, blobs(&[0, 1 << 40, 0, 0]), 2);
    refuses("sizes that overflow", Corrupt, blobs(&[u64::MAX, u64::MAX, u64::MAX, 2]), 2);
    refuses("the same bytes again and again", Corrupt, blobs(&[0, 400, 0, 400]), 2);
}

/// Every byte of a few files, changed in turn: any answer will do, but there must be one.
#[test]
fn changed_bytes_never_panic() {
    let codes = vec![0, 1, 255, b'!', 0, 0];
    let dictionary = dictionary(&flat(8, 0), &text(1, 4), 3);
    let files = [
        lists("list").finish(6),
        Writer::default()
            .field(
                "d",
                None,
                "string",
                vec![Page(3, dictionary, vec![vec![0, 3, 1], u64s(&[1, 1, 3]), b"acc".to_vec()])],
            )
            .finish(3),
        Writer::default()
            .field(
                "f",
                None,
                "string",
                vec![Page(3, fsst(&text(0, 7), &symbols()), vec![u64s(&[2, 4, 11]), codes])],
            )
            .finish(3),
        Writer::default()
            .field(
                "v",
                None,
                "fixed_size_list:int16:2",
                vec![Page(
                    2,
                    some_nulls(&flat(1, 1), &fixed_size_list(2, &bitpacked(10, 3, 16, true))),
                    vec![vec![0x11, 0x22], vec![2]],
                )],
            )
            .finish(2),
        Writer::default().blobs("b", vec![Page(2, packed_struct(0), vec![u64s(&[0, 5, 1, 0])])]).finish(2),
        Writer::default()
            .packed("p", &[("a", "int8"), ("b", "int16")], vec![Page(2, packed_struct(0), vec![vec![7; 6]])])
            .finish(2),
    ];
    for file in files {
        for at in 0..file.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut changed = file.clone();
                changed[at] ^= change;
                let Ok(file) = Opened::new(Arc::new(Bytes::from(changed))) else { continue };
                for (index, field) in file.fields.iter().enumerate() {
                    let _ = file.file.lent_page(field, &file.columns, 0);
                    let rows = file.rows.min(10);
                    for range in [0..rows, rows.saturating_sub(1)..rows] {
                        let _ = file.read(index, &[range]);
                    }
                }
            }
        }
    }
}

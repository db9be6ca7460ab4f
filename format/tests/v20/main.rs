//! Files of version 2.0, written by hand: every array encoding, random rows, what is shared, what is refused.

#![allow(clippy::single_range_in_vec_init)] // What is read is a slice of ranges.

mod reject;
mod writer;

use bytes::Bytes;
use lancet_format::{Column, ErrorKind, Result, Source, Values};
use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};
use writer::*;

/// Row `i` as text: `-` is null, bytes are text or the number that they are.
fn show(column: &Column, i: usize) -> String {
    if column.is_null(i) {
        return "-".into();
    }
    let join = |parts: Vec<String>| parts.join(" ");
    match column.values() {
        Values::Bits(_) => u8::from(column.boolean(i).unwrap()).to_string(),
        Values::Fixed(_) => {
            let bytes = column.bytes(i).unwrap();
            let sign = if bytes.last().is_some_and(|byte| byte >> 7 != 0) { 0xff } else { 0 };
            let mut wide = [sign; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            i64::from_le_bytes(wide).to_string()
        }
        Values::Variable { .. } | Values::LargeVariable { .. } => {
            format!("'{}'", String::from_utf8_lossy(column.bytes(i).unwrap()))
        }
        Values::Struct(children) => {
            format!("{{{}}}", join(children.iter().map(|child| show(child, i)).collect()))
        }
        _ => {
            let items = column.child().unwrap();
            format!("[{}]", join(column.range(i).unwrap().map(|j| show(items, j)).collect()))
        }
    }
}

fn rows(column: &Column) -> Vec<String> {
    (0..column.len()).map(|i| show(column, i)).collect()
}

/// Reads the one column of a file in one piece, row by row, and with gaps; all must agree.
fn read(writer: Writer, count: u64) -> Vec<String> {
    let file = Opened::of(writer.finish(count));
    let all = rows(&file.all(0).unwrap());
    let single: Vec<Range<u64>> = (0..count).map(|row| row..row + 1).collect();
    assert_eq!(rows(&file.read(0, &single).unwrap()), all);
    for step in [2, 3, 5] {
        let gaps: Vec<Range<u64>> =
            (0..count).step_by(step).map(|row| row..count.min(row + step as u64 - 1)).collect();
        let expected: Vec<String> =
            gaps.iter().flat_map(|range| all[range.start as usize..range.end as usize].to_vec()).collect();
        assert_eq!(rows(&file.read(0, &gaps).unwrap()), expected);
    }
    all
}

fn leaf(logical: &str, rows: u64, encoding: Message, buffers: Vec<Vec<u8>>) -> Writer {
    Writer::default().field("c", None, logical, vec![Page(rows, encoding, buffers)])
}

fn hex(text: &str) -> Vec<u8> {
    text.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

#[test]
fn messages_are_those_of_real_files() {
    assert_eq!(no_nulls(&flat(32, 0)), hex("12 0a 0a 08 0a 06 0a 04 08 20 12 00"));
    assert_eq!(
        some_nulls(&flat(1, 0), &flat(32, 1)),
        hex("12 14 12 12 0a 06 0a 04 08 01 12 00 12 08 0a 06 08 20 12 02 08 01")
    );
    assert_eq!(
        no_nulls(&fixed_size_list(16, &no_nulls(&flat(32, 0)))),
        hex("12 16 0a 14 0a 12 1a 10 08 10 12 0c 12 0a 0a 08 0a 06 0a 04 08 20 12 00")
    );
    assert_eq!(
        binary(&no_nulls(&flat(64, 0)), &flat(8, 1), 5),
        hex("32 1a 0a 0c 12 0a 0a 08 0a 06 0a 04 08 40 12 00 12 08 0a 06 08 08 12 02 08 01 18 05")
    );
    assert_eq!(
        list(&no_nulls(&flat(64, 0)), 5, 4),
        hex("22 12 0a 0c 12 0a 0a 08 0a 06 0a 04 08 40 12 00 10 05 18 04")
    );
}

#[test]
fn numbers_booleans_and_nulls() {
    let plain = leaf("int32", 3, flat(32, 0), vec![i32s(&[1, -2, 3])]);
    assert_eq!(read(plain, 3), ["1", "-2", "3"]);
    let nullable =
        leaf("int32", 3, some_nulls(&flat(1, 0), &flat(32, 1)), vec![vec![0b101], i32s(&[1, 9, 3])]);
    assert_eq!(read(nullable, 3), ["1", "-", "3"]);
    let booleans = leaf("bool", 11, no_nulls(&flat(1, 0)), vec![vec![0b1010_0110, 0b101]]);
    assert_eq!(read(booleans, 11).concat(), "01100101101");
    assert_eq!(read(leaf("int8", 2, all_nulls(), vec![]), 2), ["-", "-"]);
    assert_eq!(read(leaf("null", 2, all_nulls(), vec![]), 2), ["-", "-"]);
    assert_eq!(read(leaf("string", 2, all_nulls(), vec![]), 2), ["-", "-"]);
}

#[test]
fn pages_of_one_column_differ() {
    let pages = vec![
        Page(2, flat(64, 0), vec![u64s(&[1, 2])]),
        Page(3, all_nulls(), vec![]),
        Page(1, some_nulls(&flat(1, 1), &flat(64, 0)), vec![u64s(&[7]), vec![1]]),
    ];
    let writer = Writer::default().field("c", None, "int64", pages);
    assert_eq!(read(writer, 6), ["1", "2", "-", "-", "-", "7"]);
}

#[test]
fn vectors_with_nulls_at_every_level() {
    let items = some_nulls(&flat(1, 1), &flat(8, 2));
    let encoding = some_nulls(&flat(1, 0), &fixed_size_list(3, &items));
    // Nine items: items 1 and 8 are null, row 1 is null.
    let buffers = vec![vec![0b101], vec![0b1111_1101, 0], (1..=9).collect()];
    let writer = leaf("fixed_size_list:int8:3", 3, encoding, buffers);
    assert_eq!(read(writer, 3), ["[1 - 3]", "-", "[7 8 -]"]);

    let inner = no_nulls(&fixed_size_list(2, &some_nulls(&flat(1, 1), &flat(8, 2))));
    let middle = some_nulls(&flat(1, 0), &fixed_size_list(2, &inner));
    // The validity is that of the rows here; of the four inner lists and their items below.
    let writer = leaf(
        "fixed_size_list:fixed_size_list:int8:2:2",
        2,
        middle,
        vec![vec![0b11], vec![0b1011_1111], (1..=8).collect()],
    );
    assert_eq!(read(writer, 2), ["[[1 2] [3 4]]", "[[5 6] [- 8]]"]);
    let inner = some_nulls(&flat(1, 0), &fixed_size_list(2, &flat(8, 1)));
    let writer = leaf(
        "fixed_size_list:fixed_size_list:int8:2:2",
        2,
        no_nulls(&fixed_size_list(2, &inner)),
        vec![vec![0b1101], (1..=8).collect()],
    );
    assert_eq!(read(writer, 2), ["[[1 2] -]", "[[5 6] [7 8]]"]);

    let bits = leaf("fixed_size_list:bool:3", 4, fixed_size_list(3, &flat(1, 0)), vec![vec![0xd1, 0x0e]]);
    assert_eq!(read(bits, 4), ["[1 0 0]", "[0 1 0]", "[1 1 0]", "[1 1 1]"]);
    let null_items = leaf("fixed_size_list:int8:2", 2, fixed_size_list(2, &all_nulls()), vec![]);
    assert_eq!(read(null_items, 2), ["[- -]", "[- -]"]);
}

#[test]
fn text_with_nulls() {
    for logical in ["string", "binary", "large_string", "large_binary"] {
        let writer = leaf(logical, 4, text(0, 5), vec![u64s(&[1, 6, 4, 4]), b"abcd".to_vec()]);
        assert_eq!(read(writer, 4), ["'a'", "-", "'bcd'", "''"]);
    }
    let writer = leaf("string", 2, fixed_size_binary(2, &flat(8, 0)), vec![b"abcd".to_vec()]);
    assert_eq!(read(writer, 2), ["'ab'", "'cd'"]);
}

#[test]
fn dictionaries() {
    let items = vec![u64s(&[1, 1, 3]), b"acc".to_vec()];
    let buffers = [vec![vec![0, 3, 1, 2, 1]], items.clone()].concat();
    let writer = leaf("string", 5, dictionary(&flat(8, 0), &text(1, 4), 3), buffers);
    assert_eq!(read(writer, 5), ["-", "'cc'", "'a'", "''", "'a'"]);

    // The second item is null.
    let items = vec![u64s(&[1, 5, 3]), b"acc".to_vec()];
    let buffers = [vec![le(&[1u16, 2, 0], u16::to_le_bytes)], items].concat();
    let writer = leaf("dict:string:int16:false", 3, dictionary(&flat(16, 0), &text(1, 4), 3), buffers);
    assert_eq!(read(writer, 3), ["-", "'cc'", "'a'"]);

    let encoding = dictionary(&some_nulls(&flat(1, 0), &flat(8, 1)), &flat(64, 2), 2);
    let buffers = vec![vec![0b101], vec![1, 99, 0], u64s(&[40, 50])];
    let writer = leaf("dict:int64:uint8:false", 3, encoding, buffers);
    assert_eq!(read(writer, 3), ["50", "-", "40"]);
    let writer =
        leaf("dict:string:int8:false", 2, dictionary(&flat(8, 0), &all_nulls(), 1), vec![vec![0, 0]]);
    assert_eq!(read(writer, 2), ["-", "-"]);
}

/// A symbol table with `ab` as code 0 and `xyz` as code 1.
fn symbols() -> Vec<u8> {
    let mut table = vec![2, 0, 0, 1, 0x54, 0x53, 0x53, 0x46];
    table.extend(b"ab\0\0\0\0\0\0xyz\0\0\0\0\0\x02\x03");
    table.resize(2312, 0);
    table
}

#[test]
fn symbol_coded_text() {
    let codes = vec![0, 1, 255, b'!', 0, 0];
    let writer = leaf("string", 4, fsst(&text(0, 7), &symbols()), vec![u64s(&[2, 4, 11, 6]), codes]);
    assert_eq!(read(writer, 4), ["'abxyz'", "'!'", "-", "'abab'"]);
}

/// `bytes` (fewer than 15) as an LZ4 block of literals, and as a Zstandard frame of one raw block.
fn framed(bytes: &[u8]) -> [(&'static str, Vec<u8>); 3] {
    let len = bytes.len();
    let lz4 = [&(len as u32).to_le_bytes()[..], &[(len as u8) << 4], bytes].concat();
    let block = (len as u32) << 3 | 1;
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, len as u8][..], &block.to_le_bytes()[..3], bytes].concat();
    let zstd = [&(len as u64).to_le_bytes()[..], &frame].concat();
    [("lz4", lz4), ("zstd", zstd), ("none", bytes.to_vec())]
}

#[test]
fn compressed_buffers() {
    for (scheme, bytes) in framed(b"abcd") {
        let encoding = binary(&flat(64, 0), &compressed(8, 1, scheme), 5);
        let writer = leaf("string", 3, encoding, vec![u64s(&[1, 6, 4]), bytes]);
        assert_eq!(read(writer, 3), ["'a'", "-", "'bcd'"], "{scheme}");
    }
    for (scheme, bytes) in framed(&i32s(&[1, -2, 3])) {
        let writer = leaf("int32", 3, compressed(32, 0, scheme), vec![bytes]);
        assert_eq!(read(writer, 3), ["1", "-2", "3"], "{scheme}");
    }
}

#[test]
fn bitpacked_numbers() {
    // Three bits each: 1, -2, 3, -4, 0, 1, 2, 3.
    let values = [1i64, -2, 3, -4, 0, 1, 2, 3];
    let mut stream = 0u64;
    for (i, value) in values.iter().enumerate() {
        stream |= (*value as u64 & 7) << (3 * i);
    }
    let bytes = stream.to_le_bytes()[..3].to_vec();
    let signed = leaf("int16", 8, bitpacked(10, 3, 16, true), vec![bytes.clone()]);
    assert_eq!(read(signed, 8), values.map(|value| value.to_string()));
    let unsigned = leaf("uint32", 8, bitpacked(10, 3, 32, false), vec![bytes]);
    assert_eq!(read(unsigned, 8), values.map(|value| (value & 7).to_string()));

    let values: Vec<u32> = (0..1500).map(|i| i * 37 % 2048).collect();
    let mut packed = vec![0; 2 * 128 * 11];
    for (block, out) in values.chunks(1024).zip(packed.chunks_mut(128 * 11)) {
        let mut padded = [0; 1024];
        padded[..block.len()].copy_from_slice(block);
        lancet_kernels::unpack::pack_block(11, &padded, out);
    }
    let encoding = some_nulls(&flat(1, 1), &bitpacked(12, 11, 32, false));
    let mut validity = vec![0xff; 188];
    validity[0] = 0xfe;
    let writer = leaf("int32", 1500, encoding, vec![packed, validity]);
    let mut expected: Vec<String> = values.iter().map(u32::to_string).collect();
    expected[0] = "-".into();
    assert_eq!(read(writer, 1500), expected);
}

/// Two pages of lists over three of items: `[[1,2], null, [], [3,4]]` and `[[5], [6,7]]`.
fn lists(logical: &str) -> Writer {
    let page = |rows, ends: &[u64], items: u64| {
        Page(rows, list(&no_nulls(&flat(64, 0)), items + 1, items), vec![u64s(ends)])
    };
    let items = |values: &[i32]| Page(values.len() as u64, flat(32, 0), vec![i32s(values)]);
    Writer::default().field("l", None, logical, vec![page(4, &[2, 7, 2, 4], 4), page(2, &[1, 3], 3)]).field(
        "item",
        Some(0),
        "int32",
        vec![items(&[1, 2, 3]), items(&[4, 5, 6]), items(&[7])],
    )
}

#[test]
fn lists_over_pages() {
    for logical in ["list", "large_list"] {
        assert_eq!(read(lists(logical), 6), ["[1 2]", "-", "[]", "[3 4]", "[5]", "[6 7]"]);
    }
}

#[test]
fn structs_of_lists_of_structs() {
    let ends =
        |rows, ends: &[u64], items| vec![Page(rows, list(&flat(64, 0), items + 1, items), vec![u64s(ends)])];
    let writer = Writer::default()
        .field("s", None, "struct", vec![Page(2, header(), vec![])])
        .field("n", Some(0), "int8", vec![Page(2, flat(8, 0), vec![vec![8, 9]])])
        .field("l", Some(0), "list.struct", ends(2, &[1, 3], 3))
        .field("item", Some(2), "struct", vec![Page(3, header(), vec![])])
        .field("t", Some(3), "string", vec![Page(3, text(0, 4), vec![u64s(&[1, 2, 3]), b"xyz".to_vec()])])
        .field("l", Some(3), "list", ends(3, &[0, 2, 2], 2))
        .field("item", Some(5), "bool", vec![Page(2, flat(1, 0), vec![vec![1]])]);
    assert_eq!(read(writer, 2), ["{8 [{'x' []}]}", "{9 [{'y' [1 0]} {'z' []}]}"]);
}

#[test]
fn packed_structs() {
    let fields = [("a", "int8"), ("v", "fixed_size_list:int16:2"), ("b", "uint8")];
    let bytes = vec![1, 2, 0, 3, 0, 4, 5, 6, 0, 7, 0, 8];
    let writer = Writer::default().packed("p", &fields, vec![Page(2, packed_struct(0), vec![bytes])]);
    assert_eq!(read(writer, 2), ["{1 [2 3] 4}", "{5 [6 7] 8}"]);
}

#[test]
fn blobs_lie_outside_their_pages() {
    let mut writer =
        Writer::default().blobs("b", vec![Page(3, packed_struct(0), vec![u64s(&[1, 3, 1, 0, 0, 0])])]);
    writer.data = b".blob".to_vec();
    assert_eq!(read(writer, 3), ["'blo'", "-", "''"]);
}

#[test]
fn fields_without_a_column_are_null() {
    let file = Opened::of(
        Writer::default()
            .field("s", None, "struct", vec![Page(2, header(), vec![])])
            .field("a", Some(0), "int8", vec![Page(2, flat(8, 0), vec![vec![1, 2]])])
            .field("b", Some(0), "string", vec![])
            .finish(2),
    );
    let read = |columns| {
        let columns = lancet_format::ColumnMap::new(columns);
        rows(&file.file.read(&file.fields[0], &columns, 2, &[0..2], None).unwrap())
    };
    assert_eq!(read(vec![(0, 0), (1, 1)]), ["{1 -}", "{2 -}"]);
    assert_eq!(read(vec![(0, 0)]), ["{- -}", "{- -}"]);
    assert_eq!(read(vec![]), ["-", "-"]);
}

#[test]
fn an_empty_file() {
    let file = Opened::of(Writer::default().field("c", None, "string", vec![]).finish(0));
    assert_eq!(file.all(0).unwrap().len(), 0);
    assert_eq!(file.read(0, &[]).unwrap().len(), 0);
}

#[test]
fn buffers_are_used_again() {
    let file = Opened::of(lists("list").finish(6));
    let mut column = None;
    for row in 0..6 {
        let read = file.file.read(&file.fields[0], &file.columns, 6, &[row..row + 1], column).unwrap();
        assert_eq!(rows(&read), rows(&file.read(0, &[row..row + 1]).unwrap()));
        column = Some(read);
    }
}

#[test]
fn flat_pages_are_lent() {
    let pages = vec![
        Page(3, flat(64, 0), vec![u64s(&[1, 2, 3])]),
        Page(2, no_nulls(&flat(64, 0)), vec![u64s(&[4, 5])]),
    ];
    let bytes = Writer::default().field("c", None, "int64", pages).finish(5);
    // The file must be aligned in memory, as a mapped one is.
    let mut room = vec![0; bytes.len() + 8];
    let start = room.as_ptr().align_offset(8);
    room[start..start + bytes.len()].copy_from_slice(&bytes);
    let whole = Bytes::from(room).slice(start..start + bytes.len());
    let file = Opened::new(Arc::new(whole.clone())).unwrap();

    let shared = |ranges: &[Range<u64>]| {
        let column = file.read(0, ranges).unwrap();
        let Values::Fixed(buffer) = column.values() else { panic!("numbers") };
        buffer.is_shared() && whole.as_ptr_range().contains(&buffer.as_slice().as_ptr())
    };
    assert!(shared(&[0..3]) && shared(&[1..2]) && shared(&[3..5]) && shared(&[0..1, 1..3]));
    assert!(!shared(&[2..4]) && !shared(&[0..1, 2..3]));
    let until = |row| file.file.lent_page(&file.fields[0], &file.columns, row).unwrap().map(|rows| rows.end);
    assert_eq!((until(0), until(2), until(3), until(5)), (Some(3), Some(3), Some(5), None));

    let nulls = leaf("int64", 1, some_nulls(&flat(1, 0), &flat(64, 1)), vec![vec![1], u64s(&[1])]);
    let file = Opened::of(nulls.finish(1));
    assert_eq!(file.file.lent_page(&file.fields[0], &file.columns, 0).unwrap(), None);
}

/// A file that is not in memory, and counts what is read of it.
#[derive(Debug)]
struct Counted {
    bytes: Bytes,
    reads: AtomicU64,
    read: AtomicU64,
}

impl Source for Counted {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        self.reads.fetch_add(1, Relaxed);
        self.read.fetch_add(range.end - range.start, Relaxed);
        self.bytes.read(range)
    }
}

#[test]
fn one_row_costs_a_few_reads() {
    let count = 10_000;
    let ends: Vec<u64> = (1..=count).map(|i| i * 4).collect();
    let page = |encoding, buffers| vec![Page(count, encoding, buffers)];
    let letters = b"text".repeat(count as usize);
    let bytes = Writer::default()
        .field("n", None, "int32", page(flat(32, 0), vec![letters.clone()]))
        .field("t", None, "string", page(text(0, 40_001), vec![u64s(&ends), letters.clone()]))
        .field("l", None, "list", page(list(&flat(64, 0), 40_001, 40_000), vec![u64s(&ends)]))
        .field("item", Some(2), "int8", vec![Page(40_000, flat(8, 0), vec![letters])])
        .finish(count);
    let source = Arc::new(Counted { bytes: bytes.into(), reads: AtomicU64::new(0), read: AtomicU64::new(0) });
    let file = Opened::new(source.clone()).unwrap();
    for (field, expected) in [(0, (1, 4)), (1, (2, 16 + 4)), (2, (2, 16 + 4))] {
        file.read(field, &[5..6]).unwrap();
        let before = (source.reads.load(Relaxed), source.read.load(Relaxed));
        file.read(field, &[7_777..7_778]).unwrap();
        let after = (source.reads.load(Relaxed), source.read.load(Relaxed));
        assert_eq!((after.0 - before.0, after.1 - before.1), expected, "field {field}");
    }
}

#[test]
fn rows_beyond_the_file_are_the_callers_mistake() {
    let file = Opened::of(lists("list").finish(6));
    let error = file.read(0, &[5..7]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

//! Files that no writer makes: each says something false that only a reader's checks can find out.

use crate::{
    Column, ColumnMap, ErrorKind, Field, File, Metadata, Result, Schema,
    proto::{self, Encoding, encoding, v20, v21},
};
use alloc::{boxed::Box, collections::BTreeMap, format, string::ToString, sync::Arc, vec, vec::Vec};
use bytes::Bytes;
use prost::Message;

/// A page of so many rows: its encoding and its buffers.
struct PageOf<M>(u64, M, Vec<Vec<u8>>);

fn direct(name: &str, value: Vec<u8>) -> Option<Encoding> {
    let any = proto::Any { type_url: format!("/lance.encodings.{name}"), value: value.into() };
    let direct = encoding::Direct { encoding: any.encode_to_vec().into() };
    Some(Encoding { location: Some(encoding::Location::Direct(direct)) })
}

/// A file with the given pages in each column.
fn file<M: Message>(minor: u16, columns: Vec<Vec<PageOf<M>>>) -> File {
    file_with(minor, columns, false)
}

/// As [`file`]; if they are to `share`, buffers that are equal lie in one place.
fn file_with<M: Message>(minor: u16, columns: Vec<Vec<PageOf<M>>>, share: bool) -> File {
    let name = if minor == 0 { "ArrayEncoding" } else { "PageLayout" };
    let mut bytes = Vec::new();
    let mut place = |buffer: &[u8]| {
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        bytes.extend_from_slice(buffer);
        (bytes.len() - buffer.len(), bytes.len())
    };
    let mut places = BTreeMap::new();
    let mut messages = Vec::new();
    for pages in &columns {
        let values = proto::column_encoding::Kind::Values(proto::Empty {});
        let own = proto::ColumnEncoding { kind: Some(values) };
        let mut message = proto::ColumnMetadata {
            encoding: direct("ColumnEncoding", own.encode_to_vec()),
            ..Default::default()
        };
        for PageOf(length, encoding, buffers) in pages {
            let at = buffers.iter().map(|buffer| match places.get(buffer) {
                Some(&at) if share => at,
                _ => {
                    let at = place(buffer).0 as u64;
                    places.insert(buffer.clone(), at);
                    at
                }
            });
            message.pages.push(proto::Page {
                buffer_offsets: at.collect(),
                buffer_sizes: buffers.iter().map(|buffer| buffer.len() as u64).collect(),
                length: *length,
                encoding: direct(name, encoding.encode_to_vec()),
                priority: 0,
            });
        }
        messages.push(message);
    }
    let (schema, mut metadata) = place(&[]);
    let first = metadata;
    let mut table = Vec::new();
    for message in messages {
        let message = message.encode_to_vec();
        table.extend([metadata as u64, message.len() as u64]);
        metadata += message.len();
        bytes.extend(message);
    }
    let columns_at = bytes.len() as u64;
    bytes.extend(table.iter().chain(&[schema as u64, 0]).flat_map(|word| word.to_le_bytes()));
    let globals_at = columns_at + table.len() as u64 * 8;
    bytes.extend([first as u64, columns_at, globals_at].iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend([1u32, columns.len() as u32].iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend([2u16, minor].iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend(b"LANC");
    File::open(Arc::new(Bytes::from(bytes))).unwrap()
}

/// A field made of `(logical type, parent)` pairs; the first is the field itself, and ids count from 0.
fn field(types: &[(&str, i32)]) -> Arc<Field> {
    let fields: Vec<_> = types
        .iter()
        .zip(0..)
        .map(|(&(logical_type, parent_id), id)| proto::Field {
            name: format!("f{id}"),
            id,
            parent_id,
            logical_type: logical_type.into(),
            nullable: true,
            ..Default::default()
        })
        .collect();
    Schema::from_proto(&fields, Metadata::new()).unwrap().fields[0].clone()
}

/// Reads rows `0..count` of a field whose column `id` is column `id - first`.
fn read(file: &File, field: &Field, first: i32, rows: u64, count: u64) -> Result<Column> {
    let columns = ColumnMap::new((first..4).map(|id| (id, (id - first) as u32)));
    file.read(field, &columns, rows, core::slice::from_ref(&(0..count)), None)
}

fn corrupt(result: Result<Column>) {
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
}

fn too_large(result: Result<Column>) {
    assert_eq!(result.unwrap_err().kind(), ErrorKind::TooLarge);
}

fn compressive(compression: v21::Compression) -> v21::Compressive {
    v21::Compressive { compression: Some(compression) }
}

fn flat(bits: u64) -> v21::Compressive {
    compressive(v21::Compression::Flat(v21::Flat { bits_per_value: bits, data: None }))
}

/// Values of `bits` bits of which none is stored.
fn of_no_bits(bits: u64) -> v21::Compressive {
    compressive(v21::Compression::OutOfLineBitpacking(Box::new(v21::OutOfLineBitpacking {
        uncompressed_bits_per_value: bits,
        values: Some(Box::new(flat(0))),
    })))
}

fn constant(layout: v21::Constant) -> v21::PageLayout {
    v21::PageLayout { layout: Some(v21::Layout::Constant(layout)) }
}

fn levels(levels: &[u16]) -> Vec<u8> {
    levels.iter().flat_map(|level| level.to_le_bytes()).collect()
}

#[test]
fn all_null_pages_cost_what_is_asked_for() {
    let rows = 1 << 40;
    let page = || PageOf(rows, constant(v21::Constant { layers: vec![3], ..Default::default() }), vec![]);
    let file = file(2, vec![vec![page()]]);
    let vector = field(&[("fixed_size_list:float:1024", -1)]);
    assert_eq!(read(&file, &vector, 0, rows, 1000).unwrap().null_count(), 1000);
    too_large(read(&file, &vector, 0, rows, rows));
}

#[test]
fn pages_of_nulls_have_a_layer_for_them() {
    let page = |layer| {
        let layout = constant(v21::Constant { layers: vec![layer], ..Default::default() });
        file(1, vec![vec![PageOf(3, layout, vec![])]])
    };
    let number = field(&[("int32", -1)]);
    assert_eq!(read(&page(3), &number, 0, 3, 3).unwrap().null_count(), 3);
    corrupt(read(&page(1), &number, 0, 3, 3));
}

#[test]
fn constant_levels_are_as_many_as_they_say() {
    let list = field(&[("list", -1), ("int32", 0)]);
    let page = |rep: &[u16], def: &[u16]| {
        let layout =
            v21::Constant { layers: vec![1, 4], inline_value: Some(vec![7; 4].into()), ..Default::default() };
        file(2, vec![vec![PageOf(2, constant(layout), vec![levels(rep), levels(def)])]])
    };
    assert_eq!(read(&page(&[1, 0, 1], &[0, 0, 1]), &list, 1, 2, 2).unwrap().null_count(), 1);
    corrupt(read(&page(&[1, 0, 1], &[0]), &list, 1, 2, 2));
    corrupt(read(&page(&[0, 1, 1], &[0, 0, 0]), &list, 1, 2, 2));
    for (codec, count) in
        [(flat(16), 1 << 63 | 4), (of_no_bits(16), 1 << 40 | 4), (of_no_bits(16), 1 << 62 | 4)]
    {
        let layout = v21::Constant {
            layers: vec![3],
            inline_value: Some(vec![7; 4].into()),
            def_compression: Some(codec),
            num_def_values: count,
            ..Default::default()
        };
        let file = file(2, vec![vec![PageOf(4, constant(layout), vec![vec![], vec![0; 8]])]]);
        corrupt(read(&file, &field(&[("int32", -1)]), 0, 4, 4));
    }
}

#[test]
fn dictionaries_are_as_long_as_their_bytes() {
    for dictionary in [flat(64), of_no_bits(64)] {
        for num_dictionary_items in [3, 1 << 30, 1 << 40 | 2, 1 << 61 | 2, u64::MAX] {
            let layout = v21::MiniBlock {
                value_compression: Some(flat(8)),
                dictionary: Some(dictionary.clone()),
                num_dictionary_items,
                layers: vec![1],
                num_buffers: 1,
                num_items: 1,
                ..Default::default()
            };
            let chunk = vec![0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            let layout = v21::PageLayout { layout: Some(v21::Layout::MiniBlock(Box::new(layout))) };
            let file = file(1, vec![vec![PageOf(1, layout, vec![vec![0x10, 0], chunk, vec![0; 16]])]]);
            corrupt(read(&file, &field(&[("int64", -1)]), 0, 1, 1));
        }
    }
}

#[test]
fn full_zip_rows_begin_with_a_start() {
    let list = field(&[("list", -1), ("int32", 0)]);
    let page = |entries: [u8; 2]| {
        let layout = v21::FullZip {
            bits_rep: 1,
            width: Some(v21::ZipWidth::BitsPerValue(32)),
            value_compression: Some(flat(32)),
            layers: vec![1, 2],
            ..Default::default()
        };
        let layout = v21::PageLayout { layout: Some(v21::Layout::FullZip(Box::new(layout))) };
        let values = entries.iter().flat_map(|&rep| [rep, 9, 0, 0, 0]).collect();
        file(1, vec![vec![PageOf(1, layout, vec![values, vec![0, 10]])]])
    };
    assert_eq!(read(&page([1, 0]), &list, 1, 1, 1).unwrap().child().unwrap().len(), 2);
    corrupt(read(&page([0, 1]), &list, 1, 1, 1));
}

#[test]
fn lists_of_one_boolean_have_nulls_too() {
    let list = v21::FixedSizeList { items_per_value: 1, values: Some(Box::new(flat(1))), has_validity: true };
    let layout = v21::FullZip {
        width: Some(v21::ZipWidth::BitsPerValue(16)),
        value_compression: Some(compressive(v21::Compression::FixedSizeList(Box::new(list)))),
        layers: vec![1],
        ..Default::default()
    };
    let layout = v21::PageLayout { layout: Some(v21::Layout::FullZip(Box::new(layout))) };
    let file = file(1, vec![vec![PageOf(2, layout, vec![vec![1, 1, 0, 1]])]]);
    let column = read(&file, &field(&[("fixed_size_list:bool:1", -1)]), 0, 2, 2).unwrap();
    let items = column.child().unwrap();
    assert_eq!((items.len(), items.null_count(), items.is_null(1)), (2, 1, true));
}

#[test]
fn a_column_is_not_two_fields() {
    let layout = constant(v21::Constant {
        layers: vec![3],
        inline_value: Some(vec![7; 4].into()),
        ..Default::default()
    });
    let file = file(2, vec![vec![PageOf(4, layout, vec![])]]);
    let (number, list) = (field(&[("int32", -1)]), field(&[("list", -1), ("int32", 0)]));
    assert_eq!(read(&file, &number, 0, 4, 4).unwrap().primitive::<u8>(), None);
    for other in [list, field(&[("struct", -1), ("int32", 0)]), field(&[("int64", -1)])] {
        let first = i32::from(!other.data_type.children().is_empty());
        assert_eq!(read(&file, &other, first, 4, 4).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn pages_do_not_share_their_bytes() {
    let page = || {
        let layout = v21::Constant { layers: vec![1], ..Default::default() };
        PageOf(1, constant(layout), vec![vec![0; 4096]])
    };
    let pages = if cfg!(miri) { 50 } else { 1000 };
    for (share, refused) in [(false, false), (true, true)] {
        let file = file_with(2, vec![(0..pages).map(|_| page()).collect()], share);
        let error = read(&file, &field(&[("uint8", -1)]), 0, pages, pages).unwrap_err().to_string();
        assert_eq!(error.contains("expected pages within the file"), refused, "{error}");
    }
}

fn array(array: v20::Array) -> v20::ArrayEncoding {
    v20::ArrayEncoding { array: Some(array) }
}

fn all_null() -> v20::ArrayEncoding {
    array(v20::Array::Nullable(Box::new(v20::Nullable {
        nullability: Some(v20::Nullability::AllNulls(proto::Empty {})),
    })))
}

fn words(buffer_index: u32) -> Option<Box<v20::ArrayEncoding>> {
    let buffer = Some(v20::Buffer { buffer_index, buffer_type: 0 });
    Some(Box::new(array(v20::Array::Flat(v20::Flat { bits_per_value: 64, buffer, compression: None }))))
}

#[test]
fn lists_of_items_without_bytes_are_bounded() {
    let items = 1u64 << 40;
    let list = || {
        let list = v20::List { offsets: words(0), null_offset_adjustment: items + 1, num_items: items };
        PageOf(1, array(v20::Array::List(Box::new(list))), vec![items.to_le_bytes().into()])
    };
    let absent = || PageOf(items, all_null(), vec![]);
    let of_numbers = file(0, vec![vec![list()], vec![absent()]]);
    too_large(read(&of_numbers, &field(&[("large_list", -1), ("int64", 0)]), 0, 1, 1));
    let of_lists = file(0, vec![vec![list()], vec![absent()], vec![]]);
    too_large(read(&of_lists, &field(&[("large_list", -1), ("list", 0), ("int8", 1)]), 0, 1, 1));
    // The indices of a dictionary take no bytes, if all are null.
    let dictionary = v20::Dictionary {
        indices: Some(Box::new(all_null())),
        items: Some(Box::new(array(v20::Array::FixedSizeBinary(Box::new(v20::FixedSizeBinary {
            bytes: Some(Box::new(array(v20::Array::Flat(v20::Flat {
                bits_per_value: 8,
                buffer: Some(v20::Buffer::default()),
                compression: None,
            })))),
            byte_width: 1,
        }))))),
        num_dictionary_items: 1,
    };
    let page = PageOf(items, array(v20::Array::Dictionary(Box::new(dictionary))), vec![vec![b'a']]);
    let of_text = file(0, vec![vec![list()], vec![page]]);
    too_large(read(&of_text, &field(&[("large_list", -1), ("string", 0)]), 0, 1, 1));
}

#[test]
fn encodings_nest_as_deep_as_messages() {
    let nested = |depth| {
        (0..depth).fold(all_null(), |items, _| {
            array(v20::Array::Dictionary(Box::new(v20::Dictionary {
                indices: Some(Box::new(all_null())),
                items: Some(Box::new(items)),
                num_dictionary_items: u32::MAX,
            })))
        })
    };
    let text = field(&[("string", -1)]);
    let too_deep = if cfg!(miri) { 60 } else { 2000 };
    corrupt(read(&file(0, vec![vec![PageOf(1, nested(too_deep), vec![])]]), &text, 0, 1, 1));
    let shallow = file(0, vec![vec![PageOf(1, nested(40), vec![])]]);
    assert_eq!(read(&shallow, &text, 0, 1, 1).unwrap().len(), 1);
}

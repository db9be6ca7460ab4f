//! Writes small files of version 2.0 by hand: protobuf from tags and bytes, and the container around it.
#![allow(dead_code)] // Each test uses its own part.

use bytes::Bytes;
use lancet_format::{ColumnMap, Container, Field, File, Source};
use std::sync::Arc;

pub(crate) type Message = Vec<u8>;

fn varint(mut value: u64) -> Message {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// A scalar field.
pub(crate) fn number(tag: u64, value: u64) -> Message {
    [varint(tag << 3), varint(value)].concat()
}

/// A field that holds bytes, text or a message, put together from `parts`.
pub(crate) fn message(tag: u64, parts: &[&[u8]]) -> Message {
    let content = parts.concat();
    [varint(tag << 3 | 2), varint(content.len() as u64), content].concat()
}

fn buffer(index: u64) -> Message {
    if index == 0 { Vec::new() } else { number(1, index) }
}

pub(crate) fn flat(bits: u64, index: u64) -> Message {
    message(1, &[&number(1, bits), &message(2, &[&buffer(index)])])
}

pub(crate) fn compressed(bits: u64, index: u64, scheme: &str) -> Message {
    let scheme = message(3, &[&message(1, &[scheme.as_bytes()])]);
    message(1, &[&number(1, bits), &message(2, &[&buffer(index)]), &scheme])
}

pub(crate) fn no_nulls(values: &[u8]) -> Message {
    message(2, &[&message(1, &[&message(1, &[values])])])
}

pub(crate) fn some_nulls(validity: &[u8], values: &[u8]) -> Message {
    message(2, &[&message(2, &[&message(1, &[validity]), &message(2, &[values])])])
}

pub(crate) fn all_nulls() -> Message {
    message(2, &[&message(3, &[])])
}

pub(crate) fn fixed_size_list(dimension: u64, items: &[u8]) -> Message {
    message(3, &[&number(1, dimension), &message(2, &[items])])
}

pub(crate) fn list(offsets: &[u8], adjustment: u64, items: u64) -> Message {
    message(4, &[&message(1, &[offsets]), &number(2, adjustment), &number(3, items)])
}

pub(crate) fn header() -> Message {
    message(5, &[])
}

pub(crate) fn binary(indices: &[u8], bytes: &[u8], adjustment: u64) -> Message {
    message(6, &[&message(1, &[indices]), &message(2, &[bytes]), &number(3, adjustment)])
}

/// Text whose ends are buffer `index` and whose bytes are the next.
pub(crate) fn text(index: u64, adjustment: u64) -> Message {
    binary(&no_nulls(&flat(64, index)), &no_nulls(&flat(8, index + 1)), adjustment)
}

pub(crate) fn dictionary(indices: &[u8], items: &[u8], count: u64) -> Message {
    message(7, &[&message(1, &[indices]), &message(2, &[items]), &number(3, count)])
}

pub(crate) fn fsst(values: &[u8], symbols: &[u8]) -> Message {
    message(8, &[&message(1, &[values]), &message(2, &[symbols])])
}

pub(crate) fn packed_struct(index: u64) -> Message {
    message(9, &[&message(2, &[&buffer(index)])])
}

/// `tag` 10: one stream, 12: blocks.
pub(crate) fn bitpacked(tag: u64, packed: u64, unpacked: u64, signed: bool) -> Message {
    let sign = if signed { number(4, 1) } else { Vec::new() };
    message(tag, &[&number(1, packed), &number(2, unpacked), &message(3, &[]), &sign])
}

pub(crate) fn fixed_size_binary(width: u64, bytes: &[u8]) -> Message {
    message(11, &[&message(1, &[bytes]), &number(2, width)])
}

/// The little-endian bytes of numbers.
pub(crate) fn le<const N: usize, T: Copy>(values: &[T], bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| bytes(value)).collect()
}

pub(crate) fn u64s(values: &[u64]) -> Vec<u8> {
    le(values, u64::to_le_bytes)
}

pub(crate) fn i32s(values: &[i32]) -> Vec<u8> {
    le(values, i32::to_le_bytes)
}

/// One page: its rows, its encoding, its buffers.
pub(crate) struct Page(pub(crate) u64, pub(crate) Message, pub(crate) Vec<Vec<u8>>);

/// A file in the making.
#[derive(Default)]
pub(crate) struct Writer {
    fields: Vec<u8>,
    num_fields: u64,
    columns: Vec<(bool, Vec<Page>)>,
    /// Global buffers behind the schema.
    globals: Vec<Vec<u8>>,
    /// Bytes before the first buffer.
    pub(crate) data: Vec<u8>,
}

impl Writer {
    /// Adds a field, whose id is the number of fields before it, and its column.
    pub(crate) fn field(mut self, name: &str, parent: Option<u64>, logical: &str, pages: Vec<Page>) -> Self {
        self.add_field(name, parent, logical, &[]);
        self.columns.push((false, pages));
        self
    }

    /// A packed struct of `fields`, which have no columns of their own.
    pub(crate) fn packed(mut self, name: &str, fields: &[(&str, &str)], pages: Vec<Page>) -> Self {
        let id = self.num_fields;
        self.add_field(name, None, "struct", &[("packed", "true")]);
        for (name, logical) in fields {
            self.add_field(name, Some(id), logical, &[]);
        }
        self.columns.push((false, pages));
        self
    }

    /// A column of values that lie outside its pages.
    pub(crate) fn blobs(mut self, name: &str, pages: Vec<Page>) -> Self {
        self.add_field(name, None, "large_binary", &[("lance-encoding:blob", "true")]);
        self.columns.push((true, pages));
        self
    }

    /// Adds metadata to the schema.
    pub(crate) fn metadata(mut self, key: &str, value: &str) -> Self {
        self.fields.extend(message(5, &[&message(1, &[key.as_bytes()]), &message(2, &[value.as_bytes()])]));
        self
    }

    /// Adds a global buffer; the first has number 1.
    pub(crate) fn global(mut self, bytes: &[u8]) -> Self {
        self.globals.push(bytes.into());
        self
    }

    fn add_field(&mut self, name: &str, parent: Option<u64>, logical: &str, metadata: &[(&str, &str)]) {
        let mut field = [
            message(2, &[name.as_bytes()]),
            number(3, self.num_fields),
            number(4, parent.unwrap_or(-1i64 as u64)),
            message(5, &[logical.as_bytes()]),
            number(6, 1),
        ]
        .concat();
        for (key, value) in metadata {
            field.extend(message(10, &[&message(1, &[key.as_bytes()]), &message(2, &[value.as_bytes()])]));
        }
        self.fields.extend(message(1, &[&field]));
        self.num_fields += 1;
    }

    /// The bytes of the file, which says that it has `rows` rows.
    pub(crate) fn finish(self, rows: u64) -> Vec<u8> {
        let mut file = self.data;
        let mut columns = Vec::new();
        for (blobs, pages) in self.columns {
            let kind = if blobs { message(3, &[&message(1, &[&message(1, &[])])]) } else { message(1, &[]) };
            let mut column = message(1, &[&direct("/lance.encodings.ColumnEncoding", &kind)]);
            for Page(rows, encoding, buffers) in pages {
                let (mut offsets, mut sizes) = (Vec::new(), Vec::new());
                for buffer in buffers {
                    file.resize(file.len().next_multiple_of(64), 0x48);
                    offsets.extend(varint(file.len() as u64));
                    sizes.extend(varint(buffer.len() as u64));
                    file.extend(buffer);
                }
                column.extend(message(
                    2,
                    &[
                        &message(1, &[&offsets]),
                        &message(2, &[&sizes]),
                        &number(3, rows),
                        &message(4, &[&direct("/lance.encodings.ArrayEncoding", &encoding)]),
                    ],
                ));
            }
            columns.push(column);
        }
        file.resize(file.len().next_multiple_of(64), 0x48);
        let mut globals = Vec::new();
        for bytes in [vec![[message(1, &[&self.fields]), number(2, rows)].concat()], self.globals].concat() {
            file.resize(file.len().next_multiple_of(64), 0x48);
            globals.extend([file.len() as u64, bytes.len() as u64]);
            file.extend(bytes);
        }
        let metadata = file.len() as u64;
        let mut table = Vec::new();
        for column in &columns {
            table.extend(u64s(&[file.len() as u64, column.len() as u64]));
            file.extend(column);
        }
        let tables = file.len() as u64;
        file.extend(&table);
        let globals_at = file.len() as u64;
        file.extend(u64s(&globals));
        file.extend(u64s(&[metadata, tables, globals_at]));
        file.extend(le(&[globals.len() as u32 / 2, columns.len() as u32], u32::to_le_bytes));
        file.extend([0, 0, 3, 0]);
        file.extend(b"LANC");
        file
    }
}

/// An `Encoding` that holds `value` as an `Any` of type `url`.
fn direct(url: &str, value: &[u8]) -> Message {
    let any = [message(1, &[url.as_bytes()]), message(2, &[value])].concat();
    message(2, &[&message(1, &[&any])])
}

/// A file, opened, with the schema and the columns that it states itself.
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) fields: Vec<Arc<Field>>,
    pub(crate) columns: ColumnMap,
    pub(crate) rows: u64,
}

impl Opened {
    pub(crate) fn new(source: Arc<dyn Source>) -> lancet_format::Result<Self> {
        let (schema, rows) = Container::open(source.clone())?.schema()?;
        let file = File::open(source)?;
        let columns = ColumnMap::of_schema(&schema.fields, file.container().version());
        Ok(Opened { file, fields: schema.fields, columns, rows })
    }

    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        Self::new(Arc::new(Bytes::from(bytes))).expect("a sound file")
    }

    /// The rows of `ranges` of the top-level field `index`.
    pub(crate) fn read(
        &self,
        index: usize,
        ranges: &[std::ops::Range<u64>],
    ) -> lancet_format::Result<lancet_format::Column> {
        self.file.read(&self.fields[index], &self.columns, self.rows, ranges, None)
    }

    /// All rows of the top-level field `index`.
    pub(crate) fn all(&self, index: usize) -> lancet_format::Result<lancet_format::Column> {
        self.read(index, std::slice::from_ref(&(0..self.rows)))
    }
}

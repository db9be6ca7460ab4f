//! A data file taken apart to its buffers, so that one can change in size or a column can be left out, and put
//! together again with every position right.

use crate::wire::{self, Field, Value};
use std::collections::BTreeSet;

const FOOTER: usize = 40;
/// Positions of buffers are multiples of it.
const ALIGNMENT: usize = 64;

/// Numbers of fields: of column metadata, of a page, of a file descriptor, of a schema, of a field.
const COLUMN_PAGES: u64 = 2;
const COLUMN_BUFFERS: [u64; 2] = [3, 4];
const PAGE_OFFSETS: u64 = 1;
const PAGE_SIZES: u64 = 2;
const PAGE_LENGTH: u64 = 3;
const FILE_SCHEMA: u64 = 1;
const FILE_ROWS: u64 = 2;
const SCHEMA_FIELDS: u64 = 1;
const FIELD_ID: u64 = 3;

pub(crate) struct Parts {
    pub(crate) columns: Vec<Column>,
    /// The schema first.
    pub(crate) globals: Vec<Vec<u8>>,
    /// Version and magic.
    end: [u8; 8],
}

pub(crate) struct Column {
    /// Everything but the pages.
    rest: Vec<Field>,
    pub(crate) pages: Vec<Page>,
}

pub(crate) struct Page {
    /// Everything but the buffers.
    rest: Vec<Field>,
    pub(crate) buffers: Vec<Vec<u8>>,
}

impl Parts {
    /// `None` if the file is not sound so far.
    pub(crate) fn of(file: &[u8]) -> Option<Self> {
        let footer = file.len().checked_sub(FOOTER)?;
        let [columns_at, globals_at] = [8, 16].map(|at| word(file, footer + at));
        let [globals, columns] = [24, 28].map(|at| half(file, footer + at));
        let entries = |at: Option<u64>, count: Option<u32>| {
            let start = usize::try_from(at?).ok()?;
            let size = (count? as usize).checked_mul(16)?;
            let table = file.get(start..start.checked_add(size)?)?;
            let entries = table.chunks(16).map(|entry| part(file, word(entry, 0)?, word(entry, 8)?));
            entries.collect::<Option<Vec<&[u8]>>>()
        };
        let columns = entries(columns_at, columns)?.into_iter().map(|message| Column::of(file, message));
        let columns = columns.collect::<Option<_>>()?;
        let globals = entries(globals_at, globals)?.into_iter().map(<[u8]>::to_vec).collect();
        Some(Parts { columns, globals, end: file[footer + 32..].try_into().ok()? })
    }

    pub(crate) fn file(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut place = |bytes: &[u8]| {
            out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
            out.extend(bytes);
            (out.len() - bytes.len()) as u64
        };
        let messages: Vec<_> = self.columns.iter().map(|column| column.message(&mut place)).collect();
        let entry =
            |(at, bytes): (u64, &[u8])| [at.to_le_bytes(), (bytes.len() as u64).to_le_bytes()].concat();
        let globals: Vec<u8> =
            self.globals.iter().flat_map(|buffer| entry((place(buffer), buffer))).collect();
        let metadata = out.len() as u64;
        let mut columns = Vec::new();
        for message in &messages {
            columns.extend(entry((out.len() as u64, message)));
            out.extend(message);
        }
        let table = out.len() as u64;
        out.extend(&columns);
        out.extend(&globals);
        for position in [metadata, table, table + columns.len() as u64] {
            out.extend(position.to_le_bytes());
        }
        out.extend((self.globals.len() as u32).to_le_bytes());
        out.extend((self.columns.len() as u32).to_le_bytes());
        out.extend(self.end);
        out
    }

    /// The buffers of all pages.
    pub(crate) fn buffers(&mut self) -> impl Iterator<Item = &mut Vec<u8>> {
        self.columns.iter_mut().flat_map(|column| &mut column.pages).flat_map(|page| &mut page.buffers)
    }

    /// Leaves only some fields in the schema, and only some columns.
    pub(crate) fn keep(&mut self, fields: &BTreeSet<u64>, columns: &BTreeSet<u32>) -> Option<()> {
        let mut descriptor = wire::parse(self.globals.first()?)?;
        for schema in descriptor.iter_mut().filter(|field| field.number == FILE_SCHEMA) {
            if let Value::Message(schema) = &mut schema.value {
                schema.retain(|field| match &field.value {
                    Value::Message(inner) => {
                        field.number != SCHEMA_FIELDS || fields.contains(&number(inner, FIELD_ID))
                    }
                    _ => true,
                });
            }
        }
        self.globals = vec![wire::encode(&descriptor)];
        let mut index = 0..;
        self.columns.retain(|_| index.next().is_some_and(|index| columns.contains(&index)));
        Some(())
    }

    /// Leaves out all pages but the first, in every column; there must be one column.
    pub(crate) fn keep_first_page(&mut self) -> Option<()> {
        let [column] = &mut self.columns[..] else { return None };
        column.pages.truncate(1);
        let rows = number(&column.pages.first()?.rest, PAGE_LENGTH);
        let mut descriptor = wire::parse(self.globals.first()?)?;
        for field in descriptor.iter_mut().filter(|field| field.number == FILE_ROWS) {
            field.value = Value::Number(rows);
        }
        self.globals[0] = wire::encode(&descriptor);
        Some(())
    }
}

impl Column {
    fn of(file: &[u8], message: &[u8]) -> Option<Self> {
        let (pages, rest): (Vec<_>, Vec<_>) =
            wire::parse(message)?.into_iter().partition(|field| field.number == COLUMN_PAGES);
        let rest = rest.into_iter().filter(|field| !COLUMN_BUFFERS.contains(&field.number)).collect();
        let pages = pages.into_iter().map(|page| Page::of(file, page.value)).collect::<Option<_>>()?;
        Some(Column { rest, pages })
    }

    fn message(&self, place: &mut impl FnMut(&[u8]) -> u64) -> Vec<u8> {
        let pages = self.pages.iter().map(|page| page.field(place));
        wire::encode(&self.rest.iter().cloned().chain(pages).collect::<Vec<_>>())
    }
}

impl Page {
    fn of(file: &[u8], message: Value) -> Option<Self> {
        let Value::Message(fields) = message else { return None };
        let (places, rest): (Vec<_>, Vec<_>) =
            fields.into_iter().partition(|field| [PAGE_OFFSETS, PAGE_SIZES].contains(&field.number));
        let numbers = |number| {
            let fields = places.iter().filter(move |field| field.number == number);
            fields.map(|field| packed(&field.value)).collect::<Option<Vec<_>>>().map(|lists| lists.concat())
        };
        let (offsets, sizes) = (numbers(PAGE_OFFSETS)?, numbers(PAGE_SIZES)?);
        let buffers = offsets.into_iter().zip(sizes).map(|(at, size)| Some(part(file, at, size)?.to_vec()));
        Some(Page { rest, buffers: buffers.collect::<Option<_>>()? })
    }

    fn field(&self, place: &mut impl FnMut(&[u8]) -> u64) -> Field {
        let (mut offsets, mut sizes) = (Vec::new(), Vec::new());
        for buffer in &self.buffers {
            wire::put_varint(place(buffer), &mut offsets);
            wire::put_varint(buffer.len() as u64, &mut sizes);
        }
        let places = [(PAGE_OFFSETS, offsets), (PAGE_SIZES, sizes)];
        let places = places.into_iter().map(|(number, bytes)| Field { number, value: Value::Bytes(bytes) });
        let fields = places.chain(self.rest.iter().cloned()).collect();
        Field { number: COLUMN_PAGES, value: Value::Message(fields) }
    }
}

/// The first number of a field; 0 if there is none.
fn number(message: &[Field], number: u64) -> u64 {
    let numbers = message.iter().filter(|field| field.number == number);
    numbers.map(|field| if let Value::Number(number) = field.value { number } else { 0 }).next().unwrap_or(0)
}

/// Numbers that are packed into the bytes of one field.
fn packed(value: &Value) -> Option<Vec<u64>> {
    let bytes = match value {
        Value::Number(number) => return Some(vec![*number]),
        Value::Bytes(bytes) => bytes.clone(),
        Value::Message(fields) => wire::encode(fields),
        _ => return None,
    };
    let (mut rest, mut numbers) = (&bytes[..], Vec::new());
    while !rest.is_empty() {
        numbers.push(wire::varint(&mut rest)?);
    }
    Some(numbers)
}

fn part(file: &[u8], at: u64, size: u64) -> Option<&[u8]> {
    let (at, size) = (usize::try_from(at).ok()?, usize::try_from(size).ok()?);
    file.get(at..at.checked_add(size)?)
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|half| u32::from_le_bytes(*half))
}

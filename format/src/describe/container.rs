//! [`FileDescription`]: what a Lance file holds, from its footer to the buffers of its pages.

use super::{Encoding, LayerKind, array::array, layout::layout};
use crate::{
    ColumnMap, Container, Error, Field, FileVersion, Metadata, Result, Schema,
    container::{FOOTER_LEN, buffer_entries},
    proto::{self, column_encoding::Kind},
};
use alloc::{borrow::ToOwned, collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};

/// Alignments beyond a page of memory tell nothing.
const MAX_ALIGNMENT: u64 = 4096;
/// Paths do not get longer than this.
const MAX_PATH: usize = 256;

/// A Lance file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FileDescription {
    /// The version in the footer.
    pub version: FileVersion,
    /// Where the metadata of the first column lies.
    pub column_metadata_position: u64,
    /// Where the column table lies.
    pub column_table_position: u64,
    /// Where the global buffer table lies.
    pub global_buffer_table_position: u64,
    /// Where the footer lies.
    pub footer_position: u64,
    /// The schema that the file itself states.
    pub schema: Result<SchemaDescription>,
    /// The buffers that belong to no column. The first holds the schema.
    pub global_buffers: Vec<Result<BufferDescription>>,
    /// The physical columns.
    pub columns: Vec<Result<ColumnDescription>>,
}

/// The schema that a file states.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SchemaDescription {
    /// The number of rows that the file states.
    pub rows: u64,
    /// Metadata of the whole.
    pub metadata: Metadata,
    /// All fields, each before its children.
    pub fields: Vec<FieldDescription>,
}

/// A field of a file's own schema.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FieldDescription {
    /// The field, with its children.
    pub field: Arc<Field>,
    /// The names of its parents and its own, joined with dots; its own alone where that gets too long.
    pub path: String,
    /// The id of the field that it lies in.
    pub parent: Option<i32>,
    /// The physical column that holds it, if it has one of its own.
    pub column: Option<u32>,
}

/// A physical column.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ColumnDescription {
    /// Where its metadata lies.
    pub metadata: BufferDescription,
    /// The encoding of the whole column.
    pub encoding: Result<Encoding>,
    /// Rows of all pages.
    pub rows: u64,
    /// The pages in row order.
    pub pages: Vec<PageDescription>,
    /// Buffers that belong to no page, or what is wrong with the list of them.
    pub buffers: Result<Vec<BufferDescription>>,
}

/// A page.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PageDescription {
    /// How many rows the pages before it have.
    pub first_row: u64,
    /// How many rows it has.
    pub rows: u64,
    /// How levels stand for nulls and lists, leaf first; empty in version 2.0, which has no levels.
    pub layers: Vec<LayerKind>,
    /// The layout with what is in it (2.1 and later), or the array encoding (2.0).
    pub encoding: Result<Encoding>,
    /// The buffers, or what is wrong with the list of them.
    pub buffers: Result<Vec<BufferDescription>>,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferDescription {
    /// Where it begins.
    pub position: u64,
    /// Its size in bytes, without padding.
    pub size: u64,
    /// Why it cannot be read: it lies outside of the file, or is not aligned.
    pub error: Option<Error>,
}

impl BufferDescription {
    /// The largest power of two that divides the position, at most 4,096.
    pub fn alignment(&self) -> u64 {
        1 << (self.position | MAX_ALIGNMENT).trailing_zeros()
    }
}

/// Describes a Lance file, without reading any of its pages.
pub fn file(container: &Container) -> FileDescription {
    let [column_metadata_position, column_table_position, global_buffer_table_position] =
        container.positions();
    let mut metadata_bytes = column_table_position - column_metadata_position;
    FileDescription {
        version: container.version(),
        column_metadata_position,
        column_table_position,
        global_buffer_table_position,
        footer_position: container.source().len() - FOOTER_LEN,
        schema: schema(container),
        global_buffers: (0..container.num_global_buffers())
            .map(|index| {
                let buffer = container.global_buffer(index)?;
                Ok(BufferDescription { position: buffer.position(), size: buffer.len() as u64, error: None })
            })
            .collect(),
        columns: (0..container.num_columns())
            .map(|index| column(container, index, &mut metadata_bytes))
            .collect(),
    }
}

fn schema(container: &Container) -> Result<SchemaDescription> {
    let (schema, rows) = container.schema()?;
    let columns = ColumnMap::of_schema(&schema.fields, container.version());
    Ok(SchemaDescription { rows, fields: fields(&schema, &columns), metadata: schema.metadata })
}

/// All fields of a schema, each before its children, and the columns that `columns` gives them.
pub fn fields(schema: &Schema, columns: &ColumnMap) -> Vec<FieldDescription> {
    let mut fields = Vec::new();
    for field in &schema.fields {
        describe_field(field, None, columns, &mut fields);
    }
    fields
}

/// Appends `field` and those in it. Their depth is bounded by the schema's.
fn describe_field(
    field: &Arc<Field>,
    parent: Option<(&str, i32)>,
    columns: &ColumnMap,
    out: &mut Vec<FieldDescription>,
) {
    let path = match parent {
        Some((parent, _)) if parent.len() + 1 + field.name.len() <= MAX_PATH => {
            format!("{parent}.{}", field.name)
        }
        _ => (*field.name).to_owned(),
    };
    out.push(FieldDescription {
        field: field.clone(),
        path: path.clone(),
        parent: parent.map(|(_, id)| id),
        // Fields that own no column have no id either: the items of vectors, descriptions of blobs.
        column: (field.id >= 0).then(|| columns.get(field.id)).flatten(),
    });
    for child in field.data_type.children() {
        describe_field(child, Some((&path, field.id)), columns, out);
    }
}

/// Column `index`. The messages of all columns together take `metadata_bytes` at most: they do not overlap, so
/// that what is told of them is bounded by the file.
fn column(container: &Container, index: u32, metadata_bytes: &mut u64) -> Result<ColumnDescription> {
    let within = |error: Error| error.within(format!("column {index}"));
    let entry = container.column_entry(index).map_err(within)?;
    let position = entry.position();
    let left = metadata_bytes.checked_sub(entry.len() as u64).ok_or_else(|| {
        within(Error::corrupt("column metadata: expected messages that do not overlap").at(position))
    })?;
    *metadata_bytes = left;
    let message = container.column_metadata(&entry).map_err(within)?;
    let mut rows = 0u64;
    let pages = message.pages.iter().enumerate().map(|(number, page)| {
        let first_row = rows;
        rows = rows.saturating_add(page.length);
        let within = |error: Error| within(error.within(format!("page {number}")));
        describe_page(container, page, first_row, position, &within)
    });
    let pages = pages.collect();
    let encoding = container.column_encoding(&message, position);
    Ok(ColumnDescription {
        metadata: BufferDescription { position, size: entry.len() as u64, error: None },
        encoding: encoding.map(|encoding| column_encoding(&encoding)).map_err(within),
        rows,
        pages,
        buffers: buffers(container, &message.buffer_offsets, &message.buffer_sizes, position, &within),
    })
}

fn column_encoding(message: &proto::ColumnEncoding) -> Encoding {
    match &message.kind {
        Some(Kind::Values(_)) => Encoding::new("values"),
        Some(Kind::ZoneIndex(_)) => Encoding::new("zone-index"),
        Some(Kind::Blob(blob)) => {
            let inner = blob.inner.as_deref().map_or_else(Encoding::unknown, column_encoding);
            Encoding::new("blob").of(inner)
        }
        None => Encoding::unknown(),
    }
}

fn describe_page(
    container: &Container,
    page: &proto::Page,
    first_row: u64,
    position: u64,
    within: &dyn Fn(Error) -> Error,
) -> PageDescription {
    let words = page.buffer_sizes.first().copied();
    let encoding = container.page_encoding(page, position).and_then(|bytes| match container.version() {
        FileVersion::V2_0 => {
            Ok((Vec::new(), array(&proto::decode_shared(bytes, position, "array encoding")?)))
        }
        FileVersion::V2_1 | FileVersion::V2_2 => {
            Ok(layout(&proto::decode_shared(bytes, position, "page layout")?, words))
        }
    });
    let (layers, encoding) = match encoding {
        Ok((layers, encoding)) => (layers, Ok(encoding)),
        Err(error) => (Vec::new(), Err(within(error))),
    };
    let buffers = buffers(container, &page.buffer_offsets, &page.buffer_sizes, position, within);
    PageDescription { first_row, rows: page.length, layers, encoding, buffers }
}

fn buffers(
    container: &Container,
    positions: &[u64],
    sizes: &[u64],
    metadata: u64,
    within: &dyn Fn(Error) -> Error,
) -> Result<Vec<BufferDescription>> {
    let pairs = buffer_entries(positions, sizes, metadata).map_err(within)?.enumerate();
    let describe = |(index, (position, size))| {
        let error = container.page_buffer(index, position, size).err().map(within);
        BufferDescription { position, size, error }
    };
    Ok(pairs.map(describe).collect())
}

impl FileDescription {
    /// The field of the file's own schema that each column holds.
    pub fn fields_by_column(&self) -> BTreeMap<u32, &FieldDescription> {
        let fields = self.schema.iter().flat_map(|schema| &schema.fields);
        fields.filter_map(|field| Some((field.column?, field))).collect()
    }

    /// What is wrong with its parts, each with its place.
    pub fn errors(&self) -> Vec<&Error> {
        let mut errors = Vec::new();
        errors.extend(self.schema.as_ref().err());
        errors.extend(self.global_buffers.iter().filter_map(|buffer| buffer.as_ref().err()));
        for column in &self.columns {
            match column {
                Ok(column) => column.append_errors(&mut errors),
                Err(error) => errors.push(error),
            }
        }
        errors
    }
}

impl ColumnDescription {
    fn append_errors<'a>(&'a self, errors: &mut Vec<&'a Error>) {
        errors.extend(self.encoding.as_ref().err());
        append_buffer_errors(&self.buffers, errors);
        for page in &self.pages {
            errors.extend(page.encoding.as_ref().err());
            append_buffer_errors(&page.buffers, errors);
        }
    }
}

fn append_buffer_errors<'a>(buffers: &'a Result<Vec<BufferDescription>>, errors: &mut Vec<&'a Error>) {
    match buffers {
        Ok(buffers) => errors.extend(buffers.iter().filter_map(|buffer| buffer.error.as_ref())),
        Err(error) => errors.push(error),
    }
}

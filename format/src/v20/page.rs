//! An opened page: its encoding understood, its buffers found large enough.

use super::{
    array::{Array, Validity, open_words, peel, unexpected},
    data::{Flat, required, to_usize},
    ends::Ends,
};
use crate::{
    Error, Field, Physical, Result,
    blob::first_version,
    container::{ColumnPages, PageParts},
    ensure,
    leaf::LeafShape,
    lent::Lent,
    proto::{self, column_encoding::Kind, v20},
};
use alloc::format;

/// An opened page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(super) rows: usize,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    /// One value a row.
    Leaf(Array),
    /// Where each row's items lie, in the column of the items; without ends all rows are null.
    List(Option<Ends>),
    /// Rows of the fields' values end to end.
    Packed(Flat),
    /// Rows of two numbers, the position and the size of each value.
    Blobs(Flat),
}

/// Bytes of a position and a size.
pub(super) const BLOB: usize = 16;

impl Page {
    pub(super) fn open(pages: &ColumnPages, parts: &PageParts, field: &Field) -> Result<Self> {
        let blobs = is_blob(pages)?;
        let encoding: v20::ArrayEncoding =
            proto::decode(&parts.encoding, parts.encoding_position, "array encoding")?;
        let rows = to_usize(parts.rows, "rows")?;
        let descriptions = || open_packed(&encoding, BLOB, rows, field, parts);
        let content = match field.data_type.physical() {
            Physical::LargeVariable | Physical::Variable if blobs => Content::Blobs(descriptions()?),
            Physical::Struct if blobs && field.data_type == first_version() => {
                Content::Blobs(descriptions()?)
            }
            _ if blobs => {
                return Err(Error::corrupt(format!("found blobs where the type is {}", field.data_type)));
            }
            Physical::Struct => {
                Content::Packed(open_packed(&encoding, packed_width(field)?, rows, field, parts)?)
            }
            Physical::List | Physical::LargeList => Content::List(match list_of(&encoding, field)? {
                None => None,
                Some(list) => {
                    let words = open_words(list.offsets.as_deref(), rows, parts)?;
                    Some(Ends::new(words, list.null_offset_adjustment, list.num_items))
                }
            }),
            _ => Content::Leaf(Array::open(Some(&encoding), &field.data_type, rows, parts)?),
        };
        Ok(Page { rows, content })
    }

    /// Whether rows of this page can be lent as they lie in the file.
    pub(crate) fn lends_rows(&self) -> bool {
        matches!(&self.content, Content::Leaf(array) if array.lends_rows())
    }

    /// `row` and those after it where they lie, if they can be lent.
    pub(crate) fn lent_from(&self, row: u64) -> Result<Option<Lent<'_>>> {
        match &self.content {
            Content::Leaf(array) if row < self.rows as u64 => {
                Ok(array.lent(row as usize..self.rows)?.map(Lent::of_bytes))
            }
            _ => Ok(None),
        }
    }
}

/// Whether the values of a column lie outside its pages.
pub(super) fn is_blob(pages: &ColumnPages) -> Result<bool> {
    match &pages.encoding.kind {
        Some(Kind::Values(_)) => Ok(false),
        Some(Kind::Blob(_)) => Ok(true),
        Some(Kind::ZoneIndex(_)) => Err(Error::unsupported("column encoding `zone_index` is not supported")),
        None => Err(Error::unsupported("expected a column encoding of version 2.0, found another")),
    }
}

/// The items that the pages of a list column cover, given the encoding of one of them.
pub(super) fn num_items(parts: &PageParts, field: &Field) -> Result<u64> {
    let encoding: v20::ArrayEncoding =
        proto::decode(&parts.encoding, parts.encoding_position, "array encoding")?;
    let list = list_of(&encoding, field).map_err(|error| error.at(parts.encoding_position))?;
    Ok(list.map_or(0, |list| list.num_items))
}

/// The list under the nullables around it; none if all rows are null.
fn list_of<'a>(encoding: &'a v20::ArrayEncoding, field: &Field) -> Result<Option<&'a v20::List>> {
    let mut encoding = Some(encoding);
    loop {
        match required(encoding, "an array")?.array.as_ref() {
            Some(v20::Array::List(list)) => return Ok(Some(list)),
            Some(v20::Array::Nullable(nullable)) => match &nullable.nullability {
                Some(v20::Nullability::NoNulls(inner)) => encoding = inner.values.as_deref(),
                Some(v20::Nullability::AllNulls(_)) => return Ok(None),
                _ => return Err(Error::unsupported("a list whose nulls are not part of its ends")),
            },
            Some(other) => return Err(unexpected(other, &field.data_type)),
            None => {
                return Err(Error::unsupported("expected an array encoding of version 2.0, found another"));
            }
        }
    }
}

/// The packed rows that `encoding` describes, `width` bytes each; they are never null.
fn open_packed(
    encoding: &v20::ArrayEncoding,
    width: usize,
    rows: usize,
    field: &Field,
    parts: &PageParts,
) -> Result<Flat> {
    match peel(Some(encoding), 1, rows, parts)? {
        (Validity::AllValid, Some(v20::Array::PackedStruct(packed))) => {
            Flat::of_buffer(packed.buffer.as_ref(), None, width * 8, 1, rows, parts)
        }
        (Validity::AllValid, Some(other)) => Err(unexpected(other, &field.data_type)),
        _ => Err(Error::unsupported("a packed struct with nulls")),
    }
}

/// The bytes of one packed row.
fn packed_width(field: &Field) -> Result<usize> {
    let mut width = 0usize;
    for child in field.data_type.children() {
        width = width.saturating_add(packed_child_width(child)?);
    }
    ensure!(
        (1..1 << 31).contains(&width),
        "packed_struct: expected fields of whole bytes, found {width} bytes"
    );
    Ok(width)
}

/// The bytes of one value of a field of a packed struct.
pub(super) fn packed_child_width(child: &Field) -> Result<usize> {
    LeafShape::of(&child.data_type)?.slot_bytes().ok_or_else(|| {
        Error::unsupported(format!("packed_struct: field `{}` of type {}", child.name, child.data_type))
    })
}

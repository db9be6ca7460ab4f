//! Columns that are computed.

use super::{
    Mask,
    types::{Bytes, plain, unexpected},
};
use crate::{Error, Result};
use lancet_format::{Bitmap, Buffer, Column, DataType, Physical, Values};

/// One bit for each item; none if all are set.
pub(super) fn validity(items: impl ExactSizeIterator<Item = bool>) -> Option<Bitmap> {
    let bits = bits(items);
    (bits.count_ones() < bits.len()).then_some(bits)
}

/// One bit for each item.
pub(super) fn bits(items: impl ExactSizeIterator<Item = bool>) -> Bitmap {
    let len = items.len();
    let mut bytes = vec![0; len.div_ceil(8)];
    for (i, item) in items.enumerate() {
        bytes[i / 8] |= u8::from(item) << (i % 8);
    }
    Bitmap::new(Buffer::copy_of(&bytes), len)
}

/// The rows of `mask` as the validity of a column; none if all are.
pub(super) fn mask_validity(mask: Option<Mask>) -> Option<Bitmap> {
    mask.filter(|mask| mask.count() < mask.len()).map(|mask| mask.to_bitmap())
}

/// A column of numbers of one width.
pub(super) fn numbers<T: bytemuck::Pod>(
    data_type: &DataType,
    values: &[T],
    validity: Option<Bitmap>,
) -> Result<Column> {
    let values_of = Values::Fixed(Buffer::of(values));
    Ok(Column::from_parts(plain(data_type), values.len(), validity, values_of)?)
}

/// A column of booleans.
pub(super) fn booleans(values: Bitmap, validity: Option<Bitmap>) -> Result<Column> {
    let len = values.len();
    Ok(Column::from_parts(&DataType::Boolean, len, validity, Values::Bits(values))?)
}

/// A column of lists, of which the i-th ends before item `ends[i]`.
pub(super) fn list(
    data_type: &DataType,
    validity: Option<Bitmap>,
    ends: &[usize],
    items: Column,
) -> Result<Column> {
    let items = Box::new(items);
    let values = match data_type.physical() {
        Physical::List => Values::List { offsets: small_offsets(ends)?, items },
        Physical::LargeList => Values::LargeList { offsets: large_offsets(ends), items },
        Physical::FixedSizeList(_) => Values::FixedSizeList(items),
        _ => return Err(unexpected(data_type)),
    };
    Ok(Column::from_parts(data_type, ends.len(), validity, values)?)
}

fn small_offsets(ends: &[usize]) -> Result<Buffer> {
    let ends = ends.iter().map(|&end| i32::try_from(end).map_err(|_| too_large()));
    Ok(Buffer::of(&std::iter::once(Ok(0)).chain(ends).collect::<Result<Vec<i32>>>()?))
}

fn large_offsets(ends: &[usize]) -> Buffer {
    Buffer::of(&std::iter::once(0).chain(ends.iter().map(|&end| end as i64)).collect::<Vec<i64>>())
}

fn too_large() -> Error {
    Error::too_large("the texts of an expression take more than 2 GiB in one batch: ask for fewer rows")
}

/// Texts or binary values, appended row by row.
#[derive(Debug)]
pub(super) struct Texts {
    data_type: DataType,
    ends: Vec<usize>,
    bytes: Vec<u8>,
    nulls: Vec<bool>,
}

impl Texts {
    /// `data_type` is text or binary of any kind, or a dictionary of such.
    pub(super) fn new(data_type: &DataType, len: usize) -> Self {
        let (ends, nulls) = (Vec::with_capacity(len), Vec::with_capacity(len));
        Texts { data_type: plain(data_type).clone(), ends, bytes: Vec::new(), nulls }
    }

    /// Appends a value.
    pub(super) fn push(&mut self, value: &[u8]) -> Result<()> {
        self.append(value);
        self.end(true)
    }

    /// Appends NULL.
    pub(super) fn push_null(&mut self) -> Result<()> {
        if let Physical::Fixed(width) = self.data_type.physical() {
            self.bytes.resize(self.bytes.len() + width, 0);
        }
        self.end(false)
    }

    /// Appends to the value that [`end`](Self::end) will end.
    pub(super) fn append(&mut self, part: &[u8]) {
        self.bytes.extend_from_slice(part);
    }

    /// Ends a value.
    pub(super) fn end(&mut self, valid: bool) -> Result<()> {
        if i32::try_from(self.bytes.len()).is_err() {
            return Err(too_large());
        }
        self.ends.push(self.bytes.len());
        self.nulls.push(!valid);
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Column> {
        let validity = validity(self.nulls.iter().map(|null| !null));
        let bytes = Buffer::copy_of(&self.bytes);
        let values = match self.data_type.physical() {
            Physical::Variable => Values::Variable { offsets: small_offsets(&self.ends)?, bytes },
            Physical::LargeVariable => Values::LargeVariable { offsets: large_offsets(&self.ends), bytes },
            Physical::Fixed(_) => Values::Fixed(bytes),
            _ => return Err(unexpected(&self.data_type)),
        };
        Ok(Column::from_parts(&self.data_type, self.ends.len(), validity, values)?)
    }
}

/// The column as one of `data_type`: a dictionary is its values, and texts get the other width of offsets.
pub(super) fn of_type(column: &Column, data_type: &DataType) -> Result<Column> {
    let data_type = plain(data_type);
    if column.data_type().physical() == data_type.physical() {
        return Ok(column.clone().with_type(data_type)?);
    }
    if matches!(column.values(), Values::Null) {
        return Ok(Column::nulls(data_type, column.len()));
    }
    let bytes = Bytes::of(column)?;
    let mut texts = Texts::new(data_type, column.len());
    for row in 0..column.len() {
        match column.is_null(row) {
            true => texts.push_null()?,
            false => texts.push(bytes.get(row))?,
        }
    }
    texts.finish()
}

//! Columns put together from buffers that no file holds.

use super::{Column, Values};
use crate::{Bitmap, Buffer, DataType, Error, Physical, Result};
use alloc::format;
use bytemuck::Pod;

impl Column {
    /// A column of `len` rows from its buffers; texts are not checked to be UTF-8, as [`str`](Self::str) does.
    ///
    /// # Errors
    /// Invalid input if a buffer's length, an offset or the type of a child does not fit `data_type`.
    pub fn from_parts(
        data_type: &DataType,
        len: usize,
        validity: Option<Bitmap>,
        values: Values,
    ) -> Result<Column> {
        let fits = validity.as_ref().is_none_or(|bits| bits.len() == len)
            && match (&values, data_type.physical()) {
                (Values::Null, Physical::Null) => true,
                (Values::Bits(bits), Physical::Bits) => bits.len() == len,
                (Values::Fixed(buffer), Physical::Fixed(width)) => {
                    len.checked_mul(width) == Some(buffer.len())
                }
                (Values::Variable { offsets, bytes }, Physical::Variable) => {
                    are_offsets::<i32>(offsets, len, bytes.len())
                }
                (Values::LargeVariable { offsets, bytes }, Physical::LargeVariable) => {
                    are_offsets::<i64>(offsets, len, bytes.len())
                }
                (Values::List { offsets, items }, Physical::List) => {
                    is_child(data_type, 0, items) && are_offsets::<i32>(offsets, len, items.len)
                }
                (Values::LargeList { offsets, items }, Physical::LargeList) => {
                    is_child(data_type, 0, items) && are_offsets::<i64>(offsets, len, items.len)
                }
                (Values::FixedSizeList(items), Physical::FixedSizeList(dimension)) => {
                    is_child(data_type, 0, items) && len.checked_mul(dimension) == Some(items.len)
                }
                (Values::Struct(children), Physical::Struct) => {
                    children.len() == data_type.children().len()
                        && children
                            .iter()
                            .enumerate()
                            .all(|(i, child)| is_child(data_type, i, child) && child.len == len)
                }
                _ => false,
            };
        match fits {
            true => Ok(Column::new(data_type.clone(), len, validity, values)),
            false => Err(Error::invalid_input(format!("expected buffers of {len} values of {data_type}"))),
        }
    }

    /// The same values as of another type that lies in memory alike, or the column itself.
    ///
    /// # Errors
    /// Invalid input if the types lie differently.
    pub fn with_type(mut self, data_type: &DataType) -> Result<Column> {
        let alike = self.data_type.physical() == data_type.physical()
            && self.data_type.children().len() == data_type.children().len()
            && self
                .data_type
                .children()
                .iter()
                .zip(data_type.children())
                .all(|(own, other)| own.data_type == other.data_type);
        if !alike {
            return Err(Error::invalid_input(format!("expected {data_type}, found {}", self.data_type)));
        }
        self.data_type = data_type.clone();
        Ok(self)
    }
}

fn is_child(data_type: &DataType, index: usize, child: &Column) -> bool {
    data_type.children().get(index).is_some_and(|field| field.data_type == child.data_type)
}

/// Whether these are offsets of `len` rows into `end` items: ascending from 0, none beyond.
fn are_offsets<O: Pod + Ord + TryInto<usize> + Default>(offsets: &Buffer, len: usize, end: usize) -> bool {
    if offsets.len() != (len + 1) * size_of::<O>() {
        return false;
    }
    let offsets = offsets.typed::<O>();
    offsets[0] == O::default() && offsets.is_sorted() && offsets[len].try_into().is_ok_and(|last| last <= end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_must_fit() {
        let text = |offsets: &[i32], bytes: &[u8]| {
            let values = Values::Variable { offsets: Buffer::of(offsets), bytes: Buffer::copy_of(bytes) };
            Column::from_parts(&DataType::Utf8, 2, None, values)
        };
        assert_eq!(text(&[0, 1, 3], b"abc").unwrap().str(1), Some("bc"));
        for offsets in [&[0, 1][..], &[0, 2, 1], &[1, 2, 3], &[0, 1, 4], &[0, -1, 3]] {
            assert!(text(offsets, b"abc").is_err(), "{offsets:?}");
        }
        let numbers =
            |data_type| Column::from_parts(&data_type, 2, None, Values::Fixed(Buffer::of(&[1i32, 2])));
        assert!(numbers(DataType::Int32).is_ok());
        assert!(numbers(DataType::Int64).is_err() && numbers(DataType::Utf8).is_err());
        let dates = numbers(DataType::Int32).unwrap().with_type(&DataType::Date32).unwrap();
        assert_eq!(dates.data_type(), &DataType::Date32);
        assert!(dates.with_type(&DataType::Int64).is_err());
    }
}

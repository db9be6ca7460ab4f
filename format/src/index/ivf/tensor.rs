//! [`Tensor`]: the centroids of an index, or the codewords of a quantizer.

use crate::{Buffer, DataType, Error, Result, ensure, proto::ivf as message};
use alloc::format;
use bytemuck::Pod;

/// Rows of numbers, end to end and aligned for their type.
#[derive(Debug, Clone)]
pub struct Tensor {
    item: DataType,
    rows: usize,
    columns: usize,
    data: Buffer,
}

impl Tensor {
    /// Rows of `f32`.
    pub(super) fn of_floats(data: &[f32], rows: usize) -> Result<Self> {
        ensure!(
            rows > 0 && data.len().is_multiple_of(rows),
            "expected the same number of values in {rows} centroids, found {} in all",
            data.len()
        );
        let (columns, data) = (data.len() / rows, Buffer::copy_of(bytemuck::cast_slice(data)));
        Ok(Tensor { item: DataType::Float32, rows, columns, data })
    }

    /// From its message.
    ///
    /// # Errors
    /// Unsupported for types that no index uses, corrupt if shape and size differ.
    pub(super) fn parse(message: &message::Tensor) -> Result<Self> {
        let (item, width) = match message.data_type {
            1 => (DataType::Float16, 2),
            2 => (DataType::Float32, 4),
            3 => (DataType::Float64, 8),
            4 => (DataType::UInt8, 1),
            other => {
                return Err(Error::unsupported(format!(
                    "tensor: expected numbers of type f16, f32, f64 or u8, found type {other}"
                )));
            }
        };
        let &[rows, columns] = &*message.shape else {
            return Err(Error::corrupt(format!(
                "tensor: expected 2 dimensions, found {}",
                message.shape.len()
            )));
        };
        let (rows, columns) = (rows as usize, columns as usize);
        let size = rows.checked_mul(columns).and_then(|items| items.checked_mul(width));
        ensure!(
            size == Some(message.data.len()) && !message.data.is_empty(),
            "tensor: expected {rows} × {columns} numbers of {width} bytes, found {} bytes",
            message.data.len()
        );
        // The bytes lie behind a few of protobuf, off the alignment of numbers.
        Ok(Tensor { item, rows, columns, data: Buffer::copy_of(&message.data) })
    }

    /// The type of the numbers: f16, f32, f64 or u8.
    pub fn item(&self) -> &DataType {
        &self.item
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The numbers of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All numbers, row after row; `None` unless they have `T`'s width.
    pub fn values<T: Pod>(&self) -> Option<&[T]> {
        (self.data.len() == self.rows * self.columns * size_of::<T>()).then(|| self.data.typed())
    }
}

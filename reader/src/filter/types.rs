//! Types of columns and the Rust types behind them.

use super::{Mask, compare::kernel_op};
use crate::{
    Error, Result,
    expr::{Comparison, Scalar},
};
use half::{bf16, f16};
use lancet_format::{Column, DataType, Physical, Values};
use lancet_kernels::compare::bytes::{self, Fixed, Variable};

/// The kernels look at every row: they are used where at least one in so many is in question.
const DENSE: usize = 8;

/// The type of the values, a dictionary being taken as these.
pub(super) fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

/// Runs the first block with `$T` as the type of a column's numbers, which order like the values; the second one if
/// the values are no numbers of one width.
macro_rules! with_numbers {
    ($data_type:expr, $T:ident => $numbers:expr, else $other:expr) => {{
        use lancet_format::DataType::*;
        match $crate::filter::types::plain($data_type) {
            Int8 => {
                type $T = i8;
                $numbers
            }
            Int16 => {
                type $T = i16;
                $numbers
            }
            Int32 | Date32 | Time32(_) => {
                type $T = i32;
                $numbers
            }
            Int64 | Date64 | Time64(_) | Timestamp(..) | Duration(_) => {
                type $T = i64;
                $numbers
            }
            UInt8 => {
                type $T = u8;
                $numbers
            }
            UInt16 => {
                type $T = u16;
                $numbers
            }
            UInt32 => {
                type $T = u32;
                $numbers
            }
            UInt64 => {
                type $T = u64;
                $numbers
            }
            Float16 => {
                type $T = half::f16;
                $numbers
            }
            BFloat16 => {
                type $T = half::bf16;
                $numbers
            }
            Float32 => {
                type $T = f32;
                $numbers
            }
            Float64 => {
                type $T = f64;
                $numbers
            }
            Decimal128(..) => {
                type $T = [u8; 16];
                $numbers
            }
            Decimal256(..) => {
                type $T = [u8; 32];
                $numbers
            }
            _ => $other,
        }
    }};
}
pub(super) use with_numbers;

/// The numbers of a column whose type says that it has some.
pub(super) fn numbers<T: bytemuck::Pod>(column: &Column) -> Result<&[T]> {
    column.primitive().ok_or_else(|| unexpected(column.data_type()))
}

/// An expression met a column of another type than the one it was made for.
#[cold]
pub(super) fn unexpected(found: &DataType) -> Error {
    Error::invalid_input(format!(
        "expected a column of the type that the expression was made for, found {found}"
    ))
}

/// A number that a scalar can be.
pub(super) trait FromScalar: Sized {
    fn from_scalar(scalar: &Scalar) -> Option<Self>;
}

macro_rules! from_scalar {
    ($($t:ty, $pattern:pat => $value:expr;)*) => {
        $(impl FromScalar for $t {
            fn from_scalar(scalar: &Scalar) -> Option<Self> {
                match scalar {
                    $pattern => $value,
                    _ => None,
                }
            }
        })*
    };
}
from_scalar! {
    i8, Scalar::Int(value) => (*value).try_into().ok();
    i16, Scalar::Int(value) => (*value).try_into().ok();
    i32, Scalar::Int(value) => (*value).try_into().ok();
    i64, Scalar::Int(value) => Some(*value);
    u8, Scalar::UInt(value) => (*value).try_into().ok();
    u16, Scalar::UInt(value) => (*value).try_into().ok();
    u32, Scalar::UInt(value) => (*value).try_into().ok();
    u64, Scalar::UInt(value) => Some(*value);
    f16, Scalar::Float16(value) => Some(*value);
    bf16, Scalar::BFloat16(value) => Some(*value);
    f32, Scalar::Float32(value) => Some(*value);
    f64, Scalar::Float64(value) => Some(*value);
    [u8; 16], Scalar::Decimal128(value) => Some(value.to_le_bytes());
    [u8; 32], Scalar::Decimal256(value) => Some(value.to_le_bytes());
}

/// The bytes of a text or binary scalar.
pub(super) fn scalar_bytes(scalar: &Scalar) -> Option<&[u8]> {
    match scalar {
        Scalar::Text(text) => Some(text.as_bytes()),
        Scalar::Binary(bytes) => Some(bytes),
        _ => None,
    }
}

/// The bytes of every row of a text or binary column; of null rows they mean nothing.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bytes<'a> {
    Small(&'a [i32], &'a [u8]),
    Large(&'a [i64], &'a [u8]),
    Fixed(usize, &'a [u8]),
}

impl<'a> Bytes<'a> {
    pub(super) fn of(column: &'a Column) -> Result<Self> {
        Ok(match column.values() {
            Values::Variable { offsets, bytes } => Bytes::Small(offsets.typed(), bytes.as_slice()),
            Values::LargeVariable { offsets, bytes } => Bytes::Large(offsets.typed(), bytes.as_slice()),
            Values::Fixed(buffer) => match column.data_type().physical() {
                Physical::Fixed(width) => Bytes::Fixed(width, buffer.as_slice()),
                _ => return Err(unexpected(column.data_type())),
            },
            _ => return Err(unexpected(column.data_type())),
        })
    }

    #[inline]
    pub(super) fn get(self, i: usize) -> &'a [u8] {
        match self {
            Bytes::Small(offsets, bytes) => &bytes[offsets[i] as usize..offsets[i + 1] as usize],
            Bytes::Large(offsets, bytes) => &bytes[offsets[i] as usize..offsets[i + 1] as usize],
            Bytes::Fixed(width, bytes) => &bytes[i * width..(i + 1) * width],
        }
    }

    /// As text; what is no text reads as empty, so that damaged bytes do no harm.
    #[inline]
    pub(super) fn text(self, i: usize) -> &'a str {
        std::str::from_utf8(self.get(i)).unwrap_or_default()
    }

    /// The rows of `rows` whose bytes are `op` to `literal`.
    pub(super) fn compare(self, op: Comparison, literal: &[u8], rows: &Mask) -> Mask {
        if rows.count() < rows.len() / DENSE {
            return self.select(rows, |value| op.holds(value.cmp(literal)));
        }
        let mut found = Mask::filled(rows.len(), false);
        let (op, mask) = (kernel_op(op), found.words_mut());
        match self {
            Bytes::Small(offsets, bytes) => bytes::literal(op, Variable { offsets, bytes }, literal, mask),
            Bytes::Large(offsets, bytes) => bytes::literal(op, Variable { offsets, bytes }, literal, mask),
            Bytes::Fixed(width, bytes) => bytes::literal(op, Fixed { width, bytes }, literal, mask),
        }
        found.and(rows);
        found
    }

    /// The rows of `rows` whose bytes start with `prefix`.
    pub(super) fn starts_with(self, prefix: &[u8], rows: &Mask) -> Mask {
        if rows.count() < rows.len() / DENSE {
            return self.select(rows, |value| value.starts_with(prefix));
        }
        let mut found = Mask::filled(rows.len(), false);
        let mask = found.words_mut();
        match self {
            Bytes::Small(offsets, bytes) => bytes::starts_with(Variable { offsets, bytes }, prefix, mask),
            Bytes::Large(offsets, bytes) => bytes::starts_with(Variable { offsets, bytes }, prefix, mask),
            Bytes::Fixed(width, bytes) => bytes::starts_with(Fixed { width, bytes }, prefix, mask),
        }
        found.and(rows);
        found
    }

    /// The rows of `rows` whose bytes pass `test`, which is compiled once for each layout.
    #[inline]
    pub(super) fn select(self, rows: &Mask, test: impl Fn(&'a [u8]) -> bool) -> Mask {
        let mut found = rows.clone();
        match self {
            Bytes::Small(offsets, bytes) => {
                found.retain(|i| test(&bytes[offsets[i] as usize..offsets[i + 1] as usize]));
            }
            Bytes::Large(offsets, bytes) => {
                found.retain(|i| test(&bytes[offsets[i] as usize..offsets[i + 1] as usize]));
            }
            Bytes::Fixed(width, bytes) => found.retain(|i| test(&bytes[i * width..(i + 1) * width])),
        }
        found
    }
}

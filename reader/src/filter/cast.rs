//! Casts of columns. What is frequent is cast number by number; all else value by value, as constants are.

use super::{
    build,
    expression::{Call, Fail},
    literal,
    rows::Value,
    types::{Bytes, numbers, plain},
};
use crate::{
    Result,
    expr::{self, I256, Scalar},
};
use half::{bf16, f16};
use lancet_format::{Column, DataType, Values};

/// `CAST(value AS to)`
pub(super) fn cast(from: &DataType, to: &DataType) -> Result<Call> {
    let (from, to) = (plain(from).clone(), plain(to).clone());
    Ok(Call::new(move |values, len, fail| {
        let value = &values[0];
        if from == to || is_bytes(&from) && is_bytes(&to) && is_text(&from) == is_text(&to) {
            return build::of_type(&value.column, &to);
        }
        if let Some(column) = widened(&value.column, &from, &to)? {
            return Ok(column);
        }
        by_value(value, len, &from, &to, fail)
    }))
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8)
}

/// Text and binary of any size.
fn is_bytes(data_type: &DataType) -> bool {
    is_text(data_type) || matches!(data_type, DataType::Binary | DataType::LargeBinary)
}

/// The numbers in a type that has a value for each of them.
fn widened(column: &Column, from: &DataType, to: &DataType) -> Result<Option<Column>> {
    use DataType::*;
    macro_rules! numbers_as {
        ($from:ty as $to:ty) => {{
            let out: Vec<$to> = numbers::<$from>(column)?.iter().map(|&value| value as $to).collect();
            build::numbers(to, &out, column.validity().cloned()).map(Some)
        }};
        ($from:ty, $convert:expr) => {{
            let out: Vec<_> = numbers::<$from>(column)?.iter().map(|&value| $convert(value)).collect();
            build::numbers(to, &out, column.validity().cloned()).map(Some)
        }};
    }
    match (from, to) {
        (Int8, Int16) => numbers_as!(i8 as i16),
        (Int8, Int32) => numbers_as!(i8 as i32),
        (Int8, Int64) => numbers_as!(i8 as i64),
        (Int16, Int32) => numbers_as!(i16 as i32),
        (Int16, Int64) => numbers_as!(i16 as i64),
        (Int32, Int64) => numbers_as!(i32 as i64),
        (UInt8, Int16) => numbers_as!(u8 as i16),
        (UInt8, Int32) => numbers_as!(u8 as i32),
        (UInt8, Int64) => numbers_as!(u8 as i64),
        (UInt16, Int32) => numbers_as!(u16 as i32),
        (UInt16, Int64) => numbers_as!(u16 as i64),
        (UInt32, Int64) => numbers_as!(u32 as i64),
        (UInt8, UInt16) => numbers_as!(u8 as u16),
        (UInt8, UInt32) => numbers_as!(u8 as u32),
        (UInt8, UInt64) => numbers_as!(u8 as u64),
        (UInt16, UInt32) => numbers_as!(u16 as u32),
        (UInt16, UInt64) => numbers_as!(u16 as u64),
        (UInt32, UInt64) => numbers_as!(u32 as u64),
        (Int8, Float32) => numbers_as!(i8 as f32),
        (Int16, Float32) => numbers_as!(i16 as f32),
        (Int32, Float32) => numbers_as!(i32 as f32),
        (Int64, Float32) => numbers_as!(i64 as f32),
        (UInt8, Float32) => numbers_as!(u8 as f32),
        (UInt16, Float32) => numbers_as!(u16 as f32),
        (UInt32, Float32) => numbers_as!(u32 as f32),
        (UInt64, Float32) => numbers_as!(u64 as f32),
        (Int8, Float64) => numbers_as!(i8 as f64),
        (Int16, Float64) => numbers_as!(i16 as f64),
        (Int32, Float64) => numbers_as!(i32 as f64),
        (Int64, Float64) => numbers_as!(i64 as f64),
        (UInt8, Float64) => numbers_as!(u8 as f64),
        (UInt16, Float64) => numbers_as!(u16 as f64),
        (UInt32, Float64) => numbers_as!(u32 as f64),
        (UInt64, Float64) => numbers_as!(u64 as f64),
        (Float32, Float64) => numbers_as!(f32 as f64),
        (Float64, Float32) => numbers_as!(f64 as f32),
        (Float16, Float32) => numbers_as!(f16, f16::to_f32),
        (Float16, Float64) => numbers_as!(f16, f16::to_f64),
        (BFloat16, Float32) => numbers_as!(bf16, bf16::to_f32),
        (BFloat16, Float64) => numbers_as!(bf16, bf16::to_f64),
        _ => Ok(None),
    }
}

fn by_value(
    value: &Value,
    len: usize,
    from: &DataType,
    to: &DataType,
    fail: &mut Fail<'_>,
) -> Result<Column> {
    let mut scalars = Vec::with_capacity(len);
    for row in 0..len {
        let scalar = scalar(&value.column, value.at(row))?;
        scalars.push(expr::cast(&scalar, from, to).unwrap_or_else(|| {
            fail.row(row, || format!("cannot cast {} of type {from} to {to}", shown(&scalar)));
            Scalar::Null
        }));
    }
    literal::column(&scalars, to)
}

/// A value as errors show it.
fn shown(scalar: &Scalar) -> String {
    const MOST: usize = 60;
    let text = match scalar {
        Scalar::Int(value) => value.to_string(),
        Scalar::UInt(value) => value.to_string(),
        Scalar::Float16(value) => value.to_string(),
        Scalar::BFloat16(value) => value.to_string(),
        Scalar::Float32(value) => value.to_string(),
        Scalar::Float64(value) => value.to_string(),
        Scalar::Decimal128(value) => format!("{value} (unscaled)"),
        Scalar::Decimal256(value) => format!("{value} (unscaled)"),
        Scalar::Text(text) => format!("'{text}'"),
        Scalar::Binary(bytes) => format!("{} bytes", bytes.len()),
        other => format!("{other:?}"),
    };
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

/// The value of a row.
fn scalar(column: &Column, row: usize) -> Result<Scalar> {
    use DataType::*;
    if column.is_null(row) {
        return Ok(Scalar::Null);
    }
    Ok(match plain(column.data_type()) {
        Boolean => Scalar::Boolean(column.boolean(row).unwrap_or_default()),
        Int8 => Scalar::Int(numbers::<i8>(column)?[row].into()),
        Int16 => Scalar::Int(numbers::<i16>(column)?[row].into()),
        Int32 | Date32 | Time32(_) => Scalar::Int(numbers::<i32>(column)?[row].into()),
        Int64 | Date64 | Time64(_) | Timestamp(..) | Duration(_) => Scalar::Int(numbers::<i64>(column)?[row]),
        UInt8 => Scalar::UInt(numbers::<u8>(column)?[row].into()),
        UInt16 => Scalar::UInt(numbers::<u16>(column)?[row].into()),
        UInt32 => Scalar::UInt(numbers::<u32>(column)?[row].into()),
        UInt64 => Scalar::UInt(numbers::<u64>(column)?[row]),
        Float16 => Scalar::Float16(numbers::<f16>(column)?[row]),
        BFloat16 => Scalar::BFloat16(numbers::<bf16>(column)?[row]),
        Float32 => Scalar::Float32(numbers::<f32>(column)?[row]),
        Float64 => Scalar::Float64(numbers::<f64>(column)?[row]),
        Decimal128(..) => Scalar::Decimal128(i128::from_le_bytes(numbers::<[u8; 16]>(column)?[row])),
        Decimal256(..) => Scalar::Decimal256(I256::from_le_bytes(numbers::<[u8; 32]>(column)?[row])),
        Utf8 | LargeUtf8 => Scalar::Text(Bytes::of(column)?.text(row).into()),
        _ if matches!(column.values(), Values::Null) => Scalar::Null,
        _ => Scalar::Binary(Bytes::of(column)?.get(row).into()),
    })
}

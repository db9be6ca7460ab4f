//! Arithmetic and rounding. Integers wrap; half floats are computed as float32.

use super::{
    Mask, build, decimal,
    expression::{Call, Fail},
    rows::Value,
    term::{Known, Test, valid},
    types::{numbers, plain, unexpected},
};
use crate::{Result, expr::Arithmetic};
use half::{bf16, f16};
use lancet_format::{Bitmap, Column, DataType};

/// A number that the processor computes with.
pub(super) trait Number: bytemuck::Pod + std::fmt::Display {
    /// The result, or none if the divisor is zero.
    fn apply(self, op: Arithmetic, other: Self) -> Option<Self>;

    fn negate(self) -> Self;

    /// None if it does not fit.
    fn magnitude(self) -> Option<Self>;
}

macro_rules! integers {
    ($($t:ty, $magnitude:expr;)*) => {
        $(impl Number for $t {
            #[inline(always)]
            fn apply(self, op: Arithmetic, other: Self) -> Option<Self> {
                match op {
                    Arithmetic::Add => Some(self.wrapping_add(other)),
                    Arithmetic::Subtract => Some(self.wrapping_sub(other)),
                    Arithmetic::Multiply => Some(self.wrapping_mul(other)),
                    Arithmetic::Divide => (other != 0).then(|| self.wrapping_div(other)),
                    Arithmetic::Remainder => (other != 0).then(|| self.wrapping_rem(other)),
                }
            }

            fn negate(self) -> Self {
                self.wrapping_neg()
            }

            fn magnitude(self) -> Option<Self> {
                $magnitude(self)
            }
        })*
    };
}
integers! {
    i8, i8::checked_abs;
    i16, i16::checked_abs;
    i32, i32::checked_abs;
    i64, i64::checked_abs;
    u8, Some;
    u16, Some;
    u32, Some;
    u64, Some;
}

macro_rules! floats {
    ($($t:ty, $wide:ty, $to:expr, $from:expr;)*) => {
        $(impl Number for $t {
            #[inline(always)]
            fn apply(self, op: Arithmetic, other: Self) -> Option<Self> {
                let (left, right): ($wide, $wide) = ($to(self), $to(other));
                Some($from(match op {
                    Arithmetic::Add => left + right,
                    Arithmetic::Subtract => left - right,
                    Arithmetic::Multiply => left * right,
                    Arithmetic::Divide => left / right,
                    Arithmetic::Remainder => left % right,
                }))
            }

            fn negate(self) -> Self {
                -self
            }

            fn magnitude(self) -> Option<Self> {
                Some($from($to(self).abs()))
            }
        })*
    };
}
floats! {
    f16, f32, f16::to_f32, f16::from_f32;
    bf16, f32, bf16::to_f32, bf16::from_f32;
    f32, f32, |value| value, |value| value;
    f64, f64, |value| value, |value| value;
}

/// Runs the first block with `$T` as a [`Number`] type, the second for decimals, the third for all else.
macro_rules! with_arithmetic {
    ($data_type:expr, $T:ident => $number:expr, decimal $decimal:expr) => {{
        use lancet_format::DataType::*;
        match plain($data_type) {
            Int8 => {
                type $T = i8;
                $number
            }
            Int16 => {
                type $T = i16;
                $number
            }
            Int32 => {
                type $T = i32;
                $number
            }
            Int64 => {
                type $T = i64;
                $number
            }
            UInt8 => {
                type $T = u8;
                $number
            }
            UInt16 => {
                type $T = u16;
                $number
            }
            UInt32 => {
                type $T = u32;
                $number
            }
            UInt64 => {
                type $T = u64;
                $number
            }
            Float16 => {
                type $T = half::f16;
                $number
            }
            BFloat16 => {
                type $T = half::bf16;
                $number
            }
            Float32 => {
                type $T = f32;
                $number
            }
            Float64 => {
                type $T = f64;
                $number
            }
            Decimal128(..) | Decimal256(..) => $decimal,
            other => Err(unexpected(other)),
        }
    }};
}

/// The rows in which no argument is NULL, as validity.
pub(super) fn validity(values: &[Value], len: usize) -> Result<Option<Bitmap>> {
    let mut columns = Vec::with_capacity(values.len());
    for value in values {
        if !value.constant || value.is_null(0) {
            columns.push(value.clone().expand(len)?);
        }
    }
    Ok(build::mask_validity(valid(&columns)))
}

/// `left op right`
pub(super) fn arithmetic(
    op: Arithmetic,
    left: &DataType,
    right: &DataType,
    result: &DataType,
) -> Result<Call> {
    let data_type = result.clone();
    with_arithmetic!(result, T => Ok(Call::new(move |values, len, fail| {
        // One loop for each operator.
        match op {
            Arithmetic::Add => binary::<T>(values, len, fail, Arithmetic::Add, &data_type),
            Arithmetic::Subtract => binary::<T>(values, len, fail, Arithmetic::Subtract, &data_type),
            Arithmetic::Multiply => binary::<T>(values, len, fail, Arithmetic::Multiply, &data_type),
            Arithmetic::Divide => binary::<T>(values, len, fail, Arithmetic::Divide, &data_type),
            Arithmetic::Remainder => binary::<T>(values, len, fail, Arithmetic::Remainder, &data_type),
        }
    })), decimal Ok(decimal::arithmetic(op, left, right, result)))
}

#[inline(always)]
fn binary<T: Number>(
    values: &[Value],
    len: usize,
    fail: &mut Fail<'_>,
    op: Arithmetic,
    data_type: &DataType,
) -> Result<Column> {
    let (left, right) = (numbers::<T>(&values[0].column)?, numbers::<T>(&values[1].column)?);
    let validity = validity(values, len)?;
    let valid = |row: usize| validity.as_ref().is_none_or(|bits| bits.get(row));
    let mut out = vec![T::zeroed(); len];
    let mut apply = |row: usize, left: T, right: T| match left.apply(op, right) {
        Some(value) => value,
        None => {
            if valid(row) {
                fail.row(row, || format!("division by zero: {left} {} {right}", op.symbol()));
            }
            T::zeroed()
        }
    };
    match (values[0].constant, values[1].constant) {
        (false, true) => {
            let right = right[0];
            out.iter_mut()
                .zip(left)
                .enumerate()
                .for_each(|(row, (out, &left))| *out = apply(row, left, right));
        }
        (true, false) => {
            let left = left[0];
            out.iter_mut()
                .zip(right)
                .enumerate()
                .for_each(|(row, (out, &right))| *out = apply(row, left, right));
        }
        _ => {
            let pairs = left.iter().zip(right);
            out.iter_mut().zip(pairs).enumerate().for_each(|(row, (out, (&left, &right)))| {
                *out = apply(row, left, right);
            });
        }
    }
    build::numbers(data_type, &out, validity)
}

/// `-value`
pub(super) fn negate(data_type: &DataType) -> Result<Call> {
    let result = plain(data_type).clone();
    with_arithmetic!(data_type, T => Ok(Call::new(move |values, _, _| {
        let column = &values[0].column;
        let out: Vec<T> = numbers::<T>(column)?.iter().map(|value| value.negate()).collect();
        build::numbers(&result, &out, column.validity().cloned())
    })), decimal Ok(decimal::negate()))
}

/// `abs(value)`
pub(super) fn abs(data_type: &DataType) -> Result<Call> {
    let result = plain(data_type).clone();
    with_arithmetic!(data_type, T => Ok(Call::new(move |values, _, fail| {
        let column = &values[0].column;
        let mut out = Vec::with_capacity(column.len());
        for (row, &value) in numbers::<T>(column)?.iter().enumerate() {
            let magnitude = value.magnitude();
            if magnitude.is_none() && !column.is_null(row) {
                fail.row(row, || format!("abs({value}) does not fit {result}"));
            }
            out.push(magnitude.unwrap_or(value));
        }
        build::numbers(&result, &out, column.validity().cloned())
    })), decimal Ok(decimal::abs()))
}

/// `isnan(value)`
pub(super) fn is_nan() -> Test {
    Box::new(|columns, rows| {
        let column = &columns[0];
        let mut yes = rows.clone();
        match plain(column.data_type()) {
            DataType::Float16 => keep(&mut yes, numbers(column)?, f16::is_nan),
            DataType::BFloat16 => keep(&mut yes, numbers(column)?, bf16::is_nan),
            DataType::Float32 => keep(&mut yes, numbers(column)?, f32::is_nan),
            DataType::Float64 => keep(&mut yes, numbers(column)?, f64::is_nan),
            _ => yes.clear(),
        }
        Ok(Known::all(yes))
    })
}

fn keep<T: Copy>(yes: &mut Mask, values: &[T], test: impl Fn(T) -> bool) {
    yes.retain(|row| test(values[row]));
}

/// A function of a float32 or float64.
fn of_float(data_type: &DataType, single: fn(f32) -> f32, double: fn(f64) -> f64) -> Result<Call> {
    match plain(data_type) {
        DataType::Float32 | DataType::Float64 => Ok(Call::new(move |values, _, _| {
            let column = &values[0].column;
            let (data_type, validity) = (plain(column.data_type()), column.validity().cloned());
            match data_type {
                DataType::Float32 => {
                    let out: Vec<f32> = numbers(column)?.iter().map(|&value| single(value)).collect();
                    build::numbers(data_type, &out, validity)
                }
                _ => {
                    let out: Vec<f64> = numbers(column)?.iter().map(|&value| double(value)).collect();
                    build::numbers(data_type, &out, validity)
                }
            }
        })),
        other => Err(unexpected(other)),
    }
}

/// `floor(value)`
pub(super) fn floor(data_type: &DataType) -> Result<Call> {
    of_float(data_type, f32::floor, f64::floor)
}

/// `ceil(value)`
pub(super) fn ceil(data_type: &DataType) -> Result<Call> {
    of_float(data_type, f32::ceil, f64::ceil)
}

/// `round(value)` or `round(value, digits)`
pub(super) fn round(types: &[&DataType]) -> Result<Call> {
    let &[data_type, _] = types else {
        return of_float(types.first().unwrap_or(&&DataType::Null), f32::round, f64::round);
    };
    let data_type = plain(data_type).clone();
    Ok(Call::new(move |values, len, _| {
        let [value, digits] = values else { return Err(unexpected(&data_type)) };
        let validity = validity(values, len)?;
        let digits_of = numbers::<i64>(&digits.column)?;
        // Beyond these every float is a multiple of the power, or less than half of it.
        let digits_of = |row: usize| digits_of[digits.at(row)].clamp(-400, 400) as i32;
        match data_type {
            DataType::Float32 => {
                let value_of = numbers::<f32>(&value.column)?;
                let out = (0..len).map(|row| round_single(value_of[value.at(row)], digits_of(row)));
                build::numbers(&data_type, &out.collect::<Vec<_>>(), validity)
            }
            _ => {
                let value_of = numbers::<f64>(&value.column)?;
                let out = (0..len).map(|row| round_double(value_of[value.at(row)], digits_of(row)));
                build::numbers(&data_type, &out.collect::<Vec<_>>(), validity)
            }
        }
    }))
}

macro_rules! round_to {
    ($name:ident, $t:ty) => {
        /// Rounds half away from zero; a value that has no such digits stays as it is.
        fn $name(value: $t, digits: i32) -> $t {
            let power = <$t>::powi(10.0, digits.abs());
            let scaled = if digits < 0 { value / power } else { value * power };
            match (digits < 0, scaled.is_finite() && power.is_finite()) {
                (false, true) => scaled.round() / power,
                (true, true) => scaled.round() * power,
                (true, false) if value.is_finite() => <$t>::copysign(0.0, value),
                _ => value,
            }
        }
    };
}
round_to!(round_single, f32);
round_to!(round_double, f64);

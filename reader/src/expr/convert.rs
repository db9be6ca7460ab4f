//! Which types can be cast into which, which casts always succeed, the common type of two, and casts of single values.

use super::literal::{self, Fit};
use super::temporal::{self, instant, per_second, wall_clock, zone};
use super::tree::Literal;
use super::{I256, Scalar};
use crate::{DataType, TimeUnit};
use half::{bf16, f16};
use jiff::tz::TimeZone;

/// The type of the values: dictionaries are read as what they stand for.
pub(super) fn values(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

/// Whether values of both types are compared as they are.
pub(super) fn alike(left: &DataType, right: &DataType) -> bool {
    let (left, right) = (values(left), values(right));
    left == right
        || is_text(left) && is_text(right)
        || is_binary(left) && is_binary(right)
        || matches!((left, right), (DataType::Timestamp(a, Some(_)), DataType::Timestamp(b, Some(_))) if a == b)
}

pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(values(data_type), DataType::Utf8 | DataType::LargeUtf8)
}

fn is_binary(data_type: &DataType) -> bool {
    matches!(values(data_type), DataType::Binary | DataType::LargeBinary | DataType::FixedSizeBinary(_))
}

pub(super) fn is_integer(data_type: &DataType) -> bool {
    digits_of_integer(values(data_type)).is_some()
}

pub(super) fn is_float(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(values(data_type), Float16 | BFloat16 | Float32 | Float64)
}

pub(super) fn is_decimal(data_type: &DataType) -> bool {
    matches!(values(data_type), DataType::Decimal128(..) | DataType::Decimal256(..))
}

pub(super) fn is_number(data_type: &DataType) -> bool {
    is_integer(data_type) || is_float(data_type) || is_decimal(data_type)
}

/// Whether values have an order.
pub(super) fn is_comparable(data_type: &DataType) -> bool {
    let data_type = values(data_type);
    is_number(data_type)
        || is_text(data_type)
        || is_binary(data_type)
        || is_temporal(data_type)
        || matches!(data_type, DataType::Boolean | DataType::Duration(_) | DataType::Null)
}

fn is_temporal(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..))
}

/// Signedness is not looked at: how many decimal digits an integer type may need.
fn digits_of_integer(data_type: &DataType) -> Option<u8> {
    use DataType::*;
    Some(match data_type {
        Int8 | UInt8 => 3,
        Int16 | UInt16 => 5,
        Int32 | UInt32 => 10,
        Int64 | UInt64 => 20,
        _ => return None,
    })
}

/// Precision and scale, of integers too.
pub(super) fn decimal_parts(data_type: &DataType) -> Option<(u8, i8)> {
    match data_type {
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => {
            Some((*precision, *scale))
        }
        other => Some((digits_of_integer(other)?, 0)),
    }
}

/// The type in which values of the two are compared, or computed if they are numbers; as Lance's planner chooses it.
pub(super) fn common(left: &DataType, right: &DataType) -> Option<DataType> {
    use DataType::*;
    let (left, right) = (values(left), values(right));
    if left == right || *right == Null || alike(left, right) {
        return Some(left.clone());
    }
    if *left == Null {
        return Some(right.clone());
    }
    if is_number(left) && is_number(right) {
        return common_number(left, right);
    }
    let finer = |a: &TimeUnit, b: &TimeUnit| if a.digits() < b.digits() { *b } else { *a };
    let time = |unit: TimeUnit| match unit {
        TimeUnit::Second | TimeUnit::Millisecond => Time32(unit),
        _ => Time64(unit),
    };
    Some(match (left, right) {
        (Date32, Date64) | (Date64, Date32) => Date64,
        (Date32 | Date64, Timestamp(..)) => right.clone(),
        (Timestamp(..), Date32 | Date64) => left.clone(),
        (Timestamp(a, zone), Timestamp(b, other)) => {
            Timestamp(finer(a, b), zone.clone().or_else(|| other.clone()))
        }
        (Time32(a) | Time64(a), Time32(b) | Time64(b)) => time(finer(a, b)),
        (Duration(a), Duration(b)) => Duration(finer(a, b)),
        _ => return None,
    })
}

fn common_number(left: &DataType, right: &DataType) -> Option<DataType> {
    use DataType::*;
    let either = |wanted: &DataType| left == wanted || right == wanted;
    if is_decimal(left) || is_decimal(right) {
        if is_float(left) || is_float(right) {
            return Some(Float64);
        }
        let ((a, s), (b, t)) = (decimal_parts(left)?, decimal_parts(right)?);
        let scale = s.max(t);
        let whole = (i16::from(a) - i16::from(s)).max(i16::from(b) - i16::from(t));
        let precision = u8::try_from((whole + i16::from(scale)).clamp(1, 76)).ok()?;
        let wide = matches!(left, Decimal256(..)) || matches!(right, Decimal256(..));
        return Some(match precision > 38 || wide {
            true => Decimal256(precision, scale),
            false => Decimal128(precision, scale),
        });
    }
    if is_float(left) || is_float(right) {
        // Half floats among themselves are computed as float32.
        return Some(if either(&Float64) { Float64 } else { Float32 });
    }
    let signed = |data_type: &DataType| matches!(data_type, Int8 | Int16 | Int32 | Int64);
    let order = [Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64];
    let rank = |data_type: &DataType| order.iter().position(|known| known == data_type);
    let wider = if rank(left)? > rank(right)? { left } else { right };
    Some(match (signed(left), signed(right), wider) {
        (a, b, wider) if a == b => wider.clone(),
        (_, _, UInt64) => Decimal128(20, 0),
        (_, _, UInt8) => Int16,
        (_, _, UInt16) => Int32,
        (_, _, UInt32) => Int64,
        (_, _, wider) => wider.clone(),
    })
}

/// Whether a cast between the types is defined.
pub(super) fn castable(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    let from = values(from);
    if *from == Null || from == to || alike(from, to) {
        return true;
    }
    let number_or_bool = |data_type: &DataType| is_number(data_type) || *data_type == Boolean;
    let clock = |data_type: &DataType| is_temporal(data_type) || matches!(data_type, Duration(_));
    let simple = |data_type: &DataType| number_or_bool(data_type) || clock(data_type);
    match (from, to) {
        (Timestamp(..), Time32(_) | Time64(_)) => true,
        (Date32 | Date64 | Timestamp(..), Date32 | Date64 | Timestamp(..)) => true,
        (Time32(_) | Time64(_), Time32(_) | Time64(_)) | (Duration(_), Duration(_)) => true,
        _ if is_text(to) => simple(from) || is_binary(from),
        _ if is_text(from) => number_or_bool(to) || is_temporal(to) || matches!(to, Binary | LargeBinary),
        _ if number_or_bool(from) && number_or_bool(to) => {
            !matches!((from, to), (Boolean, _) if is_decimal(to))
        }
        _ => {
            matches!((from, to), (Int32 | Int64, _) if clock(to))
                || matches!((from, to), (_, Int64) if clock(from))
        }
    }
}

/// Whether a cast between the types can meet a value that does not fit.
pub(super) fn cast_can_fail(from: &DataType, to: &DataType) -> bool {
    use DataType::*;
    let from = values(from);
    if *from == Null || from == to {
        return false;
    }
    if let (Some((a, s)), Some((b, t))) = (decimal_parts(from), decimal_parts(to)) {
        if is_decimal(to) {
            return i16::from(b) - i16::from(t) < i16::from(a) - i16::from(s) || t < s && is_decimal(from);
        }
        if is_integer(from) {
            return common_number(from, to).as_ref() != Some(to);
        }
    }
    match (from, to) {
        (FixedSizeBinary(a), FixedSizeBinary(b)) => a != b,
        (_, FixedSizeBinary(_)) => true,
        (Timestamp(a, None), Timestamp(b, None)) | (Duration(a), Duration(b)) => a.digits() < b.digits(),
        (Timestamp(a, Some(_)), Timestamp(b, Some(_))) => a.digits() < b.digits(),
        (Time32(_) | Time64(_), Time64(_)) | (Date32, Date64) => false,
        (Timestamp(_, None), Date32) => false,
        (Boolean, _) | (_, Boolean) if !is_text(from) => false,
        (_, Int64) if is_temporal(from) || matches!(from, Duration(_)) => false,
        _ if is_text(to) => !(is_text(from) || is_number(from)),
        _ if is_text(from) && matches!(to, Binary | LargeBinary) => false,
        _ if is_binary(from) && matches!(to, Binary | LargeBinary) => false,
        _ => !(is_number(from) && is_float(to)),
    }
}

/// Casts one value; none if it does not fit, or is a text that is no such value.
pub(crate) fn cast(value: &Scalar, from: &DataType, to: &DataType) -> Option<Scalar> {
    use DataType::*;
    let from = values(from);
    if value.is_null() {
        return Some(Scalar::Null);
    }
    match (value, to) {
        (Scalar::Text(text), _) => return cast_text(text, to),
        (_, Utf8 | LargeUtf8) => return Some(Scalar::Text(text_of(value, from)?.into())),
        (Scalar::Binary(bytes), FixedSizeBinary(width)) if bytes.len() != *width as usize => return None,
        (Scalar::Binary(_), _) | (Scalar::Boolean(_), Boolean) => return Some(value.clone()),
        (Scalar::Boolean(value), _) => return number_in(Number::Integer((*value).into()), to),
        _ => (),
    }
    if let (Some(nanos), true) = (nanos(value, from), is_temporal(to) || matches!(to, Duration(_))) {
        return in_nanos(nanos, from, to);
    }
    if let Scalar::Int(ticks) = value
        && (is_temporal(to) || matches!(to, Duration(_)))
    {
        let fits = !matches!(to, Date32 | Time32(_)) || i32::try_from(*ticks).is_ok();
        return fits.then(|| value.clone());
    }
    number_in(number(value, from)?, to)
}

/// The value in another type that has the very same value; none if there is none.
pub(super) fn exact(value: &Scalar, from: &DataType, to: &DataType) -> Option<Scalar> {
    if alike(from, to) || value.is_null() {
        return cast(value, from, to);
    }
    let clocks = |data_type: &DataType| matches!(data_type, DataType::Timestamp(_, None) | DataType::Date32);
    let kinds = is_number(from) && is_number(to) || clocks(from) && clocks(to);
    let there = cast(value, from, to).filter(|_| kinds)?;
    (cast(&there, to, from).as_ref() == Some(value)).then_some(there)
}

enum Number {
    Integer(i128),
    Float(f64),
    Decimal(I256, i8),
}

fn number(value: &Scalar, from: &DataType) -> Option<Number> {
    let scale = || decimal_parts(from).map_or(0, |(_, scale)| scale);
    Some(match value {
        Scalar::Int(value) => Number::Integer((*value).into()),
        Scalar::UInt(value) => Number::Integer((*value).into()),
        Scalar::Float16(value) => Number::Float(value.to_f64()),
        Scalar::BFloat16(value) => Number::Float(value.to_f64()),
        Scalar::Float32(value) => Number::Float((*value).into()),
        Scalar::Float64(value) => Number::Float(*value),
        Scalar::Decimal128(value) => Number::Decimal(I256::from(*value), scale()),
        Scalar::Decimal256(value) => Number::Decimal(*value, scale()),
        _ => return None,
    })
}

fn number_in(number: Number, to: &DataType) -> Option<Scalar> {
    use DataType::*;
    let float = match &number {
        Number::Integer(value) => *value as f64,
        Number::Float(value) => *value,
        // Text is the way from digits to the nearest float.
        Number::Decimal(value, scale) => format!("{value}e{}", -i16::from(*scale)).parse().ok()?,
    };
    match to {
        Boolean => return Some(Scalar::Boolean(float != 0.0)),
        Float16 => return Some(Scalar::Float16(f16::from_f64(float))),
        BFloat16 => return Some(Scalar::BFloat16(bf16::from_f64(float))),
        Float32 => match number {
            Number::Integer(value) => return Some(Scalar::Float32(value as f32)),
            _ => return Some(Scalar::Float32(float as f32)),
        },
        Float64 => return Some(Scalar::Float64(float)),
        Decimal128(precision, scale) | Decimal256(precision, scale) => {
            let value = match number {
                Number::Integer(value) => rescale(I256::from(value), 0, *scale)?,
                Number::Decimal(value, from) => rescale(value, from, *scale)?,
                Number::Float(value) => float_decimal(value, *scale)?,
            };
            if !fits_precision(value, *precision) {
                return None;
            }
            return match to {
                Decimal128(..) => value.to_i128().map(Scalar::Decimal128),
                _ => Some(Scalar::Decimal256(value)),
            };
        }
        _ => (),
    }
    let integer = match number {
        Number::Integer(value) => value,
        // What is out of range saturates, and is out of range then too.
        Number::Float(value) if value.is_nan() => return None,
        Number::Float(value) => value as i128,
        Number::Decimal(value, scale) => truncate(value, scale)?.to_i128()?,
    };
    match literal::fit(&Literal::Number(integer.to_string().into()), to) {
        Fit::Is(value) => Some(value),
        _ => None,
    }
}

/// A float in decimal digits, rounded half away from zero.
fn float_decimal(value: f64, scale: i8) -> Option<I256> {
    let scaled = (value * 10f64.powi(scale.into())).round();
    // The digits of a whole float, exactly.
    let text = if scaled.is_finite() { format!("{scaled:.0}") } else { return None };
    literal::decimal(&text, 76, 0).map(|(value, _)| value)
}

fn fits_precision(value: I256, precision: u8) -> bool {
    let digits = value.to_string();
    digits.trim_start_matches('-').len() <= usize::from(precision)
}

/// A decimal at another scale, rounded half away from zero.
fn rescale(mut value: I256, from: i8, to: i8) -> Option<I256> {
    let steps = i16::from(to) - i16::from(from);
    for _ in 0..steps {
        value = value.checked_mul(10)?;
    }
    for step in (0..-steps).rev() {
        let (quotient, digit) = value.div_rem(10);
        value = match step == 0 && digit.abs() >= 5 {
            true => quotient.checked_add(I256::from(i128::from(digit.signum())))?,
            false => quotient,
        };
    }
    Some(value)
}

/// The whole part of a decimal.
fn truncate(mut value: I256, scale: i8) -> Option<I256> {
    for _ in 0..scale {
        value = value.div_rem(10).0;
    }
    for _ in scale..0 {
        value = value.checked_mul(10)?;
    }
    Some(value)
}

fn cast_text(text: &str, to: &DataType) -> Option<Scalar> {
    use DataType::*;
    let literal = match to {
        Utf8 | LargeUtf8 => return Some(Scalar::Text(text.into())),
        Binary | LargeBinary => return Some(Scalar::Binary(text.as_bytes().into())),
        Boolean => {
            let is = |words: [&str; 5]| words.into_iter().any(|word| text.eq_ignore_ascii_case(word));
            return match () {
                () if is(["true", "t", "yes", "y", "1"]) || text.eq_ignore_ascii_case("on") => {
                    Some(Scalar::Boolean(true))
                }
                () if is(["false", "f", "no", "n", "0"]) || text.eq_ignore_ascii_case("off") => {
                    Some(Scalar::Boolean(false))
                }
                () => None,
            };
        }
        Float16 | BFloat16 | Float32 | Float64 => {
            // The names of NaN and the infinities are numbers here.
            return number_in(Number::Float(text.parse().ok()?), to);
        }
        Date32 | Date64 => Literal::Date(text.into()),
        Timestamp(..) => Literal::Timestamp(text.into()),
        Time32(_) | Time64(_) => Literal::Time(text.into()),
        Decimal128(_, scale) | Decimal256(_, scale) => {
            let (digits, negative) = match text.strip_prefix('-') {
                Some(digits) => (digits, true),
                None => (text.strip_prefix('+').unwrap_or(text), false),
            };
            // One digit more than is kept tells how to round.
            let finer = scale.checked_add(1)?;
            let (value, _) = literal::decimal(digits, 76, finer)?;
            let value = if negative { value.checked_neg()? } else { value };
            return number_in(Number::Decimal(value, finer), to);
        }
        _ => Literal::Number(text.strip_prefix('+').unwrap_or(text).into()),
    };
    match literal::fit(&literal, to) {
        Fit::Is(value) | Fit::Above(value) => Some(value),
        _ => None,
    }
}

/// A value as text, as Arrow writes it.
fn text_of(value: &Scalar, from: &DataType) -> Option<String> {
    Some(match (value, from) {
        (Scalar::Boolean(value), _) => value.to_string(),
        (Scalar::Int(_), DataType::Duration(_)) => return None,
        (Scalar::Int(_), DataType::Date32 | DataType::Date64) => {
            temporal::format_date(i64::try_from(nanos(value, from)?.div_euclid(86_400_000_000_000)).ok()?)?
        }
        (Scalar::Int(_), DataType::Time32(_) | DataType::Time64(_)) => {
            temporal::format_time(nanos(value, from)?.try_into().ok()?)?
        }
        (Scalar::Int(_), DataType::Timestamp(_, name)) => {
            let zone = name.as_deref().map(zone);
            temporal::format_timestamp(nanos(value, from)?, zone.flatten().as_ref())?
        }
        (Scalar::Int(value), _) => value.to_string(),
        (Scalar::UInt(value), _) => value.to_string(),
        (Scalar::Float16(value), _) => format!("{:?}", value.to_f32()),
        (Scalar::BFloat16(value), _) => format!("{:?}", value.to_f32()),
        (Scalar::Float32(value), _) => format!("{value:?}"),
        (Scalar::Float64(value), _) => format!("{value:?}"),
        (Scalar::Decimal128(_) | Scalar::Decimal256(_), _) => {
            let (Number::Decimal(value, scale), _) = (number(value, from)?, ()) else { return None };
            decimal_text(value, scale)
        }
        (Scalar::Binary(bytes), _) => std::str::from_utf8(bytes).ok()?.into(),
        _ => return None,
    })
}

fn decimal_text(value: I256, scale: i8) -> String {
    let text = value.to_string();
    let (sign, digits) = text.strip_prefix('-').map_or(("", &*text), |digits| ("-", digits));
    match usize::try_from(scale) {
        Err(_) if digits != "0" => format!("{sign}{digits}{}", "0".repeat(scale.unsigned_abs().into())),
        Err(_) | Ok(0) => text,
        Ok(scale) => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            format!("{sign}{whole}.{fraction}")
        }
    }
}

/// Nanoseconds since the epoch or midnight, or of a duration.
fn nanos(value: &Scalar, from: &DataType) -> Option<i128> {
    let Scalar::Int(ticks) = value else { return None };
    let unit = match from {
        DataType::Date32 => return Some(i128::from(*ticks) * 86_400_000_000_000),
        DataType::Date64 => TimeUnit::Millisecond,
        DataType::Timestamp(unit, _)
        | DataType::Time32(unit)
        | DataType::Time64(unit)
        | DataType::Duration(unit) => *unit,
        _ => return None,
    };
    Some(i128::from(*ticks) * i128::from(1_000_000_000 / per_second(unit)))
}

fn in_nanos(mut nanos: i128, from: &DataType, to: &DataType) -> Option<Scalar> {
    use DataType::*;
    let zone_of = |data_type: &DataType| match data_type {
        Timestamp(_, Some(name)) => zone(name).map(Some),
        _ => Some(None),
    };
    let (own, other): (Option<TimeZone>, Option<TimeZone>) = (zone_of(from)?, zone_of(to)?);
    match (own, other) {
        (Some(own), None) => nanos = wall_clock(nanos, &own)?,
        (None, Some(other)) => nanos = instant(nanos, &other)?,
        _ => (),
    }
    const DAY: i128 = 86_400_000_000_000;
    let ticks = |unit: &TimeUnit, nanos: i128| {
        let ticks = nanos.div_euclid(i128::from(1_000_000_000 / per_second(*unit)));
        i64::try_from(ticks).ok().map(Scalar::Int)
    };
    match to {
        Date32 => i32::try_from(nanos.div_euclid(DAY)).ok().map(|days| Scalar::Int(days.into())),
        Date64 => ticks(&TimeUnit::Millisecond, nanos.div_euclid(DAY) * DAY),
        Time32(unit) | Time64(unit) => ticks(unit, nanos.rem_euclid(DAY)),
        Timestamp(unit, _) | Duration(unit) => ticks(unit, nanos),
        _ => None,
    }
}

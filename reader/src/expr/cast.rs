//! Casts of single values.

use super::convert::{alike, decimal_parts, is_number, is_temporal, values};
use super::literal::{self, Fit};
use super::temporal::{self, instant, per_second, wall_clock, zone};
use super::tree::Literal;
use super::{I256, Scalar};
use crate::{DataType, TimeUnit};
use half::{bf16, f16};
use jiff::tz::TimeZone;

/// Casts one value; none if it does not fit, or is a text that is no such value.
pub(crate) fn cast(value: &Scalar, from: &DataType, to: &DataType) -> Option<Scalar> {
    use DataType::*;
    let from = values(from);
    if value.is_null() || from == to {
        return Some(value.clone());
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

#[cfg(test)]
mod tests {
    use super::super::convert::{cast_can_fail, castable};
    use super::*;
    use DataType::*;

    fn text(value: &str, to: &DataType) -> Option<Scalar> {
        cast(&Scalar::Text(value.into()), &Utf8, to)
    }

    #[test]
    fn text_is_read() {
        assert_eq!(text("+5", &Int8), Some(Scalar::Int(5)));
        for (wrong, to) in
            [(" 5", Int32), ("5.0", Int32), ("300", Int8), ("x", Float64), ("", Boolean), ("x", Date32)]
        {
            assert_eq!(text(wrong, &to), None, "{wrong}");
        }
        assert_eq!(text("-inf", &Float32), Some(Scalar::Float32(f32::NEG_INFINITY)));
        assert_eq!(text("Yes", &Boolean), Some(Scalar::Boolean(true)));
        assert_eq!(text("1970-01-02", &Date32), Some(Scalar::Int(1)));
        assert_eq!(
            text("1970-01-01T00:00:00.0019", &Timestamp(TimeUnit::Millisecond, None)),
            Some(Scalar::Int(1))
        );
        let decimal = |value| text(value, &Decimal128(4, 2));
        assert_eq!(decimal("1.234"), Some(Scalar::Decimal128(123)));
        assert_eq!(decimal("-1.2349"), Some(Scalar::Decimal128(-123)));
        assert_eq!(decimal("-1.235"), Some(Scalar::Decimal128(-124)));
        assert_eq!(decimal("99.996"), None);
    }

    #[test]
    fn values_are_written() {
        let written = |value: Scalar, from: DataType| match cast(&value, &from, &Utf8) {
            Some(Scalar::Text(text)) => text.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(written(Scalar::Decimal128(-5), Decimal128(9, 2)), "-0.05");
        assert_eq!(written(Scalar::Decimal128(5), Decimal128(9, -2)), "500");
        assert_eq!(written(Scalar::Float32(0.1), Float32), "0.1");
        assert_eq!(written(Scalar::Boolean(true), Boolean), "true");
        assert_eq!(written(Scalar::Int(-1), Date64), "1969-12-31");
        let oslo = Timestamp(TimeUnit::Second, Some("Europe/Oslo".into()));
        assert_eq!(written(Scalar::Int(0), oslo), "1970-01-01T01:00:00+01:00");
    }

    #[test]
    fn numbers_are_checked() {
        let decimal = Decimal128(9, 2);
        assert_eq!(cast(&Scalar::Float64(-1.9), &Float64, &Int32), Some(Scalar::Int(-1)));
        for float in [f64::NAN, f64::INFINITY, 3e9] {
            assert_eq!(cast(&Scalar::Float64(float), &Float64, &Int32), None);
        }
        assert_eq!(cast(&Scalar::Decimal128(-199), &decimal, &Int8), Some(Scalar::Int(-1)));
        assert_eq!(cast(&Scalar::Decimal128(-199), &decimal, &Float64), Some(Scalar::Float64(-1.99)));
        assert_eq!(cast(&Scalar::Decimal128(125), &decimal, &Decimal128(9, 1)), Some(Scalar::Decimal128(13)));
        assert_eq!(cast(&Scalar::Float64(0.125), &Float64, &decimal), Some(Scalar::Decimal128(13)));
        assert_eq!(
            cast(&Scalar::UInt(u64::MAX), &UInt64, &Decimal128(20, 0)),
            Some(Scalar::Decimal128(u64::MAX.into()))
        );
        assert_eq!(cast(&Scalar::UInt(u64::MAX), &UInt64, &Int64), None);
    }

    #[test]
    fn only_the_very_same_value_is_exact() {
        assert_eq!(exact(&Scalar::Float64(0.5), &Float64, &Float32), Some(Scalar::Float32(0.5)));
        assert_eq!(exact(&Scalar::Float64(0.1), &Float64, &Float32), None);
        assert_eq!(exact(&Scalar::Int(300), &Int64, &Int8), None);
        assert_eq!(exact(&Scalar::Text("5".into()), &Utf8, &Int8), None);
        let (day, moment) = (Scalar::Int(86_400), Scalar::Int(86_401));
        let seconds = Timestamp(TimeUnit::Second, None);
        assert_eq!(exact(&day, &seconds, &Date32), Some(Scalar::Int(1)));
        assert_eq!(exact(&moment, &seconds, &Date32), None);
    }

    /// The ends of each type and what lies between.
    fn values_of(data_type: &DataType) -> Vec<Scalar> {
        let numbers = ["0", "1", "-1", "127", "255", "-128", "65535", "-32768", "4294967295", "-2147483648"];
        let more = [
            "2147483647",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615",
            "1e38",
            "-1e38",
        ];
        let digits = numbers.into_iter().chain(more).map(|digits| Literal::Number(digits.into()));
        let fitting = |literal: Literal| match literal::fit(&literal, data_type) {
            Fit::Is(value) => Some(value),
            _ => None,
        };
        match data_type {
            Boolean => vec![Scalar::Boolean(false), Scalar::Boolean(true)],
            Utf8 => ["", "5", "x"].map(|text| Scalar::Text(text.into())).into(),
            Binary => vec![Scalar::Binary([][..].into()), Scalar::Binary([255][..].into())],
            FixedSizeBinary(width) => vec![Scalar::Binary(vec![255; *width as usize].into())],
            Date32 | Time32(_) => [0, -1, i32::MIN, i32::MAX].map(|value| Scalar::Int(value.into())).into(),
            Date64 | Time64(_) | Timestamp(..) | Duration(_) => {
                [0, -1, i64::MIN, i64::MAX].map(Scalar::Int).into()
            }
            Float32 => [0.0, f32::NAN, f32::MAX, f32::INFINITY].map(Scalar::Float32).into(),
            Float64 => [0.0, f64::NAN, f64::MAX, f64::NEG_INFINITY].map(Scalar::Float64).into(),
            _ => digits.filter_map(fitting).collect(),
        }
    }

    #[test]
    fn casts_that_cannot_fail_do_not() {
        let zone = || Some(std::sync::Arc::from("Europe/Oslo"));
        let mut types = vec![Boolean, Utf8, Binary, FixedSizeBinary(2), FixedSizeBinary(3), Date32, Date64];
        types.extend([
            Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64, Float16, BFloat16, Float32, Float64,
        ]);
        types.extend([
            Decimal128(12, 2),
            Decimal128(38, 0),
            Decimal128(9, -2),
            Decimal256(76, 10),
            Decimal256(20, 2),
        ]);
        types.extend([Time32(TimeUnit::Second), Time32(TimeUnit::Millisecond)]);
        types.extend([Time64(TimeUnit::Microsecond), Time64(TimeUnit::Nanosecond)]);
        for unit in [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond] {
            types.extend([Timestamp(unit, None), Timestamp(unit, zone()), Duration(unit)]);
        }
        let (mut safe, mut failures) = (0, Vec::new());
        for from in &types {
            for to in types.iter().filter(|to| castable(from, to) && !cast_can_fail(from, to)) {
                safe += 1;
                for value in values_of(from) {
                    if cast(&value, from, to).is_none() {
                        failures.push(format!("{value:?} of {from} as {to}"));
                    }
                }
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(safe > 200, "{safe}");
    }

    #[test]
    fn times_change_zone_and_unit() {
        let oslo = Timestamp(TimeUnit::Second, Some("Europe/Oslo".into()));
        let local = Timestamp(TimeUnit::Millisecond, None);
        assert_eq!(cast(&Scalar::Int(0), &oslo, &local), Some(Scalar::Int(3_600_000)));
        assert_eq!(cast(&Scalar::Int(3_600_999), &local, &oslo), Some(Scalar::Int(0)));
        assert_eq!(cast(&Scalar::Int(-1), &local, &Date32), Some(Scalar::Int(-1)));
        assert_eq!(cast(&Scalar::Int(-1), &local, &Time32(TimeUnit::Second)), Some(Scalar::Int(86_399)));
        assert_eq!(cast(&Scalar::Int(i64::MAX), &oslo, &local), None);
        assert_eq!(cast(&Scalar::Int(7), &Int64, &local), Some(Scalar::Int(7)));
    }
}

//! What a [`Literal`] is in a given type.

use super::temporal::{Moment, Ticks, zone};
use super::tree::Literal;
use super::{I256, Scalar};
use crate::{DataType, TimeUnit};
use half::{bf16, f16};
use std::sync::Arc;

/// How a literal fits a type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fit {
    /// It is this value; a float perhaps the nearest one.
    Is(Scalar),
    /// It lies between this value and the next, which the type has no value for.
    Above(Scalar),
    /// It is of the right kind, but the type cannot hold it.
    No,
    /// It is of another kind.
    Mismatch,
    /// It is a text that says nothing: what was expected.
    Malformed(&'static str),
}

/// The value of `literal` in the type `to`.
pub(super) fn fit(literal: &Literal, to: &DataType) -> Fit {
    use DataType::*;
    match (literal, to) {
        (_, Dictionary(_, values)) => fit(literal, values),
        (Literal::Null, _) => Fit::Is(Scalar::Null),
        (Literal::Parameter(_), Struct(_) | Map(..) | List(_) | LargeList(_) | FixedSizeList(..)) => {
            Fit::Mismatch
        }
        (Literal::Parameter(number), _) => Fit::Is(Scalar::Parameter(*number)),
        (Literal::Boolean(value), Boolean) => Fit::Is(Scalar::Boolean(*value)),
        (Literal::Text(text), Utf8 | LargeUtf8) => Fit::Is(Scalar::Text(text.clone())),
        (Literal::Binary(bytes), Binary | LargeBinary) => Fit::Is(Scalar::Binary(bytes.clone())),
        (Literal::Binary(bytes), FixedSizeBinary(width)) => match bytes.len() == *width as usize {
            true => Fit::Is(Scalar::Binary(bytes.clone())),
            false => Fit::No,
        },
        (Literal::Number(digits), _) => number(digits, to),
        (Literal::Date(text) | Literal::Timestamp(text), Date32 | Date64 | Timestamp(..)) => {
            match (Moment::parse(text), literal) {
                (Some(moment), _) => moment_in(moment, to),
                (None, Literal::Date(_)) => Fit::Malformed("a date as 2026-07-28"),
                _ => Fit::Malformed("a timestamp as 2026-07-28 10:15:00.5, perhaps with Z or an offset"),
            }
        }
        (Literal::Time(text), Time32(unit) | Time64(unit)) => match Moment::parse_time(text) {
            Some(moment) => moment.ticks(*unit, None).map_or(Fit::No, ticks),
            None => Fit::Malformed("a time as 10:15:00.5"),
        },
        _ => Fit::Mismatch,
    }
}

/// The value that a literal has where nothing else gives it a type: int64, or uint64 or float64 where it does not fit;
/// float64 with a point or an exponent; timestamps in nanoseconds, or microseconds where they do not fit.
pub(super) fn alone(literal: &Literal) -> (Fit, DataType) {
    use DataType::*;
    let candidates: &[DataType] = match literal {
        Literal::Null => &[Null],
        Literal::Parameter(_) => {
            return (Fit::Malformed("a value: a parameter stands for a literal beside a column"), Null);
        }
        Literal::Boolean(_) => &[Boolean],
        Literal::Text(_) => &[Utf8],
        Literal::Binary(_) => &[Binary],
        Literal::Number(_) => &[Int64, UInt64, Float64],
        Literal::Date(_) => &[Date32],
        Literal::Time(_) => &[Time64(TimeUnit::Nanosecond)],
        Literal::Timestamp(text) => {
            let instant = Moment::parse(text).is_some_and(Moment::is_instant);
            let zone = instant.then(|| Arc::from("UTC"));
            let nanos = Timestamp(TimeUnit::Nanosecond, zone.clone());
            return match fit(literal, &nanos) {
                Fit::No => {
                    let micros = Timestamp(TimeUnit::Microsecond, zone);
                    (fit(literal, &micros), micros)
                }
                found => (found, nanos),
            };
        }
    };
    for candidate in candidates {
        let found = fit(literal, candidate);
        if found != Fit::No {
            return (found, candidate.clone());
        }
    }
    (Fit::No, candidates[candidates.len() - 1].clone())
}

fn moment_in(moment: Moment, to: &DataType) -> Fit {
    let found = match to {
        DataType::Date32 => moment.days().filter(|days| i32::try_from(days.floor).is_ok()),
        DataType::Date64 => {
            moment.days().and_then(|days| Some(Ticks { floor: days.floor.checked_mul(86_400_000)?, ..days }))
        }
        DataType::Timestamp(unit, None) => moment.ticks(*unit, None),
        DataType::Timestamp(unit, Some(name)) => match zone(name) {
            Some(zone) => moment.ticks(*unit, Some(&zone)),
            None => return Fit::Malformed("a time zone of the IANA database in the type"),
        },
        _ => return Fit::Mismatch,
    };
    found.map_or(Fit::No, ticks)
}

fn ticks(ticks: Ticks) -> Fit {
    let value = Scalar::Int(ticks.floor);
    if ticks.exact { Fit::Is(value) } else { Fit::Above(value) }
}

fn number(digits: &str, to: &DataType) -> Fit {
    use DataType::*;
    let signed = |bits: u32| match digits.parse::<i128>() {
        Ok(value) if (-1 << (bits - 1)..1 << (bits - 1)).contains(&value) => {
            Fit::Is(Scalar::Int(value as i64))
        }
        _ => Fit::No,
    };
    let unsigned = |bits: u32| match digits.parse::<i128>() {
        Ok(value) if (0..1 << bits).contains(&value) => Fit::Is(Scalar::UInt(value as u64)),
        _ => Fit::No,
    };
    // A float takes the nearest value, but no number is infinite.
    let double: f64 = digits.parse().unwrap_or(f64::INFINITY);
    let finite = |is_finite: bool, value: Scalar| if is_finite { Fit::Is(value) } else { Fit::No };
    match to {
        Int8 => signed(8),
        Int16 => signed(16),
        Int32 => signed(32),
        Int64 => signed(64),
        UInt8 => unsigned(8),
        UInt16 => unsigned(16),
        UInt32 => unsigned(32),
        UInt64 => unsigned(64),
        Float16 => {
            let value = f16::from_f64(double);
            finite(value.is_finite(), Scalar::Float16(value))
        }
        BFloat16 => {
            let value = bf16::from_f64(double);
            finite(value.is_finite(), Scalar::BFloat16(value))
        }
        Float32 => finite((double as f32).is_finite(), Scalar::Float32(double as f32)),
        Float64 => finite(double.is_finite(), Scalar::Float64(double)),
        Decimal128(precision, scale) => match decimal(digits, *precision, *scale) {
            Some((value, exact)) => match value.to_i128().map(Scalar::Decimal128) {
                Some(value) if exact => Fit::Is(value),
                Some(value) => Fit::Above(value),
                None => Fit::No,
            },
            None => Fit::No,
        },
        Decimal256(precision, scale) => match decimal(digits, *precision, *scale) {
            Some((value, true)) => Fit::Is(Scalar::Decimal256(value)),
            Some((value, false)) => Fit::Above(Scalar::Decimal256(value)),
            None => Fit::No,
        },
        _ => Fit::Mismatch,
    }
}

/// The number times ten to the `scale`, rounded down, and whether that is exact; none if its digits are more than
/// `precision`.
pub(super) fn decimal(text: &str, precision: u8, scale: i8) -> Option<(I256, bool)> {
    let Parts { negative, digits, point } = parts(text)?;
    // Where the digits that are kept end.
    let end = point.saturating_add(i64::from(scale));
    if end > i64::from(precision) {
        return None;
    }
    let (mut value, mut exact) = (I256::default(), true);
    for position in 0..end.max(0) {
        let digit = digits.get(position as usize).map_or(0, |digit| digit - b'0');
        value = value.push_digit(digit)?;
    }
    exact &= digits.len() as i64 <= end.max(0);
    if negative {
        value = value.checked_neg()?;
        if !exact {
            value = value.checked_add(I256::from(-1))?;
        }
    }
    Some((value, exact))
}

/// The least decimal type that holds a number exactly.
pub(super) fn decimal_type(text: &str) -> Option<DataType> {
    let Parts { digits, point, .. } = parts(text)?;
    let scale = (digits.len() as i64).saturating_sub(point).max(0);
    let precision = u8::try_from(point.max(0).saturating_add(scale).max(1)).ok()?;
    let scale = i8::try_from(scale).ok()?;
    match precision {
        1..=38 => Some(DataType::Decimal128(precision, scale)),
        39..=76 => Some(DataType::Decimal256(precision, scale)),
        _ => None,
    }
}

/// A number cut up: its digits without zeros at either end, and the position of the point among them.
struct Parts {
    negative: bool,
    digits: Vec<u8>,
    point: i64,
}

fn parts(text: &str) -> Option<Parts> {
    let (text, negative) = text.strip_prefix('-').map_or((text, false), |rest| (rest, true));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // An exponent that does not fit is that of a number that nothing holds, or of zero.
    let exponent: i64 =
        exponent.parse().unwrap_or(if exponent.starts_with('-') { i64::MIN } else { i64::MAX });
    let mut point = (whole.len() as i64).saturating_add(exponent);
    let leading = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.drain(..leading);
    point = point.saturating_sub(leading as i64);
    let trailing = digits.iter().rev().take_while(|digit| **digit == b'0').count();
    digits.truncate(digits.len() - trailing);
    if digits.is_empty() {
        point = 0;
    }
    Some(Parts { negative, digits, point })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(digits: &str, to: DataType) -> Fit {
        number(digits, &to)
    }

    #[test]
    fn integers_are_checked() {
        assert_eq!(of("-128", DataType::Int8), Fit::Is(Scalar::Int(-128)));
        assert_eq!(of("128", DataType::Int8), Fit::No);
        assert_eq!(of("5.0", DataType::Int64), Fit::No);
        assert_eq!(of("18446744073709551615", DataType::UInt64), Fit::Is(Scalar::UInt(u64::MAX)));
        assert_eq!(of("-1", DataType::UInt8), Fit::No);
        assert_eq!(of("5", DataType::Utf8), Fit::Mismatch);
    }

    #[test]
    fn floats_narrow_to_the_nearest() {
        assert_eq!(of("0.1", DataType::Float32), Fit::Is(Scalar::Float32(0.1)));
        assert_eq!(of("1e39", DataType::Float32), Fit::No);
        assert_eq!(of("70000", DataType::Float16), Fit::No);
        assert_eq!(of("-0.0", DataType::Float64), Fit::Is(Scalar::Float64(-0.0)));
    }

    #[test]
    fn decimals_are_exact() {
        let decimal = |digits| of(digits, DataType::Decimal128(5, 2));
        let value = |value| Scalar::Decimal128(value);
        assert_eq!(decimal("1.5"), Fit::Is(value(150)));
        assert_eq!(decimal("1.001"), Fit::Above(value(100)));
        assert_eq!(decimal("-1.001"), Fit::Above(value(-101)));
        assert_eq!(decimal("-0.001"), Fit::Above(value(-1)));
        assert_eq!(decimal("999.99"), Fit::Is(value(99_999)));
        assert_eq!(decimal("1000"), Fit::No);
        assert_eq!(decimal("1.2e2"), Fit::Is(value(12_000)));
        assert_eq!(decimal("0e999999999999999999999"), Fit::Is(value(0)));
        assert_eq!(decimal("1e999999999999999999999"), Fit::No);
        assert_eq!(decimal("1e-999999999999999999999"), Fit::Above(value(0)));
        assert_eq!(of("1234", DataType::Decimal128(5, -2)), Fit::Above(value(12)));
        let digits = "9".repeat(76);
        assert!(matches!(of(&digits, DataType::Decimal256(76, 0)), Fit::Is(Scalar::Decimal256(_))));
        assert_eq!(decimal_type("12.50"), Some(DataType::Decimal128(3, 1)));
        assert_eq!(decimal_type("1e3"), Some(DataType::Decimal128(4, 0)));
        for text in ["1e99", "1e999999999999999999999", "1e-999999999999999999999"] {
            assert_eq!(decimal_type(text), None);
        }
    }
}

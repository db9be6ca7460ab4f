//! The judge: what an expression is for one row, written down as plainly as possible.

use crate::expr::{
    Arithmetic, ColumnRef, Comparison, DatePart, DateUnit, Function, Node, Scalar, Test, Typed,
};
use jiff::{RoundMode, Timestamp, ToSpan, Unit, ZonedDateTime, ZonedDateTimeRound, civil, tz::TimeZone};
use lancet_format::{DataType, TimeUnit};
use std::cmp::Ordering;

/// A value. Floats of every width are held as f64; integers, dates and times as they are in a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Plain {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    /// Unscaled.
    Decimal(i128),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Plain>),
    Struct(Vec<Plain>),
}

/// Why there is no value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Stop {
    /// It is an error.
    Error,
    /// The judge does not know.
    Pass,
}

type Judged<T> = Result<T, Stop>;

/// What is asked of a condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Ask {
    /// Whether it is true.
    True,
    /// Whether it is false.
    False,
    /// Whether it is true, false or NULL.
    All,
}

/// A row: the value of every column of the schema.
pub(super) type Row<'a> = &'a dyn Fn(&ColumnRef) -> Plain;

/// Whether a condition is true, false or NULL for a row. Where less is asked, an operand of AND or OR that has no
/// value does not matter if the others answer.
pub(super) fn truth(typed: &Typed, row: Row<'_>, ask: Ask) -> Judged<Option<bool>> {
    let (terms, all) = match typed.node() {
        Node::And(terms) => (terms, true),
        Node::Or(terms) => (terms, false),
        Node::Not(operand) => {
            let asked = match ask {
                Ask::True => Ask::False,
                Ask::False => Ask::True,
                Ask::All => Ask::All,
            };
            return Ok(truth(operand, row, asked)?.map(|value| !value));
        }
        Node::Is { operand, test, negated } => {
            let is = match test {
                Test::True => truth(operand, row, Ask::True)? == Some(true),
                Test::False => truth(operand, row, Ask::False)? == Some(false),
                Test::Null => value(operand, row)? == Plain::Null,
            };
            return Ok(Some(is != *negated));
        }
        _ => {
            return match value(typed, row)? {
                Plain::Null => Ok(None),
                Plain::Bool(value) => Ok(Some(value)),
                other => panic!("{other:?} is no condition"),
            };
        }
    };
    let results: Vec<_> = terms.iter().map(|term| truth(term, row, ask)).collect();
    // AND is decided by a term that is false, and no more true with one that is not; OR the other way round.
    let only_all_counts = ask == if all { Ask::True } else { Ask::False };
    for result in results.iter().flatten() {
        if *result == Some(!all) || only_all_counts && *result != Some(all) {
            return Ok(*result);
        }
    }
    // What the judge does not know might have decided the row.
    if results.contains(&Err(Stop::Pass)) {
        return Err(Stop::Pass);
    }
    if results.contains(&Err(Stop::Error)) {
        return Err(Stop::Error);
    }
    Ok(if results.contains(&Ok(None)) { None } else { Some(all) })
}

/// The type of the values, dictionaries being their values.
fn of(typed: &Typed) -> &DataType {
    match typed.data_type() {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

/// The value of an expression for a row.
pub(super) fn value(typed: &Typed, row: Row<'_>) -> Judged<Plain> {
    let bool = |value: Option<bool>| value.map_or(Plain::Null, Plain::Bool);
    Ok(match typed.node() {
        Node::Literal(scalar) => plain(scalar),
        Node::Column(column) => row(column),
        Node::And(_) | Node::Or(_) | Node::Not(_) | Node::Is { .. } => bool(truth(typed, row, Ask::All)?),
        Node::Compare { op, left, right } => bool(compare(*op, &value(left, row)?, &value(right, row)?)),
        Node::Between { operand, low, high, negated } => {
            let values = all([&**operand, low, high], row)?;
            let above = compare(Comparison::GreaterOrEqual, &values[0], &values[1]);
            let below = compare(Comparison::LessOrEqual, &values[0], &values[2]);
            let both = match (above, below) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
            bool(both.map(|both| both != *negated))
        }
        Node::In { operand, values, has_null, others, negated } => {
            let operand = value(operand, row)?;
            let mut items: Vec<Plain> = values.iter().map(plain).collect();
            items.extend(all(others, row)?);
            let equal = |item: &Plain| compare(Comparison::Equal, &operand, item);
            let found = match () {
                () if items.iter().any(|item| equal(item) == Some(true)) => Some(true),
                () if operand == Plain::Null || *has_null || items.contains(&Plain::Null) => None,
                () => Some(false),
            };
            bool(found.map(|found| found != *negated))
        }
        Node::Like { operand, pattern, escape, ignore_case, negated } => {
            match (value(operand, row)?, value(pattern, row)?) {
                (Plain::Text(text), Plain::Text(pattern)) => {
                    let fold = |text: String| if *ignore_case { text.to_lowercase() } else { text };
                    let (text, pattern) = (fold(text), fold(pattern));
                    let text: Vec<char> = text.chars().collect();
                    let pattern: Vec<char> = pattern.chars().collect();
                    Plain::Bool(like(&text, &pattern, *escape) != *negated)
                }
                _ => Plain::Null,
            }
        }
        Node::Arithmetic { op, left, right } => {
            arithmetic(*op, (value(left, row)?, of(left)), (value(right, row)?, of(right)), of(typed))?
        }
        Node::Negate(operand) => match value(operand, row)? {
            Plain::Int(value) => Plain::Int(wrap(-value, of(typed))),
            Plain::Float(value) => Plain::Float(-value),
            Plain::Decimal(value) => Plain::Decimal(-value),
            other => other,
        },
        Node::Call { function, arguments } => call(*function, arguments, row, of(typed))?,
        Node::Case { operand, branches, otherwise } => {
            let operand = operand.as_ref().map(|operand| value(operand, row)).transpose()?;
            for (condition, then) in branches {
                let taken = match &operand {
                    Some(operand) => compare(Comparison::Equal, operand, &value(condition, row)?),
                    None => truth(condition, row, Ask::True)?,
                };
                if taken == Some(true) {
                    return value(then, row);
                }
            }
            match otherwise {
                Some(otherwise) => value(otherwise, row)?,
                None => Plain::Null,
            }
        }
        Node::Cast(operand) => cast(value(operand, row)?, of(operand), of(typed))?,
        Node::Field { operand, index } => match value(operand, row)? {
            Plain::Struct(fields) => fields[*index].clone(),
            _ => Plain::Null,
        },
    })
}

fn all<'a>(typed: impl IntoIterator<Item = &'a Typed>, row: Row<'_>) -> Judged<Vec<Plain>> {
    typed.into_iter().map(|typed| value(typed, row)).collect()
}

pub(super) fn plain(scalar: &Scalar) -> Plain {
    match scalar {
        Scalar::Null => Plain::Null,
        Scalar::Boolean(value) => Plain::Bool(*value),
        Scalar::Int(value) => Plain::Int((*value).into()),
        Scalar::UInt(value) => Plain::Int((*value).into()),
        Scalar::Float16(value) => Plain::Float(value.to_f64()),
        Scalar::BFloat16(value) => Plain::Float(value.to_f64()),
        Scalar::Float32(value) => Plain::Float((*value).into()),
        Scalar::Float64(value) => Plain::Float(*value),
        Scalar::Decimal128(value) => Plain::Decimal(*value),
        Scalar::Decimal256(value) => Plain::Decimal(value.to_i128().expect("data are small")),
        Scalar::Text(text) => Plain::Text(text.to_string()),
        Scalar::Binary(bytes) => Plain::Bytes(bytes.to_vec()),
        Scalar::List(items) => Plain::List(items.iter().map(plain).collect()),
        Scalar::Parameter(_) => unreachable!("the judge binds no parameters"),
    }
}

/// The order of two values, NULL among lists' items included.
pub(super) fn order(left: &Plain, right: &Plain) -> Ordering {
    match (left, right) {
        (Plain::Null, Plain::Null) => Ordering::Equal,
        (Plain::Bool(a), Plain::Bool(b)) => a.cmp(b),
        (Plain::Int(a), Plain::Int(b)) | (Plain::Decimal(a), Plain::Decimal(b)) => a.cmp(b),
        // One zero; otherwise IEEE 754's total order.
        (Plain::Float(a), Plain::Float(b)) if *a == 0.0 && *b == 0.0 => Ordering::Equal,
        (Plain::Float(a), Plain::Float(b)) => a.total_cmp(b),
        (Plain::Text(a), Plain::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Plain::Bytes(a), Plain::Bytes(b)) => a.cmp(b),
        (Plain::Null, _) => Ordering::Less,
        (_, Plain::Null) => Ordering::Greater,
        (a, b) => panic!("{a:?} and {b:?} are not compared"),
    }
}

fn compare(op: Comparison, left: &Plain, right: &Plain) -> Option<bool> {
    if *left == Plain::Null || *right == Plain::Null {
        return None;
    }
    let order = order(left, right);
    Some(match op {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
    })
}

/// `text LIKE pattern`, by trying every length of `%`.
fn like(text: &[char], pattern: &[char], escape: char) -> bool {
    match pattern {
        [] => text.is_empty(),
        [first, literal, rest @ ..] if *first == escape => {
            text.first() == Some(literal) && like(&text[1..], rest, escape)
        }
        ['%', rest @ ..] if escape != '%' => (0..=text.len()).any(|skip| like(&text[skip..], rest, escape)),
        ['_', rest @ ..] if escape != '_' => !text.is_empty() && like(&text[1..], rest, escape),
        [literal, rest @ ..] => text.first() == Some(literal) && like(&text[1..], rest, escape),
    }
}

/// How many bits an integer type has, and whether it has a sign.
fn bits(data_type: &DataType) -> (u32, bool) {
    match data_type {
        DataType::Int8 => (8, true),
        DataType::Int16 => (16, true),
        DataType::Int32 | DataType::Date32 | DataType::Time32(_) => (32, true),
        DataType::UInt8 => (8, false),
        DataType::UInt16 => (16, false),
        DataType::UInt32 => (32, false),
        DataType::UInt64 => (64, false),
        _ => (64, true),
    }
}

fn fits(value: i128, data_type: &DataType) -> bool {
    wrap(value, data_type) == value
}

/// An integer modulo the number of values that its type has.
fn wrap(value: i128, data_type: &DataType) -> i128 {
    let (bits, signed) = bits(data_type);
    let modulus = 1i128 << bits;
    let value = value.rem_euclid(modulus);
    if signed && value >= modulus / 2 { value - modulus } else { value }
}

/// A float as its type holds it.
fn narrow(value: f64, data_type: &DataType) -> f64 {
    match data_type {
        DataType::Float32 => (value as f32).into(),
        DataType::Float64 => value,
        other => panic!("{other} is not computed with"),
    }
}

fn scale(data_type: &DataType) -> i32 {
    match data_type {
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => (*scale).into(),
        _ => 0,
    }
}

fn power(exponent: i32) -> Judged<i128> {
    let exponent = u32::try_from(exponent).map_err(|_| Stop::Pass)?;
    10i128.checked_pow(exponent).ok_or(Stop::Pass)
}

/// A decimal at another scale, rounded half away from zero.
fn rescale(value: i128, from: i32, to: i32) -> Judged<i128> {
    if to >= from {
        return value.checked_mul(power(to - from)?).ok_or(Stop::Pass);
    }
    let divisor = power(from - to)?;
    let (quotient, rest) = (value / divisor, value % divisor);
    let up = rest.abs() >= divisor - rest.abs();
    Ok(quotient + if up { value.signum() } else { 0 })
}

fn arithmetic(
    op: Arithmetic,
    (left, left_type): (Plain, &DataType),
    (right, right_type): (Plain, &DataType),
    result: &DataType,
) -> Judged<Plain> {
    Ok(match (left, right) {
        (Plain::Int(_), Plain::Int(0)) if matches!(op, Arithmetic::Divide | Arithmetic::Remainder) => {
            return Err(Stop::Error);
        }
        (Plain::Int(a), Plain::Int(b)) => Plain::Int(wrap(
            match op {
                Arithmetic::Add => a + b,
                Arithmetic::Subtract => a - b,
                Arithmetic::Multiply => a.wrapping_mul(b),
                Arithmetic::Divide => a / b,
                Arithmetic::Remainder => a % b,
            },
            result,
        )),
        // For the four operations, rounding the double to a float32 is the same as computing with float32.
        (Plain::Float(a), Plain::Float(b)) => Plain::Float(narrow(
            match op {
                Arithmetic::Add => a + b,
                Arithmetic::Subtract => a - b,
                Arithmetic::Multiply => a * b,
                Arithmetic::Divide => a / b,
                Arithmetic::Remainder => a % b,
            },
            result,
        )),
        (Plain::Decimal(_), Plain::Decimal(0))
            if matches!(op, Arithmetic::Divide | Arithmetic::Remainder) =>
        {
            return Err(Stop::Error);
        }
        (Plain::Decimal(a), Plain::Decimal(b)) => {
            let (s, t, to) = (scale(left_type), scale(right_type), scale(result));
            let common = s.max(t);
            let checked = |value: Option<i128>| value.ok_or(Stop::Pass);
            let value = match op {
                Arithmetic::Add => {
                    rescale(checked(rescale(a, s, common)?.checked_add(rescale(b, t, common)?))?, common, to)?
                }
                Arithmetic::Subtract => {
                    rescale(checked(rescale(a, s, common)?.checked_sub(rescale(b, t, common)?))?, common, to)?
                }
                Arithmetic::Multiply => rescale(checked(a.checked_mul(b))?, s + t, to)?,
                // a/10^s : b/10^t, in units of 10^-to
                Arithmetic::Divide => checked(a.checked_mul(power(to - s + t)?))? / b,
                Arithmetic::Remainder => {
                    rescale(rescale(a, s, common)? % rescale(b, t, common)?, common, to)?
                }
            };
            if matches!(result, DataType::Decimal128(..)) && value.abs() >= power(38)? {
                return Err(Stop::Error);
            }
            Plain::Decimal(value)
        }
        _ => Plain::Null,
    })
}

fn call(function: Function, arguments: &[Typed], row: Row<'_>, result: &DataType) -> Judged<Plain> {
    use Plain::{Bool, Float, Int, Null, Text};
    if function == Function::Coalesce {
        for argument in arguments {
            let value = value(argument, row)?;
            if value != Null {
                return Ok(value);
            }
        }
        return Ok(Null);
    }
    let values = all(arguments, row)?;
    match function {
        Function::NullIf => {
            let equal = compare(Comparison::Equal, &values[0], &values[1]) == Some(true);
            return Ok(if equal { Null } else { values[0].clone() });
        }
        Function::Concat => {
            let texts = values.iter().filter_map(|value| match value {
                Text(text) => Some(text.as_str()),
                _ => None,
            });
            return Ok(Text(texts.collect()));
        }
        _ if values.contains(&Null) => return Ok(Null),
        _ => {}
    }
    let nth = |i: usize| values.get(i).cloned().unwrap_or(Null);
    Ok(match (function, nth(0), nth(1), nth(2)) {
        (Function::StartsWith, Text(text), Text(part), _) => Bool(text.starts_with(&part)),
        (Function::EndsWith, Text(text), Text(part), _) => Bool(text.ends_with(&part)),
        (Function::Contains, Text(text), Text(part), _) => Bool(text.contains(&part)),
        (Function::Lower, Text(text), ..) => Text(text.to_lowercase()),
        (Function::Upper, Text(text), ..) => Text(text.to_uppercase()),
        (Function::Length, Text(text), ..) => Int(text.chars().count() as i128),
        (Function::Trim, Text(text), Null, _) => Text(trimmed(&text, " ")),
        (Function::Trim, Text(text), Text(characters), _) => Text(trimmed(&text, &characters)),
        (Function::Substr, Text(_), Int(_), Int(..0)) => return Err(Stop::Error),
        (Function::Substr, Text(text), Int(start), count) => {
            let end = if let Int(count) = count { start + count } else { i128::MAX };
            let numbered = text.chars().zip(1i128..);
            Text(
                numbered
                    .filter(|(_, at)| (start..end).contains(at))
                    .map(|(character, _)| character)
                    .collect(),
            )
        }
        (Function::Join, Text(left), Text(right), _) => Text(left + &right),
        (Function::Abs, Int(value), ..) if !fits(value.abs(), result) => return Err(Stop::Error),
        (Function::Abs, Int(value), ..) => Int(value.abs()),
        (Function::Abs, Float(value), ..) => Float(value.abs()),
        (Function::Abs, Plain::Decimal(value), ..) => Plain::Decimal(value.abs()),
        (Function::Round, Float(value), Null, _) => Float(value.round()),
        (Function::Floor, Float(value), ..) => Float(value.floor()),
        (Function::Ceil, Float(value), ..) => Float(value.ceil()),
        (Function::IsNan, Float(value), ..) => Bool(value.is_nan()),
        (Function::DateTrunc(unit), Int(ticks), ..) => Int(date_trunc(unit, ticks, of(&arguments[0]))?),
        (Function::DatePart(part), Int(ticks), ..) => date_part(part, ticks, of(&arguments[0]))?,
        (Function::ToTimestamp, Float(seconds), ..) => {
            let nanos = seconds * 1e9;
            if nanos.is_nan() || !fits(nanos as i128, result) {
                return Err(Stop::Error);
            }
            Int(nanos as i128)
        }
        (Function::ArrayHas, Plain::List(items), item, _) => {
            Bool(items.iter().any(|own| order(own, &item) == Ordering::Equal))
        }
        (Function::ArrayHasAny, Plain::List(items), Plain::List(others), _) => {
            let has = |other: &Plain| items.iter().any(|own| order(own, other) == Ordering::Equal);
            Bool(others.iter().any(has))
        }
        (Function::ArrayHasAll, Plain::List(items), Plain::List(others), _) => {
            let has = |other: &Plain| items.iter().any(|own| order(own, other) == Ordering::Equal);
            Bool(others.iter().all(has))
        }
        (Function::ArrayLength, Plain::List(items), ..) => Int(items.len() as i128),
        (Function::Element, Plain::List(items), Int(index), _) => {
            let at = if index < 0 { index + items.len() as i128 } else { index - 1 };
            usize::try_from(at).ok().and_then(|at| items.get(at)).cloned().unwrap_or(Null)
        }
        _ => return Err(Stop::Pass),
    })
}

fn trimmed(text: &str, characters: &str) -> String {
    let mut kept: Vec<char> = text.chars().collect();
    while kept.last().is_some_and(|last| characters.contains(*last)) {
        kept.pop();
    }
    while kept.first().is_some_and(|first| characters.contains(*first)) {
        kept.remove(0);
    }
    kept.into_iter().collect()
}

fn per_second(unit: TimeUnit) -> i128 {
    10i128.pow(unit.digits() as u32)
}

/// What the calendar and the clock show, in the zone of the type.
fn zoned(ticks: i128, data_type: &DataType) -> Judged<ZonedDateTime> {
    let (nanos, zone) = match data_type {
        DataType::Timestamp(unit, zone) => (ticks * (1_000_000_000 / per_second(*unit)), zone.as_deref()),
        DataType::Date32 => (ticks * 86_400_000_000_000, None),
        DataType::Date64 => (ticks * 1_000_000, None),
        DataType::Time32(unit) | DataType::Time64(unit) => {
            (ticks * (1_000_000_000 / per_second(*unit)), None)
        }
        other => panic!("{other} has no clock"),
    };
    let zone = zone.map_or(Ok(TimeZone::UTC), TimeZone::get).map_err(|_| Stop::Pass)?;
    Ok(Timestamp::from_nanosecond(nanos).map_err(|_| Stop::Pass)?.to_zoned_datetime(zone))
}

fn date_trunc(unit: DateUnit, ticks: i128, data_type: &DataType) -> Judged<i128> {
    let zoned = zoned(ticks, data_type)?;
    let (date, zone) = (zoned.date(), zoned.time_zone());
    let ticks_of = |timestamp: Timestamp| {
        let DataType::Timestamp(tick, _) = data_type else { return Err(Stop::Pass) };
        let ticks = timestamp.as_nanosecond().div_euclid(1_000_000_000 / per_second(*tick));
        if fits(ticks, data_type) { Ok(ticks) } else { Err(Stop::Error) }
    };
    // An hour that comes twice stays the one that it is.
    let rounded = |unit: Unit| {
        let down = ZonedDateTimeRound::new().smallest(unit).mode(RoundMode::Trunc);
        ticks_of(zoned.round(down).map_err(|_| Stop::Pass)?.timestamp())
    };
    let midnight = |date: civil::Date| date.to_datetime(civil::Time::midnight());
    let cut = match unit {
        DateUnit::Year => midnight(date.first_of_year()),
        DateUnit::Quarter => midnight(
            civil::Date::new(date.year(), (date.month() - 1) / 3 * 3 + 1, 1).map_err(|_| Stop::Pass)?,
        ),
        DateUnit::Month => midnight(date.first_of_month()),
        DateUnit::Week => {
            let back = i64::from(date.weekday().to_monday_zero_offset());
            midnight(date.checked_sub(back.days()).map_err(|_| Stop::Pass)?)
        }
        DateUnit::Day => midnight(date),
        DateUnit::Hour => return rounded(Unit::Hour),
        DateUnit::Minute => return rounded(Unit::Minute),
        DateUnit::Second => return rounded(Unit::Second),
        DateUnit::Millisecond => return rounded(Unit::Millisecond),
        DateUnit::Microsecond => return rounded(Unit::Microsecond),
    };
    ticks_of(zone.to_timestamp(cut).map_err(|_| Stop::Pass)?)
}

fn date_part(part: DatePart, ticks: i128, data_type: &DataType) -> Judged<Plain> {
    let zoned = zoned(ticks, data_type)?;
    let (shown, nanos) = (zoned.datetime(), zoned.timestamp().as_nanosecond());
    let (second, subsecond) = (i128::from(shown.second()), i128::from(shown.subsec_nanosecond()));
    Ok(Plain::Int(match part {
        DatePart::Year => shown.year().into(),
        DatePart::Quarter => i128::from((shown.month() - 1) / 3 + 1),
        DatePart::Month => shown.month().into(),
        DatePart::Week => shown.date().iso_week_date().week().into(),
        DatePart::Day => shown.day().into(),
        DatePart::DayOfWeek => shown.weekday().to_sunday_zero_offset().into(),
        DatePart::DayOfYear => shown.day_of_year().into(),
        DatePart::Hour => shown.hour().into(),
        DatePart::Minute => shown.minute().into(),
        DatePart::Second => second,
        DatePart::Millisecond => second * 1_000 + subsecond / 1_000_000,
        DatePart::Microsecond => second * 1_000_000 + subsecond / 1_000,
        DatePart::Nanosecond => {
            let value = second * 1_000_000_000 + subsecond;
            if !fits(value, &DataType::Int32) {
                return Err(Stop::Error);
            }
            value
        }
        DatePart::Epoch => return Ok(Plain::Float(nanos as f64 / 1e9)),
    }))
}

fn cast(value: Plain, from: &DataType, to: &DataType) -> Judged<Plain> {
    use DataType::{Boolean, Date32, Float32, Float64, LargeUtf8, Timestamp, Utf8};
    let is_float = |data_type: &DataType| matches!(data_type, Float32 | Float64);
    let is_integer = |data_type: &DataType| {
        use DataType::*;
        matches!(data_type, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
    };
    Ok(match (value, from, to) {
        (Plain::Null, ..) => Plain::Null,
        (value, from, to) if from == to => value,
        (Plain::Text(text), Utf8 | LargeUtf8, Utf8 | LargeUtf8) => Plain::Text(text),
        (Plain::Int(value), from, to) if is_integer(from) && is_integer(to) => {
            if !fits(value, to) {
                return Err(Stop::Error);
            }
            Plain::Int(value)
        }
        (Plain::Int(value), from, Float32) if is_integer(from) => Plain::Float((value as f32).into()),
        (Plain::Int(value), from, Float64) if is_integer(from) => Plain::Float(value as f64),
        (Plain::Float(value), _, to) if is_float(to) => Plain::Float(narrow(value, to)),
        (Plain::Float(value), _, to) if is_integer(to) => {
            if value.is_nan() || !fits(value.trunc() as i128, to) {
                return Err(Stop::Error);
            }
            Plain::Int(value.trunc() as i128)
        }
        (Plain::Bool(value), _, to) if is_integer(to) => Plain::Int(value.into()),
        (Plain::Bool(value), _, Utf8) => Plain::Text(if value { "true" } else { "false" }.into()),
        (Plain::Int(value), from, Boolean) if is_integer(from) => Plain::Bool(value != 0),
        (Plain::Int(value), from, Utf8) if is_integer(from) => Plain::Text(value.to_string()),
        (Plain::Int(days), Date32, Timestamp(unit, None)) => {
            let ticks = days * 86_400 * per_second(*unit);
            if !fits(ticks, to) {
                return Err(Stop::Error);
            }
            Plain::Int(ticks)
        }
        (Plain::Int(ticks), Timestamp(from, None), Timestamp(unit, None)) => {
            let nanos = ticks * (1_000_000_000 / per_second(*from));
            let ticks = nanos.div_euclid(1_000_000_000 / per_second(*unit));
            if !fits(ticks, to) {
                return Err(Stop::Error);
            }
            Plain::Int(ticks)
        }
        (Plain::Text(text), _, to) if is_integer(to) => {
            let digits = text.strip_prefix(['-', '+']).unwrap_or(&text);
            let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
            match text.parse::<i128>() {
                Ok(value) if is_number && fits(value, to) => Plain::Int(value),
                _ => return Err(Stop::Error),
            }
        }
        _ => return Err(Stop::Pass),
    })
}

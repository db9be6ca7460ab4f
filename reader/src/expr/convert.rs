//! Which types are compared as they are, what the common type of two is, which casts there are and which can fail.

use crate::{DataType, TimeUnit};

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

pub(super) fn is_temporal(data_type: &DataType) -> bool {
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
        // Days of 32 bits reach further than microseconds of 64.
        (Timestamp(unit, None), Date32) => unit.digits() < 6,
        (Boolean, _) | (_, Boolean) if !is_text(from) => false,
        (_, Int64) if is_temporal(from) || matches!(from, Duration(_)) => false,
        _ if is_text(to) => !(is_text(from) || is_number(from)),
        _ if is_text(from) && matches!(to, Binary | LargeBinary) => false,
        _ if is_binary(from) && matches!(to, Binary | LargeBinary) => false,
        _ => !(is_number(from) && is_float(to)),
    }
}

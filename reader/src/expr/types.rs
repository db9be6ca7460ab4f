//! Names of types: SQL's in CAST, Arrow's in `arrow_cast`.

use super::lex::{Token, Tokens};
use crate::{DataType, Result, TimeUnit};
use std::{fmt, sync::Arc};

/// SQL's names; the first of several is the one that is written.
const NAMES: [(&str, DataType); 21] = [
    ("BOOLEAN", DataType::Boolean),
    ("BOOL", DataType::Boolean),
    ("TINYINT UNSIGNED", DataType::UInt8),
    ("SMALLINT UNSIGNED", DataType::UInt16),
    ("INT UNSIGNED", DataType::UInt32),
    ("INTEGER UNSIGNED", DataType::UInt32),
    ("BIGINT UNSIGNED", DataType::UInt64),
    ("TINYINT", DataType::Int8),
    ("SMALLINT", DataType::Int16),
    ("INT", DataType::Int32),
    ("INTEGER", DataType::Int32),
    ("BIGINT", DataType::Int64),
    ("FLOAT", DataType::Float32),
    ("REAL", DataType::Float32),
    ("DOUBLE", DataType::Float64),
    ("STRING", DataType::Utf8),
    ("VARCHAR", DataType::Utf8),
    ("TEXT", DataType::Utf8),
    ("BINARY", DataType::Binary),
    ("DATE", DataType::Date32),
    ("TIME", DataType::Time64(TimeUnit::Nanosecond)),
];

const UNITS: [(&str, u64, TimeUnit); 4] = [
    ("Second", 0, TimeUnit::Second),
    ("Millisecond", 3, TimeUnit::Millisecond),
    ("Microsecond", 6, TimeUnit::Microsecond),
    ("Nanosecond", 9, TimeUnit::Nanosecond),
];

/// Takes the name of an SQL type.
pub(super) fn sql(tokens: &mut Tokens<'_>) -> Result<DataType> {
    let place = tokens.place();
    let unknown = || {
        place.error(
            "expected a type: BOOLEAN, TINYINT, SMALLINT, INT or BIGINT [UNSIGNED], FLOAT, DOUBLE, DECIMAL(p, s), \
             STRING, BINARY, DATE, TIME or TIMESTAMP[(0, 3, 6 or 9)]; arrow_cast knows more",
        )
    };
    let Some(Token::Word(word)) = tokens.take() else { return Err(unknown()) };
    let mut name = word.to_uppercase();
    match &*name {
        "TIMESTAMP" | "DATETIME" => {
            let digits = match tokens.take_sign("(") {
                true => numbers(tokens)?,
                false => vec![6],
            };
            let unit = |digits: u64| UNITS.into_iter().find(|unit| unit.1 == digits);
            match digits[..] {
                [digits] => {
                    unit(digits).map(|(_, _, unit)| DataType::Timestamp(unit, None)).ok_or_else(unknown)
                }
                _ => Err(unknown()),
            }
        }
        "DECIMAL" | "NUMERIC" => {
            let parts = match tokens.take_sign("(") {
                true => numbers(tokens)?,
                false => Vec::new(),
            };
            let (precision, scale) = match parts[..] {
                [precision] => (precision, 0),
                [precision, scale] => (precision, scale),
                _ => return Err(place.error("expected DECIMAL(precision) or DECIMAL(precision, scale)")),
            };
            decimal(precision, scale)
                .ok_or_else(|| place.error("expected a precision of 1 to 76 and a scale that is no larger"))
        }
        _ => {
            if tokens.take_keyword("UNSIGNED") {
                name.push_str(" UNSIGNED");
            }
            // `VARCHAR(20)`: lengths of text are not limited.
            if name == "VARCHAR" && tokens.take_sign("(") {
                numbers(tokens)?;
            }
            let found = NAMES.into_iter().find(|(known, _)| *known == name);
            found.map(|(_, data_type)| data_type).ok_or_else(unknown)
        }
    }
}

/// Numbers up to the closing parenthesis.
fn numbers(tokens: &mut Tokens<'_>) -> Result<Vec<u64>> {
    let mut numbers = Vec::new();
    loop {
        match tokens.peek() {
            Some(Token::Number(digits)) if digits.parse::<u64>().is_ok() => {
                numbers.extend(digits.parse::<u64>());
                tokens.take();
            }
            _ => return tokens.expected("a number"),
        }
        if tokens.take_sign(")") {
            return Ok(numbers);
        }
        if !tokens.take_sign(",") {
            return tokens.expected("`,` or `)`");
        }
    }
}

fn decimal(precision: u64, scale: u64) -> Option<DataType> {
    let (precision, scale) = (u8::try_from(precision).ok()?, i8::try_from(scale).ok()?);
    if i16::from(scale) > i16::from(precision) {
        return None;
    }
    match precision {
        1..=38 => Some(DataType::Decimal128(precision, scale)),
        39..=76 => Some(DataType::Decimal256(precision, scale)),
        _ => None,
    }
}

/// The type with this name in Arrow.
pub(super) fn arrow(text: &str) -> Option<DataType> {
    use DataType::*;
    let (name, arguments) = match text.trim().split_once('(') {
        Some((name, rest)) => (name.trim_end(), rest.strip_suffix(')')?.trim()),
        None => (text.trim(), ""),
    };
    let unit = |accepted: &[TimeUnit]| {
        let named = |text: &str| UNITS.into_iter().find(|unit| unit.0 == text.trim()).map(|unit| unit.2);
        named(arguments).filter(|unit| accepted.contains(unit))
    };
    if !arguments.is_empty() {
        return Some(match name {
            "Time32" => Time32(unit(&[TimeUnit::Second, TimeUnit::Millisecond])?),
            "Time64" => Time64(unit(&[TimeUnit::Microsecond, TimeUnit::Nanosecond])?),
            "Duration" => Duration(unit(&UNITS.map(|unit| unit.2))?),
            "Timestamp" => {
                let (unit, zone) = arguments.split_once(',')?;
                let unit = UNITS.into_iter().find(|known| known.0 == unit.trim())?.2;
                let zone = match zone.trim() {
                    "None" => None,
                    zone => Some(Arc::from(zone.strip_prefix("Some(\"")?.strip_suffix("\")")?)),
                };
                Timestamp(unit, zone)
            }
            "FixedSizeBinary" => FixedSizeBinary(arguments.parse().ok().filter(|&width| width > 0)?),
            "Decimal128" | "Decimal256" => {
                let (precision, scale) = arguments.split_once(',')?;
                let (precision, scale) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
                let fits =
                    |most: u8| (1..=most).contains(&precision) && i16::from(scale) <= i16::from(precision);
                match name {
                    "Decimal128" if fits(38) => Decimal128(precision, scale),
                    "Decimal256" if fits(76) => Decimal256(precision, scale),
                    _ => return None,
                }
            }
            _ => return None,
        });
    }
    Some(match name {
        "Boolean" => Boolean,
        "Int8" => Int8,
        "Int16" => Int16,
        "Int32" => Int32,
        "Int64" => Int64,
        "UInt8" => UInt8,
        "UInt16" => UInt16,
        "UInt32" => UInt32,
        "UInt64" => UInt64,
        "Float16" => Float16,
        "Float32" => Float32,
        "Float64" => Float64,
        "Utf8" | "Utf8View" => Utf8,
        "LargeUtf8" => LargeUtf8,
        "Binary" | "BinaryView" => Binary,
        "LargeBinary" => LargeBinary,
        "Date32" => Date32,
        "Date64" => Date64,
        _ => return None,
    })
}

/// A cast of what `operand` writes, in SQL's words if there are some.
pub(super) fn write_cast(
    f: &mut fmt::Formatter<'_>,
    operand: &dyn fmt::Display,
    to: &DataType,
) -> fmt::Result {
    match to {
        DataType::Timestamp(unit, None) => {
            let digits = unit.digits();
            return match unit {
                TimeUnit::Microsecond => write!(f, "CAST({operand} AS TIMESTAMP)"),
                _ => write!(f, "CAST({operand} AS TIMESTAMP({digits}))"),
            };
        }
        DataType::Decimal128(precision, scale @ 0..) => {
            return write!(f, "CAST({operand} AS DECIMAL({precision}, {scale}))");
        }
        DataType::Decimal256(precision @ 39.., scale @ 0..) => {
            return write!(f, "CAST({operand} AS DECIMAL({precision}, {scale}))");
        }
        _ => (),
    }
    if let Some((name, _)) = NAMES.iter().find(|(_, data_type)| data_type == to) {
        return write!(f, "CAST({operand} AS {name})");
    }
    let unit = |unit: &TimeUnit| UNITS.into_iter().find(|known| known.2 == *unit).map_or("", |known| known.0);
    let name = match to {
        DataType::Time32(of) => format!("Time32({})", unit(of)),
        DataType::Time64(of) => format!("Time64({})", unit(of)),
        DataType::Duration(of) => format!("Duration({})", unit(of)),
        DataType::Timestamp(of, Some(zone)) => format!("Timestamp({}, Some(\"{zone}\"))", unit(of)),
        // The other names are those that Arrow's own `Debug` writes, as here.
        other => format!("{other:?}"),
    };
    write!(f, "arrow_cast({operand}, '{}')", name.replace('\'', "''"))
}

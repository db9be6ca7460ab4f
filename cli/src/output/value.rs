//! One cell as JSON, or as plain text for tables and CSV. The rules are "JSON values" in `docs/cli.md`.

use super::{
    decimal::decimal,
    jsonb,
    text::{base64, quoted, show},
    time,
};
use crate::error::{Error, Result};
use lancet::{Column, DataType};
use std::ops::Range;

const MILLISECONDS_A_DAY: i64 = 86_400_000;

/// Appends row `row` of `column` as JSON.
pub(super) fn json(out: &mut String, column: &Column, row: usize) -> Result<()> {
    use DataType::*;
    if column.is_null(row) {
        out.push_str("null");
        return Ok(());
    }
    let data_type = match column.data_type() {
        Dictionary(_, values) => values,
        data_type => data_type,
    };
    macro_rules! number {
        ($type:ty) => {
            column.primitive::<$type>().expect("the type has this width")[row]
        };
    }
    match data_type {
        Boolean => show(out, column.boolean(row).expect("the type is boolean")),
        Int8 => show(out, number!(i8)),
        Int16 => show(out, number!(i16)),
        Int32 => show(out, number!(i32)),
        Int64 | Duration(_) => show(out, number!(i64)),
        UInt8 => show(out, number!(u8)),
        UInt16 => show(out, number!(u16)),
        UInt32 => show(out, number!(u32)),
        UInt64 => show(out, number!(u64)),
        Float16 => float(out, half::f16::from_bits(number!(u16)).to_f32()),
        BFloat16 => float(out, half::bf16::from_bits(number!(u16)).to_f32()),
        Float32 => float(out, number!(f32)),
        Float64 => float(out, number!(f64)),
        Utf8 | LargeUtf8 => quoted(out, &String::from_utf8_lossy(bytes(column, row))),
        Json => jsonb::json(out, bytes(column, row))
            .map_err(|reason| Error::Value(format!("a JSON value cannot be read: {reason}")))?,
        Binary | LargeBinary | FixedSizeBinary(_) => {
            within_quotes(out, |out| base64(out, bytes(column, row)))
        }
        Decimal128(_, scale) | Decimal256(_, scale) => {
            within_quotes(out, |out| decimal(out, bytes(column, row), *scale));
        }
        Date32 => within_quotes(out, |out| time::date(out, number!(i32).into())),
        Date64 => within_quotes(out, |out| time::date(out, number!(i64).div_euclid(MILLISECONDS_A_DAY))),
        Time32(unit) => within_quotes(out, |out| time::time(out, number!(i32).into(), *unit)),
        Time64(unit) => within_quotes(out, |out| time::time(out, number!(i64), *unit)),
        Timestamp(unit, zone) => {
            within_quotes(out, |out| time::timestamp(out, number!(i64), *unit, zone.is_some()));
        }
        List(_) | LargeList(_) | FixedSizeList(..) => {
            let (items, range) = items(column, row);
            sequence(out, ['[', ']'], range, |out, item| json(out, items, item))?;
        }
        Map(_) => {
            let (entries, range) = items(column, row);
            let [keys, values] = entries.children() else { unreachable!("entries are a key and a value") };
            sequence(out, ['[', ']'], range, |out, entry| {
                out.push_str("{\"key\":");
                json(out, keys, entry)?;
                out.push_str(",\"value\":");
                json(out, values, entry)?;
                out.push('}');
                Ok(())
            })?;
        }
        Struct(fields) => {
            sequence(out, ['{', '}'], 0..fields.len(), |out, field| {
                quoted(out, &fields[field].name);
                out.push(':');
                json(out, &column.children()[field], row)
            })?;
        }
        other => return Err(Error::Value(format!("values of type {other} cannot be shown"))),
    }
    Ok(())
}

/// Appends row `row` of `column` as [`json`] does, but text, dates and the like without quotes or escapes.
pub(super) fn text(out: &mut String, column: &Column, row: usize) -> Result<()> {
    if !column.is_null(row) && column.data_type().is_utf8() {
        out.push_str(&String::from_utf8_lossy(bytes(column, row)));
        return Ok(());
    }
    let start = out.len();
    json(out, column, row)?;
    // Whatever else is quoted as a whole holds no escapes, text in a JSON column aside.
    if out[start..].starts_with('"') && *column.data_type() != DataType::Json {
        out.pop();
        out.remove(start);
    }
    Ok(())
}

/// Appends the shortest decimal that reads back the same, the closest of several, the even one of two as
/// close, with its point or exponent.
pub(super) fn float<F: zmij::Float + Copy + Into<f64>>(out: &mut String, value: F) {
    let wide: f64 = value.into();
    if wide.is_finite() {
        out.push_str(zmij::Buffer::new().format_finite(value));
    } else {
        let name = match () {
            () if wide.is_nan() => "NaN",
            () if wide > 0.0 => "Infinity",
            () => "-Infinity",
        };
        within_quotes(out, |out| out.push_str(name));
    }
}

fn within_quotes(out: &mut String, write: impl FnOnce(&mut String)) {
    out.push('"');
    write(out);
    out.push('"');
}

/// Appends elements with commas between them.
fn sequence(
    out: &mut String,
    [open, close]: [char; 2],
    range: Range<usize>,
    mut element: impl FnMut(&mut String, usize) -> Result<()>,
) -> Result<()> {
    out.push(open);
    let first = range.start;
    for index in range {
        if index > first {
            out.push(',');
        }
        element(out, index)?;
    }
    out.push(close);
    Ok(())
}

fn bytes(column: &Column, row: usize) -> &[u8] {
    column.bytes(row).expect("the type is of bytes")
}

/// The items behind a list column, and which of them are row `row`.
fn items(column: &Column, row: usize) -> (&Column, Range<usize>) {
    let items = column.child().expect("the type has items");
    (items, column.range(row).expect("the type has items"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(column: &Column, row: usize) -> [String; 2] {
        let mut out = [String::new(), String::new()];
        json(&mut out[0], column, row).unwrap();
        text(&mut out[1], column, row).unwrap();
        out
    }

    #[test]
    fn floats_are_short_and_keep_their_point() {
        let shown = |value: f64| {
            let mut out = String::new();
            float(&mut out, value);
            out
        };
        for (value, expected) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e300, "1e+300"),
            (5e-324, "5e-324"),
            (123456789.0, "123456789.0"),
            (f64::NAN, "\"NaN\""),
            (-f64::NAN, "\"NaN\""),
            (f64::INFINITY, "\"Infinity\""),
            (f64::NEG_INFINITY, "\"-Infinity\""),
        ] {
            assert_eq!(shown(value), expected);
        }
    }

    #[test]
    fn narrow_floats_are_shortest_in_their_own_width() {
        let mut out = String::new();
        float(&mut out, 0.1_f32);
        out.push(' ');
        float(&mut out, half::f16::from_f32(0.1).to_f32());
        // -1.84765625, exactly between two decimals of eight digits.
        out.push(' ');
        float(&mut out, -473.0_f32 / 256.0);
        assert_eq!(out, "0.1 0.099975586 -1.8476562");
    }

    #[test]
    fn numbers_and_nulls_of_every_shape() {
        let column = Column::from_u64(&[7, u64::MAX]);
        assert_eq!(written(&column, 1), ["18446744073709551615", "18446744073709551615"]);
        for data_type in [DataType::Null, DataType::Boolean, DataType::Json, DataType::Decimal256(70, 2)] {
            assert_eq!(written(&Column::nulls(&data_type, 2), 1), ["null", "null"]);
        }
    }
}

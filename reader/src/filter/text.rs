//! Functions of texts, by the rules of Unicode.

use super::{
    build::{self, Texts},
    expression::Call,
    number::validity,
    rows::Value,
    types::{Bytes, numbers},
};
use crate::Result;
use lancet_format::{Bitmap, Column, DataType};

/// The texts of the arguments.
struct Arguments<'a> {
    values: &'a [Value],
    bytes: Vec<Bytes<'a>>,
}

impl<'a> Arguments<'a> {
    fn new(values: &'a [Value]) -> Result<Self> {
        let bytes = values.iter().map(|value| Bytes::of(&value.column)).collect::<Result<_>>()?;
        Ok(Arguments { values, bytes })
    }

    fn text(&self, argument: usize, row: usize) -> &'a str {
        self.bytes[argument].text(self.values[argument].at(row))
    }
}

/// A column of texts: `write` appends that of a row which is not NULL.
fn texts(len: usize, validity: &Option<Bitmap>, mut write: impl FnMut(usize, &mut Texts)) -> Result<Column> {
    let mut out = Texts::new(&DataType::Utf8, len);
    for row in 0..len {
        match validity.as_ref().is_none_or(|bits| bits.get(row)) {
            true => {
                write(row, &mut out);
                out.end(true)?;
            }
            false => out.push_null()?,
        }
    }
    out.finish()
}

/// `lower(text)`
pub(super) fn lower() -> Call {
    mapped(|text| text.to_lowercase())
}

/// `upper(text)`
pub(super) fn upper() -> Call {
    mapped(|text| text.to_uppercase())
}

fn mapped(map: fn(&str) -> String) -> Call {
    Call::new(move |values, len, _| {
        let arguments = Arguments::new(values)?;
        texts(len, &validity(values, len)?, |row, out| out.append(map(arguments.text(0, row)).as_bytes()))
    })
}

/// `length(text)`
pub(super) fn length() -> Call {
    Call::new(|values, len, _| {
        let bytes = Bytes::of(&values[0].column)?;
        let lengths =
            (0..len).map(|row| bytes.get(row).iter().filter(|byte| **byte & 0xc0 != 0x80).count() as i32);
        build::numbers(&DataType::Int32, &lengths.collect::<Vec<_>>(), values[0].column.validity().cloned())
    })
}

/// `trim(text)` or `trim(text, characters)`
pub(super) fn trim() -> Call {
    Call::new(|values, len, _| {
        let arguments = Arguments::new(values)?;
        texts(len, &validity(values, len)?, |row, out| {
            let text = arguments.text(0, row);
            let trimmed = match values.len() {
                1 => text.trim_matches(' '),
                _ => {
                    let characters = arguments.text(1, row);
                    text.trim_matches(|character| characters.contains(character))
                }
            };
            out.append(trimmed.as_bytes());
        })
    })
}

/// `substr(text, start)` or `substr(text, start, count)`
pub(super) fn substr() -> Call {
    Call::new(|values, len, fail| {
        let bytes = Bytes::of(&values[0].column)?;
        let integers = |argument: usize| values.get(argument).map(|value| numbers::<i64>(&value.column));
        let (starts, counts) = (integers(1).transpose()?, integers(2).transpose()?);
        let get =
            |of: Option<&[i64]>, argument: usize, row: usize| of.map(|all| all[values[argument].at(row)]);
        texts(len, &validity(values, len)?, |row, out| {
            let text = bytes.text(values[0].at(row));
            let start = get(starts, 1, row).unwrap_or(1);
            let end = match get(counts, 2, row) {
                Some(count @ ..0) => {
                    return fail.row(row, || format!("substr: a count of characters below zero, {count}"));
                }
                Some(count) => start.saturating_add(count),
                None => i64::MAX,
            };
            // Characters before the first count too.
            let skip = usize::try_from(start.saturating_sub(1)).unwrap_or(0);
            let take = usize::try_from(end.saturating_sub(start.max(1))).unwrap_or(0);
            out.append(characters(text, skip, take).as_bytes());
        })
    })
}

/// `take` characters of `text` behind `skip` others.
fn characters(text: &str, skip: usize, take: usize) -> &str {
    let from = |text: &str, count: usize| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    let rest = &text[from(text, skip)..];
    &rest[..from(rest, take)]
}

/// `concat(text, …)`: NULL is nothing.
pub(super) fn concat() -> Call {
    Call::new(|values, len, _| {
        let arguments = Arguments::new(values)?;
        texts(len, &None, |row, out| {
            for (argument, value) in values.iter().enumerate().filter(|(_, value)| !value.is_null(row)) {
                out.append(arguments.bytes[argument].get(value.at(row)));
            }
        })
    })
}

/// `left || right`
pub(super) fn join() -> Call {
    Call::new(|values, len, _| {
        let arguments = Arguments::new(values)?;
        texts(len, &validity(values, len)?, |row, out| {
            out.append(arguments.text(0, row).as_bytes());
            out.append(arguments.text(1, row).as_bytes());
        })
    })
}

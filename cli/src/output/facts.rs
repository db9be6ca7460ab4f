//! Facts about a dataset or a file, with names and values: what `info`, `versions`, `tables`, `index list` and
//! `inspect` print.

use super::{
    Format, Output, csv_field, quoted,
    value::{self, float},
};
use crate::error::Result;
use lancet::Column;

/// A value of any shape, told under a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fact {
    Null,
    Flag(bool),
    Number(u64),
    Signed(i64),
    Float(f64),
    /// A value of a column, as JSON.
    Json(String),
    Text(String),
    List(Vec<Fact>),
    Record(Record),
}

/// Names and values in order.
pub(crate) type Record = Vec<(&'static str, Fact)>;

impl Fact {
    /// The value of row `row` of a column.
    pub(crate) fn of_value(column: &Column, row: usize) -> Result<Self> {
        let mut json = String::new();
        value::json(&mut json, column, row)?;
        Ok(Fact::Json(json))
    }
}

impl From<u64> for Fact {
    fn from(number: u64) -> Self {
        Fact::Number(number)
    }
}

impl From<u32> for Fact {
    fn from(number: u32) -> Self {
        Fact::Number(number.into())
    }
}

impl From<i32> for Fact {
    fn from(number: i32) -> Self {
        Fact::Signed(number.into())
    }
}

impl From<usize> for Fact {
    fn from(number: usize) -> Self {
        Fact::Number(number as u64)
    }
}

impl From<f64> for Fact {
    fn from(number: f64) -> Self {
        Fact::Float(number)
    }
}

impl From<bool> for Fact {
    fn from(flag: bool) -> Self {
        Fact::Flag(flag)
    }
}

impl From<&str> for Fact {
    fn from(text: &str) -> Self {
        Fact::Text(text.to_owned())
    }
}

impl From<String> for Fact {
    fn from(text: String) -> Self {
        Fact::Text(text)
    }
}

impl<T: Into<Fact>> From<Option<T>> for Fact {
    fn from(fact: Option<T>) -> Self {
        fact.map_or(Fact::Null, Into::into)
    }
}

impl<T: Into<Fact>> From<Vec<T>> for Fact {
    fn from(facts: Vec<T>) -> Self {
        Fact::List(facts.into_iter().map(Into::into).collect())
    }
}

impl From<Record> for Fact {
    fn from(record: Record) -> Self {
        Fact::Record(record)
    }
}

/// Writes one record: an object, or one fact a line.
pub(crate) fn one(format: Format, record: &Record) -> Result<()> {
    let mut text = String::new();
    match format {
        Format::Json | Format::Jsonl => {
            object(&mut text, record);
            text.push('\n');
        }
        Format::Csv => {
            text.push_str("name,value\n");
            for (name, fact) in record {
                text.push_str(name);
                text.push(',');
                cell(&mut text, fact);
                text.push('\n');
            }
        }
        Format::Table => lines(&mut text, record, ""),
    }
    let mut output = Output::new();
    output.text(&text)?;
    output.finish()
}

/// Writes many records with the same names: one object or line each.
pub(crate) fn many(format: Format, names: &[&'static str], records: &[Record]) -> Result<()> {
    let mut text = String::new();
    match format {
        Format::Jsonl => {
            for record in records {
                object(&mut text, record);
                text.push('\n');
            }
        }
        Format::Json => {
            text.push('[');
            for (index, record) in records.iter().enumerate() {
                text.push_str(if index == 0 { "\n" } else { ",\n" });
                object(&mut text, record);
            }
            text.push_str(if records.is_empty() { "]\n" } else { "\n]\n" });
        }
        Format::Csv => {
            text.push_str(&names.join(","));
            text.push('\n');
            for record in records {
                for (index, (_, fact)) in record.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    cell(&mut text, fact);
                }
                text.push('\n');
            }
        }
        Format::Table => match records.is_empty() {
            true => text.push_str(&format!("{}\n", names.join("  "))),
            false => aligned(&mut text, &records.iter().collect::<Vec<_>>(), ""),
        },
    }
    let mut output = Output::new();
    output.text(&text)?;
    output.finish()
}

/// One fact a line; records, and lists of them, below their names.
fn lines(text: &mut String, record: &Record, indent: &str) {
    let width = record.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, fact) in record {
        let inner = format!("{indent}  ");
        match (fact, records_of(fact)) {
            (Fact::Record(record), _) => {
                text.push_str(&format!("{indent}{name}\n"));
                lines(text, record, &inner);
            }
            (_, Some(records)) => {
                text.push_str(&format!("{indent}{name}\n"));
                aligned(text, &records, &inner);
            }
            _ => {
                let line = format!("{indent}{name:width$}  {}", plain(fact));
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
    }
}

/// The records of a list that has nothing else.
fn records_of(fact: &Fact) -> Option<Vec<&Record>> {
    let Fact::List(facts) = fact else { return None };
    let records = facts.iter().map(|fact| match fact {
        Fact::Record(record) => Some(record),
        _ => None,
    });
    records.collect::<Option<Vec<_>>>().filter(|records| !records.is_empty())
}

/// Records with the same names as a table with a header.
fn aligned(text: &mut String, records: &[&Record], indent: &str) {
    let names = records[0].iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>();
    let rows = records.iter().map(|record| record.iter().map(|(_, fact)| plain(fact)).collect::<Vec<_>>());
    let rows: Vec<Vec<String>> = std::iter::once(names).chain(rows).collect();
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(widest).collect();
    for row in &rows {
        let mut line = String::from(indent);
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// A fact for people: text without quotes, lists with commas.
fn plain(fact: &Fact) -> String {
    match fact {
        Fact::Null => "-".into(),
        Fact::Text(text) => text.replace(|character: char| character.is_control(), "\u{fffd}"),
        Fact::List(facts) => facts.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => {
            let mut text = String::new();
            json(&mut text, other);
            text
        }
    }
}

fn cell(out: &mut String, fact: &Fact) {
    let mut text = String::new();
    match fact {
        Fact::Null => return,
        Fact::Text(own) => text.push_str(own),
        other => json(&mut text, other),
    }
    csv_field(out, &text);
}

/// One record as a line of JSON.
pub(crate) fn line(record: &Record) -> String {
    let mut out = String::new();
    object(&mut out, record);
    out
}

fn object(out: &mut String, record: &Record) {
    out.push('{');
    for (index, (name, fact)) in record.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        quoted(out, name);
        out.push(':');
        json(out, fact);
    }
    out.push('}');
}

fn json(out: &mut String, fact: &Fact) {
    match fact {
        Fact::Null => out.push_str("null"),
        Fact::Flag(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Fact::Number(number) => out.push_str(&number.to_string()),
        Fact::Signed(number) => out.push_str(&number.to_string()),
        Fact::Float(number) => float(out, *number),
        Fact::Json(value) => out.push_str(value),
        Fact::Text(text) => quoted(out, text),
        Fact::Record(record) => object(out, record),
        Fact::List(facts) => {
            out.push('[');
            for (index, fact) in facts.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                json(out, fact);
            }
            out.push(']');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_as_json() {
        let record: Record = vec![
            ("a", 3u64.into()),
            ("b", Fact::Null),
            ("c", vec!["x", "y\""].into()),
            ("d", vec![("e", true.into())].into()),
        ];
        let mut text = String::new();
        object(&mut text, &record);
        assert_eq!(text, r#"{"a":3,"b":null,"c":["x","y\""],"d":{"e":true}}"#);
    }

    #[test]
    fn tables_are_aligned() {
        let records: [Record; 2] = [
            vec![("n", 1u64.into()), ("name", "long name".into())],
            vec![("n", 100u64.into()), ("name", Fact::Null)],
        ];
        let mut text = String::new();
        aligned(&mut text, &records.iter().collect::<Vec<_>>(), "  ");
        assert_eq!(text, "  n    name\n  1    long name\n  100  -\n");
    }

    #[test]
    fn records_stand_below_their_names() {
        let inner: Record = vec![("id", 7u64.into()), ("parts", Fact::List(Vec::new()))];
        let record: Record =
            vec![("name", "n".into()), ("list", vec![inner.clone()].into()), ("one", inner.into())];
        let mut text = String::new();
        lines(&mut text, &record, "");
        assert_eq!(text, "name  n\nlist\n  id  parts\n  7\none\n  id     7\n  parts\n");
    }
}

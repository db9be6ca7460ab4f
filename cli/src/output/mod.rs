//! Answers on standard output, row by row: nothing here holds more than a few rows' text.

mod csv;
mod decimal;
pub(crate) mod facts;
mod json;
mod jsonb;
mod jsonl;
mod table;
mod text;
mod time;
mod value;

pub(crate) use csv::field as csv_field;
pub(crate) use text::quoted;

use crate::error::Result;
use clap::ValueEnum;
use lancet::{Batch, Column, TimeUnit};
use std::io::{self, IsTerminal, StdoutLock, Write};
use std::sync::Arc;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, long values cut
    Table,
    /// One array of objects
    Json,
    /// One object a line
    Jsonl,
    /// Comma-separated, with a header line
    Csv,
}

impl Format {
    /// A table for people, JSON lines for programs.
    pub(crate) fn for_stdout() -> Self {
        if io::stdout().is_terminal() { Format::Table } else { Format::Jsonl }
    }
}

/// Text on its way to standard output, handed over in large pieces.
pub(crate) struct Output {
    text: String,
    stdout: StdoutLock<'static>,
}

impl Output {
    /// Text gathered before it is written.
    const PIECE: usize = 64 << 10;

    pub(crate) fn new() -> Self {
        Output { text: String::new(), stdout: io::stdout().lock() }
    }

    /// Writes `text`.
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        self.text.push_str(text);
        self.relieve()
    }

    /// Hands the text over if there is much of it.
    fn relieve(&mut self) -> Result<()> {
        if self.text.len() >= Self::PIECE {
            self.stdout.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    /// Hands everything over.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.stdout.write_all(self.text.as_bytes())?;
        Ok(self.stdout.flush()?)
    }
}

/// A point in time in UTC, in seconds and nanoseconds since 1970, as RFC 3339 text with microseconds.
pub(crate) fn rfc3339(seconds: i64, nanos: i32) -> String {
    let mut text = String::new();
    let micros = seconds.saturating_mul(1_000_000).saturating_add(i64::from(nanos) / 1000);
    time::timestamp(&mut text, micros, TimeUnit::Microsecond, true);
    text
}

/// How rows are written in one of the formats, appended to a text.
trait Form {
    /// Writes row `row` of `columns`.
    fn row(&mut self, out: &mut String, columns: &[Column], row: usize) -> Result<()>;

    /// Writes what follows the last row.
    fn end(&mut self, out: &mut String);
}

/// Writes batches of rows to standard output.
pub(crate) struct Renderer {
    form: Box<dyn Form>,
    output: Output,
}

impl Renderer {
    /// A renderer of rows with these columns.
    pub(crate) fn new(format: Format, names: &[Arc<str>]) -> Self {
        let form: Box<dyn Form> = match format {
            Format::Table => Box::new(table::Table::new(names)),
            Format::Json => Box::new(json::Json::new(names)),
            Format::Jsonl => Box::new(jsonl::JsonLines::new(names)),
            Format::Csv => Box::new(csv::Csv::new(names)),
        };
        Renderer { form, output: Output::new() }
    }

    /// Writes all rows of `batch`.
    pub(crate) fn batch(&mut self, batch: &Batch) -> Result<()> {
        for row in 0..batch.len() {
            self.form.row(&mut self.output.text, batch.columns(), row)?;
            self.output.relieve()?;
        }
        Ok(())
    }

    /// Ends the answer.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.form.end(&mut self.output.text);
        self.output.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lancet::DataType;

    /// Three rows of a number and a null.
    fn rendered(mut form: impl Form, rows: usize) -> String {
        let columns = [Column::from_u64(&[5, 12345, u64::MAX]), Column::nulls(&DataType::Utf8, 3)];
        let mut out = String::new();
        for row in 0..rows {
            form.row(&mut out, &columns, row).unwrap();
        }
        form.end(&mut out);
        out
    }

    fn names() -> [Arc<str>; 2] {
        ["n".into(), "a \"b\",".into()]
    }

    #[test]
    fn json_lines() {
        assert_eq!(rendered(jsonl::JsonLines::new(&names()), 0), "");
        assert_eq!(
            rendered(jsonl::JsonLines::new(&names()), 2),
            "{\"n\":5,\"a \\\"b\\\",\":null}\n{\"n\":12345,\"a \\\"b\\\",\":null}\n"
        );
    }

    #[test]
    fn json_array() {
        assert_eq!(rendered(json::Json::new(&names()), 0), "[]\n");
        assert_eq!(
            rendered(json::Json::new(&names()[..1]), 3),
            "[\n{\"n\":5},\n{\"n\":12345},\n{\"n\":18446744073709551615}\n]\n"
        );
    }

    #[test]
    fn csv() {
        assert_eq!(rendered(csv::Csv::new(&names()), 0), "n,\"a \"\"b\"\",\"\n");
        assert_eq!(rendered(csv::Csv::new(&names()), 2), "n,\"a \"\"b\"\",\"\n5,\n12345,\n");
    }

    #[test]
    fn table() {
        assert_eq!(rendered(table::Table::new(&names()), 0), "n  a \"b\",\n");
        assert_eq!(rendered(table::Table::new(&names()), 2), "    n  a \"b\",\n    5  null\n12345  null\n");
    }
}

//! Comma-separated values: a header line, NULL as nothing, nested values as JSON.

use super::{Form, value};
use crate::error::Result;
use lancet::Column;
use std::sync::Arc;

pub(super) struct Csv {
    /// The header line until it is written.
    header: Option<String>,
    /// One value, before it is known whether it needs quotes.
    cell: String,
}

impl Csv {
    pub(super) fn new(names: &[Arc<str>]) -> Self {
        let mut header = String::new();
        for (index, name) in names.iter().enumerate() {
            if index > 0 {
                header.push(',');
            }
            field(&mut header, name);
        }
        header.push('\n');
        Csv { header: Some(header), cell: String::new() }
    }
}

impl Form for Csv {
    fn row(&mut self, out: &mut String, columns: &[Column], row: usize) -> Result<()> {
        out.extend(self.header.take());
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            if !column.is_null(row) {
                self.cell.clear();
                value::text(&mut self.cell, column, row)?;
                field(out, &self.cell);
            }
        }
        out.push('\n');
        Ok(())
    }

    fn end(&mut self, out: &mut String) {
        out.extend(self.header.take());
    }
}

/// Writes a field, quoted where it must be; empty text is quoted, to differ from NULL.
pub(crate) fn field(out: &mut String, text: &str) {
    if !text.is_empty() && !text.contains([',', '"', '\n', '\r']) {
        out.push_str(text);
        return;
    }
    out.push('"');
    for (index, part) in text.split('"').enumerate() {
        if index > 0 {
            out.push_str("\"\"");
        }
        out.push_str(part);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        for (text, expected) in
            [("a b", "a b"), ("", "\"\""), ("a,b", "\"a,b\""), ("\"", "\"\"\"\""), ("a\nb", "\"a\nb\"")]
        {
            let mut out = String::new();
            field(&mut out, text);
            assert_eq!(out, expected);
        }
    }
}

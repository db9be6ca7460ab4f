//! One JSON object a line.

use super::{Form, quoted, value};
use crate::error::Result;
use lancet::Column;
use std::sync::Arc;

/// Rows as JSON objects; also the elements of [`Json`](super::json::Json).
pub(super) struct JsonLines {
    /// What precedes the value of each column: `{"first":`, `,"second":` and so on.
    keys: Vec<String>,
}

impl JsonLines {
    pub(super) fn new(names: &[Arc<str>]) -> Self {
        let key = |(index, name): (usize, &Arc<str>)| {
            let mut key = String::from(if index == 0 { "{" } else { "," });
            quoted(&mut key, name);
            key.push(':');
            key
        };
        JsonLines { keys: names.iter().enumerate().map(key).collect() }
    }

    /// The object of one row, without a line end.
    pub(super) fn object(&self, out: &mut String, columns: &[Column], row: usize) -> Result<()> {
        if columns.is_empty() {
            out.push('{');
        }
        for (key, column) in self.keys.iter().zip(columns) {
            out.push_str(key);
            value::json(out, column, row)?;
        }
        out.push('}');
        Ok(())
    }
}

impl Form for JsonLines {
    fn row(&mut self, out: &mut String, columns: &[Column], row: usize) -> Result<()> {
        self.object(out, columns, row)?;
        out.push('\n');
        Ok(())
    }

    fn end(&mut self, _out: &mut String) {}
}

//! One JSON array of objects, one a line.

use super::{Form, jsonl::JsonLines};
use crate::error::Result;
use lancet::Column;
use std::sync::Arc;

pub(super) struct Json {
    rows: JsonLines,
    started: bool,
}

impl Json {
    pub(super) fn new(names: &[Arc<str>]) -> Self {
        Json { rows: JsonLines::new(names), started: false }
    }
}

impl Form for Json {
    fn row(&mut self, out: &mut String, columns: &[Column], row: usize) -> Result<()> {
        out.push_str(if self.started { ",\n" } else { "[\n" });
        self.started = true;
        self.rows.object(out, columns, row)
    }

    fn end(&mut self, out: &mut String) {
        out.push_str(if self.started { "\n]\n" } else { "[]\n" });
    }
}

//! Aligned columns for people: numbers to the right, long values cut.
//!
//! Widths come from the first rows, which are held back for that; later rows are written as they come,
//! and a value wider than its column pushes its own line.

use super::{Form, value};
use crate::error::Result;
use lancet::{Column, DataType};
use std::sync::Arc;

/// Rows that decide the widths.
const SAMPLE: usize = 1000;
/// Characters of a value that are shown.
const WIDEST: usize = 60;

pub(super) struct Table {
    columns: Vec<TableColumn>,
    /// The cells of the rows held back, row after row; `None` once they are written.
    sample: Option<Vec<String>>,
    cell: String,
}

struct TableColumn {
    name: String,
    width: usize,
    to_the_right: bool,
}

impl Table {
    pub(super) fn new(names: &[Arc<str>]) -> Self {
        let column = |name: &Arc<str>| {
            let name = cut(name);
            TableColumn { width: name.chars().count(), name, to_the_right: false }
        };
        Table { columns: names.iter().map(column).collect(), sample: Some(Vec::new()), cell: String::new() }
    }

    /// Writes the header and the rows held back.
    fn release(&mut self, out: &mut String) {
        let Some(cells) = self.sample.take() else { return };
        let columns = self.columns.len().max(1);
        for (cell, index) in cells.iter().zip((0..columns).cycle()) {
            let column = &mut self.columns[index];
            column.width = column.width.max(cell.chars().count());
        }
        let names: Vec<String> = self.columns.iter().map(|column| column.name.clone()).collect();
        for row in std::iter::once(&names[..]).chain(cells.chunks(columns)) {
            line(out, &self.columns, row);
        }
    }
}

impl Form for Table {
    fn row(&mut self, out: &mut String, columns: &[Column], row: usize) -> Result<()> {
        let mut cells = Vec::with_capacity(columns.len());
        for (shown, column) in self.columns.iter_mut().zip(columns) {
            shown.to_the_right = is_number(column.data_type());
            self.cell.clear();
            value::text(&mut self.cell, column, row)?;
            cells.push(cut(&self.cell));
        }
        match &mut self.sample {
            Some(sample) => {
                sample.append(&mut cells);
                if sample.len() >= SAMPLE * columns.len() {
                    self.release(out);
                }
            }
            None => line(out, &self.columns, &cells),
        }
        Ok(())
    }

    fn end(&mut self, out: &mut String) {
        self.release(out);
    }
}

fn line(out: &mut String, columns: &[TableColumn], cells: &[String]) {
    for (index, (column, cell)) in columns.iter().zip(cells).enumerate() {
        let padding = column.width.saturating_sub(cell.chars().count());
        let last = index + 1 == columns.len();
        let (before, after) = match column.to_the_right {
            true => (padding, 0),
            false => (0, if last { 0 } else { padding }),
        };
        out.extend(std::iter::repeat_n(' ', before));
        out.push_str(cell);
        out.extend(std::iter::repeat_n(' ', after + if last { 0 } else { 2 }));
    }
    out.push('\n');
}

/// The text on one line and not too long.
fn cut(text: &str) -> String {
    let mut shown = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == WIDEST {
            shown.pop();
            shown.push('…');
            break;
        }
        shown.push(if character.is_control() { '\u{fffd}' } else { character });
    }
    shown
}

fn is_number(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => true,
        Float16 | BFloat16 | Float32 | Float64 | Decimal128(..) | Decimal256(..) | Duration(_) => true,
        Dictionary(_, values) => is_number(values),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_come_from_the_first_rows() {
        let column = Column::from_u64(&(0..SAMPLE as u64 + 2).map(|n| n * n).collect::<Vec<_>>());
        let mut table = Table::new(&["n".into()]);
        let mut out = String::new();
        for row in 0..SAMPLE - 1 {
            table.row(&mut out, std::slice::from_ref(&column), row).unwrap();
        }
        assert_eq!(out, "");
        for row in SAMPLE - 1..SAMPLE + 2 {
            table.row(&mut out, std::slice::from_ref(&column), row).unwrap();
        }
        table.end(&mut out);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), SAMPLE + 3);
        assert_eq!((lines[0], lines[2], lines[SAMPLE + 1]), ("     n", "     1", "1000000"));
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(cut("a\nb"), "a\u{fffd}b");
        assert_eq!(cut(&"é".repeat(WIDEST)), "é".repeat(WIDEST));
        assert_eq!(cut(&"é".repeat(WIDEST + 1)), "é".repeat(WIDEST - 1) + "…");
    }
}

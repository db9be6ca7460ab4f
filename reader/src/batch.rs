//! [`Batch`]: some rows of some columns.

use lancet_format::Column;
use std::sync::Arc;

/// Rows with named columns, all of the same length.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    pub(crate) names: Arc<[Arc<str>]>,
    pub(crate) columns: Vec<Column>,
    pub(crate) len: usize,
}

impl Batch {
    /// A batch without rows or columns, to be filled by [`Dataset::take_into`](crate::Dataset::take_into).
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The names of the columns, in the order that was asked for.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The columns, in the order of their names.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Adds a column of as many rows as there are.
    pub(crate) fn push(&mut self, name: &str, column: Column) {
        debug_assert_eq!(column.len(), self.len);
        self.names = self.names.iter().cloned().chain([name.into()]).collect();
        self.columns.push(column);
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        let position = self.names.iter().position(|own| **own == *name)?;
        self.columns.get(position)
    }
}

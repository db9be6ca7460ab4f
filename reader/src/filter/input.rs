//! [`Inputs`]: where a predicate finds the values of its columns.

use crate::Result;
use lancet_format::{Coded, Column};
use std::sync::Arc;

/// The values of one column for the rows of a range.
#[derive(Debug)]
pub(crate) enum Input {
    /// Shared, since an expression may need several columns at once.
    Plain(Arc<Column>),
    /// Distinct values and their numbers: what depends on this column alone is computed once for each of them.
    Coded(Arc<Coded>),
}

impl Input {
    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            Input::Plain(column) => column.len(),
            Input::Coded(coded) => coded.codes.len(),
        }
    }
}

/// The columns of a range of rows of one fragment. A column is read when it is first asked for: what no row needs
/// any more is not read at all.
pub(crate) trait Inputs {
    /// The number of rows of the range.
    fn rows(&self) -> usize;

    /// Column number `index` of those that the predicate names.
    fn column(&mut self, index: usize) -> Result<&Input>;
}

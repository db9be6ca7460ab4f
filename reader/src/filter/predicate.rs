//! [`Predicate`] and [`Computed`]: expressions ready to be evaluated, range by range.

use super::{
    Inputs, Mask, build, coded::Table, compile::Compiler, context::Context, expression::Expression,
    failure::Failures, rows::Rows, term::Term,
};
use crate::{
    Error, Result,
    expr::{ColumnRef, Typed},
};
use lancet_format::{Column, DataType};

/// What is kept between the ranges of rows that one thread evaluates: tables of distinct values. Made by default, for
/// one predicate or computed column.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(super) tables: Vec<Option<Table>>,
}

/// A condition, compiled.
#[derive(Debug)]
pub(crate) struct Predicate {
    columns: Vec<ColumnRef>,
    term: Term,
    tables: usize,
}

impl Predicate {
    /// Compiles a condition.
    ///
    /// # Errors
    /// Invalid input if a pattern in it is none.
    pub(crate) fn new(typed: &Typed) -> Result<Self> {
        let mut compiler = Compiler::default();
        let term = compiler.predicate(typed)?;
        Ok(Predicate { columns: compiler.columns, term, tables: compiler.tables })
    }

    /// The columns that [`select`](Self::select) asks for by their position here.
    pub(crate) fn columns(&self) -> &[ColumnRef] {
        &self.columns
    }

    /// Narrows `mask` to the rows for which the condition is true.
    ///
    /// # Errors
    /// Invalid input if a value of such a row, or of one that nothing else decides, cannot be computed; and those of
    /// `inputs`.
    pub(crate) fn select(
        &self,
        inputs: &mut dyn Inputs,
        mask: &mut Mask,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let mut failed = Failures::default();
        self.context(inputs, scratch, true).narrow(&self.term, true, mask, &mut failed)?;
        let Some((row, error)) = failed.first() else { return Ok(()) };
        if let Some(error) = error {
            return Err(error);
        }
        // A table of distinct values does not say why one of them failed: the row itself does.
        let mut alone = Mask::filled(mask.len(), false);
        alone.set(row, true);
        let mut failed = Failures::default();
        self.context(inputs, scratch, false).narrow(&self.term, true, &mut alone, &mut failed)?;
        Err(failed.error().unwrap_or_else(unexplained))
    }

    fn context<'a>(&self, inputs: &'a mut dyn Inputs, scratch: &'a mut Scratch, tables: bool) -> Context<'a> {
        scratch.tables.resize_with(self.tables.max(scratch.tables.len()), || None);
        Context { inputs, scratch, tables }
    }
}

/// A value of each row, compiled.
#[derive(Debug)]
pub(crate) struct Computed {
    columns: Vec<ColumnRef>,
    expression: Expression,
    tables: usize,
}

impl Computed {
    /// Compiles a value.
    ///
    /// # Errors
    /// Invalid input if a pattern in it is none.
    pub(crate) fn new(typed: &Typed) -> Result<Self> {
        let mut compiler = Compiler::default();
        let expression = compiler.value(typed)?;
        Ok(Computed { columns: compiler.columns, expression, tables: compiler.tables })
    }

    /// The columns that [`column`](Self::column) asks for by their position here.
    pub(crate) fn columns(&self) -> &[ColumnRef] {
        &self.columns
    }

    /// The type of the values: dictionaries are their values.
    pub(crate) fn data_type(&self) -> &DataType {
        &self.expression.data_type
    }

    /// The values for all rows of the range, of the expression's type with dictionaries as their values.
    ///
    /// # Errors
    /// Invalid input if a value cannot be computed; too large if texts do not fit; and those of `inputs`.
    pub(crate) fn column(&self, inputs: &mut dyn Inputs, scratch: &mut Scratch) -> Result<Column> {
        scratch.tables.resize_with(self.tables.max(scratch.tables.len()), || None);
        let rows = Rows::All(inputs.rows());
        let mut failed = Failures::default();
        let value =
            Context { inputs, scratch, tables: true }.evaluate(&self.expression, &rows, &mut failed)?;
        if failed.is_none() {
            let column = value.expand(rows.len())?;
            return build::of_type(&column, &self.expression.data_type);
        }
        let mut failed = Failures::default();
        Context { inputs, scratch, tables: false }.evaluate(&self.expression, &rows, &mut failed)?;
        Err(failed.error().unwrap_or_else(unexplained))
    }
}

fn unexplained() -> Error {
    Error::invalid_input("a value of the expression cannot be computed")
}

//! Filters at work: which rows of a range a predicate is true for.
//!
//! ```text
//! Predicate ── asks for ──▶ Inputs: the columns of the range, each read when first needed
//!     │
//!     └── narrows ──▶ Mask: the rows still in question; at the end those where the predicate is true
//! ```

mod input;
mod mask;

pub(crate) use input::{Input, Inputs};
pub(crate) use mask::Mask;

use crate::{
    DataType, Error, Result, Schema,
    expr::{Expr, Typed},
    projection::ProjectedColumn,
};

/// A filter of one dataset's rows.
#[derive(Debug)]
pub(crate) struct Filter {
    expr: Expr,
    typed: Typed,
    predicate: Predicate,
    columns: Vec<ProjectedColumn>,
}

impl Filter {
    /// # Errors
    /// Those of binding `expr` to `schema`, and if it is not a condition.
    pub(crate) fn new(expr: Expr, schema: &Schema) -> Result<Self> {
        let typed = expr.bind(schema)?;
        if !matches!(typed.data_type(), DataType::Boolean | DataType::Null) {
            return Err(Error::invalid_input(format!(
                "filter `{expr}`: expected a condition, found a value of type {}",
                typed.data_type()
            )));
        }
        let predicate = Predicate::new(&typed)?;
        let columns = predicate.columns().iter().map(ProjectedColumn::of_ref).collect();
        Ok(Filter { expr, typed, predicate, columns })
    }

    pub(crate) fn expr(&self) -> &Expr {
        &self.expr
    }

    pub(crate) fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    /// The names of the columns that the predicate reads, in its order.
    pub(crate) fn column_names(&self) -> Vec<String> {
        self.predicate.columns().iter().map(ToString::to_string).collect()
    }

    /// The columns that the predicate reads, in its order.
    pub(crate) fn columns(&self) -> &[ProjectedColumn] {
        &self.columns
    }
}

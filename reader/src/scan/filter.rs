//! [`Filter`]: the condition of a scan, bound to the columns of its dataset.

use crate::{
    Result, Schema,
    expr::{ColumnRef, Expr, Typed},
    filter::Predicate,
    plan::{self, Condition, Conjunct},
    projection::ProjectedColumn,
};

/// What [`Scan::filter`](crate::Scan::filter) takes: the text of a filter, or an [`Expr`].
pub trait IntoFilter {
    /// The expression.
    ///
    /// # Errors
    /// Those of [`Expr::parse`].
    fn into_filter(self) -> Result<Expr>;
}

impl IntoFilter for Expr {
    fn into_filter(self) -> Result<Expr> {
        Ok(self)
    }
}

impl IntoFilter for &Expr {
    fn into_filter(self) -> Result<Expr> {
        Ok(self.clone())
    }
}

impl IntoFilter for &str {
    fn into_filter(self) -> Result<Expr> {
        Expr::parse(self)
    }
}

impl IntoFilter for &String {
    fn into_filter(self) -> Result<Expr> {
        Expr::parse(self)
    }
}

impl IntoFilter for String {
    fn into_filter(self) -> Result<Expr> {
        Expr::parse(&self)
    }
}

/// A condition on the rows of one dataset.
#[derive(Debug)]
pub(crate) struct Filter {
    expr: Expr,
    whole: Ready,
    conjuncts: Vec<Conjunct>,
    conditions: Vec<Condition>,
}

/// A condition that is ready to be evaluated, with the columns that it reads.
#[derive(Debug)]
pub(crate) struct Ready {
    predicate: Predicate,
    columns: Vec<ProjectedColumn>,
}

impl Filter {
    /// # Errors
    /// Those of [`Expr::bind_filter`], and of patterns in it.
    pub(crate) fn new(expr: Expr, schema: &Schema) -> Result<Self> {
        let typed = expr.bind_filter(schema)?;
        let (conjuncts, conditions) = plan::split(&typed);
        Ok(Filter { expr, whole: Ready::new(&typed)?, conjuncts, conditions })
    }

    pub(crate) fn expr(&self) -> &Expr {
        &self.expr
    }

    /// All of it.
    pub(crate) fn whole(&self) -> &Ready {
        &self.whole
    }

    /// The terms that must all be true.
    pub(crate) fn conjuncts(&self) -> &[Conjunct] {
        &self.conjuncts
    }

    /// The conditions of their trees.
    pub(crate) fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Some of the conjuncts as one condition; `None` if there are none.
    pub(crate) fn only(&self, numbers: &[usize]) -> Option<Typed> {
        let terms: Vec<Typed> = numbers.iter().map(|&number| self.conjuncts[number].typed.clone()).collect();
        (!terms.is_empty()).then(|| Typed::joined(terms, true))
    }
}

impl Ready {
    /// # Errors
    /// Invalid input if a pattern in the condition is none.
    pub(crate) fn new(typed: &Typed) -> Result<Self> {
        let predicate = Predicate::new(typed)?;
        let columns = predicate.columns().iter().map(ProjectedColumn::of_ref).collect();
        Ok(Ready { predicate, columns })
    }

    pub(crate) fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    /// The columns that the predicate reads, in its order.
    pub(crate) fn columns(&self) -> &[ProjectedColumn] {
        &self.columns
    }

    /// Their names.
    pub(crate) fn column_names(&self) -> Vec<String> {
        let name = |column: &ColumnRef| match column {
            ColumnRef::Field(path) => path.iter().map(|field| &*field.name).collect::<Vec<_>>().join("."),
            ColumnRef::RowId => "_rowid".into(),
            ColumnRef::RowAddress => "_rowaddr".into(),
            ColumnRef::CreatedAtVersion => "_row_created_at_version".into(),
            ColumnRef::LastUpdatedAtVersion => "_row_last_updated_at_version".into(),
        };
        self.predicate.columns().iter().map(name).collect()
    }
}

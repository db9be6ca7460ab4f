//! [`Filter`]: the condition of a scan, bound to the columns of its dataset.

use crate::{
    Result, Schema,
    expr::{ColumnRef, Expr},
    filter::Predicate,
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
    predicate: Predicate,
    columns: Vec<ProjectedColumn>,
}

impl Filter {
    /// # Errors
    /// Those of [`Expr::bind_filter`], and of patterns in it.
    pub(crate) fn new(expr: Expr, schema: &Schema) -> Result<Self> {
        let predicate = Predicate::new(&expr.bind_filter(schema)?)?;
        let columns = predicate.columns().iter().map(ProjectedColumn::of_ref).collect();
        Ok(Filter { expr, predicate, columns })
    }

    pub(crate) fn expr(&self) -> &Expr {
        &self.expr
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

//! [`Filter`]: the condition of a scan, bound to the columns of its dataset.

use crate::{
    DataType, Result, Schema,
    expr::{ColumnRef, Expr, Function, Node, Scalar, Typed},
    filter::Predicate,
    plan::{self, Condition, Conjunct},
    projection::ProjectedColumn,
};
use std::sync::{Arc, OnceLock};

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
    typed: Typed,
    /// All of it, once it was needed, unless it has parameters.
    whole: OnceLock<Arc<Ready>>,
    /// The types of its parameters.
    parameters: Vec<Option<DataType>>,
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
        let parameters = typed.parameters()?;
        // A pattern that is none is reported at once; where there is no pattern, nothing can be wrong.
        let whole = match parameters.is_empty() && has_pattern(&typed) {
            true => Arc::new(Ready::new(&typed)?).into(),
            false => OnceLock::new(),
        };
        Ok(Filter { expr, typed, whole, parameters, conjuncts, conditions })
    }

    pub(crate) fn expr(&self) -> &Expr {
        &self.expr
    }

    /// All of it, with these values for its parameters.
    ///
    /// # Errors
    /// Invalid input if a pattern in it is none.
    pub(crate) fn whole(&self, parameters: &[Scalar]) -> Result<Arc<Ready>> {
        if !self.parameters.is_empty() {
            return Ready::new(&self.typed.bound(parameters)).map(Arc::new);
        }
        match self.whole.get() {
            Some(whole) => Ok(whole.clone()),
            None => {
                let ready = Arc::new(Ready::new(&self.typed)?);
                Ok(self.whole.get_or_init(|| ready).clone())
            }
        }
    }

    /// The condition, with these values for its parameters.
    pub(crate) fn bound(&self, parameters: &[Scalar]) -> Typed {
        self.typed.bound(parameters)
    }

    /// The types of its parameters, by their numbers.
    pub(crate) fn parameters(&self) -> &[Option<DataType>] {
        &self.parameters
    }

    /// The names of the columns that it reads.
    pub(crate) fn column_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        self.typed.columns(&mut |column| {
            let name = name_of(column);
            if !names.contains(&name) {
                names.push(name);
            }
        });
        names
    }

    /// The terms that must all be true.
    pub(crate) fn conjuncts(&self) -> &[Conjunct] {
        &self.conjuncts
    }

    /// The conditions of their trees.
    pub(crate) fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Some of the conjuncts as one condition, with these values for its parameters; `None` if there are none.
    pub(crate) fn only(&self, numbers: &[usize], parameters: &[Scalar]) -> Option<Typed> {
        let term = |&number: &usize| match parameters.is_empty() {
            true => self.conjuncts[number].typed.clone(),
            false => self.conjuncts[number].typed.bound(parameters),
        };
        let terms: Vec<Typed> = numbers.iter().map(term).collect();
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
}

/// Whether something in the condition is matched with a pattern.
fn has_pattern(typed: &Typed) -> bool {
    match typed.node() {
        Node::Like { .. } | Node::Call { function: Function::RegexpLike, .. } => true,
        _ => typed.children().into_iter().any(has_pattern),
    }
}

fn name_of(column: &ColumnRef) -> String {
    match column {
        ColumnRef::Field(path) => path.iter().map(|field| &*field.name).collect::<Vec<_>>().join("."),
        ColumnRef::RowId => "_rowid".into(),
        ColumnRef::RowAddress => "_rowaddr".into(),
        ColumnRef::CreatedAtVersion => "_row_created_at_version".into(),
        ColumnRef::LastUpdatedAtVersion => "_row_last_updated_at_version".into(),
    }
}

//! [`Projection`]: which columns are read, in which order, under which names.

use crate::{
    Error, Result,
    expr::{ColumnRef, Item, Typed},
    files::FilePool,
    filter::{Computed, Scratch},
    fragment::Fragment,
    scan::RangeInputs,
};
use lancet_format::{Column, DataType, Field, Schema};
use std::{ops::Range, sync::Arc};

/// Columns resolved against one dataset's schema. Make it once, use it for many reads.
///
/// Besides the schema's own columns there are `_rowid`, `_rowaddr`, `_row_created_at_version` and
/// `_row_last_updated_at_version`.
#[derive(Debug, Clone)]
pub struct Projection {
    pub(crate) columns: Vec<ProjectedColumn>,
    names: Arc<[Arc<str>]>,
}

#[derive(Debug, Clone)]
pub(crate) enum ProjectedColumn {
    /// A column of the schema: the top-level field with only the children that are wanted, and the way from
    /// there to the column itself.
    Field {
        root: Arc<Field>,
        path: Vec<usize>,
    },
    RowId,
    RowAddress,
    CreatedAt,
    LastUpdatedAt,
    /// An expression over other columns.
    Computed(Arc<ComputedColumn>),
}

/// An expression and the columns that it reads, in the order in which it names them.
#[derive(Debug)]
pub(crate) struct ComputedColumn {
    computed: Computed,
    inputs: Vec<ProjectedColumn>,
}

impl ComputedColumn {
    /// # Errors
    /// Invalid input if the expression has parameters, which nothing could give a value; or a pattern in it is none.
    fn new(typed: &Typed) -> Result<Self> {
        if !typed.parameters()?.is_empty() {
            return Err(Error::invalid_input(
                "a column that is computed has no parameters: `?` is for filters",
            ));
        }
        let computed = Computed::new(typed)?;
        let inputs = computed.columns().iter().map(ProjectedColumn::of_ref).collect();
        Ok(ComputedColumn { computed, inputs })
    }

    /// The values of the physical rows of `ranges`.
    pub(crate) fn evaluate(
        &self,
        fragment: &Fragment,
        pool: &FilePool,
        ranges: &[Range<u64>],
    ) -> Result<Column> {
        let mut old = Vec::new();
        let mut inputs = RangeInputs::new(fragment, pool, &self.inputs, ranges, &mut old);
        self.computed.column(&mut inputs, &mut Scratch::default())
    }
}

/// The names of the columns that every dataset has besides its schema.
const SYSTEM_COLUMNS: [(&str, ProjectedColumn); 4] = [
    ("_rowid", ProjectedColumn::RowId),
    ("_rowaddr", ProjectedColumn::RowAddress),
    ("_row_created_at_version", ProjectedColumn::CreatedAt),
    ("_row_last_updated_at_version", ProjectedColumn::LastUpdatedAt),
];

impl Projection {
    /// All columns of `schema`, in its order.
    pub(crate) fn full(schema: &Schema) -> Self {
        let whole = |root: &Arc<Field>| ProjectedColumn::Field { root: root.clone(), path: Vec::new() };
        Projection {
            columns: schema.fields.iter().map(whole).collect(),
            names: schema.fields.iter().map(|field| field.name.clone()).collect(),
        }
    }

    /// The named columns; see [`Dataset::projection`](crate::Dataset::projection).
    pub(crate) fn of<S: AsRef<str>>(schema: &Schema, names: impl IntoIterator<Item = S>) -> Result<Self> {
        let mut projection = Projection { columns: Vec::new(), names: Arc::new([]) };
        for name in names {
            let name = name.as_ref();
            let system = SYSTEM_COLUMNS.iter().find(|(system, _)| *system == name);
            // Exact names come first: a column `_RowId` is another one than `_rowid`.
            let exact = schema.fields.iter().any(|field| *field.name == *name);
            let column = match system {
                Some((_, column)) if !exact => column.clone(),
                _ => resolve(schema, name)?,
            };
            projection.push(name, column)?;
        }
        Ok(projection)
    }

    /// The columns of `items`, each the name of a column or an expression; see [`Scan::columns`](crate::Scan::columns).
    pub(crate) fn of_items<S: AsRef<str>>(
        schema: &Schema,
        items: impl IntoIterator<Item = S>,
    ) -> Result<Self> {
        let mut projection = Projection { columns: Vec::new(), names: Arc::new([]) };
        for item in items {
            let item = item.as_ref();
            match Self::of(schema, [item]) {
                Ok(one) => projection.push(item, one.columns[0].clone())?,
                // What is no name is an expression; of a mere name the first error says more.
                Err(error) => {
                    let Item { expr, name } = match Item::parse(item) {
                        Ok(parsed) if !parsed.is_column() => parsed,
                        Ok(parsed) if *parsed.name != *item => parsed,
                        Ok(_) => return Err(error),
                        Err(unparsed) => return Err(unparsed),
                    };
                    let computed = ComputedColumn::new(&expr.bind(schema)?)?;
                    projection.push(&name, ProjectedColumn::Computed(Arc::new(computed)))?;
                }
            }
        }
        Ok(projection)
    }

    /// One column, the values of an expression.
    pub(crate) fn of_typed(typed: &Typed) -> Result<Self> {
        let computed = ProjectedColumn::Computed(Arc::new(ComputedColumn::new(typed)?));
        let mut projection = Projection { columns: Vec::new(), names: Arc::new([]) };
        projection.push("computed", computed)?;
        Ok(projection)
    }

    /// Adds the column `_rowid`, unless it is there.
    #[must_use]
    pub fn with_row_id(self) -> Self {
        self.with(0)
    }

    /// Adds the column `_rowaddr`, unless it is there.
    #[must_use]
    pub fn with_row_address(self) -> Self {
        self.with(1)
    }

    /// Reads blobs as descriptions, structs that say where their bytes lie, instead of the bytes: `position` and
    /// `size`, and in the second version of blobs also `kind`, `blob_id` and `blob_uri`, as Lance names them.
    #[must_use]
    pub fn with_blob_descriptions(mut self) -> Self {
        for column in &mut self.columns {
            if let ProjectedColumn::Field { root, .. } = column {
                *root = Arc::new(root.with_blob_descriptions());
            }
        }
        self
    }

    fn with(mut self, system: usize) -> Self {
        let (name, column) = SYSTEM_COLUMNS[system].clone();
        // A column that is there already is no error here, it just stays where it is.
        let _ = self.push(name, column);
        self
    }

    fn push(&mut self, name: &str, column: ProjectedColumn) -> Result<()> {
        if self.names.iter().any(|present| **present == *name) {
            return Err(Error::invalid_input(format!("column `{name}` is asked for twice")));
        }
        self.columns.push(column);
        self.names = self.names.iter().cloned().chain([name.into()]).collect();
        Ok(())
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    /// The names, shared.
    pub(crate) fn shared_names(&self) -> Arc<[Arc<str>]> {
        self.names.clone()
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// The column at a dotted path: its root field cut down to what the path needs.
fn resolve(schema: &Schema, name: &str) -> Result<ProjectedColumn> {
    let fields = schema.resolve(name)?;
    for parent in &fields[..fields.len() - 1] {
        if !matches!(parent.data_type, DataType::Struct(_)) {
            return Err(Error::invalid_input(format!(
                "column `{name}`: `{}` is of type {}, expected a struct",
                parent.name, parent.data_type
            )));
        }
    }
    Ok(of_path(&fields))
}

/// The column at the end of a path through structs.
fn of_path(fields: &[Arc<Field>]) -> ProjectedColumn {
    let mut path = Vec::new();
    let mut kept = fields[fields.len() - 1].clone();
    for (parent, child) in fields.iter().zip(&fields[1..]).rev() {
        let children = parent.data_type.children();
        // A packed struct is one column in the file: it is read whole.
        if parent.is_packed() {
            let position = children.iter().position(|field| Arc::ptr_eq(field, child)).unwrap_or_default();
            path.insert(0, position);
            kept = parent.clone();
        } else {
            path.insert(0, 0);
            kept = Arc::new(parent.with_type(DataType::Struct([kept].into())));
        }
    }
    ProjectedColumn::Field { root: kept, path }
}

impl ProjectedColumn {
    /// The type of the column's values.
    pub(crate) fn data_type(&self) -> DataType {
        match self {
            ProjectedColumn::Field { root, path } => {
                let mut data_type = &root.data_type;
                for &child in path {
                    data_type = &data_type.children()[child].data_type;
                }
                data_type.clone()
            }
            ProjectedColumn::Computed(computed) => computed.computed.data_type().clone(),
            _ => DataType::UInt64,
        }
    }

    /// The column that an expression names.
    pub(crate) fn of_ref(column: &ColumnRef) -> Self {
        match column {
            ColumnRef::Field(path) => of_path(path),
            ColumnRef::RowId => ProjectedColumn::RowId,
            ColumnRef::RowAddress => ProjectedColumn::RowAddress,
            ColumnRef::CreatedAtVersion => ProjectedColumn::CreatedAt,
            ColumnRef::LastUpdatedAtVersion => ProjectedColumn::LastUpdatedAt,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_names_come_first() {
        let field = |name: &str, id| Arc::new(Field::new(name, id, DataType::Int32, true));
        let mut schema = Schema::default();
        schema.fields = vec![field("_RowId", 0), field("a", 1)];
        let projection = Projection::of(&schema, ["_rowid", "_RowId", "A"]).unwrap();
        assert!(matches!(projection.columns[0], ProjectedColumn::RowId));
        assert!(matches!(&projection.columns[1], ProjectedColumn::Field { root, .. } if root.id == 0));
        assert!(matches!(&projection.columns[2], ProjectedColumn::Field { root, .. } if root.id == 1));
        schema.fields.push(field("_rowid", 2));
        let projection = Projection::of(&schema, ["_rowid"]).unwrap();
        assert!(matches!(&projection.columns[0], ProjectedColumn::Field { root, .. } if root.id == 2));
    }
}

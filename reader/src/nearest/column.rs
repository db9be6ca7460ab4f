//! [`VectorColumn`]: a column whose values are vectors.

use super::Metric;
use crate::{Dataset, Error, Projection, Result};
use lancet_format::{DataType, Field};
use std::sync::Arc;

/// A column of vectors, or of lists of vectors.
#[derive(Debug, Clone)]
pub(super) struct VectorColumn {
    name: Arc<str>,
    field: Arc<Field>,
    projection: Projection,
    item: DataType,
    dimension: usize,
    is_list: bool,
}

impl VectorColumn {
    /// The column at the dotted path `name`.
    ///
    /// # Errors
    /// Invalid input if there is none, or its values are no vectors.
    pub(super) fn find(dataset: &Dataset, name: &str) -> Result<Self> {
        let projection = dataset.projection([name])?;
        let path = dataset.schema().resolve(name)?;
        let field =
            path.last().cloned().ok_or_else(|| Error::invalid_input("expected the name of a column"))?;
        let (vector, is_list) = match &field.data_type {
            DataType::List(item) | DataType::LargeList(item) => (&item.data_type, true),
            other => (other, false),
        };
        let parts = match vector {
            DataType::FixedSizeList(item, dimension) => usize::try_from(*dimension).ok().zip(Some(item)),
            _ => None,
        };
        let Some((dimension, item)) = parts else {
            return Err(Error::invalid_input(format!(
                "column `{name}`: expected vectors (fixed-size lists of numbers), found type {}",
                field.data_type
            )));
        };
        Ok(VectorColumn {
            name: name.into(),
            projection,
            item: item.data_type.clone(),
            dimension,
            is_list,
            field: field.clone(),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The field's id.
    pub(super) fn id(&self) -> i32 {
        self.field.id
    }

    /// A projection of this column alone.
    pub(super) fn projection(&self) -> &Projection {
        &self.projection
    }

    /// The type of a vector's numbers.
    pub(super) fn item(&self) -> &DataType {
        &self.item
    }

    /// The numbers of a vector.
    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Whether each value is a list of vectors.
    pub(super) fn is_list(&self) -> bool {
        self.is_list
    }

    /// How vectors are compared where nothing says how.
    pub(super) fn default_metric(&self) -> Metric {
        match (self.is_list, &self.item) {
            (true, _) => Metric::Cosine,
            (false, DataType::UInt8) => Metric::Hamming,
            _ => Metric::L2,
        }
    }
}

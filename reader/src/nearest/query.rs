//! [`Query`]: the vectors that are searched for, in the type of their column.

use super::{Metric, column::VectorColumn};
use crate::{Error, Result};
use half::f16;
use lancet_index::vector::Vector;

/// What [`Scan::nearest`](crate::Scan::nearest) takes: a slice or vector of numbers, of any of these types.
pub trait IntoVector {
    /// The numbers; none of them changes by becoming `f64`.
    fn into_vector(self) -> Vec<f64>;
}

macro_rules! vectors {
    ($($type:ty)*) => {$(
        impl IntoVector for &[$type] {
            fn into_vector(self) -> Vec<f64> {
                self.iter().map(|&number| f64::from(number)).collect()
            }
        }

        impl IntoVector for &Vec<$type> {
            fn into_vector(self) -> Vec<f64> {
                self.as_slice().into_vector()
            }
        }

        impl IntoVector for Vec<$type> {
            fn into_vector(self) -> Vec<f64> {
                self.as_slice().into_vector()
            }
        }

        impl<const N: usize> IntoVector for &[$type; N] {
            fn into_vector(self) -> Vec<f64> {
                self.as_slice().into_vector()
            }
        }
    )*};
}

vectors!(f16 f32 f64 i8 u8);

/// One vector, or for a column of lists of vectors several.
#[derive(Debug, Clone)]
pub(super) struct Query {
    vectors: Vec<Vector>,
}

impl Query {
    /// # Errors
    /// Invalid input if a vector does not fit the column.
    pub(super) fn new(vectors: &[Vec<f64>], column: &VectorColumn) -> Result<Self> {
        for vector in vectors {
            check_length(vector.len(), column)?;
        }
        if vectors.is_empty() {
            return Err(Error::invalid_input("expected at least one query vector"));
        }
        let vectors = vectors.iter().map(|vector| Vector::new(vector, column.item()));
        Ok(Query { vectors: vectors.collect::<lancet_format::Result<_>>()? })
    }

    pub(super) fn vectors(&self) -> &[Vector] {
        &self.vectors
    }

    /// Checks that the vectors can be compared by `metric`.
    pub(super) fn check(&self, metric: Metric) -> Result<()> {
        self.vectors.iter().try_for_each(|vector| check(vector, metric))
    }
}

/// Checks that a query of `length` numbers fits the column.
pub(super) fn check_length(length: usize, column: &VectorColumn) -> Result<()> {
    match length == column.dimension() {
        true => Ok(()),
        false => Err(Error::invalid_input(format!(
            "query vector: expected {} numbers, as column `{}` has, found {length}",
            column.dimension(),
            column.name(),
        ))),
    }
}

/// Checks that a vector can be compared by `metric`.
pub(super) fn check(vector: &Vector, metric: Metric) -> Result<()> {
    if !vector.fits(metric) {
        return Err(Error::invalid_input("the metric hamming compares vectors of bytes (uint8)"));
    }
    if metric == Metric::Cosine && vector.is_zero() {
        return Err(Error::invalid_input(
            "query vector: a vector of zeros has no direction, which the metric cosine compares",
        ));
    }
    Ok(())
}

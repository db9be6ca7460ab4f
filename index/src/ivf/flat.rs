//! Vectors that are stored as they are, centroids among them.

use crate::{Error, Result, vector::Vector, with_numbers};
use alloc::format;
use bytemuck::Pod;
use lancet_format::{Buffer, DataType, index::Tensor};
use lancet_kernels::distance::{DistanceTable, Element, Metric};

/// The distances of `query` to all rows of a tensor of its type.
pub(super) fn distances(query: &Vector, metric: Metric, rows: &Tensor, out: &mut [f32]) {
    fn typed<T: Element + Pod>(query: &[T], metric: Metric, rows: &Tensor, out: &mut [f32]) {
        let values = rows.values::<T>().unwrap_or_default();
        DistanceTable::<T>::current().distances(metric, query, values, rows.columns(), out);
    }
    with_numbers!(query, values => typed(values, metric, rows, out));
}

/// The distances of `query` to rows `start..start + out.len()` of those that lie end to end in `vectors`.
pub(super) fn block(
    query: &Vector,
    metric: Metric,
    vectors: &Buffer,
    start: usize,
    out: &mut [f32],
) -> Result<()> {
    fn typed<T: Element + Pod>(
        query: &[T],
        metric: Metric,
        vectors: &Buffer,
        start: usize,
        out: &mut [f32],
    ) -> Option<()> {
        let rows = vectors.typed::<T>().get(start * query.len()..(start + out.len()) * query.len())?;
        DistanceTable::<T>::current().distances(metric, query, rows, query.len(), out);
        Some(())
    }
    let done = with_numbers!(query, values => typed(values, metric, vectors, start, out));
    done.ok_or_else(|| Error::corrupt("expected vectors of the query's type"))
}

/// Checks that a query is of the type of an index.
pub(super) fn check_type(query: &Vector, item: &DataType) -> Result<()> {
    let fits = matches!(
        (query, item),
        (Vector::Float16(_), DataType::Float16)
            | (Vector::Float32(_), DataType::Float32)
            | (Vector::Float64(_), DataType::Float64)
            | (Vector::UInt8(_), DataType::UInt8)
    );
    match fits {
        true => Ok(()),
        false => Err(Error::invalid_input(format!("query vector: expected numbers of type {item}"))),
    }
}

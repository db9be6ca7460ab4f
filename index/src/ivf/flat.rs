//! Vectors that are stored as they are, centroids among them.

use super::{
    Partition,
    block::{Block, BlockScratch, Wanted},
};
use crate::{Error, Result, vector::Vector, with_numbers};
use alloc::format;
use bytemuck::Pod;
use lancet_format::{DataType, index::Tensor};
use lancet_kernels::distance::{DistanceTable, Element, Metric};

/// The distances of `query` to all rows of a tensor of its type.
pub(super) fn distances(query: &Vector, metric: Metric, rows: &Tensor, out: &mut [f32]) {
    fn typed<T: Element + Pod>(query: &[T], metric: Metric, rows: &Tensor, out: &mut [f32]) {
        let values = rows.values::<T>().unwrap_or_default();
        DistanceTable::<T>::current().distances(metric, query, values, rows.columns(), out);
    }
    with_numbers!(query, values => typed(values, metric, rows, out));
}

/// Finds the rows of a block of a partition's vectors that are near enough.
pub(super) fn scan(
    query: &Vector,
    metric: Metric,
    partition: &Partition,
    block: &Block<'_>,
    room: &mut BlockScratch,
) -> Result<()> {
    fn typed<T: Element + Pod>(
        query: &[T],
        metric: Metric,
        partition: &Partition,
        block: &Block<'_>,
        room: &mut BlockScratch,
    ) -> bool {
        let mut fit = true;
        block.compare(partition, room, |vectors, wanted, out| {
            fit &= vectors.len().is_multiple_of(size_of_val(query).max(1));
            if fit {
                compare(metric, query, vectors.typed(), wanted, out);
            }
        });
        fit
    }
    match with_numbers!(query, values => typed(values, metric, partition, block, room)) {
        true => Ok(()),
        false => Err(Error::corrupt("expected vectors of the query's type")),
    }
}

/// The distances of `query` to those of `rows` that are wanted, which lie one after the other.
pub(super) fn compare<T: Element>(
    metric: Metric,
    query: &[T],
    rows: &[T],
    wanted: Wanted<'_>,
    out: &mut [f32],
) {
    let (table, pitch) = (DistanceTable::<T>::current(), query.len());
    match wanted {
        Wanted::All(range) => {
            table.distances(metric, query, &rows[range.start * pitch..range.end * pitch], pitch, out);
        }
        Wanted::Of(positions) => table.distances_of(metric, query, rows, pitch, positions, out),
    }
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

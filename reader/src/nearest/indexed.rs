//! Candidates from an index.

use super::{query::Query, segments::Segments, selection::Selection};
use crate::{Dataset, Error, Result};
use lancet_index::{
    ivf::{RowFilter, Scratch},
    nearest::{Arrivals, Collector, Nearest},
};
use std::ops::Range;

/// How an index is searched.
pub(super) struct Probes {
    /// Partitions of each segment: so many for certain, and so many at the most.
    pub(super) partitions: Range<usize>,
    /// Partitions past the first number are searched only until so many rows are found.
    pub(super) enough: usize,
    /// Whether rows outside the index will be searched too, exactly.
    pub(super) mixed: bool,
}

/// Offers the rows of the nearest partitions of each segment to `nearest`.
///
/// Of rows that are equally far those stay that Lance keeps, which hangs on the order in which they are met. Where all
/// vectors of the dataset are compared with the query exactly, the answer is that of a search without an index, and
/// the lower row id decides.
pub(super) fn search(
    dataset: &Dataset,
    segments: &Segments,
    query: &Query,
    selection: &Selection,
    probes: &Probes,
    nearest: &mut Nearest,
) -> Result<()> {
    let vector = &query.vectors()[0];
    let is_alone = segments.iter().len() == 1;
    let is_exact = |segment: &super::segments::Segment| {
        !segment.opened.ivf.is_quantized() && segment.opened.ivf.partitions() <= probes.partitions.start
    };
    let by_id = probes.mixed && segments.iter().all(is_exact);
    let (mut scratch, mut arrivals) = (Scratch::default(), Arrivals::default());
    for segment in segments.iter() {
        let ivf = &segment.opened.ivf;
        let alone = is_alone && !segment.has_gone(dataset);
        let filter = selection.of_segment(dataset, segment.covered(dataset), alone);
        let filter = filter.as_ref().map(|filter| filter as &dyn RowFilter);
        let query = ivf.query(vector).map_err(Error::from)?;
        arrivals.start(nearest.k(), nearest.range());
        let most = ivf.partitions().min(probes.partitions.end);
        ivf.rank(&query, most, &mut scratch);
        for rank in 0..most {
            if rank >= probes.partitions.start && nearest.len() + arrivals.len() >= probes.enough {
                break;
            }
            let found: &mut dyn Collector = if by_id { nearest } else { &mut arrivals };
            let number = scratch.ranked()[rank].1 as usize;
            let partition = segment.opened.partition(number)?;
            ivf.probe(&query, number, &partition, filter, &mut scratch, found)
                .map_err(|error| segment.opened.fail(error))?;
        }
        arrivals.iter().for_each(|row| nearest.push(row));
    }
    Ok(())
}

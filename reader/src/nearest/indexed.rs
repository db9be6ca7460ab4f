//! Candidates from an index.

use super::{query::Query, segments::Segments, selection::Selection};
use crate::{Dataset, Error, Result};
use lancet_index::{
    ivf::{RowFilter, Scratch},
    nearest::Nearest,
};
use std::ops::Range;

/// Offers the rows of the nearest partitions of each segment: `probes.start` of each, and then more of them, the
/// nearest first whatever the segment, up to `probes.end` until `enough` rows are found.
pub(super) fn search(
    dataset: &Dataset,
    segments: &Segments,
    query: &Query,
    selection: &Selection,
    enough: usize,
    probes: Range<usize>,
    nearest: &mut Nearest,
) -> Result<()> {
    let vector = &query.vectors()[0];
    let is_alone = segments.iter().len() == 1;
    for segment in segments.iter() {
        let fail = |error| Error::index(&segment.path, error);
        let alone = is_alone && !segment.has_gone(dataset);
        let filter = selection.of_segment(dataset, segment.covered(dataset), alone);
        let filter = filter.as_ref().map(|filter| filter as &dyn RowFilter);
        let query = segment.ivf.query(vector).map_err(Error::from)?;
        let mut scratch = Scratch::default();
        let most = segment.ivf.partitions().min(probes.end);
        segment.ivf.rank(&query, most, &mut scratch);
        for rank in 0..most {
            if rank >= probes.start && nearest.len() >= enough {
                break;
            }
            segment.ivf.probe(&query, rank, filter, &mut scratch, nearest).map_err(fail)?;
        }
    }
    Ok(())
}

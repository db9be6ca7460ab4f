//! Reading projected columns of one fragment: what scans and takes have in common.

use crate::{
    Batch, Dataset, Projection, Result, files::FilePool, filter::Mask, fragment::Fragment, plan::Place,
    projection::ProjectedColumn,
};
use lancet_format::{Column, Physical, Pick, ReadRoom, table::Deletions};
use std::{ops::Range, sync::Arc};

/// Reads the physical rows of `ranges` into `batch`, whose buffers are used again where they fit.
pub(crate) fn read(
    fragment: &Fragment,
    pool: &FilePool,
    projection: &Projection,
    ranges: &[Range<u64>],
    batch: &mut Batch,
) -> Result<()> {
    read_with(fragment, pool, projection, ranges, batch, &mut Vec::new())
}

/// Room for reading a column of a projection again and again.
#[derive(Debug, Default)]
pub(crate) struct ColumnRoom {
    values: ReadRoom,
    /// Row ids and their kin.
    numbers: Vec<u64>,
}

/// As [`read`], with room for each column that is kept for the next rows.
fn read_with(
    fragment: &Fragment,
    pool: &FilePool,
    projection: &Projection,
    ranges: &[Range<u64>],
    batch: &mut Batch,
    room: &mut Vec<ColumnRoom>,
) -> Result<()> {
    room.resize_with(projection.columns.len(), ColumnRoom::default);
    // The new columns take the place of the old ones, in the same vector.
    let old = batch.columns.len();
    for (number, (own, room)) in projection.columns.iter().zip(room).enumerate() {
        let reuse = (number < old).then(|| batch.columns.remove(0));
        batch.columns.push(column_with(fragment, pool, own, ranges, reuse, room)?);
    }
    batch.columns.drain(..old.saturating_sub(projection.columns.len()));
    batch.len = count(ranges);
    batch.names = projection.shared_names();
    Ok(())
}

/// Reads one column of the physical rows of `ranges`.
pub(crate) fn column(
    fragment: &Fragment,
    pool: &FilePool,
    column: &ProjectedColumn,
    ranges: &[Range<u64>],
    reuse: Option<Column>,
) -> Result<Column> {
    column_with(fragment, pool, column, ranges, reuse, &mut ColumnRoom::default())
}

fn column_with(
    fragment: &Fragment,
    pool: &FilePool,
    column: &ProjectedColumn,
    ranges: &[Range<u64>],
    reuse: Option<Column>,
    room: &mut ColumnRoom,
) -> Result<Column> {
    let ColumnRoom { values, numbers } = room;
    match column {
        ProjectedColumn::Field { root, path } => {
            let mut column = fragment.read_with(pool, root, ranges, reuse, values)?;
            for &child in path {
                column = column.into_child(child);
            }
            return Ok(column);
        }
        _ => {
            numbers.clear();
            numbers.reserve_exact(count(ranges));
        }
    }
    match column {
        ProjectedColumn::RowId if fragment.meta.row_ids.is_some() => {
            let ids = fragment.row_ids(pool)?;
            ranges.iter().for_each(|range| ids.extend(range.start, range.end, numbers));
        }
        ProjectedColumn::Computed(computed) => return computed.evaluate(fragment, pool, ranges),
        ProjectedColumn::CreatedAt => fragment.extend_versions(pool, true, ranges, numbers)?,
        ProjectedColumn::LastUpdatedAt => fragment.extend_versions(pool, false, ranges, numbers)?,
        _ => {
            let base = fragment.base_address();
            numbers.extend(ranges.iter().cloned().flatten().map(|row| base + row));
        }
    }
    Ok(Column::from_u64_reusing(numbers, reuse))
}

/// The number of rows in `ranges`.
pub(crate) fn count(ranges: &[Range<u64>]) -> usize {
    ranges.iter().map(|range| range.end - range.start).sum::<u64>() as usize
}

/// Where a batch that starts at `row` must end so that no column that can be borrowed is copied: at `rows`,
/// the end of the fragment, at the latest.
pub(crate) fn batch_end(
    fragment: &Fragment,
    pool: &FilePool,
    projection: &Projection,
    row: u64,
    rows: u64,
) -> Result<u64> {
    let mut end = rows;
    for column in &projection.columns {
        if let ProjectedColumn::Field { root, .. } = column
            && row < rows
            && let Some(page) = fragment.lent_page(pool, root, row)?
        {
            end = end.min(page.end);
        }
    }
    Ok(end)
}

/// Sets `ranges` to the first `wanted` rows of `range` that are not deleted. Returns where to go on.
pub(crate) fn live_ranges(
    deletions: Option<&Deletions>,
    range: Range<u64>,
    wanted: u64,
    ranges: &mut Vec<Range<u64>>,
) -> u64 {
    ranges.clear();
    let Some(deletions) = deletions else {
        let end = range.end.min(range.start.saturating_add(wanted));
        if range.start < end {
            ranges.push(range.start..end);
        }
        return end;
    };
    let mut left = wanted;
    for live in deletions.live_ranges(range.clone()) {
        let end = live.end.min(live.start.saturating_add(left));
        left -= end - live.start;
        ranges.push(live.start..end);
        if left == 0 {
            return end;
        }
    }
    range.end
}

/// The most memory that the rows of a batch take apart from what their texts and lists hold. Only rows of more
/// than 128 KiB each make a batch smaller than it should be by this.
const MAX_BATCH_BYTES: u64 = 1 << 30;

/// How many rows of `columns` are read at once at the most, at least one.
pub(crate) fn rows_that_fit(columns: &[ProjectedColumn]) -> u64 {
    let widths = columns.iter().map(|column| column.data_type().value_bytes());
    (MAX_BATCH_BYTES / widths.fold(1, u64::saturating_add)).max(1)
}

/// Sets `mask` to the rows of `range` that are not deleted.
pub(crate) fn live_mask(deletions: Option<&Deletions>, range: Range<u64>, mask: &mut Mask) {
    let rows = (range.end - range.start) as usize;
    let Some(deletions) = deletions else { return mask.fill(rows, true) };
    mask.fill(rows, false);
    for live in deletions.live_ranges(range.clone()) {
        mask.set_range((live.start - range.start) as usize..(live.end - range.start) as usize);
    }
}

/// Reads the rows of `ranges`, which ascend and may be many short ones: of a column for which that costs less, all rows
/// from the first range to the last, of which the wanted ones are kept.
pub(crate) fn read_scattered(
    fragment: &Fragment,
    pool: &FilePool,
    projection: &Projection,
    ranges: &[Range<u64>],
) -> Result<Batch> {
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ok(Batch::new()) };
    let span = first.start..last.end;
    let mut picks: Vec<Pick> = Vec::new();
    let columns = projection.columns.iter().map(|own| {
        if ranges.len() == 1 || span.end - span.start > ranges.len() as u64 * rows_per_seek(own) {
            return column(fragment, pool, own, ranges, None);
        }
        let whole = column(fragment, pool, own, std::slice::from_ref(&span), None)?;
        if picks.is_empty() {
            let rows = ranges.iter().cloned().flatten();
            picks.extend(rows.map(|row| (0, (row - span.start) as u32)));
        }
        Ok(Column::gather(&[&whole], &picks, None)?)
    });
    let columns = columns.collect::<Result<_>>()?;
    Ok(Batch { names: projection.shared_names(), columns, len: count(ranges) })
}

/// Reads rows by their places, which ascend, into `batch`, whose buffers are used again where they fit;
/// `room` is kept for the next ones.
pub(crate) fn read_places(
    dataset: &Dataset,
    projection: &Projection,
    places: &[Place],
    batch: &mut Batch,
    room: &mut Vec<ColumnRoom>,
) -> Result<()> {
    let ranges_of = |places: &[Place]| ranges_of(places.iter().map(|&(_, offset)| offset.into()));
    let fragment = |position: u32| &dataset.fragments()[position as usize];
    match places {
        [(position, offset)] => {
            let range = u64::from(*offset)..u64::from(*offset) + 1;
            let ranges = std::slice::from_ref(&range);
            read_with(fragment(*position), dataset.pool(), projection, ranges, batch, room)
        }
        _ => {
            let of_fragments = places.chunk_by(|a, b| a.0 == b.0);
            let parts = of_fragments.map(|places| {
                read_scattered(fragment(places[0].0), dataset.pool(), projection, &ranges_of(places))
            });
            *batch = join(projection, parts.collect::<Result<Vec<_>>>()?)?;
            Ok(())
        }
    }
}

/// How many rows of a column are read, one after the other, in the time of finding a row somewhere else.
fn rows_per_seek(column: &ProjectedColumn) -> u64 {
    match column {
        // Errors are those of the rows that are wanted only.
        ProjectedColumn::Computed(_) => 0,
        ProjectedColumn::Field { root, path } if path.is_empty() => match root.data_type.physical() {
            Physical::Bits | Physical::Fixed(..=8) => 32,
            _ => 16,
        },
        _ => 16,
    }
}

/// Rows `range` of `batch`.
pub(crate) fn slice(batch: &Batch, range: Range<usize>) -> Result<Batch> {
    let columns = batch.columns.iter().map(|column| Ok(Column::concat(&[(column, range.clone())], None)?));
    Ok(Batch { names: batch.names.clone(), columns: columns.collect::<Result<_>>()?, len: range.len() })
}

/// Cuts the first `rows` rows off `ranges`.
pub(crate) fn drop_first(ranges: &mut Vec<Range<u64>>, rows: u64) {
    let mut left = rows;
    ranges.retain_mut(|range| {
        let cut = left.min(range.end - range.start);
        range.start += cut;
        left -= cut;
        range.start < range.end
    });
}

/// Ascending rows as ranges that do not touch.
pub(crate) fn ranges_of(rows: impl Iterator<Item = u64>) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for row in rows {
        match ranges.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => ranges.push(row..row + 1),
        }
    }
    ranges
}

/// Cuts `ranges` down to their first `rows` rows.
pub(crate) fn keep_first(ranges: &mut Vec<Range<u64>>, rows: u64) {
    let mut left = rows;
    ranges.retain_mut(|range| {
        range.end = range.end.min(range.start + left);
        left -= range.end - range.start;
        range.start < range.end
    });
}

/// All rows of `batches` of a projection in one.
pub(crate) fn join(projection: &Projection, batches: Vec<Batch>) -> Result<Batch> {
    if batches.is_empty() {
        let columns = projection.columns.iter().map(|column| Column::nulls(&column.data_type(), 0)).collect();
        return Ok(Batch { names: projection.shared_names(), columns, len: 0 });
    }
    concat(projection.shared_names(), batches)
}

/// All rows of `batches`, at least one, in one.
pub(crate) fn concat(names: Arc<[Arc<str>]>, mut batches: Vec<Batch>) -> Result<Batch> {
    if batches.len() == 1 {
        return Ok(batches.remove(0));
    }
    let len = batches.iter().map(Batch::len).sum();
    let columns = (0..names.len()).map(|i| {
        let parts: Vec<_> = batches.iter().map(|batch| (&batch.columns[i], 0..batch.len())).collect();
        Ok(Column::concat(&parts, None)?)
    });
    Ok(Batch { names, columns: columns.collect::<Result<_>>()?, len })
}

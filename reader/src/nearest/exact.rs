//! Exact distances: of all rows of fragments, or of rows named by their ids.

use super::{Metric, column::VectorColumn, selection::Selection};
use crate::{
    Batch, Dataset, Result, Rows, Scan,
    filter::Mask,
    fragment::{Fragment, Holder},
    projection::ProjectedColumn,
    read,
    take::{self, Place},
};
use bytemuck::Pod;
use lancet_format::{Column, Field, Lent, Values};
use lancet_index::{
    nearest::{Collector, Nearest, Neighbour},
    vector::Vector,
    with_numbers,
};
use lancet_kernels::{
    distance::{DistanceTable, Element},
    gather,
};
use std::ops::Range;

/// Rows whose vectors are read at a time.
const BLOCK_ROWS: u64 = 8192;

/// With fewer than one selected row in so many, only these are read.
const SPARSE: usize = 8;

/// Bytes that come from memory together.
const LINE: usize = 64;

/// Scattered vectors that are looked at together: enough to have many on their way from memory at a time.
const AT_ONCE: usize = 128;

/// Offers all selected rows of the scan's fragments, or of those at the positions `only`.
pub(super) fn search(
    scan: &Scan,
    column: &VectorColumn,
    query: &[Vector],
    metric: Metric,
    selection: &Selection,
    only: Option<&[usize]>,
    nearest: &mut Nearest,
) -> Result<()> {
    let dataset = scan.dataset();
    let pool = dataset.pool();
    let mut distances = Vec::new();
    for position in scan.positions() {
        if only.is_some_and(|only| !only.contains(&position)) {
            continue;
        }
        let Some(mask) = selection.of_fragment(position) else { continue };
        let fragment = &dataset.fragments()[position];
        let rows = fragment.physical_rows(pool)?;
        let field = top_level(column);
        let holder = field.map(|field| fragment.holder(pool, field)).transpose()?.flatten();
        let lender = field.zip(holder.as_ref());
        for start in (0..rows).step_by(BLOCK_ROWS as usize) {
            scan.watch().check()?;
            let block = Block { fragment, rows: start..rows.min(start + BLOCK_ROWS), mask, lender };
            block.offer(dataset, column, query, metric, &mut distances, nearest)?;
        }
        scan.stats().examined(mask.map_or(rows, |mask| mask.count() as u64));
    }
    Ok(())
}

/// Room for the distances of some rows.
#[derive(Debug, Default)]
pub(super) struct Room {
    row_ids: Vec<u64>,
    distances: Vec<f32>,
    batch: Batch,
    places: Vec<(Place, u64)>,
}

/// Offers the rows that were `found`, at their exact distances.
pub(super) fn rank(
    dataset: &Dataset,
    column: &VectorColumn,
    query: &[Vector],
    metric: Metric,
    found: &[Neighbour],
    room: &mut Room,
    nearest: &mut Nearest,
) -> Result<()> {
    let Room { row_ids, distances, batch, places } = room;
    if let [query] = query
        && !column.is_list()
        && rank_in_place(dataset, column, query, metric, found, places, nearest)?
    {
        return Ok(());
    }
    row_ids.clear();
    row_ids.extend(found.iter().map(|row| row.row_id));
    dataset.take_into(Rows::Ids(row_ids), column.projection(), batch)?;
    compute(&batch.columns()[0], column, query, metric, distances);
    nearest.offer(distances, row_ids, None);
    Ok(())
}

/// As [`rank`], of vectors that lie flat in their files; whether all of them do, else none is offered.
///
/// Vectors that were found lie anywhere. The memory of a few is asked for before the first of them is compared, so that
/// their ways overlap.
fn rank_in_place(
    dataset: &Dataset,
    column: &VectorColumn,
    query: &Vector,
    metric: Metric,
    found: &[Neighbour],
    places: &mut Vec<(Place, u64)>,
    nearest: &mut Nearest,
) -> Result<bool> {
    let Some(field) = top_level(column) else { return Ok(false) };
    places.clear();
    for row in found {
        places.push((take::place_of_id(dataset, row.row_id)?, row.row_id));
    }
    // Those of one file follow each other.
    places.sort_unstable();
    let (k, range) = (nearest.k(), nearest.range());
    for places in places.chunks(AT_ONCE) {
        if !rank_few(dataset, field, query, metric, places, nearest)? {
            nearest.start(k, range);
            return Ok(false);
        }
    }
    Ok(true)
}

/// Offers up to [`AT_ONCE`] rows of `field`; whether all of their vectors could be looked at.
fn rank_few(
    dataset: &Dataset,
    field: &Field,
    query: &Vector,
    metric: Metric,
    places: &[(Place, u64)],
    nearest: &mut Nearest,
) -> Result<bool> {
    let of_fragments = || places.chunk_by(|a, b| a.0.0 == b.0.0);
    let mut holders = [const { None }; AT_ONCE];
    for (holder, places) in holders.iter_mut().zip(of_fragments()) {
        *holder = dataset.fragments()[places[0].0.0 as usize].holder(dataset.pool(), field)?;
    }
    let mut lent = [const { None }; AT_ONCE];
    let mut next = lent.iter_mut();
    for (holder, places) in holders.iter().zip(of_fragments()) {
        let Some(holder) = holder else { return Ok(false) };
        for (&((_, row), _), lent) in places.iter().zip(&mut next) {
            *lent = holder.lent_from(field, row.into())?;
        }
    }
    let lent = &lent[..places.len()];
    lent.iter().flatten().for_each(Lent::prefetch);
    let width = with_numbers!(query, values => size_of_val(&values[..]));
    let mut vectors = [&[][..]; AT_ONCE];
    let vectors = &mut vectors[..places.len()];
    for (vector, lent) in vectors.iter_mut().zip(lent) {
        let bytes = lent.as_ref().and_then(Lent::bytes).and_then(|bytes| bytes.get(..width));
        let Some(bytes) = bytes else { return Ok(false) };
        *vector = bytes;
    }
    // First one byte of each: looking up where a page lies takes longest, and overlaps only if nothing is between.
    let vectors = &*vectors;
    vectors.iter().for_each(|vector| gather::prefetch(vector, 0));
    for vector in vectors {
        (LINE..vector.len()).step_by(LINE).for_each(|at| gather::prefetch(vector, at));
    }
    let mut distances = [0.0; AT_ONCE];
    let distances = &mut distances[..vectors.len()];
    if !with_numbers!(query, values => of_bytes(values, metric, vectors, distances)) {
        return Ok(false);
    }
    for (&distance, &(_, row_id)) in distances.iter().zip(places) {
        nearest.push(Neighbour { distance, row_id });
    }
    Ok(true)
}

/// The distances of the vectors, of the query's dimension, whose numbers are these bytes; whether they lie as numbers do.
fn of_bytes<T: Element + Pod>(query: &[T], metric: Metric, vectors: &[&[u8]], distances: &mut [f32]) -> bool {
    let mut rows = [&[][..]; AT_ONCE];
    for (row, &bytes) in rows.iter_mut().zip(vectors) {
        let Ok(vector) = bytemuck::try_cast_slice::<u8, T>(bytes) else { return false };
        *row = vector;
    }
    DistanceTable::<T>::current().distances_to(metric, query, &rows[..vectors.len()], distances);
    true
}

/// Some rows of a fragment.
struct Block<'a> {
    fragment: &'a Fragment,
    rows: Range<u64>,
    /// The selected rows of the fragment, if not all of them are.
    mask: Option<&'a Mask>,
    /// The field of the vectors and the file that holds it, if the vectors may lie in the file as they are.
    lender: Option<(&'a Field, &'a Holder<'a>)>,
}

impl Block<'_> {
    fn offer(
        &self,
        dataset: &Dataset,
        column: &VectorColumn,
        query: &[Vector],
        metric: Metric,
        distances: &mut Vec<f32>,
        nearest: &mut Nearest,
    ) -> Result<()> {
        let pool = dataset.pool();
        let len = (self.rows.end - self.rows.start) as usize;
        let selected: Option<Vec<usize>> = self.mask.map(|mask| {
            let (start, end) = (self.rows.start as usize, self.rows.end as usize);
            mask.iter_from(start).take_while(|&row| row < end).collect()
        });
        let own = &column.projection().columns[0];
        let mut ranges = vec![self.rows.clone()];
        let mut picked = None;
        if let Some(selected) = selected {
            if selected.is_empty() {
                return Ok(());
            }
            match selected.len() * SPARSE < len {
                true => ranges = read::ranges_of(selected.iter().map(|&row| row as u64)),
                false => {
                    let mut mask = vec![0u64; len.div_ceil(64)];
                    for row in selected {
                        let row = row - self.rows.start as usize;
                        mask[row / 64] |= 1 << (row % 64);
                    }
                    picked = Some(mask);
                }
            }
        }
        let whole = *ranges == [self.rows.clone()];
        if !whole || !self.compute_in_place(&query[0], metric, distances)? {
            let vectors = read::column(self.fragment, pool, own, &ranges, None)?;
            compute(&vectors, column, query, metric, distances);
        }
        let ids = read::column(self.fragment, pool, &ProjectedColumn::RowId, &ranges, None)?;
        nearest.offer(distances, ids.primitive().unwrap_or_default(), picked.as_deref());
        Ok(())
    }

    /// The distances of all rows of the block; whether all of their vectors lie in the file as they are.
    fn compute_in_place(&self, query: &Vector, metric: Metric, distances: &mut Vec<f32>) -> Result<bool> {
        let Some((field, holder)) = self.lender else { return Ok(false) };
        distances.clear();
        distances.resize((self.rows.end - self.rows.start) as usize, f32::NAN);
        let mut left = &mut distances[..];
        while !left.is_empty() {
            let row = self.rows.end - left.len() as u64;
            let lent = holder.lent_from(field, row)?;
            let Some(bytes) = lent.as_ref().and_then(Lent::bytes) else { return Ok(false) };
            let done = with_numbers!(query, values => of_run(values, metric, bytes, left));
            if done == 0 {
                return Ok(false);
            }
            left = &mut left[done..];
        }
        Ok(true)
    }
}

/// The distances of the vectors that lie end to end in `bytes`, as many as there is room for; returns how many.
fn of_run<T: Element + Pod>(query: &[T], metric: Metric, bytes: &[u8], distances: &mut [f32]) -> usize {
    let vectors = bytemuck::try_cast_slice::<u8, T>(bytes).unwrap_or_default();
    let count = vectors.len().checked_div(query.len()).unwrap_or(0).min(distances.len());
    let (vectors, distances) = (&vectors[..count * query.len()], &mut distances[..count]);
    DistanceTable::<T>::current().distances(metric, query, vectors, query.len(), distances);
    count
}

/// The column's field, if it is a column of the table and each row is a vector.
fn top_level(column: &VectorColumn) -> Option<&Field> {
    match &column.projection().columns[0] {
        ProjectedColumn::Field { root, path } if path.is_empty() && !column.is_list() => Some(root),
        _ => None,
    }
}

/// The distances of all rows; NaN where a row has no vector.
fn compute(rows: &Column, column: &VectorColumn, query: &[Vector], metric: Metric, distances: &mut Vec<f32>) {
    distances.clear();
    distances.resize(rows.len(), f32::NAN);
    match column.is_list() {
        false => {
            with_numbers!(&query[0], values => flat(rows, values, metric, distances));
            without_vectors(rows, column.dimension(), distances);
        }
        true => lists(rows, column, query, metric, distances),
    }
}

fn flat<T: Element>(rows: &Column, query: &[T], metric: Metric, distances: &mut [f32]) {
    if let Some(values) = rows.flat::<T>() {
        DistanceTable::<T>::current().distances(metric, query, values, query.len(), distances);
    }
}

/// Sets the distance of rows that are null, or hold a null number, to NaN.
fn without_vectors(rows: &Column, dimension: usize, distances: &mut [f32]) {
    if rows.null_count() > 0 {
        (0..rows.len()).filter(|&row| rows.is_null(row)).for_each(|row| distances[row] = f32::NAN);
    }
    if let Some(items) = rows.child().filter(|items| items.null_count() > 0) {
        let nulls = (0..items.len()).filter(|&item| items.is_null(item));
        nulls.for_each(|item| distances[item / dimension.max(1)] = f32::NAN);
    }
}

/// Lists of vectors: 1 − the sum, over the query's vectors, of the greatest similarity (1 − distance) in the list.
fn lists(rows: &Column, column: &VectorColumn, query: &[Vector], metric: Metric, distances: &mut [f32]) {
    let (Values::List { items, .. } | Values::LargeList { items, .. }) = rows.values() else { return };
    let mut sums = vec![0f64; rows.len()];
    let mut of_items = vec![f32::NAN; items.len()];
    for vector in query {
        with_numbers!(vector, values => flat(items, values, metric, &mut of_items));
        without_vectors(items, column.dimension(), &mut of_items);
        for (row, sum) in sums.iter_mut().enumerate() {
            let own = rows.range(row).map_or(&[][..], |range| &of_items[range]);
            // The nearest that is not NaN; an empty list has none and drops out.
            let nearest = own.iter().copied().fold(f32::NAN, f32::min);
            *sum += 1.0 - f64::from(nearest);
        }
    }
    for (row, (distance, sum)) in distances.iter_mut().zip(sums).enumerate() {
        *distance = if rows.is_null(row) { f32::NAN } else { (1.0 - sum) as f32 };
    }
}

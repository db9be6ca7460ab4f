//! Taking named rows: each costs a read of that row only, in any order and any number of times.

use crate::{Batch, Dataset, Error, Projection, Result, read, row_ids};
use lancet_format::{Column, Pick};
use std::ops::Range;

/// How the rows of a take are named.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Rows<'a> {
    /// Positions among the rows that are not deleted, from 0, in the order of a scan.
    Offsets(&'a [u64]),
    /// Values of `_rowid`.
    Ids(&'a [u64]),
    /// Values of `_rowaddr`: fragment id × 2³² + offset in the fragment.
    Addresses(&'a [u64]),
}

/// A row by its place: the position of its fragment among the dataset's, and the physical row.
type Place = (u32, u32);

/// See [`Dataset::take_into`].
pub(crate) fn take_into(
    dataset: &Dataset,
    rows: Rows<'_>,
    projection: &Projection,
    batch: &mut Batch,
) -> Result<()> {
    let mut old = std::mem::take(batch);
    let places = match rows {
        Rows::Offsets(offsets) => {
            offsets.iter().map(|&n| place_of_offset(dataset, n)).collect::<Result<Vec<_>>>()?
        }
        Rows::Ids(ids) if dataset.manifest().has_stable_row_ids() => {
            ids.iter().map(|&id| row_ids::place(dataset, id)).collect::<Result<_>>()?
        }
        Rows::Ids(ids) => {
            ids.iter().map(|&id| place_of_address(dataset, id, "row id")).collect::<Result<_>>()?
        }
        Rows::Addresses(addresses) => {
            let place = |&address| place_of_address(dataset, address, "row address");
            addresses.iter().map(place).collect::<Result<_>>()?
        }
    };
    let ascending = places.windows(2).all(|pair| pair[0] < pair[1]);
    let one_fragment = places.iter().all(|place| place.0 == places[0].0);
    if ascending && one_fragment && !places.is_empty() {
        let mut ranges = Vec::with_capacity(places.len());
        push_ranges(&places, &mut ranges);
        let fragment = &dataset.fragments()[places[0].0 as usize];
        read::read(fragment, dataset.pool(), projection, &ranges, &mut old)?;
        *batch = old;
        return Ok(());
    }
    *batch = gather(dataset, &places, projection, old)?;
    Ok(())
}

/// Reads each row once, in file order, and then puts them in the order asked for.
fn gather(dataset: &Dataset, places: &[Place], projection: &Projection, old: Batch) -> Result<Batch> {
    let mut sorted: Vec<(Place, u32)> =
        places.iter().zip(0..).map(|(&place, order)| (place, order)).collect();
    sorted.sort_unstable();
    let mut picks: Vec<Pick> = vec![(0, 0); places.len()];
    let mut parts: Vec<Batch> = Vec::new();
    let mut distinct: Vec<Place> = Vec::new();
    let mut ranges = Vec::new();
    for of_fragment in sorted.chunk_by(|a, b| a.0.0 == b.0.0) {
        distinct.clear();
        for &(place, order) in of_fragment {
            if distinct.last() != Some(&place) {
                distinct.push(place);
            }
            picks[order as usize] = (parts.len() as u32, distinct.len() as u32 - 1);
        }
        ranges.clear();
        push_ranges(&distinct, &mut ranges);
        let fragment = &dataset.fragments()[distinct[0].0 as usize];
        let mut part = Batch::new();
        read::read(fragment, dataset.pool(), projection, &ranges, &mut part)?;
        parts.push(part);
    }
    let mut old = old.columns.into_iter();
    let columns = projection.columns.iter().enumerate().map(|(i, column)| {
        let columns: Vec<&Column> = parts.iter().map(|part| &part.columns[i]).collect();
        match columns.is_empty() {
            true => Ok(Column::nulls(&column.data_type(), 0)),
            false => Ok(Column::gather(&columns, &picks, old.next())?),
        }
    });
    let columns = columns.collect::<Result<_>>()?;
    Ok(Batch { names: projection.shared_names(), columns, len: places.len() })
}

/// The rows of one fragment, ascending, as ranges that do not touch.
fn push_ranges(places: &[Place], ranges: &mut Vec<Range<u64>>) {
    for &(_, row) in places {
        let row = u64::from(row);
        match ranges.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => ranges.push(row..row + 1),
        }
    }
}

fn place_of_offset(dataset: &Dataset, n: u64) -> Result<Place> {
    let live = dataset.live_before()?;
    let fragment = live.partition_point(|&before| before <= n);
    if fragment == live.len() {
        let rows = live.last().copied().unwrap_or_default();
        return Err(Error::invalid_input(format!(
            "row offset {n}: expected an offset below {rows}, the number of rows"
        )));
    }
    let fragment = fragment - 1;
    let row = dataset.fragments()[fragment].select_live(dataset.pool(), n - live[fragment])?;
    Ok((fragment as u32, row as u32))
}

fn place_of_address(dataset: &Dataset, address: u64, what: &str) -> Result<Place> {
    let missing =
        |why: &str| Error::invalid_input(format!("{what} {address}: expected a row of the dataset, {why}"));
    let (id, row) = ((address >> 32) as u32, address as u32);
    let Some(position) = dataset.manifest().position_of(id) else {
        return Err(missing(&format!("there is no fragment {id}")));
    };
    let fragment = &dataset.fragments()[position];
    if u64::from(row) >= fragment.physical_rows(dataset.pool())? {
        return Err(missing(&format!("fragment {id} has fewer rows")));
    }
    if fragment.deletions(dataset.pool())?.is_some_and(|deletions| deletions.contains(row)) {
        return Err(missing("it is deleted"));
    }
    Ok((position as u32, row))
}

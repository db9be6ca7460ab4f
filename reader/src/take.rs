//! Taking named rows: each costs a read of that row only, in any order and any number of times.

use crate::{Batch, Dataset, Error, Projection, Result, projection::ProjectedColumn, read, row_ids};
use lancet_format::{Column, Field, Pick};
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
pub(crate) type Place = (u32, u32);

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
        Rows::Ids(ids) => ids.iter().map(|&id| place_of_id(dataset, id)).collect::<Result<_>>()?,
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
    let mut old = old.columns.into_iter();
    let mut plan = None;
    let columns = projection.columns.iter().map(|column| {
        let reuse = old.next();
        if places.is_empty() {
            return Ok(Column::nulls(&column.data_type(), 0));
        }
        if let ProjectedColumn::Field { root, path } = column
            && path.is_empty()
            && let Some((pages, picks)) = lent_pages(dataset, &sorted, root)?
        {
            return Ok(Column::gather(&pages.iter().collect::<Vec<_>>(), &picks, reuse)?);
        }
        let Plan { parts, picks } = plan.get_or_insert_with(|| Plan::of(&sorted));
        let read = |(position, ranges): &(u32, Vec<Range<u64>>)| {
            let fragment = &dataset.fragments()[*position as usize];
            read::column(fragment, dataset.pool(), column, ranges, None)
        };
        let parts = parts.iter().map(read).collect::<Result<Vec<_>>>()?;
        Ok(Column::gather(&parts.iter().collect::<Vec<_>>(), picks, reuse)?)
    });
    let columns = columns.collect::<Result<_>>()?;
    Ok(Batch { names: projection.shared_names(), columns, len: places.len() })
}

/// The distinct rows to read of each fragment, and where among them each row asked for is.
struct Plan {
    /// The position of a fragment and its rows.
    parts: Vec<(u32, Vec<Range<u64>>)>,
    picks: Vec<Pick>,
}

impl Plan {
    /// For places in ascending order, each with its position in the order asked for.
    fn of(sorted: &[(Place, u32)]) -> Self {
        let mut picks: Vec<Pick> = vec![(0, 0); sorted.len()];
        let mut parts = Vec::new();
        let mut distinct: Vec<Place> = Vec::new();
        for of_fragment in sorted.chunk_by(|a, b| a.0.0 == b.0.0) {
            distinct.clear();
            for &(place, order) in of_fragment {
                if distinct.last() != Some(&place) {
                    distinct.push(place);
                }
                picks[order as usize] = (parts.len() as u32, distinct.len() as u32 - 1);
            }
            let mut ranges = Vec::new();
            push_ranges(&distinct, &mut ranges);
            parts.push((distinct[0].0, ranges));
        }
        Plan { parts, picks }
    }
}

/// The pages that hold the rows of `field`, whole and without a copy, and where in them each row asked for
/// is: then every row is copied once, from the file to its place. `None` if a page cannot be had so.
fn lent_pages(
    dataset: &Dataset,
    sorted: &[(Place, u32)],
    field: &Field,
) -> Result<Option<(Vec<Column>, Vec<Pick>)>> {
    let mut picks: Vec<Pick> = vec![(0, 0); sorted.len()];
    let mut pages = Vec::new();
    let (mut of_fragment, mut rows) = (u32::MAX, 0..0);
    for &((position, row), order) in sorted {
        let row = u64::from(row);
        if position != of_fragment || !rows.contains(&row) {
            let fragment = &dataset.fragments()[position as usize];
            let Some(page) = fragment.lent_page(dataset.pool(), field, row)? else { return Ok(None) };
            pages.push(fragment.read(dataset.pool(), field, std::slice::from_ref(&page), None)?);
            (of_fragment, rows) = (position, page);
        }
        picks[order as usize] = (pages.len() as u32 - 1, (row - rows.start) as u32);
    }
    Ok(Some((pages, picks)))
}

/// The place of the row with `_rowid` `id`.
pub(crate) fn place_of_id(dataset: &Dataset, id: u64) -> Result<Place> {
    match dataset.manifest().has_stable_row_ids() {
        true => row_ids::place(dataset, id),
        false => place_of_address(dataset, id, "row id"),
    }
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

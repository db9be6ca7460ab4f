//! Searching a BTree: any query of values is an interval of its rows, found from the table of pages and at most two
//! pages; then only the ids of that interval are read.

use crate::{Answer, Query, RowSet, query::sorted_keys, row_set::Chunk};
use alloc::vec::Vec;
use core::ops::{Bound, Range};
use lancet_format::{Column, Key, Keys, Result, Scalar, index::BTreeIndex};

/// So many ids are read at once.
const BATCH: u64 = 1 << 20;

/// Where the values of pages come from: the file, or a cache of pages that were read before.
pub trait Pages {
    /// Looks at the values of a page, as keys.
    ///
    /// # Errors
    /// Those of [`BTreeIndex::read_page`].
    fn look(
        &mut self,
        index: &BTreeIndex,
        page: usize,
        look: &mut dyn FnMut(&Keys) -> usize,
    ) -> Result<usize>;
}

/// Reads pages as they are asked for, and keeps the last one of one index.
#[derive(Debug, Default)]
pub struct LastPage {
    page: Option<usize>,
    keys: Option<Keys>,
}

impl LastPage {
    /// Forgets the page, but not its room: for use with another index.
    pub fn clear(&mut self) {
        self.page = None;
    }
}

impl Pages for LastPage {
    fn look(
        &mut self,
        index: &BTreeIndex,
        page: usize,
        look: &mut dyn FnMut(&Keys) -> usize,
    ) -> Result<usize> {
        if self.page != Some(page) {
            self.page = None;
            self.keys = Some(index.read_keys(page)?);
            self.page = Some(page);
        }
        Ok(self.keys.as_ref().map_or(0, look))
    }
}

/// What a search works with; used again, it allocates nothing for a query that it has room for.
#[derive(Debug, Default)]
pub struct Scratch {
    ids: Option<Column>,
    sorted: Vec<u64>,
}

/// The first row for which `is_before` does not hold; it holds for no value behind that. NULLs come before all.
fn position(index: &BTreeIndex, pages: &mut dyn Pages, is_before: &dyn Fn(Key<'_>) -> bool) -> Result<u64> {
    let page = index.page_partition_point(is_before);
    if page == index.num_pages() {
        return Ok(index.num_rows());
    }
    let start = index.page_rows(page).start;
    if index.min().get(page).is_some_and(|min| !is_before(min)) {
        return Ok(start);
    }
    let nulls = index.null_count(page) as usize;
    let mut look = |keys: &Keys| keys.partition_point(nulls..keys.len(), is_before);
    Ok(start + pages.look(index, page, &mut look)? as u64)
}

/// The rows of the index from the first for which `is_before` does not hold to the first for which `is_not_behind`
/// does not.
fn interval(
    index: &BTreeIndex,
    pages: &mut dyn Pages,
    is_before: impl Fn(Key<'_>) -> bool,
    is_not_behind: impl Fn(Key<'_>) -> bool,
) -> Result<Range<u64>> {
    let start = position(index, pages, &is_before)?;
    let end = position(index, pages, &is_not_behind)?;
    Ok(start..end.max(start))
}

/// The rows of the index that hold one value: most often they lie in one page, and there are few.
fn equal(index: &BTreeIndex, pages: &mut dyn Pages, key: Key<'_>) -> Result<Range<u64>> {
    let page = index.page_partition_point(|own| own < key);
    if page == index.num_pages() {
        return Ok(index.num_rows()..index.num_rows());
    }
    let (rows, nulls) = (index.page_rows(page), index.null_count(page) as usize);
    let mut end = 0;
    let mut look = |keys: &Keys| {
        let start = keys.partition_point(nulls..keys.len(), |own| own < key);
        // In steps that double, until one goes too far.
        let (mut known, mut step) = (start, 1);
        while known + step <= keys.len() && keys.get(known + step - 1) <= Some(key) {
            known += step;
            step *= 2;
        }
        let last = (known + step).min(keys.len());
        end = keys.partition_point(known..last, |own| own <= key);
        start
    };
    let start = rows.start + pages.look(index, page, &mut look)? as u64;
    let end = rows.start + end as u64;
    match end == rows.end {
        true => Ok(start..position(index, pages, &|own| own <= key)?.max(start)),
        false => Ok(start..end),
    }
}

/// The rows of the index (not of the table) that a query selects, as ascending ranges that are appended to `out`.
/// Their lengths together are how many rows of the table there are, as far as all of them are alive.
///
/// Returns whether a BTree serves the query.
///
/// # Errors
/// Those of reading pages.
pub fn intervals(
    index: &BTreeIndex,
    query: &Query<'_>,
    pages: &mut dyn Pages,
    out: &mut Vec<Range<u64>>,
) -> Result<bool> {
    let fits = |value: &Scalar<'_>| value.fits(index.data_type());
    let mut add = |range: Range<u64>| {
        if !range.is_empty() {
            out.push(range);
        }
    };
    match query {
        Query::Equals(value) if fits(value) => {
            add(equal(index, pages, value.key())?);
        }
        Query::Range(lower, upper) => {
            let key = |bound: &Bound<Scalar<'_>>| match bound {
                Bound::Included(value) | Bound::Excluded(value) => fits(value),
                Bound::Unbounded => true,
            };
            if !key(lower) || !key(upper) {
                return Ok(false);
            }
            let (lower, upper) = (lower.map(Scalar::key), upper.map(Scalar::key));
            let is_before = |own: Key<'_>| match lower {
                Bound::Included(key) => own < key,
                Bound::Excluded(key) => own <= key,
                Bound::Unbounded => false,
            };
            let is_not_behind = |own: Key<'_>| match upper {
                Bound::Included(key) => own <= key,
                Bound::Excluded(key) => own < key,
                Bound::Unbounded => true,
            };
            add(interval(index, pages, is_before, is_not_behind)?);
        }
        Query::IsIn(values) if values.iter().all(fits) => {
            for key in sorted_keys(values) {
                add(equal(index, pages, key)?);
            }
        }
        Query::IsNull => add(0..index.num_nulls()),
        Query::StartsWith(prefix) if fits_bytes(index) => {
            let starts = |own: Key<'_>| matches!(own, Key::Bytes(bytes) if bytes.starts_with(prefix));
            let key = Key::Bytes(prefix);
            add(interval(index, pages, |own| own < key, |own| own < key || starts(own))?);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn fits_bytes(index: &BTreeIndex) -> bool {
    use lancet_format::DataType::{Binary, LargeBinary, LargeUtf8, Utf8};
    matches!(index.data_type(), Utf8 | LargeUtf8 | Binary | LargeBinary)
}

/// Makes `out` the ids of rows of the index.
///
/// # Errors
/// Those of [`BTreeIndex::read_ids`].
pub fn ids(
    index: &BTreeIndex,
    intervals: &[Range<u64>],
    scratch: &mut Scratch,
    out: &mut RowSet,
) -> Result<()> {
    out.clear();
    if let [range] = intervals
        && range.end - range.start <= BATCH
    {
        let column = index.read_ids(range.clone(), scratch.ids.take())?;
        out.assign_ids(column.primitive::<u64>().unwrap_or_default(), &mut scratch.sorted);
        scratch.ids = Some(column);
        return Ok(());
    }
    // Many short intervals, or a long one: gathered up to a batch, a set for each.
    let (mut gathered, mut sets) = (Vec::new(), Vec::new());
    let mut flush = |gathered: &mut Vec<u64>, sorted: &mut Vec<u64>| {
        let mut set = RowSet::new();
        set.assign_ids(gathered, sorted);
        sets.push(set);
        gathered.clear();
    };
    for interval in intervals {
        let mut start = interval.start;
        while start < interval.end {
            let end = interval.end.min(start + BATCH);
            let column = index.read_ids(start..end, scratch.ids.take())?;
            gathered.extend_from_slice(column.primitive::<u64>().unwrap_or_default());
            scratch.ids = Some(column);
            if gathered.len() as u64 >= BATCH {
                flush(&mut gathered, &mut scratch.sorted);
            }
            start = end;
        }
    }
    flush(&mut gathered, &mut scratch.sorted);
    let chunks: Vec<Chunk<'_>> = sets.iter().flat_map(RowSet::chunks).collect();
    out.assign_union(chunks, &mut Vec::new());
    Ok(())
}

/// The rows that a query selects, always exact; `None` if a BTree does not serve it. The rows that are NULL, for
/// which it is neither true nor false, go to `nulls` if the caller wants them. `rows` lends its room to the answer.
///
/// # Errors
/// Those of reading pages and ids.
pub fn search(
    index: &BTreeIndex,
    query: &Query<'_>,
    pages: &mut dyn Pages,
    scratch: &mut Scratch,
    mut rows: RowSet,
    nulls: Option<&mut RowSet>,
) -> Result<Option<Answer>> {
    let mut found = Vec::new();
    if !intervals(index, query, pages, &mut found)? {
        return Ok(None);
    }
    ids(index, &found, scratch, &mut rows)?;
    if let Some(nulls) = nulls {
        nulls.clear();
        if *query != Query::IsNull {
            ids(index, core::slice::from_ref(&(0..index.num_nulls())), scratch, nulls)?;
        }
    }
    Ok(Some(Answer::Exact(rows)))
}

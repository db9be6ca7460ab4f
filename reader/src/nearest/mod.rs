//! [`Nearest`]: the rows whose vectors are nearest to a query.
//!
//! ```text
//! filter ──▶ rows that may be returned (selection) ─┐
//! query ──▶ index: segments, partitions (indexed) ──┼──▶ candidates ──▶ exact distances, if asked for or mixed
//!      └──▶ rows that no segment covers (exact) ────┘        │
//!                                                            └──▶ the k nearest by (distance, row id) ──▶ columns
//! ```

mod column;
mod exact;
mod indexed;
mod query;
mod segments;
mod selection;

pub use query::IntoVector;
pub(crate) use segments::OpenedSegments;

use crate::{Batch, Error, IndexUse, IntoFilter, Projection, Result, Rows, Scan, read};
use bytemuck::Pod;
use column::VectorColumn;
use lancet_format::{Buffer, Column, DataType, Values};
use lancet_index::nearest::{Neighbour, Range};
pub use lancet_kernels::distance::Metric;
use selection::Selection;

/// Partitions that are searched at least, unless the caller says otherwise.
const MIN_PROBES: usize = 20;

/// A search for the nearest neighbours of a vector; made by [`Scan::nearest`].
///
/// ```no_run
/// # fn main() -> lancet::Result<()> {
/// let dataset = lancet::Dataset::open("words.lance")?;
/// let query = vec![0.5f32; 50];
/// let hits = dataset
///     .scan()
///     .nearest("vector", &query)?
///     .k(10)
///     .nprobes(20)
///     .filter("initial = 'k'")?
///     .columns(["word"])?
///     .collect()?;
/// let words = hits.column("word").unwrap();
/// let distances = hits.column("_distance").unwrap().primitive::<f32>().unwrap();
/// # let _ = (words, distances);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Nearest {
    scan: Scan,
    column: VectorColumn,
    queries: Vec<query::Query>,
    /// Whether there may be several queries, so that results say to which they belong.
    numbered: bool,
    k: usize,
    min_probes: Option<usize>,
    max_probes: Option<usize>,
    refine: Option<usize>,
    metric: Option<Metric>,
    range: Range,
    postfilter: bool,
    use_index: bool,
    indexed_only: bool,
}

impl Nearest {
    pub(crate) fn new(scan: Scan, column: &str, query: impl IntoVector) -> Result<Self> {
        let column = VectorColumn::find(scan.dataset(), column)?;
        let query = query::Query::new(&[query.into_vector()], &column)?;
        Ok(Self::of(scan, column, vec![query], false))
    }

    pub(crate) fn new_each<V: IntoVector>(
        scan: Scan,
        column: &str,
        queries: impl IntoIterator<Item = V>,
    ) -> Result<Self> {
        let column = VectorColumn::find(scan.dataset(), column)?;
        let vectors: Vec<Vec<f64>> = queries.into_iter().map(IntoVector::into_vector).collect();
        if column.is_list() {
            let query = query::Query::new(&vectors, &column)?;
            return Ok(Self::of(scan, column, vec![query], false));
        }
        let queries = vectors.iter().map(|vector| query::Query::new(std::slice::from_ref(vector), &column));
        let queries = queries.collect::<Result<_>>()?;
        Ok(Self::of(scan, column, queries, true))
    }

    fn of(scan: Scan, column: VectorColumn, queries: Vec<query::Query>, numbered: bool) -> Self {
        Nearest {
            scan,
            column,
            queries,
            numbered,
            k: 10,
            min_probes: None,
            max_probes: None,
            refine: None,
            metric: None,
            range: Range::default(),
            postfilter: false,
            use_index: true,
            indexed_only: false,
        }
    }

    /// How many rows to find; 10 by default.
    pub fn k(mut self, k: usize) -> Self {
        self.k = k;
        self
    }

    /// Searches exactly this many partitions of each segment of the index.
    pub fn nprobes(self, partitions: usize) -> Self {
        self.min_probes(partitions).max_probes(partitions)
    }

    /// Searches at least this many partitions; 20 by default. More are searched only until `k` rows are found.
    pub fn min_probes(mut self, partitions: usize) -> Self {
        self.min_probes = Some(partitions);
        self
    }

    /// Searches at most this many partitions; by default all, if need be.
    pub fn max_probes(mut self, partitions: usize) -> Self {
        self.max_probes = Some(partitions);
        self
    }

    /// Finds this many times `k` rows by the index, and ranks them by their exact distances.
    pub fn refine(mut self, factor: usize) -> Self {
        self.refine = Some(factor);
        self
    }

    /// Compares vectors so; by default as the index does, or without one by L2 (bytes: hamming). If the index
    /// compares them in another way, it is not used.
    pub fn metric(mut self, metric: Metric) -> Self {
        self.metric = Some(metric);
        self
    }

    /// Returns only rows at distances from `low` up to, not including, `high`.
    pub fn distance_range(mut self, low: Option<f32>, high: Option<f32>) -> Self {
        let all = Range::default();
        self.range = Range { low: low.unwrap_or(all.low), high: high.unwrap_or(all.high) };
        self
    }

    /// Filters the `k` rows that were found, instead of the rows that are searched: fewer may remain.
    pub fn postfilter(mut self, postfilter: bool) -> Self {
        self.postfilter = postfilter;
        self
    }

    /// Whether indices may be used, of the vectors and for the filter; they may by default.
    pub fn use_index(mut self, use_index: bool) -> Self {
        self.use_index = use_index;
        if !use_index {
            self.scan = self.scan.indices(IndexUse::Never);
        }
        self
    }

    /// Leaves out rows that the index does not cover.
    pub fn indexed_only(mut self, indexed_only: bool) -> Self {
        self.indexed_only = indexed_only;
        self
    }

    /// See [`Scan::filter`].
    ///
    /// # Errors
    /// Those of [`Scan::filter`].
    pub fn filter(mut self, filter: impl IntoFilter) -> Result<Self> {
        self.scan = self.scan.filter(filter)?;
        Ok(self)
    }

    /// The columns of the answer; `_distance` follows them.
    ///
    /// # Errors
    /// Those of [`Scan::columns`].
    pub fn columns<S: AsRef<str>>(mut self, items: impl IntoIterator<Item = S>) -> Result<Self> {
        self.scan = self.scan.columns(items)?;
        Ok(self)
    }

    /// The names of the columns of the answer, `_distance` among them.
    pub fn names(&self) -> Vec<std::sync::Arc<str>> {
        let mut names = self.scan.projection().names().to_vec();
        names.extend(self.numbered.then(|| "_query".into()));
        names.push("_distance".into());
        names
    }

    /// Runs the search: the columns asked for, `_query` (the number of the query vector, from 0) if several were
    /// given, and `_distance`, the nearest rows first and of equally near ones that with the lower row id. The scan's
    /// offset and limit count rows of this order.
    ///
    /// # Errors
    /// Invalid input if `k` or the refine factor is 0, if probes or metric do not fit; and those of the files.
    pub fn collect(&self) -> Result<Batch> {
        let mut batches = Vec::with_capacity(self.queries.len());
        let run = self.prepare()?;
        for (number, query) in self.queries.iter().enumerate() {
            self.scan.watch().check()?;
            batches.push(self.answer(&run, number, query)?);
        }
        match <[Batch; 1]>::try_from(batches) {
            Ok([only]) => Ok(only),
            Err(batches) => self.join(&batches),
        }
    }

    /// What all queries have in common.
    fn prepare(&self) -> Result<Run> {
        if self.k == 0 || self.refine == Some(0) {
            return Err(Error::invalid_input("expected k and the refine factor to be at least 1"));
        }
        if self.min_probes.zip(self.max_probes).is_some_and(|(min, max)| min > max)
            || self.min_probes == Some(0)
            || self.max_probes == Some(0)
        {
            return Err(Error::invalid_input(
                "expected at least one probe, and the minimum below the maximum",
            ));
        }
        let dataset = self.scan.dataset();
        let prefilter = if self.postfilter { None } else { self.scan.filter_ref() };
        let mut segments = match self.use_index && !self.column.is_list() {
            true => segments::of_column(dataset, self.column.id())?,
            false => None,
        };
        if let (Some(found), Some(metric)) = (&segments, self.metric)
            && found.metric()? != metric
        {
            segments = None;
        }
        let metric = match (self.metric, &segments) {
            (Some(metric), _) => metric,
            (None, Some(segments)) => segments.metric()?,
            (None, None) => self.column.default_metric(),
        };
        for query in &self.queries {
            query.check(metric)?;
        }
        let covered: Vec<bool> = match &segments {
            Some(segments) => segments.covered(dataset),
            None => vec![false; dataset.fragments().len()],
        };
        let wanted = self.scan.positions();
        let uncovered: Vec<usize> = wanted.iter().copied().filter(|&position| !covered[position]).collect();
        let searched = match (&segments, self.indexed_only) {
            (Some(_), true) => wanted.into_iter().filter(|&position| covered[position]).collect(),
            (None, true) if self.use_index => Vec::new(),
            _ => wanted,
        };
        let selection = Selection::new(&self.scan, prefilter, &searched)?;
        let uncovered = if self.indexed_only { Vec::new() } else { uncovered };
        let min = self.min_probes.unwrap_or(MIN_PROBES.min(self.max_probes.unwrap_or(MIN_PROBES)));
        let probes = min..self.max_probes.unwrap_or(usize::MAX).max(min);
        Ok(Run { metric, segments, selection, uncovered, probes })
    }

    /// The answer to one query.
    fn answer(&self, run: &Run, number: usize, query: &query::Query) -> Result<Batch> {
        let mut rows = self.search(run, query)?;
        if self.postfilter
            && let Some(filter) = self.scan.filter_ref()
        {
            // Of the rows found and no others: what cannot be computed elsewhere is no error here.
            let ids: Vec<u64> = rows.iter().map(|row| row.row_id).collect();
            let condition = Projection::of_expr(filter.expr(), self.scan.dataset().schema())?;
            let values = self.scan.dataset().take(Rows::Ids(&ids), &condition)?;
            let values = &values.columns()[0];
            let mut kept = (0..ids.len()).map(|i| !values.is_null(i) && values.boolean(i) == Some(true));
            rows.retain(|_| kept.next() == Some(true));
        }
        let (offset, limit) = self.scan.window();
        let start = usize::try_from(offset).map_or(rows.len(), |offset| offset.min(rows.len()));
        let end =
            usize::try_from(limit).map_or(rows.len(), |limit| rows.len().min(start.saturating_add(limit)));
        let rows = &rows[start..end];
        let ids: Vec<u64> = rows.iter().map(|row| row.row_id).collect();
        let mut batch = self.scan.dataset().take(Rows::Ids(&ids), self.scan.projection())?;
        if self.numbered {
            batch.push("_query", numbers(&DataType::Int64, &vec![number as i64; rows.len()])?);
        }
        let distances: Vec<f32> = rows.iter().map(|row| row.distance).collect();
        batch.push("_distance", numbers(&DataType::Float32, &distances)?);
        self.scan.stats().returned(rows.len() as u64);
        Ok(batch)
    }

    /// The `k` nearest rows, in order.
    fn search(&self, run: &Run, query: &query::Query) -> Result<Vec<Neighbour>> {
        let dataset = self.scan.dataset();
        let Some(segments) = &run.segments else {
            let mut nearest = self.collector(self.k);
            exact::search(&self.scan, &self.column, query, run.metric, &run.selection, None, &mut nearest)?;
            return Ok(nearest.finish().to_vec());
        };
        let mut nearest = self.collector(self.k.saturating_mul(self.refine.unwrap_or(1)));
        let mixed = !run.uncovered.is_empty();
        let probes = indexed::Probes {
            partitions: run.probes.clone(),
            enough: self.k,
            mixed: mixed && self.refine.is_none(),
        };
        indexed::search(dataset, segments, query, &run.selection, &probes, &mut nearest)?;
        if self.refine.is_none() && !mixed {
            return Ok(nearest.finish().to_vec());
        }
        let candidates: Vec<u64> = nearest.finish().iter().map(|row| row.row_id).collect();
        let mut nearest = self.collector(self.k);
        exact::rank(dataset, &self.column, query, run.metric, &candidates, &mut nearest)?;
        if mixed {
            let only = Some(&*run.uncovered);
            exact::search(&self.scan, &self.column, query, run.metric, &run.selection, only, &mut nearest)?;
        }
        Ok(nearest.finish().to_vec())
    }

    fn collector(&self, k: usize) -> lancet_index::nearest::Nearest {
        let mut nearest = lancet_index::nearest::Nearest::default();
        nearest.start(k, self.range);
        nearest
    }

    /// The answers to several queries in one.
    fn join(&self, batches: &[Batch]) -> Result<Batch> {
        if let Some(first) = batches.first() {
            return read::concat(first.names.clone(), batches);
        }
        let mut batch = self.scan.dataset().take(Rows::Ids(&[]), self.scan.projection())?;
        batch.push("_query", numbers::<i64>(&DataType::Int64, &[])?);
        batch.push("_distance", numbers::<f32>(&DataType::Float32, &[])?);
        Ok(batch)
    }
}

/// What the queries of a search have in common.
struct Run {
    metric: Metric,
    segments: Option<segments::Segments>,
    selection: Selection,
    /// Positions of fragments that no segment covers and that are to be searched.
    uncovered: Vec<usize>,
    probes: std::ops::Range<usize>,
}

/// A column of numbers without nulls.
fn numbers<T: Pod>(data_type: &DataType, values: &[T]) -> Result<Column> {
    let buffer = Buffer::copy_of(bytemuck::cast_slice(values));
    Ok(Column::from_parts(data_type, values.len(), None, Values::Fixed(buffer))?)
}

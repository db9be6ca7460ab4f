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
mod explain;
mod indexed;
mod params;
mod prepared;
mod query;
mod segments;
mod selection;
mod vector_index;

pub use explain::{MaskSource, NearestIndexPlan, NearestPlan, SearchPath};
pub use lancet_index::nearest::Neighbour;
pub use lancet_kernels::distance::Metric;
pub use params::SearchParams;
pub use query::IntoVector;
pub(crate) use segments::{OpenedSegments, check_segment};
pub use vector_index::{Prefilter, SearchScratch, Searched, VectorIndex};

use crate::{Batch, IndexUse, IntoFilter, Plan, Projection, Result, Rows, Scan, read};
use bytemuck::Pod;
use column::VectorColumn;
use indexed::{Room, Search};
use lancet_format::{Buffer, Column, DataType, Values};
use lancet_index::nearest;
use prepared::Prepared;
use query::Query;
use selection::{Allowed, Selection};
use std::sync::Arc;

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
    queries: Vec<Query>,
    /// Whether there may be several queries, so that results say to which they belong.
    numbered: bool,
    params: SearchParams,
    metric: Option<Metric>,
    postfilter: bool,
    use_index: bool,
    indexed_only: bool,
}

impl Nearest {
    pub(crate) fn new(scan: Scan, column: &str, query: impl IntoVector) -> Result<Self> {
        let column = VectorColumn::find(scan.dataset(), column)?;
        let query = Query::new(&[query.into_vector()], &column)?;
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
            let query = Query::new(&vectors, &column)?;
            return Ok(Self::of(scan, column, vec![query], false));
        }
        let queries = vectors.iter().map(|vector| Query::new(std::slice::from_ref(vector), &column));
        let queries = queries.collect::<Result<_>>()?;
        Ok(Self::of(scan, column, queries, true))
    }

    fn of(scan: Scan, column: VectorColumn, queries: Vec<Query>, numbered: bool) -> Self {
        Nearest {
            scan,
            column,
            queries,
            numbered,
            params: SearchParams::default(),
            metric: None,
            postfilter: false,
            use_index: true,
            indexed_only: false,
        }
    }

    /// How many rows to find; 10 by default.
    pub fn k(mut self, k: usize) -> Self {
        self.params = self.params.k(k);
        self
    }

    /// Searches exactly this many partitions of each segment of the index.
    pub fn nprobes(self, partitions: usize) -> Self {
        self.min_probes(partitions).max_probes(partitions)
    }

    /// Searches at least this many partitions; 20 by default. More are searched only until `k` rows are found.
    pub fn min_probes(mut self, partitions: usize) -> Self {
        self.params = self.params.min_probes(partitions);
        self
    }

    /// Searches at most this many partitions; by default all, if need be.
    pub fn max_probes(mut self, partitions: usize) -> Self {
        self.params = self.params.max_probes(partitions);
        self
    }

    /// Finds this many times `k` rows by the index, and ranks them by their exact distances.
    pub fn refine(mut self, factor: usize) -> Self {
        self.params = self.params.refine(factor);
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
        self.params = self.params.distance_range(low, high);
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
        let run = self.prepare()?;
        let mut batches = Vec::with_capacity(self.queries.len());
        for (number, rows) in self.search(&run)?.into_iter().enumerate() {
            self.scan.watch().check()?;
            batches.push(self.answer(number, rows)?);
        }
        match <[Batch; 1]>::try_from(batches) {
            Ok([only]) => Ok(only),
            Err(batches) => self.join(batches),
        }
    }

    /// What the search would do: [`Plan::nearest`] tells how vectors are found, the rest how the filter is evaluated. The
    /// filter is evaluated for that, to know how many rows it leaves.
    ///
    /// # Errors
    /// Those of [`collect`](Self::collect), up to the search itself.
    pub fn explain(&self) -> Result<Plan> {
        explain::plan(self)
    }

    /// The index to search, if any, and why.
    fn choose(&self) -> Result<(Option<Arc<Prepared>>, String)> {
        if !self.use_index {
            return Ok((None, "no index may be used".into()));
        }
        if self.column.is_list() {
            return Ok((None, "lists of vectors are compared exactly".into()));
        }
        let Some(index) = Prepared::of_column(self.scan.dataset(), self.column.id())? else {
            return Ok((None, "no vector index covers a fragment".into()));
        };
        Ok(match self.metric {
            Some(metric) if metric != index.metric => {
                let (own, asked) = (index.metric.name(), metric.name());
                (None, format!("the index compares by {own}, the search by {asked}"))
            }
            _ => (Some(index), String::new()),
        })
    }

    /// What all queries have in common.
    fn prepare(&self) -> Result<Run> {
        let params = SearchParams { watch: self.scan.watch().clone(), ..self.params.clone() };
        params.check()?;
        let dataset = self.scan.dataset();
        let (index, mut reason) = self.choose()?;
        let own = index.as_ref().map(|index| index.metric);
        let metric = self.metric.or(own).unwrap_or_else(|| self.column.default_metric());
        self.queries.iter().try_for_each(|query| query.check(metric))?;

        let is_covered = |position: usize| index.as_ref().is_some_and(|index| index.covered[position]);
        let (covered, mut uncovered): (Vec<usize>, Vec<usize>) =
            self.scan.positions().into_iter().partition(|&position| is_covered(position));
        if self.indexed_only && self.use_index {
            uncovered.clear();
        }
        if index.is_some() {
            reason = match (uncovered.len(), self.indexed_only) {
                (0, false) => "the index covers all fragments".into(),
                (0, true) => "only rows that the index covers are wanted".into(),
                (count, _) => format!("the index does not cover {count} of the fragments"),
            };
        }
        let way = match index {
            None => Way::Exactly(self.select(&uncovered)?),
            Some(index) => {
                let all = covered.len() + uncovered.len() == dataset.fragments().len();
                let allowed = match self.prefilter() {
                    None if all => index.live(dataset)?.clone(),
                    _ => {
                        let mut searched = [covered, uncovered.clone()].concat();
                        searched.sort_unstable();
                        Arc::new(Allowed::new(dataset, self.select(&searched)?, &index)?)
                    }
                };
                Way::ByIndex(index, allowed)
            }
        };
        Ok(Run { params, metric, way, reason, uncovered })
    }

    /// The filter, if it comes before the search.
    fn prefilter(&self) -> Option<&crate::scan::Filter> {
        if self.postfilter { None } else { self.scan.filter_ref() }
    }

    fn select(&self, positions: &[usize]) -> Result<Selection> {
        Selection::new(&self.scan, self.prefilter(), positions)
    }

    /// The answer to a query, for which `rows` were found.
    fn answer(&self, number: usize, mut rows: Vec<Neighbour>) -> Result<Batch> {
        if self.postfilter
            && let Some(filter) = self.scan.filter_ref()
        {
            // Of the rows found and no others: what cannot be computed elsewhere is no error here.
            let ids: Vec<u64> = rows.iter().map(|row| row.row_id).collect();
            let condition = Projection::of_typed(&filter.bound(self.scan.parameters()?))?;
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

    /// The `k` nearest rows of each query, in order.
    fn search(&self, run: &Run) -> Result<Vec<Vec<Neighbour>>> {
        #[cfg(feature = "rayon")]
        if self.scan.is_parallel() && self.queries.len() > 1 {
            use rayon::prelude::*;
            let part = self.queries.len().div_ceil(rayon::current_num_threads()).max(1);
            let parts = self.queries.par_chunks(part).map(|queries| self.search_some(run, queries));
            return Ok(parts.collect::<Result<Vec<_>>>()?.concat());
        }
        self.search_some(run, &self.queries)
    }

    fn search_some(&self, run: &Run, queries: &[Query]) -> Result<Vec<Vec<Neighbour>>> {
        let mut found = Vec::with_capacity(queries.len());
        match &run.way {
            Way::Exactly(selection) => {
                for query in queries {
                    let mut nearest = run.collector();
                    self.search_exactly(run, query, selection, None, &mut nearest)?;
                    found.push(nearest.finish().to_vec());
                }
            }
            Way::ByIndex(index, allowed) => {
                let search = Search::new(index, allowed, &run.params, !run.uncovered.is_empty());
                let mut room = Room::default();
                let vectors = queries.iter().map(|query| &query.vectors()[0]);
                let work = match queries {
                    [query] => {
                        let work = search.one(&query.vectors()[0], &mut room)?;
                        found.push(self.finish(run, query, allowed.selection(), room.nearest.finish())?);
                        work
                    }
                    _ => search.many(vectors, &mut room, |number, rows| {
                        found.push(self.finish(run, &queries[number], allowed.selection(), rows)?);
                        Ok(())
                    })?,
                };
                self.scan.stats().searched(work.partitions, work.rows);
            }
        }
        Ok(found)
    }

    /// The nearest rows, given those that the index found: with their exact distances, if that is asked for or rows that
    /// it does not cover are searched too.
    fn finish(
        &self,
        run: &Run,
        query: &Query,
        selection: &Selection,
        found: &[Neighbour],
    ) -> Result<Vec<Neighbour>> {
        if run.params.refine.is_none() && run.uncovered.is_empty() {
            return Ok(found.to_vec());
        }
        let mut nearest = run.collector();
        let (dataset, mut room) = (self.scan.dataset(), exact::Room::default());
        exact::rank(dataset, &self.column, query.vectors(), run.metric, found, &mut room, &mut nearest)?;
        if !run.uncovered.is_empty() {
            self.search_exactly(run, query, selection, Some(&run.uncovered), &mut nearest)?;
        }
        Ok(nearest.finish().to_vec())
    }

    fn search_exactly(
        &self,
        run: &Run,
        query: &Query,
        selection: &Selection,
        only: Option<&[usize]>,
        nearest: &mut nearest::Nearest,
    ) -> Result<()> {
        exact::search(&self.scan, &self.column, query.vectors(), run.metric, selection, only, nearest)
    }

    /// The answers to several queries in one.
    fn join(&self, batches: Vec<Batch>) -> Result<Batch> {
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
    params: SearchParams,
    metric: Metric,
    way: Way,
    /// Why that way.
    reason: String,
    /// Positions of fragments that the index does not cover and that are to be searched.
    uncovered: Vec<usize>,
}

/// The rows that may be found, and how.
enum Way {
    Exactly(Selection),
    ByIndex(Arc<Prepared>, Arc<Allowed>),
}

impl Run {
    /// For the rows of an answer.
    fn collector(&self) -> nearest::Nearest {
        let mut nearest = nearest::Nearest::default();
        nearest.start(self.params.k, self.params.range);
        nearest
    }
}

/// A column of numbers without nulls.
fn numbers<T: Pod>(data_type: &DataType, values: &[T]) -> Result<Column> {
    let buffer = Buffer::copy_of(bytemuck::cast_slice(values));
    Ok(Column::from_parts(data_type, values.len(), None, Values::Fixed(buffer))?)
}

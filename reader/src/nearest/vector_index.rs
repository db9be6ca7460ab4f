//! [`VectorIndex`]: searches of an index where every microsecond counts.

use super::{
    Metric, SearchParams,
    column::VectorColumn,
    exact,
    indexed::{Room, Search, Work},
    prepared::Prepared,
    query,
    selection::{Allowed, Selection},
};
use crate::{Dataset, Error, Result, Scan};
use lancet_index::{
    nearest::{Nearest, Neighbour},
    vector::Vector,
};
use std::sync::Arc;

/// The vector index on a column of one version of a dataset; made by [`Dataset::vector_index`]. Cloning is cheap, and
/// all methods may be called from any number of threads at once.
///
/// ```no_run
/// # fn main() -> lancet::Result<()> {
/// use lancet::{Dataset, Prefilter, SearchParams};
///
/// let dataset = Dataset::open("words.lance")?;
/// let index = dataset.vector_index("vector")?;
/// let params = SearchParams::default().k(10).nprobes(20);
/// let (mut scratch, mut hits) = (index.scratch(), Vec::new());
/// for query in [[0.5f32; 50], [0.25; 50]] {
///     index.search(&query, &params, &Prefilter::default(), &mut scratch, &mut hits)?;
///     println!("row {} at {}", hits[0].row_id, hits[0].distance);
/// }
/// # Ok(())
/// # }
/// ```
///
/// A search with a scratch that was used before makes no heap allocation and waits on no lock, unless it touches a
/// partition that is not in the [cache](Dataset::index_cache). It finds rows that the index covers: whether these are
/// all, [`is_complete`](Self::is_complete) says. [`Scan::nearest`](crate::Scan::nearest) also searches the others.
#[derive(Debug, Clone)]
pub struct VectorIndex {
    dataset: Dataset,
    column: VectorColumn,
    prepared: Arc<Prepared>,
}

/// Room that searches use one after the other. Any index can use it.
#[derive(Debug, Default)]
pub struct SearchScratch {
    vectors: Vec<Vector>,
    room: Room,
    refine: exact::Room,
    refined: Nearest,
}

/// The rows that a search may return: of one index, of one version of a dataset. By default all that are not deleted.
#[derive(Debug, Clone, Default)]
pub struct Prefilter(Option<Arc<OfIndex>>);

#[derive(Debug)]
struct OfIndex {
    allowed: Allowed,
    /// The index that it was made for.
    prepared: Arc<Prepared>,
}

/// What a search took; see [`VectorIndex::search`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Searched {
    /// Partitions that were searched.
    pub partitions: u64,
    /// Rows in them, those left out by the filter among them.
    pub rows: u64,
}

impl Prefilter {
    /// How many rows it selects; `None` if it is all rows.
    pub fn len(&self) -> Option<u64> {
        self.0.as_ref().map(|own| own.allowed.selection().count())
    }

    /// Whether no row is selected.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
}

impl VectorIndex {
    pub(crate) fn new(dataset: &Dataset, column: &str) -> Result<Self> {
        let column = VectorColumn::find(dataset, column)?;
        let none = |why: &str| Error::invalid_input(format!("column `{}`: {why}", column.name()));
        if column.is_list() {
            return Err(none("an index of lists of vectors is not searched"));
        }
        match Prepared::of_column(dataset, column.id())? {
            Some(prepared) => Ok(VectorIndex { dataset: dataset.clone(), column, prepared }),
            None => Err(none("expected a vector index, found none that covers a fragment")),
        }
    }

    /// The index's name.
    pub fn name(&self) -> &str {
        &self.prepared.name
    }

    /// How vectors are compared.
    pub fn metric(&self) -> Metric {
        self.prepared.metric
    }

    /// The numbers of a vector.
    pub fn dimension(&self) -> usize {
        self.column.dimension()
    }

    /// The number of partitions, of all segments together.
    pub fn partitions(&self) -> usize {
        self.prepared.partitions()
    }

    /// Whether distances are estimates, unless a search refines them.
    pub fn is_quantized(&self) -> bool {
        self.prepared.is_quantized()
    }

    /// Whether the index covers all fragments of the dataset.
    pub fn is_complete(&self) -> bool {
        self.prepared.covered.iter().all(|&covered| covered)
    }

    /// Room for searches.
    pub fn scratch(&self) -> SearchScratch {
        SearchScratch::default()
    }

    /// The rows that `scan` would return, its filter evaluated now: for any number of searches of this index.
    ///
    /// # Errors
    /// Invalid input if the scan is of another version, or has an offset or a limit; and those of evaluating the filter.
    pub fn prefilter(&self, scan: &Scan) -> Result<Prefilter> {
        if scan.window() != (0, u64::MAX) {
            return Err(Error::invalid_input("expected a scan without offset and limit"));
        }
        if !scan.dataset().is_same(&self.dataset) {
            return Err(Error::invalid_input("expected a scan of the version that the index was opened of"));
        }
        let selection = Selection::new(scan, scan.filter_ref(), &scan.positions())?;
        let allowed = Allowed::new(&self.dataset, selection, &self.prepared)?;
        Ok(Prefilter(Some(Arc::new(OfIndex { allowed, prepared: self.prepared.clone() }))))
    }

    /// Reads all partitions that are not in the cache, as far as its budget allows.
    ///
    /// # Errors
    /// Those of the index's files, deletion files and row ids.
    pub fn prewarm(&self) -> Result<()> {
        self.prepared.live(&self.dataset)?;
        for segment in &self.prepared.segments {
            for number in 0..segment.opened.ivf.partitions() {
                segment.opened.partition(number)?;
            }
        }
        Ok(())
    }

    /// Sets `hits` to the `k` rows that are nearest to `query`, the nearest first and of equally near ones that with the
    /// lower row id. The query's numbers may be of any type; they are brought into that of the column.
    ///
    /// # Errors
    /// Invalid input if the query does not fit the column, the parameters do not fit together, or the filter is not one
    /// of this index; those of the files; and if the deadline has passed or the search was cancelled.
    pub fn search<N: Copy + Into<f64>>(
        &self,
        query: &[N],
        params: &SearchParams,
        prefilter: &Prefilter,
        scratch: &mut SearchScratch,
        hits: &mut Vec<Neighbour>,
    ) -> Result<Searched> {
        hits.clear();
        let allowed = self.allowed(prefilter)?;
        self.fill(scratch, 0, query)?;
        let search = self.task(params, allowed)?;
        let SearchScratch { vectors, room, refine, refined } = scratch;
        let work = search.one(&vectors[0], room)?;
        let found = match params.refine {
            None => room.nearest.finish(),
            Some(_) => room.nearest.unordered(),
        };
        let found = self.refined(&vectors[0], found, params, refine, refined)?;
        hits.extend_from_slice(found);
        Ok(work.into())
    }

    /// As [`search`](Self::search) for each of `queries`, whose rows go to one of `hits` each: the same rows, but a
    /// partition is visited once for all queries that probe it.
    ///
    /// # Errors
    /// Those of [`search`](Self::search).
    pub fn search_batch<N: Copy + Into<f64>, Q: AsRef<[N]>>(
        &self,
        queries: &[Q],
        params: &SearchParams,
        prefilter: &Prefilter,
        scratch: &mut SearchScratch,
        hits: &mut Vec<Vec<Neighbour>>,
    ) -> Result<Searched> {
        hits.truncate(queries.len());
        hits.iter_mut().for_each(Vec::clear);
        hits.resize_with(queries.len(), Vec::new);
        let allowed = self.allowed(prefilter)?;
        for (number, query) in queries.iter().enumerate() {
            self.fill(scratch, number, query.as_ref())?;
        }
        let search = self.task(params, allowed)?;
        let SearchScratch { vectors, room, refine, refined } = scratch;
        let vectors = &vectors[..queries.len()];
        let work = search.many(vectors.iter(), room, |number, found| {
            let found = self.refined(&vectors[number], found, params, refine, refined)?;
            hits[number].extend_from_slice(found);
            Ok(())
        })?;
        Ok(work.into())
    }

    fn allowed<'a>(&'a self, prefilter: &'a Prefilter) -> Result<&'a Allowed> {
        match &prefilter.0 {
            None => self.prepared.live(&self.dataset).map(|live| &**live),
            Some(own) if Arc::ptr_eq(&own.prepared, &self.prepared) => Ok(&own.allowed),
            Some(_) => Err(Error::invalid_input("expected a prefilter of this index and version")),
        }
    }

    /// Sets vector `number` of the scratch to `query`.
    fn fill<N: Copy + Into<f64>>(
        &self,
        scratch: &mut SearchScratch,
        number: usize,
        query: &[N],
    ) -> Result<()> {
        query::check_length(query.len(), &self.column)?;
        while scratch.vectors.len() <= number {
            scratch.vectors.push(Vector::empty(self.column.item())?);
        }
        let vector = &mut scratch.vectors[number];
        if vector.item() != *self.column.item() {
            *vector = Vector::empty(self.column.item())?;
        }
        vector.fill(query)?;
        query::check(vector, self.prepared.metric)
    }

    fn task<'a>(&'a self, params: &'a SearchParams, allowed: &'a Allowed) -> Result<Search<'a>> {
        params.check()?;
        Ok(Search::new(&self.prepared, allowed, params, false))
    }

    /// The `k` nearest of the rows that the index found, by their exact distances if the search refines.
    fn refined<'a>(
        &self,
        vector: &Vector,
        found: &'a [Neighbour],
        params: &SearchParams,
        room: &mut exact::Room,
        refined: &'a mut Nearest,
    ) -> Result<&'a [Neighbour]> {
        if params.refine.is_none() {
            return Ok(found);
        }
        refined.start(params.k, params.range);
        let vectors = std::slice::from_ref(vector);
        exact::rank(&self.dataset, &self.column, vectors, self.metric(), found, room, refined)?;
        Ok(refined.finish())
    }
}

impl From<Work> for Searched {
    fn from(work: Work) -> Self {
        Searched { partitions: work.partitions, rows: work.rows }
    }
}

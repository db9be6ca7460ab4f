//! [`Scan`]: which rows and columns of a dataset to read; and the ways there.
//!
//! ```text
//! batches    all rows in order, or those that a filter leaves, batch by batch
//! whole      without a filter: a batch is a run of live rows, lent from the file where it can be
//! filter     the condition of a scan
//! filtered   with one: the columns of the filter first, then only the rows that remain
//! planned    the rows that indices leave
//! inputs     the columns of a range of rows, each read when the filter first asks for it
//! prepared   a scan that runs many times with other values
//! explain    what a scan would do
//! stats      what it has done
//! watch      deadline and cancellation, looked at between batches
//! ```

mod batches;
mod explain;
mod filter;
mod filtered;
mod inputs;
mod planned;
mod prepared;
mod stats;
mod watch;
mod whole;

pub use batches::Batches;
pub use explain::{FragmentPlan, IndexPlan, Plan, Reading};
pub(crate) use filter::Filter;
pub use filter::IntoFilter;
pub(crate) use filtered::matches;
pub(crate) use inputs::RangeInputs;
pub use prepared::Prepared;
pub use stats::Stats;

use crate::{
    Batch, Dataset, Error, IndexUse, Nearest, Projection, Result, expr::Scalar, nearest::IntoVector, read,
};
use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Instant,
};
pub(crate) use watch::Watch;

/// The rows of a batch unless the caller says otherwise.
const BATCH_SIZE: usize = 8192;

/// Which rows and columns of a dataset to read. Made by [`Dataset::scan`].
///
/// ```no_run
/// # fn main() -> lancet::Result<()> {
/// let dataset = lancet::Dataset::open("words.lance")?;
/// let scan = dataset.scan().filter("initial = 'k' AND rank < 1000")?.columns(["word", "rank + 1 AS place"])?;
/// for batch in scan.limit(100).batches()? {
///     let batch = batch?;
///     let words = &batch.columns()[0];
///     for row in 0..batch.len() {
///         println!("{}", words.str(row).unwrap_or("NULL"));
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Scan {
    dataset: Dataset,
    projection: Projection,
    filter: Option<Arc<Filter>>,
    /// The values of the filter's parameters.
    parameters: Vec<Scalar>,
    fragments: Option<Vec<u32>>,
    offset: u64,
    limit: Option<u64>,
    batch_size: usize,
    indices: IndexUse,
    indexed_only: bool,
    #[cfg(feature = "rayon")]
    parallel: bool,
    watch: Watch,
    stats: Arc<Stats>,
}

impl Scan {
    pub(crate) fn new(dataset: Dataset) -> Self {
        let projection = dataset.full_projection();
        Scan {
            dataset,
            projection,
            filter: None,
            parameters: Vec::new(),
            fragments: None,
            offset: 0,
            limit: None,
            batch_size: BATCH_SIZE,
            indices: IndexUse::Auto,
            indexed_only: false,
            #[cfg(feature = "rayon")]
            parallel: false,
            watch: Watch::default(),
            stats: Arc::default(),
        }
    }

    /// Reads only rows for which `filter` is true: a text in the [language of filters](crate::expr), or an
    /// [`Expr`](crate::expr::Expr). Called again, for which all filters are true.
    ///
    /// # Errors
    /// Invalid input if the text is no filter, with the place in it; or if a column is not there or has another
    /// type.
    pub fn filter(mut self, filter: impl IntoFilter) -> Result<Self> {
        let mut expr = filter.into_filter()?;
        let mut filter = Filter::new(expr.clone(), self.dataset.schema())?;
        if let Some(earlier) = &self.filter {
            if !earlier.parameters().is_empty() && !filter.parameters().is_empty() {
                return Err(Error::invalid_input(
                    "two filters with parameters, whose numbers would be the same: join them in one text",
                ));
            }
            expr = earlier.expr().clone().and(expr);
            filter = Filter::new(expr, self.dataset.schema())?;
        }
        self.filter = Some(Arc::new(filter));
        Ok(self)
    }

    /// Reads only these columns, in this order. An item is the name of a column, as [`Dataset::projection`] takes
    /// it, or an expression with a name, `score * 2 AS s`; without one it is called by its text.
    ///
    /// # Errors
    /// Those of [`Dataset::projection`], and of expressions those of [`Scan::filter`].
    pub fn columns<S: AsRef<str>>(mut self, items: impl IntoIterator<Item = S>) -> Result<Self> {
        self.projection = Projection::of_items(self.dataset.schema(), items)?;
        Ok(self)
    }

    /// Reads only these columns, resolved before.
    pub fn project(mut self, projection: Projection) -> Self {
        self.projection = projection;
        self
    }

    /// Adds the column `_rowid`: an identifier of the row.
    pub fn with_row_id(mut self) -> Self {
        self.projection = self.projection.with_row_id();
        self
    }

    /// Adds the column `_rowaddr`: fragment id × 2³² + offset in the fragment.
    pub fn with_row_address(mut self) -> Self {
        self.projection = self.projection.with_row_address();
        self
    }

    /// Reads blobs as descriptions instead of their bytes; see [`Projection::with_blob_descriptions`].
    pub fn with_blob_descriptions(mut self) -> Self {
        self.projection = self.projection.with_blob_descriptions();
        self
    }

    /// Reads only rows of the fragments with these ids, in the dataset's order of fragments.
    ///
    /// # Errors
    /// Invalid input if there is no such fragment.
    pub fn fragments(mut self, ids: impl IntoIterator<Item = u32>) -> Result<Self> {
        let ids: Vec<u32> = ids.into_iter().collect();
        for &id in &ids {
            if self.dataset.manifest().position_of(id).is_none() {
                return Err(Error::invalid_input(format!("the dataset has no fragment {id}")));
            }
        }
        self.fragments = Some(ids);
        Ok(self)
    }

    /// Leaves out the first rows, of those that the filter leaves.
    pub fn offset(mut self, rows: u64) -> Self {
        self.offset = rows;
        self
    }

    /// Ends after this many rows.
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// The most rows of a batch, at least 1; by default 8192. Batches end with their fragment, and where a
    /// column can be borrowed from a page without a copy, with that page; rows that are very wide come in
    /// smaller batches, of a gigabyte at the most, and those of blobs in batches of 256 MiB a column.
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.batch_size = rows.max(1);
        self
    }

    /// When scalar indices answer the filter; by default where that promises less work. Whatever they do, the answer is
    /// the same.
    pub fn indices(mut self, when: IndexUse) -> Self {
        self.indices = when;
        self
    }

    /// Leaves out the fragments that the indices which serve the filter do not cover. Where none serves it, nothing
    /// is left out.
    pub fn indexed_only(mut self, only: bool) -> Self {
        self.indexed_only = only;
        self
    }

    /// Gives a parameter of the filter its value.
    fn bind(&mut self, number: usize, value: Scalar) {
        if self.parameters.len() <= number {
            self.parameters.resize(number + 1, Scalar::Null);
        }
        self.parameters[number] = value;
    }

    fn index_use(&self) -> IndexUse {
        match self.indices {
            IndexUse::Auto if self.indexed_only => IndexUse::Always,
            when => when,
        }
    }

    /// Evaluates the filter and reads what it leaves on all threads of the current `rayon` pool. Batches keep their
    /// order. Without a filter this changes nothing.
    #[cfg(feature = "rayon")]
    pub fn parallel(mut self, parallel: bool) -> Self {
        self.parallel = parallel;
        self
    }

    /// Ends with an error ([`ErrorKind::DeadlinePassed`](crate::ErrorKind::DeadlinePassed)) when this time has come
    /// before the last batch. It is looked at between batches.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.watch.deadline = Some(deadline);
        self
    }

    /// Ends with an error ([`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled)) once the flag is set. It is looked
    /// at between batches.
    pub fn cancel(mut self, flag: Arc<AtomicBool>) -> Self {
        self.watch.cancelled = Some(flag);
        self
    }

    /// Adds what the scan does to `stats`.
    pub fn record(mut self, stats: Arc<Stats>) -> Self {
        self.stats = stats;
        self
    }

    /// Starts the scan: the batches, in row order, without empty ones.
    ///
    /// # Errors
    /// Those of the deletion files that must be read to know where the first row lies.
    pub fn batches(self) -> Result<Batches> {
        Batches::new(self)
    }

    /// Runs the scan and joins all batches: for results that fit into memory.
    ///
    /// # Errors
    /// Those of [`Batches`].
    pub fn collect(self) -> Result<Batch> {
        let projection = self.projection.clone();
        let batches = self.batches()?.collect::<Result<Vec<_>>>()?;
        read::join(&projection, batches)
    }

    /// The number of rows that the scan would return. Reads only what the filter needs.
    ///
    /// # Errors
    /// Those of [`Batches`].
    pub fn count(self) -> Result<u64> {
        let (offset, limit) = (self.offset, self.limit.unwrap_or(u64::MAX));
        let rows = match &self.filter {
            Some(_) => filtered::count(&self, offset.saturating_add(limit))?,
            None => whole::count(&self)?,
        };
        let rows = rows.saturating_sub(offset).min(limit);
        self.stats.returned(rows);
        Ok(rows)
    }

    /// Searches for the nearest neighbours of a vector among the rows that the scan would return; its offset and limit
    /// then count rows in the order of their distance. `column` holds vectors: fixed-size lists of numbers.
    ///
    /// # Errors
    /// Invalid input if there is no such column or the query does not fit it.
    pub fn nearest(self, column: &str, query: impl IntoVector) -> Result<Nearest> {
        Nearest::new(self, column, query)
    }

    /// As [`nearest`](Self::nearest), for several vectors: the answers follow one another, and a column `_query` says
    /// to which vector a row belongs. On a column of lists of vectors they are one query of several vectors.
    ///
    /// # Errors
    /// Those of [`nearest`](Self::nearest).
    pub fn nearest_each<V: IntoVector>(
        self,
        column: &str,
        queries: impl IntoIterator<Item = V>,
    ) -> Result<Nearest> {
        Nearest::new_each(self, column, queries)
    }

    pub(crate) fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    pub(crate) fn filter_ref(&self) -> Option<&Filter> {
        self.filter.as_deref()
    }

    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Offset and limit.
    pub(crate) fn window(&self) -> (u64, u64) {
        (self.offset, self.limit.unwrap_or(u64::MAX))
    }

    /// The columns of the batches.
    pub fn projection(&self) -> &Projection {
        &self.projection
    }

    /// What the scan would do.
    ///
    /// # Errors
    /// Those of files that must be read to know the number of rows of a fragment.
    pub fn explain(&self) -> Result<Plan> {
        explain::plan(self)
    }

    pub(crate) fn is_parallel(&self) -> bool {
        #[cfg(feature = "rayon")]
        return self.parallel;
        #[cfg(not(feature = "rayon"))]
        false
    }

    /// The positions of the fragments to read among those of the dataset.
    pub(crate) fn positions(&self) -> Vec<usize> {
        let wanted = |id| self.fragments.as_ref().is_none_or(|ids| ids.contains(&id));
        let fragments = self.dataset.fragments().iter().enumerate();
        fragments.filter(|(_, fragment)| wanted(fragment.meta.id)).map(|(position, _)| position).collect()
    }

    /// The most rows of a batch of `projection`.
    fn batch_rows(&self, projection: &Projection) -> usize {
        let most = usize::try_from(read::rows_that_fit(&projection.columns)).unwrap_or(usize::MAX);
        self.batch_size.min(most)
    }
}

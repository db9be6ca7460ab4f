//! [`Scan`]: all rows of a dataset in order, batch by batch.

use crate::{Batch, Dataset, Error, ErrorKind, Projection, Result, read};
use std::{iter::FusedIterator, ops::Range};

/// The rows of a batch unless the caller says otherwise.
const BATCH_SIZE: usize = 8192;

/// The most memory that the rows of a batch take apart from what their texts and lists hold. Only rows of more
/// than 128 KiB each make a batch smaller than it should be by this.
const MAX_BATCH_BYTES: u64 = 1 << 30;

/// Which rows and columns of a dataset to read. Made by [`Dataset::scan`].
///
/// ```no_run
/// # fn main() -> lancet::Result<()> {
/// let dataset = lancet::Dataset::open("words.lance")?;
/// for batch in dataset.scan().columns(["word"])?.limit(100).batches()? {
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
    offset: u64,
    limit: Option<u64>,
    batch_size: usize,
}

impl Scan {
    pub(crate) fn new(dataset: Dataset) -> Self {
        let projection = dataset.full_projection();
        Scan { dataset, projection, offset: 0, limit: None, batch_size: BATCH_SIZE }
    }

    /// Reads only these columns, in this order; see [`Dataset::projection`].
    ///
    /// # Errors
    /// Those of [`Dataset::projection`].
    pub fn columns<S: AsRef<str>>(mut self, names: impl IntoIterator<Item = S>) -> Result<Self> {
        self.projection = self.dataset.projection(names)?;
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

    /// Leaves out the first rows.
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

    /// Starts the scan: the batches, in row order, without empty ones.
    ///
    /// # Errors
    /// Those of the deletion files that must be read to know where the first row lies.
    pub fn batches(mut self) -> Result<Batches> {
        let columns = self.projection.columns.iter().map(|column| column.data_type().value_bytes());
        let row = columns.fold(1, u64::saturating_add);
        let most = usize::try_from(MAX_BATCH_BYTES / row).unwrap_or(usize::MAX);
        self.batch_size = self.batch_size.min(most.max(1));
        let live = self.dataset.live_before()?;
        let total = live.last().copied().unwrap_or_default();
        let start = self.offset.min(total);
        let remaining = self.limit.unwrap_or(u64::MAX).min(total - start);
        let fragment = live.partition_point(|&before| before <= start).saturating_sub(1);
        let row = match self.dataset.fragments().get(fragment) {
            Some(found) if remaining > 0 && start > live[fragment] => {
                found.select_live(self.dataset.pool(), start - live[fragment])?
            }
            _ => 0,
        };
        Ok(Batches { scan: self, fragment, row, remaining, ranges: Vec::new() })
    }

    /// Runs the scan and joins all batches: for results that fit into memory.
    ///
    /// # Errors
    /// Those of [`Batches`].
    pub fn collect(self) -> Result<Batch> {
        let projection = self.projection.clone();
        let batches = self.batches()?.collect::<Result<Vec<_>>>()?;
        read::join(&projection, &batches)
    }
}

/// The batches of a [`Scan`]. After an error there are no more.
#[derive(Debug)]
pub struct Batches {
    scan: Scan,
    fragment: usize,
    /// The next row of the fragment.
    row: u64,
    /// Rows still wanted.
    remaining: u64,
    ranges: Vec<Range<u64>>,
}

impl Batches {
    fn next_batch(&mut self) -> Result<Option<Batch>> {
        let dataset = self.scan.dataset.clone();
        let pool = dataset.pool();
        while self.remaining > 0 {
            let Some(fragment) = dataset.fragments().get(self.fragment) else { break };
            let rows = fragment.physical_rows(pool)?;
            let end = read::batch_end(fragment, pool, &self.scan.projection, self.row, rows)?;
            let wanted = self.remaining.min(self.scan.batch_size as u64);
            let next = read::live_ranges(fragment.deletions(pool)?, self.row..end, wanted, &mut self.ranges);
            if !self.ranges.is_empty() {
                let batch = self.read(fragment)?;
                self.row = self.ranges.last().map_or(next, |last| last.end);
                self.remaining -= batch.len() as u64;
                return Ok(Some(batch));
            }
            self.row = next;
            if next >= rows {
                self.fragment += 1;
                self.row = 0;
            }
        }
        Ok(None)
    }

    /// Reads the rows of `ranges`, or, if their text does not fit one column, the first of them.
    fn read(&mut self, fragment: &crate::fragment::Fragment) -> Result<Batch> {
        loop {
            let mut batch = Batch::new();
            let pool = self.scan.dataset.pool();
            match read::read(fragment, pool, &self.scan.projection, &self.ranges, &mut batch) {
                Err(error) if error.kind() == ErrorKind::TooLarge => {
                    let rows = self.ranges.iter().map(|range| range.end - range.start).sum::<u64>();
                    if rows < 2 {
                        return Err(error);
                    }
                    read::keep_first(&mut self.ranges, rows / 2);
                }
                Err(error) => return Err(error),
                Ok(()) => return Ok(batch),
            }
        }
    }
}

impl Iterator for Batches {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.next_batch();
        if next.is_err() {
            self.remaining = 0;
        }
        next.transpose()
    }
}

impl FusedIterator for Batches {}

//! [`Stats`]: what a query has done so far.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a query has done so far; see [`Scan::record`](crate::Scan::record). May be read while the query runs.
#[derive(Debug, Default)]
pub struct Stats {
    rows_examined: AtomicU64,
    rows_returned: AtomicU64,
}

impl Stats {
    /// Rows on which a filter was evaluated; deleted ones are not among them.
    pub fn rows_examined(&self) -> u64 {
        self.rows_examined.load(Ordering::Relaxed)
    }

    /// Rows of the answer, or counted.
    pub fn rows_returned(&self) -> u64 {
        self.rows_returned.load(Ordering::Relaxed)
    }

    pub(crate) fn examined(&self, rows: u64) {
        self.rows_examined.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn returned(&self, rows: u64) {
        self.rows_returned.fetch_add(rows, Ordering::Relaxed);
    }
}

//! [`Stats`]: what a query has done so far.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a query has done so far; see [`Scan::record`](crate::Scan::record). May be read while the query runs.
#[derive(Debug, Default)]
pub struct Stats {
    rows_examined: AtomicU64,
    rows_returned: AtomicU64,
    partitions: AtomicU64,
    rows_compared: AtomicU64,
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

    /// Partitions of vector indices that were searched, each as often as it was.
    pub fn partitions(&self) -> u64 {
        self.partitions.load(Ordering::Relaxed)
    }

    /// Rows of these partitions, those left out by a filter among them.
    pub fn rows_compared(&self) -> u64 {
        self.rows_compared.load(Ordering::Relaxed)
    }

    pub(crate) fn searched(&self, partitions: u64, rows: u64) {
        self.partitions.fetch_add(partitions, Ordering::Relaxed);
        self.rows_compared.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn examined(&self, rows: u64) {
        self.rows_examined.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn returned(&self, rows: u64) {
        self.rows_returned.fetch_add(rows, Ordering::Relaxed);
    }
}

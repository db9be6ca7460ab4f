//! [`Stats`]: what a query has done so far.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a query has done so far; see [`Scan::record`](crate::Scan::record). May be read while the query runs.
#[derive(Debug, Default)]
pub struct Stats {
    rows_examined: AtomicU64,
    rows_returned: AtomicU64,
    rows_rechecked: AtomicU64,
    index_pages: AtomicU64,
    index_entries: AtomicU64,
    postings: AtomicU64,
    zones: AtomicU64,
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

    /// Rows that an index found and on which some of the filter was evaluated nevertheless; they are among those
    /// examined.
    pub fn rows_rechecked(&self) -> u64 {
        self.rows_rechecked.load(Ordering::Relaxed)
    }

    /// Searches for a place in a BTree, each of which looks at two pages at the most.
    pub fn index_pages(&self) -> u64 {
        self.index_pages.load(Ordering::Relaxed)
    }

    /// Row ids that were read from BTrees.
    pub fn index_entries(&self) -> u64 {
        self.index_entries.load(Ordering::Relaxed)
    }

    /// Sets of rows that were read from bitmaps.
    pub fn postings(&self) -> u64 {
        self.postings.load(Ordering::Relaxed)
    }

    /// Zones that were compared.
    pub fn zones_compared(&self) -> u64 {
        self.zones.load(Ordering::Relaxed)
    }

    pub(crate) fn rechecked(&self, rows: u64) {
        self.rows_rechecked.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn searched_pages(&self, pages: u64) {
        self.index_pages.fetch_add(pages, Ordering::Relaxed);
    }

    pub(crate) fn read_entries(&self, entries: u64) {
        self.index_entries.fetch_add(entries, Ordering::Relaxed);
    }

    pub(crate) fn read_postings(&self, sets: usize) {
        self.postings.fetch_add(sets as u64, Ordering::Relaxed);
    }

    pub(crate) fn compared_zones(&self, zones: usize) {
        self.zones.fetch_add(zones as u64, Ordering::Relaxed);
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

//! [`SearchParams`]: how the nearest rows are searched for.

use crate::{Error, Result, scan::Watch};
use lancet_index::nearest::Range;
use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Instant,
};

/// Partitions that are searched at least, unless the caller says otherwise.
const MIN_PROBES: usize = 20;

/// How the nearest rows are searched for. Make it once, use it for many searches.
#[derive(Debug, Clone)]
#[must_use]
pub struct SearchParams {
    pub(super) k: usize,
    pub(super) min_probes: Option<usize>,
    pub(super) max_probes: Option<usize>,
    pub(super) refine: Option<usize>,
    pub(super) range: Range,
    pub(super) watch: Watch,
}

impl Default for SearchParams {
    fn default() -> Self {
        SearchParams {
            k: 10,
            min_probes: None,
            max_probes: None,
            refine: None,
            range: Range::default(),
            watch: Watch::default(),
        }
    }
}

impl SearchParams {
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

    /// Finds only rows at distances from `low` up to, not including, `high`.
    pub fn distance_range(mut self, low: Option<f32>, high: Option<f32>) -> Self {
        let all = Range::default();
        self.range = Range { low: low.unwrap_or(all.low), high: high.unwrap_or(all.high) };
        self
    }

    /// Ends with an error ([`ErrorKind::DeadlinePassed`](crate::ErrorKind::DeadlinePassed)) when this time has come
    /// first. It is looked at between partitions.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.watch.deadline = Some(deadline);
        self
    }

    /// Ends with an error ([`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled)) once the flag is set. It is looked at
    /// between partitions.
    pub fn cancel(mut self, flag: Arc<AtomicBool>) -> Self {
        self.watch.cancelled = Some(flag);
        self
    }

    /// # Errors
    /// Invalid input if there is nothing to find, or if the numbers of partitions do not fit together.
    pub(super) fn check(&self) -> Result<()> {
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
        Ok(())
    }

    /// Partitions of each segment: so many for certain, and so many at the most.
    pub(super) fn probes(&self) -> std::ops::Range<usize> {
        let min = self.min_probes.unwrap_or(MIN_PROBES.min(self.max_probes.unwrap_or(MIN_PROBES)));
        min..self.max_probes.unwrap_or(usize::MAX).max(min)
    }

    /// How many rows the index is asked for.
    pub(super) fn candidates(&self) -> usize {
        self.k.saturating_mul(self.refine.unwrap_or(1))
    }
}

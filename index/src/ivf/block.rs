//! [`Block`]: rows of a partition that are scanned together.

use crate::nearest::Collector;
use alloc::vec::Vec;
use core::ops::Range;
use lancet_kernels::{codes::Candidates, mask};

/// Rows that are scanned together.
pub(super) struct Block<'a> {
    /// Their places in the partition.
    pub(super) rows: Range<usize>,
    /// The bits of those that are not left out, if some are; bit 0 is that of the first row.
    pub(super) kept: Option<&'a [u64]>,
    /// Rows at a greater distance are of no use.
    pub(super) threshold: f32,
}

/// Room for one block.
#[derive(Debug, Default)]
pub(super) struct BlockScratch {
    pub(super) candidates: Candidates,
    distances: Vec<f32>,
    positions: Vec<u32>,
    row_ids: Vec<u64>,
}

/// The rows that distances are computed of.
pub(super) enum Wanted<'a> {
    All(Range<usize>),
    Of(&'a [u32]),
}

impl Block<'_> {
    /// Has `distances` compute those of the block, of few rows just of these, and keeps what is near enough.
    pub(super) fn compare<R>(
        &self,
        room: &mut BlockScratch,
        distances: impl FnOnce(Wanted<'_>, &mut [f32]) -> R,
    ) -> R {
        let BlockScratch { candidates, distances: out, positions, .. } = room;
        let first = self.rows.start as u32;
        let few = self.kept.filter(|kept| 2 * mask::count(kept) < self.rows.len());
        if let Some(kept) = few {
            positions.clear();
            mask::positions(kept, first, positions);
            out.resize(positions.len(), 0.0);
            let done = distances(Wanted::Of(positions), out);
            candidates.pick_of(positions, out, self.threshold);
            return done;
        }
        out.resize(self.rows.len(), 0.0);
        let done = distances(Wanted::All(self.rows.clone()), out);
        candidates.pick(first, out, self.kept, self.threshold);
        done
    }
}

impl BlockScratch {
    /// Forgets what was found.
    pub(super) fn clear(&mut self) {
        self.candidates.clear();
    }

    /// Offers what was found in a partition of these rows.
    pub(super) fn offer(&mut self, row_ids: &[u64], found: &mut dyn Collector) {
        if !self.candidates.is_empty() {
            self.row_ids.clear();
            self.row_ids
                .extend(self.candidates.positions().iter().map(|&position| row_ids[position as usize]));
            found.offer(self.candidates.distances(), &self.row_ids, None);
        }
    }
}

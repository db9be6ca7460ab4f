//! [`Block`]: rows of a partition that are scanned together.

use super::Partition;
use crate::nearest::Collector;
use alloc::vec::Vec;
use core::ops::Range;
use lancet_format::Buffer;
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
    /// Those of a piece, counted from its first row.
    within: Vec<u32>,
    row_ids: Vec<u64>,
}

/// The rows of a piece that distances are computed of, counted from its first.
pub(super) enum Wanted<'a> {
    All(Range<usize>),
    Of(&'a [u32]),
}

impl Block<'_> {
    /// Has `distances` compute those of the block, piece by piece, of few rows just of these, and keeps what is near
    /// enough.
    pub(super) fn compare(
        &self,
        partition: &Partition,
        room: &mut BlockScratch,
        mut distances: impl FnMut(&Buffer, Wanted<'_>, &mut [f32]),
    ) {
        let BlockScratch { candidates, distances: out, positions, within, .. } = room;
        let (rows, pieces) = (&self.rows, partition.pieces(self.rows.clone()));
        let first = rows.start as u32;
        out.clear();
        if let Some(kept) = self.kept.filter(|kept| 2 * mask::count(kept) < rows.len()) {
            positions.clear();
            mask::positions(kept, first, positions);
            out.resize(positions.len(), f32::NAN);
            let (mut left, mut room) = (&positions[..], &mut out[..]);
            for (own, piece) in pieces {
                let count = left.partition_point(|&row| (row as usize) < own.end);
                if count > 0 {
                    within.clear();
                    within.extend(left[..count].iter().map(|row| row - own.start as u32));
                    distances(piece, Wanted::Of(within), &mut room[..count]);
                    (left, room) = (&left[count..], &mut room[count..]);
                }
            }
            return candidates.pick_of(positions, out, self.threshold);
        }
        out.resize(rows.len(), f32::NAN);
        for (own, piece) in pieces {
            let (start, end) = (own.start.max(rows.start), own.end.min(rows.end));
            let room = &mut out[start - rows.start..end - rows.start];
            distances(piece, Wanted::All(start - own.start..end - own.start), room);
        }
        candidates.pick(first, out, self.kept, self.threshold);
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

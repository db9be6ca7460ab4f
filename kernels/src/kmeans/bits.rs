//! Rows of bits, under hamming: the number of bits that differ. A mean has the bits that most rows have.

use alloc::{borrow::Cow, vec};

use super::{
    Control, Error,
    space::{Assigned, Space},
};
use crate::{many::BitTargets, parallel::Threads, random::Random};

/// Rows for each part of the work.
const PART: usize = 1024;

pub(super) struct Bits<'a> {
    pub(super) rows: Cow<'a, [u8]>,
    /// Bytes of a row.
    pub(super) width: usize,
    pub(super) threads: Threads,
}

impl Space for Bits<'_> {
    type Item = u8;
    type Memory = ();

    fn len(&self) -> usize {
        self.rows.len() / self.width
    }

    fn dim(&self) -> usize {
        self.width
    }

    fn row(&self, row: usize) -> &[u8] {
        &self.rows[row * self.width..][..self.width]
    }

    fn subset(&self, rows: &[u32]) -> Self {
        let rows = rows.iter().flat_map(|&row| self.row(row as usize)).copied().collect();
        Bits { rows: Cow::Owned(rows), ..*self }
    }

    fn approach(&self, centroid: &[u8], nearest: &mut [f64]) {
        for (row, nearest) in self.rows.chunks_exact(self.width).zip(nearest) {
            *nearest = nearest.min(f64::from(differ(row, centroid)));
        }
    }

    fn inertia(&self, rows: &[u32], centroid: &[u8]) -> f64 {
        rows.iter().map(|&row| f64::from(differ(self.row(row as usize), centroid))).sum()
    }

    fn memory(&self, _: &[u8], _: bool) {}

    fn assign(
        &self,
        centroids: &[u8],
        weights: &[f64],
        _: bool,
        _: &mut (),
        assigned: &mut Assigned,
        control: &Control<'_>,
    ) -> Result<u64, Error> {
        let mut targets = BitTargets::new(centroids, self.width).map_err(|_| Error::NoClusters)?;
        targets.set_weights(weights);
        let parts = self.rows.chunks(PART * self.width);
        let parts = parts.zip(assigned.ids.chunks_mut(PART).zip(assigned.distances.chunks_mut(PART)));
        let cancel = control.cancel;
        self.threads.map(parts.collect(), |(rows, (ids, distances))| {
            if super::options::is_set(cancel) {
                return;
            }
            let mut bits = vec![0; ids.len()];
            targets.nearest(rows, ids, &mut bits, Threads::One);
            distances.iter_mut().zip(bits).for_each(|(distance, bits)| *distance = bits as f32);
        });
        control.check()?;
        Ok((self.len() * assigned.sizes.len()) as u64)
    }

    fn means(&self, assigned: &Assigned, _: &mut (), centroids: &mut [u8]) -> f64 {
        let mut counts = vec![0u32; centroids.len() * 8];
        for (row, &id) in self.rows.chunks_exact(self.width).zip(&assigned.ids) {
            let counts = &mut counts[id as usize * self.width * 8..][..self.width * 8];
            for (byte, counts) in row.iter().zip(counts.chunks_exact_mut(8)) {
                for (bit, count) in counts.iter_mut().enumerate() {
                    *count += u32::from(byte >> bit & 1);
                }
            }
        }
        let counts = counts.chunks_exact(self.width * 8);
        for ((centroid, counts), &size) in
            centroids.chunks_exact_mut(self.width).zip(counts).zip(&assigned.sizes)
        {
            if size == 0 {
                continue;
            }
            for (byte, counts) in centroid.iter_mut().zip(counts.chunks_exact(8)) {
                let most = |count: u32| u64::from(count) * 2 > u64::from(size);
                *byte = (0..8).fold(0, |bits, bit| bits | u8::from(most(counts[bit])) << bit);
            }
        }
        assigned.distances.iter().map(|&distance| f64::from(distance)).sum()
    }

    /// The empty cluster begins again at a random row.
    fn split(&self, centroids: &mut [u8], _: usize, empty: usize, random: &mut Random) {
        let row = self.row(random.below(self.len()));
        centroids[empty * self.width..][..self.width].copy_from_slice(row);
    }
}

/// How many bits differ.
fn differ(a: &[u8], b: &[u8]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

//! Rows and targets of bits, under hamming.

use alloc::{vec, vec::Vec};

use super::{Error, NONE};
use crate::{
    arch::all::bits::{self, Differ, ROWS, WIDTH},
    parallel::Threads,
};

/// Rows for each part of the work.
const PART: usize = 256;

/// Bit strings that rows are compared with. The distance is the number of bits that differ.
pub struct BitTargets {
    count: usize,
    /// Bytes of a row.
    width: usize,
    /// Words of a row; the last one is filled up with zeros.
    words: usize,
    /// `WIDTH` targets side by side, word by word, panel after panel.
    panels: Vec<u64>,
    weights: Vec<f64>,
    differ: Differ,
}

impl BitTargets {
    /// Targets of `width` bytes each, one after the other.
    ///
    /// # Errors
    /// If there are none or too many of them.
    pub fn new(vectors: &[u8], width: usize) -> Result<Self, Error> {
        if width == 0 {
            return Err(Error::NoDimension);
        } else if !vectors.len().is_multiple_of(width) {
            return Err(Error::Ragged);
        } else if vectors.is_empty() {
            return Err(Error::Empty);
        } else if vectors.len() / width > 1 << 24 {
            return Err(Error::TooMany);
        }
        let (count, words) = (vectors.len() / width, width.div_ceil(8));
        let mut panels = vec![0; count.div_ceil(WIDTH) * words * WIDTH];
        for (target, vector) in vectors.chunks_exact(width).enumerate() {
            let panel = &mut panels[target / WIDTH * words * WIDTH..];
            for (word, bits) in words_of(vector).enumerate() {
                panel[word * WIDTH + target % WIDTH] = bits;
            }
        }
        Ok(BitTargets { count, width, words, panels, weights: vec![0.0; count], differ: bits::kernel() })
    }

    /// Adds `weights`, one for each target, to the distances that decide which target is nearest.
    ///
    /// # Panics
    /// If there are more or fewer weights than targets.
    pub fn set_weights(&mut self, weights: &[f64]) {
        self.weights.copy_from_slice(weights);
    }

    /// The nearest target of each row, and how many bits differ. Of equally near ones, that with the lowest id.
    ///
    /// # Panics
    /// If `ids` or `distances` do not have one item for each row.
    pub fn nearest(&self, rows: &[u8], ids: &mut [u32], distances: &mut [u32], threads: Threads) {
        assert!(rows.len() == ids.len() * self.width && ids.len() == distances.len(), "an item for each row");
        let parts = rows.chunks(PART * self.width).zip(ids.chunks_mut(PART)).zip(distances.chunks_mut(PART));
        threads.map(parts.collect(), |((rows, ids), distances)| {
            let mut costs = vec![f64::INFINITY; ids.len()];
            self.meet(rows, |row, target, bits| {
                let cost = bits as f64 + self.weights[target];
                if cost < costs[row] {
                    costs[row] = cost;
                    (ids[row], distances[row]) = (target as u32, bits as u32);
                }
            });
        });
    }

    /// The nearest `n` targets of each row, the nearest first, and how many bits differ: `n` items for each row. Of
    /// equally near ones, those with the lower ids come first. Where there are fewer than `n` targets, [`NONE`] and
    /// `u32::MAX` follow.
    ///
    /// # Panics
    /// If `ids` or `distances` do not have `n` items for each row.
    pub fn nearest_n(&self, rows: &[u8], n: usize, ids: &mut [u32], distances: &mut [u32], threads: Threads) {
        let count = rows.len() / self.width;
        assert!(rows.len().is_multiple_of(self.width), "whole rows");
        assert!(
            count.checked_mul(n) == Some(ids.len()) && ids.len() == distances.len(),
            "n items for each row"
        );
        if n == 0 {
            return;
        }
        let parts =
            rows.chunks(ROWS * self.width).zip(ids.chunks_mut(ROWS * n)).zip(distances.chunks_mut(ROWS * n));
        threads.map(parts.collect(), |((rows, ids), distances)| {
            let mut near = vec![Vec::with_capacity(self.count); rows.len() / self.width];
            self.meet(rows, |row, target, bits| {
                near[row].push((bits as f64 + self.weights[target], target as u32, bits as u32));
            });
            for (near, (ids, distances)) in
                near.iter_mut().zip(ids.chunks_mut(n).zip(distances.chunks_mut(n)))
            {
                near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                ids.fill(NONE);
                distances.fill(u32::MAX);
                for (near, (id, distance)) in near.iter().zip(ids.iter_mut().zip(distances)) {
                    (*id, *distance) = (near.1, near.2);
                }
            }
        });
    }

    /// Calls `with` for each row and target with the number of bits that differ; for a row, targets come in order.
    fn meet(&self, rows: &[u8], mut with: impl FnMut(usize, usize, u64)) {
        let mut tile = vec![0; ROWS * self.words];
        for (at, rows) in rows.chunks(ROWS * self.width).enumerate() {
            let count = rows.len() / self.width;
            for (row, words) in rows.chunks_exact(self.width).zip(tile.chunks_exact_mut(self.words)) {
                words.iter_mut().zip(words_of(row)).for_each(|(word, bits)| *word = bits);
            }
            for (panel, words) in self.panels.chunks_exact(self.words * WIDTH).enumerate() {
                let differ = (self.differ)(&tile, words, self.words);
                for (row, differ) in differ.iter().take(count).enumerate() {
                    let targets = panel * WIDTH..self.count.min((panel + 1) * WIDTH);
                    targets.zip(differ).for_each(|(target, &bits)| with(at * ROWS + row, target, bits));
                }
            }
        }
    }
}

/// The words of a vector; the last one is filled up with zeros.
fn words_of(vector: &[u8]) -> impl Iterator<Item = u64> {
    let (words, rest) = vector.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let last = (!rest.is_empty()).then_some(last);
    words.iter().copied().chain(last).map(u64::from_le_bytes)
}

//! [`Candidates`]: the rows of a block that are near enough.

use super::Kernels;
use alloc::vec::Vec;

/// Rows that are not farther than a threshold, with their distances: what a scan of codes yields.
///
/// A value is reused from block to block: once it has grown to the size of the largest block, nothing is allocated.
#[derive(Debug, Clone, Default)]
pub struct Candidates {
    pub(super) positions: Vec<u32>,
    pub(super) distances: Vec<f32>,
}

impl Candidates {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.positions.clear();
        self.distances.clear();
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.positions.is_empty()
    }

    /// The positions of the rows, in the order in which they were met.
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// The distance of each of them.
    pub fn distances(&self) -> &[f32] {
        &self.distances
    }

    /// The distances, to be brought to another scale.
    pub fn distances_mut(&mut self) -> &mut [f32] {
        &mut self.distances
    }

    /// Adds those of the rows at positions `first`, `first + 1`, … whose distance is not above `threshold`, and whose
    /// bit in the [mask](crate::mask) `kept` is set. A NaN is above every threshold.
    ///
    /// # Panics
    /// If there are not `distances.len().div_ceil(64)` words of `kept`, or positions do not fit 32 bits.
    pub fn pick(&mut self, first: u32, distances: &[f32], kept: Option<&[u64]>, threshold: f32) {
        if let Some(kept) = kept {
            assert_eq!(kept.len(), distances.len().div_ceil(64), "words of a mask of these rows");
        }
        assert!(distances.len() <= (u32::MAX - first) as usize, "positions of 32 bits");
        (Kernels::current().pick)(first, distances, kept, threshold, self);
    }

    /// Adds those of the rows at `positions` whose distance is not above `threshold`.
    ///
    /// # Panics
    /// If there are not as many positions as distances.
    pub fn pick_of(&mut self, positions: &[u32], distances: &[f32], threshold: f32) {
        assert_eq!(positions.len(), distances.len(), "a position for each distance");
        for (&position, &distance) in positions.iter().zip(distances) {
            self.push(position, distance, threshold);
        }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, position: u32, distance: f32, threshold: f32) {
        if distance <= threshold {
            self.positions.push(position);
            self.distances.push(distance);
        }
    }

    /// Where positions and distances are kept.
    #[allow(dead_code)] // not every instruction set writes them itself
    pub(crate) fn lists(&mut self) -> (&mut Vec<u32>, &mut Vec<f32>) {
        (&mut self.positions, &mut self.distances)
    }
}

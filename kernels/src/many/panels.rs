//! Targets as tiles read them.
//!
//! ```text
//! panel 0            │ panel 1            │ …      W targets each; the last is filled up
//! ids, offsets,      │ ids, offsets,      │
//! elements 0 … d−1   │ elements 0 … d−1   │
//! each W numbers     │                    │
//! ```
//!
//! A target that only fills up has the offset −∞, a score that none is below.

use alloc::{vec, vec::Vec};

use super::Number;

/// Panels of targets.
pub(crate) struct Panels<N> {
    /// Begins at `start` on a cache line.
    numbers: Vec<N>,
    start: usize,
    /// Numbers of a panel.
    len: usize,
    width: usize,
}

/// Bytes of a cache line, which no register load should straddle.
const LINE: usize = 64;

impl<N: Number> Panels<N> {
    /// Panels of `width` targets for those with the ids `order`, all elements zero.
    pub(crate) fn new(order: &[u32], dim: usize, width: usize) -> Self {
        let count = order.len();
        let len = width * (dim + 2);
        let spare = LINE / size_of::<N>();
        let numbers = vec![N::default(); count.div_ceil(width) * len + spare];
        let start = numbers.as_ptr().align_offset(LINE);
        let mut panels = Panels { numbers, start: if start < spare { start } else { 0 }, len, width };
        for place in 0..count.next_multiple_of(width) {
            panels.set_offset(place, N::NEG_INFINITY);
            *panels.at(place, 0) = N::round(order.get(place).map_or(0.0, |&id| id.into()));
        }
        panels
    }

    fn at(&mut self, place: usize, line: usize) -> &mut N {
        let (panel, lane) = (place / self.width, place % self.width);
        &mut self.numbers[self.start + panel * self.len + line * self.width + lane]
    }

    pub(crate) fn set_offset(&mut self, place: usize, offset: N) {
        *self.at(place, 1) = offset;
    }

    /// Puts a target in its place, element by element.
    pub(crate) fn set(&mut self, place: usize, elements: impl Iterator<Item = N>) {
        let (panel, lane) = (place / self.width, place % self.width);
        let panel = &mut self.numbers[self.start + panel * self.len..][..self.len];
        for (line, element) in panel.chunks_exact_mut(self.width).skip(2).zip(elements) {
            line[lane] = element;
        }
    }

    /// The panels, each beginning with the place `panel × width`.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[N]> {
        let end = self.start + (self.numbers.len() - self.start) / self.len * self.len;
        self.numbers[self.start..end].chunks_exact(self.len)
    }
}

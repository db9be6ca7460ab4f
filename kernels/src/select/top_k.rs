//! [`TopK`].

use super::{BLOCK, Hit, Ids};
use crate::{
    compare::{Ends, Kernels, Lane, Tables},
    isa::Isa,
    mask,
};
use alloc::vec::Vec;
use core::ops::{Range, RangeBounds};

/// Rows that are taken in above k before the worst are dropped: at least so many, and at least twice k. With as many
/// as k, falling distances take up to twice the time.
const SPARE: usize = 256;

/// The k nearest of the rows that it was given.
///
/// A value is reused from search to search: [`reset`](Self::reset) starts the next one, and once it has grown to the
/// size that a k needs, nothing is allocated.
#[derive(Debug, Clone)]
pub struct TopK {
    k: usize,
    /// The best rows so far in any order: k of them and the spare ones, or fewer. See [`entry`].
    entries: Vec<u128>,
    /// The [order](Lane::order) of the lowest and of the highest distance that may enter. None enters if the latter
    /// is less.
    lowest: i32,
    highest: i32,
    /// An entry enters if it is less.
    limit: u128,
}

impl Default for TopK {
    fn default() -> Self {
        Self::new()
    }
}

impl TopK {
    /// A value that keeps no row; [`reset`](Self::reset) comes next.
    pub const fn new() -> Self {
        TopK { k: 0, entries: Vec::new(), lowest: 0, highest: -1, limit: u128::MAX }
    }

    /// Forgets all rows. Those to come enter if they are among the `k` nearest and their distance is in `range`, in
    /// which −0 and +0 are equal: `..` lets all in, and `a..b` those of `a ≤ distance < b`.
    pub fn reset(&mut self, k: usize, range: impl RangeBounds<f32>) {
        let (lowest, highest) =
            f32::ends(range.start_bound().cloned(), range.end_bound().cloned()).unwrap_or((0, -1));
        self.entries.clear();
        self.k = k;
        self.lowest = lowest.max(order(f32::NEG_INFINITY));
        self.highest = if k == 0 { i32::MIN } else { highest.min(order(f32::INFINITY)) };
        self.limit = u128::MAX;
    }

    /// Distances above this do not enter: the upper end of the range at first, and later that of the k-th nearest
    /// row at some time before.
    ///
    /// It is a NaN if nothing enters.
    #[inline]
    pub fn threshold(&self) -> f32 {
        if self.lowest > self.highest { f32::NAN } else { distance(self.highest) }
    }

    /// The number of rows to return.
    #[inline]
    pub fn k(&self) -> usize {
        self.k
    }

    /// Lets in one row.
    #[inline]
    pub fn push(&mut self, distance: f32, id: u64) {
        let order = order(distance);
        if self.lowest <= order && order <= self.highest {
            self.enter(entry(order, id));
        }
    }

    /// Lets in the rows of `distances`, but those whose bit is set in the [mask](crate::mask) `excluded`.
    ///
    /// # Panics
    /// If there are not as many ids as distances, or not `distances.len().div_ceil(64)` words of `excluded`.
    pub fn push_block(&mut self, distances: &[f32], ids: Ids<'_>, excluded: Option<&[u64]>) {
        if let Some(excluded) = excluded {
            let rows = distances.len();
            assert_eq!(excluded.len(), rows.div_ceil(64), "words of a mask of {rows} rows");
        }
        match ids {
            Ids::From(first) => {
                let id = |i: usize| first.wrapping_add(i as u64);
                let lowest =
                    |rows: Range<usize>| if id(rows.end - 1) < id(rows.start) { 0 } else { id(rows.start) };
                self.push_rows(distances, excluded, id, lowest);
            }
            Ids::Of(ids) => {
                assert_eq!(ids.len(), distances.len(), "an id for each distance");
                self.push_rows(distances, excluded, |i| ids[i], |_| 0);
            }
        }
    }

    /// `lowest_id` is at most the lowest id of some rows.
    #[inline(always)]
    fn push_rows(
        &mut self,
        distances: &[f32],
        excluded: Option<&[u64]>,
        id: impl Fn(usize) -> u64,
        lowest_id: impl Fn(Range<usize>) -> u64,
    ) {
        let Kernels { within, .. } = u32::kernels::<true>(Isa::current());
        let mut words = [0; BLOCK / 64];
        for (block, distances) in distances.chunks(BLOCK).enumerate() {
            // Of rows whose ids are above that of the k-th nearest, those of the same distance do not enter.
            let rows = block * BLOCK..block * BLOCK + distances.len();
            let highest = self.highest.saturating_sub((lowest_id(rows) > self.limit as u64).into());
            if self.lowest > highest {
                continue;
            }
            let words = &mut words[..distances.len().div_ceil(64)];
            let span = highest.wrapping_sub(self.lowest) as u32;
            within(bytemuck::cast_slice(distances), self.lowest as u32, span, 0, words);
            if let Some(excluded) = excluded {
                mask::and_not(words, &excluded[block * (BLOCK / 64)..][..words.len()]);
            }
            for row in mask::ones(words) {
                self.enter(entry(order(distances[row]), id(block * BLOCK + row)));
            }
        }
    }

    #[inline(always)]
    fn enter(&mut self, entry: u128) {
        if entry < self.limit {
            self.entries.push(entry);
            if self.entries.len() >= self.k.saturating_add(SPARE.max(self.k.saturating_mul(2))) {
                self.reduce();
            }
        }
    }

    /// Keeps the k lowest entries.
    #[cold]
    fn reduce(&mut self) {
        if self.entries.len() > self.k {
            self.entries.select_nth_unstable(self.k - 1);
            self.entries.truncate(self.k);
            self.limit = self.entries[self.k - 1];
            self.highest = order_of(self.limit);
        }
    }

    /// The k nearest rows so far, or all if there are fewer, ascending. More may be pushed afterwards.
    pub fn finish(&mut self) -> impl ExactSizeIterator<Item = Hit> + Clone + use<'_> {
        self.reduce();
        self.entries.sort_unstable();
        self.entries.iter().map(|&entry| Hit { distance: distance(order_of(entry)), id: entry as u64 })
    }
}

/// A distance as a number that orders like it.
#[inline]
fn order(distance: f32) -> i32 {
    distance.to_bits().order() as i32
}

/// The distance of an [`order`].
#[inline]
fn distance(order: i32) -> f32 {
    // The negative ones have all bits but the sign inverted, and are so once more.
    f32::from_bits((order as u32).order())
}

/// A number that orders like distance and id: the order of the distance as unsigned bits above those of the id.
#[inline]
fn entry(order: i32, id: u64) -> u128 {
    u128::from(order as u32 ^ u32::SIGN) << 64 | u128::from(id)
}

/// The order of the distance of an entry.
#[inline]
fn order_of(entry: u128) -> i32 {
    ((entry >> 64) as u32 ^ u32::SIGN) as i32
}

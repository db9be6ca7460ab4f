//! Products of many rows with many targets: a tile of them at a time, kept in registers.
//!
//! ```text
//!                     panel: W targets, element by element
//!                     ids      [ i0 i1 … iW ]
//!                     offsets  [ o0 o1 … oW ]
//!                     element 0[ c0 c1 … cW ]
//!  R rows             element 1[ c0 c1 … cW ]
//!                         ⋮
//!  row 0   x0 x1 …  ─▶  score = offset + Σ x·c   of R × W pairs
//!    ⋮
//!  row R−1 x0 x1 …
//! ```
//!
//! One element of all `W` targets is loaded once for `R` rows, and one element of a row is used `W` times. A score
//! grows as a target comes nearer; what offset and targets hold decides which distance it stands for.
//!
//! Of the scores of a row each lane keeps the best, the best of the others, and the id of the best. When all panels
//! have passed, the lanes are settled: for as many rows at once as there are lanes.

use super::{fixed::Real, prefetch};

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// A register of numbers.
///
/// # Safety
/// All functions need the instruction set that the implementation is written for; pointers are to
/// [`LANES`](Self::LANES) items, at any alignment.
pub(crate) trait Vector: Copy {
    type Item: Copy;
    const LANES: usize;

    unsafe fn load(at: *const Self::Item) -> Self;
    unsafe fn store(self, at: *mut Self::Item);
    unsafe fn splat(item: Self::Item) -> Self;
    /// `self + a · b`.
    unsafe fn plus_product(self, a: Self, b: Self) -> Self;
    unsafe fn max(self, other: Self) -> Self;
    unsafe fn min(self, other: Self) -> Self;
    /// `then` in the lanes where `self > than`, `otherwise` elsewhere.
    unsafe fn select_greater(self, than: Self, then: Self, otherwise: Self) -> Self;
    /// A bit for each lane where `self ≥ than`, lane 0 the lowest.
    unsafe fn at_least(self, than: Self) -> u32;
    /// The larger of each two neighbours, those of `self` first, then those of `other`.
    unsafe fn pairwise_max(self, other: Self) -> Self;
}

/// The scores of `R` rows and `N` registers of a panel that is `width` targets wide.
///
/// # Safety
/// The instruction set of `V` is there, `rows` has `R × dim` items, from `panel` on there are `2 + dim` lines of at least
/// `N × LANES` items, each `width` items after the one before it, and `dim` is not zero.
#[inline(always)]
unsafe fn tile<V: Vector, const R: usize, const N: usize>(
    rows: *const V::Item,
    panel: *const V::Item,
    width: usize,
    dim: usize,
) -> [[V; N]; R] {
    // SAFETY: the caller's promise; `element < dim` and `row < R`.
    unsafe {
        let offsets: [V; N] = core::array::from_fn(|n| V::load(panel.add(width + n * V::LANES)));
        let mut sums = [offsets; R];
        let targets = panel.add(2 * width);
        let mut element = 0;
        // Two elements at once where few rows ask for few registers: instructions that only count take time from the
        // others. With more rows, compilers read the elements of all at once and run out of registers.
        while N >= 4 && element + 1 < dim {
            add_products(&mut sums, rows.add(element), dim, targets.add(element * width));
            add_products(&mut sums, rows.add(element + 1), dim, targets.add((element + 1) * width));
            element += 2;
        }
        while element < dim {
            add_products(&mut sums, rows.add(element), dim, targets.add(element * width));
            element += 1;
        }
        sums
    }
}

/// Adds the products of one element of `R` rows, each `dim` items after the one before it, with that of `N` registers
/// of targets.
///
/// # Safety
/// The instruction set of `V` is there, `rows` has an item for each row, and `targets` has `N × LANES`.
#[inline(always)]
unsafe fn add_products<V: Vector, const R: usize, const N: usize>(
    sums: &mut [[V; N]; R],
    rows: *const V::Item,
    dim: usize,
    targets: *const V::Item,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let target: [V; N] = core::array::from_fn(|n| V::load(targets.add(n * V::LANES)));
        for (row, sums) in sums.iter_mut().enumerate() {
            let x = V::splat(*rows.add(row * dim));
            for (sum, target) in sums.iter_mut().zip(target) {
                *sum = sum.plus_product(x, target);
            }
        }
    }
}

/// Items that are kept of each row: the best score of each lane, the best of the others, and the id of the best.
pub(crate) const KEPT: usize = 3;

/// No register has more lanes.
pub(crate) const MOST: usize = 16;

/// Lets `count` tiles of `R` rows meet a panel, one after the other, and asks for `lines` lines of the cache from
/// `ahead` on with each tile. With `first`, nothing was kept before.
///
/// # Safety
/// As [`tile`], for each of the tiles; `kept` has `count × R × KEPT × LANES` items.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
pub(crate) unsafe fn best<V: Vector<Item: Real>, const R: usize, const N: usize>(
    rows: *const V::Item,
    count: usize,
    panel: *const V::Item,
    dim: usize,
    first: bool,
    kept: *mut V::Item,
    ahead: *const u8,
    lines: usize,
) {
    for at in 0..count {
        for line in 0..lines {
            prefetch::read(ahead.wrapping_add((at * lines + line) * LINE));
        }
        // SAFETY: the caller's promise.
        unsafe {
            let scores = tile::<V, R, N>(rows.add(at * R * dim), panel, N * V::LANES, dim);
            for (row, &scores) in scores.iter().enumerate() {
                keep::<V, N>(scores, panel, first, parts::<V>(kept, at * R + row));
            }
        }
    }
}

/// Lets `R` rows from different places meet `N` registers of a panel that is `width` targets wide; what is kept of each
/// is at its place. Writes the largest score of each row.
///
/// # Safety
/// As [`tile`]; `places` and `largest` have `R` items, and `kept` has `KEPT × LANES` items for each place.
#[inline(always)]
pub(crate) unsafe fn best_placed<V: Vector<Item: Real>, const R: usize, const N: usize>(
    rows: *const V::Item,
    panel: *const V::Item,
    width: usize,
    dim: usize,
    places: *const u32,
    kept: *mut V::Item,
    largest: *mut V::Item,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let scores = tile::<V, R, N>(rows, panel, width, dim);
        let mut larger = scores.map(|scores| scores[0]);
        for (row, &scores) in scores.iter().enumerate() {
            keep::<V, N>(scores, panel, false, parts::<V>(kept, *places.add(row) as usize));
            larger[row] = scores.into_iter().fold(scores[0], |larger, score| larger.max(score));
        }
        for first in (0..R).step_by(V::LANES) {
            let mut items = [*rows; MOST];
            maxima(core::array::from_fn(|row| larger[R.min(first + row + 1) - 1])).store(items.as_mut_ptr());
            largest.add(first).copy_from_nonoverlapping(items.as_ptr(), V::LANES.min(R - first));
        }
    }
}

/// Takes the scores of a row and a panel into what is kept of it, which with `first` is nothing yet. A score takes the
/// place of an equal one only if it comes first.
///
/// # Safety
/// The instruction set of `V` is there; `panel` begins with `N × LANES` ids, and the parts have `LANES` items.
#[inline(always)]
unsafe fn keep<V: Vector<Item: Real>, const N: usize>(
    scores: [V; N],
    panel: *const V::Item,
    first: bool,
    [at_best, at_second, at_id]: [*mut V::Item; KEPT],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let (mut best, mut second, mut id) = if first {
            let lowest = V::splat(V::Item::LOWEST);
            (lowest, lowest, V::load(panel))
        } else {
            (V::load(at_best), V::load(at_second), V::load(at_id))
        };
        for (n, score) in scores.into_iter().enumerate() {
            second = second.max(best.min(score));
            id = score.select_greater(best, V::load(panel.add(n * V::LANES)), id);
            best = best.max(score);
        }
        best.store(at_best);
        second.store(at_second);
        id.store(at_id);
    }
}

/// Where the parts of what is kept of a row begin.
///
/// # Safety
/// `kept` has `(row + 1) × KEPT × LANES` items.
#[inline(always)]
unsafe fn parts<V: Vector>(kept: *mut V::Item, row: usize) -> [*mut V::Item; KEPT] {
    // SAFETY: the caller's promise.
    unsafe {
        let at = kept.add(row * KEPT * V::LANES);
        [at, at.add(V::LANES), at.add(2 * V::LANES)]
    }
}

/// The largest lane of each of the first `LANES` registers, in turn.
///
/// # Safety
/// The instruction set of `V` is there.
#[inline(always)]
unsafe fn maxima<V: Vector>(mut rows: [V; MOST]) -> V {
    let mut left = MOST / 2;
    while left > 0 {
        if 2 * left <= V::LANES {
            for pair in 0..left {
                // SAFETY: the caller's promise.
                rows[pair] = unsafe { rows[2 * pair].pairwise_max(rows[2 * pair + 1]) };
            }
        }
        left /= 2;
    }
    rows[0]
}

/// For at most `LANES` rows, the best score over all lanes, the best of the others (the same if two are equal), and the
/// id.
///
/// # Safety
/// The instruction set of `V` is there; `rows` is not zero, `kept` has `rows × KEPT × LANES` items, and `out` has room
/// for `rows`.
#[inline(always)]
pub(crate) unsafe fn settle<V: Vector>(kept: *mut V::Item, rows: usize, out: *mut [V::Item; KEPT]) {
    // SAFETY: the caller's promise; rows beyond the last are the last. The arrays have room for a register. Some lane is
    // at least the largest of them, since no score is NaN, and the first is taken if one were.
    unsafe {
        let mut bests = core::array::from_fn(|row| V::load(parts::<V>(kept, row.min(rows - 1))[0]));
        let (mut best, mut second) = ([*kept; MOST], [*kept; MOST]);
        maxima(bests).store(best.as_mut_ptr());
        let mut equal = 0u32;
        for row in 0..rows.min(V::LANES) {
            let [_, at_second, at_id] = parts::<V>(kept, row);
            let largest = V::splat(best[row]);
            let lanes = bests[row].at_least(largest);
            bests[row] = largest.select_greater(bests[row], bests[row], V::load(at_second));
            equal |= u32::from(lanes & lanes.wrapping_sub(1) != 0) << row;
            let id = *at_id.add(lanes.trailing_zeros() as usize % V::LANES);
            *out.add(row) = [best[row], best[row], id];
        }
        maxima(bests).store(second.as_mut_ptr());
        for (row, &second) in second.iter().enumerate().take(rows.min(V::LANES)) {
            if equal & 1 << row == 0 {
                (*out.add(row))[1] = second;
            }
        }
    }
}

/// Writes the scores of `R` rows and a panel, row after row, and which of them reach the bound of their row.
///
/// # Safety
/// As [`tile`]; `bounds` and `reached` have `R` items, `out` has `R × N × LANES`, and `N × LANES ≤ 64`.
#[inline(always)]
pub(crate) unsafe fn scores<V: Vector, const R: usize, const N: usize>(
    rows: *const V::Item,
    panel: *const V::Item,
    dim: usize,
    bounds: *const V::Item,
    out: *mut V::Item,
    reached: *mut u64,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let scores = tile::<V, R, N>(rows, panel, N * V::LANES, dim);
        for (row, scores) in scores.iter().enumerate() {
            let bound = V::splat(*bounds.add(row));
            let mut lanes = 0;
            for (n, score) in scores.iter().enumerate() {
                score.store(out.add((row * N + n) * V::LANES));
                lanes |= u64::from(score.at_least(bound)) << (n * V::LANES);
            }
            *reached.add(row) = lanes;
        }
    }
}

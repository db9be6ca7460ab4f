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
    /// The largest lane.
    unsafe fn largest(self) -> Self::Item;
}

/// The scores of `R` rows and the `N` registers of one panel.
///
/// # Safety
/// The instruction set of `V` is there, `rows` has `R × dim` items, `panel` has `(2 + dim) × N × LANES`, and `dim` is
/// not zero.
#[inline(always)]
unsafe fn tile<V: Vector, const R: usize, const N: usize>(
    rows: *const V::Item,
    panel: *const V::Item,
    dim: usize,
) -> [[V; N]; R] {
    let width = N * V::LANES;
    // SAFETY: the caller's promise; `element < dim` and `row < R`.
    unsafe {
        let mut offsets = [V::load(panel.add(width)); N];
        for (n, offset) in offsets.iter_mut().enumerate() {
            *offset = V::load(panel.add(width + n * V::LANES));
        }
        let mut sums = [offsets; R];
        let mut targets = panel.add(2 * width);
        let mut element = 0;
        // A loop that runs at least once leaves the sums in registers from the start.
        loop {
            let mut target = offsets;
            for (n, target) in target.iter_mut().enumerate() {
                *target = V::load(targets.add(n * V::LANES));
            }
            for (row, sums) in sums.iter_mut().enumerate() {
                let x = V::splat(*rows.add(row * dim + element));
                for (sum, target) in sums.iter_mut().zip(target) {
                    *sum = sum.plus_product(x, target);
                }
            }
            targets = targets.add(width);
            element += 1;
            if element >= dim {
                break sums;
            }
        }
    }
}

/// Items that [`best`] keeps of each row: the best score of each lane, the best of the others, and the id of the best.
pub(crate) const KEPT: usize = 3;

/// Lets `R` rows meet a panel, and keeps for each lane the best score, its id, and the best of the other scores.
/// A score takes the place of an equal one only if it comes first.
///
/// # Safety
/// As [`tile`]; `kept` has `R × KEPT × LANES` items.
#[inline(always)]
pub(crate) unsafe fn best<V: Vector, const R: usize, const N: usize>(
    rows: *const V::Item,
    panel: *const V::Item,
    dim: usize,
    kept: *mut V::Item,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let scores = tile::<V, R, N>(rows, panel, dim);
        for (row, &scores) in scores.iter().enumerate() {
            let [at_best, at_second, at_id] = parts::<V>(kept, row);
            let (mut best, mut second, mut id) = (V::load(at_best), V::load(at_second), V::load(at_id));
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

/// For `R` rows the best score over all lanes, the best of the others (the same if two are equal), and the id.
///
/// # Safety
/// The instruction set of `V` is there; `kept` has `R × KEPT × LANES` items, `out` has room for `R`.
#[inline(always)]
pub(crate) unsafe fn settle<V: Vector, const R: usize>(kept: *mut V::Item, out: *mut [V::Item; KEPT]) {
    for row in 0..R {
        // SAFETY: the caller's promise.
        unsafe { *out.add(row) = settle_row::<V>(kept, row) }
    }
}

/// Lets `R` rows meet a panel alone, and settles them.
///
/// # Safety
/// As [`tile`]; `out` has room for `R`.
#[inline(always)]
pub(crate) unsafe fn best_alone<V: Vector, const R: usize, const N: usize>(
    rows: *const V::Item,
    panel: *const V::Item,
    dim: usize,
    lowest: V::Item,
    out: *mut [V::Item; KEPT],
) {
    // SAFETY: the caller's promise.
    unsafe {
        let scores = tile::<V, R, N>(rows, panel, dim);
        for (row, &scores) in scores.iter().enumerate() {
            let (mut best, mut second, mut id) = (scores[0], V::splat(lowest), V::load(panel));
            for (n, score) in scores.into_iter().enumerate().skip(1) {
                second = second.max(best.min(score));
                id = score.select_greater(best, V::load(panel.add(n * V::LANES)), id);
                best = best.max(score);
            }
            *out.add(row) = settle_lanes(best, second, id);
        }
    }
}

/// # Safety
/// The instruction set of `V` is there; `kept` has `(row + 1) × KEPT × LANES` items.
#[inline(always)]
unsafe fn settle_row<V: Vector>(kept: *mut V::Item, row: usize) -> [V::Item; KEPT] {
    // SAFETY: the caller's promise.
    unsafe {
        let [best, second, id] = parts::<V>(kept, row);
        settle_lanes(V::load(best), V::load(second), V::load(id))
    }
}

/// The best of all lanes, the best of the others, and the id of the best.
///
/// # Safety
/// The instruction set of `V` is there.
#[inline(always)]
unsafe fn settle_lanes<V: Vector>(bests: V, seconds: V, ids: V) -> [V::Item; KEPT] {
    /// No register has more lanes.
    const MOST: usize = 16;
    // SAFETY: the caller's promise; the array has room for a register. Some lane is at least the largest of them,
    // since no score is NaN, and the first is taken if one were.
    unsafe {
        let best = bests.largest();
        let lanes = bests.at_least(V::splat(best));
        let mut id = [best; MOST];
        ids.store(id.as_mut_ptr());
        let lane = if lanes == 0 { 0 } else { lanes.trailing_zeros() as usize };
        let second = if lanes & lanes.wrapping_sub(1) != 0 {
            best
        } else {
            V::splat(best).select_greater(bests, bests, seconds).largest()
        };
        [best, second, id[lane % MOST]]
    }
}

/// Writes the scores of `R` rows and a panel, row after row, and which of them reach the bound of their row.
///
/// # Safety
/// As [`tile`]; `bounds` and `reached` have `R` items, `out` has `R × N × LANES`, and `N × LANES ≤ 32`.
#[inline(always)]
pub(crate) unsafe fn scores<V: Vector, const R: usize, const N: usize>(
    rows: *const V::Item,
    panel: *const V::Item,
    dim: usize,
    bounds: *const V::Item,
    out: *mut V::Item,
    reached: *mut u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let scores = tile::<V, R, N>(rows, panel, dim);
        for (row, scores) in scores.iter().enumerate() {
            let bound = V::splat(*bounds.add(row));
            let mut lanes = 0;
            for (n, score) in scores.iter().enumerate() {
                score.store(out.add((row * N + n) * V::LANES));
                lanes |= score.at_least(bound) << (n * V::LANES);
            }
            *reached.add(row) = lanes;
        }
    }
}

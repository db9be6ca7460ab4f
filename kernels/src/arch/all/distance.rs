//! The way of every distance: several rows at a time, part by part, meet a query.
//!
//! ```text
//!             part 0     part 1     tail
//! query     [ q0 ..... | q1 ..... | q2 ]     a part is loaded once for all rows of a block
//!               │          │        │
//! row 0     [ ...... | ...... | .... ]  ──▶ sums of row 0 ┐
//! row 1     [ ...... | ...... | .... ]  ──▶ sums of row 1 ├─ finish ──▶ a distance of each row
//!   ⋮                                                     ┘
//! row R−1   [ ...... | ...... | .... ]  ──▶ sums of row R−1
//! ```
//!
//! Rows that fit a cache are met in order, and asked for ahead of time: 70 instead of 64 GB/s in the second level, for L2 of
//! 128 f32. More rows than that are read as several streams, one for each row of a block, because one stream does not
//! keep all the requests to memory in flight that the machine can have: 15.4 instead of 13.5 GB/s, of 15.3 that a mere
//! sum reads.
//!
//! A block of rows shares the loads of the query, keeps as many independent sums as it has rows, and adds up the
//! lanes of all of them together. What is added, and in which registers, is a [`Measure`].

use super::prefetch;

/// What is summed up over the elements of two vectors, for one element type and one instruction set.
///
/// # Safety
/// All functions need the instruction set that the implementation is written for. Of the memory that they are told
/// of they read nothing but the elements named.
pub(crate) trait Measure {
    /// An element of a vector.
    type Element: Copy;
    /// [`LANES`](Self::LANES) elements as they are read.
    type Part: Copy;
    /// A part of the query, made ready for all rows.
    type Query: Copy;
    /// The sums of one row.
    type Sums: Copy;
    /// Where the elements after the last whole part are, for one dimension.
    type Tail: Copy;
    /// What is known of the whole query.
    type Whole: Copy;
    /// Elements of a part.
    const LANES: usize;

    /// Reads the `dim` elements at `query`.
    unsafe fn whole(query: *const Self::Element, dim: usize) -> Self::Whole;
    /// `dim` is not a multiple of [`LANES`](Self::LANES).
    unsafe fn tail(dim: usize) -> Self::Tail;
    /// Reads [`LANES`](Self::LANES) elements.
    unsafe fn load(at: *const Self::Element) -> Self::Part;
    /// Reads the elements of a vector, which begins at `vector`, that follow its last whole part; the other lanes
    /// are zero.
    unsafe fn load_tail(vector: *const Self::Element, tail: Self::Tail) -> Self::Part;
    unsafe fn ready(part: Self::Part) -> Self::Query;
    unsafe fn zero() -> Self::Sums;
    unsafe fn add(sums: Self::Sums, query: Self::Query, row: Self::Part) -> Self::Sums;
    unsafe fn merge(a: Self::Sums, b: Self::Sums) -> Self::Sums;
    unsafe fn finish<const R: usize>(whole: Self::Whole, sums: [Self::Sums; R]) -> [f32; R];
}

/// Bytes of rows from which on they cannot all be in a cache of the second level.
const BEYOND_CACHE: usize = 2 << 20;

/// Bytes after what is met now that memory is asked for. In the second level of the cache, 4096 are better by a tenth
/// for short rows, and worse by as much for long ones.
const AHEAD: usize = 2048;

/// In which order rows are met.
#[derive(Clone, Copy)]
struct Order {
    /// Rows from one row of a block to the next.
    apart: usize,
    /// Rows from one block to the next.
    step: usize,
}

/// Sums up one row, in four independent sums.
///
/// # Safety
/// The instruction set of `M` is there; `query` and `row` have `dim` elements.
#[inline(always)]
pub(crate) unsafe fn sums<M: Measure>(
    query: *const M::Element,
    row: *const M::Element,
    dim: usize,
) -> M::Sums {
    const WAYS: usize = 4;
    // SAFETY: the instruction set is the caller's promise; parts and tail lie within the `dim` elements.
    unsafe {
        let mut sums = [M::zero(); WAYS];
        let mut at = 0;
        while dim - at >= WAYS * M::LANES {
            for (way, sum) in sums.iter_mut().enumerate() {
                let at = at + way * M::LANES;
                *sum = M::add(*sum, M::ready(M::load(query.add(at))), M::load(row.add(at)));
            }
            at += WAYS * M::LANES;
        }
        while dim - at >= M::LANES {
            sums[1] = M::add(sums[1], M::ready(M::load(query.add(at))), M::load(row.add(at)));
            sums.swap(1, 2);
            at += M::LANES;
        }
        if at < dim {
            let tail = M::tail(dim);
            let query = M::ready(M::load_tail(query, tail));
            sums[0] = M::add(sums[0], query, M::load_tail(row, tail));
        }
        M::merge(M::merge(sums[0], sums[1]), M::merge(sums[2], sums[3]))
    }
}

/// One distance.
///
/// # Safety
/// As [`sums`].
#[inline(always)]
pub(crate) unsafe fn one<M: Measure>(query: *const M::Element, row: *const M::Element, dim: usize) -> f32 {
    // SAFETY: the caller's promise.
    unsafe {
        let [distance] = M::finish(M::whole(query, dim), [sums::<M>(query, row, dim)]);
        distance
    }
}

/// A query with what all its blocks of rows share.
struct Block<M: Measure> {
    query: *const M::Element,
    dim: usize,
    whole: M::Whole,
    tail: Option<M::Tail>,
}

impl<M: Measure> Block<M> {
    /// # Safety
    /// The instruction set of `M` is there; `query` has `dim` elements.
    #[inline(always)]
    unsafe fn new(query: *const M::Element, dim: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let tail = if dim.is_multiple_of(M::LANES) { None } else { Some(M::tail(dim)) };
            Block { query, dim, whole: M::whole(query, dim), tail }
        }
    }

    /// # Safety
    /// As [`new`](Self::new), and every row has `dim` elements.
    #[inline(always)]
    unsafe fn distances<const R: usize, const PREFETCH: bool>(
        &self,
        rows: [*const M::Element; R],
    ) -> [f32; R] {
        // SAFETY: the instruction set is the caller's promise; parts and tail lie within the `dim` elements.
        unsafe {
            let mut sums = [M::zero(); R];
            let mut at = 0;
            while self.dim - at >= M::LANES {
                let query = M::ready(M::load(self.query.add(at)));
                for r in 0..R {
                    if PREFETCH {
                        prefetch::ahead::<AHEAD, _>(rows[r].add(at));
                    }
                    sums[r] = M::add(sums[r], query, M::load(rows[r].add(at)));
                }
                at += M::LANES;
            }
            if let Some(tail) = self.tail {
                let query = M::ready(M::load_tail(self.query, tail));
                for r in 0..R {
                    if PREFETCH {
                        prefetch::ahead::<AHEAD, _>(rows[r].add(at));
                    }
                    sums[r] = M::add(sums[r], query, M::load_tail(rows[r], tail));
                }
            }
            M::finish(self.whole, sums)
        }
    }

    /// The distances of all rows, `R` at a time; `row(first, r)` points to row `r` of the block that begins with row
    /// `first`. The rows that are left after the last whole
    /// block are met in a block in which the last of them is met as often as it takes.
    ///
    /// # Safety
    /// As [`new`](Self::new); `row` points to `dim` elements for the blocks of this order, which have all rows below
    /// `count` in them; `out` takes `count` numbers.
    #[inline(always)]
    unsafe fn all<const R: usize, const PREFETCH: bool>(
        &self,
        order: Order,
        count: usize,
        row: impl Fn(usize, usize) -> *const M::Element,
        out: *mut f32,
    ) {
        let whole = count - count % R;
        let mut first = 0; // row of a block
        for done in (0..count).step_by(R) {
            let left = count - done;
            let rows = if left >= R {
                core::array::from_fn(|r| row(first, r))
            } else {
                first = whole;
                core::array::from_fn(|r| row(first + r.min(left - 1), 0))
            };
            // SAFETY: the caller's promise: all these rows are there, and their numbers are taken.
            unsafe {
                let distances = self.distances::<R, PREFETCH>(rows);
                if left < R {
                    out.add(first).copy_from_nonoverlapping(distances.as_ptr(), left);
                } else if order.apart == 1 {
                    out.add(first).cast::<[f32; R]>().write(distances); // an array is as aligned as its items
                } else {
                    for (r, distance) in distances.into_iter().enumerate() {
                        out.add(first + r * order.apart).write(distance);
                    }
                }
            }
            first += order.step;
        }
    }
}

/// The distances of `count` rows that lie `pitch` elements apart, `R` rows at a time.
///
/// # Safety
/// The instruction set of `M` is there; `query` has `dim` elements, and so has each row; `out` takes `count` numbers.
#[inline(always)]
pub(crate) unsafe fn many<M: Measure, const R: usize>(
    query: *const M::Element,
    dim: usize,
    rows: *const M::Element,
    pitch: usize,
    count: usize,
    out: *mut f32,
) {
    let pitch = pitch.wrapping_mul(size_of::<M::Element>()); // only overflows where no second row is
    let order = if count.saturating_mul(pitch) > BEYOND_CACHE {
        Order { apart: count / R, step: 1 }
    } else {
        Order { apart: 1, step: R }
    };
    let apart = order.apart.wrapping_mul(pitch);
    let row = |first: usize, r: usize| {
        rows.wrapping_byte_add(first.wrapping_mul(pitch)).wrapping_byte_add(r.wrapping_mul(apart))
    };
    // SAFETY: the caller's promise. Blocks in order cover whole multiples of `R` rows, and so do `R` streams.
    unsafe { Block::<M>::new(query, dim).all::<R, true>(order, count, row, out) }
}

/// The distances of the `count` rows that `rows` points to, `R` rows at a time.
///
/// # Safety
/// As [`many`]; `rows` has `count` pointers.
#[inline(always)]
pub(crate) unsafe fn pointed<M: Measure, const R: usize>(
    query: *const M::Element,
    dim: usize,
    rows: *const *const M::Element,
    count: usize,
    out: *mut f32,
) {
    // SAFETY: the caller's promise; only rows before the `count`-th are asked for.
    unsafe {
        Block::<M>::new(query, dim).all::<R, false>(
            Order { apart: 1, step: R },
            count,
            |first, r| rows.add(first + r).read(),
            out,
        );
    }
}

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
//! A block of rows shares the loads of the query, keeps as many independent sums as it has rows, and adds up the
//! lanes of all of them together. What is added, and in which registers, is a [`Measure`].

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
    unsafe fn distances<const R: usize>(&self, rows: [*const M::Element; R]) -> [f32; R] {
        // SAFETY: the instruction set is the caller's promise; parts and tail lie within the `dim` elements.
        unsafe {
            let mut sums = [M::zero(); R];
            let mut at = 0;
            while self.dim - at >= M::LANES {
                let query = M::ready(M::load(self.query.add(at)));
                for r in 0..R {
                    sums[r] = M::add(sums[r], query, M::load(rows[r].add(at)));
                }
                at += M::LANES;
            }
            if let Some(tail) = self.tail {
                let query = M::ready(M::load_tail(self.query, tail));
                for r in 0..R {
                    sums[r] = M::add(sums[r], query, M::load_tail(rows[r], tail));
                }
            }
            M::finish(self.whole, sums)
        }
    }

    /// The distances of all rows, `R` at a time; `row` points to each. Where fewer are left, the last one
    /// is met as often as it takes.
    ///
    /// # Safety
    /// As [`new`](Self::new); `row` points to `dim` elements for every number below `count`; `out` takes `count` numbers.
    #[inline(always)]
    unsafe fn all<const R: usize>(
        &self,
        count: usize,
        row: impl Fn(usize) -> *const M::Element,
        out: *mut f32,
    ) {
        let mut i = 0;
        while i < count {
            let left = count - i;
            let rows = if left >= R {
                core::array::from_fn(|r| row(i + r))
            } else {
                core::array::from_fn(|r| row(i + r.min(left - 1)))
            };
            // SAFETY: the caller's promise: rows before the `count`-th are there, and as many numbers are taken.
            unsafe {
                let distances = self.distances::<R>(rows);
                if left >= R {
                    out.add(i).cast::<[f32; R]>().write(distances); // an array is as aligned as its items
                } else {
                    out.add(i).copy_from_nonoverlapping(distances.as_ptr(), left);
                }
            }
            i += R;
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
    // SAFETY: the caller's promise.
    unsafe { Block::<M>::new(query, dim).all::<R>(count, |i| rows.wrapping_add(i * pitch), out) }
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
    unsafe { Block::<M>::new(query, dim).all::<R>(count, |i| rows.add(i).read(), out) }
}

//! Function pointers to the kernels of one measure, and the checks that make them safe to call.

/// Distances of one measure over elements `T`, for one instruction set.
pub(crate) struct Kernels<T> {
    one: unsafe fn(*const T, *const T, usize) -> f32,
    many: unsafe fn(*const T, usize, *const T, usize, usize, *mut f32),
    pointed: unsafe fn(*const T, usize, *const *const T, usize, *mut f32),
}

/// Rows that are picked before their distances are computed: enough to hide the reads of one batch behind the
/// arithmetic of another, few enough for the stack and for the first level of the cache.
const PICKED: usize = 32;

impl<T> Kernels<T> {
    /// # Safety
    /// Wherever a method is called, the instruction set of the functions is there; they are [`one`], [`many`] and
    /// [`pointed`] of one measure.
    ///
    /// [`one`]: super::distance::one
    /// [`many`]: super::distance::many
    /// [`pointed`]: super::distance::pointed
    pub(crate) const unsafe fn new(
        one: unsafe fn(*const T, *const T, usize) -> f32,
        many: unsafe fn(*const T, usize, *const T, usize, usize, *mut f32),
        pointed: unsafe fn(*const T, usize, *const *const T, usize, *mut f32),
    ) -> Self {
        Kernels { one, many, pointed }
    }

    /// # Panics
    /// If `a` and `b` differ in length.
    #[inline]
    pub(crate) fn one(&self, a: &[T], b: &[T]) -> f32 {
        assert_eq!(a.len(), b.len(), "two vectors of one dimension");
        // SAFETY: the instruction set is there, as `new` was promised; both have the length that is passed.
        unsafe { (self.one)(a.as_ptr(), b.as_ptr(), a.len()) }
    }

    /// # Panics
    /// If `rows` ends before the last row.
    #[inline]
    pub(crate) fn many(&self, query: &[T], rows: &[T], pitch: usize, out: &mut [f32]) {
        assert!(rows_in(rows.len(), query.len(), pitch) >= out.len(), "a row for each distance");
        let (dim, count) = (query.len(), out.len());
        // SAFETY: the instruction set is there, as `new` was promised; `rows_in` says that `count` rows of `dim`
        // elements lie in `rows`, and `out` takes `count` numbers.
        unsafe { (self.many)(query.as_ptr(), dim, rows.as_ptr(), pitch, count, out.as_mut_ptr()) }
    }

    /// # Panics
    /// If a row ends after `rows`, or if `ids` and `out` differ in length.
    #[inline]
    pub(crate) fn picked<I: Copy + Into<u64>>(
        &self,
        query: &[T],
        rows: &[T],
        pitch: usize,
        ids: &[I],
        out: &mut [f32],
    ) {
        assert_eq!(ids.len(), out.len(), "a distance for each id");
        let present = rows_in(rows.len(), query.len(), pitch) as u64;
        let mut pointers = [core::ptr::null(); PICKED];
        for (ids, out) in ids.chunks(PICKED).zip(out.chunks_mut(PICKED)) {
            for (pointer, &id) in pointers.iter_mut().zip(ids) {
                let id = id.into();
                assert!(id < present, "an id of a row that is there");
                *pointer = rows.as_ptr().wrapping_add(id as usize * pitch);
                prefetch(*pointer, query.len());
            }
            // SAFETY: the instruction set is there, as `new` was promised; the first `ids.len()` pointers were just
            // set to rows of `query.len()` elements in `rows`, as `rows_in` says; `out` takes as many numbers.
            unsafe {
                (self.pointed)(query.as_ptr(), query.len(), pointers.as_ptr(), ids.len(), out.as_mut_ptr());
            }
        }
    }

    /// # Panics
    /// If a row is shorter or longer than the query, or if `rows` and `out` differ in length.
    #[inline]
    pub(crate) fn scattered(&self, query: &[T], rows: &[&[T]], out: &mut [f32]) {
        assert_eq!(rows.len(), out.len(), "a distance for each row");
        let mut pointers = [core::ptr::null(); PICKED];
        for (rows, out) in rows.chunks(PICKED).zip(out.chunks_mut(PICKED)) {
            for (pointer, row) in pointers.iter_mut().zip(rows) {
                assert_eq!(row.len(), query.len(), "vectors of one dimension");
                *pointer = row.as_ptr();
            }
            // SAFETY: the instruction set is there, as `new` was promised; the first `rows.len()` pointers were just
            // set to rows of `query.len()` elements; `out` takes as many numbers.
            unsafe {
                (self.pointed)(query.as_ptr(), query.len(), pointers.as_ptr(), rows.len(), out.as_mut_ptr());
            }
        }
    }
}

/// The scalar product of two vectors in the type in which it is summed: what no rounding to f32 has touched.
pub(crate) struct WideProduct<T>(unsafe fn(*const T, *const T, usize) -> f64);

impl<T> WideProduct<T> {
    /// # Safety
    /// Wherever [`of`](Self::of) is called, the instruction set of the function is there; it reads as many elements
    /// of both vectors as it is told, and nothing else.
    pub(crate) const unsafe fn new(product: unsafe fn(*const T, *const T, usize) -> f64) -> Self {
        WideProduct(product)
    }

    /// # Panics
    /// If `a` and `b` differ in length.
    pub(crate) fn of(&self, a: &[T], b: &[T]) -> f64 {
        assert_eq!(a.len(), b.len(), "two vectors of one dimension");
        // SAFETY: the instruction set is there, as `new` was promised; both have the length that is passed.
        unsafe { (self.0)(a.as_ptr(), b.as_ptr(), a.len()) }
    }
}

/// How many rows of `dim` elements, `pitch` apart, begin and end within `len` elements. None of them ends after the
/// last address, so a row times `pitch` does not overflow.
fn rows_in(len: usize, dim: usize, pitch: usize) -> usize {
    match len.checked_sub(dim) {
        None => 0,
        // Rows that all begin at one place: as many as one likes.
        Some(last) => last.checked_div(pitch).map_or(usize::MAX, |before| before + 1),
    }
}

/// Asks for the first lines of a vector, as many as are worth it: the processor sees for itself where a longer one
/// goes on.
#[inline(always)]
fn prefetch<T>(vector: *const T, dim: usize) {
    const LINE: usize = 64;
    const LINES: usize = 8;
    for line in 0..(dim * size_of::<T>()).div_ceil(LINE).min(LINES) {
        super::prefetch::read(vector.wrapping_byte_add(line * LINE));
    }
}

/// Defines `kernels`, which instantiates the algorithms of [`distance`](super::distance) under the target features
/// `$features`.
macro_rules! entry_points {
    ($($features:literal)?) => {
        /// # Safety
        /// The instruction set is there, and what [`distance::one`] asks.
        $(#[target_feature(enable = $features)])?
        unsafe fn one<M: Measure>(query: *const M::Element, row: *const M::Element, dim: usize) -> f32 {
            // SAFETY: the caller's promise.
            unsafe { distance::one::<M>(query, row, dim) }
        }

        /// # Safety
        /// The instruction set is there, and what [`distance::many`] asks.
        $(#[target_feature(enable = $features)])?
        unsafe fn many<M: Measure, const R: usize>(
            query: *const M::Element,
            dim: usize,
            rows: *const M::Element,
            pitch: usize,
            count: usize,
            out: *mut f32,
        ) {
            // SAFETY: the caller's promise.
            unsafe { distance::many::<M, R>(query, dim, rows, pitch, count, out) }
        }

        /// # Safety
        /// The instruction set is there, and what [`distance::pointed`] asks.
        $(#[target_feature(enable = $features)])?
        unsafe fn pointed<M: Measure, const R: usize>(
            query: *const M::Element,
            dim: usize,
            rows: *const *const M::Element,
            count: usize,
            out: *mut f32,
        ) {
            // SAFETY: the caller's promise.
            unsafe { distance::pointed::<M, R>(query, dim, rows, count, out) }
        }

        /// The kernels of the measure `M`, which take `R` rows at a time.
        const fn kernels<M: Measure, const R: usize>() -> Kernels<M::Element> {
            // SAFETY: the tables of this module are handed out only where its instruction set is there.
            unsafe { Kernels::new(one::<M>, many::<M, R>, pointed::<M, R>) }
        }
    };
}
pub(crate) use entry_points;

/// Defines `wide_product`, which instantiates a [`Product`](super::measure::Product) without loss under the target
/// features `$features`.
macro_rules! wide_products {
    ($($features:literal)?) => {
        /// # Safety
        /// The instruction set is there; `a` and `b` have `dim` elements.
        $(#[target_feature(enable = $features)])?
        unsafe fn product<V: Vector>(a: *const V::Element, b: *const V::Element, dim: usize) -> f64 {
            // SAFETY: the caller's promise.
            unsafe { V::totals([distance::sums::<Product<V, false>>(a, b, dim)])[0].wide() }
        }

        const fn wide_product<V: Vector>() -> WideProduct<V::Element> {
            // SAFETY: the tables of this module are handed out only where its instruction set is there.
            unsafe { WideProduct::new(product::<V>) }
        }
    };
}
pub(crate) use wide_products;

#[cfg(test)]
mod tests {
    use super::rows_in;

    #[test]
    fn rows_that_fit() {
        assert_eq!(rows_in(0, 0, 5), 1);
        assert_eq!(rows_in(9, 10, 10), 0);
        assert_eq!(rows_in(19, 10, 10), 1);
        assert_eq!(rows_in(20, 10, 10), 2);
        assert_eq!(rows_in(15, 10, 5), 2);
        assert_eq!(rows_in(10, 10, 0), usize::MAX);
        assert_eq!(rows_in(usize::MAX, 1, 1), usize::MAX);
    }
}

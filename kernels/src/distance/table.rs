//! [`DistanceTable`]: the kernels of one element type and one instruction set.

use bytemuck::cast_slice;

use super::{Element, Float, Metric};
use crate::{
    arch::all::{
        distance_kernels::{Kernels, WideProduct},
        sqrt::sqrt_f64,
    },
    isa::Isa,
};

/// The distance kernels of one element type and one instruction set. Who computes many distances takes
/// [`current`](Self::current) once and keeps it.
///
/// ```
/// use lancet_kernels::distance::{DistanceTable, Metric};
///
/// let table = DistanceTable::<f32>::current();
/// let (query, rows) = ([1.0, 2.0], [1.0, 2.0, 3.0, 4.0, 0.0, 0.0]);
/// let mut out = [0.0; 3];
/// table.distances(Metric::L2, &query, &rows, 2, &mut out);
/// assert_eq!(out, [0.0, 8.0, 5.0]);
/// ```
///
/// # Panics
/// All methods that take two vectors panic if they differ in length; those that take rows panic if a row would end
/// after the slice.
pub struct DistanceTable<T: 'static> {
    pub(crate) isa: Isa,
    pub(crate) l2: Kernels<T>,
    pub(crate) cosine: Kernels<T>,
    pub(crate) dot: Kernels<T>,
    /// The plain product.
    pub(crate) product: Kernels<T>,
    pub(crate) wide_product: WideProduct<T>,
    pub(crate) hamming: Kernels<u8>,
}

impl<T: Element> DistanceTable<T> {
    /// The table of the instruction set in use, [`Isa::current`].
    pub fn current() -> &'static Self {
        T::table(Isa::current())
    }

    /// The table of an instruction set, if this machine has it.
    pub fn of(isa: Isa) -> Option<&'static Self> {
        isa.is_available().then(|| T::table(isa))
    }

    /// The instruction set that the kernels are written for.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The distance of two vectors.
    #[inline]
    pub fn distance(&self, metric: Metric, a: &[T], b: &[T]) -> f32 {
        match self.kernels(metric, a.len()) {
            Some(kernels) => kernels.one(a, b),
            None if metric == Metric::Hamming => self.hamming.one(cast_slice(a), cast_slice(b)),
            None => self.long(metric, a, b),
        }
    }

    /// The distances of `query` to `out.len()` rows, of which each begins `pitch` elements after the one before and
    /// has as many elements as the query.
    #[inline]
    pub fn distances(&self, metric: Metric, query: &[T], rows: &[T], pitch: usize, out: &mut [f32]) {
        match self.kernels(metric, query.len()) {
            Some(kernels) => kernels.many(query, rows, pitch, out),
            None if metric == Metric::Hamming => {
                let pitch = pitch.saturating_mul(size_of::<T>());
                self.hamming.many(cast_slice(query), cast_slice(rows), pitch, out);
            }
            None => {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = self.long(metric, query, &rows[i * pitch..][..query.len()]);
                }
            }
        }
    }

    /// The distances of `query` to the rows whose numbers are `ids`; rows lie as for
    /// [`distances`](Self::distances). What comes next is asked for from memory while distances are computed.
    ///
    /// # Panics
    /// If an id is that of no row, or `ids` and `out` differ in length.
    #[inline]
    pub fn distances_of<I: Copy + Into<u64>>(
        &self,
        metric: Metric,
        query: &[T],
        rows: &[T],
        pitch: usize,
        ids: &[I],
        out: &mut [f32],
    ) {
        match self.kernels(metric, query.len()) {
            Some(kernels) => kernels.picked(query, rows, pitch, ids, out),
            None if metric == Metric::Hamming => {
                let pitch = pitch.saturating_mul(size_of::<T>());
                self.hamming.picked(cast_slice(query), cast_slice(rows), pitch, ids, out);
            }
            None => {
                assert_eq!(ids.len(), out.len(), "a distance for each id");
                for (&id, out) in ids.iter().zip(out) {
                    let start = usize::try_from(id.into()).ok().and_then(|id| id.checked_mul(pitch));
                    let row = start.and_then(|start| rows.get(start..)?.get(..query.len()));
                    *out = self.long(metric, query, row.expect("an id of a row that is there"));
                }
            }
        }
    }

    /// The distances of `query` to `rows`, which may lie anywhere. Who has many of them asks for their memory before.
    ///
    /// # Panics
    /// If `rows` and `out` differ in length.
    #[inline]
    pub fn distances_to(&self, metric: Metric, query: &[T], rows: &[&[T]], out: &mut [f32]) {
        match self.kernels(metric, query.len()) {
            Some(kernels) => kernels.scattered(query, rows, out),
            None => {
                assert_eq!(rows.len(), out.len(), "a distance for each row");
                rows.iter().zip(out).for_each(|(row, out)| *out = self.distance(metric, query, row));
            }
        }
    }

    /// The dot product of two vectors.
    #[inline]
    pub fn dot(&self, a: &[T], b: &[T]) -> f32 {
        if a.len() <= T::LONGEST { self.product.one(a, b) } else { self.wide(a, b) as f32 }
    }

    /// The dot products of `query` with rows that lie as for [`distances`](Self::distances).
    #[inline]
    pub fn dots(&self, query: &[T], rows: &[T], pitch: usize, out: &mut [f32]) {
        if query.len() <= T::LONGEST {
            self.product.many(query, rows, pitch, out);
        } else {
            for (i, out) in out.iter_mut().enumerate() {
                *out = self.wide(query, &rows[i * pitch..][..query.len()]) as f32;
            }
        }
    }

    /// The sum of the squares.
    pub fn squared_norm(&self, vector: &[T]) -> f64 {
        self.wide(vector, vector)
    }

    /// The length: the root of the sum of the squares.
    pub fn norm(&self, vector: &[T]) -> f64 {
        sqrt_f64(self.squared_norm(vector))
    }

    /// The kernels of a metric over elements, if vectors of `dim` elements are not too long for them.
    #[inline]
    fn kernels(&self, metric: Metric, dim: usize) -> Option<&Kernels<T>> {
        let kernels = match metric {
            Metric::L2 => &self.l2,
            Metric::Cosine => &self.cosine,
            Metric::Dot => &self.dot,
            Metric::Hamming => return None,
        };
        (dim <= T::LONGEST).then_some(kernels)
    }

    /// The dot product of vectors of any length, summed in pieces that are not too long.
    fn wide(&self, a: &[T], b: &[T]) -> f64 {
        assert_eq!(a.len(), b.len(), "two vectors of one dimension");
        let pieces = a.chunks(T::LONGEST).zip(b.chunks(T::LONGEST));
        pieces.map(|(a, b)| self.wide_product.of(a, b)).sum()
    }

    /// The distance of vectors that are too long for the kernels, which only vectors of integers can be: from
    /// products, which f64 holds exactly.
    #[cold]
    fn long(&self, metric: Metric, a: &[T], b: &[T]) -> f32 {
        let product = self.wide(a, b);
        match metric {
            Metric::L2 => (self.wide(a, a) - 2.0 * product + self.wide(b, b)) as f32,
            Metric::Cosine => (1.0 - product / (self.norm(a) * self.norm(b))) as f32,
            Metric::Dot => (1.0 - product) as f32,
            Metric::Hamming => self.hamming.one(cast_slice(a), cast_slice(b)),
        }
    }
}

impl<T: Float> DistanceTable<T> {
    /// Divides a vector by its [norm](Self::norm), in f32 (f64 for f64), and rounds to the type of its elements. A
    /// zero vector becomes NaN.
    pub fn normalise(&self, vector: &mut [T]) {
        let norm = self.norm(vector);
        for value in vector {
            *value = value.over(norm);
        }
    }

    /// Writes a vector divided by its [norm](Self::norm) to `out` as f32, without rounding to the type of its
    /// elements. A zero vector becomes NaN.
    ///
    /// # Panics
    /// If `vector` and `out` differ in length.
    pub fn normalise_to_f32(&self, vector: &[T], out: &mut [f32]) {
        assert_eq!(vector.len(), out.len(), "a number for each element");
        let norm = self.norm(vector);
        for (value, out) in vector.iter().zip(out) {
            *out = value.over_to_f32(norm);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_long_vectors_of_bytes_are_exact() {
        let table = DistanceTable::<u8>::current();
        let dim = 100_003;
        let (a, b) = (std::vec![255u8; dim], std::vec![0u8; 3 * dim]);
        let expected = 65025.0 * dim as f64;
        assert_eq!(table.squared_norm(&a), expected);
        assert_eq!(table.dot(&a, &a), expected as f32);
        assert_eq!(table.distance(Metric::L2, &a, &b[..dim]), expected as f32);
        assert_eq!(table.distance(Metric::Hamming, &a, &b[..dim]), 8.0 * dim as f32);
        assert!(table.distance(Metric::Cosine, &a, &a).abs() < 1e-7);
        let mut out = [1.0; 2];
        table.dots(&a, &b, dim + 1, &mut out);
        assert_eq!(out, [0.0; 2]);
        table.distances(Metric::Dot, &a, &b, dim + 1, &mut out);
        assert_eq!(out, [1.0; 2]);
        table.distances_of(Metric::L2, &a, &b, dim + 1, &[1u32, 0], &mut out);
        assert_eq!(out, [expected as f32; 2]);
        table.distances_to(Metric::L2, &a, &[&a, &b[..dim]], &mut out);
        assert_eq!(out, [0.0, expected as f32]);
    }

    #[test]
    fn norms() {
        let table = DistanceTable::<f32>::current();
        let mut vector = [3.0, 4.0];
        assert_eq!((table.squared_norm(&vector), table.norm(&vector)), (25.0, 5.0));
        let mut out = [0.0; 2];
        table.normalise_to_f32(&vector, &mut out);
        table.normalise(&mut vector);
        assert_eq!((vector, out), ([0.6, 0.8], [0.6, 0.8]));
        let mut zero = [0.0; 2];
        table.normalise(&mut zero);
        assert!(zero[0].is_nan() && zero[1].is_nan());
    }
}

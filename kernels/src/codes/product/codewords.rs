//! [`Codewords`]: what makes the table of a query.

use super::Layout;
use crate::codes::Kernels;
use alloc::{vec, vec::Vec};

/// Codewords, laid out for tables: number `j` of all codewords of a part lies together.
///
/// ```text
/// as given    part 0: word 0 [x y …] word 1 [x y …] …  │ part 1: …
/// as kept     part 0: x of all words │ y of all words … │ part 1: …
/// ```
#[derive(Debug, Clone)]
pub struct Codewords<T> {
    numbers: Vec<T>,
    layout: Layout,
    width: usize,
}

impl<T: Number> Codewords<T> {
    /// Those of `codebook`: of each part all codewords, one after the other.
    ///
    /// # Panics
    /// If there is no part, or they are not all of one length.
    pub fn new(layout: Layout, codebook: &[T]) -> Self {
        let all = layout.parts * layout.codewords();
        assert!(all > 0 && codebook.len().is_multiple_of(all), "codewords of one length");
        let width = codebook.len() / all;
        let mut numbers = vec![T::default(); codebook.len()];
        let size = layout.codewords() * width;
        if size > 0 {
            for (to, from) in numbers.chunks_exact_mut(size).zip(codebook.chunks_exact(size)) {
                for (word, from) in from.chunks_exact(width).enumerate() {
                    for (j, &number) in from.iter().enumerate() {
                        to[j * layout.codewords() + word] = number;
                    }
                }
            }
        }
        Codewords { numbers, layout, width }
    }

    /// How the codes lie that are numbers of these codewords.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Numbers of a vector.
    pub fn dimension(&self) -> usize {
        self.layout.parts * self.width
    }

    /// Writes the squared distance of each part of `vector` to each of its codewords, summed number by number.
    ///
    /// # Panics
    /// If the vector has not as many numbers as a row, or `out` not one for each codeword.
    pub fn squared_distances(&self, vector: &[T], out: &mut [f32]) {
        self.table(vector, out, T::squared);
    }

    /// Writes 1 − the product of each part of `vector` and each of its codewords, summed number by number.
    ///
    /// # Panics
    /// As [`squared_distances`](Self::squared_distances).
    pub fn products(&self, vector: &[T], out: &mut [f32]) {
        self.table(vector, out, T::products);
    }

    /// The distance of one row by its codes, without a table: bit for bit that of a table of
    /// [`products`](Self::products), or of [`squared_distances`](Self::squared_distances). `codebook` is what these are
    /// made of: the numbers of a codeword lie together there.
    ///
    /// # Panics
    /// If the vector has not as many numbers as a row, there are not codes of a row, or the codebook is not as long.
    pub fn distance(
        &self,
        codebook: &[impl Copy + Into<T>],
        vector: &[T],
        codes: impl Iterator<Item = u8>,
        are_products: bool,
    ) -> f32 {
        assert_eq!(vector.len(), self.dimension(), "a vector of the codewords' dimension");
        assert_eq!(codebook.len(), self.numbers.len(), "the codebook of these codewords");
        let (width, words) = (self.width, self.layout.codewords());
        let entry = |part: usize, word: usize| {
            let numbers =
                codebook[(part * words + word) * width..][..width].iter().map(|&number| number.into());
            let pairs = vector[part * width..][..width].iter().zip(numbers);
            match are_products {
                true => 1.0 - pairs.fold(T::default(), |sum, (&x, word)| sum + x * word).to_f32(),
                false => pairs.fold(T::default(), |sum, (&x, word)| sum + (x - word) * (x - word)).to_f32(),
            }
        };
        let (sum, parts) = match self.layout.bits {
            8 => codes.fold((0.0, 0), |(sum, part), code| (sum + entry(part, code.into()), part + 1)),
            _ => codes.fold((0.0, 0), |(sum, part), code| {
                let low = sum + entry(part, (code & 15).into());
                (low + entry(part + 1, (code >> 4).into()), part + 2)
            }),
        };
        assert_eq!(parts, self.layout.parts, "a code for each part");
        sum
    }

    fn table(&self, vector: &[T], out: &mut [f32], table: fn(&[T], usize, &[T], &mut [f32])) {
        assert_eq!(vector.len(), self.dimension(), "a vector of the codewords' dimension");
        assert_eq!(out.len(), self.layout.parts * self.layout.codewords(), "a number for each codeword");
        table(vector, self.width, &self.numbers, out);
    }
}

/// A number of a codeword, f32 or f64; tables are of f32.
pub trait Number: sealed::Tables {}

impl Number for f32 {}
impl Number for f64 {}

mod sealed {
    use super::Kernels;
    use crate::arch::all::codes;
    use core::ops::{Add, Mul, Sub};

    pub trait Tables: Copy + Default + Sub<Output = Self> + Mul<Output = Self> + Add<Output = Self> {
        fn to_f32(self) -> f32;
        fn squared(vector: &[Self], width: usize, words: &[Self], out: &mut [f32]);
        fn products(vector: &[Self], width: usize, words: &[Self], out: &mut [f32]);
    }

    impl Tables for f32 {
        #[inline(always)]
        fn to_f32(self) -> f32 {
            self
        }
        fn squared(vector: &[f32], width: usize, words: &[f32], out: &mut [f32]) {
            (Kernels::current().squared)(vector, width, words, out);
        }
        fn products(vector: &[f32], width: usize, words: &[f32], out: &mut [f32]) {
            (Kernels::current().products)(vector, width, words, out);
        }
    }

    impl Tables for f64 {
        #[inline(always)]
        fn to_f32(self) -> f32 {
            self as f32
        }
        fn squared(vector: &[f64], width: usize, words: &[f64], out: &mut [f32]) {
            codes::squared(vector, width, words, out);
        }
        fn products(vector: &[f64], width: usize, words: &[f64], out: &mut [f32]) {
            codes::products(vector, width, words, out);
        }
    }
}

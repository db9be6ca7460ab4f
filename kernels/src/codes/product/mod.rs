//! Product quantization: a vector is cut into M parts, and each part is the number of a codeword.
//!
//! ```text
//! table       M × K numbers: the distance of part m of the query to codeword c at m × K + c
//! distance    0 + table[0][code 0] + table[1][code 1] + … in f32, in this order
//! transposed  byte j of row i at j × rows + i              else at i × bytes + j
//! 4 bits      byte j holds code 2j in its low half, code 2j + 1 in its high half
//! ```
//!
//! [`Codewords`] make the table of a query, and a [`Lookup`] scans the codes of a partition by it.

mod bounds;
mod codewords;
mod lookup;

pub use codewords::{Codewords, Number};
pub use lookup::Lookup;

use super::{Columns, Kernels};

/// How the codes of a partition lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Codes of a row.
    pub parts: usize,
    /// Bits of a code, 8 or 4.
    pub bits: u32,
    /// Whether byte `j` of all rows lies together.
    pub transposed: bool,
}

impl Layout {
    /// Bytes of a row.
    pub fn row_bytes(&self) -> usize {
        self.parts * self.bits as usize / 8
    }

    /// Codewords of a part.
    pub fn codewords(&self) -> usize {
        1 << self.bits
    }

    /// # Panics
    /// If codes are not of 4 or 8 bits, or half a byte is left.
    fn check(&self) {
        assert!(matches!(self.bits, 4 | 8), "codes of 4 or 8 bits");
        assert!((self.parts * self.bits as usize).is_multiple_of(8), "rows of whole bytes");
    }
}

/// Writes the distances of rows `start..start + out.len()` of the `rows` whose codes are `codes`.
///
/// # Panics
/// If `codes` or `table` are not of the size that the layout asks for, or the rows are not there.
pub fn distances(layout: Layout, table: &[f32], codes: &[u8], rows: usize, start: usize, out: &mut [f32]) {
    layout.check();
    assert_eq!(table.len(), layout.parts * layout.codewords(), "a number for each codeword");
    let bytes = layout.row_bytes();
    let columns = Columns::new(codes, bytes, rows, start, out.len());
    if layout.transposed {
        return sums(Kernels::current(), layout, &columns, table, out);
    }
    let codes = codes[start * bytes..].chunks_exact(bytes.max(1));
    for (out, codes) in out.iter_mut().zip(codes) {
        *out = distance(layout, table, codes.iter().copied());
    }
}

/// The distances of rows that lie byte by byte.
fn sums(kernels: &Kernels, layout: Layout, columns: &Columns<'_>, table: &[f32], out: &mut [f32]) {
    match layout.bits {
        8 => (kernels.sums_of_8)(columns, table, out),
        _ => (kernels.sums_of_4)(columns, table, out),
    }
}

/// The distance of the row of these codes.
#[inline(always)]
fn distance(layout: Layout, table: &[f32], codes: impl Iterator<Item = u8>) -> f32 {
    match layout.bits {
        8 => {
            let parts = table.as_chunks::<256>().0.iter();
            parts.zip(codes).fold(0.0, |sum, (part, code)| sum + part[usize::from(code)])
        }
        _ => {
            let pairs = table.as_chunks::<16>().0.as_chunks::<2>().0.iter();
            pairs.zip(codes).fold(0.0, |sum, ([low, high], code)| {
                sum + low[usize::from(code & 15)] + high[usize::from(code >> 4)]
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

    /// The distance of a row is that of a table, whatever makes the table.
    #[test]
    fn distances_without_a_table() {
        fn check<T: Number + PartialEq>(numbers: impl Fn(usize) -> T, layout: Layout, width: usize) {
            let words = layout.codewords();
            let book: Vec<T> = (0..layout.parts * words * width).map(&numbers).collect();
            let codewords = Codewords::new(layout, &book);
            let vector: Vec<T> = (0..layout.parts * width).map(|i| numbers(i * 7 + 3)).collect();
            let mut table = vec![0.0; layout.parts * words];
            for are_products in [false, true] {
                match are_products {
                    true => codewords.products(&vector, &mut table),
                    false => codewords.squared_distances(&vector, &mut table),
                }
                for row in 0..20 {
                    let codes = (0..layout.row_bytes()).map(|byte| (row * 37 + byte * 101) as u8);
                    let expected = distance(layout, &table, codes.clone());
                    let found = codewords.distance(&book, &vector, codes, are_products);
                    assert_eq!(found.to_bits(), expected.to_bits(), "{layout:?}, {width}");
                }
            }
        }
        for (bits, parts) in [(8, 1), (8, 3), (4, 2), (4, 6)] {
            for width in [1, 3, 8] {
                let layout = Layout { parts, bits, transposed: true };
                let number = |i: usize| ((i * 7919 % 1009) as f32 / 77.0).sin();
                check(number, layout, width);
                check(|i| f64::from(number(i)) * 1.1, layout, width);
            }
        }
    }

    /// Each layout gives the same sums of table entries, from any row on.
    #[test]
    fn all_layouts() {
        const ROWS: usize = 37;
        for (bits, parts) in [(8, 1), (8, 5), (4, 2), (4, 6)] {
            let code = |row: usize, part: usize| (row * 31 + part * 17 + row * part) % (1 << bits);
            let words = 1 << bits;
            let table: Vec<f32> = (0..parts * words).map(|i| (i * 7919 % 1009) as f32 / 8.0).collect();
            let sum = |row| (0..parts).map(|part| table[part * words + code(row, part)]).sum::<f32>();
            for transposed in [false, true] {
                let layout = Layout { parts, bits, transposed };
                let bytes = layout.row_bytes();
                let mut codes = vec![0; ROWS * bytes];
                for row in 0..ROWS {
                    for byte in 0..bytes {
                        let at = if transposed { byte * ROWS + row } else { row * bytes + byte };
                        codes[at] = match bits {
                            8 => code(row, byte) as u8,
                            _ => (code(row, 2 * byte) | code(row, 2 * byte + 1) << 4) as u8,
                        };
                    }
                }
                for rows in [0..ROWS, 0..0, 5..6, 16..ROWS] {
                    let mut found = vec![f32::NAN; rows.len()];
                    distances(layout, &table, &codes, ROWS, rows.start, &mut found);
                    assert_eq!(found, rows.map(sum).collect::<Vec<_>>(), "{layout:?}");
                }
            }
        }
    }
}

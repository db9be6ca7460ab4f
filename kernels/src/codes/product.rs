//! Product quantization: a vector is cut into M parts, and each part is the number of a codeword.
//!
//! ```text
//! table       M × K numbers: the distance of part m of the query to codeword c at m × K + c
//! distance    table[0][code 0] + table[1][code 1] + … in f32, in this order
//! transposed  byte j of row i at j × rows + i              else at i × bytes + j
//! 4 bits      byte j holds code 2j in its low half, code 2j + 1 in its high half
//! ```

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
}

/// Writes the distances of rows `start..start + out.len()` of the `rows` whose codes are `codes`.
///
/// # Panics
/// If `codes` or `table` are not of the size that the layout asks for, or the rows are not there.
pub fn distances(layout: Layout, table: &[f32], codes: &[u8], rows: usize, start: usize, out: &mut [f32]) {
    assert!(matches!(layout.bits, 4 | 8), "codes of 4 or 8 bits");
    assert_eq!(table.len(), layout.parts * layout.codewords(), "a number for each codeword");
    assert_eq!(codes.len(), rows * layout.row_bytes(), "codes of all rows");
    assert!(start + out.len() <= rows, "rows that are there");
    out.fill(0.0);
    for byte in 0..layout.row_bytes() {
        let at = |row: usize| match layout.transposed {
            true => codes[byte * rows + start + row],
            false => codes[(start + row) * layout.row_bytes() + byte],
        };
        match layout.bits {
            8 => {
                let table = &table[byte * 256..][..256];
                for (row, sum) in out.iter_mut().enumerate() {
                    *sum += table[usize::from(at(row))];
                }
            }
            _ => {
                let (low, high) = table[byte * 32..][..32].split_at(16);
                for (row, sum) in out.iter_mut().enumerate() {
                    let code = at(row);
                    *sum = *sum + low[usize::from(code & 15)] + high[usize::from(code >> 4)];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{vec, vec::Vec};

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

//! Scalar quantization: a byte for each number of a vector.
//!
//! Squared differences of codes are those of vectors of bytes, which [`DistanceTable<u8>`] has.
//!
//! [`DistanceTable<u8>`]: crate::distance::DistanceTable

use super::Kernels;

/// Writes the sum of products of codes and the query's numbers, in f32, for each of the rows that lie end to end in
/// `codes`. The order of the sum is the same for all instruction sets.
///
/// # Panics
/// If `codes` does not hold `out.len()` rows of the query's length.
pub fn products(query: &[f32], codes: &[u8], out: &mut [f32]) {
    assert_eq!(codes.len(), query.len() * out.len(), "codes of all rows");
    if query.is_empty() {
        return out.fill(0.0);
    }
    (Kernels::current().bytes)(query, codes, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, rounds};
    use std::vec::Vec;

    #[test]
    fn sums_of_rows() {
        let codes = [255, 0, 7, 1, 253, 9];
        let mut products_of_rows = [0.0; 2];
        products(&[0.5, -1.0, 2.0], &codes, &mut products_of_rows);
        assert_eq!(products_of_rows, [127.5 + 14.0, 0.5 - 253.0 + 18.0]);
    }

    #[test]
    fn whole_numbers_are_summed_exactly() {
        let mut random = Random(5);
        for dimension in 0..rounds(200) {
            let query: Vec<f32> = (0..dimension).map(|_| random.below(50) as f32 - 20.0).collect();
            let codes = random.bytes(3 * dimension);
            let mut out = [-1.0; 3];
            products(&query, &codes, &mut out);
            for (row, out) in out.into_iter().enumerate() {
                let codes = &codes[row * dimension..][..dimension];
                let sum: f32 = query.iter().zip(codes).map(|(x, &code)| x * f32::from(code)).sum();
                assert_eq!(out, sum, "{dimension} numbers");
            }
        }
    }
}

//! Scalar quantization: a byte for each number of a vector.

/// The longest rows: a sum of so many squared differences fits 32 bits.
pub const MAX_DIMENSION: usize = 65_535;

/// Writes the sum of squared differences of codes for each of the rows that lie end to end in `codes`.
///
/// # Panics
/// If `codes` does not hold `out.len()` rows of the query's length, or that is above [`MAX_DIMENSION`].
pub fn squared_differences(query: &[u8], codes: &[u8], out: &mut [u32]) {
    assert_eq!(codes.len(), query.len() * out.len(), "codes of all rows");
    assert!(query.len() <= MAX_DIMENSION, "a sum that fits 32 bits");
    for (row, out) in codes.chunks_exact(query.len().max(1)).zip(out) {
        *out = row.iter().zip(query).map(|(&a, &b)| u32::from(a.abs_diff(b)).pow(2)).sum();
    }
}

/// Writes the sum of products of codes and the query's numbers, in f32, for each of the rows that lie end to end in
/// `codes`.
///
/// # Panics
/// If `codes` does not hold `out.len()` rows of the query's length.
pub fn products(query: &[f32], codes: &[u8], out: &mut [f32]) {
    assert_eq!(codes.len(), query.len() * out.len(), "codes of all rows");
    for (row, out) in codes.chunks_exact(query.len().max(1)).zip(out) {
        *out = row.iter().zip(query).map(|(&code, &x)| f32::from(code) * x).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_rows() {
        let (query, codes) = ([0, 255, 7], [255, 0, 7, 1, 253, 9]);
        let mut sums = [0; 2];
        squared_differences(&query, &codes, &mut sums);
        assert_eq!(sums, [2 * 255 * 255, 1 + 4 + 4]);
        let mut products_of_rows = [0.0; 2];
        products(&[0.5, -1.0, 2.0], &codes, &mut products_of_rows);
        assert_eq!(products_of_rows, [127.5 + 14.0, 0.5 - 253.0 + 18.0]);
    }

    #[test]
    fn the_greatest_sum_fits() {
        let mut sums = [0];
        squared_differences(&[0; MAX_DIMENSION], &[255; MAX_DIMENSION], &mut sums);
        assert_eq!(u64::from(sums[0]), MAX_DIMENSION as u64 * 255 * 255);
    }
}

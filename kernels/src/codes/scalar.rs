//! Scalar quantization: a byte for each number of a vector.

/// Writes the sum of squared differences of codes for each of the rows that lie end to end in `codes`.
///
/// # Panics
/// If `codes` does not hold `out.len()` rows of the query's length, or that is above 65,535.
pub fn squared_differences(query: &[u8], codes: &[u8], out: &mut [u32]) {
    assert_eq!(codes.len(), query.len() * out.len(), "codes of all rows");
    assert!(query.len() <= 65_535, "a sum that fits 32 bits");
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

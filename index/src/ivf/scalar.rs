//! Scalar quantization: a byte for each number.
//!
//! ```text
//! code         (x − start) · 255 ÷ (end − start), cut to a whole number from 0 to 255
//! L2, cosine   Σ (query's code − row's code)² · s²,  s = (end − start) ÷ 255       halved for cosine
//! dot          1 − (start · Σ q + s · Σ code · q), the query as it is
//! ```
//! Vectors are unit vectors under cosine, whose squared distance is twice 1 − cosine.

use super::CodeScratch;
use crate::{Error, Result, vector::Vector};
use alloc::format;
use lancet_kernels::{codes::scalar, distance::Metric};

/// The bounds of the numbers.
#[derive(Debug)]
pub(super) struct Quantizer {
    start: f64,
    end: f64,
    /// What a step of a code is worth.
    step: f32,
}

impl Quantizer {
    /// # Errors
    /// Unsupported if vectors have so many numbers that the sum of squared differences may not fit 32 bits.
    pub(super) fn new(start: f64, end: f64, dimension: usize) -> Result<Self> {
        if dimension > scalar::MAX_DIMENSION {
            return Err(Error::unsupported(format!(
                "scalar quantization of {dimension} numbers, expected at most {}",
                scalar::MAX_DIMENSION
            )));
        }
        Ok(Quantizer { start, end, step: (end - start) as f32 / 255.0 })
    }

    fn code(&self, number: f64) -> u8 {
        match self.start == self.end {
            true => 0,
            // A cast saturates.
            false => ((number - self.start) * 255.0 / (self.end - self.start)) as u8,
        }
    }

    /// Brings the query into the form that codes are compared with.
    pub(super) fn prepare(&self, query: &Vector, metric: Metric, scratch: &mut CodeScratch) {
        let numbers = (0..query.len()).map(|index| query.get(index));
        scratch.query.clear();
        scratch.query_codes.clear();
        match metric {
            Metric::Dot => scratch.query.extend(numbers.map(|number| number as f32)),
            _ => scratch.query_codes.extend(numbers.map(|number| self.code(number))),
        }
        scratch.halved = metric == Metric::Cosine;
    }

    /// The distances of rows `start..start + out.len()` of a partition.
    pub(super) fn block(&self, codes: &[u8], start: usize, scratch: &mut CodeScratch, out: &mut [f32]) {
        let CodeScratch { query, query_codes, sums, halved, .. } = scratch;
        let dimension = query.len().max(query_codes.len());
        let codes = &codes[start * dimension..(start + out.len()) * dimension];
        if query_codes.is_empty() {
            let constant = self.start as f32 * query.iter().sum::<f32>();
            scalar::products(query, codes, out);
            out.iter_mut().for_each(|distance| *distance = 1.0 - (constant + self.step * *distance));
            return;
        }
        sums.resize(out.len(), 0);
        scalar::squared_differences(query_codes, codes, &mut sums[..out.len()]);
        let scale = self.step * self.step * if *halved { 0.5 } else { 1.0 };
        out.iter_mut().zip(sums.iter()).for_each(|(distance, &sum)| *distance = sum as f32 * scale);
    }
}

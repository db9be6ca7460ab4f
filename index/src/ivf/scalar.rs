//! Scalar quantization: a byte for each number.
//!
//! ```text
//! code         (x − start) · 255 ÷ (end − start), cut to a whole number from 0 to 255
//! L2, cosine   Σ (query's code − row's code)² · s²,  s = (end − start) ÷ 255       halved for cosine
//! dot          1 − (start · Σ q + s · Σ code · q), the query as it is
//! ```
//! Vectors are unit vectors under cosine, whose squared distance is twice 1 − cosine.

use super::{
    Partition,
    block::{Block, BlockScratch, Wanted},
    flat::compare,
};
use crate::vector::Vector;
use alloc::vec::Vec;
use core::slice;
use lancet_kernels::{codes::scalar, distance::Metric};

/// The bounds of the numbers.
#[derive(Debug)]
pub(super) struct Quantizer {
    start: f64,
    end: f64,
    /// What a step of a code is worth.
    step: f32,
}

/// The query in the form that codes are compared with.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Its codes, or its numbers for products.
    codes: Vec<u8>,
    numbers: Vec<f32>,
    /// Whether distances are half of the squared ones.
    halved: bool,
}

impl Quantizer {
    pub(super) fn new(start: f64, end: f64) -> Self {
        Quantizer { start, end, step: (end - start) as f32 / 255.0 }
    }

    fn code(&self, number: f64) -> u8 {
        match self.start == self.end {
            true => 0,
            // A cast saturates.
            false => ((number - self.start) * 255.0 / (self.end - self.start)) as u8,
        }
    }

    /// Brings the query into the form that codes are compared with.
    pub(super) fn prepare(&self, query: &Vector, metric: Metric, scratch: &mut Scratch) {
        let numbers = (0..query.len()).map(|index| query.get(index));
        scratch.numbers.clear();
        scratch.codes.clear();
        match metric {
            Metric::Dot => scratch.numbers.extend(numbers.map(|number| number as f32)),
            _ => scratch.codes.extend(numbers.map(|number| self.code(number))),
        }
        scratch.halved = metric == Metric::Cosine;
    }

    /// Finds the rows of a block that are near enough.
    pub(super) fn scan(
        &self,
        partition: &Partition,
        block: &Block<'_>,
        query: &Scratch,
        room: &mut BlockScratch,
    ) {
        let Scratch { codes: query_codes, numbers, halved } = query;
        let dimension = numbers.len().max(query_codes.len());
        if query_codes.is_empty() {
            let constant = self.start as f32 * numbers.iter().sum::<f32>();
            return block.compare(partition, room, |codes, wanted, out| {
                let codes = codes.as_slice();
                match wanted {
                    Wanted::All(rows) => {
                        scalar::products(numbers, &codes[rows.start * dimension..rows.end * dimension], out);
                    }
                    Wanted::Of(positions) => {
                        for (out, &row) in out.iter_mut().zip(positions) {
                            let codes = &codes[row as usize * dimension..][..dimension];
                            scalar::products(numbers, codes, slice::from_mut(out));
                        }
                    }
                }
                out.iter_mut().for_each(|x| *x = 1.0 - (constant + self.step * *x));
            });
        }
        let scale = self.step * self.step * if *halved { 0.5 } else { 1.0 };
        block.compare(partition, room, |codes, wanted, out| {
            compare(Metric::L2, query_codes, codes.as_slice(), wanted, out);
            out.iter_mut().for_each(|x| *x *= scale);
        });
    }
}

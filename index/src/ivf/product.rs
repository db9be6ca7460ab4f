//! Product quantization: a table of distances to codewords for each partition, and sums of its entries.
//!
//! ```text
//! L2, cosine   part m of (query − centroid) to codeword c:  |q_m − w_mc|²        distance Σ, halved for cosine
//! dot          part m of the query:                         1 − q_m · w_mc       distance Σ − (M − 1)
//! ```
//! Vectors are unit vectors under cosine, whose squared distance is twice 1 − cosine.

use super::{Block, BlockScratch, Partition, block::Wanted};
use crate::{Error, Result, vector::Vector};
use alloc::vec::Vec;
use half::f16;
use lancet_format::{
    DataType,
    index::{IvfIndex, Storage, Tensor},
};
use lancet_kernels::{
    codes::product::{Codewords, Layout, Lookup, Number},
    distance::Metric,
};

/// Codewords, and how codes lie.
#[derive(Debug)]
pub(super) struct Quantizer {
    layout: Layout,
    codebook: Codebook,
    /// Added to a sum, and what it is then multiplied by.
    shift: f32,
    scale: f32,
}

#[derive(Debug)]
enum Codebook {
    Float32(Codewords<f32>),
    Float64(Codewords<f64>),
}

/// Room for the table of a partition and what it is made of.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The query less the centroid.
    residual: Vec<f32>,
    wide_residual: Vec<f64>,
    lookup: Lookup,
}

impl Quantizer {
    pub(super) fn new(file: &IvfIndex) -> Result<Self> {
        use lancet_format::index::Metric as FileMetric;
        let (&Storage::Product { bits, parts, transposed }, Some(tensor)) = (file.storage(), file.codebook())
        else {
            return Err(Error::corrupt("expected codewords"));
        };
        let layout = Layout { parts, bits, transposed };
        let narrow = |numbers: &[f32]| Codebook::Float32(Codewords::new(layout, numbers));
        let codebook = match tensor.item() {
            DataType::Float64 => {
                Codebook::Float64(Codewords::new(layout, tensor.values().unwrap_or_default()))
            }
            DataType::Float16 => {
                let values = tensor.values::<f16>().unwrap_or_default();
                narrow(&values.iter().map(|value| value.to_f32()).collect::<Vec<_>>())
            }
            DataType::Float32 => narrow(tensor.values().unwrap_or_default()),
            other => {
                return Err(Error::unsupported(alloc::format!("codewords of type {other} are not searched")));
            }
        };
        let (shift, scale) = match file.metric() {
            FileMetric::Dot => (1.0 - parts as f32, 1.0),
            FileMetric::Cosine => (0.0, 0.5),
            _ => (0.0, 1.0),
        };
        Ok(Quantizer { layout, codebook, shift, scale })
    }

    /// Makes the table for partition `number`.
    pub(super) fn prepare(
        &self,
        query: &Vector,
        centroids: &Tensor,
        number: usize,
        metric: Metric,
        scratch: &mut Scratch,
    ) {
        fn table<T: Number>(
            words: &Codewords<T>,
            vector: &[T],
            is_dot: bool,
            layout: Layout,
            to: &mut Lookup,
        ) {
            to.start(layout, |out| match is_dot {
                true => words.products(vector, out),
                false => words.squared_distances(vector, out),
            });
        }
        let is_dot = metric == Metric::Dot;
        if !self.take_residual(query, centroids, number, is_dot, scratch) {
            return;
        }
        let Scratch { residual, wide_residual, lookup } = scratch;
        match &self.codebook {
            Codebook::Float32(words) => table(words, residual, is_dot, self.layout, lookup),
            Codebook::Float64(words) => table(words, wide_residual, is_dot, self.layout, lookup),
        }
    }

    /// Writes what is compared with codewords in partition `number`; whether the query has a type that can be.
    fn take_residual(
        &self,
        query: &Vector,
        centroids: &Tensor,
        number: usize,
        is_dot: bool,
        scratch: &mut Scratch,
    ) -> bool {
        let Scratch { residual, wide_residual, .. } = scratch;
        let centroid = number * query.len()..(number + 1) * query.len();
        match (&self.codebook, query) {
            (Codebook::Float32(_), _) => {
                residual.clear();
                match (query, is_dot) {
                    (Vector::Float16(values), true) => residual.extend(values.iter().map(|x| x.to_f32())),
                    (Vector::Float16(values), false) => {
                        let centroid = &centroids.values::<f16>().unwrap_or_default()[centroid];
                        residual.extend(values.iter().zip(centroid).map(|(&x, &c)| (x - c).to_f32()));
                    }
                    (Vector::Float32(values), true) => residual.extend_from_slice(values),
                    (Vector::Float32(values), false) => {
                        let centroid = &centroids.values::<f32>().unwrap_or_default()[centroid];
                        residual.extend(values.iter().zip(centroid).map(|(&x, &c)| x - c));
                    }
                    _ => return false,
                }
                true
            }
            (Codebook::Float64(_), Vector::Float64(values)) => {
                wide_residual.clear();
                wide_residual.extend_from_slice(values);
                if !is_dot {
                    let centroid = &centroids.values::<f64>().unwrap_or_default()[centroid];
                    wide_residual.iter_mut().zip(centroid).for_each(|(x, &c)| *x -= c);
                }
                true
            }
            (Codebook::Float64(_), _) => false,
        }
    }

    /// Of no more rows of a partition than this, distances are computed without a table.
    pub(super) fn few(&self) -> usize {
        self.layout.codewords() / 16
    }

    /// Finds the rows of a block, all of partition `number` of which few are kept, that are near enough.
    #[allow(clippy::too_many_arguments)] // a query, a partition, and where to write
    pub(super) fn scan_few(
        &self,
        query: &Vector,
        file: &IvfIndex,
        number: usize,
        metric: Metric,
        partition: &Partition,
        block: &Block<'_>,
        scratch: &mut Scratch,
        room: &mut BlockScratch,
    ) {
        let is_dot = metric == Metric::Dot;
        let Some(codebook) = file.codebook() else { return };
        if !self.take_residual(query, file.centroids(), number, is_dot, scratch) {
            return;
        }
        let Scratch { residual, wide_residual, .. } = &*scratch;
        let (codes, bytes, rows) = (partition.codes(), self.layout.row_bytes(), block.rows.len());
        let (wide, narrow, half) =
            (codebook.values::<f64>(), codebook.values::<f32>(), codebook.values::<f16>());
        let distance = |row: usize| {
            let place = |byte: usize| match self.layout.transposed {
                true => byte * rows + row,
                false => row * bytes + byte,
            };
            let codes = (0..bytes).map(|byte| codes[place(byte)]);
            let sum = match (&self.codebook, narrow) {
                (Codebook::Float32(words), Some(book)) => words.distance(book, residual, codes, is_dot),
                (Codebook::Float32(words), None) => {
                    words.distance(half.unwrap_or_default(), residual, codes, is_dot)
                }
                (Codebook::Float64(words), _) => {
                    words.distance(wide.unwrap_or_default(), wide_residual, codes, is_dot)
                }
            };
            (sum + self.shift) * self.scale
        };
        block.compare(partition, room, |_, wanted, out| match wanted {
            Wanted::All(rows) => out.iter_mut().zip(rows).for_each(|(out, row)| *out = distance(row)),
            Wanted::Of(rows) => {
                out.iter_mut().zip(rows).for_each(|(out, &row)| *out = distance(row as usize));
            }
        });
    }

    /// Finds the rows of a block of a partition of `rows` that are near enough.
    pub(super) fn scan(
        &self,
        codes: &[u8],
        rows: usize,
        block: &Block<'_>,
        scratch: &mut Scratch,
        room: &mut BlockScratch,
    ) {
        let (out, threshold) = (&mut room.candidates, self.highest_sum(block.threshold));
        scratch.lookup.scan(codes, rows, block.rows.clone(), block.kept, threshold, out);
        if (self.shift, self.scale) != (0.0, 1.0) {
            out.distances_mut()
                .iter_mut()
                .for_each(|distance| *distance = (*distance + self.shift) * self.scale);
        }
    }

    /// No sum above it has a distance of `threshold` or less.
    ///
    /// With `t` the distance above the threshold, shift and scale in f32 keep the order, and a sum that they take below
    /// `t` is at most `t ÷ scale − shift` and a rounding of f32 away.
    fn highest_sum(&self, threshold: f32) -> f32 {
        if (self.shift, self.scale) == (0.0, 1.0) || !threshold.is_finite() {
            return threshold;
        }
        let above = f64::from(threshold.next_up()) / f64::from(self.scale);
        ((above - f64::from(self.shift)) as f32).next_up()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_distance_within_the_threshold_is_missed() {
        let codewords = Codewords::new(Layout { parts: 1, bits: 8, transposed: true }, &[0.0f32; 256]);
        for (shift, scale) in [(0.0, 1.0), (0.0, 0.5), (-15.0, 1.0), (-24.0, 1.0), (-1e4, 1.0), (-95.0, 0.5)]
        {
            let quantizer = Quantizer {
                layout: codewords.layout(),
                codebook: Codebook::Float32(codewords.clone()),
                shift,
                scale,
            };
            for threshold in [-3.0, -1e-30, 0.0, 1e-45, 1e-7, 0.1, 1.0, 1.9999999, 2.0, 77.7, 1e30, f32::MAX]
            {
                let highest = quantizer.highest_sum(threshold);
                // Sums just above the highest, and just above where the threshold comes from.
                for start in [highest, threshold / scale - shift] {
                    let mut sum = start;
                    for _ in 0..1000 {
                        sum = sum.next_up();
                        assert!(sum <= highest || (sum + shift) * scale > threshold, "{sum} at {threshold}");
                    }
                }
            }
        }
    }
}

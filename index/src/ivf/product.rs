//! Product quantization: a table of distances to codewords for each partition, and sums of its entries.
//!
//! ```text
//! L2, cosine   part m of (query − centroid) to codeword c:  |q_m − w_mc|²        distance Σ, halved for cosine
//! dot          part m of the query:                         1 − q_m · w_mc       distance Σ − (M − 1)
//! ```
//! Vectors are unit vectors under cosine, whose squared distance is twice 1 − cosine.

use super::CodeScratch;
use crate::{Error, Result, vector::Vector};
use alloc::vec::Vec;
use half::f16;
use lancet_format::{
    DataType,
    index::{IvfIndex, Storage, Tensor},
};
use lancet_kernels::{
    codes::product::{self, Layout},
    distance::{DistanceTable, Metric},
};

/// Codewords, and how codes lie.
#[derive(Debug)]
pub(super) struct Quantizer {
    layout: Layout,
    codebook: Codebook,
    /// Added to a sum, and what it is then multiplied by.
    shift: f32,
    scale: f32,
    dimension: usize,
}

#[derive(Debug)]
enum Codebook {
    Float32(Vec<f32>),
    Float64(Vec<f64>),
}

impl Quantizer {
    pub(super) fn new(file: &IvfIndex) -> Result<Self> {
        use lancet_format::index::Metric as FileMetric;
        let (&Storage::Product { bits, parts, transposed }, Some(tensor)) = (file.storage(), file.codebook())
        else {
            return Err(Error::corrupt("expected codewords"));
        };
        let codebook = match tensor.item() {
            DataType::Float64 => Codebook::Float64(tensor.values().unwrap_or_default().to_vec()),
            DataType::Float16 => Codebook::Float32(
                tensor.values::<f16>().unwrap_or_default().iter().map(|value| value.to_f32()).collect(),
            ),
            DataType::Float32 => Codebook::Float32(tensor.values().unwrap_or_default().to_vec()),
            other => {
                return Err(Error::unsupported(alloc::format!("codewords of type {other} are not searched")));
            }
        };
        let (shift, scale) = match file.metric() {
            FileMetric::Dot => (1.0 - parts as f32, 1.0),
            FileMetric::Cosine => (0.0, 0.5),
            _ => (0.0, 1.0),
        };
        let layout = Layout { parts, bits, transposed };
        Ok(Quantizer { layout, codebook, shift, scale, dimension: file.dimension() })
    }

    /// Makes the table for partition `number`.
    pub(super) fn prepare(
        &self,
        query: &Vector,
        centroids: &Tensor,
        number: usize,
        metric: Metric,
        scratch: &mut CodeScratch,
    ) {
        let CodeScratch { residual, table, .. } = scratch;
        let (words, width) = (self.layout.codewords(), self.dimension / self.layout.parts);
        table.resize(self.layout.parts * words, 0.0);
        let centroid = number * self.dimension..(number + 1) * self.dimension;
        match (&self.codebook, query) {
            (Codebook::Float32(codebook), _) => {
                residual.clear();
                match (query, metric) {
                    (Vector::Float16(values), Metric::Dot) => {
                        residual.extend(values.iter().map(|x| x.to_f32()))
                    }
                    (Vector::Float16(values), _) => {
                        let centroid = &centroids.values::<f16>().unwrap_or_default()[centroid];
                        residual.extend(values.iter().zip(centroid).map(|(&x, &c)| (x - c).to_f32()));
                    }
                    (Vector::Float32(values), Metric::Dot) => residual.extend_from_slice(values),
                    (Vector::Float32(values), _) => {
                        let centroid = &centroids.values::<f32>().unwrap_or_default()[centroid];
                        residual.extend(values.iter().zip(centroid).map(|(&x, &c)| x - c));
                    }
                    _ => return,
                }
                let distances = DistanceTable::<f32>::current();
                let metric = if metric == Metric::Dot { Metric::Dot } else { Metric::L2 };
                let parts = residual.chunks_exact(width).zip(codebook.chunks_exact(words * width));
                for (out, (part, words)) in table.chunks_exact_mut(words).zip(parts) {
                    distances.distances(metric, part, words, width, out);
                }
            }
            (Codebook::Float64(codebook), Vector::Float64(values)) => {
                let mut residual = values.clone();
                if metric != Metric::Dot {
                    let centroid = &centroids.values::<f64>().unwrap_or_default()[centroid];
                    residual.iter_mut().zip(centroid).for_each(|(x, &c)| *x -= c);
                }
                let distances = DistanceTable::<f64>::current();
                let metric = if metric == Metric::Dot { Metric::Dot } else { Metric::L2 };
                let parts = residual.chunks_exact(width).zip(codebook.chunks_exact(words * width));
                for (out, (part, words)) in table.chunks_exact_mut(words).zip(parts) {
                    distances.distances(metric, part, words, width, out);
                }
            }
            (Codebook::Float64(_), _) => {}
        }
    }

    /// The distances of rows `start..start + out.len()` of a partition of `rows`.
    pub(super) fn block(
        &self,
        codes: &[u8],
        rows: usize,
        start: usize,
        scratch: &CodeScratch,
        out: &mut [f32],
    ) {
        product::distances(self.layout, &scratch.table, codes, rows, start, out);
        if (self.shift, self.scale) != (0.0, 1.0) {
            out.iter_mut().for_each(|distance| *distance = (*distance + self.shift) * self.scale);
        }
    }
}

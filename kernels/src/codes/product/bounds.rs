//! [`Bounds`]: a table in bytes, whose sums say which rows are too far.
//!
//! With `T` the table, `Tₘ` what row's code picks of part m, `S = Σ Tₘ` without rounding and `F` the same sum in f32:
//!
//! ```text
//! byte of an entry    B = ⌊(T − leastₘ) · r⌋, computed in f32, 255 at most          leastₘ: the lowest of part m
//! of a row            Q = Σ Bₘ, 255 at most
//! a row is too far    Q > (threshold + E − Σ leastₘ) · r · (1 + 2⁻²²)               E: how far F may be from S
//! ```
//!
//! **Bytes.** The difference and the product round up by a factor of at most `(1 + u)²` with `u = 2⁻²⁴`, and cutting
//! makes them less, so `B ≤ (T − leastₘ) · r · (1 + u)²`. Summed up, `Q ≤ (S − Σ leastₘ) · r · (1 + u)²`. If now `S ≤
//! threshold + E`, then `Q` is not above the right side, whose factor is `1 + 4u > (1 + u)²` with room for the
//! roundings of f64, in which it is computed.
//!
//! **Sums.** M numbers are added to zero in turn, which is M − 1 roundings; each partial sum is at most `A = Σₘ max |Tₘ|`, so that
//! `|F − S| ≤ γ · A` with `γ = (M − 1) u ÷ (1 − (M − 1) u)`. `E` is more than that. It holds as long as no partial sum
//! can leave the range of f32, so there are no bounds if `2 A` does, and none for entries that are not finite.

use super::Layout;
use crate::codes::{Extent, Kernels};
use alloc::vec::Vec;

/// The rounding of an f32.
const UNIT: f64 = 1.0 / (1 << 24) as f64;

/// Sums that a threshold is at after quantisation. It leaves room below 255, which means "or more".
const FINEST: f64 = 254.0;

/// A threshold at less than this is worth another quantisation, four times finer.
const COARSE: f64 = 64.0;

/// A table in bytes for one table of f32 and thresholds near one.
#[derive(Debug, Clone, Default)]
pub(super) struct Bounds {
    /// A byte for each entry, if `scale` is not 0.
    bytes: Vec<u8>,
    /// The lowest entry of each part.
    least: Vec<f32>,
    /// Their sum.
    lowest: f64,
    /// The sum of what entries are above the lowest.
    span: f64,
    /// How far a sum of f32 may be from the true one, or infinity if there are no bounds.
    error: f64,
    /// What a distance is multiplied by.
    scale: f32,
}

/// Which rows may be near enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Limit {
    /// None.
    None,
    /// Those that are so much above the lowest sum, at most.
    Gap(f64),
    /// All, or the bounds do not tell.
    All,
}

impl Bounds {
    /// Those of another table.
    pub(super) fn start(&mut self, layout: Layout, table: &[f32], kernels: &Kernels) {
        self.least.clear();
        (self.lowest, self.span, self.scale) = (0.0, 0.0, 0.0);
        let mut magnitude = 0.0;
        for part in table.chunks_exact(layout.codewords()) {
            let Extent { least, greatest, magnitude: bits } = (kernels.extent)(part);
            self.least.push(least);
            self.lowest += f64::from(least);
            self.span += f64::from(greatest) - f64::from(least);
            magnitude += f64::from(f32::from_bits(bits));
        }
        let roundings = layout.parts as f64 * UNIT;
        // A NaN fails this, too.
        let holds = magnitude * 2.0 < f64::from(f32::MAX) && roundings < 0.125;
        self.error = if holds { 1.25 * roundings * magnitude } else { f64::INFINITY };
    }

    /// Which rows may be at `threshold` or below.
    pub(super) fn limit(&self, threshold: f32) -> Limit {
        let threshold = f64::from(threshold);
        // The last term is for roundings of f64 here, where a large threshold meets a small table.
        let gap = threshold - self.lowest + self.error + threshold.abs() * 1e-12;
        if gap < 0.0 {
            Limit::None
        } else if gap < self.span {
            Limit::Gap(gap)
        } else {
            Limit::All
        }
    }

    /// What the bytes of a row within the gap of a [`Limit`] add up to, at most.
    pub(super) fn sum(&mut self, layout: Layout, table: &[f32], kernels: &Kernels, gap: f64) -> u8 {
        let sum = |scale: f32| gap * f64::from(scale) * (1.0 + 4.0 * UNIT);
        if !(COARSE..FINEST + 1.0).contains(&sum(self.scale)) {
            self.quantise(layout, table, kernels, gap);
        }
        sum(self.scale) as u8
    }

    fn quantise(&mut self, layout: Layout, table: &[f32], kernels: &Kernels, gap: f64) {
        // The upper end keeps the products of tiny tables finite, where f32 has no room for the inverse.
        let scale = (FINEST / gap).min(1e30) as f32;
        if scale == self.scale {
            return;
        }
        self.scale = scale;
        self.bytes.resize(table.len(), 0);
        let parts = table.chunks_exact(layout.codewords()).zip(&self.least);
        for (bytes, (part, &least)) in self.bytes.chunks_exact_mut(layout.codewords()).zip(parts) {
            (kernels.quantise)(part, least, scale, bytes);
        }
    }

    /// A byte for each entry of the table.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

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
//! **Sums.** M numbers are added to zero in turn, which is M − 1 roundings; each partial sum is at most `A = M max |T|`, so that
//! `|F − S| ≤ γ · A` with `γ = (M − 1) u ÷ (1 − (M − 1) u)`. `E` is more than that. It holds as long as no partial sum can
//! leave the range of f32, so there are no bounds if `2 A` does, and none for entries that are not finite.

use super::Layout;
use crate::codes::Kernels;
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
    /// More than any sum is above the lowest.
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
        self.least.resize(layout.parts, 0.0);
        let magnitude = (kernels.least)(table, &mut self.least);
        let magnitude = f64::from(f32::from_bits(magnitude)) * layout.parts as f64;
        let roundings = layout.parts as f64 * UNIT;
        // A NaN fails this, too.
        let holds = magnitude * 2.0 < f64::from(f32::MAX) && roundings < 0.125;
        self.error = if holds { 1.25 * roundings * magnitude } else { f64::INFINITY };
        self.lowest = self.least.iter().map(|&least| f64::from(least)).sum();
        (self.span, self.scale) = (2.5 * magnitude, 0.0);
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
    pub(super) fn sum(&mut self, table: &[f32], kernels: &Kernels, gap: f64) -> u8 {
        let sum = |scale: f32| gap * f64::from(scale) * (1.0 + 4.0 * UNIT);
        if !(COARSE..FINEST + 1.0).contains(&sum(self.scale)) {
            self.quantise(table, kernels, gap);
        }
        sum(self.scale) as u8
    }

    fn quantise(&mut self, table: &[f32], kernels: &Kernels, gap: f64) {
        // The upper end keeps the products of tiny tables finite, where f32 has no room for the inverse.
        let scale = (FINEST / gap).min(1e30) as f32;
        if scale == self.scale {
            return;
        }
        self.scale = scale;
        self.bytes.resize(table.len(), 0);
        (kernels.quantise)(table, &self.least, scale, &mut self.bytes);
    }

    /// A byte for each entry of the table.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, rounds};
    use std::vec::Vec;

    /// No row within the threshold is said to be too far, and none is kept that is farther than what bytes lose.
    #[test]
    fn bounds_are_true_and_tight() {
        let kernels = Kernels::current();
        let mut random = Random(3);
        for _ in 0..rounds(300) {
            let layout = Layout { parts: 1 + random.below(20), bits: 8, transposed: true };
            let draw = |random: &mut Random| random.below(1 << 20) as f32 / (1 << 18) as f32 - 1.0;
            let table: Vec<f32> = (0..layout.parts * 256).map(|_| draw(&mut random)).collect();
            let mut bounds = Bounds::default();
            bounds.start(layout, &table, kernels);
            let mut threshold = layout.parts as f32 * 0.5;
            for _ in 0..4 {
                let limit = bounds.limit(threshold);
                let Limit::Gap(gap) = limit else { panic!("{limit:?} at {threshold}") };
                let sum = bounds.sum(&table, kernels, gap);
                assert!((COARSE as u8..=FINEST as u8).contains(&sum));
                if kernels.within_of_8.is_none() {
                    continue; // and nothing is quantised
                }
                for _ in 0..100 {
                    let (mut distance, mut bytes) = (0.0f32, 0);
                    for part in 0..layout.parts {
                        let at = part * 256 + random.below(256);
                        distance += table[at];
                        bytes += usize::from(bounds.bytes()[at]);
                    }
                    let is_kept = bytes.min(255) <= usize::from(sum);
                    assert!(is_kept || distance > threshold);
                    let lost = (2 * layout.parts + 1) as f64 / f64::from(bounds.scale);
                    assert!(!is_kept || f64::from(distance - threshold) < lost);
                }
                threshold *= 0.8;
            }
            assert_eq!(bounds.limit(f32::INFINITY), Limit::All);
            assert_eq!(bounds.limit(-1e9), Limit::None);
            assert_eq!(bounds.limit(f32::NAN), Limit::All);
        }
    }
}

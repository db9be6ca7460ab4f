//! Distances as they are defined, one element after the other in f64, and vectors to try them with.

use half::{bf16, f16};
use lancet_kernels::distance::{Element, Metric};

/// An element whose value f64 holds, with what a test needs to know of it.
pub(crate) trait Number: Element {
    const NAME: &'static str;
    /// The unit roundoff of its sums; 0 where they are exact.
    const ROUNDOFF: f64;
    fn value(self) -> f64;
    /// A number of the usual range: −1 to 1 for floats, all of them for integers.
    fn draw(word: u64) -> Self;
}

/// −1 to 1
fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

macro_rules! numbers {
    ($($type:ty, $name:literal, $roundoff:expr, $value:expr, $draw:expr;)*) => {$(
        impl Number for $type {
            const NAME: &'static str = $name;
            const ROUNDOFF: f64 = $roundoff;
            fn value(self) -> f64 {
                ($value)(self)
            }
            fn draw(word: u64) -> Self {
                ($draw)(word)
            }
        }
    )*};
}

/// Half of the distance from 1 to the next f32 and f64.
const SINGLE: f64 = f32::EPSILON as f64 / 2.0;
const DOUBLE: f64 = f64::EPSILON / 2.0;

numbers! {
    f32, "f32", SINGLE, f64::from, |word| unit(word) as f32;
    f64, "f64", DOUBLE, |x| x, unit;
    f16, "f16", SINGLE, f16::to_f64, |word| f16::from_f64(unit(word));
    bf16, "bf16", SINGLE, bf16::to_f64, |word| bf16::from_f64(unit(word));
    i8, "i8", 0.0, f64::from, |word| word as i8;
    u8, "u8", 0.0, f64::from, |word| word as u8;
}

/// SplitMix64: a sequence that its seed determines.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }
}

pub(crate) fn vector<T: Number>(random: &mut Random, len: usize) -> Vec<T> {
    (0..len).map(|_| T::draw(random.word())).collect()
}

/// Every dimension up to some more than a line of bytes has, and those of models; a few under Miri, which is slow.
pub(crate) fn dims() -> impl Iterator<Item = usize> {
    (0..=67)
        .chain([96, 100, 128, 384, 768, 1536])
        .filter(|dim| !cfg!(miri) || [0, 1, 7, 16, 50].contains(dim))
}

/// Whether squares of a vector that is not zero are too small for f32, so that it has no cosine.
#[cfg(not(miri))]
pub(crate) fn vanishes<T: Number>(vector: &[T]) -> bool {
    let square: f64 = vector.iter().map(|x| x.value() * x.value()).sum();
    square > 0.0 && square < 1e-25
}

/// The distance and how far a kernel may be from it: (h + 3)·ε·Σ |term|, with h = ⌈n/8⌉ + 8, what underflows
/// in each term, and one more rounding to f32.
pub(crate) fn definition<T: Number>(metric: Metric, query: &[T], row: &[T]) -> (f64, f64) {
    let steps = (query.len().div_ceil(8) + 8 + 3) as f64 * T::ROUNDOFF;
    let pairs = || query.iter().zip(row).map(|(q, v)| (q.value(), v.value()));
    let squares = |vector: &[T]| vector.iter().map(|x| x.value() * x.value()).sum::<f64>();
    let (distance, bound) = match metric {
        Metric::L2 => {
            let sum: f64 = pairs().map(|(q, v)| (q - v) * (q - v)).sum();
            (sum, steps * sum)
        }
        Metric::Dot => {
            let sum: f64 = pairs().map(|(q, v)| q * v).sum();
            (1.0 - sum, steps * pairs().map(|(q, v)| (q * v).abs()).sum::<f64>() + SINGLE * sum.abs())
        }
        Metric::Cosine => {
            let norms = (squares(query) * squares(row)).sqrt();
            let sum: f64 = pairs().map(|(q, v)| q * v).sum();
            (1.0 - sum / norms, 2.0 * steps + 4.0 * SINGLE)
        }
        Metric::Hamming => {
            let (query, row) = (bytemuck::cast_slice::<T, u8>(query), bytemuck::cast_slice::<T, u8>(row));
            let sum: u32 = query.iter().zip(row).map(|(q, v)| (q ^ v).count_ones()).sum();
            (f64::from(sum), 0.0)
        }
    };
    let underflow = query.len() as f64 * f64::from(f32::from_bits(1));
    (distance, bound + underflow + SINGLE * distance.abs())
}

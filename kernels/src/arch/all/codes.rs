//! Scans of codes as every instruction set has them: plain loops over as many lanes as fill its registers, inlined into
//! functions of the instruction set. Sums have one order, whatever the registers.

use crate::codes::Extent;
use core::ops::{Add, Mul, Sub};

/// The fewest codewords of a part, and so many numbers of a table as are looked at together.
const WORDS: usize = 16;

/// As [`Kernels::extent`](crate::codes::Kernels::extent).
#[inline(always)]
pub(crate) fn extent(numbers: &[f32]) -> Extent {
    let (mut least, mut greatest, mut magnitude) =
        ([f32::INFINITY; WORDS], [f32::NEG_INFINITY; WORDS], [0; WORDS]);
    for numbers in numbers.as_chunks::<WORDS>().0 {
        for (i, &number) in numbers.iter().enumerate() {
            least[i] = if number < least[i] { number } else { least[i] };
            greatest[i] = if number > greatest[i] { number } else { greatest[i] };
            magnitude[i] = magnitude[i].max(number.to_bits() & 0x7fff_ffff);
        }
    }
    Extent {
        least: least.into_iter().fold(f32::INFINITY, f32::min),
        greatest: greatest.into_iter().fold(f32::NEG_INFINITY, f32::max),
        magnitude: magnitude.into_iter().fold(0, u32::max),
    }
}

/// As [`Kernels::quantise`](crate::codes::Kernels::quantise).
#[inline(always)]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) fn quantise(numbers: &[f32], least: f32, scale: f32, out: &mut [u8]) {
    /// From 2²³ on, floats are whole numbers: a sum is rounded to the nearest, and half a step less than that is below
    /// what was added. The byte is the lowest of its mantissa.
    const ROUND: f32 = (1 << 23) as f32 - 0.5;
    for (&number, out) in numbers.iter().zip(out) {
        let steps = (number - least) * scale;
        let steps = if steps > 0.5 { steps } else { 0.5 };
        let steps = if steps < 255.0 { steps } else { 255.0 };
        *out = (steps + ROUND).to_bits() as u8;
    }
}

/// The squared distances of a part of a vector to codewords, of which number `j` of all lies together.
#[inline(always)]
pub(crate) fn squared<T>(part: &[T], words: &[T], out: &mut [f32], to_f32: impl Fn(T) -> f32)
where
    T: Copy + Default + Sub<Output = T> + Mul<Output = T> + Add<Output = T>,
{
    each_word(part, words, out, |sum, x, word| sum + (x - word) * (x - word), to_f32);
}

/// One less the products, likewise.
#[inline(always)]
pub(crate) fn products<T>(part: &[T], words: &[T], out: &mut [f32], to_f32: impl Fn(T) -> f32)
where
    T: Copy + Default + Mul<Output = T> + Add<Output = T>,
{
    each_word(part, words, out, |sum, x, word| sum + x * word, |sum| 1.0 - to_f32(sum));
}

#[inline(always)]
fn each_word<T: Copy + Default>(
    part: &[T],
    words: &[T],
    out: &mut [f32],
    add: impl Fn(T, T, T) -> T,
    finish: impl Fn(T) -> f32,
) {
    let count = out.len();
    let (wide, narrow) = out.as_chunks_mut::<{ 4 * WORDS }>();
    let mut at = 0;
    for out in wide {
        *out = sums_of_words(part, words, count, at, &add).map(&finish);
        at += out.len();
    }
    for out in narrow.as_chunks_mut::<WORDS>().0 {
        *out = sums_of_words(part, words, count, at, &add).map(&finish);
        at += out.len();
    }
}

/// The sums of codewords `at..at + N` of `count`.
#[inline(always)]
fn sums_of_words<T: Copy + Default, const N: usize>(
    part: &[T],
    words: &[T],
    count: usize,
    at: usize,
    add: impl Fn(T, T, T) -> T,
) -> [T; N] {
    let mut sums = [T::default(); N];
    for (j, &x) in part.iter().enumerate() {
        let words: &[T] = &words[j * count + at..][..N];
        for i in 0..N {
            sums[i] = add(sums[i], x, words[i]);
        }
    }
    sums
}

/// As [`Kernels::bytes`](crate::codes::Kernels::bytes): sixteen sums, each of every sixteenth product, which are then
/// added up by halves, and the products that are left one after the other.
#[inline(always)]
pub(crate) fn bytes(query: &[f32], rows: &[u8], out: &mut [f32]) {
    let (parts, rest) = query.as_chunks::<16>();
    for (row, out) in rows.chunks_exact(query.len().max(1)).zip(out) {
        let (codes, last) = row.as_chunks::<16>();
        let mut sums = [0.0; 16];
        for (query, codes) in parts.iter().zip(codes) {
            for i in 0..16 {
                sums[i] += f32::from(codes[i]) * query[i];
            }
        }
        for half in [8, 4, 2, 1] {
            for i in 0..half {
                sums[i] += sums[i + half];
            }
        }
        *out = rest.iter().zip(last).fold(sums[0], |sum, (&x, &code)| sum + f32::from(code) * x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents() {
        let mut numbers = [1.5f32; 32];
        assert_eq!(extent(&numbers), Extent { least: 1.5, greatest: 1.5, magnitude: 1.5f32.to_bits() });
        (numbers[3], numbers[30]) = (-2.0, 1.75);
        assert_eq!(extent(&numbers), Extent { least: -2.0, greatest: 1.75, magnitude: 2f32.to_bits() });
        numbers[17] = f32::NAN;
        assert!(f32::from_bits(extent(&numbers).magnitude).is_nan());
        numbers[17] = f32::NEG_INFINITY;
        assert_eq!(extent(&numbers).magnitude, f32::INFINITY.to_bits());
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn bytes_are_not_above_what_they_stand_for() {
        let numbers: std::vec::Vec<f32> = (0..4096).map(|i| 3.0 + i as f32 / 16.0).collect();
        let mut bytes = std::vec![0; numbers.len()];
        for scale in [1.0, 0.99, 0.3, 7.3, 1e30, 1e-30] {
            quantise(&numbers, 3.0, scale, &mut bytes);
            for (&number, &byte) in numbers.iter().zip(&bytes) {
                let steps = f64::from(number - 3.0) * f64::from(scale);
                let byte = f64::from(byte);
                assert!(byte <= steps && (byte + 1.0 >= steps || byte >= 254.0), "{byte} for {steps}");
            }
        }
    }
}

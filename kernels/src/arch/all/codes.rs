//! Scans of codes as every instruction set has them: plain loops over as many lanes as fill its registers, inlined into
//! functions of the instruction set. Sums have one order, whatever the registers.

use crate::codes::product::Number;

/// Numbers that are looked at together; a part has 16 times so many, or so many.
const LANES: usize = 16;

/// As [`Kernels::least`](crate::codes::Kernels::least).
#[inline(always)]
pub(crate) fn least(table: &[f32], out: &mut [f32]) -> u32 {
    let mut magnitude = [0u32; LANES];
    let words = (table.len() / out.len().max(1)).max(LANES);
    for (part, out) in table.chunks_exact(words).zip(out) {
        let mut least = [f32::INFINITY; LANES];
        for numbers in part.as_chunks::<LANES>().0 {
            for i in 0..LANES {
                least[i] = if numbers[i] < least[i] { numbers[i] } else { least[i] };
                magnitude[i] = magnitude[i].max(numbers[i].to_bits() & 0x7fff_ffff);
            }
        }
        let mut half = LANES / 2;
        while half > 0 {
            for i in 0..half {
                least[i] = if least[i + half] < least[i] { least[i + half] } else { least[i] };
            }
            half /= 2;
        }
        *out = least[0];
    }
    magnitude.into_iter().fold(0, u32::max)
}

/// As [`Kernels::quantise`](crate::codes::Kernels::quantise).
#[inline(always)]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) fn quantise(table: &[f32], least: &[f32], scale: f32, out: &mut [u8]) {
    /// From 2²³ on, floats are whole numbers: a sum is rounded to the nearest, and half a step less than that is below
    /// what was added. The byte is the lowest of its mantissa.
    const ROUND: f32 = (1 << 23) as f32 - 0.5;
    let words = (table.len() / least.len().max(1)).max(LANES);
    for ((part, &least), out) in table.chunks_exact(words).zip(least).zip(out.chunks_exact_mut(words)) {
        for (&number, out) in part.iter().zip(out) {
            let steps = (number - least) * scale;
            let steps = if steps > 0.5 { steps } else { 0.5 };
            let steps = if steps < 255.0 { steps } else { 255.0 };
            *out = (steps + ROUND).to_bits() as u8;
        }
    }
}

/// As [`Kernels::squared`](crate::codes::Kernels::squared).
#[inline(always)]
pub(crate) fn squared<T: Number>(vector: &[T], width: usize, words: &[T], out: &mut [f32]) {
    each_part(vector, width, words, out, |sum, x, word| sum + (x - word) * (x - word), T::to_f32);
}

/// As [`Kernels::products`](crate::codes::Kernels::products).
#[inline(always)]
pub(crate) fn products<T: Number>(vector: &[T], width: usize, words: &[T], out: &mut [f32]) {
    each_part(vector, width, words, out, |sum, x, word| sum + x * word, |sum: T| 1.0 - sum.to_f32());
}

/// Sums over the numbers of codewords, for each part of a vector: of 16 codewords a part, or of 64 at a time.
#[inline(always)]
fn each_part<T: Number>(
    vector: &[T],
    width: usize,
    words: &[T],
    out: &mut [f32],
    add: impl Fn(T, T, T) -> T,
    finish: impl Fn(T) -> f32,
) {
    const MANY: usize = 4 * LANES;
    if width == 0 {
        return out.fill(finish(T::default()));
    }
    let count = out.len() / (vector.len() / width).max(1);
    let parts = vector.chunks_exact(width).zip(words.chunks_exact(count * width));
    for ((part, words), out) in parts.zip(out.chunks_exact_mut(count)) {
        let (many, few) = out.as_chunks_mut::<MANY>();
        for (i, out) in many.iter_mut().enumerate() {
            *out = sums(part, words, count, i * MANY, &add).map(&finish);
        }
        let at = many.len() * MANY;
        for (i, out) in few.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            *out = sums(part, words, count, at + i * LANES, &add).map(&finish);
        }
    }
}

/// The sums of codewords `at..at + N` of `count`.
#[inline(always)]
fn sums<T: Number, const N: usize>(
    part: &[T],
    words: &[T],
    count: usize,
    at: usize,
    add: impl Fn(T, T, T) -> T,
) -> [T; N] {
    let mut sums = [T::default(); N];
    for (&x, words) in part.iter().zip(words.chunks_exact(count)) {
        let words = &words[at..][..N];
        for i in 0..N {
            sums[i] = add(sums[i], x, words[i]);
        }
    }
    sums
}

/// As [`Kernels::bytes`](crate::codes::Kernels::bytes): sixteen sums, each of every sixteenth product, are added up by
/// halves.
#[inline(always)]
pub(crate) fn bytes(query: &[f32], rows: &[u8], out: &mut [f32]) {
    for (row, out) in rows.chunks_exact(query.len().max(1)).zip(out) {
        let mut sums = [0.0; LANES];
        for (query, codes) in query.chunks(LANES).zip(row.chunks(LANES)) {
            for ((sum, &x), &code) in sums.iter_mut().zip(query).zip(codes) {
                *sum += f32::from(code) * x;
            }
        }
        let mut half = LANES / 2;
        while half > 0 {
            for i in 0..half {
                sums[i] += sums[i + half];
            }
            half /= 2;
        }
        *out = sums[0];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_numbers_and_magnitudes() {
        let (mut table, mut out) = ([1.5f32; 32], [0.0; 2]);
        assert_eq!(least(&table, &mut out), 1.5f32.to_bits());
        assert_eq!(out, [1.5; 2]);
        (table[3], table[30]) = (-2.0, 1.25);
        assert_eq!(least(&table, &mut out), 2f32.to_bits());
        assert_eq!(out, [-2.0, 1.25]);
        table[17] = f32::NAN;
        assert!(f32::from_bits(least(&table, &mut out)).is_nan());
        table[17] = f32::NEG_INFINITY;
        assert_eq!(least(&table, &mut out), f32::INFINITY.to_bits());
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn bytes_are_not_above_what_they_stand_for() {
        let numbers: std::vec::Vec<f32> = (0..4096).map(|i| 3.0 + i as f32 / 16.0).collect();
        let mut bytes = std::vec![0; numbers.len()];
        for scale in [1.0, 0.99, 0.3, 7.3, 1e30, 1e-30] {
            quantise(&numbers, &[3.0; 16], scale, &mut bytes);
            for (&number, &byte) in numbers.iter().zip(&bytes) {
                let steps = f64::from(number - 3.0) * f64::from(scale);
                let byte = f64::from(byte);
                assert!(byte <= steps && (byte + 1.0001 >= steps || byte >= 254.0), "{byte} for {steps}");
            }
        }
    }
}

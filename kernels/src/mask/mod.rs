//! Masks: one bit for each row, as words of 64 bits. Row i is bit `i % 64` of word `i / 64`.
//!
//! ```text
//! word 0                word 1                          rows.div_ceil(64) words;
//! ├ row 0 … row 63 ┤    ├ row 64 … row 127 ┤  …         bit 0 is the lowest; spare bits are zero
//! ```
//!
//! [Comparisons](crate::compare) write masks, [`kleene`] combines them where there are nulls, and [`positions`] and
//! [`runs`] say which rows they select. On a little-endian machine the bytes of a mask are a bit set as
//! [`bits`] knows it; [`load`] and [`store`] convert on every machine.
//!
//! A function of two masks panics if they differ in length.

mod gather;
mod kernels;
pub mod kleene;
mod positions;

pub use gather::gather;
pub(crate) use kernels::Kernels;
pub use positions::positions;

use crate::bits;
use core::{iter, ops::Range};

/// Keeps the rows of `mask` that are in `other`.
pub fn and(mask: &mut [u64], other: &[u64]) {
    combine(mask, other, |a, b| a & b);
}

/// Adds the rows of `other` to `mask`.
pub fn or(mask: &mut [u64], other: &[u64]) {
    combine(mask, other, |a, b| a | b);
}

/// Removes the rows of `other` from `mask`.
pub fn and_not(mask: &mut [u64], other: &[u64]) {
    combine(mask, other, |a, b| a & !b);
}

/// Keeps the rows that are in one of both.
pub fn xor(mask: &mut [u64], other: &[u64]) {
    combine(mask, other, |a, b| a ^ b);
}

/// The rows of `0..rows` that were not in `mask`.
///
/// # Panics
/// If `mask` has not `rows.div_ceil(64)` words.
pub fn not(mask: &mut [u64], rows: usize) {
    check(mask, rows);
    mask.iter_mut().for_each(|word| *word = !*word);
    clear_spare(mask, rows);
}

/// All rows of `0..rows`, or none.
///
/// # Panics
/// If `mask` has not `rows.div_ceil(64)` words.
pub fn fill(mask: &mut [u64], rows: usize, value: bool) {
    check(mask, rows);
    mask.fill(if value { !0 } else { 0 });
    clear_spare(mask, rows);
}

/// The number of rows in `mask`.
pub fn count(mask: &[u64]) -> usize {
    (Kernels::current().count)(bytemuck::cast_slice(mask)) as usize
}

/// Whether `mask` has a row.
pub fn any(mask: &[u64]) -> bool {
    mask.iter().any(|&word| word != 0)
}

/// Whether `mask` has all rows of `0..rows`.
///
/// # Panics
/// If `mask` has not `rows.div_ceil(64)` words.
pub fn all(mask: &[u64], rows: usize) -> bool {
    check(mask, rows);
    let (whole, rest) = mask.split_at(rows / 64);
    whole.iter().all(|&word| word == !0) && rest.iter().all(|&word| word == low(rows % 64))
}

/// The rows in `mask`, ascending.
pub fn ones(mask: &[u64]) -> impl Iterator<Item = usize> + '_ {
    mask.iter().enumerate().flat_map(|(i, &word)| {
        let mut word = word;
        iter::from_fn(move || {
            let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
            word &= word - 1;
            Some(i * 64 + bit)
        })
    })
}

/// The rows in `mask` as ranges, ascending, none of which touches the next.
pub fn runs(mask: &[u64]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = 0;
    iter::from_fn(move || {
        let start = next(mask, at, 0)?;
        at = next(mask, start, !0).unwrap_or(mask.len() * 64);
        Some(start..at)
    })
}

/// The first row from `row` on that is in `mask`, or, if `flip` is `!0`, that is not.
fn next(mask: &[u64], row: usize, flip: u64) -> Option<usize> {
    let first = (mask.get(row / 64)? ^ flip) >> (row % 64) << (row % 64);
    if first != 0 {
        return Some(row / 64 * 64 + first.trailing_zeros() as usize);
    }
    let rest = &mask[row / 64 + 1..];
    let words = rest.iter().position(|&word| word != flip)?;
    Some((row / 64 + 1 + words) * 64 + (rest[words] ^ flip).trailing_zeros() as usize)
}

/// Fills `mask` with bits `start .. start + rows` of a bit set.
///
/// # Panics
/// If `mask` has not `rows.div_ceil(64)` words, or if `bytes` is too short.
pub fn load(mask: &mut [u64], rows: usize, bytes: &[u8], start: usize) {
    check(mask, rows);
    if let Some(last) = mask.last_mut() {
        *last = 0;
    }
    bits::copy(bytemuck::cast_slice_mut(mask), 0, bytes, start, rows);
    mask.iter_mut().for_each(|word| *word = u64::from_le(*word));
}

/// Writes the first `rows` rows to bits `start .. start + rows` of a bit set, and leaves its other bits.
///
/// # Panics
/// If `mask` has fewer than `rows` rows, or if `bytes` is too short.
pub fn store(mask: &[u64], rows: usize, bytes: &mut [u8], start: usize) {
    for (word, row) in mask[..rows.div_ceil(64)].iter().zip((0..rows).step_by(64)) {
        bits::store(bytes, start + row, (rows - row).min(64), *word);
    }
}

#[inline(always)]
fn combine(mask: &mut [u64], other: &[u64], op: impl Fn(u64, u64) -> u64) {
    assert_eq!(mask.len(), other.len(), "words of two masks");
    for (a, &b) in mask.iter_mut().zip(other) {
        *a = op(*a, b);
    }
}

fn check(mask: &[u64], rows: usize) {
    assert_eq!(mask.len(), rows.div_ceil(64), "words of a mask of {rows} rows");
}

fn clear_spare(mask: &mut [u64], rows: usize) {
    if let Some(last) = mask.last_mut().filter(|_| !rows.is_multiple_of(64)) {
        *last &= low(rows % 64);
    }
}

/// The low `len` bits, for a `len` below 64.
fn low(len: usize) -> u64 {
    (1 << len) - 1
}

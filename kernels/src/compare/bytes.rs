//! Comparisons of texts and binaries: by unsigned bytes, a prefix before what it is a prefix of.
//!
//! Lengths are compared first, many at a time, and of what is left the first eight bytes before the others. A text
//! that contains another is no matter of a mask over offsets: use the `memchr` crate's `memmem` on the rows.

use super::{Op, block, item::Compare};
use crate::isa::Isa;
use core::ops::{Bound, RangeInclusive};

/// Rows of bytes.
pub trait Rows: Copy {
    /// The number of rows.
    fn rows(&self) -> usize;

    /// The bytes of row `i`.
    ///
    /// # Panics
    /// If there is no such row.
    fn row(&self, i: usize) -> &[u8];

    /// Sets the bit of each row that has one of `lengths`.
    ///
    /// # Panics
    /// If `mask` has not `self.rows().div_ceil(64)` words.
    fn of_length(&self, lengths: RangeInclusive<usize>, mask: &mut [u64]);
}

/// Rows of any length, end to end: row i is `bytes[offsets[i]..offsets[i + 1]]`.
///
/// The offsets ascend from 0 or more and none is above the number of bytes. A function panics where it meets offsets
/// that do not.
#[derive(Debug, Clone, Copy)]
pub struct Variable<'a, O> {
    /// One more than there are rows; none for no rows.
    pub offsets: &'a [O],
    /// What the offsets point into.
    pub bytes: &'a [u8],
}

/// Rows of one length: row i is `bytes[i * width..][..width]`.
#[derive(Debug, Clone, Copy)]
pub struct Fixed<'a> {
    /// The bytes of a row, 1 or more.
    pub width: usize,
    /// The rows, end to end.
    pub bytes: &'a [u8],
}

/// Rows whose lengths are found at once.
const BLOCK: usize = 512;

macro_rules! variable {
    ($offset:ty, $length:ty) => {
        impl Rows for Variable<'_, $offset> {
            fn rows(&self) -> usize {
                self.offsets.len().saturating_sub(1)
            }

            #[inline(always)]
            fn row(&self, i: usize) -> &[u8] {
                &self.bytes[self.offsets[i] as usize..self.offsets[i + 1] as usize]
            }

            fn of_length(&self, wanted: RangeInclusive<usize>, mask: &mut [u64]) {
                block::check(self.rows(), mask);
                let isa = Isa::current();
                let limit = |length: usize| <$length>::try_from(length).unwrap_or(<$length>::MAX);
                let low = Bound::Included(limit(*wanted.start()));
                let high = Bound::Included(limit(*wanted.end()));
                let mut lengths = [0; BLOCK];
                for (i, mask) in mask.chunks_mut(BLOCK / 64).enumerate() {
                    let starts = &self.offsets[i * BLOCK..];
                    let rows = BLOCK.min(starts.len() - 1);
                    let lengths = &mut lengths[..rows];
                    for (length, (start, end)) in lengths.iter_mut().zip(starts.iter().zip(&starts[1..])) {
                        *length = end.wrapping_sub(*start) as $length;
                    }
                    <$length>::within(isa, lengths, low, high, 0, mask);
                }
            }
        }
    };
}
variable!(i32, u32);
variable!(i64, u64);

impl Rows for Fixed<'_> {
    fn rows(&self) -> usize {
        self.bytes.len() / self.width
    }

    #[inline(always)]
    fn row(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.width..][..self.width]
    }

    fn of_length(&self, wanted: RangeInclusive<usize>, mask: &mut [u64]) {
        let all = wanted.contains(&self.width);
        block::uniform(self.rows(), if all { !0 } else { 0 }, mask);
    }
}

/// Sets the bit of each row that is `op` to `literal`.
///
/// # Panics
/// If `mask` has not `rows.rows().div_ceil(64)` words, or as the kind of rows says.
pub fn literal(op: Op, rows: impl Rows, literal: &[u8], mask: &mut [u64]) {
    match op {
        Op::Eq => equal(rows, literal, mask),
        Op::Ne => {
            equal(rows, literal, mask);
            crate::mask::not(mask, rows.rows());
        }
        _ => ordered(op, rows, literal, mask),
    }
}

/// Sets the bit of each row that starts with `prefix`.
///
/// # Panics
/// If `mask` has not `rows.rows().div_ceil(64)` words, or as the kind of rows says.
pub fn starts_with(rows: impl Rows, prefix: &[u8], mask: &mut [u64]) {
    rows.of_length(prefix.len()..=usize::MAX, mask);
    keep_with_start(rows, prefix, mask);
}

/// Sets the bit of each row of `left` that is `op` to that of `right`.
///
/// # Panics
/// If the numbers of rows differ, `mask` has not `rows.div_ceil(64)` words, or as the kind of rows says.
pub fn columns(op: Op, left: impl Rows, right: impl Rows, mask: &mut [u64]) {
    assert_eq!(left.rows(), right.rows(), "rows of two columns");
    match op {
        Op::Eq => each(left.rows(), mask, |i| left.row(i) == right.row(i)),
        Op::Ne => each(left.rows(), mask, |i| left.row(i) != right.row(i)),
        _ => each(left.rows(), mask, |i| op.holds(left.row(i).cmp(right.row(i)))),
    }
}

fn equal(rows: impl Rows, literal: &[u8], mask: &mut [u64]) {
    rows.of_length(literal.len()..=literal.len(), mask);
    keep_with_start(rows, literal, mask);
}

/// Of the rows in `mask`, all of which are long enough, keeps those that start with `prefix`.
fn keep_with_start(rows: impl Rows, prefix: &[u8], mask: &mut [u64]) {
    match prefix {
        [] => {}
        _ if prefix.len() < 8 => keep(mask, |i| rows.row(i).starts_with(prefix)),
        _ => {
            let (head, rest) = prefix.split_first_chunk::<8>().unwrap();
            let head = u64::from_ne_bytes(*head);
            keep(mask, |i| match rows.row(i).split_first_chunk() {
                Some((own, own_rest)) => u64::from_ne_bytes(*own) == head && own_rest.starts_with(rest),
                None => false,
            });
        }
    }
}

/// Keeps the rows of `mask` that `holds` says.
#[inline(always)]
fn keep(mask: &mut [u64], holds: impl Fn(usize) -> bool) {
    for (i, word) in mask.iter_mut().enumerate() {
        let mut left = *word;
        while left != 0 {
            let bit = left & left.wrapping_neg();
            let row = i * 64 + left.trailing_zeros() as usize;
            *word &= if holds(row) { !0 } else { !bit };
            left ^= bit;
        }
    }
}

fn ordered(op: Op, rows: impl Rows, literal: &[u8], mask: &mut [u64]) {
    let head = padded_head(literal);
    each(rows.rows(), mask, |i| {
        let row = rows.row(i);
        let own = padded_head(row);
        let ordering = if own == head { row.cmp(literal) } else { own.cmp(&head) };
        op.holds(ordering)
    });
}

/// The first eight bytes, with zeros after a shorter text, as a number that orders like them.
#[inline(always)]
fn padded_head(row: &[u8]) -> u64 {
    match row.first_chunk() {
        Some(head) => u64::from_be_bytes(*head),
        None => row.iter().rev().fold(0, |head, &byte| head >> 8 | u64::from(byte) << 56),
    }
}

#[inline(always)]
fn each(rows: usize, mask: &mut [u64], holds: impl Fn(usize) -> bool) {
    block::check(rows, mask);
    for (i, word) in mask.iter_mut().enumerate() {
        *word = block::bits((rows - i * 64).min(64), 0, |bit| holds(i * 64 + bit));
    }
}

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

    /// The eight bytes from the start of row `i` on, whatever rows they belong to, if there are so many.
    ///
    /// # Panics
    /// If there is no such row.
    fn head(&self, i: usize) -> Option<[u8; 8]>;

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

            #[inline(always)]
            fn head(&self, i: usize) -> Option<[u8; 8]> {
                self.bytes.get(self.offsets[i] as usize..)?.first_chunk().copied()
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

    #[inline(always)]
    fn head(&self, i: usize) -> Option<[u8; 8]> {
        self.bytes[i * self.width..].first_chunk().copied()
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
        _ => each(left.rows(), mask, |i| {
            let (own, other) = (padded_head(left, i), padded_head(right, i));
            op.holds(if own == other { left.row(i).cmp(right.row(i)) } else { own.cmp(&other) })
        }),
    }
}

fn equal(rows: impl Rows, literal: &[u8], mask: &mut [u64]) {
    rows.of_length(literal.len()..=literal.len(), mask);
    keep_with_start(rows, literal, mask);
}

/// Of the rows in `mask`, all of which are long enough, keeps those that start with `prefix`.
fn keep_with_start(rows: impl Rows, prefix: &[u8], mask: &mut [u64]) {
    let Some((&head, rest)) = prefix.split_first_chunk() else {
        let (start, bits) = (short(prefix), low_bytes(prefix.len()));
        return keep(mask, |i| match rows.head(i) {
            Some(own) => u64::from_le_bytes(own) & bits == start,
            None => rows.row(i).starts_with(prefix),
        });
    };
    let Some(&tail) = prefix.last_chunk::<8>().filter(|_| rest.len() <= 8) else {
        return keep(mask, |i| rows.head(i) == Some(head) && rows.row(i).starts_with(prefix));
    };
    // The last eight bytes overlap with the first: no call compares so few.
    keep(mask, |i| rows.head(i) == Some(head) && rows.row(i)[rest.len()..].first_chunk() == Some(&tail));
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
    let head = match literal.first_chunk() {
        Some(head) => u64::from_be_bytes(*head),
        None => short(literal).swap_bytes(),
    };
    each(rows.rows(), mask, |i| {
        let own = padded_head(rows, i);
        op.holds(if own == head { rows.row(i).cmp(literal) } else { own.cmp(&head) })
    });
}

/// The first eight bytes of a row, with zeros after a shorter one, as a number that orders like them.
#[inline(always)]
fn padded_head(rows: impl Rows, i: usize) -> u64 {
    let row = rows.row(i);
    let head = rows.head(i).map_or_else(|| short(row), u64::from_le_bytes);
    (head & low_bytes(row.len())).swap_bytes()
}

/// Up to eight bytes, the first one lowest, and zeros above them.
fn short(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// The bits of the lowest `len` bytes.
#[inline(always)]
fn low_bytes(len: usize) -> u64 {
    if len < 8 { (1 << (8 * len)) - 1 } else { !0 }
}

#[inline(always)]
fn each(rows: usize, mask: &mut [u64], holds: impl Fn(usize) -> bool) {
    block::check(rows, mask);
    for (i, word) in mask.iter_mut().enumerate() {
        *word = block::bits((rows - i * 64).min(64), 0, |bit| holds(i * 64 + bit));
    }
}

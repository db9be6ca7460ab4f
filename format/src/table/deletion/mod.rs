//! Deletion files: which rows of a fragment are gone.
//!
//! A file always lists every deleted row of its fragment, by offset. Whatever its kind, a list becomes one
//! [`Roaring`] set: a bitmap is used where it lies, an Arrow file is decoded and sorted.

mod arrow_ipc;

use super::{MAX_ROWS, Roaring};
use crate::{Error, Result, ensure};
use alloc::format;
use bytes::Bytes;
use core::ops::Range;

/// The deleted rows of a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletions {
    set: Roaring,
    rows: u64,
}

impl Deletions {
    /// The deleted offsets in `set` of a fragment that has `physical_rows` rows, at most 2³².
    ///
    /// # Errors
    /// Corrupt if an offset is not below the number of rows.
    pub fn new(set: Roaring, physical_rows: u64) -> Result<Self> {
        check_rows(physical_rows)?;
        let max = set.max().unwrap_or(0);
        ensure!(
            set.is_empty() || u64::from(max) < physical_rows,
            "expected deleted rows below {physical_rows}, found {max}"
        );
        Ok(Deletions { set, rows: physical_rows })
    }

    /// Reads a whole `.bin` file: one Roaring bitmap. Shares the bytes.
    ///
    /// # Errors
    /// Corrupt if the bytes are no bitmap, or an offset is not below `physical_rows`.
    pub fn parse_bitmap(bytes: &Bytes, physical_rows: u64) -> Result<Self> {
        Self::new(Roaring::parse(bytes)?, physical_rows)
    }

    /// Reads a whole `.arrow` file: an Arrow file with one column of offsets in any order.
    ///
    /// # Errors
    /// Corrupt if the file is not of that form, an offset occurs twice or is not below `physical_rows`;
    /// unsupported if it is compressed in another way than Lance's.
    pub fn parse_arrow(bytes: &[u8], physical_rows: u64) -> Result<Self> {
        check_rows(physical_rows)?;
        let mut offsets = arrow_ipc::read_offsets(bytes, physical_rows)?;
        offsets.sort_unstable();
        if let Some(pair) = offsets.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::corrupt(format!("expected each deleted row once, found {} twice", pair[0])));
        }
        Self::new(Roaring::from_sorted(&offsets), physical_rows)
    }

    /// How many rows are deleted.
    pub fn len(&self) -> u64 {
        self.set.len()
    }

    /// Whether no row is deleted.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    /// How many rows the fragment has, deleted ones included.
    pub fn physical_rows(&self) -> u64 {
        self.rows
    }

    /// How many rows are left.
    pub fn live_rows(&self) -> u64 {
        self.rows - self.set.len()
    }

    /// The deleted offsets as a set.
    pub fn as_set(&self) -> &Roaring {
        &self.set
    }

    /// Whether the row at `offset` is deleted.
    #[inline]
    pub fn contains(&self, offset: u32) -> bool {
        self.set.contains(offset)
    }

    /// How many of the rows before `offset` are deleted.
    pub fn rank(&self, offset: u32) -> u64 {
        self.set.rank(offset)
    }

    /// The deleted offsets in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.set.iter()
    }

    /// The offset of the live row that `n` live rows precede, if there are so many. Takes logarithmic time.
    pub fn select_live(&self, n: u64) -> Option<u32> {
        if n < self.live_rows() { Some(self.set.nth_absent(n) as u32) } else { None }
    }

    /// The rows of `range` that are not deleted, as ascending ranges that do not touch. What lies beyond
    /// the last row is left out.
    pub fn live_ranges(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let end = range.end.min(self.rows);
        let mut at = range.start;
        // A start beyond 32 bits is also beyond the end: nothing is asked of the set.
        let mut deleted = self.set.ranges(u32::try_from(at).unwrap_or(u32::MAX));
        core::iter::from_fn(move || {
            while at < end {
                let start = at;
                let gone = deleted.next().unwrap_or(end..end);
                at = gone.end;
                if start < gone.start {
                    return Some(start..gone.start.min(end));
                }
            }
            None
        })
    }
}

fn check_rows(physical_rows: u64) -> Result<()> {
    ensure!(physical_rows <= MAX_ROWS, "expected at most 2^32 rows, found {physical_rows}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::STEP;
    use alloc::vec::Vec;

    #[test]
    fn finds_live_rows() {
        let values = [0, 1, 5, 6, 70_000, 70_001, 99_999];
        let deletions = Deletions::new(Roaring::from_sorted(&values), 100_000).unwrap();
        let live: Vec<u32> = [2..5, 7..70_000, 70_002..99_999].into_iter().flatten().collect();
        assert_eq!(deletions.live_rows(), live.len() as u64);
        for (n, offset) in live.iter().enumerate().step_by(STEP * STEP) {
            assert_eq!(deletions.select_live(n as u64), Some(*offset));
            assert_eq!(u64::from(*offset) - deletions.rank(*offset), n as u64);
        }
        assert_eq!(deletions.select_live(live.len() as u64), None);

        let ranges =
            |range| deletions.live_ranges(range).map(|live| (live.start, live.end)).collect::<Vec<_>>();
        assert_eq!(ranges(0..u64::MAX), [(2, 5), (7, 70_000), (70_002, 99_999)]);
        assert_eq!(ranges(3..4), [(3, 4)]);
        assert_eq!(ranges(5..7), []);
        assert_eq!(ranges(6..9), [(7, 9)]);
        assert_eq!(ranges(99_999..200_000), []);
        assert_eq!(ranges(9..9), []);
        assert_eq!(ranges(u64::MAX - 1..u64::MAX), []);
    }

    #[test]
    fn knows_the_last_possible_row() {
        let deletions = Deletions::new(Roaring::from_sorted(&[u32::MAX]), 1 << 32).unwrap();
        assert_eq!(deletions.select_live((1 << 32) - 2), Some(u32::MAX - 1));
        assert_eq!(deletions.select_live((1 << 32) - 1), None);
        let mut ranges = deletions.live_ranges(0..1 << 32);
        assert_eq!((ranges.next(), ranges.next()), (Some(0..(1 << 32) - 1), None));
    }

    #[test]
    fn refuses_rows_that_are_not_there() {
        let set = Roaring::from_sorted(&[3, 9]);
        assert!(Deletions::new(set.clone(), 10).is_ok());
        assert!(Deletions::new(set.clone(), 9).is_err());
        assert!(Deletions::new(set.clone(), 1 << 33).is_err());
        assert!(Deletions::parse_bitmap(set.as_bytes(), 9).is_err());
        assert!(Deletions::new(Roaring::from_sorted(&[]), 0).is_ok());
    }
}

//! A scan without a filter.

use super::Scan;
use crate::{Batch, ErrorKind, Result, fragment::Fragment, read};
use std::ops::Range;

/// Where a scan of all rows is.
#[derive(Debug)]
pub(super) struct Whole {
    /// The fragments to read, by position.
    positions: Vec<usize>,
    /// Which of them is next.
    next: usize,
    /// The next row of the fragment.
    row: u64,
    /// Rows still wanted.
    remaining: u64,
    batch_rows: usize,
    ranges: Vec<Range<u64>>,
}

/// The number of rows of the scan, its limit and offset apart.
pub(super) fn count(scan: &Scan) -> Result<u64> {
    let live = scan.dataset.live_before()?;
    Ok(scan.positions().iter().map(|&position| live[position + 1] - live[position]).sum())
}

impl Whole {
    pub(super) fn new(scan: &Scan) -> Result<Self> {
        let live = scan.dataset.live_before()?;
        let positions = scan.positions();
        let (mut next, mut skip) = (0, scan.offset);
        while let Some(&position) = positions.get(next) {
            let rows = live[position + 1] - live[position];
            if skip < rows {
                break;
            }
            skip -= rows;
            next += 1;
        }
        let remaining = scan.limit.unwrap_or(u64::MAX);
        let row = match positions.get(next) {
            Some(&position) if remaining > 0 && skip > 0 => {
                scan.dataset.fragments()[position].select_live(scan.dataset.pool(), skip)?
            }
            _ => 0,
        };
        let batch_rows = scan.batch_rows(&scan.projection);
        Ok(Whole { positions, next, row, remaining, batch_rows, ranges: Vec::new() })
    }

    pub(super) fn next_batch(&mut self, scan: &Scan) -> Result<Option<Batch>> {
        let pool = scan.dataset.pool();
        while self.remaining > 0 {
            let Some(&position) = self.positions.get(self.next) else { break };
            let fragment = &scan.dataset.fragments()[position];
            let rows = fragment.physical_rows(pool)?;
            let end = read::batch_end(fragment, pool, &scan.projection, self.row, rows)?;
            let wanted = self.remaining.min(self.batch_rows as u64);
            let next = read::live_ranges(fragment.deletions(pool)?, self.row..end, wanted, &mut self.ranges);
            if !self.ranges.is_empty() {
                let batch = read_what_fits(scan, fragment, &mut self.ranges)?;
                self.row = self.ranges.last().map_or(next, |last| last.end);
                self.remaining -= batch.len() as u64;
                return Ok(Some(batch));
            }
            self.row = next;
            if next >= rows {
                self.next += 1;
                self.row = 0;
            }
        }
        Ok(None)
    }
}

/// Reads the rows of `ranges`; if their text does not fit one column, only the first of them, and `ranges` is cut
/// down to these.
pub(super) fn read_what_fits(
    scan: &Scan,
    fragment: &Fragment,
    ranges: &mut Vec<Range<u64>>,
) -> Result<Batch> {
    loop {
        let mut batch = Batch::new();
        match read::read(fragment, scan.dataset.pool(), &scan.projection, ranges, &mut batch) {
            Err(error) if error.kind() == ErrorKind::TooLarge => {
                let rows = read::count(ranges) as u64;
                if rows < 2 {
                    return Err(error);
                }
                read::keep_first(ranges, rows / 2);
            }
            Err(error) => return Err(error),
            Ok(()) => return Ok(batch),
        }
    }
}

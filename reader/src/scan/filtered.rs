//! A scan with a filter: its columns first, then only the rows that remain.
//!
//! ```text
//! fragment   ├── stretch ──┼── stretch ──┼ …      what one thread takes at a time
//! stretch    ├─ piece ─┼─ piece ─┼ …              rows that the filter is evaluated on at a time
//! piece      live rows ─▶ columns of the filter ─▶ mask ─▶ rows to read
//! batch      the rows to read of one piece or several
//! ```

use super::{Filter, RangeInputs, Scan, whole::read_what_fits};
use crate::{
    Batch, ErrorKind, Result,
    filter::{Mask, Scratch},
    fragment::Fragment,
    read,
};
use lancet_format::Column;
use std::{collections::VecDeque, ops::Range};

/// The rows that the filter is evaluated on at a time: its columns then lie in the cache.
const PIECE_ROWS: u64 = 16_384;

/// The rows that one thread takes at a time.
const STRETCH_ROWS: u64 = 8 * PIECE_ROWS;

/// Where a filtered scan is.
#[derive(Debug)]
pub(super) struct Filtered {
    stretches: VecDeque<Stretch>,
    /// The stretch that is being read.
    run: Option<Run>,
    /// Batches that are read already.
    ready: VecDeque<Batch>,
    /// Rows still to be left out.
    skip: u64,
    /// Rows still wanted.
    remaining: u64,
}

/// Rows of a fragment, which is given by its position.
#[derive(Debug, Clone)]
struct Stretch {
    position: usize,
    rows: Range<u64>,
}

/// The number of rows that the filter leaves; counting may end when it has reached `enough`.
pub(super) fn count(scan: &Scan, enough: u64) -> Result<u64> {
    let mut total = 0;
    let mut stretches = stretches(scan)?;
    while !stretches.is_empty() && total < enough {
        let counts = each(scan, &mut stretches, &|run| {
            let mut rows = 0;
            while run.next_piece(scan)?.is_some() {
                rows += run.mask.count() as u64;
                scan.watch.check()?;
            }
            Ok(rows)
        });
        for rows in counts {
            total += rows?;
        }
    }
    Ok(total)
}

/// The rows of each of the fragments at `positions` for which the filter is true.
pub(crate) fn matches(scan: &Scan, positions: &[usize]) -> Result<Vec<Mask>> {
    let mut stretches = stretches_of(scan, positions)?;
    let rows = |&position: &usize| scan.dataset.fragments()[position].physical_rows(scan.dataset.pool());
    let filled = |rows| Mask::filled(usize::try_from(rows).unwrap_or(usize::MAX), false);
    let mut masks =
        positions.iter().map(|position| rows(position).map(filled)).collect::<Result<Vec<_>>>()?;
    while !stretches.is_empty() {
        let found = each(scan, &mut stretches, &|run| {
            let start = run.left.start;
            let mut own = Mask::filled((run.left.end - start) as usize, false);
            while let Some(first) = run.next_piece(scan)? {
                let first = (first - start) as usize;
                run.mask.ranges().for_each(|range| own.set_range(first + range.start..first + range.end));
                scan.watch.check()?;
            }
            Ok((run.position, start as usize, own))
        });
        for found in found {
            let (position, start, mut own) = found?;
            let number = positions.iter().position(|&own| own == position);
            let mask =
                number.and_then(|number| masks.get_mut(number)).expect("a fragment that was asked for");
            // Stretches begin with a word.
            mask.words_mut()[start / 64..]
                .iter_mut()
                .zip(own.words_mut())
                .for_each(|(all, own)| *all |= *own);
        }
    }
    Ok(masks)
}

/// All rows to be looked at, in stretches.
fn stretches(scan: &Scan) -> Result<VecDeque<Stretch>> {
    stretches_of(scan, &scan.positions())
}

fn stretches_of(scan: &Scan, positions: &[usize]) -> Result<VecDeque<Stretch>> {
    let mut stretches = VecDeque::new();
    for &position in positions {
        let rows = scan.dataset.fragments()[position].physical_rows(scan.dataset.pool())?;
        let mut start = 0;
        while start < rows {
            let end = rows.min(start + STRETCH_ROWS);
            stretches.push_back(Stretch { position, rows: start..end });
            start = end;
        }
    }
    Ok(stretches)
}

/// Takes some stretches off the front and does `work` with each, on all threads if the scan is parallel.
fn each<T: Send>(
    scan: &Scan,
    stretches: &mut VecDeque<Stretch>,
    work: &(dyn Fn(&mut Run) -> Result<T> + Sync),
) -> Vec<Result<T>> {
    #[cfg(feature = "rayon")]
    if scan.parallel {
        use rayon::prelude::*;
        let some = stretches.len().min(4 * rayon::current_num_threads());
        let some: Vec<Stretch> = stretches.drain(..some).collect();
        return some.into_par_iter().map(|stretch| work(&mut Run::new(scan, stretch))).collect();
    }
    stretches.pop_front().map(|stretch| work(&mut Run::new(scan, stretch))).into_iter().collect()
}

impl Filtered {
    pub(super) fn new(scan: &Scan) -> Result<Self> {
        Ok(Filtered {
            stretches: stretches(scan)?,
            run: None,
            ready: VecDeque::new(),
            skip: scan.offset,
            remaining: scan.limit.unwrap_or(u64::MAX),
        })
    }

    pub(super) fn next_batch(&mut self, scan: &Scan) -> Result<Option<Batch>> {
        while self.remaining > 0 {
            let Some(batch) = self.next_unlimited(scan)? else { break };
            let rows = batch.len() as u64;
            let start = self.skip.min(rows);
            self.skip -= start;
            let end = rows.min(start.saturating_add(self.remaining));
            self.remaining -= end - start;
            if start < end {
                return match end - start == rows {
                    true => Ok(Some(batch)),
                    false => Ok(Some(read::slice(&batch, start as usize..end as usize)?)),
                };
            }
        }
        Ok(None)
    }

    /// The next batch, whatever offset and limit say.
    fn next_unlimited(&mut self, scan: &Scan) -> Result<Option<Batch>> {
        loop {
            if let Some(batch) = self.ready.pop_front() {
                return Ok(Some(batch));
            }
            if let Some(run) = &mut self.run {
                let enough = self.skip.saturating_add(self.remaining);
                if let Some(batch) = run.next_batch(scan, enough)? {
                    return Ok(Some(batch));
                }
                self.run = None;
            }
            if self.stretches.is_empty() {
                return Ok(None);
            }
            if !scan.is_parallel() {
                self.run = self.stretches.pop_front().map(|stretch| Run::new(scan, stretch));
                continue;
            }
            let read = each(scan, &mut self.stretches, &|run| {
                let mut batches = Vec::new();
                while let Some(batch) = run.next_batch(scan, u64::MAX)? {
                    batches.push(batch);
                }
                Ok(batches)
            });
            for batches in read {
                self.ready.extend(batches?);
            }
        }
    }
}

/// A stretch that is being read.
#[derive(Debug)]
struct Run {
    position: usize,
    /// Rows that the filter was not yet evaluated on.
    left: Range<u64>,
    piece_rows: u64,
    batch_rows: usize,
    /// Rows for which the filter is true, to be read.
    found: Vec<Range<u64>>,
    found_rows: usize,
    mask: Mask,
    scratch: Scratch,
    old: Vec<Option<Column>>,
}

impl Run {
    fn new(scan: &Scan, stretch: Stretch) -> Self {
        let columns = scan.filter.as_ref().map_or(&[][..], |filter| filter.columns());
        Run {
            position: stretch.position,
            left: stretch.rows,
            piece_rows: PIECE_ROWS.min(read::rows_that_fit(columns)),
            batch_rows: scan.batch_rows(&scan.projection),
            found: Vec::new(),
            found_rows: 0,
            mask: Mask::default(),
            scratch: Scratch::default(),
            old: Vec::new(),
        }
    }

    /// Reads the next rows that the filter leaves, `enough` or a batch of them at the most.
    fn next_batch(&mut self, scan: &Scan, enough: u64) -> Result<Option<Batch>> {
        let wanted = self.batch_rows.min(usize::try_from(enough).unwrap_or(usize::MAX));
        while self.found_rows < wanted {
            let Some(first) = self.next_piece(scan)? else { break };
            let rows = self.mask.ranges();
            self.found.extend(rows.map(|range| first + range.start as u64..first + range.end as u64));
            self.found_rows += self.mask.count();
            scan.watch.check()?;
        }
        if self.found_rows == 0 {
            return Ok(None);
        }
        let mut now = self.found.clone();
        if self.found_rows > wanted {
            read::keep_first(&mut now, wanted as u64);
        }
        let fragment = &scan.dataset.fragments()[self.position];
        let batch = read_found(scan, fragment, &mut now)?;
        read::drop_first(&mut self.found, batch.len() as u64);
        self.found_rows -= batch.len();
        Ok(Some(batch))
    }

    /// Evaluates the filter on the next piece, whose first row is returned, and sets the mask to the rows from there
    /// on that it leaves.
    fn next_piece(&mut self, scan: &Scan) -> Result<Option<u64>> {
        let Some(filter) = &scan.filter else { return Ok(None) };
        let fragment = &scan.dataset.fragments()[self.position];
        if self.left.is_empty() {
            return Ok(None);
        }
        loop {
            let piece = self.left.start..self.left.end.min(self.left.start + self.piece_rows);
            match self.evaluate(scan, filter, fragment, piece.clone()) {
                // Texts of so many rows do not fit one column.
                Err(error) if error.kind() == ErrorKind::TooLarge && piece.end - piece.start > 1 => {
                    self.piece_rows = (piece.end - piece.start) / 2;
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    self.left.start = piece.end;
                    return Ok(Some(piece.start));
                }
            }
        }
    }

    fn evaluate(
        &mut self,
        scan: &Scan,
        filter: &Filter,
        fragment: &Fragment,
        piece: Range<u64>,
    ) -> Result<()> {
        let pool = scan.dataset.pool();
        read::live_mask(fragment.deletions(pool)?, piece.clone(), &mut self.mask);
        if self.mask.is_none() {
            return Ok(());
        }
        scan.stats.examined(self.mask.count() as u64);
        let ranges = [piece];
        let mut inputs = RangeInputs::new(fragment, pool, filter.columns(), &ranges, &mut self.old);
        filter.predicate().select(&mut inputs, &mut self.mask, &mut self.scratch)
    }
}

/// Reads the rows of `ranges`, or the first of them if they do not fit one batch.
fn read_found(scan: &Scan, fragment: &Fragment, ranges: &mut Vec<Range<u64>>) -> Result<Batch> {
    match read::read_scattered(fragment, scan.dataset.pool(), &scan.projection, ranges) {
        Err(error) if error.kind() == ErrorKind::TooLarge => read_what_fits(scan, fragment, ranges),
        batch => batch,
    }
}

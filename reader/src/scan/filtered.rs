//! A scan with a filter: its columns first, then only the rows that remain.
//!
//! ```text
//! fragment   ├── stretch ──┼── stretch ──┼ …      what one thread takes at a time
//! stretch    ├─ piece ─┼─ piece ─┼ …              rows that the filter is evaluated on at a time
//! piece      live rows ─▶ columns of the filter ─▶ mask ─▶ rows to read
//! batch      the rows to read of one piece or several
//! ```
//! Where indices know about a fragment, pieces are made of the rows that they leave, and only what they do not know
//! for sure is evaluated.

use super::{
    RangeInputs, Scan,
    filter::Ready,
    planned::{Candidates, Planned, Shape},
    whole::read_what_fits,
};
use crate::{
    Batch, ErrorKind, Result,
    filter::{Mask, Scratch},
    fragment::Fragment,
    read,
};
use lancet_format::Column;
use std::{collections::VecDeque, ops::Range, sync::Arc};

/// The rows that the filter is evaluated on at a time: its columns then lie in the cache.
const PIECE_ROWS: u64 = 16_384;

/// The rows that one thread takes at a time.
const STRETCH_ROWS: u64 = 8 * PIECE_ROWS;

/// Where a filtered scan is.
#[derive(Debug)]
pub(super) struct Filtered {
    planned: Arc<Planned>,
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
    if let Some(rows) = scan.count_in_indices()? {
        return Ok(rows);
    }
    let planned = Arc::new(Planned::new(scan, enough)?);
    let mut total = 0;
    let mut stretches = stretches(scan, &planned)?;
    while !stretches.is_empty() && total < enough {
        let counts = each(scan, &planned, &mut stretches, &|run| {
            let mut rows = 0;
            while let Some(piece) = run.next_piece(scan)? {
                rows += run.count(&piece);
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
    let planned = Arc::new(Planned::new(scan, u64::MAX)?);
    let mut stretches = stretches_of(scan, &planned, positions)?;
    let rows = |&position: &usize| scan.dataset.fragments()[position].physical_rows(scan.dataset.pool());
    let filled = |rows| Mask::filled(usize::try_from(rows).unwrap_or(usize::MAX), false);
    let mut masks =
        positions.iter().map(|position| rows(position).map(filled)).collect::<Result<Vec<_>>>()?;
    while !stretches.is_empty() {
        let found = each(scan, &planned, &mut stretches, &|run| {
            while let Some(piece) = run.next_piece(scan)? {
                run.find(&piece);
                scan.watch.check()?;
            }
            Ok((run.position, std::mem::take(&mut run.found)))
        });
        for found in found {
            let (position, ranges) = found?;
            let number = positions.iter().position(|&own| own == position);
            let mask =
                number.and_then(|number| masks.get_mut(number)).expect("a fragment that was asked for");
            ranges.into_iter().for_each(|range| mask.set_range(range.start as usize..range.end as usize));
        }
    }
    Ok(masks)
}

/// All rows to be looked at, in stretches.
fn stretches(scan: &Scan, planned: &Arc<Planned>) -> Result<VecDeque<Stretch>> {
    stretches_of(scan, planned, &scan.positions())
}

fn stretches_of(scan: &Scan, planned: &Arc<Planned>, positions: &[usize]) -> Result<VecDeque<Stretch>> {
    let mut stretches = VecDeque::new();
    for &position in positions {
        let is_skipped = match planned.covers(position) {
            true => !planned.has_rows(scan, position)?,
            false => scan.indexed_only && planned.is_of_indices(),
        };
        if is_skipped {
            continue;
        }
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
    planned: &Arc<Planned>,
    stretches: &mut VecDeque<Stretch>,
    work: &(dyn Fn(&mut Run) -> Result<T> + Sync),
) -> Vec<Result<T>> {
    #[cfg(feature = "rayon")]
    if scan.parallel {
        use rayon::prelude::*;
        let some = stretches.len().min(4 * rayon::current_num_threads());
        let some: Vec<Stretch> = stretches.drain(..some).collect();
        return some.into_par_iter().map(|stretch| work(&mut Run::new(scan, planned, stretch))).collect();
    }
    stretches.pop_front().map(|stretch| work(&mut Run::new(scan, planned, stretch))).into_iter().collect()
}

impl Filtered {
    pub(super) fn new(scan: &Scan) -> Result<Self> {
        let remaining = scan.limit.unwrap_or(u64::MAX);
        let planned = Arc::new(Planned::new(scan, scan.offset.saturating_add(remaining))?);
        Ok(Filtered {
            stretches: stretches(scan, &planned)?,
            planned,
            run: None,
            ready: VecDeque::new(),
            skip: scan.offset,
            remaining,
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
                let stretch = self.stretches.pop_front();
                self.run = stretch.map(|stretch| Run::new(scan, &self.planned, stretch));
                continue;
            }
            let read = each(scan, &self.planned, &mut self.stretches, &|run| {
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
    /// Rows that were not yet looked at.
    left: Range<u64>,
    /// What indices tell.
    planned: Arc<Planned>,
    candidates: Candidates,
    piece_rows: u64,
    batch_rows: usize,
    /// Rows for which the filter is true, to be read.
    found: Vec<Range<u64>>,
    found_rows: usize,
    /// The rows of a piece.
    piece: Vec<Range<u64>>,
    mask: Mask,
    scratch: Scratch,
    old: Vec<Option<Column>>,
}

/// Rows of a stretch for which the filter is true.
enum Piece {
    /// Those of the run's mask, whose first bit is that of this row.
    Mask(u64),
    /// Those of the run's piece whose bit is set in the mask, one for each.
    Scattered,
    /// All those of the run's piece.
    All,
}

impl Run {
    fn new(scan: &Scan, planned: &Arc<Planned>, stretch: Stretch) -> Self {
        let columns = planned.ready(stretch.position).map_or(&[][..], |ready| ready.columns());
        Run {
            position: stretch.position,
            left: stretch.rows,
            candidates: Candidates::default(),
            piece_rows: PIECE_ROWS.min(read::rows_that_fit(columns)),
            batch_rows: scan.batch_rows(&scan.projection),
            found: Vec::new(),
            found_rows: 0,
            piece: Vec::new(),
            mask: Mask::default(),
            scratch: Scratch::default(),
            old: Vec::new(),
            planned: planned.clone(),
        }
    }

    /// Reads the next rows that the filter leaves, `enough` or a batch of them at the most.
    fn next_batch(&mut self, scan: &Scan, enough: u64) -> Result<Option<Batch>> {
        let wanted = self.batch_rows.min(usize::try_from(enough).unwrap_or(usize::MAX));
        while self.found_rows < wanted {
            let Some(piece) = self.next_piece(scan)? else { break };
            self.find(&piece);
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

    /// Adds the rows of a piece to those that are found.
    fn find(&mut self, piece: &Piece) {
        self.found_rows += self.count(piece) as usize;
        match *piece {
            Piece::All => self.found.extend_from_slice(&self.piece),
            Piece::Mask(first) => {
                let rows = self.mask.ranges();
                self.found.extend(rows.map(|range| first + range.start as u64..first + range.end as u64));
            }
            Piece::Scattered => {
                for (bit, row) in self.piece.iter().cloned().flatten().enumerate() {
                    if self.mask.get(bit) {
                        match self.found.last_mut() {
                            Some(last) if last.end == row => last.end += 1,
                            _ => self.found.push(row..row + 1),
                        }
                    }
                }
            }
        }
    }

    /// How many rows a piece has.
    fn count(&self, piece: &Piece) -> u64 {
        match piece {
            Piece::All => read::count(&self.piece) as u64,
            Piece::Mask(_) | Piece::Scattered => self.mask.count() as u64,
        }
    }

    /// Finds the rows of the next piece for which the filter is true.
    fn next_piece(&mut self, scan: &Scan) -> Result<Option<Piece>> {
        let planned = self.planned.clone();
        let ready = planned.ready(self.position);
        match (planned.covers(self.position), ready) {
            (true, ready) => self.next_planned(scan, &planned, ready),
            (false, Some(ready)) => self.next_scanned(scan, ready),
            (false, None) => Ok(None),
        }
    }

    /// A piece of rows of which indices know nothing.
    fn next_scanned(&mut self, scan: &Scan, ready: &Ready) -> Result<Option<Piece>> {
        if self.left.is_empty() {
            return Ok(None);
        }
        loop {
            let piece = self.left.start..self.left.end.min(self.left.start + self.piece_rows);
            let deletions = scan.dataset.fragments()[self.position].deletions(scan.dataset.pool())?;
            read::live_mask(deletions, piece.clone(), &mut self.mask);
            match self.evaluate(scan, ready, std::slice::from_ref(&piece)) {
                // Texts of so many rows do not fit one column.
                Err(error) if error.kind() == ErrorKind::TooLarge && piece.end - piece.start > 1 => {
                    self.piece_rows = (piece.end - piece.start) / 2;
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    self.left.start = piece.end;
                    return Ok(Some(Piece::Mask(piece.start)));
                }
            }
        }
    }

    /// A piece of rows that indices leave.
    fn next_planned(
        &mut self,
        scan: &Scan,
        planned: &Planned,
        ready: Option<&Ready>,
    ) -> Result<Option<Piece>> {
        if !self.left.is_empty() {
            let rows = std::mem::replace(&mut self.left, 0..0);
            planned.extend_live(scan, self.position, rows.clone(), self.candidates.start())?;
            if ready.is_some() {
                planned.sure_rows(scan, self.position, rows, &mut self.piece);
                self.candidates.are_sure(&self.piece);
            }
        }
        let Some(ready) = ready else {
            self.piece.clear();
            self.candidates.take_all(&mut self.piece);
            return Ok((!self.piece.is_empty()).then_some(Piece::All));
        };
        let mut piece = std::mem::take(&mut self.piece);
        let found = self.next_refined(scan, (ready, planned.ready_sure()), &mut piece);
        self.piece = piece;
        found
    }

    /// Evaluates `unsure`, or where indices are sure `sure`, on the next candidates.
    fn next_refined(
        &mut self,
        scan: &Scan,
        (unsure, sure): (&Ready, Option<&Ready>),
        piece: &mut Vec<Range<u64>>,
    ) -> Result<Option<Piece>> {
        loop {
            let Some(taken) = self.candidates.take(self.piece_rows, piece) else { return Ok(None) };
            let Some(ready) = (if taken.is_sure { sure } else { Some(unsure) }) else {
                return Ok(Some(Piece::All));
            };
            let rows = read::count(piece);
            let (found, evaluated) = match (taken.shape, &piece[..]) {
                (Shape::Span, [first, .., last]) => {
                    let span = first.start..last.end;
                    self.mask.fill((span.end - span.start) as usize, false);
                    for range in &*piece {
                        let range = range.start - span.start..range.end - span.start;
                        self.mask.set_range(range.start as usize..range.end as usize);
                    }
                    (Piece::Mask(span.start), self.evaluate(scan, ready, std::slice::from_ref(&span)))
                }
                _ => {
                    self.mask.fill(rows, true);
                    (Piece::Scattered, self.evaluate(scan, ready, piece))
                }
            };
            match evaluated {
                Err(error) if error.kind() == ErrorKind::TooLarge && rows > 1 => {
                    self.candidates.put_back(piece);
                    self.piece_rows = rows as u64 / 2;
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    scan.stats.rechecked(rows as u64);
                    return Ok(Some(found));
                }
            }
        }
    }

    /// Narrows the mask of the rows of `ranges` to those for which the condition is true.
    fn evaluate(&mut self, scan: &Scan, ready: &Ready, ranges: &[Range<u64>]) -> Result<()> {
        if self.mask.is_none() {
            return Ok(());
        }
        scan.stats.examined(self.mask.count() as u64);
        let (fragment, pool) = (&scan.dataset.fragments()[self.position], scan.dataset.pool());
        let mut inputs = RangeInputs::new(fragment, pool, ready.columns(), ranges, &mut self.old);
        ready.predicate().select(&mut inputs, &mut self.mask, &mut self.scratch)
    }
}

/// Reads the rows of `ranges`, or the first of them if they do not fit one batch.
fn read_found(scan: &Scan, fragment: &Fragment, ranges: &mut Vec<Range<u64>>) -> Result<Batch> {
    match read::read_scattered(fragment, scan.dataset.pool(), &scan.projection, ranges) {
        Err(error) if error.kind() == ErrorKind::TooLarge => read_what_fits(scan, fragment, ranges),
        batch => batch,
    }
}

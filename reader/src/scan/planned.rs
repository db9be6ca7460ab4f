//! [`Planned`]: what indices tell about the filter of a scan, before any row is read.

use super::{Scan, filter::Ready};
use crate::{
    Error, IndexUse, Result,
    expr::Scalar,
    plan::{Answer, Fragments, Rows, Search, Wanted},
};
use std::{ops::Range, sync::Arc};

/// The rows that indices leave, and what is evaluated on which rows.
#[derive(Debug)]
pub(crate) struct Planned {
    rows: Rows,
    /// The fragments that the rows are about.
    coverage: Fragments,
    /// What is evaluated on these rows; nothing if they are the answer.
    refine: Option<Arc<Ready>>,
    /// What is evaluated on the rows of all other fragments.
    whole: Option<Arc<Ready>>,
}

impl Planned {
    /// Asks the indices; `enough` rows will do.
    ///
    /// # Errors
    /// Those of the files of indices.
    pub(crate) fn new(scan: &Scan, enough: u64) -> Result<Self> {
        let mut planned = Planned {
            rows: Rows::default(),
            coverage: Fragments::none(scan.dataset.fragments().len()),
            refine: None,
            whole: None,
        };
        let Some(filter) = &scan.filter else { return Ok(planned) };
        let parameters = scan.parameters()?;
        let search = scan.search(parameters);
        if let Some(answer) = scan.answer(search, enough)? {
            let refine = filter.only(&answer.refine, parameters);
            planned.refine = refine.map(|typed| Ready::new(&typed).map(Arc::new)).transpose()?;
            planned.rows = answer.rows(search, filter.conjuncts())?;
            planned.coverage = answer.coverage;
        }
        if scan.positions().into_iter().any(|position| !planned.coverage.contains(position)) {
            planned.whole = Some(filter.whole(parameters)?);
        }
        Ok(planned)
    }

    /// Whether the rows tell about the fragment at `position`.
    pub(crate) fn covers(&self, position: usize) -> bool {
        self.coverage.contains(position)
    }

    /// Whether indices were asked.
    pub(crate) fn is_of_indices(&self) -> bool {
        !self.coverage.is_empty()
    }

    /// What is evaluated on rows of the fragment at `position`: on those that indices leave, or on all.
    pub(crate) fn ready(&self, position: usize) -> Option<&Ready> {
        match self.covers(position) {
            true => self.refine.as_deref(),
            false => self.whole.as_deref(),
        }
    }

    /// Whether there are rows of the fragment at `position`.
    pub(crate) fn has_rows(&self, scan: &Scan, position: usize) -> Result<bool> {
        let fragment = &scan.dataset.fragments()[position];
        let rows = fragment.physical_rows(scan.dataset.pool())?;
        Ok(self.rows.len_of(fragment.meta.id, rows) > 0)
    }

    /// Appends the live rows of the fragment at `position` that lie in `within`.
    pub(crate) fn extend_live(
        &self,
        scan: &Scan,
        position: usize,
        within: Range<u64>,
        out: &mut Vec<Range<u64>>,
    ) -> Result<()> {
        let fragment = &scan.dataset.fragments()[position];
        match fragment.deletions(scan.dataset.pool())? {
            None => self.rows.extend_ranges(fragment.meta.id, within, out),
            Some(deletions) => {
                let mut listed = Vec::new();
                self.rows.extend_ranges(fragment.meta.id, within, &mut listed);
                listed.into_iter().for_each(|range| out.extend(deletions.live_ranges(range)));
            }
        }
        Ok(())
    }
}

impl Scan {
    /// The values of the filter's parameters.
    ///
    /// # Errors
    /// Invalid input if one of them has none.
    pub(crate) fn parameters(&self) -> Result<&[Scalar]> {
        let wanted = self.filter.as_ref().map_or(&[][..], |filter| filter.parameters());
        for (number, data_type) in wanted.iter().enumerate() {
            if data_type.is_some() && self.parameters.get(number).is_none_or(Scalar::is_null) {
                return Err(Error::invalid_input(format!(
                    "parameter ${} of the filter has no value: only a scan that is prepared can be given one",
                    number + 1
                )));
            }
        }
        Ok(&self.parameters)
    }

    /// What searches in indices need; `parameters` are the values of those of the filter.
    pub(crate) fn search<'a>(&'a self, parameters: &'a [Scalar]) -> Search<'a> {
        Search { dataset: &self.dataset, parameters, stats: &self.stats }
    }

    /// How indices answer the filter, if they do; `enough` rows will do.
    pub(crate) fn answer<'a>(&'a self, search: Search<'a>, enough: u64) -> Result<Option<Answer<'a>>> {
        let Some(filter) = &self.filter else { return Ok(None) };
        let wanted = Wanted { indices: self.index_use(), rows: enough };
        Answer::plan(search, filter.conjuncts(), filter.conditions(), wanted)
    }

    /// The number of rows, if indices know it by themselves.
    pub(crate) fn count_in_indices(&self) -> Result<Option<u64>> {
        let Some(filter) = &self.filter else { return Ok(None) };
        let mut wanted = Fragments::none(self.dataset.fragments().len());
        self.positions().into_iter().for_each(|position| wanted.insert(position));
        let search = self.search(self.parameters()?);
        // Without reading rows, an index is always worth its while.
        let indices = match self.index_use() {
            IndexUse::Never => return Ok(None),
            _ => IndexUse::Always,
        };
        let all = Wanted { indices, rows: u64::MAX };
        match Answer::plan(search, filter.conjuncts(), filter.conditions(), all)? {
            Some(answer) => answer.count(search, filter.conjuncts(), &wanted),
            None => Ok(None),
        }
    }
}

/// How many rows the filter is evaluated on at a time, of those that indices leave, or how many there are between the
/// first and the last of them.
const PIECE_ROWS: u64 = 16_384;

/// Where one row of so many is wanted, all of them are read.
const ROWS_PER_SEEK: u64 = 64;

/// Rows that indices left, from which pieces are taken.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    ranges: Vec<Range<u64>>,
    next: usize,
}

/// How a piece is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// From its first row to its last, with a mask for those that are wanted.
    Span,
    /// Range by range.
    Scattered,
}

impl Candidates {
    /// The room for new candidates; the old ones are gone.
    pub(super) fn start(&mut self) -> &mut Vec<Range<u64>> {
        self.ranges.clear();
        self.next = 0;
        &mut self.ranges
    }

    /// Moves the next piece, of at most `most` rows, to `out`; `None` if none is left.
    pub(super) fn take(&mut self, most: u64, out: &mut Vec<Range<u64>>) -> Option<Shape> {
        out.clear();
        let most = most.min(PIECE_ROWS);
        let first = self.ranges.get(self.next)?.start;
        // The rows of the next window, and its ranges.
        let (mut rows, mut count) = (0, 0u64);
        for range in &self.ranges[self.next..] {
            let end = range.end.min(first + most);
            if range.start >= end {
                break;
            }
            rows += end - range.start;
            count += 1;
        }
        let is_dense = count > 1 && count * ROWS_PER_SEEK >= most;
        let (mut left, behind) = match is_dense {
            true => (rows, first + most),
            false => (most, u64::MAX),
        };
        while left > 0
            && let Some(range) = self.ranges.get_mut(self.next)
        {
            let end = range.end.min(range.start + left).min(behind);
            out.push(range.start..end);
            left -= end - range.start;
            range.start = end;
            if range.start == range.end {
                self.next += 1;
            }
        }
        Some(if is_dense { Shape::Span } else { Shape::Scattered })
    }

    /// Puts the rows of a piece back, which were the last that were taken.
    pub(super) fn put_back(&mut self, piece: &[Range<u64>]) {
        let rest = self.ranges.split_off(self.next);
        self.ranges.clear();
        self.ranges.extend_from_slice(piece);
        self.ranges.extend(rest);
        self.next = 0;
    }

    /// Moves all that is left to `out`.
    pub(super) fn take_all(&mut self, out: &mut Vec<Range<u64>>) {
        out.extend(self.ranges.drain(self.next..));
        self.next = 0;
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// However the candidates lie, the pieces are all of them, in order, and none is too large.
    #[test]
    fn pieces_are_the_candidates() {
        let every = |step: u64, count: u64, start: u64| {
            (0..count).map(move |i| start + i * step..start + i * step + 1)
        };
        let sets: Vec<Vec<Range<u64>>> = vec![
            vec![],
            vec![5..6],
            vec![0..100_000, 100_001..100_002],
            every(2, 50_000, 7).collect(),
            every(1000, 500, 0).collect(),
            every(3, 9000, 0)
                .chain(every(5000, 40, 1_000_000))
                .chain(std::iter::once(9_000_000..9_040_000))
                .collect(),
        ];
        for ranges in sets {
            for most in [1, 100, u64::MAX] {
                let mut candidates = Candidates::default();
                *candidates.start() = ranges.clone();
                let (mut piece, mut all) = (Vec::new(), Vec::new());
                let mut first = true;
                while let Some(shape) = candidates.take(most, &mut piece) {
                    if std::mem::take(&mut first) {
                        candidates.put_back(&piece);
                        continue;
                    }
                    let rows = read::count(&piece) as u64;
                    assert!(rows > 0 && rows <= most.min(PIECE_ROWS));
                    if shape == Shape::Span {
                        assert!(piece.last().unwrap().end - piece[0].start <= PIECE_ROWS);
                    }
                    all.extend(piece.iter().cloned().flatten());
                }
                assert!(all.iter().copied().eq(ranges.iter().cloned().flatten()));
            }
        }
    }
}

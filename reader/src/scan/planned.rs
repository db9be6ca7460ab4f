//! [`Planned`]: what indices tell about the filter of a scan, before any row is read.

use super::{Scan, filter::Ready};
use crate::{
    Error, IndexUse, Result,
    expr::Scalar,
    plan::{Answer, Fragments, Least, Rows, Search, Wanted},
};
use std::{ops::Range, sync::Arc};

/// The rows that indices leave, and what is evaluated on which rows.
#[derive(Debug)]
pub(crate) struct Planned {
    rows: Rows,
    /// Those of them about which indices are sure, although they are not about all.
    sure: Rows,
    /// The fragments that the rows are about.
    coverage: Fragments,
    /// What is evaluated on the rows; nothing if they are the answer.
    refine: Option<Arc<Ready>>,
    /// What is evaluated on those that are sure.
    refine_sure: Option<Arc<Ready>>,
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
            sure: Rows::default(),
            coverage: Fragments::none(scan.dataset.fragments().len()),
            refine: None,
            refine_sure: None,
            whole: None,
        };
        let Some(filter) = &scan.filter else { return Ok(planned) };
        let parameters = scan.parameters()?;
        let search = scan.search(parameters);
        if let Some(answer) = scan.answer(search, enough)? {
            let ready = |conjuncts: &[usize]| {
                let typed = filter.only(conjuncts, parameters);
                typed.map(|typed| Ready::new(&typed).map(Arc::new)).transpose()
            };
            planned.refine = ready(&answer.refine)?;
            let found = answer.rows(search, filter.conjuncts())?;
            planned.rows = found.most;
            if let Least::Some(sure) = found.least {
                let is_used = |number: &usize| answer.used.contains(number);
                let others: Vec<usize> =
                    answer.refine.iter().copied().filter(|number| !is_used(number)).collect();
                planned.sure = sure;
                planned.refine_sure = ready(&others)?;
            }
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

    /// What is evaluated on rows about which indices are sure.
    pub(crate) fn ready_sure(&self) -> Option<&Ready> {
        self.refine_sure.as_deref()
    }

    /// Sets `out` to the rows of the fragment at `position` about which indices are sure, deleted ones too.
    pub(crate) fn sure_rows(
        &self,
        scan: &Scan,
        position: usize,
        within: Range<u64>,
        out: &mut Vec<Range<u64>>,
    ) {
        out.clear();
        self.sure.extend_ranges(scan.dataset.fragments()[position].meta.id, within, out);
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

/// So many rows in turn of which indices are sure are worth a piece of their own.
const SURE_ROWS: u64 = 1024;

/// Rows that indices left, from which pieces are taken.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    ranges: Vec<Range<u64>>,
    next: usize,
    /// In these ranges, indices are sure of all candidates.
    sure: Vec<Range<u64>>,
}

/// A piece of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) shape: Shape,
    /// Whether indices are sure of all its rows; else of none.
    pub(super) is_sure: bool,
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
        self.sure.clear();
        self.next = 0;
        &mut self.ranges
    }

    /// Notes the rows of which indices are sure.
    pub(super) fn are_sure(&mut self, rows: &[Range<u64>]) {
        let mut rows = rows.iter().peekable();
        // The run of sure candidates that is being followed, and how many there are.
        let (mut run, mut count) = (0..0, 0);
        let mut end_run = |run: &mut Range<u64>, count: &mut u64| {
            if *count >= SURE_ROWS {
                self.sure.push(run.clone());
            }
            *count = 0;
        };
        for range in &self.ranges {
            let mut start = range.start;
            while start < range.end {
                while rows.next_if(|sure| sure.end <= start).is_some() {}
                let end = match rows.peek() {
                    Some(sure) if sure.start <= start => {
                        let end = range.end.min(sure.end);
                        run = if count == 0 { start..end } else { run.start..end };
                        count += end - start;
                        end
                    }
                    other => {
                        end_run(&mut run, &mut count);
                        other.map_or(range.end, |sure| range.end.min(sure.start))
                    }
                };
                start = end;
            }
        }
        end_run(&mut run, &mut count);
    }

    /// Moves the next piece, of at most `most` rows, to `out`; `None` if none is left.
    pub(super) fn take(&mut self, most: u64, out: &mut Vec<Range<u64>>) -> Option<Taken> {
        out.clear();
        let most = most.min(PIECE_ROWS);
        let first = self.ranges.get(self.next)?.start;
        let sure = self.sure.get(self.sure.partition_point(|range| range.end <= first));
        let (is_sure, limit) = match sure {
            Some(range) if range.start <= first => (true, range.end),
            Some(range) => (false, range.start),
            None => (false, u64::MAX),
        };
        let window = limit.min(first + most);
        // The rows of the next window, and its ranges.
        let (mut rows, mut count) = (0, 0u64);
        for range in &self.ranges[self.next..] {
            let end = range.end.min(window);
            if range.start >= end {
                break;
            }
            rows += end - range.start;
            count += 1;
        }
        let is_dense = count > 1 && count * ROWS_PER_SEEK >= most;
        let (mut left, behind) = match is_dense {
            true => (rows, window),
            false => (most, limit),
        };
        while left > 0
            && let Some(range) = self.ranges.get_mut(self.next)
        {
            let end = range.end.min(range.start + left).min(behind);
            if range.start >= end {
                break;
            }
            out.push(range.start..end);
            left -= end - range.start;
            range.start = end;
            if range.start == range.end {
                self.next += 1;
            }
        }
        Some(Taken { shape: if is_dense { Shape::Span } else { Shape::Scattered }, is_sure })
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
        let mut most_sure = 0;
        for ranges in sets {
            for (most, sure) in [
                (1, vec![]),
                (100, vec![7..2000, 50_000..99_000]),
                (u64::MAX, vec![]),
                (u64::MAX, vec![0..6, 30_000..30_001, 40_000..2_000_000]),
                (5000, every(2, 40_000, 7).collect()),
            ] {
                let mut candidates = Candidates::default();
                *candidates.start() = ranges.clone();
                candidates.are_sure(&sure);
                let mut sure_rows = 0;
                let (mut piece, mut all) = (Vec::new(), Vec::new());
                let mut first = true;
                while let Some(taken) = candidates.take(most, &mut piece) {
                    if std::mem::take(&mut first) {
                        candidates.put_back(&piece);
                        continue;
                    }
                    let rows = read::count(&piece) as u64;
                    assert!(rows > 0 && rows <= most.min(PIECE_ROWS));
                    if taken.shape == Shape::Span {
                        assert!(piece.last().unwrap().end - piece[0].start <= PIECE_ROWS);
                    }
                    if taken.is_sure {
                        sure_rows += rows;
                        let at = |row| sure.partition_point(|range: &Range<u64>| range.end <= row);
                        let is_sure = |row| sure.get(at(row)).is_some_and(|range| range.contains(&row));
                        assert!(piece.iter().cloned().flatten().all(is_sure));
                    }
                    all.extend(piece.iter().cloned().flatten());
                }
                assert!(all.iter().copied().eq(ranges.iter().cloned().flatten()));
                most_sure = most_sure.max(sure_rows);
            }
        }
        assert_eq!(most_sure, 60_001);
    }
}

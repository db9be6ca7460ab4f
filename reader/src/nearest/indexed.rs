//! Candidates from an index: one query at a time, or many that share their visits of partitions.

use super::{SearchParams, prepared::Prepared, segments::Segment, selection::Allowed};
use crate::{Result, scan::Watch};
use lancet_index::{
    ivf::{self, RowFilter},
    nearest::{Arrivals, Collector, Nearest, Neighbour, Range},
    vector::Vector,
};

/// How an index is searched.
pub(super) struct Search<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) allowed: &'a Allowed,
    /// How many rows to find, and at which distances.
    pub(super) k: usize,
    pub(super) range: Range,
    /// Partitions of each segment: so many for certain, and so many at the most.
    pub(super) probes: std::ops::Range<usize>,
    /// Partitions past the first number are searched only until so many rows are found.
    pub(super) enough: usize,
    /// Whether rows outside the index will be searched too, exactly.
    pub(super) mixed: bool,
    pub(super) watch: &'a Watch,
}

/// Room that searches use one after the other.
#[derive(Debug, Default)]
pub(super) struct Room {
    query: ivf::Query,
    ivf: ivf::Scratch,
    arrivals: Arrivals,
    /// The rows found.
    pub(super) nearest: Nearest,
    many: Many,
}

/// Room for many queries.
#[derive(Debug, Default)]
struct Many {
    queries: Vec<ivf::Query>,
    nearest: Vec<Nearest>,
    visits: Vec<Visit>,
    /// The queries that have to be searched alone.
    alone: Vec<bool>,
}

/// A partition that a query probes. Visits are made in this order: the nearest partition of each query first, so that
/// far rows of the others are told from near ones soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Visit {
    is_later: bool,
    partition: u32,
    query: u32,
}

/// What a search took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) partitions: u64,
    pub(super) rows: u64,
}

impl<'a> Search<'a> {
    /// The search for what `params` asks of an index; `mixed` says that rows outside it will be searched too.
    pub(super) fn new(
        prepared: &'a Prepared,
        allowed: &'a Allowed,
        params: &'a SearchParams,
        mixed: bool,
    ) -> Self {
        // Where fewer rows are allowed, no search finds more.
        let allowed_rows = usize::try_from(allowed.selection().count()).unwrap_or(usize::MAX);
        Search {
            prepared,
            allowed,
            k: params.candidates(),
            range: params.range,
            probes: params.probes(),
            enough: params.k.min(allowed_rows),
            mixed: mixed && params.refine.is_none(),
            watch: &params.watch,
        }
    }

    /// Collects the rows of the nearest partitions of each segment in `room.nearest`.
    ///
    /// Of rows that are equally far those stay that Lance keeps, which hangs on the order in which they are met. Where
    /// all vectors of the dataset are compared with the query exactly, the answer is that of a search without an index,
    /// and the lower row id decides.
    pub(super) fn one(&self, vector: &Vector, room: &mut Room) -> Result<Work> {
        let by_id = self.is_by_id();
        let mut work = Work::default();
        let Room { query, ivf: scratch, arrivals, nearest, .. } = room;
        nearest.start(self.k, self.range);
        for (number, segment) in self.prepared.segments.iter().enumerate() {
            let ivf = &segment.opened.ivf;
            ivf.prepare(vector, query)?;
            let filter = self.allowed.of_segment(number);
            let filter = filter.as_ref().map(|filter| filter as &dyn RowFilter);
            arrivals.start(self.k, self.range);
            let most = ivf.partitions().min(self.probes.end);
            // Most searches end with the first partitions: the order of the others is of no interest to them.
            let mut ranked = ivf.partitions().min(self.probes.start);
            ivf.rank(query, ranked, scratch);
            for rank in 0..most {
                if rank >= self.probes.start && nearest.len() + arrivals.len() >= self.enough {
                    break;
                }
                if rank == ranked {
                    ranked = most;
                    ivf.rank(query, ranked, scratch);
                }
                let found: &mut dyn Collector = if by_id { nearest } else { arrivals };
                let partition = scratch.ranked()[rank].1;
                work.add(self.visit(segment, query, partition, filter, scratch, found)?);
            }
            arrivals.finish().iter().for_each(|&row| nearest.push(row));
        }
        Ok(work)
    }

    /// Searches for each of `vectors`, and gives `take` the number of each with the rows found, in order. The answers are
    /// those of [`one`](Self::one).
    pub(super) fn many<'v>(
        &self,
        vectors: impl ExactSizeIterator<Item = &'v Vector> + Clone,
        room: &mut Room,
        mut take: impl FnMut(usize, &[Neighbour]) -> Result<()>,
    ) -> Result<Work> {
        let mut work = self.visit_together(vectors.clone(), room)?;
        let by_id = self.is_by_id();
        for (number, vector) in vectors.enumerate() {
            let mut is_alone = room.many.alone[number];
            if !is_alone {
                let found = room.many.nearest[number].finish();
                // Which a search of one query leaves out.
                let infinite = found.last().is_some_and(|row| row.distance == f32::INFINITY);
                // Of rows that are equally far, which is the last depends on the order in which they are met.
                let tie = found.len() > self.k && found[self.k].distance == found[self.k - 1].distance;
                is_alone = !by_id && (tie || infinite);
                if !is_alone {
                    take(number, &found[..found.len().min(self.k)])?;
                }
            }
            if is_alone {
                work.add(self.one(vector, room)?);
                take(number, room.nearest.finish())?;
            }
        }
        Ok(work)
    }

    /// The first partitions of all queries, each partition once for all queries that probe it.
    fn visit_together<'v>(
        &self,
        vectors: impl ExactSizeIterator<Item = &'v Vector> + Clone,
        room: &mut Room,
    ) -> Result<Work> {
        let mut work = Work::default();
        let count = vectors.len();
        let Room { ivf: scratch, many, .. } = room;
        let Many { queries, nearest, visits, alone } = many;
        queries.resize_with(count.max(queries.len()), ivf::Query::default);
        nearest.resize_with(count.max(nearest.len()), Nearest::default);
        // One more than is wanted tells whether the last has an equal.
        nearest[..count].iter_mut().for_each(|nearest| nearest.start(self.k.saturating_add(1), self.range));
        alone.clear();
        alone.resize(count, false);
        for (number, segment) in self.prepared.segments.iter().enumerate() {
            let ivf = &segment.opened.ivf;
            let filter = self.allowed.of_segment(number);
            let filter = filter.as_ref().map(|filter| filter as &dyn RowFilter);
            visits.clear();
            for (vector, (query, own)) in vectors.clone().zip(queries.iter_mut().zip(0..)) {
                ivf.prepare(vector, query)?;
                ivf.rank(query, ivf.partitions().min(self.probes.start), scratch);
                let ranked = scratch.ranked().iter().enumerate();
                visits.extend(ranked.map(|(rank, &(_, partition))| Visit {
                    is_later: rank > 0,
                    partition,
                    query: own,
                }));
            }
            visits.sort_unstable();
            for visit in visits.iter() {
                let own = visit.query as usize;
                let found = &mut nearest[own];
                work.add(self.visit(segment, &queries[own], visit.partition, filter, scratch, found)?);
            }
            // Where not enough was found, a search goes on before it turns to the next segment.
            let has_more = ivf.partitions().min(self.probes.end) > self.probes.start;
            alone.iter_mut().zip(&*nearest).for_each(|(alone, nearest)| {
                *alone |= has_more && nearest.len() < self.enough;
            });
        }
        Ok(work)
    }

    fn visit(
        &self,
        segment: &Segment,
        query: &ivf::Query,
        number: u32,
        filter: Option<&dyn RowFilter>,
        scratch: &mut ivf::Scratch,
        found: &mut dyn Collector,
    ) -> Result<Work> {
        self.watch.check()?;
        let (opened, number) = (&segment.opened, number as usize);
        let partition = opened.partition(number)?;
        opened
            .ivf
            .probe(query, number, &partition, filter, scratch, found)
            .map_err(|error| opened.fail(error))?;
        Ok(Work { partitions: 1, rows: partition.row_ids().len() as u64 })
    }

    fn is_by_id(&self) -> bool {
        let is_exact = |segment: &Segment| {
            !segment.opened.ivf.is_quantized() && segment.opened.ivf.partitions() <= self.probes.start
        };
        self.mixed && self.prepared.segments.iter().all(is_exact)
    }
}

impl Work {
    pub(super) fn add(&mut self, other: Work) {
        self.partitions += other.partitions;
        self.rows += other.rows;
    }
}

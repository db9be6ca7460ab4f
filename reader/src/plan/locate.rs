//! [`Located`]: what an index would answer to a condition, as far as its tables, keys and zones tell: which entries hold
//! the rows, and how many they are. The rows themselves are read later, if it pays.

use super::{
    bracket::{Bracket, Least},
    catalog::{Opened, ScalarIndex, Segment},
    condition::{Condition, Room, Test},
    fragments::Fragments,
    pages::Pages,
    places,
    rows::Rows,
};
use crate::{
    Dataset, Error, Result,
    cache::{Item, Shelf},
    expr::Scalar,
    scan::Stats,
};
use lancet_format::index::{BTreeIndex, BitmapIndex, IndexKind, RowAddressSet};
use lancet_index::{
    Answer, Query, RowSet, bitmap, bloom_filter, btree, label_list, ngram, query::union_of_addresses,
    zone_map,
};
use std::{ops::Range, sync::Arc};

/// With no more ids than this, pages of them are kept for the next query.
const FEW_IDS: u64 = 1 << 14;

/// The entries of an index that answer a condition.
#[derive(Debug)]
pub(crate) struct Located<'d> {
    pub(crate) index: &'d ScalarIndex,
    parts: Vec<(&'d Segment, Part<'d>)>,
    /// Rows of which an index that is not exact is sure.
    sure: Vec<(&'d Segment, RowSet)>,
    /// Whether the condition is true for the rows of these entries and no others.
    pub(crate) exact: bool,
    /// Whether the entries are those for which it is not true.
    pub(crate) complement: bool,
    /// How many rows the entries have; some of them may be gone.
    listed: u64,
    /// How many rows the fragments of the coverage have, deleted ones included: so the entries count them.
    covered: u64,
    /// The fragments that the answer is about.
    pub(crate) coverage: Fragments,
}

/// The entries of one segment.
#[derive(Debug)]
enum Part<'d> {
    /// Rows of a BTree.
    Intervals(&'d BTreeIndex, &'d Pages, Vec<Range<u64>>),
    /// Sets of a Bitmap, which have no row in common.
    Sets(Vec<Item<RowAddressSet>>),
    /// Rows.
    Rows(RowSet),
}

/// What is needed to search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search<'d> {
    pub(crate) dataset: &'d Dataset,
    pub(crate) parameters: &'d [Scalar],
    pub(crate) stats: &'d Stats,
}

impl<'d> Search<'d> {
    /// Locates the answer of `index` to a condition; `None` if it does not serve it.
    ///
    /// # Errors
    /// Those of the index's files.
    pub(crate) fn locate(self, index: &'d ScalarIndex, condition: &Condition) -> Result<Option<Located<'d>>> {
        let mut room = Room::default();
        let Some(query) = condition.query(self.parameters, &mut room) else { return Ok(None) };
        if !serves(&index.kind, &query) {
            return Ok(None);
        }
        let fragments = self.dataset.fragments().len();
        let mut located = Located {
            index,
            parts: Vec::with_capacity(index.segments.len()),
            sure: Vec::new(),
            exact: true,
            complement: false,
            listed: 0,
            covered: 0,
            coverage: Fragments::none(fragments),
        };
        let mut opened = Vec::with_capacity(index.segments.len());
        for segment in &index.segments {
            let coverage = segment.coverage(self.dataset, &index.kind)?;
            if !coverage.is_empty() {
                located.coverage.extend(coverage);
                opened.push((segment, segment.open(self.dataset, &index.kind)?));
            }
        }
        if opened.is_empty() {
            return Ok(None);
        }
        let fail = |segment: &Segment, error| Error::index(segment.path(self.dataset), error);
        // The entries for which the condition is true, and those for which it is not: either will do.
        let (mut direct, mut complement) = (Vec::new(), Vec::new());
        for (segment, opened) in opened {
            let rows_of = |fragment| places::rows_of(self.dataset, segment.domain, fragment);
            let unknown = segment.unknown(self.dataset, &index.kind)?;
            if condition.negated && !unknown.is_empty() {
                return Ok(None);
            }
            let found = match opened {
                Opened::BTree(tree, pages) => intervals(tree, pages, &query, condition, self.stats),
                Opened::Bitmap(keys, cached) => sets(keys, cached, &query, condition, self.stats),
                Opened::ZoneMap(zones) => {
                    self.stats.compared_zones(zones.zones().len());
                    zone_map::search(zones, &query, &rows_of).map(|answer| whole(answer, condition))
                }
                Opened::BloomFilter(filters) => {
                    self.stats.compared_zones(filters.zones().len());
                    bloom_filter::search(filters, &index.data_type, &query, &rows_of)
                        .map(|answer| whole(answer, condition))
                }
                Opened::LabelList(lists) => self.labels(lists, &query, condition, &rows_of),
                Opened::NGram(grams) => ngram::search(grams, &query).map(|answer| whole(answer, condition)),
            };
            let Some(found) = found.map_err(|error| fail(segment, error))? else { return Ok(None) };
            located.exact &= found.exact && unknown.is_empty();
            located.listed += unknown.len();
            direct.extend(found.direct.map(|part| (segment, part)));
            complement.extend(found.complement.map(|part| (segment, part)));
            located.sure.extend(found.sure.map(|rows| (segment, rows)));
        }
        let count = |parts: &[(&Segment, Part<'_>)]| parts.iter().map(|(_, part)| part.rows()).sum::<u64>();
        // All segments are of one kind, so that each can do what the others can.
        located.complement =
            direct.is_empty() || !complement.is_empty() && count(&complement) < count(&direct);
        located.parts = if located.complement { complement } else { direct };
        located.listed += count(&located.parts);
        for position in located.coverage.iter() {
            located.covered += self.dataset.fragments()[position].physical_rows(self.dataset.pool())?;
        }
        Ok(Some(located))
    }

    fn labels(
        self,
        lists: &lancet_format::index::LabelListIndex,
        query: &Query<'_>,
        condition: &Condition,
        rows_of: lancet_index::query::RowsOf<'_>,
    ) -> lancet_format::Result<Option<Found<'static>>> {
        // Entries of rows that were updated may be left over where rows have stable ids.
        let stable = self.dataset.manifest().has_stable_row_ids();
        if !condition.negated {
            let answer = label_list::search(lists, query, rows_of, None)?;
            return Ok(answer.map(|answer| Found {
                exact: !stable,
                direct: Some(Part::Rows(answer.into_rows())),
                complement: None,
                sure: None,
            }));
        }
        let mut nulls = RowSet::new();
        if stable {
            return Ok(None);
        }
        let answer = label_list::search(lists, query, rows_of, Some(&mut nulls))?;
        Ok(answer.map(|answer| Found::complement_of(answer.into_rows().union(&nulls))))
    }
}

/// What a segment answers.
struct Found<'d> {
    exact: bool,
    /// The entries for which the condition is true, if they can be told.
    direct: Option<Part<'d>>,
    /// Those for which it is not, if they can.
    complement: Option<Part<'d>>,
    /// Rows for which it surely is, where it may not be for all.
    sure: Option<RowSet>,
}

impl Found<'_> {
    /// Exactly all rows but these.
    fn complement_of(rows: RowSet) -> Self {
        Found { exact: true, direct: None, complement: Some(Part::Rows(rows)), sure: None }
    }
}

/// Whether an index of this kind may serve a query, before its files are looked at.
fn serves(kind: &IndexKind, query: &Query<'_>) -> bool {
    match query {
        Query::Contains(_) => matches!(kind, IndexKind::NGram),
        Query::HasAny(_) | Query::HasAll(_) => matches!(kind, IndexKind::LabelList { .. }),
        _ => !matches!(kind, IndexKind::NGram | IndexKind::LabelList { .. }),
    }
}

/// An answer of an index that knows no values; it serves a negated condition only if that is IS NOT NULL.
fn whole<'d>(answer: Option<Answer>, condition: &Condition) -> Option<Found<'d>> {
    let answer = answer?;
    let exact = answer.is_exact();
    match condition.negated {
        false => {
            let (most, sure) = match answer {
                Answer::Between { least, most } => (most, Some(least)),
                other => (other.into_rows(), None),
            };
            Some(Found { exact, direct: Some(Part::Rows(most)), complement: None, sure })
        }
        true if exact && condition.test == Test::IsNull => Some(Found::complement_of(answer.into_rows())),
        true => None,
    }
}

fn intervals<'d>(
    tree: &'d BTreeIndex,
    mut pages: &'d Pages,
    query: &Query<'_>,
    condition: &Condition,
    stats: &Stats,
) -> lancet_format::Result<Option<Found<'d>>> {
    let mut selected = Vec::new();
    if !btree::intervals(tree, query, &mut pages, &mut selected)? {
        return Ok(None);
    }
    stats.searched_pages(1);
    if !condition.negated {
        return Ok(Some(Found {
            exact: true,
            direct: Some(Part::Intervals(tree, pages, selected)),
            complement: None,
            sure: None,
        }));
    }
    // NULLs come first: neither they nor the selected rows are wanted.
    let mut others = Vec::with_capacity(selected.len() + 1);
    let mut start = tree.num_nulls();
    for range in &selected {
        if start < range.start {
            others.push(start..range.start);
        }
        start = start.max(range.end);
    }
    if start < tree.num_rows() {
        others.push(start..tree.num_rows());
    }
    if tree.num_nulls() > 0 && condition.test != Test::IsNull {
        selected.insert(0, 0..tree.num_nulls());
    }
    Ok(Some(Found {
        exact: true,
        direct: Some(Part::Intervals(tree, pages, others)),
        complement: Some(Part::Intervals(tree, pages, selected)),
        sure: None,
    }))
}

fn sets<'d>(
    keys: &BitmapIndex,
    cached: &Arc<Shelf<RowAddressSet>>,
    query: &Query<'_>,
    condition: &Condition,
    stats: &Stats,
) -> lancet_format::Result<Option<Found<'d>>> {
    let Some(selected) = bitmap::positions(keys, query) else { return Ok(None) };
    let read = |positions: &mut dyn Iterator<Item = usize>, nulls: bool| {
        let read = |position| cached.get(position, || keys.rows(position));
        let mut sets = positions.map(read).collect::<lancet_format::Result<Vec<_>>>()?;
        if nulls {
            for set in 0..keys.num_null_sets() {
                sets.push(cached.get(keys.num_keys() + set, || keys.null_rows(set))?);
            }
        }
        stats.read_postings(sets.len());
        Ok::<_, lancet_format::Error>(Part::Sets(sets))
    };
    // Where the condition is negated: the rows of the value, and of NULL, for which it is not true.
    let with_nulls = condition.negated || condition.test == Test::IsNull;
    let part = Some(read(&mut selected.into_iter().flatten(), with_nulls)?);
    Ok(Some(match condition.negated {
        false => Found { exact: true, direct: part, complement: None, sure: None },
        true => Found { exact: true, direct: None, complement: part, sure: None },
    }))
}

impl Part<'_> {
    fn rows(&self) -> u64 {
        match self {
            Part::Intervals(_, _, intervals) => intervals.iter().map(|range| range.end - range.start).sum(),
            Part::Sets(sets) => sets.iter().map(|set| set.len().unwrap_or(u32::MAX.into())).sum(),
            Part::Rows(rows) => rows.len(),
        }
    }
}

impl Located<'_> {
    /// Whether the rows lie beside each other.
    pub(crate) fn is_of_zones(&self) -> bool {
        matches!(self.index.kind, IndexKind::ZoneMap(_) | IndexKind::BloomFilter)
    }

    /// At most how many rows the condition is true for, deleted ones included.
    pub(crate) fn rows(&self) -> u64 {
        match self.complement {
            false => self.listed,
            true => self.covered.saturating_sub(self.listed),
        }
    }

    /// What reading the rows of all entries costs, in entries of a BTree.
    pub(crate) fn cost(&self) -> u64 {
        let cost = |part: &Part<'_>| match part {
            Part::Intervals(..) => part.rows(),
            Part::Sets(_) => part.rows() / 64,
            Part::Rows(_) => 0,
        };
        self.parts.iter().map(|(_, part)| cost(part)).sum()
    }

    /// The addresses of the rows for which the condition may be true, in the fragments that each segment answers for.
    ///
    /// # Errors
    /// Those of the index's files, and of the row ids of fragments.
    pub(crate) fn read(&self, search: Search<'_>) -> Result<Bracket> {
        let rows = Rows::of(self.entries(search)?);
        if self.exact {
            return Ok(Bracket::exact(if self.complement { rows.complement() } else { rows }));
        }
        let mut sure = RowSet::new();
        for (segment, rows) in &self.sure {
            let coverage = segment.coverage(search.dataset, &self.index.kind)?;
            sure = sure.union(&places::addresses(search.dataset, segment.domain, coverage, rows.clone())?);
        }
        let least = if sure.is_empty() { Least::None } else { Least::Some(Rows::of(sure)) };
        Ok(Bracket { most: rows, least })
    }

    /// The addresses of the rows of all entries.
    fn entries(&self, search: Search<'_>) -> Result<RowSet> {
        let mut all: Option<RowSet> = None;
        for (segment, part) in &self.parts {
            let mut set = RowSet::new();
            match part {
                Part::Intervals(tree, pages, intervals) => {
                    let read = match part.rows() {
                        ..=FEW_IDS => {
                            let mut ids = Vec::with_capacity(part.rows() as usize);
                            let mut each = intervals.iter().cloned();
                            let read = each.try_for_each(|rows| pages.extend_ids(tree, rows, &mut ids));
                            set.assign_ids(&ids, &mut Vec::new());
                            read
                        }
                        _ => btree::ids(tree, intervals, &mut btree::Scratch::default(), &mut set),
                    };
                    read.map_err(|error| Error::index(segment.path(search.dataset), error))?;
                    search.stats.read_entries(part.rows());
                }
                Part::Sets(sets) => {
                    let rows_of = |fragment| places::rows_of(search.dataset, segment.domain, fragment);
                    union_of_addresses(sets.iter().map(|set| &**set), &rows_of, &mut set);
                }
                Part::Rows(rows) => set = rows.clone(),
            }
            let coverage = segment.coverage(search.dataset, &self.index.kind)?;
            let mut set = places::addresses(search.dataset, segment.domain, coverage, set)?;
            let unknown = segment.unknown(search.dataset, &self.index.kind)?;
            if !unknown.is_empty() {
                set = set.union(unknown);
            }
            all = Some(match all {
                None => set,
                Some(all) => all.union(&set),
            });
        }
        Ok(all.unwrap_or_default())
    }

    /// The number of live rows in `wanted` fragments for which the condition is true, if that is known without reading
    /// the rows.
    ///
    /// # Errors
    /// Those of the deletion files of these fragments.
    pub(crate) fn count(&self, search: Search<'_>, wanted: &Fragments) -> Result<Option<u64>> {
        let dataset = search.dataset;
        if !self.exact || self.complement || dataset.catalog()?.reuse().is_some() {
            return Ok(None);
        }
        let mut total = 0;
        for (segment, part) in &self.parts {
            let coverage = segment.coverage(dataset, &self.index.kind)?;
            if coverage != wanted || self.parts.len() > 1 {
                return Ok(None);
            }
            let mut physical = 0;
            for position in coverage.iter() {
                let fragment = &dataset.fragments()[position];
                if fragment.meta.deletion.is_some() {
                    return Ok(None);
                }
                physical += fragment.physical_rows(dataset.pool())?;
            }
            total += match part {
                // With as many entries as there are rows, each row has one, and there are no others.
                Part::Intervals(tree, ..) if tree.num_rows() == physical => part.rows(),
                Part::Sets(sets) if !dataset.manifest().has_stable_row_ids() => {
                    let mut rows = 0;
                    for (id, of_fragment) in sets.iter().flat_map(|set| set.fragments()) {
                        let position = dataset.manifest().position_of(id);
                        let Some(position) = position.filter(|&position| coverage.contains(position)) else {
                            continue;
                        };
                        let there = dataset.fragments()[position].physical_rows(dataset.pool())?;
                        let Some(own) = of_fragment else { return Ok(None) };
                        if own.max().is_some_and(|last| u64::from(last) >= there) {
                            return Ok(None);
                        }
                        rows += own.len();
                    }
                    // Rows that are not there, or have two values: a damaged index, which reading puts right.
                    if rows > physical {
                        return Ok(None);
                    }
                    rows
                }
                _ => return Ok(None),
            };
        }
        Ok(Some(total))
    }
}

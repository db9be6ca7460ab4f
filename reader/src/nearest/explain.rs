//! [`NearestPlan`]: what a search for nearest neighbours would do.

use super::{Metric, Nearest, Way, selection::Selection};
use crate::{Plan, Result};

/// What a search for nearest neighbours would do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NearestPlan {
    /// The column of vectors.
    pub column: String,
    /// How vectors are compared.
    pub metric: Metric,
    /// How many rows are found, for each query.
    pub k: usize,
    /// How many queries there are.
    pub queries: usize,
    /// How vectors are found.
    pub path: SearchPath,
    /// Why so.
    pub reason: String,
    /// The index that is searched.
    pub index: Option<NearestIndexPlan>,
    /// How many rows may be returned: those that are not deleted, and for which the filter is true if it comes first.
    pub rows: u64,
    /// Where that is known from.
    pub mask: MaskSource,
    /// The ids of fragments whose rows are compared exactly.
    pub exact_fragments: Vec<u32>,
    /// How many of their rows are.
    pub exact_rows: u64,
    /// Whether the filter is evaluated on the rows found only.
    pub postfilter: bool,
}

/// How the rows nearest to a query are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SearchPath {
    /// In the partitions of an index.
    Index,
    /// By comparing all vectors.
    Exact,
    /// In an index, and by comparing all vectors that it does not cover.
    Both,
}

/// Which rows may be returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaskSource {
    /// All: none is deleted, and no filter comes first.
    All,
    /// Those that are not deleted.
    Deletions,
    /// Those that are not deleted and for which the filter is true, read from all rows.
    Scan,
    /// Likewise, with the help of scalar indices.
    Indices,
}

/// How an index would be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NearestIndexPlan {
    /// Its name.
    pub name: String,
    /// The kind of its first segment, `IVF_PQ` say.
    pub kind: String,
    /// Its segments that cover a fragment.
    pub segments: usize,
    /// Their partitions together.
    pub partitions: usize,
    /// So many partitions of each segment are searched for certain, if there are so many,
    pub min_probes: usize,
    /// and so many at the most; all, if it is `None`.
    pub max_probes: Option<usize>,
    /// How many candidates it is asked for; more than `k` if they are ranked again.
    pub candidates: usize,
    /// Whether candidates are ranked by their exact distances: if the search refines, or compares other rows exactly.
    pub reranks: bool,
}

/// See [`Nearest::explain`].
pub(super) fn plan(search: &Nearest) -> Result<Plan> {
    let run = search.prepare()?;
    let (offset, limit) = search.scan.window();
    // Of which rows the filter is true is asked of all, whatever part of the answer is wanted.
    let mut plan = search.scan.clone().offset(0).limit(u64::MAX).explain()?;
    (plan.offset, plan.limit) = (offset, Some(limit).filter(|&limit| limit < u64::MAX));
    let has_filter = search.prefilter().is_some();
    if !has_filter {
        plan.fragments.clear();
    }
    let (selection, index) = match &run.way {
        Way::Exactly(selection) => (selection, None),
        Way::ByIndex(index, allowed) => (allowed.selection(), Some(index)),
    };
    let exact: &[usize] = &run.uncovered;
    let fragments = search.scan.dataset().fragments();
    let path = match (index, exact.is_empty()) {
        (None, _) => SearchPath::Exact,
        (Some(_), true) => SearchPath::Index,
        (Some(_), false) => SearchPath::Both,
    };
    let probes = run.params.probes();
    let index = index.map(|index| NearestIndexPlan {
        name: index.name.clone(),
        kind: index.kind(),
        segments: index.segments.len(),
        partitions: index.partitions(),
        min_probes: probes.start,
        max_probes: Some(probes.end).filter(|&most| most < usize::MAX),
        candidates: run.params.candidates(),
        reranks: run.params.refine.is_some() || !exact.is_empty(),
    });
    plan.nearest = Some(NearestPlan {
        column: search.column.name().to_owned(),
        metric: run.metric,
        k: run.params.k,
        queries: search.queries.len(),
        path,
        reason: run.reason,
        index,
        rows: selection.count(),
        mask: match (has_filter, plan.index_query.is_some()) {
            (true, true) => MaskSource::Indices,
            (true, false) => MaskSource::Scan,
            (false, _) if selection.has_masks() => MaskSource::Deletions,
            (false, _) => MaskSource::All,
        },
        exact_fragments: exact.iter().map(|&position| fragments[position].meta.id).collect(),
        exact_rows: rows_of(search, selection, exact)?,
        postfilter: search.postfilter && search.scan.filter_ref().is_some(),
    });
    Ok(plan)
}

/// How many selected rows the fragments at `positions` have.
fn rows_of(search: &Nearest, selection: &Selection, positions: &[usize]) -> Result<u64> {
    let dataset = search.scan.dataset();
    let rows = |&position: &usize| match selection.of_fragment(position) {
        None => Ok(0),
        Some(Some(mask)) => Ok(mask.count() as u64),
        Some(None) => dataset.fragments()[position].physical_rows(dataset.pool()),
    };
    positions.iter().map(rows).sum()
}

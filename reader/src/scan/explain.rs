//! [`Plan`]: what a scan would do, before it does it.

use super::Scan;
use crate::{NearestPlan, Result, plan::Answer};

/// What a scan would do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// The filter as it was understood, if there is one.
    pub filter: Option<String>,
    /// The part of it that indices answer, if they do.
    pub index_query: Option<String>,
    /// What is evaluated on the rows that indices leave, or without indices on all rows: nothing if the indices' rows are
    /// the answer.
    pub refine: Option<String>,
    /// The conditions of the filter that an index serves, used or not.
    pub indices: Vec<IndexPlan>,
    /// The columns that are read to evaluate the whole filter, in the order of the filter's columns.
    pub filter_columns: Vec<String>,
    /// The columns of the answer.
    pub columns: Vec<String>,
    /// The fragments in the order in which they are read.
    pub fragments: Vec<FragmentPlan>,
    /// Rows left out first.
    pub offset: u64,
    /// Rows after which the scan ends.
    pub limit: Option<u64>,
    /// How vectors are found, in a search for nearest neighbours; `fragments` are then those in which a filter that comes
    /// first is evaluated.
    pub nearest: Option<NearestPlan>,
}

/// How an index would answer a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexPlan {
    /// The name of the index.
    pub index: String,
    /// Its kind as Lance calls it.
    pub kind: String,
    /// The condition, without its values.
    pub condition: String,
    /// Whether the rows that it finds are exactly those that fulfil the condition; otherwise others are among them.
    pub exact: bool,
    /// How many rows it finds, some of which may be deleted.
    pub rows: u64,
    /// How many fragments it knows.
    pub fragments: usize,
    /// Whether it is used.
    pub used: bool,
}

/// What a scan would do with one fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FragmentPlan {
    /// The fragment's id.
    pub fragment: u32,
    /// Which of its rows are looked at.
    pub reading: Reading,
    /// The rows that are not deleted.
    pub rows: u64,
}

/// Which rows of a fragment are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// All, with the whole filter.
    Scan,
    /// Those that indices find, and they are the answer.
    Exact,
    /// Those that indices find, with what they do not know for sure.
    Recheck,
    /// None, since indices do not cover it and only what they cover is wanted.
    Skip,
}

pub(super) fn plan(scan: &Scan) -> Result<Plan> {
    let live = scan.dataset.live_before()?;
    let parameters = scan.parameters()?;
    let search = scan.search(parameters);
    let answer = scan.answer(search, scan.offset.saturating_add(scan.limit.unwrap_or(u64::MAX)))?;
    let filter = scan.filter.as_deref();
    let text = |numbers: &[usize]| Some(filter?.only(numbers, parameters)?.to_string());
    let fragment = |position: usize| FragmentPlan {
        fragment: scan.dataset.fragments()[position].meta.id,
        reading: match &answer {
            Some(answer) if answer.coverage.contains(position) => match answer.refine.is_empty() {
                true => Reading::Exact,
                false => Reading::Recheck,
            },
            Some(_) if scan.indexed_only => Reading::Skip,
            _ => Reading::Scan,
        },
        rows: live[position + 1] - live[position],
    };
    Ok(Plan {
        filter: filter.map(|filter| filter.expr().to_string()),
        index_query: answer.as_ref().and_then(|answer| text(&answer.used)),
        refine: match &answer {
            Some(answer) => text(&answer.refine),
            None => filter.map(|filter| filter.expr().to_string()),
        },
        indices: answer.as_ref().map(|answer| indices(scan, answer)).unwrap_or_default(),
        filter_columns: filter.map(|filter| filter.column_names()).unwrap_or_default(),
        columns: scan.projection.names().iter().map(|name| name.to_string()).collect(),
        fragments: scan.positions().into_iter().map(fragment).collect(),
        offset: scan.offset,
        limit: scan.limit,
        nearest: None,
    })
}

fn indices(scan: &Scan, answer: &Answer<'_>) -> Vec<IndexPlan> {
    let Some(filter) = &scan.filter else { return Vec::new() };
    let mut used = vec![false; filter.conditions().len()];
    for &number in &answer.used {
        let tree = filter.conjuncts()[number].tree.as_ref();
        tree.into_iter().for_each(|tree| tree.leaves(&mut |condition| used[condition] = true));
    }
    let conditions = filter.conditions().iter().zip(&answer.located).zip(used);
    let served =
        conditions.filter_map(|((condition, located), used)| Some((condition, located.as_ref()?, used)));
    served
        .map(|(condition, located, used)| IndexPlan {
            index: located.index.name.clone(),
            kind: located.index.kind_name(),
            condition: condition.to_string(),
            exact: located.exact,
            rows: located.rows(),
            fragments: located.coverage.len(),
            used,
        })
        .collect()
}

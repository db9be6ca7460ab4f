//! [`Plan`]: what a scan would do, before it does it.

use super::Scan;
use crate::Result;

/// What a scan would do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// The filter as it was understood, if there is one.
    pub filter: Option<String>,
    /// The columns that are read to evaluate it, in the order of the filter's columns.
    pub filter_columns: Vec<String>,
    /// The columns of the answer.
    pub columns: Vec<String>,
    /// The fragments in the order in which they are read.
    pub fragments: Vec<FragmentPlan>,
    /// Rows left out first.
    pub offset: u64,
    /// Rows after which the scan ends.
    pub limit: Option<u64>,
}

/// What a scan would do with one fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FragmentPlan {
    /// The fragment's id.
    pub fragment: u32,
    /// The rows that are looked at: those that are not deleted.
    pub rows: u64,
}

pub(super) fn plan(scan: &Scan) -> Result<Plan> {
    let live = scan.dataset.live_before()?;
    let fragment = |position: usize| FragmentPlan {
        fragment: scan.dataset.fragments()[position].meta.id,
        rows: live[position + 1] - live[position],
    };
    Ok(Plan {
        filter: scan.filter.as_ref().map(|filter| filter.expr().to_string()),
        filter_columns: scan.filter.as_ref().map(|filter| filter.whole().column_names()).unwrap_or_default(),
        columns: scan.projection.names().iter().map(|name| name.to_string()).collect(),
        fragments: scan.positions().into_iter().map(fragment).collect(),
        offset: scan.offset,
        limit: scan.limit,
    })
}

//! [`Prepared`]: a vector index as one version of a dataset sees it, made once and not for each query.

use super::{
    Metric,
    segments::Segment,
    selection::{Allowed, Selection},
};
use crate::{Dataset, Result};
use lancet_format::table::IndexMetadata;
use std::sync::{Arc, OnceLock};

/// The newest layout of a segment that is read; what is newer is left alone.
pub(super) const MAX_VERSION: i32 = 2;

/// The segments of an index, what they cover, and which of their rows live.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) name: String,
    pub(super) metric: Metric,
    pub(super) segments: Vec<Segment>,
    /// By the position of a fragment, whether some segment covers it.
    pub(super) covered: Vec<bool>,
    /// The rows that are not deleted.
    live: OnceLock<Arc<Allowed>>,
}

impl Prepared {
    /// The first index on the column with field `id`, if there is one that covers a fragment.
    ///
    /// # Errors
    /// Those of its files; corrupt if its segments do not fit together.
    pub(super) fn of_column(dataset: &Dataset, id: i32) -> Result<Option<Arc<Self>>> {
        dataset.opened_segments().prepared(id, || Self::open(dataset, id))
    }

    fn open(dataset: &Dataset, id: i32) -> Result<Option<Self>> {
        // Rows of compacted fragments are not translated: exact search is right.
        if dataset.index_segments().iter().any(|entry| entry.name == "__lance_frag_reuse") {
            return Ok(None);
        }
        let usable = |entry: &&IndexMetadata| {
            entry.fields == [id] && is_vector(entry) && (0..=MAX_VERSION).contains(&entry.version)
        };
        let Some(first) = dataset.index_segments().iter().find(usable) else { return Ok(None) };
        let covers_any = |entry: &&IndexMetadata| match &entry.fragments {
            None => true,
            Some(covered) => dataset.fragments().iter().any(|fragment| covered.contains(fragment.meta.id)),
        };
        let entries = dataset.index_segments().iter().filter(|entry| entry.name == first.name);
        let entries = entries.filter(usable).filter(covers_any);
        let segments = entries.map(|entry| Segment::open(dataset, entry)).collect::<Result<Vec<_>>>()?;
        let Some(metric) = segments.first().map(|segment| segment.opened.ivf.metric()) else {
            return Ok(None);
        };
        if let Some(other) = segments.iter().find(|segment| segment.opened.ivf.metric() != metric) {
            return Err(other.opened.corrupt(format!(
                "expected the metric {metric:?}, as other segments have, found {:?}",
                other.opened.ivf.metric()
            )));
        }
        let covers = |position: usize| segments.iter().any(|segment| segment.covered[position]);
        let covered = (0..dataset.fragments().len()).map(covers).collect();
        let name = first.name.clone();
        Ok(Some(Prepared { name, metric, segments, covered, live: OnceLock::new() }))
    }

    /// The rows that are not deleted.
    ///
    /// # Errors
    /// Those of deletion files and row ids.
    pub(super) fn live(&self, dataset: &Dataset) -> Result<&Arc<Allowed>> {
        if let Some(live) = self.live.get() {
            return Ok(live);
        }
        let all: Vec<usize> = (0..dataset.fragments().len()).collect();
        let live = Allowed::new(dataset, Selection::live(dataset, &all)?, self)?;
        Ok(self.live.get_or_init(|| Arc::new(live)))
    }

    /// Whether distances are estimates, made from codes, in some segment.
    pub(super) fn is_quantized(&self) -> bool {
        self.segments.iter().any(|segment| segment.opened.ivf.is_quantized())
    }

    /// The kind of the first segment, `IVF_PQ` say.
    pub(super) fn kind(&self) -> String {
        self.segments.first().map(|segment| segment.opened.ivf.file().kind()).unwrap_or_default()
    }

    /// The number of partitions of all segments.
    pub(super) fn partitions(&self) -> usize {
        self.segments.iter().map(|segment| segment.opened.ivf.partitions()).sum()
    }
}

pub(super) fn is_vector(entry: &IndexMetadata) -> bool {
    entry.details.as_ref().is_some_and(|details| details.is("VectorIndexDetails"))
}

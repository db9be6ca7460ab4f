//! What `--explain` and `--stats` tell about a query.

use crate::output::facts::{self, Fact, Record};
use lancet::{Dataset, MaskSource, NearestPlan, Plan, Reading, SearchPath, Stats};
use std::time::Instant;

/// A plan as facts.
pub(super) fn plan_facts(plan: &Plan) -> Record {
    let fragments = plan.fragments.iter().map(|fragment| {
        let reading = match fragment.reading {
            Reading::Scan => "scan",
            Reading::Exact => "exact",
            Reading::Recheck => "recheck",
            Reading::Skip => "skip",
            _ => "other",
        };
        let facts: Record = vec![
            ("fragment", fragment.fragment.into()),
            ("read", reading.into()),
            ("rows", fragment.rows.into()),
        ];
        Fact::Record(facts)
    });
    let indices = plan.indices.iter().map(|index| {
        let facts: Record = vec![
            ("index", index.index.clone().into()),
            ("type", index.kind.clone().into()),
            ("condition", index.condition.clone().into()),
            ("answer", if index.exact { "exact" } else { "at most" }.into()),
            ("rows", index.rows.into()),
            ("fragments", index.fragments.into()),
            ("used", index.used.into()),
        ];
        Fact::Record(facts)
    });
    let mut facts: Record = vec![
        ("filter", plan.filter.clone().into()),
        ("index_query", plan.index_query.clone().into()),
        ("refine", plan.refine.clone().into()),
        ("indices", Fact::List(indices.collect())),
        ("filter_columns", plan.filter_columns.clone().into()),
        ("columns", plan.columns.clone().into()),
        ("offset", plan.offset.into()),
        ("limit", plan.limit.into()),
        ("fragments", Fact::List(fragments.collect())),
    ];
    facts.extend(plan.nearest.as_ref().map(|nearest| ("nearest", nearest_facts(nearest).into())));
    facts
}

/// How vectors would be found.
fn nearest_facts(plan: &NearestPlan) -> Record {
    let index = plan.index.as_ref().map(|index| -> Record {
        vec![
            ("name", index.name.clone().into()),
            ("type", index.kind.clone().into()),
            ("segments", index.segments.into()),
            ("partitions", index.partitions.into()),
            ("min_probes", index.min_probes.into()),
            ("max_probes", index.max_probes.into()),
            ("candidates", index.candidates.into()),
            ("reranks", index.reranks.into()),
        ]
    });
    let path = match plan.path {
        SearchPath::Index => "index",
        SearchPath::Exact => "exact",
        SearchPath::Both => "both",
        _ => "other",
    };
    let mask = match plan.mask {
        MaskSource::All => "all",
        MaskSource::Deletions => "deletions",
        MaskSource::Scan => "scan",
        MaskSource::Indices => "indices",
        _ => "other",
    };
    vec![
        ("column", plan.column.clone().into()),
        ("metric", plan.metric.name().into()),
        ("k", plan.k.into()),
        ("queries", plan.queries.into()),
        ("path", path.into()),
        ("reason", plan.reason.clone().into()),
        ("index", index.into()),
        ("rows", plan.rows.into()),
        ("mask", mask.into()),
        ("exact_fragments", plan.exact_fragments.clone().into()),
        ("exact_rows", plan.exact_rows.into()),
        ("postfilter", plan.postfilter.into()),
    ]
}

/// Writes what a query did to standard error, as one line of JSON.
pub(super) fn tell_stats(dataset: &Dataset, stats: &Stats, start: Instant) {
    let usage = dataset.usage();
    let facts: Record = vec![
        ("wall_microseconds", u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX).into()),
        ("rows_examined", stats.rows_examined().into()),
        ("rows_returned", stats.rows_returned().into()),
        ("rows_rechecked", stats.rows_rechecked().into()),
        ("index_pages", stats.index_pages().into()),
        ("index_entries", stats.index_entries().into()),
        ("postings", stats.postings().into()),
        ("zones", stats.zones_compared().into()),
        ("partitions", stats.partitions().into()),
        ("rows_compared", stats.rows_compared().into()),
        ("index_cache_bytes", dataset.index_cache().bytes.into()),
        ("pages_read", usage.pages.into()),
        ("page_bytes", usage.page_bytes.into()),
        ("files_mapped", usage.files.into()),
        ("bytes_mapped", usage.bytes_mapped.into()),
    ];
    eprintln!("{}", facts::line(&facts));
}

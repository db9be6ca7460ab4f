//! What `--explain` and `--stats` tell about a query.

use crate::output::facts::{self, Fact, Record};
use lancet::{Dataset, Plan, Reading, Stats};
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
    vec![
        ("filter", plan.filter.clone().into()),
        ("index_query", plan.index_query.clone().into()),
        ("refine", plan.refine.clone().into()),
        ("indices", Fact::List(indices.collect())),
        ("filter_columns", plan.filter_columns.clone().into()),
        ("columns", plan.columns.clone().into()),
        ("offset", plan.offset.into()),
        ("limit", plan.limit.into()),
        ("fragments", Fact::List(fragments.collect())),
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
        ("pages_read", usage.pages.into()),
        ("page_bytes", usage.page_bytes.into()),
        ("files_mapped", usage.files.into()),
        ("bytes_mapped", usage.bytes_mapped.into()),
    ];
    eprintln!("{}", facts::line(&facts));
}

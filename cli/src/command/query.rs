//! `lancet query`: rows in row order, all or those that a filter leaves.

use super::{open, plan, refuse};
use crate::{
    args::QueryArgs,
    error::Result,
    output::{Renderer, facts},
};
use lancet::{Dataset, Scan, Stats, expr};
use std::{sync::Arc, time::Instant};

pub(super) fn run(args: &QueryArgs) -> Result<()> {
    refuse(args.waits_for())?;
    let start = Instant::now();
    let dataset = open(&args.dataset)?;
    let stats = Arc::new(Stats::default());
    let scan = scan(&dataset, args)?.record(stats.clone());
    if args.plan.explain {
        return facts::one(args.output.format(), &plan::plan_facts(&scan.explain()?));
    }
    let mut renderer = Renderer::new(args.output.format(), scan.projection().names());
    for batch in scan.batches()? {
        renderer.batch(&batch?)?;
    }
    renderer.finish()?;
    if args.plan.stats {
        plan::tell_stats(&dataset, &stats, start);
    }
    Ok(())
}

/// The scan that the arguments ask for.
fn scan(dataset: &Dataset, args: &QueryArgs) -> Result<Scan> {
    let mut scan = dataset.scan();
    if let Some(columns) = &args.columns {
        scan = scan.columns(expr::split_items(columns))?;
    }
    if let Some(filter) = &args.filter {
        scan = scan.filter(filter.as_str())?;
    }
    if args.with_row_id {
        scan = scan.with_row_id();
    }
    if args.with_row_address {
        scan = scan.with_row_address();
    }
    if args.blob_descriptions {
        scan = scan.with_blob_descriptions();
    }
    if let Some(offset) = args.offset {
        scan = scan.offset(offset);
    }
    if let Some(limit) = args.limit {
        scan = scan.limit(limit);
    }
    Ok(scan)
}

//! `lancet count`: the number of rows, in every format just that.

use super::{index_use, open, plan};
use crate::{
    args::CountArgs,
    error::Result,
    output::{Output, facts},
};
use lancet::Stats;
use std::{sync::Arc, time::Instant};

pub(super) fn run(args: &CountArgs) -> Result<()> {
    let start = Instant::now();
    let dataset = open(&args.dataset)?;
    let stats = Arc::new(Stats::default());
    let mut scan = dataset.scan().indices(index_use(args.no_index)).record(stats.clone());
    if let Some(filter) = &args.filter {
        scan = scan.filter(filter.as_str())?;
    }
    if args.plan.explain {
        facts::one(args.output.format(), &plan::plan_facts(&scan.explain()?))?;
    } else {
        let rows = scan.count()?;
        let mut output = Output::new();
        output.text(&format!("{rows}\n"))?;
        output.finish()?;
    }
    if args.plan.stats {
        plan::tell_stats(&dataset, &stats, start);
    }
    Ok(())
}

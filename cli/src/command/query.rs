//! `lancet query`: rows in row order, or the nearest neighbours of a vector.

use super::{index_use, open, plan, refuse};
use crate::{
    args::{Metric, NearestArgs, QueryArgs},
    error::{Error, Result},
    output::{Renderer, facts},
    vectors::{self, Vectors},
};
use lancet::{Dataset, Nearest, Scan, Stats, expr};
use std::{sync::Arc, time::Instant};

pub(super) fn run(args: &QueryArgs) -> Result<()> {
    refuse(args.waits_for())?;
    let start = Instant::now();
    let dataset = open(&args.dataset)?;
    let stats = Arc::new(Stats::default());
    let scan = scan(&dataset, args)?.record(stats.clone());
    let format = args.output.format();
    if let (Some(column), Some(vector)) = (&args.nearest.nearest, &args.nearest.vector) {
        let vectors = vectors::read(vector, &dataset, column, index_use(args.no_index))?;
        let nearest = nearest(scan, args, column, vectors)?;
        if args.plan.explain {
            facts::one(format, &plan::plan_facts(&nearest.explain()?))?;
        } else {
            let mut renderer = Renderer::new(format, &nearest.names());
            renderer.batch(&nearest.collect()?)?;
            renderer.finish()?;
        }
    } else if args.plan.explain {
        facts::one(format, &plan::plan_facts(&scan.explain()?))?;
    } else {
        let mut renderer = Renderer::new(format, scan.projection().names());
        for batch in scan.batches()? {
            renderer.batch(&batch?)?;
        }
        renderer.finish()?;
    }
    if args.plan.stats {
        plan::tell_stats(&dataset, &stats, start);
    }
    Ok(())
}

/// The scan that the arguments ask for.
fn scan(dataset: &Dataset, args: &QueryArgs) -> Result<Scan> {
    let only_indexed = args.indexed_only && args.nearest.nearest.is_none();
    let mut scan = dataset.scan().indices(index_use(args.no_index)).indexed_only(only_indexed);
    if let Some(columns) = &args.columns {
        scan = scan.columns(expr::split_items(columns)).map_err(Error::of("--columns"))?;
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

/// The search that the arguments ask for.
fn nearest(scan: Scan, args: &QueryArgs, column: &str, vectors: Vectors) -> Result<Nearest> {
    let mut nearest = match vectors {
        Vectors::One(vector) => scan.nearest(column, &vector)?,
        Vectors::Many(vectors) => scan.nearest_each(column, vectors)?,
    };
    let NearestArgs { k, nprobes, min_nprobes, max_nprobes, refine, metric, .. } = args.nearest;
    if let Some(k) = k {
        nearest = nearest.k(k);
    }
    if let Some(partitions) = nprobes {
        nearest = nearest.nprobes(partitions);
    }
    if let Some(partitions) = min_nprobes {
        nearest = nearest.min_probes(partitions);
    }
    if let Some(partitions) = max_nprobes {
        nearest = nearest.max_probes(partitions);
    }
    if let Some(factor) = refine {
        nearest = nearest.refine(factor);
    }
    if let Some(metric) = metric {
        nearest = nearest.metric(match metric {
            Metric::L2 => lancet::Metric::L2,
            Metric::Cosine => lancet::Metric::Cosine,
            Metric::Dot => lancet::Metric::Dot,
            Metric::Hamming => lancet::Metric::Hamming,
        });
    }
    if let Some(range) = args.nearest.distance_range {
        nearest = nearest.distance_range(range.low, range.high);
    }
    let postfilter = args.nearest.postfilter;
    Ok(nearest.postfilter(postfilter).use_index(!args.no_index).indexed_only(args.indexed_only))
}

//! `lancet query`: rows in row order.

use super::{open, projection, refuse};
use crate::{args::QueryArgs, error::Result, output::Renderer};

pub(super) fn run(args: &QueryArgs) -> Result<()> {
    refuse(args.waits_for())?;
    let dataset = open(&args.dataset)?;
    let mut projection = projection(&dataset, args.columns.as_deref())?;
    if args.with_row_id {
        projection = projection.with_row_id();
    }
    if args.with_row_address {
        projection = projection.with_row_address();
    }
    if args.blob_descriptions {
        projection = projection.with_blob_descriptions();
    }
    let mut renderer = Renderer::new(args.output.format(), projection.names());
    let mut scan = dataset.scan().project(projection);
    if let Some(offset) = args.offset {
        scan = scan.offset(offset);
    }
    if let Some(limit) = args.limit {
        scan = scan.limit(limit);
    }
    for batch in scan.batches()? {
        renderer.batch(&batch?)?;
    }
    renderer.finish()
}

//! `lancet take`: rows by offset or identifier, in the order asked.

use super::{open, projection};
use crate::{
    args::{By, TakeArgs},
    error::Result,
    output::Renderer,
};
use lancet::{Dataset, ErrorKind, Projection, Rows};

/// Rows taken at once.
const CHUNK: usize = 4096;

pub(super) fn run(args: &TakeArgs) -> Result<()> {
    let dataset = open(&args.dataset)?;
    let mut projection = projection(&dataset, args.columns.as_deref())?;
    if args.blob_descriptions {
        projection = projection.with_blob_descriptions();
    }
    let mut renderer = Renderer::new(args.output.format(), projection.names());
    let mut rows = args.rows.iter();
    let mut chunk: Vec<u64> = Vec::new();
    loop {
        chunk.clear();
        chunk.extend(rows.by_ref().take(CHUNK));
        if chunk.is_empty() {
            return renderer.finish();
        }
        write(&dataset, args.by, &chunk, &projection, &mut renderer)?;
    }
}

/// Writes rows, in halves if they are too large at once.
fn write(
    dataset: &Dataset,
    by: By,
    chunk: &[u64],
    projection: &Projection,
    renderer: &mut Renderer,
) -> Result<()> {
    let rows = match by {
        By::Offset => Rows::Offsets(chunk),
        By::RowId => Rows::Ids(chunk),
        By::RowAddress => Rows::Addresses(chunk),
    };
    match dataset.take(rows, projection) {
        Err(error) if error.kind() == ErrorKind::TooLarge && chunk.len() > 1 => {
            let (first, second) = chunk.split_at(chunk.len() / 2);
            write(dataset, by, first, projection, renderer)?;
            write(dataset, by, second, projection, renderer)
        }
        batch => renderer.batch(&batch?),
    }
}

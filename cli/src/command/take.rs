//! `lancet take`: rows by offset or identifier, in the order asked.

use super::{open, projection};
use crate::{
    args::{By, TakeArgs},
    error::Result,
    output::Renderer,
};
use lancet::Rows;

/// Rows taken at once.
const CHUNK: usize = 4096;

pub(super) fn run(args: &TakeArgs) -> Result<()> {
    let dataset = open(&args.dataset)?;
    let projection = projection(&dataset, args.columns.as_deref())?;
    let mut renderer = Renderer::new(args.output.format(), projection.names());
    let mut rows = args.rows.iter();
    let mut chunk: Vec<u64> = Vec::new();
    loop {
        chunk.clear();
        chunk.extend(rows.by_ref().take(CHUNK));
        if chunk.is_empty() {
            return renderer.finish();
        }
        let rows = match args.by {
            By::Offset => Rows::Offsets(&chunk),
            By::RowId => Rows::Ids(&chunk),
            By::RowAddress => Rows::Addresses(&chunk),
        };
        renderer.batch(&dataset.take(rows, &projection)?)?;
    }
}

//! `lancet index`: what indices a dataset has.

use super::{info::index_facts, open, refuse};
use crate::{
    args::{IndexArgs, IndexCommand},
    error::Result,
    output::facts,
};
use lancet::Index;

const NAMES: [&str; 8] =
    ["name", "type", "columns", "segments", "fragments", "rows_covered", "rows_uncovered", "bytes"];

pub(super) fn run(args: &IndexArgs) -> Result<()> {
    match &args.command {
        IndexCommand::List(args) => {
            let indices: Vec<Index> = open(&args.dataset)?.indices()?;
            let records: Vec<_> = indices.iter().map(index_facts).collect();
            facts::many(args.output.format(), &NAMES, &records)
        }
        IndexCommand::Stats(_) => refuse(Some("index stats")),
    }
}

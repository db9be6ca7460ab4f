//! `lancet tables`: the datasets of a LanceDB database.

use crate::{
    args::TablesArgs,
    error::Result,
    output::facts::{self, Record},
};
use lancet::Database;

pub(super) fn run(args: &TablesArgs) -> Result<()> {
    let tables = Database::open(&args.folder)?.tables()?;
    let records: Vec<Record> = tables.into_iter().map(|name| vec![("name", name.into())]).collect();
    facts::many(args.output.format(), &["name"], &records)
}

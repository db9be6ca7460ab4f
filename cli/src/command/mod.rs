//! One module for each command: arguments in, calls of the library, an answer out.

mod count;
mod info;
mod query;
mod take;

use crate::{
    args::{Cli, Command, DatasetArgs},
    error::{Error, Result},
};
use lancet::{Dataset, Projection};

pub(crate) fn run(cli: &Cli) -> Result<()> {
    match &cli.command {
        Command::Info(args) => info::run(args),
        Command::Query(args) => query::run(args),
        Command::Count(args) => count::run(args),
        Command::Take(args) => take::run(args),
    }
}

/// Opens the version that is asked for.
fn open(args: &DatasetArgs) -> Result<Dataset> {
    refuse(args.waits_for())?;
    Ok(Dataset::open(&args.path)?)
}

/// The columns asked for, or all.
fn projection(dataset: &Dataset, columns: Option<&[String]>) -> Result<Projection> {
    match columns {
        Some(columns) => Ok(dataset.projection(columns)?),
        None => Ok(dataset.full_projection()),
    }
}

/// An error if a flag waits for its feature.
fn refuse(flag: Option<&'static str>) -> Result<()> {
    flag.map_or(Ok(()), |flag| Err(Error::NotThereYet(flag)))
}

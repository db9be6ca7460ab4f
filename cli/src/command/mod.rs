//! One module for each command: arguments in, calls of the library, an answer out.

mod count;
mod index;
mod info;
mod inspect;
mod plan;
mod query;
mod tables;
mod take;
mod verify;
mod versions;

use crate::{
    args::{Cli, Command, DatasetArgs},
    error::{Error, Result},
    output::{self, facts::Fact},
};
use lancet::{Dataset, IndexUse, OpenOptions, Projection, table::Timestamp};

pub(crate) fn run(cli: &Cli) -> Result<()> {
    match &cli.command {
        Command::Info(args) => info::run(args),
        Command::Versions(args) => versions::run(args),
        Command::Tables(args) => tables::run(args),
        Command::Index(args) => index::run(args),
        Command::Query(args) => query::run(args),
        Command::Count(args) => count::run(args),
        Command::Take(args) => take::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Verify(args) => verify::run(args),
    }
}

/// What a dataset, or a file of one, is opened with, whatever its version.
fn options(args: &DatasetArgs) -> OpenOptions {
    let options = Dataset::options();
    match args.max_decompressed {
        Some(bytes) => options.max_decompressed(bytes),
        None => options,
    }
}

/// Opens the version that is asked for.
fn open(args: &DatasetArgs) -> Result<Dataset> {
    let mut options = options(args);
    if let Some(version) = args.version {
        options = options.version(version);
    }
    if let Some(tag) = &args.tag {
        options = options.tag(tag);
    }
    if let Some(branch) = &args.branch {
        options = options.branch(branch);
    }
    Ok(options.open_path(&args.path)?)
}

/// When scalar indices are used.
fn index_use(no_index: bool) -> IndexUse {
    if no_index { IndexUse::Never } else { IndexUse::Auto }
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

/// A point in time as RFC 3339 text with microseconds.
fn time(timestamp: Option<Timestamp>) -> Fact {
    timestamp.map(|time| output::rfc3339(time.seconds, time.nanos)).into()
}

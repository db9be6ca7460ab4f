//! The flags of every command; see `docs/cli.md` for what they promise.

use crate::{output::Format, rows::RowList, vectors::Given};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::{num::IntErrorKind, path::PathBuf, str::FromStr};

/// Reads the datasets that Lance and LanceDB write
#[derive(Debug, Parser)]
#[command(
    name = "lancet",
    version,
    after_help = "Example:\n  lancet query words.lance --columns word,rank --limit 3"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Info(InfoArgs),
    Versions(VersionsArgs),
    Tables(TablesArgs),
    Index(IndexArgs),
    Query(Box<QueryArgs>),
    Count(CountArgs),
    Take(TakeArgs),
    Inspect(InspectArgs),
    Verify(VerifyArgs),
}

/// The dataset to read, and which of its versions.
#[derive(Debug, Args)]
pub(crate) struct DatasetArgs {
    /// Directory that holds `_versions/`
    #[arg(value_name = "DATASET")]
    pub(crate) path: PathBuf,
    /// Read the version with this tag
    #[arg(long, value_name = "NAME", conflicts_with_all = ["version", "branch"])]
    pub(crate) tag: Option<String>,
    /// Read this version instead of the latest
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) version: Option<u64>,
    /// Read this branch instead of the main one
    #[arg(long, value_name = "NAME")]
    pub(crate) branch: Option<String>,
    /// Refuse compressed chunks of more than this [default: 268435456]
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    pub(crate) max_decompressed: Option<usize>,
}

/// How the answer is written.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Form of the answer [default: table on a terminal, jsonl otherwise]
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    output: Option<Format>,
}

impl OutputArgs {
    pub(crate) fn format(&self) -> Format {
        self.output.unwrap_or_else(Format::for_stdout)
    }
}

/// What a dataset is: version, rows, storage, columns, indices
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lancet info words.lance")]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) dataset: DatasetArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// The history of a dataset: versions, tags and branches
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lancet versions words.lance")]
pub(crate) struct VersionsArgs {
    #[command(flatten)]
    pub(crate) dataset: DatasetArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Reads everything in a dataset, or in one file of it (DATASET is then that file), and tells what is wrong
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lancet verify words.lance")]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) dataset: DatasetArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// The tables of a LanceDB database, a folder of `NAME.lance`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lancet tables my-database")]
pub(crate) struct TablesArgs {
    /// Folder that holds the datasets
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Indices of a dataset
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lancet index list words.lance")]
pub(crate) struct IndexArgs {
    #[command(subcommand)]
    pub(crate) command: IndexCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    List(IndexListArgs),
    Stats(IndexStatsArgs),
}

/// Name, type, coverage and size of every index
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lancet index list words.lance")]
pub(crate) struct IndexListArgs {
    #[command(flatten)]
    pub(crate) dataset: DatasetArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Figures of one index
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lancet index stats words.lance word_idx")]
pub(crate) struct IndexStatsArgs {
    #[command(flatten)]
    pub(crate) dataset: DatasetArgs,
    /// Name of the index
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Rows, filtered and searched by nearest neighbour
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lancet query words.lance --columns word,rank --offset 100 --limit 3")]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(crate) dataset: DatasetArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Only rows for which this predicate is true
    #[arg(long, value_name = "SQL", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
    /// Columns in this order, nested ones with dots, and expressions such as `score * 2 AS s` [default: all]
    #[arg(long, value_name = "A,B,C.D", allow_hyphen_values = true)]
    pub(crate) columns: Option<String>,
    /// At most this many rows
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) limit: Option<u64>,
    /// Leave out this many rows first
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) offset: Option<u64>,
    /// Add the column `_rowid`
    #[arg(long)]
    pub(crate) with_row_id: bool,
    /// Add the column `_rowaddr`
    #[arg(long)]
    pub(crate) with_row_address: bool,
    /// Blob columns as position and size instead of their bytes
    #[arg(long)]
    pub(crate) blob_descriptions: bool,
    #[command(flatten)]
    pub(crate) nearest: NearestArgs,
    /// Ignore every index, and its metric: exact search and plain scan
    #[arg(long)]
    pub(crate) no_index: bool,
    /// Skip fragments that the index does not cover
    #[arg(long, conflicts_with = "no_index")]
    pub(crate) indexed_only: bool,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
}

/// The nearest-neighbour search.
#[derive(Debug, Args)]
pub(crate) struct NearestArgs {
    /// Search this vector column for the nearest neighbours
    #[arg(long, value_name = "COLUMN", requires = "vector")]
    pub(crate) nearest: Option<String>,
    /// Query vector: `[…]`, `@FILE.npy`, `row:ID` or `where:PREDICATE`
    #[arg(long, value_name = "VECTOR", requires = "nearest", allow_hyphen_values = true)]
    pub(crate) vector: Option<Given>,
    /// Neighbours [default: 10]
    #[arg(short, value_name = "N", requires = "nearest", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) k: Option<usize>,
    /// Search exactly this many partitions
    #[arg(long, value_name = "N", requires = "nearest", value_parser = at_least_one, allow_negative_numbers = true)]
    #[arg(conflicts_with_all = ["min_nprobes", "max_nprobes"])]
    pub(crate) nprobes: Option<usize>,
    /// Search at least this many partitions [default: 20]
    #[arg(long, value_name = "N", requires = "nearest", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) min_nprobes: Option<usize>,
    /// Search at most this many partitions [default: all]
    #[arg(long, value_name = "N", requires = "nearest", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) max_nprobes: Option<usize>,
    /// Rank this many times k candidates by their exact distance
    #[arg(long, value_name = "N", requires = "nearest", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) refine: Option<usize>,
    /// Search width of HNSW
    #[arg(long, value_name = "N", requires = "nearest", value_parser = at_least_one, allow_negative_numbers = true)]
    pub(crate) ef: Option<usize>,
    /// Distance [default: the index's; without one l2, hamming for u8, cosine for lists of vectors]
    #[arg(long, value_enum, requires = "nearest")]
    pub(crate) metric: Option<Metric>,
    /// Only distances from LO up to, not including, HI; either may be empty
    #[arg(long, value_name = "LO,HI", requires = "nearest", allow_hyphen_values = true)]
    pub(crate) distance_range: Option<DistanceRange>,
    /// Filter after the search instead of before it
    #[arg(long, requires = "nearest")]
    pub(crate) postfilter: bool,
}

/// Distances from the first up to, not including, the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DistanceRange {
    pub(crate) low: Option<f32>,
    pub(crate) high: Option<f32>,
}

impl FromStr for DistanceRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bound = |text: &str| match text.trim() {
            "" => Ok(None),
            text => match text.parse::<f32>() {
                Ok(number) if !number.is_nan() => Ok(Some(number)),
                _ => Err(format!("expected a number, found `{text}`")),
            },
        };
        let (low, high) = text.split_once(',').ok_or("expected `LO,HI`, of which either may be empty")?;
        Ok(DistanceRange { low: bound(low)?, high: bound(high)? })
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err(error.to_string()),
        _ => Err("expected a number of 1 or more".into()),
    }
}

/// How vectors are compared.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Metric {
    L2,
    Cosine,
    Dot,
    Hamming,
}

/// What is told about a query besides its answer.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Print the plan instead of running it
    #[arg(long)]
    pub(crate) explain: bool,
    /// Add time, reads and index use on standard error, as JSON
    #[arg(long)]
    pub(crate) stats: bool,
}

impl QueryArgs {
    /// The first flag given whose feature is not there yet.
    pub(crate) fn waits_for(&self) -> Option<&'static str> {
        first_given(&[("--ef", self.nearest.ef.is_some())])
    }
}

/// Number of rows
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lancet count words.lance")]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub(crate) dataset: DatasetArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Only rows for which this predicate is true
    #[arg(long, value_name = "SQL", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
    /// Ignore every index
    #[arg(long)]
    pub(crate) no_index: bool,
    #[command(flatten)]
    pub(crate) plan: PlanArgs,
}

/// Rows by number or identifier, in the order asked
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lancet take words.lance 691,0,10-12 --columns word")]
pub(crate) struct TakeArgs {
    #[command(flatten)]
    pub(crate) dataset: DatasetArgs,
    /// Rows such as `0,5,10-20`; ranges include both ends
    #[arg(value_name = "ROWS", allow_negative_numbers = true)]
    pub(crate) rows: RowList,
    /// What ROWS are
    #[arg(long, value_enum, default_value = "offset")]
    pub(crate) by: By,
    /// Columns in this order, nested ones with dots [default: all]
    #[arg(long, value_name = "A,B,C.D", value_delimiter = ',')]
    pub(crate) columns: Option<Vec<String>>,
    /// Blob columns as position and size instead of their bytes
    #[arg(long)]
    pub(crate) blob_descriptions: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Everything about one file of a dataset: footer, schema, pages, encodings, buffers
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lancet inspect words.lance/_versions/18446744073709551611.manifest")]
pub(crate) struct InspectArgs {
    /// Data, index, manifest, deletion, transaction, tag or branch file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What names a row.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum By {
    /// Number among the live rows
    Offset,
    /// `_rowid`
    RowId,
    /// `_rowaddr`
    RowAddress,
}

fn first_given(flags: &[(&'static str, bool)]) -> Option<&'static str> {
    flags.iter().find(|(_, given)| *given).map(|(flag, _)| *flag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, error::ErrorKind};

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(line.split(' '))
    }

    #[test]
    fn flags_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        for command in Cli::command().get_subcommands_mut() {
            assert!(command.render_help().to_string().contains("Example:\n  lancet "), "{command}");
        }
    }

    #[test]
    fn the_contract_s_searches() {
        for line in [
            "lancet query d --nearest v --vector [-1,2] -k 3 --nprobes 8 --refine 2 --ef 9 --metric cosine",
            "lancet query d --nearest v --vector row:5 --min-nprobes 1 --max-nprobes 2 --indexed-only",
            "lancet query d --nearest v --vector @q.npy --distance-range=-8.5,-7 --postfilter --filter x>1",
            "lancet query d --nearest v --vector [1] --distance-range -8.5, --no-index --explain --stats",
            "lancet count d --filter -1<x --no-index --explain --stats --version 3 --branch b -o json",
            "lancet take d 0,5,10-20 --by row-id --columns a,b.c --tag t --output csv",
        ] {
            assert!(parse(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn bad_usage() {
        for (line, kind) in [
            ("lancet query d --no-index --indexed-only", ErrorKind::ArgumentConflict),
            ("lancet query d --nearest v", ErrorKind::MissingRequiredArgument),
            ("lancet query d --nearest v --vector [1] -k 0", ErrorKind::ValueValidation),
            ("lancet query d --nearest v --vector [1] -k -3", ErrorKind::ValueValidation),
            ("lancet query d --nearest v --vector [1] --distance-range nan,", ErrorKind::ValueValidation),
            ("lancet query d --nearest v --vector king", ErrorKind::ValueValidation),
            ("lancet query d --nearest v --vector [1] --nprobes 0", ErrorKind::ValueValidation),
            ("lancet query d --nearest v --vector [1] --max-nprobes 0", ErrorKind::ValueValidation),
            ("lancet query d --nearest v --vector [1] --refine 0", ErrorKind::ValueValidation),
            ("lancet query d --metric l2", ErrorKind::MissingRequiredArgument),
            (
                "lancet query d --nearest v --vector [1] --nprobes 1 --min-nprobes 1",
                ErrorKind::ArgumentConflict,
            ),
            ("lancet count d --tag t --version 1", ErrorKind::ArgumentConflict),
            ("lancet count d --tag t --branch b", ErrorKind::ArgumentConflict),
            ("lancet info d --version -1", ErrorKind::ValueValidation),
            ("lancet take d 3-2", ErrorKind::ValueValidation),
            ("lancet take d", ErrorKind::MissingRequiredArgument),
            ("lancet count d -o xml", ErrorKind::InvalidValue),
        ] {
            assert_eq!(parse(line).unwrap_err().kind(), kind, "{line}");
        }
    }
}

//! lancet opens the datasets that Lance and LanceDB write, maps them into memory and reads them, from plain
//! synchronous Rust: no async runtime, no Arrow, no DataFusion.
//!
//! ```no_run
//! # fn main() -> lancet::Result<()> {
//! use lancet::{Dataset, Rows};
//!
//! let dataset = Dataset::open("words.lance")?;
//! println!("{} rows of {}", dataset.count_rows()?, dataset.schema().fields.len());
//!
//! // Some rows by their position, in any order.
//! let projection = dataset.projection(["word", "initial"])?;
//! let rows = dataset.take(Rows::Offsets(&[5, 0, 5]), &projection)?;
//! assert_eq!(rows.len(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! What lies flat in a file is lent where it lies: a vector column of a scan points into the mapping. See
//! [`storage`] for what mapping assumes, and for reading from elsewhere.

mod batch;
mod blobs;
mod cache;
mod database;
mod dataset;
mod error;
pub mod expr;
mod files;
mod filter;
mod fragment;
mod indices;
mod inspect;
mod location;
mod nearest;
mod plan;
mod projection;
mod read;
mod row_ids;
mod scan;
mod segment_files;
pub mod storage;
mod take;
mod verify;
mod versions;

pub use batch::Batch;
pub use cache::CacheUsage;
pub use database::{Consistency, Database, Table};
pub use dataset::{Dataset, OpenOptions};
pub use error::{Error, ErrorKind, Result};
pub use files::Usage;
pub use indices::Index;
pub use inspect::inspect;
pub use lancet_format::{
    Bitmap, Buffer, Column, DataType, Field, Physical, Schema, TimeUnit, Values, describe, table,
};
pub use nearest::{
    IntoVector, Metric, Nearest, Neighbour, Prefilter, SearchParams, SearchScratch, Searched, VectorIndex,
};
pub use plan::IndexUse;
pub use projection::Projection;
pub use scan::{Batches, FragmentPlan, IndexPlan, IntoFilter, Plan, Prepared, Reading, Scan, Stats};
pub use take::Rows;
pub use verify::{Finding, Progress, verify_file};
pub use versions::Version;

/// The example of the README, so that it is compiled with the others.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

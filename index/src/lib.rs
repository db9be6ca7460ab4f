//! Searching the indices of a Lance table: what a query over values becomes in rows, and the nearest neighbours of a
//! vector. Without `std`.
//!
//! | module | holds |
//! |---|---|
//! | [`row_set`] | [`RowSet`]: a set of row ids or addresses, and the algebra of such sets |
//! | [`query`] | [`Query`]: what is asked of an index; [`Answer`]: what comes back, and how far it can be trusted |
//! | [`btree`], [`bitmap`], [`zone_map`], [`bloom_filter`], [`label_list`], [`ngram`] | a search for each kind |
//! | [`ivf`] | vector indices: partitions around centroids |
//! | [`nearest`] | the best of many distances |
//! | [`vector`] | a query vector in the type of its column |
//!
//! The layouts of the files are `lancet_format::index`; this crate decides what to read of them. It knows neither
//! fragments that are gone nor rows that are deleted: the caller takes them out of an answer, or leaves them out of a
//! search.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod bitmap;
pub mod bloom_filter;
pub mod btree;
pub mod ivf;
pub mod label_list;
pub mod nearest;
pub mod ngram;
pub mod query;
pub mod row_set;
pub mod vector;
pub mod zone_map;

pub use lancet_format::{Error, ErrorKind, Result};
pub use query::{Answer, Query};
pub use row_set::RowSet;

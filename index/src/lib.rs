//! Searching indices: sets of rows for a condition, nearest neighbours for a vector. Without `std`.
//!
//! | module | holds |
//! |---|---|
//! | [`ivf`] | vector indices: partitions around centroids |
//! | [`nearest`] | the best of many distances |
//! | [`vector`] | a query vector in the type of its column |
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod ivf;
pub mod nearest;
pub mod vector;

pub use lancet_format::{Error, ErrorKind, Result};

//! Bytes and their meaning: the layouts of every file that a Lance dataset holds.
#![no_std]

extern crate alloc;

mod bitmap;
mod buffer;
mod column;
mod cursor;
mod data_type;
mod error;
pub mod json;
mod proto;
mod schema;
mod source;
pub mod table;

pub use bitmap::Bitmap;
pub use buffer::Buffer;
pub use column::{Column, Values};
pub use data_type::{DataType, Physical, TimeUnit};
pub use error::{Error, ErrorKind, Result};
pub use schema::{Field, Metadata, Schema};
pub use source::{Extent, Source, Window};

pub(crate) use error::ensure;

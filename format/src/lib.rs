//! Bytes and their meaning: the layouts of every file that a Lance dataset holds.
#![no_std]

extern crate alloc;

#[cfg(target_endian = "big")]
compile_error!(
    "lancet uses values where they lie in files, which are little-endian: it has no big-endian build"
);

mod bitmap;
mod blob;
mod buffer;
mod coded;
mod column;
mod compress;
mod container;
mod cursor;
mod data_type;
pub mod describe;
mod error;
mod file;
#[cfg(test)]
mod hostile;
pub mod index;
pub mod json;
mod leaf;
mod lent;
mod order;
mod proto;
#[cfg(test)]
mod sampling;
mod schema;
mod source;
pub mod table;
mod v20;
mod v21;
mod wire;

pub use bitmap::Bitmap;
pub use blob::{BlobFile, BlobFiles, blob_file_name};
pub use buffer::Buffer;
pub use coded::Coded;
pub use column::{Column, Pick, Values};
pub use compress::DEFAULT_MAX_DECOMPRESSED;
pub use container::{Container, FileVersion};
pub use data_type::{DataType, Physical, TimeUnit};
pub use error::{Error, ErrorKind, Result};
pub use file::{ColumnMap, File};
pub use lent::Lent;
pub use order::{Key, KeyValues, Keys, Scalar, has_order};
pub use schema::{Field, Metadata, Schema};
pub use source::{Extent, Source, Window};
pub use v21::ReadRoom;

pub(crate) use error::ensure;

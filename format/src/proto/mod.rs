//! The protobuf messages of the formats, one file per place that they occur in.
//!
//! Field numbers are written here and nowhere else. Scalars that are absent read as zero; unknown fields
//! are skipped; nesting is bounded by `prost` (100 levels).

pub(crate) mod encodings20;
pub(crate) mod encodings21;
mod file;
pub(crate) mod ivf;
pub(crate) mod table;
pub(crate) mod transaction;

pub(crate) use encodings20 as v20;
pub(crate) use encodings21 as v21;
pub(crate) use file::*;

use crate::{Error, Result};
use alloc::format;
use bytes::{Buf, Bytes};
use prost::Message;

/// Decodes the message that lies at byte `offset` of its file; `what` names it in errors.
pub(crate) fn decode<M: Message + Default>(bytes: &[u8], offset: u64, what: &str) -> Result<M> {
    decode_buf(bytes, offset, what)
}

/// Like [`decode`]; the `bytes` fields of the message share the input instead of copying it.
pub(crate) fn decode_shared<M: Message + Default>(bytes: Bytes, offset: u64, what: &str) -> Result<M> {
    decode_buf(bytes, offset, what)
}

fn decode_buf<M: Message + Default>(bytes: impl Buf, offset: u64, what: &str) -> Result<M> {
    M::decode(bytes).map_err(|error| {
        Error::corrupt(format!("{what}: expected a protobuf message, found {error}")).at(offset)
    })
}

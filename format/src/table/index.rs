//! The manifest's index list: one entry for each segment of an index.

use super::{Roaring, check_relative};
use crate::{Error, Result, ensure, proto};
use alloc::{format, string::String, vec::Vec};
use bytes::Bytes;
use core::fmt;
use prost::Message;

/// The name of the index that says where the rows of compacted fragments went.
pub(super) const FRAGMENT_REUSE: &str = "__lance_frag_reuse";
/// The name of the index that lists rows which are not yet in fragments.
const MEM_WAL: &str = "__lance_mem_wal";
/// The most fragments that an index may say it covers. A few bytes can name all there could be, and some uses
/// of the set list them.
const MAX_FRAGMENTS: u64 = 1 << 24;

/// A segment of an index. Segments with one name form one index.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IndexMetadata {
    /// Its folder in `_indices`.
    pub uuid: Uuid,
    /// The ids of the indexed fields; none for indices that the table keeps for itself.
    pub fields: Vec<i32>,
    /// The name of the index, which all its segments share.
    pub name: String,
    /// The table version whose data was indexed.
    pub dataset_version: u64,
    /// The ids of the fragments that it covers, some of which may be gone; `None` if that is not known.
    pub fragments: Option<Roaring>,
    /// The kind of index; `None` in very old tables.
    pub details: Option<IndexDetails>,
    /// The version of the segment's layout; 0 where it is absent.
    pub version: i32,
    /// When it was built, in milliseconds since 1970.
    pub created_at: Option<u64>,
    /// The base that it lies under; `None` is the dataset's own root.
    pub base_id: Option<u32>,
    /// Its files; empty if they are not known.
    pub files: Vec<IndexFile>,
    /// The ids of fields whose values are stored beside the index.
    pub covering_fields: Vec<i32>,
    /// The entry as it stands in the file, with fields that this version of lancet does not know: whoever
    /// writes the next version must carry it as it is.
    pub raw: Bytes,
}

/// The kind of an index and what is particular to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexDetails {
    /// The full name of the message in `value`, after a slash.
    pub type_url: String,
    /// A protobuf message.
    pub value: Bytes,
}

impl IndexDetails {
    /// Whether the message is called `name`, whatever its package and case.
    pub fn is(&self, name: &str) -> bool {
        let found = self.type_url.rsplit(['.', '/']).next().unwrap_or_default();
        found.eq_ignore_ascii_case(name)
    }
}

impl IndexDetails {
    /// The kind of index as Lance calls it: `BTree`, `Bitmap`, `IVF_PQ`, … For vector indices of old tables,
    /// whose details do not tell, `Vector`.
    pub fn kind(&self) -> String {
        let message = self.type_url.rsplit(['.', '/']).next().unwrap_or_default();
        let name = message.strip_suffix("IndexDetails").unwrap_or(message);
        if name != "Vector" {
            return name.into();
        }
        let details = match proto::table::VectorIndexDetails::decode(self.value.clone()) {
            Ok(details) => details,
            Err(_) => return name.into(),
        };
        let hnsw = if details.hnsw.is_some() { "HNSW_" } else { "" };
        let quantizer = match (details.pq, details.sq, details.rq, details.flat) {
            (Some(_), ..) => "PQ",
            (_, Some(_), ..) => "SQ",
            (_, _, Some(_), _) => "RQ",
            (.., Some(_)) => "FLAT",
            (None, None, None, None) => return name.into(),
        };
        format!("IVF_{hnsw}{quantizer}")
    }
}

/// A file of an index segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexFile {
    /// Relative to the segment's folder.
    pub path: String,
    /// The size in bytes, where the manifest says it.
    pub size: Option<u64>,
}

/// The name of an index segment: 16 bytes, shown as hyphenated lower-case hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let hyphen = if matches!(index, 4 | 6 | 8 | 10) { "-" } else { "" };
            write!(f, "{hyphen}{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uuid({self})")
    }
}

impl Uuid {
    pub(super) fn from_proto(message: Option<&proto::table::Uuid>) -> Result<Self> {
        let bytes = message.map(|message| &message.uuid[..]).unwrap_or_default();
        match bytes.try_into() {
            Ok(bytes) => Ok(Uuid(bytes)),
            Err(_) => Err(Error::corrupt(format!("expected a UUID of 16 bytes, found {}", bytes.len()))),
        }
    }
}

impl IndexMetadata {
    /// Whether this is no index of values, but one that the table keeps for itself.
    pub fn is_system(&self) -> bool {
        self.name == FRAGMENT_REUSE || self.name == MEM_WAL
    }

    /// The entry that was decoded from `raw`.
    pub(super) fn from_proto((message, raw): (proto::table::IndexMetadata, Bytes)) -> Result<Self> {
        let name = message.name.clone();
        Self::build(message, raw).map_err(|error| error.within(format!("index `{}`", name.escape_debug())))
    }

    fn build(message: proto::table::IndexMetadata, raw: Bytes) -> Result<Self> {
        let uuid = Uuid::from_proto(message.uuid.as_ref())?;
        let bitmap = message.fragment_bitmap;
        let fragments = if bitmap.is_empty() {
            None
        } else {
            let set = Roaring::parse(&bitmap).map_err(|error| error.within("fragment bitmap"))?;
            ensure!(
                set.len() <= MAX_FRAGMENTS,
                "fragment bitmap: expected fewer fragments, found {}",
                set.len()
            );
            Some(set)
        };
        let file = |file: proto::table::IndexFile| {
            check_relative(&file.path, "index file")?;
            Ok(IndexFile { path: file.path, size: Some(file.size_bytes).filter(|size| *size != 0) })
        };
        let details = message.index_details;
        Ok(IndexMetadata {
            uuid,
            fields: message.fields,
            name: message.name,
            dataset_version: message.dataset_version,
            fragments,
            details: details.map(|any| IndexDetails { type_url: any.type_url, value: any.value }),
            version: message.index_version.unwrap_or(0),
            created_at: message.created_at,
            base_id: message.base_id,
            files: message.files.into_iter().map(file).collect::<Result<_>>()?,
            covering_fields: message.covering_fields,
            raw,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn shows_uuids_and_knows_kinds() {
        let uuid = Uuid(core::array::from_fn(|index| index as u8 * 17));
        assert_eq!(uuid.to_string(), "00112233-4455-6677-8899-aabbccddeeff");
        for type_url in
            ["/lance.table.BTreeIndexDetails", "type.googleapis.com/lance.table.btreeindexdetails"]
        {
            let details = IndexDetails { type_url: type_url.into(), value: Bytes::new() };
            assert!(details.is("BTreeIndexDetails"));
            assert!(!details.is("IndexDetails"));
        }
    }
}

//! Messages of transactions, as far as they tell what a commit did.

use super::table::{BasePath, DataFile, DataFragment, IndexMetadata, Uuid};
use alloc::{collections::BTreeMap, string::String, vec::Vec};

/// What comes before the operation. The operation is a field of its own, with a number from 100 on.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Transaction {
    #[prost(uint64, tag = "1")]
    pub(crate) read_version: u64,
    #[prost(string, tag = "2")]
    pub(crate) uuid: String,
    #[prost(string, tag = "3")]
    pub(crate) tag: String,
    #[prost(btree_map = "string, string", tag = "4")]
    pub(crate) properties: BTreeMap<String, String>,
}

pub(crate) const FIRST_OPERATION: u32 = 100;

/// The field numbers of operations.
pub(crate) mod operation {
    pub(crate) const APPEND: u32 = 100;
    pub(crate) const DELETE: u32 = 101;
    pub(crate) const OVERWRITE: u32 = 102;
    pub(crate) const CREATE_INDEX: u32 = 103;
    pub(crate) const REWRITE: u32 = 104;
    pub(crate) const MERGE: u32 = 105;
    pub(crate) const RESTORE: u32 = 106;
    pub(crate) const RESERVE_FRAGMENTS: u32 = 107;
    pub(crate) const UPDATE: u32 = 108;
    pub(crate) const PROJECT: u32 = 109;
    pub(crate) const UPDATE_CONFIG: u32 = 110;
    pub(crate) const DATA_REPLACEMENT: u32 = 111;
    pub(crate) const UPDATE_MEM_WAL_STATE: u32 = 112;
    pub(crate) const CLONE: u32 = 113;
    pub(crate) const UPDATE_BASES: u32 = 114;
    pub(crate) const DATA_OVERLAY: u32 = 115;
}

/// Append, overwrite and merge: fragments in field 1.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Fragments {
    #[prost(message, repeated, tag = "1")]
    pub(crate) fragments: Vec<DataFragment>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Delete {
    #[prost(message, repeated, tag = "1")]
    pub(crate) updated_fragments: Vec<DataFragment>,
    #[prost(uint64, repeated, tag = "2")]
    pub(crate) deleted_fragment_ids: Vec<u64>,
    #[prost(string, tag = "3")]
    pub(crate) predicate: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CreateIndex {
    #[prost(message, repeated, tag = "1")]
    pub(crate) new_indices: Vec<IndexMetadata>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) removed_indices: Vec<IndexMetadata>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Rewrite {
    #[prost(message, repeated, tag = "3")]
    pub(crate) groups: Vec<RewriteGroup>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) rewritten_indices: Vec<RewrittenIndex>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RewriteGroup {
    #[prost(message, repeated, tag = "1")]
    pub(crate) old_fragments: Vec<DataFragment>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) new_fragments: Vec<DataFragment>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RewrittenIndex {
    #[prost(message, optional, tag = "1")]
    pub(crate) old_id: Option<Uuid>,
    #[prost(message, optional, tag = "2")]
    pub(crate) new_id: Option<Uuid>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Restore {
    #[prost(uint64, tag = "1")]
    pub(crate) version: u64,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct ReserveFragments {
    #[prost(uint32, tag = "1")]
    pub(crate) num_fragments: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Update {
    #[prost(uint64, repeated, tag = "1")]
    pub(crate) removed_fragment_ids: Vec<u64>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) updated_fragments: Vec<DataFragment>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) new_fragments: Vec<DataFragment>,
    #[prost(uint32, repeated, tag = "4")]
    pub(crate) fields_modified: Vec<u32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct UpdateConfig {
    #[prost(message, optional, tag = "6")]
    pub(crate) config: Option<UpdateMap>,
    #[prost(message, optional, tag = "7")]
    pub(crate) table_metadata: Option<UpdateMap>,
    #[prost(message, optional, tag = "8")]
    pub(crate) schema_metadata: Option<UpdateMap>,
    #[prost(btree_map = "int32, message", tag = "9")]
    pub(crate) field_metadata: BTreeMap<i32, UpdateMap>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct UpdateMap {
    #[prost(message, repeated, tag = "1")]
    pub(crate) entries: Vec<UpdateMapEntry>,
    #[prost(bool, tag = "2")]
    pub(crate) replace: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct UpdateMapEntry {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    /// Absent: the key is removed.
    #[prost(string, optional, tag = "2")]
    pub(crate) value: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DataReplacement {
    #[prost(message, repeated, tag = "1")]
    pub(crate) replacements: Vec<ReplacedFile>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ReplacedFile {
    #[prost(uint64, tag = "1")]
    pub(crate) fragment_id: u64,
    #[prost(message, optional, tag = "2")]
    pub(crate) new_file: Option<DataFile>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Clone {
    #[prost(bool, tag = "1")]
    pub(crate) is_shallow: bool,
    #[prost(string, optional, tag = "2")]
    pub(crate) ref_name: Option<String>,
    #[prost(uint64, tag = "3")]
    pub(crate) ref_version: u64,
    #[prost(string, tag = "4")]
    pub(crate) ref_path: String,
    #[prost(string, optional, tag = "5")]
    pub(crate) branch_name: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct UpdateBases {
    #[prost(message, repeated, tag = "1")]
    pub(crate) new_bases: Vec<BasePath>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DataOverlay {
    #[prost(message, repeated, tag = "1")]
    pub(crate) overlays: Vec<FragmentOverlay>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct FragmentOverlay {
    #[prost(uint64, tag = "1")]
    pub(crate) fragment_id: u64,
}

//! Messages of the table: manifests, fragments, index sections.

use super::{Any, Empty, Field};
use crate::{Error, Result};
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use bytes::Bytes;
use prost::encoding::decode_varint;

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Manifest {
    #[prost(message, repeated, tag = "1")]
    pub(crate) fields: Vec<Field>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) fragments: Vec<DataFragment>,
    #[prost(uint64, tag = "3")]
    pub(crate) version: u64,
    /// Unused, zero.
    #[prost(uint64, tag = "4")]
    pub(crate) version_aux_data: u64,
    #[prost(btree_map = "string, bytes", tag = "5")]
    pub(crate) schema_metadata: BTreeMap<String, Vec<u8>>,
    #[prost(uint64, optional, tag = "6")]
    pub(crate) index_section: Option<u64>,
    #[prost(message, optional, tag = "7")]
    pub(crate) timestamp: Option<Timestamp>,
    /// Unused: tags are files of their own.
    #[prost(string, tag = "8")]
    pub(crate) tag: String,
    #[prost(uint64, tag = "9")]
    pub(crate) reader_feature_flags: u64,
    #[prost(uint64, tag = "10")]
    pub(crate) writer_feature_flags: u64,
    #[prost(uint32, optional, tag = "11")]
    pub(crate) max_fragment_id: Option<u32>,
    #[prost(string, tag = "12")]
    pub(crate) transaction_file: String,
    #[prost(message, optional, tag = "13")]
    pub(crate) writer_version: Option<WriterVersion>,
    #[prost(uint64, tag = "14")]
    pub(crate) next_row_id: u64,
    #[prost(message, optional, tag = "15")]
    pub(crate) data_format: Option<DataStorageFormat>,
    #[prost(btree_map = "string, string", tag = "16")]
    pub(crate) config: BTreeMap<String, String>,
    #[prost(message, repeated, tag = "18")]
    pub(crate) base_paths: Vec<BasePath>,
    #[prost(btree_map = "string, string", tag = "19")]
    pub(crate) table_metadata: BTreeMap<String, String>,
    #[prost(string, optional, tag = "20")]
    pub(crate) branch: Option<String>,
    /// Where Lance 9 to 11 put the transaction section.
    #[prost(uint64, optional, tag = "21")]
    pub(crate) transaction_section_before_12: Option<u64>,
    /// Fragments outside the manifest; reserved.
    #[prost(bytes = "bytes", optional, tag = "22")]
    pub(crate) fragment_tree: Option<Bytes>,
    #[prost(uint64, optional, tag = "23")]
    pub(crate) transaction_section: Option<u64>,
    #[prost(int32, optional, tag = "24")]
    pub(crate) max_allocated_field_id: Option<i32>,
    #[prost(bytes = "bytes", repeated, tag = "25")]
    pub(crate) clustering: Vec<Bytes>,
    #[prost(uint32, tag = "26")]
    pub(crate) max_clustering_id: u32,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Timestamp {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(crate) nanos: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct WriterVersion {
    #[prost(string, tag = "1")]
    pub(crate) library: String,
    #[prost(string, tag = "2")]
    pub(crate) version: String,
    #[prost(string, optional, tag = "3")]
    pub(crate) prerelease: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub(crate) build_metadata: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DataStorageFormat {
    #[prost(string, tag = "1")]
    pub(crate) file_format: String,
    #[prost(string, tag = "2")]
    pub(crate) version: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct BasePath {
    #[prost(uint32, tag = "1")]
    pub(crate) id: u32,
    #[prost(string, optional, tag = "2")]
    pub(crate) name: Option<String>,
    #[prost(bool, tag = "3")]
    pub(crate) is_dataset_root: bool,
    #[prost(string, tag = "4")]
    pub(crate) path: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DataFragment {
    #[prost(uint64, tag = "1")]
    pub(crate) id: u64,
    #[prost(message, repeated, tag = "2")]
    pub(crate) files: Vec<DataFile>,
    #[prost(message, optional, tag = "3")]
    pub(crate) deletion_file: Option<DeletionFile>,
    #[prost(uint64, tag = "4")]
    pub(crate) physical_rows: u64,
    #[prost(oneof = "data_fragment::RowIds", tags = "5, 6, 12")]
    pub(crate) row_ids: Option<data_fragment::RowIds>,
    #[prost(oneof = "data_fragment::LastUpdatedAt", tags = "7, 8, 13")]
    pub(crate) last_updated_at: Option<data_fragment::LastUpdatedAt>,
    #[prost(oneof = "data_fragment::CreatedAt", tags = "9, 10, 14")]
    pub(crate) created_at: Option<data_fragment::CreatedAt>,
    /// Column values that replace those of the files; behind a feature flag that is refused.
    #[prost(bytes = "bytes", repeated, tag = "11")]
    pub(crate) overlays: Vec<Bytes>,
}

pub(crate) mod data_fragment {
    use super::*;

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum RowIds {
        #[prost(bytes = "bytes", tag = "5")]
        Inline(Bytes),
        #[prost(message, tag = "6")]
        External(ExternalFile),
        #[prost(message, tag = "12")]
        Column(Empty),
    }

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum LastUpdatedAt {
        #[prost(bytes = "bytes", tag = "7")]
        Inline(Bytes),
        #[prost(message, tag = "8")]
        External(ExternalFile),
        #[prost(message, tag = "13")]
        Column(Empty),
    }

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum CreatedAt {
        #[prost(bytes = "bytes", tag = "9")]
        Inline(Bytes),
        #[prost(message, tag = "10")]
        External(ExternalFile),
        #[prost(message, tag = "14")]
        Column(Empty),
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ExternalFile {
    #[prost(string, tag = "1")]
    pub(crate) path: String,
    #[prost(uint64, tag = "2")]
    pub(crate) offset: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) size: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DataFile {
    #[prost(string, tag = "1")]
    pub(crate) path: String,
    /// Packed `int32`s, see [`unpack`]: most data files of a table have the same, which is quicker seen
    /// in the bytes.
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub(crate) fields: Vec<Bytes>,
    /// Packed `int32`s.
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub(crate) column_indices: Vec<Bytes>,
    #[prost(uint32, tag = "4")]
    pub(crate) file_major_version: u32,
    #[prost(uint32, tag = "5")]
    pub(crate) file_minor_version: u32,
    #[prost(uint64, tag = "6")]
    pub(crate) file_size_bytes: u64,
    #[prost(uint32, optional, tag = "7")]
    pub(crate) base_id: Option<u32>,
}

/// The numbers of a packed field, which a writer may give in several parts.
pub(crate) fn unpack(parts: &[Bytes]) -> Result<Vec<i32>> {
    let mut numbers = Vec::new();
    for part in parts {
        let mut part = &part[..];
        while !part.is_empty() {
            let number = decode_varint(&mut part)
                .map_err(|error| Error::corrupt(format!("expected packed numbers, found {error}")))?;
            // Negative numbers are written with all 64 bits.
            numbers.push(number as i32);
        }
    }
    Ok(numbers)
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DeletionFile {
    /// 0 is Arrow, 1 is a bitmap.
    #[prost(int32, tag = "1")]
    pub(crate) file_type: i32,
    #[prost(uint64, tag = "2")]
    pub(crate) read_version: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) id: u64,
    #[prost(uint64, tag = "4")]
    pub(crate) num_deleted_rows: u64,
    #[prost(uint32, optional, tag = "7")]
    pub(crate) base_id: Option<u32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct IndexSection {
    #[prost(message, repeated, tag = "1")]
    pub(crate) indices: Vec<IndexMetadata>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct IndexMetadata {
    #[prost(message, optional, tag = "1")]
    pub(crate) uuid: Option<Uuid>,
    #[prost(int32, repeated, tag = "2")]
    pub(crate) fields: Vec<i32>,
    #[prost(string, tag = "3")]
    pub(crate) name: String,
    #[prost(uint64, tag = "4")]
    pub(crate) dataset_version: u64,
    #[prost(bytes = "bytes", tag = "5")]
    pub(crate) fragment_bitmap: Bytes,
    #[prost(message, optional, tag = "6")]
    pub(crate) index_details: Option<Any>,
    #[prost(int32, optional, tag = "7")]
    pub(crate) index_version: Option<i32>,
    #[prost(uint64, optional, tag = "8")]
    pub(crate) created_at: Option<u64>,
    #[prost(uint32, optional, tag = "9")]
    pub(crate) base_id: Option<u32>,
    #[prost(message, repeated, tag = "10")]
    pub(crate) files: Vec<IndexFile>,
    #[prost(int32, repeated, tag = "11")]
    pub(crate) covering_fields: Vec<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Uuid {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) uuid: Bytes,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct IndexFile {
    #[prost(string, tag = "1")]
    pub(crate) path: String,
    #[prost(uint64, tag = "2")]
    pub(crate) size_bytes: u64,
}

/// The stable ids of a fragment's rows.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RowIdSequence {
    #[prost(message, repeated, tag = "1")]
    pub(crate) segments: Vec<U64Segment>,
}

/// A version for each row of a fragment.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RowVersionSequence {
    #[prost(message, repeated, tag = "1")]
    pub(crate) runs: Vec<RowVersionRun>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RowVersionRun {
    /// Only its length counts.
    #[prost(message, optional, tag = "1")]
    pub(crate) span: Option<U64Segment>,
    #[prost(uint64, tag = "2")]
    pub(crate) version: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct U64Segment {
    #[prost(oneof = "u64_segment::Kind", tags = "1, 2, 3, 4, 5")]
    pub(crate) kind: Option<u64_segment::Kind>,
}

pub(crate) mod u64_segment {
    use super::*;

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum Kind {
        #[prost(message, tag = "1")]
        Range(Range),
        #[prost(message, tag = "2")]
        RangeWithHoles(RangeWithHoles),
        #[prost(message, tag = "3")]
        RangeWithBitmap(RangeWithBitmap),
        #[prost(message, tag = "4")]
        SortedArray(EncodedU64Array),
        #[prost(message, tag = "5")]
        Array(EncodedU64Array),
    }

    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub(crate) struct Range {
        #[prost(uint64, tag = "1")]
        pub(crate) start: u64,
        #[prost(uint64, tag = "2")]
        pub(crate) end: u64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct RangeWithHoles {
        #[prost(uint64, tag = "1")]
        pub(crate) start: u64,
        #[prost(uint64, tag = "2")]
        pub(crate) end: u64,
        #[prost(message, optional, tag = "3")]
        pub(crate) holes: Option<EncodedU64Array>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct RangeWithBitmap {
        #[prost(uint64, tag = "1")]
        pub(crate) start: u64,
        #[prost(uint64, tag = "2")]
        pub(crate) end: u64,
        #[prost(bytes = "bytes", tag = "3")]
        pub(crate) bitmap: Bytes,
    }
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct EncodedU64Array {
    #[prost(oneof = "encoded_u64_array::Kind", tags = "1, 2, 3")]
    pub(crate) kind: Option<encoded_u64_array::Kind>,
}

pub(crate) mod encoded_u64_array {
    use super::*;

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum Kind {
        #[prost(message, tag = "1")]
        U16(Offsets),
        #[prost(message, tag = "2")]
        U32(Offsets),
        #[prost(message, tag = "3")]
        U64(Values),
    }

    /// Little-endian distances from a base.
    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Offsets {
        #[prost(uint64, tag = "1")]
        pub(crate) base: u64,
        #[prost(bytes = "bytes", tag = "2")]
        pub(crate) offsets: Bytes,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Values {
        #[prost(bytes = "bytes", tag = "2")]
        pub(crate) values: Bytes,
    }
}

/// Where the rows of compacted fragments went.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FragmentReuseIndexDetails {
    #[prost(oneof = "fragment_reuse::Content", tags = "1, 2")]
    pub(crate) content: Option<fragment_reuse::Content>,
}

pub(crate) mod fragment_reuse {
    use super::*;

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum Content {
        #[prost(message, tag = "1")]
        Inline(InlineContent),
        #[prost(message, tag = "2")]
        External(ExternalFile),
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct InlineContent {
        #[prost(message, repeated, tag = "1")]
        pub(crate) versions: Vec<Version>,
        /// Another form of the same; behind a feature flag that is refused.
        #[prost(bytes = "bytes", repeated, tag = "2")]
        pub(crate) transitions: Vec<Bytes>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Version {
        #[prost(uint64, tag = "1")]
        pub(crate) dataset_version: u64,
        #[prost(message, repeated, tag = "3")]
        pub(crate) groups: Vec<Group>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Group {
        #[prost(bytes = "bytes", tag = "1")]
        pub(crate) changed_row_addrs: Bytes,
        #[prost(message, repeated, tag = "2")]
        pub(crate) old_fragments: Vec<Digest>,
        #[prost(message, repeated, tag = "3")]
        pub(crate) new_fragments: Vec<Digest>,
    }

    #[derive(Clone, Copy, PartialEq, prost::Message)]
    pub(crate) struct Digest {
        #[prost(uint64, tag = "1")]
        pub(crate) id: u64,
        #[prost(uint64, tag = "2")]
        pub(crate) physical_rows: u64,
        #[prost(uint64, tag = "3")]
        pub(crate) num_deleted_rows: u64,
    }
}

/// What a vector index is made of. The members of its choice are read as options of their own: one at most
/// is there.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct VectorIndexDetails {
    #[prost(message, optional, tag = "3")]
    pub(crate) hnsw: Option<super::Empty>,
    #[prost(message, optional, tag = "4")]
    pub(crate) pq: Option<super::Empty>,
    #[prost(message, optional, tag = "5")]
    pub(crate) sq: Option<super::Empty>,
    #[prost(message, optional, tag = "6")]
    pub(crate) rq: Option<super::Empty>,
    #[prost(message, optional, tag = "8")]
    pub(crate) flat: Option<super::Empty>,
}

/// Facts about a zone map.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ZoneMapIndexDetails {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) rows_per_zone: Option<u64>,
    #[prost(bool, optional, tag = "2")]
    pub(crate) use_seeds: Option<bool>,
    #[prost(bool, optional, tag = "3")]
    pub(crate) has_null_bitmap: Option<bool>,
}

/// How an inverted index makes words of a text.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct InvertedIndexDetails {
    #[prost(string, optional, tag = "1")]
    pub(crate) base_tokenizer: Option<String>,
    #[prost(string, tag = "2")]
    pub(crate) language: String,
    #[prost(bool, tag = "3")]
    pub(crate) with_position: bool,
    #[prost(uint32, optional, tag = "4")]
    pub(crate) max_token_length: Option<u32>,
    #[prost(bool, tag = "5")]
    pub(crate) lower_case: bool,
    #[prost(bool, tag = "6")]
    pub(crate) stem: bool,
    #[prost(bool, tag = "7")]
    pub(crate) remove_stop_words: bool,
    #[prost(bool, tag = "8")]
    pub(crate) ascii_folding: bool,
    #[prost(uint32, optional, tag = "12")]
    pub(crate) block_size: Option<u32>,
}

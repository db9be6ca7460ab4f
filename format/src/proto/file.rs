//! Messages of the file container: schema, column metadata, pages.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

/// Global buffer 0: the schema and the number of rows.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FileDescriptor {
    #[prost(message, optional, tag = "1")]
    pub(crate) schema: Option<Schema>,
    #[prost(uint64, tag = "2")]
    pub(crate) length: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Schema {
    #[prost(message, repeated, tag = "1")]
    pub(crate) fields: Vec<Field>,
    #[prost(btree_map = "string, bytes", tag = "5")]
    pub(crate) metadata: BTreeMap<String, Vec<u8>>,
}

/// A field of a schema, in files and in manifests alike. The numbers 1 (always 0) and 7, 8 (hints of the
/// legacy format) are not read.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Field {
    #[prost(string, tag = "2")]
    pub(crate) name: String,
    #[prost(int32, tag = "3")]
    pub(crate) id: i32,
    #[prost(int32, tag = "4")]
    pub(crate) parent_id: i32,
    #[prost(string, tag = "5")]
    pub(crate) logical_type: String,
    #[prost(bool, tag = "6")]
    pub(crate) nullable: bool,
    #[prost(btree_map = "string, bytes", tag = "10")]
    pub(crate) metadata: BTreeMap<String, Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ColumnMetadata {
    #[prost(message, optional, tag = "1")]
    pub(crate) encoding: Option<Encoding>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) pages: Vec<Page>,
    #[prost(uint64, repeated, tag = "3")]
    pub(crate) buffer_offsets: Vec<u64>,
    #[prost(uint64, repeated, tag = "4")]
    pub(crate) buffer_sizes: Vec<u64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Page {
    #[prost(uint64, repeated, tag = "1")]
    pub(crate) buffer_offsets: Vec<u64>,
    #[prost(uint64, repeated, tag = "2")]
    pub(crate) buffer_sizes: Vec<u64>,
    #[prost(uint64, tag = "3")]
    pub(crate) length: u64,
    #[prost(message, optional, tag = "4")]
    pub(crate) encoding: Option<Encoding>,
    #[prost(uint64, tag = "5")]
    pub(crate) priority: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Encoding {
    #[prost(oneof = "encoding::Location", tags = "1, 2, 3")]
    pub(crate) location: Option<encoding::Location>,
}

pub(crate) mod encoding {
    use super::*;

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum Location {
        #[prost(message, tag = "1")]
        Indirect(Indirect),
        #[prost(message, tag = "2")]
        Direct(Direct),
        #[prost(message, tag = "3")]
        None(Empty),
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Indirect {
        #[prost(uint64, tag = "1")]
        pub(crate) location: u64,
        #[prost(uint64, tag = "2")]
        pub(crate) length: u64,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Direct {
        #[prost(bytes = "bytes", tag = "1")]
        pub(crate) encoding: bytes::Bytes,
    }
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Empty {}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Any {
    #[prost(string, tag = "1")]
    pub(crate) type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) value: bytes::Bytes,
}

/// Column-level encoding, in every file version.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ColumnEncoding {
    #[prost(oneof = "column_encoding::Kind", tags = "1, 2, 3")]
    pub(crate) kind: Option<column_encoding::Kind>,
}

pub(crate) mod column_encoding {
    use super::*;
    use alloc::boxed::Box;

    #[derive(Clone, PartialEq, prost::Oneof)]
    pub(crate) enum Kind {
        #[prost(message, tag = "1")]
        Values(Empty),
        #[prost(message, tag = "2")]
        ZoneIndex(Empty),
        #[prost(message, tag = "3")]
        Blob(Box<Blob>),
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(crate) struct Blob {
        #[prost(message, optional, boxed, tag = "1")]
        pub(crate) inner: Option<Box<ColumnEncoding>>,
    }
}

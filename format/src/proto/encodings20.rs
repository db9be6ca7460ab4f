//! Messages of file version 2.0: array encodings.

use super::Empty;
use alloc::{boxed::Box, string::String, vec::Vec};

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ArrayEncoding {
    #[prost(oneof = "Array", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13")]
    pub(crate) array: Option<Array>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Array {
    #[prost(message, tag = "1")]
    Flat(Flat),
    #[prost(message, tag = "2")]
    Nullable(Box<Nullable>),
    #[prost(message, tag = "3")]
    FixedSizeList(Box<FixedSizeList>),
    #[prost(message, tag = "4")]
    List(Box<List>),
    #[prost(message, tag = "5")]
    Struct(Empty),
    #[prost(message, tag = "6")]
    Binary(Box<Binary>),
    #[prost(message, tag = "7")]
    Dictionary(Box<Dictionary>),
    #[prost(message, tag = "8")]
    Fsst(Box<Fsst>),
    #[prost(message, tag = "9")]
    PackedStruct(PackedStruct),
    #[prost(message, tag = "10")]
    Bitpacked(Bitpacked),
    #[prost(message, tag = "11")]
    FixedSizeBinary(Box<FixedSizeBinary>),
    #[prost(message, tag = "12")]
    BitpackedForNonNeg(Bitpacked),
    #[prost(message, tag = "13")]
    Constant(Empty),
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Buffer {
    #[prost(uint32, tag = "1")]
    pub(crate) buffer_index: u32,
    /// 0 page, 1 column, 2 file.
    #[prost(int32, tag = "2")]
    pub(crate) buffer_type: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Compression {
    #[prost(string, tag = "1")]
    pub(crate) scheme: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Flat {
    #[prost(uint64, tag = "1")]
    pub(crate) bits_per_value: u64,
    #[prost(message, optional, tag = "2")]
    pub(crate) buffer: Option<Buffer>,
    #[prost(message, optional, tag = "3")]
    pub(crate) compression: Option<Compression>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Nullable {
    #[prost(oneof = "Nullability", tags = "1, 2, 3")]
    pub(crate) nullability: Option<Nullability>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
#[allow(clippy::enum_variant_names, reason = "the names of the message's own fields")]
pub(crate) enum Nullability {
    #[prost(message, tag = "1")]
    NoNulls(Box<NoNulls>),
    #[prost(message, tag = "2")]
    SomeNulls(Box<SomeNulls>),
    #[prost(message, tag = "3")]
    AllNulls(Empty),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct NoNulls {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) values: Option<Box<ArrayEncoding>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SomeNulls {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) validity: Option<Box<ArrayEncoding>>,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) values: Option<Box<ArrayEncoding>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FixedSizeList {
    #[prost(uint32, tag = "1")]
    pub(crate) dimension: u32,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) items: Option<Box<ArrayEncoding>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct List {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) offsets: Option<Box<ArrayEncoding>>,
    #[prost(uint64, tag = "2")]
    pub(crate) null_offset_adjustment: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) num_items: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Binary {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) indices: Option<Box<ArrayEncoding>>,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) bytes: Option<Box<ArrayEncoding>>,
    #[prost(uint64, tag = "3")]
    pub(crate) null_adjustment: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Dictionary {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) indices: Option<Box<ArrayEncoding>>,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) items: Option<Box<ArrayEncoding>>,
    #[prost(uint32, tag = "3")]
    pub(crate) num_dictionary_items: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Fsst {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) binary: Option<Box<ArrayEncoding>>,
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) symbol_table: bytes::Bytes,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PackedStruct {
    #[prost(message, repeated, tag = "1")]
    pub(crate) inner: Vec<ArrayEncoding>,
    #[prost(message, optional, tag = "2")]
    pub(crate) buffer: Option<Buffer>,
}

/// Both bit-packed forms; `signed` belongs to the first only.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Bitpacked {
    #[prost(uint64, tag = "1")]
    pub(crate) compressed_bits_per_value: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) uncompressed_bits_per_value: u64,
    #[prost(message, optional, tag = "3")]
    pub(crate) buffer: Option<Buffer>,
    #[prost(bool, tag = "4")]
    pub(crate) signed: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FixedSizeBinary {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) bytes: Option<Box<ArrayEncoding>>,
    #[prost(uint32, tag = "2")]
    pub(crate) byte_width: u32,
}

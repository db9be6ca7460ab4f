//! Messages of file versions 2.1 and 2.2: page layouts and compressive encodings.

use super::Empty;
use alloc::{boxed::Box, vec::Vec};

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PageLayout {
    #[prost(oneof = "Layout", tags = "1, 2, 3, 4, 5")]
    pub(crate) layout: Option<Layout>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Layout {
    #[prost(message, tag = "1")]
    MiniBlock(Box<MiniBlock>),
    #[prost(message, tag = "2")]
    Constant(Constant),
    #[prost(message, tag = "3")]
    FullZip(Box<FullZip>),
    #[prost(message, tag = "4")]
    Blob(Box<Blob>),
    #[prost(message, tag = "5")]
    Sparse(Empty),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MiniBlock {
    #[prost(message, optional, tag = "1")]
    pub(crate) rep_compression: Option<Compressive>,
    #[prost(message, optional, tag = "2")]
    pub(crate) def_compression: Option<Compressive>,
    #[prost(message, optional, tag = "3")]
    pub(crate) value_compression: Option<Compressive>,
    #[prost(message, optional, tag = "4")]
    pub(crate) dictionary: Option<Compressive>,
    #[prost(uint64, tag = "5")]
    pub(crate) num_dictionary_items: u64,
    #[prost(int32, repeated, tag = "6")]
    pub(crate) layers: Vec<i32>,
    #[prost(uint64, tag = "7")]
    pub(crate) num_buffers: u64,
    #[prost(uint32, tag = "8")]
    pub(crate) repetition_index_depth: u32,
    #[prost(uint64, tag = "9")]
    pub(crate) num_items: u64,
    #[prost(bool, tag = "10")]
    pub(crate) has_large_chunk: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Constant {
    #[prost(int32, repeated, tag = "5")]
    pub(crate) layers: Vec<i32>,
    #[prost(bytes = "bytes", optional, tag = "6")]
    pub(crate) inline_value: Option<bytes::Bytes>,
    #[prost(message, optional, tag = "7")]
    pub(crate) rep_compression: Option<Compressive>,
    #[prost(message, optional, tag = "8")]
    pub(crate) def_compression: Option<Compressive>,
    #[prost(uint64, tag = "9")]
    pub(crate) num_rep_values: u64,
    #[prost(uint64, tag = "10")]
    pub(crate) num_def_values: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FullZip {
    #[prost(uint32, tag = "1")]
    pub(crate) bits_rep: u32,
    #[prost(uint32, tag = "2")]
    pub(crate) bits_def: u32,
    #[prost(oneof = "ZipWidth", tags = "3, 4")]
    pub(crate) width: Option<ZipWidth>,
    #[prost(uint32, tag = "5")]
    pub(crate) num_items: u32,
    #[prost(uint32, tag = "6")]
    pub(crate) num_visible_items: u32,
    #[prost(message, optional, tag = "7")]
    pub(crate) value_compression: Option<Compressive>,
    #[prost(int32, repeated, tag = "8")]
    pub(crate) layers: Vec<i32>,
}

#[derive(Clone, Copy, PartialEq, prost::Oneof)]
pub(crate) enum ZipWidth {
    #[prost(uint32, tag = "3")]
    BitsPerValue(u32),
    #[prost(uint32, tag = "4")]
    BitsPerOffset(u32),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Blob {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) inner: Option<Box<PageLayout>>,
    #[prost(int32, repeated, tag = "2")]
    pub(crate) layers: Vec<i32>,
}

/// `CompressiveEncoding`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Compressive {
    #[prost(oneof = "Compression", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13")]
    pub(crate) compression: Option<Compression>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Compression {
    #[prost(message, tag = "1")]
    Flat(Flat),
    #[prost(message, tag = "2")]
    Variable(Box<Variable>),
    #[prost(message, tag = "3")]
    Constant(ConstantValue),
    #[prost(message, tag = "4")]
    OutOfLineBitpacking(Box<OutOfLineBitpacking>),
    #[prost(message, tag = "5")]
    InlineBitpacking(InlineBitpacking),
    #[prost(message, tag = "6")]
    Fsst(Box<Fsst>),
    #[prost(message, tag = "7")]
    Dictionary(Empty),
    #[prost(message, tag = "8")]
    Rle(Box<Rle>),
    #[prost(message, tag = "9")]
    ByteStreamSplit(Box<ByteStreamSplit>),
    #[prost(message, tag = "10")]
    General(Box<General>),
    #[prost(message, tag = "11")]
    FixedSizeList(Box<FixedSizeList>),
    #[prost(message, tag = "12")]
    PackedStruct(Box<PackedStruct>),
    #[prost(message, tag = "13")]
    VariablePackedStruct(VariablePackedStruct),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Flat {
    #[prost(uint64, tag = "1")]
    pub(crate) bits_per_value: u64,
    #[prost(message, optional, tag = "2")]
    pub(crate) data: Option<BufferCompression>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Variable {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) offsets: Option<Box<Compressive>>,
    #[prost(message, optional, tag = "2")]
    pub(crate) values: Option<BufferCompression>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ConstantValue {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub(crate) value: Option<bytes::Bytes>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct OutOfLineBitpacking {
    #[prost(uint64, tag = "1")]
    pub(crate) uncompressed_bits_per_value: u64,
    #[prost(message, optional, boxed, tag = "3")]
    pub(crate) values: Option<Box<Compressive>>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct InlineBitpacking {
    #[prost(uint64, tag = "1")]
    pub(crate) uncompressed_bits_per_value: u64,
    #[prost(message, optional, tag = "2")]
    pub(crate) values: Option<BufferCompression>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Fsst {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) symbol_table: bytes::Bytes,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) values: Option<Box<Compressive>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Rle {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) values: Option<Box<Compressive>>,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) run_lengths: Option<Box<Compressive>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ByteStreamSplit {
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) values: Option<Box<Compressive>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct General {
    #[prost(message, optional, tag = "1")]
    pub(crate) compression: Option<BufferCompression>,
    #[prost(message, optional, boxed, tag = "3")]
    pub(crate) values: Option<Box<Compressive>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FixedSizeList {
    #[prost(uint64, tag = "1")]
    pub(crate) items_per_value: u64,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) values: Option<Box<Compressive>>,
    #[prost(bool, tag = "3")]
    pub(crate) has_validity: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PackedStruct {
    #[prost(uint64, repeated, tag = "1")]
    pub(crate) bits_per_value: Vec<u64>,
    #[prost(message, optional, boxed, tag = "2")]
    pub(crate) values: Option<Box<Compressive>>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct VariablePackedStruct {
    #[prost(message, repeated, tag = "1")]
    pub(crate) fields: Vec<PackedField>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PackedField {
    #[prost(message, optional, tag = "1")]
    pub(crate) value: Option<Compressive>,
    #[prost(oneof = "PackedWidth", tags = "2, 3")]
    pub(crate) width: Option<PackedWidth>,
}

#[derive(Clone, Copy, PartialEq, prost::Oneof)]
pub(crate) enum PackedWidth {
    #[prost(uint64, tag = "2")]
    BitsPerValue(u64),
    #[prost(uint64, tag = "3")]
    BitsPerLength(u64),
}

/// 1 is lz4, 2 is zstd; the level is only a hint to writers.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct BufferCompression {
    #[prost(int32, tag = "1")]
    pub(crate) scheme: i32,
}

//! Messages in the global buffers of a vector index.

use alloc::vec::Vec;
use bytes::Bytes;

/// The partitions of an index, and in its first file their centroids.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Ivf {
    /// What very old files have instead of a tensor.
    #[prost(float, repeated, tag = "1")]
    pub(crate) centroids: Vec<f32>,
    /// The first row of each partition; absent where they follow one another.
    #[prost(uint64, repeated, tag = "2")]
    pub(crate) offsets: Vec<u64>,
    /// The rows of each partition.
    #[prost(uint32, repeated, tag = "3")]
    pub(crate) lengths: Vec<u32>,
    #[prost(message, optional, tag = "4")]
    pub(crate) centroids_tensor: Option<Tensor>,
    #[prost(double, optional, tag = "5")]
    pub(crate) loss: Option<f64>,
}

/// Numbers in rows, little-endian.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Tensor {
    /// 0 bf16, 1 f16, 2 f32, 3 f64, 4 u8, 5 u16, 6 u32, 7 u64.
    #[prost(uint32, tag = "1")]
    pub(crate) data_type: u32,
    #[prost(uint32, repeated, tag = "2")]
    pub(crate) shape: Vec<u32>,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) data: Bytes,
}

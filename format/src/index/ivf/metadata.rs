//! What the metadata of the two files says: kind, metric, quantizer.
//!
//! ```text
//! index.idx       lance:index        {"type":"IVF_PQ","distance_type":"l2"}
//!                 lance:ivf          "1", the global buffer of the centroids
//!                 lance:flat         ["", …], a text for each partition; or lance:hnsw, a graph's JSON for each
//! auxiliary.idx   distance_type      l2
//!                 lance:ivf          "1", the global buffer of the partitions
//!                 storage_metadata   ["{…}"], a JSON text about the quantizer
//! ```

use crate::{Error, Result, ensure, json::Value};
use alloc::{format, string::String, vec::Vec};
use core::fmt;

/// How vectors are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Metric {
    /// The sum of squared differences.
    L2,
    /// 1 − the cosine of the angle between them.
    Cosine,
    /// 1 − their inner product.
    Dot,
    /// The number of bits that differ.
    Hamming,
}

impl Metric {
    /// The metric called `name`, in any case.
    ///
    /// # Errors
    /// Unsupported if there is no such metric.
    pub fn parse(name: &str) -> Result<Self> {
        Ok(match &*name.to_lowercase() {
            "l2" | "euclidean" => Metric::L2,
            "cosine" => Metric::Cosine,
            "dot" => Metric::Dot,
            "hamming" => Metric::Hamming,
            _ => {
                return Err(Error::unsupported(format!(
                    "expected the metric l2, cosine, dot or hamming, found `{}`",
                    name.escape_debug()
                )));
            }
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Metric::L2 => "l2",
            Metric::Cosine => "cosine",
            Metric::Dot => "dot",
            Metric::Hamming => "hamming",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How the rows of a partition are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubIndex {
    /// By looking at all of them.
    Flat,
    /// By walking a graph.
    Hnsw,
}

/// How the vectors of an index are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Storage {
    /// As they are; unit vectors under cosine.
    Flat,
    /// As numbers of codewords, one for each part of the vector.
    Product {
        /// Bits of a code: 4 or 8.
        bits: u32,
        /// Parts of a vector.
        parts: usize,
        /// Whether byte `j` of all rows of a partition lies together, before byte `j + 1`.
        transposed: bool,
    },
    /// A byte for each number, from `start` to `end`.
    Scalar {
        /// The number that code 0 stands for.
        start: f64,
        /// The number that code 255 stands for.
        end: f64,
    },
    /// As signs of a rotated vector, and more bits behind them. Recognised, not searched.
    Rabit {
        /// Bits of a number.
        bits: u32,
    },
}

impl Storage {
    fn name(&self) -> &'static str {
        match self {
            Storage::Flat => "FLAT",
            Storage::Product { .. } => "PQ",
            Storage::Scalar { .. } => "SQ",
            Storage::Rabit { .. } => "RQ",
        }
    }
}

/// The kind of an index, `IVF_PQ` say.
pub(super) fn kind_name(sub_index: SubIndex, storage: &Storage) -> String {
    match sub_index {
        SubIndex::Flat => format!("IVF_{}", storage.name()),
        SubIndex::Hnsw => format!("IVF_HNSW_{}", storage.name()),
    }
}

/// `lance:index`.
#[derive(Debug)]
pub(super) struct IndexType {
    pub(super) name: String,
    pub(super) sub_index: SubIndex,
    pub(super) metric: Metric,
}

impl IndexType {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let value = Value::parse(text.as_bytes())?;
        let name = value.member("type", "a text", Value::as_str)?.unwrap_or_default();
        let metric = value.member("distance_type", "a text", Value::as_str)?.unwrap_or_default();
        let known = ["IVF_FLAT", "IVF_PQ", "IVF_SQ", "IVF_RQ", "IVF_HNSW_FLAT", "IVF_HNSW_PQ", "IVF_HNSW_SQ"];
        if !known.contains(&name) {
            return Err(Error::unsupported(format!(
                "expected a kind of vector index such as IVF_PQ, found `{}`",
                name.escape_debug()
            )));
        }
        let sub_index = if name.contains("HNSW") { SubIndex::Hnsw } else { SubIndex::Flat };
        Ok(IndexType { name: name.into(), sub_index, metric: Metric::parse(metric)? })
    }
}

/// Checks that a JSON array has one text for each of `partitions`.
pub(super) fn check_partition_texts(text: &str, partitions: usize) -> Result<()> {
    let value = Value::parse(text.as_bytes())?;
    let count = value.as_array().map(<[_]>::len);
    ensure!(
        count == Some(partitions),
        "expected an array of {partitions} texts, one for each partition, found {count:?}"
    );
    Ok(())
}

/// `storage_metadata`.
#[derive(Debug)]
pub(super) struct StorageMetadata {
    pub(super) storage: Storage,
    /// The dimension of the vectors, where it is said.
    pub(super) dimension: Option<usize>,
    /// The global buffer of the codewords, or the tensor itself in very old files.
    pub(super) codebook: Option<Codebook>,
}

#[derive(Debug)]
pub(super) enum Codebook {
    Buffer(u32),
    Bytes(Vec<u8>),
}

impl StorageMetadata {
    /// `kind` is the name of the index.
    pub(super) fn parse(text: &str, kind: &str) -> Result<Self> {
        let outer = Value::parse(text.as_bytes())?;
        let Some([Value::Text(inner)]) = outer.as_array() else {
            return Err(Error::corrupt("expected an array of one text"));
        };
        let value = Value::parse(inner.as_bytes())?;
        let number = |name: &str| -> Result<Option<u64>> { value.member(name, "a number", Value::as_u64) };
        let required = |name: &str| -> Result<u64> {
            number(name)?.ok_or_else(|| Error::corrupt(format!("expected a member `{name}`")))
        };
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let plain = |storage, dimension| StorageMetadata { storage, dimension, codebook: None };
        Ok(match kind.rsplit('_').next() {
            Some("FLAT") => plain(Storage::Flat, Some(size(required("dim")?))),
            Some("SQ") => {
                let bits = required("num_bits")?;
                if bits != 8 {
                    return Err(Error::unsupported(format!(
                        "scalar quantization of {bits} bits, expected 8"
                    )));
                }
                let bound = |name: &str| {
                    let bounds = value.get("bounds");
                    bounds.and_then(|bounds| bounds.get(name)).and_then(Value::as_f64)
                };
                let (Some(start), Some(end)) = (bound("start"), bound("end")) else {
                    return Err(Error::corrupt("expected members `bounds.start` and `bounds.end`"));
                };
                ensure!(
                    start.is_finite() && end.is_finite() && start <= end,
                    "expected finite ascending bounds, found {start} and {end}"
                );
                plain(Storage::Scalar { start, end }, Some(size(required("dim")?)))
            }
            Some("PQ") => {
                let (bits, parts) = (required("nbits")?, size(required("num_sub_vectors")?));
                let dimension = size(required("dimension")?);
                ensure!(matches!(bits, 4 | 8), "expected codes of 4 or 8 bits, found {bits}");
                ensure!(
                    parts > 0 && dimension % parts == 0,
                    "expected a dimension that is a multiple of the sub-vectors, found {dimension} and {parts}"
                );
                ensure!(bits == 8 || parts % 2 == 0, "expected an even number of 4-bit codes, found {parts}");
                let transposed =
                    value.member("transposed", "true or false", Value::as_bool)?.unwrap_or(false);
                let codebook = match required("codebook_position")? {
                    0 => Codebook::Bytes(bytes(&value, "codebook_tensor")?),
                    position => Codebook::Buffer(u32::try_from(position).unwrap_or(u32::MAX)),
                };
                StorageMetadata {
                    storage: Storage::Product { bits: bits as u32, parts, transposed },
                    dimension: Some(dimension),
                    codebook: Some(codebook),
                }
            }
            _ => {
                let bits = required("num_bits")?;
                ensure!((1..=9).contains(&bits), "expected 1 to 9 bits, found {bits}");
                plain(Storage::Rabit { bits: bits as u32 }, None)
            }
        })
    }
}

/// An array of bytes.
fn bytes(value: &Value<'_>, name: &str) -> Result<Vec<u8>> {
    let byte = |value: &Value<'_>| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
    let all = |value: &Value<'_>| value.as_array()?.iter().map(byte).collect::<Option<Vec<u8>>>();
    let found = value.member(name, "an array of bytes", all)?;
    found.ok_or_else(|| Error::corrupt(format!("expected a member `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_files_say() {
        let kind = IndexType::parse(r#"{"type":"IVF_HNSW_SQ","distance_type":"L2"}"#).unwrap();
        assert_eq!((kind.sub_index, kind.metric), (SubIndex::Hnsw, Metric::L2));
        let text = r#"["{\"codebook_position\":2,\"nbits\":4,\"num_sub_vectors\":8,\"dimension\":32,\"codebook_tensor\":[],\"transposed\":true}"]"#;
        let found = StorageMetadata::parse(text, "IVF_PQ").unwrap();
        assert_eq!(found.storage, Storage::Product { bits: 4, parts: 8, transposed: true });
        assert_eq!(found.dimension, Some(32));
        let text = r#"["{\"dim\":32,\"num_bits\":8,\"bounds\":{\"start\":-9.25,\"end\":7.5}}"]"#;
        let found = StorageMetadata::parse(text, "IVF_HNSW_SQ").unwrap();
        assert_eq!(found.storage, Storage::Scalar { start: -9.25, end: 7.5 });
    }

    #[test]
    fn what_is_refused() {
        for text in [r#"{"type":"IVF_XX","distance_type":"l2"}"#, r#"{"type":"IVF_PQ"}"#, "[]", "{"] {
            assert!(IndexType::parse(text).is_err(), "{text}");
        }
        for (inner, kind) in [
            (r#"{"dim":32,"num_bits":4,"bounds":{"start":0,"end":1}}"#, "IVF_SQ"),
            (r#"{"dim":32,"num_bits":8,"bounds":{"start":1,"end":0}}"#, "IVF_SQ"),
            (r#"{"dim":32,"num_bits":8,"bounds":{"start":0,"end":1e999}}"#, "IVF_SQ"),
            (r#"{"codebook_position":2,"nbits":5,"num_sub_vectors":8,"dimension":32}"#, "IVF_PQ"),
            (r#"{"codebook_position":2,"nbits":8,"num_sub_vectors":0,"dimension":32}"#, "IVF_PQ"),
            (r#"{"codebook_position":2,"nbits":8,"num_sub_vectors":5,"dimension":32}"#, "IVF_PQ"),
            (r#"{"codebook_position":2,"nbits":4,"num_sub_vectors":1,"dimension":32}"#, "IVF_PQ"),
            (
                r#"{"codebook_position":0,"nbits":8,"num_sub_vectors":8,"dimension":32,"codebook_tensor":[256]}"#,
                "IVF_PQ",
            ),
            (r#"{"num_bits":10}"#, "IVF_RQ"),
            ("{}", "IVF_FLAT"),
        ] {
            let text = format!("[\"{}\"]", inner.replace('"', "\\\""));
            assert!(StorageMetadata::parse(&text, kind).is_err(), "{text}");
        }
    }
}

//! [`IvfIndex`]: a segment of a vector index, centroids and the vectors of each partition.
//!
//! ```text
//! index.idx       metadata · global buffer: IVF message with centroids (partitions × dimension)
//!                 columns: the graph of each partition, or none
//! auxiliary.idx   metadata · global buffer: IVF message with the rows of each partition
//!                            global buffer: codewords, for product quantization
//!                 _rowid                    u64
//!                 flat                      list of d numbers          vectors as they are
//!                 __pq_code | __sq_code     list of bytes              codes
//! ```
//!
//! A partition is a run of rows of `auxiliary.idx`, in no order of row ids. Tables are checked when the files are
//! opened; what a partition holds is checked when it is read.

mod metadata;
mod tensor;

pub use metadata::{Metric, Storage, SubIndex};
pub use tensor::Tensor;

use super::{IndexFiles, files::IndexFile};
use crate::{Buffer, Column, DataType, Error, Field, Result, ensure, proto};
use alloc::{format, string::String, sync::Arc, vec, vec::Vec};
use core::ops::Range;
use metadata::{Codebook, IndexType, StorageMetadata, check_partition_texts};

/// The file of centroids and graphs.
const INDEX: &str = "index.idx";
/// The file of row ids and vectors.
const AUXILIARY: &str = "auxiliary.idx";

/// An opened segment.
#[derive(Debug)]
pub struct IvfIndex {
    metric: Metric,
    sub_index: SubIndex,
    storage: Storage,
    centroids: Tensor,
    codebook: Option<Tensor>,
    loss: Option<f64>,
    partitions: Vec<Range<u64>>,
    auxiliary: IndexFile,
    row_ids: Arc<Field>,
    /// The column of vectors or codes; absent for what is recognised only.
    codes: Option<Arc<Field>>,
}

impl IvfIndex {
    /// Opens the two files of a segment and checks what they say of one another.
    ///
    /// # Errors
    /// Corrupt or unsupported, naming the file; legacy indices (before Lance's third layout) are unsupported.
    pub fn open(files: &dyn IndexFiles) -> Result<Self> {
        let index = IndexFile::open(files, INDEX)?;
        let kind = index.required("lance:index").and_then(|text| {
            index.check(IndexType::parse(text).map_err(|error| error.within("metadata `lance:index`")))
        })?;
        let ivf = read_ivf(&index)?;
        let centroids = index.check(centroids(&ivf).map_err(|error| error.within("centroids")))?;
        let texts = match kind.sub_index {
            SubIndex::Flat => "lance:flat",
            SubIndex::Hnsw => "lance:hnsw",
        };
        let text = index.required(texts)?;
        index.check(
            check_partition_texts(text, centroids.rows())
                .map_err(|error| error.within(format!("metadata `{texts}`"))),
        )?;

        let auxiliary = IndexFile::open(files, AUXILIARY)?;
        let metric = auxiliary.required("distance_type")?;
        let metric = auxiliary.check(Metric::parse(metric))?;
        let stored = auxiliary.required("storage_metadata").and_then(|text| {
            let parsed = StorageMetadata::parse(text, &kind.name);
            auxiliary.check(parsed.map_err(|error| error.within("metadata `storage_metadata`")))
        })?;
        let partitions = read_ivf(&auxiliary)?;
        let partitions = auxiliary.check(partition_rows(&partitions, centroids.rows(), auxiliary.rows()))?;
        let dimension = centroids.columns();
        let check = |metric: Metric| {
            ensure!(
                metric == kind.metric,
                "expected the metric {}, as in {INDEX}, found {metric}",
                kind.metric
            );
            ensure!(
                stored.dimension.is_none_or(|own| own == dimension),
                "expected vectors of {dimension} numbers, as the centroids have, found {:?}",
                stored.dimension
            );
            Ok(())
        };
        auxiliary.check(check(metric))?;
        let codebook = match &stored.codebook {
            None => None,
            Some(codebook) => Some(read_codebook(&auxiliary, codebook, &stored.storage, &centroids)?),
        };
        let row_ids = auxiliary.field_of("_rowid", &DataType::UInt64)?;
        let codes = codes_field(&auxiliary, &stored.storage, &centroids)?;
        Ok(IvfIndex {
            metric,
            sub_index: kind.sub_index,
            storage: stored.storage,
            centroids,
            codebook,
            loss: ivf.loss,
            partitions,
            auxiliary,
            row_ids,
            codes,
        })
    }

    /// The name of the kind, `IVF_PQ` say.
    pub fn kind(&self) -> String {
        metadata::kind_name(self.sub_index, &self.storage)
    }

    /// How vectors are compared.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// How the rows of a partition are found.
    pub fn sub_index(&self) -> SubIndex {
        self.sub_index
    }

    /// How vectors are stored.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The numbers of a vector; the bytes of one under the metric hamming.
    pub fn dimension(&self) -> usize {
        self.centroids.columns()
    }

    /// The centroid of each partition, a row each, of the type of the indexed column.
    pub fn centroids(&self) -> &Tensor {
        &self.centroids
    }

    /// The codewords of product quantization: for each part of a vector as many as a code has values, each of
    /// dimension ÷ parts numbers, end to end.
    pub fn codebook(&self) -> Option<&Tensor> {
        self.codebook.as_ref()
    }

    /// The sum of the distances of all rows to their centroids, as the builder told it.
    pub fn loss(&self) -> Option<f64> {
        self.loss
    }

    /// The number of rows, deleted ones included.
    pub fn rows(&self) -> u64 {
        self.auxiliary.rows()
    }

    /// The rows of each partition in `auxiliary.idx`; some are empty.
    pub fn partitions(&self) -> &[Range<u64>] {
        &self.partitions
    }

    /// The row ids of a partition.
    ///
    /// # Errors
    /// Corrupt if the file is damaged there.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn row_ids(&self, partition: usize) -> Result<Column> {
        self.auxiliary.read_numbers(&self.row_ids, self.partitions[partition].clone(), None)
    }

    /// The bytes of a row of vectors or codes.
    pub fn row_bytes(&self) -> usize {
        self.codes.as_ref().map_or(0, |field| field.data_type.value_bytes() as usize)
    }

    /// The vectors or codes of a partition, [`row_bytes`](Self::row_bytes) a row end to end, in order and in as many
    /// pieces as it takes to use the file's bytes where they lie. Transposed codes come in one piece.
    ///
    /// # Errors
    /// Corrupt if the file is damaged there, unsupported for storage that is recognised only.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn codes(&self, partition: usize) -> Result<Vec<Buffer>> {
        let Some(field) = &self.codes else {
            return Err(Error::unsupported(format!("{} is not searched", self.kind())));
        };
        let rows = self.partitions[partition].clone();
        let codes = match self.storage {
            Storage::Product { .. } => self.auxiliary.read_fixed(field, rows).map(|codes| vec![codes]),
            _ => self.auxiliary.read_pieces(field, rows),
        };
        codes.map_err(|error| error.within(format!("partition {partition}")))
    }
}

/// The message in the global buffer that `lance:ivf` names.
fn read_ivf(file: &IndexFile) -> Result<proto::ivf::Ivf> {
    file.required("lance:ivf")?;
    file.message_of_buffer(file.number("lance:ivf", 0)?, "IVF message")
}

fn centroids(ivf: &proto::ivf::Ivf) -> Result<Tensor> {
    let tensor = match &ivf.centroids_tensor {
        Some(tensor) => Tensor::parse(tensor)?,
        None => Tensor::of_floats(&ivf.centroids, ivf.lengths.len())?,
    };
    let (rows, lengths) = (tensor.rows(), ivf.lengths.len());
    ensure!(rows == lengths, "expected as many as partitions, {lengths}, found {rows}");
    Ok(tensor)
}

/// The rows of each partition, within the file.
fn partition_rows(ivf: &proto::ivf::Ivf, partitions: usize, rows: u64) -> Result<Vec<Range<u64>>> {
    let lengths = &ivf.lengths;
    ensure!(
        lengths.len() == partitions,
        "expected {partitions} partitions, as {INDEX} has, found {}",
        lengths.len()
    );
    ensure!(
        ivf.offsets.is_empty() || ivf.offsets.len() == partitions,
        "expected {partitions} partition offsets, found {}",
        ivf.offsets.len()
    );
    let mut next = 0u64;
    let range = |(partition, &length): (usize, &u32)| {
        let start = ivf.offsets.get(partition).copied().unwrap_or(next);
        let end = start.checked_add(length.into()).filter(|&end| end <= rows);
        next = end.unwrap_or_default();
        match end {
            Some(end) => Ok(start..end),
            None => Err(Error::corrupt(format!(
                "partition {partition}: expected rows below {rows}, found {length} from row {start} on"
            ))),
        }
    };
    let partitions: Vec<Range<u64>> = lengths.iter().enumerate().map(range).collect::<Result<_>>()?;
    // Partitions that shared rows would fill memory with copies of them.
    let count = lengths.iter().map(|&length| u64::from(length)).sum::<u64>();
    ensure!(count <= rows, "expected partitions of {rows} rows together, found {count}");
    Ok(partitions)
}

fn read_codebook(
    file: &IndexFile,
    codebook: &Codebook,
    storage: &Storage,
    centroids: &Tensor,
) -> Result<Tensor> {
    let message = match codebook {
        Codebook::Buffer(position) => file.message_of_buffer(*position, "codebook")?,
        Codebook::Bytes(bytes) => file.check(proto::decode(bytes, 0, "codebook"))?,
    };
    let check = |tensor: Tensor| {
        let Storage::Product { bits, .. } = storage else { return Ok(tensor) };
        let expected = (1usize << bits).checked_mul(centroids.columns());
        ensure!(
            tensor.rows().checked_mul(tensor.columns()) == expected && tensor.item() == centroids.item(),
            "expected {} codewords of {} numbers of type {}, found {} × {} of type {}",
            1 << bits,
            centroids.columns(),
            centroids.item(),
            tensor.rows(),
            tensor.columns(),
            tensor.item()
        );
        Ok(tensor)
    };
    file.check(Tensor::parse(&message).and_then(check).map_err(|error| error.within("codebook")))
}

/// The column of vectors or codes, whose type must fit.
fn codes_field(file: &IndexFile, storage: &Storage, centroids: &Tensor) -> Result<Option<Arc<Field>>> {
    let dimension = centroids.columns();
    let (name, item, length) = match *storage {
        Storage::Flat => ("flat", centroids.item(), dimension),
        Storage::Product { bits, parts, .. } => ("__pq_code", &DataType::UInt8, parts * bits as usize / 8),
        Storage::Scalar { .. } => ("__sq_code", &DataType::UInt8, dimension),
        Storage::Rabit { .. } => return Ok(None),
    };
    let field = file.field(name)?;
    let fits = matches!(&field.data_type,
        DataType::FixedSizeList(own, own_length) if own.data_type == *item && *own_length as usize == length);
    if !fits {
        return file.check(Err(Error::corrupt(format!(
            "column `{name}`: expected lists of {length} items of type {item}, found {}",
            field.data_type
        ))));
    }
    Ok(Some(field))
}

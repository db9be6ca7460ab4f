//! [`Ivf`]: a segment of a vector index, searched partition by partition.
//!
//! ```text
//! query ──▶ rank: distance to each centroid ──▶ probe: a partition, nearest first ──▶ Collector
//!                                                 flat     distances to the vectors themselves
//!                                                 product  a table for the partition, sums of its entries
//!                                                 scalar   the query's codes against the rows' codes
//! ```
//!
//! What a partition holds is read and checked by [`Ivf::read`]; the caller keeps it, for it is the same for every query.
//! All storages give distances on one scale: squared L2, 1 − cosine, 1 − product, or differing bits; coded ones give estimates of them.

mod block;
mod flat;
mod partition;
mod product;
mod scalar;

use crate::{Error, Result, nearest::Collector, vector::Vector};
use alloc::{format, vec::Vec};
use block::{Block, BlockScratch};
use lancet_format::index::{IndexFiles, IvfIndex, Metric as FileMetric, Storage, SubIndex};
use lancet_kernels::{
    codes,
    distance::Metric,
    mask,
    select::{self, TopK},
};
pub use partition::Partition;

/// Rows that are scanned at a time: their distances stay in the cache until they are compared.
const BLOCK_ROWS: usize = 1024;

/// Rows of the first block where no row was found yet that others could be compared with. Each block after it is twice as
/// long: of rows in any order, each then has about as many that are nearer than all before.
const FIRST_ROWS: usize = 64;

/// Which rows of a partition may be returned.
pub trait RowFilter {
    /// Sets bit `i` of `mask` if the row with id `row_ids[i]` may be returned, and unsets it if not. The mask has
    /// room for all of them.
    fn keep(&self, row_ids: &[u64], mask: &mut [u64]);
}

/// A segment that can be searched.
#[derive(Debug)]
pub struct Ivf {
    file: IvfIndex,
    metric: Metric,
    codes: Codes,
}

/// What is needed to compare a query with stored vectors.
#[derive(Debug)]
enum Codes {
    Flat,
    Product(product::Quantizer),
    Scalar(scalar::Quantizer),
}

/// Room that searches use one after the other.
#[derive(Debug, Default)]
pub struct Scratch {
    ranking: Vec<f32>,
    ranked: Vec<(f32, u32)>,
    nearest: TopK,
    mask: Vec<u64>,
    block: BlockScratch,
    product: product::Scratch,
    scalar: scalar::Scratch,
    /// Where the codes lie that were asked for last.
    prefetched: Option<usize>,
}

/// A query for one column, its vector brought into the form that an index compares.
#[derive(Debug, Clone)]
pub struct Query {
    vector: Vector,
}

impl Default for Query {
    fn default() -> Self {
        Query { vector: Vector::Float32(Vec::new()) }
    }
}

impl Ivf {
    /// Opens the files of a segment.
    ///
    /// # Errors
    /// Those of [`IvfIndex::open`], and unsupported for kinds that are not searched.
    pub fn open(files: &dyn IndexFiles) -> Result<Self> {
        let file = IvfIndex::open(files)?;
        if file.sub_index() == SubIndex::Hnsw {
            return Err(Error::unsupported(format!("indices of kind {} are not searched yet", file.kind())));
        }
        let codes = match *file.storage() {
            Storage::Flat => Codes::Flat,
            Storage::Product { .. } => Codes::Product(product::Quantizer::new(&file)?),
            Storage::Scalar { start, end } => Codes::Scalar(scalar::Quantizer::new(start, end)),
            _ => {
                return Err(Error::unsupported(format!(
                    "indices of kind {} are not searched yet",
                    file.kind()
                )));
            }
        };
        let metric = kernel_metric(file.metric())?;
        Ok(Ivf { file, metric, codes })
    }

    /// What the files say.
    pub fn file(&self) -> &IvfIndex {
        &self.file
    }

    /// How vectors are compared.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Whether distances are estimates, made from codes.
    pub fn is_quantized(&self) -> bool {
        !matches!(self.codes, Codes::Flat)
    }

    /// The number of partitions.
    pub fn partitions(&self) -> usize {
        self.file.partitions().len()
    }

    /// Reads partition `number`.
    ///
    /// # Errors
    /// Corrupt if it is damaged in the file.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn read(&self, number: usize) -> Result<Partition> {
        Partition::read(&self.file, number)
    }

    /// Brings a vector of the column's type into the form that this index compares.
    ///
    /// # Errors
    /// Invalid input if its dimension or type is another, or if its type does not fit the metric.
    pub fn query(&self, vector: &Vector) -> Result<Query> {
        let mut query = Query::default();
        self.prepare(vector, &mut query)?;
        Ok(query)
    }

    /// As [`query`](Self::query), into a query whose room is used again.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub fn prepare(&self, vector: &Vector, query: &mut Query) -> Result<()> {
        let dimension = self.file.dimension();
        if vector.len() != dimension {
            return Err(Error::invalid_input(format!(
                "query vector: expected {dimension} numbers, found {}",
                vector.len()
            )));
        }
        flat::check_type(vector, self.file.centroids().item())?;
        if !vector.fits(self.metric) {
            return Err(Error::invalid_input("the metric hamming compares vectors of bytes (uint8)"));
        }
        query.vector.assign(vector);
        if self.metric == Metric::Cosine {
            query.vector.normalise();
        }
        Ok(())
    }

    /// Ranks the partitions, for [`Scratch::ranked`]: the `count` with the nearest centroids.
    pub fn rank(&self, query: &Query, count: usize, scratch: &mut Scratch) {
        let metric = match self.metric {
            // Centroids and query are unit vectors.
            Metric::Cosine => Metric::L2,
            other => other,
        };
        scratch.ranking.resize(self.partitions(), 0.0);
        flat::distances(&query.vector, metric, self.file.centroids(), &mut scratch.ranking);
        scratch.ranked.clear();
        let nearest = select::smallest(&scratch.ranking, count, &mut scratch.nearest);
        scratch.ranked.extend(nearest.map(|hit| (hit.distance, hit.id as u32)));
        // Distances that are no numbers come last.
        let rest = scratch.ranking.iter().zip(0..).filter(|(distance, _)| distance.is_nan());
        let missing = count.saturating_sub(scratch.ranked.len());
        scratch.ranked.extend(rest.map(|(&distance, number)| (distance, number)).take(missing));
    }

    /// Searches partition `number`, which is `partition`.
    ///
    /// # Errors
    /// Corrupt if it does not hold what the query is compared with.
    pub fn probe(
        &self,
        query: &Query,
        number: usize,
        partition: &Partition,
        filter: Option<&dyn RowFilter>,
        scratch: &mut Scratch,
        found: &mut dyn Collector,
    ) -> Result<()> {
        if !scratch.keep(filter, partition.row_ids())
            || filter.is_some() && self.scan_few(query, number, partition, scratch, found)
        {
            return Ok(());
        }
        self.prepare_codes(query, number, partition, scratch);
        self.scan(query, partition, filter.is_some(), scratch, found)
    }

    /// Makes ready what codes of partition `number`, which is `partition`, are compared with.
    fn prepare_codes(&self, query: &Query, number: usize, partition: &Partition, scratch: &mut Scratch) {
        match &self.codes {
            Codes::Flat => {}
            Codes::Product(quantizer) => {
                // Of queries that visit a partition one after the other, the first one asks for its codes.
                let codes = partition.codes();
                if scratch.prefetched.replace(codes.as_ptr().addr()) != Some(codes.as_ptr().addr()) {
                    codes::prefetch(codes);
                }
                let centroids = self.file.centroids();
                quantizer.prepare(&query.vector, centroids, number, self.metric, &mut scratch.product);
            }
            Codes::Scalar(quantizer) => quantizer.prepare(&query.vector, self.metric, &mut scratch.scalar),
        }
    }

    /// Searches the rows of partition `number` that are in the scratch's mask, if they are so few that what makes many fast
    /// does not pay; whether they were.
    fn scan_few(
        &self,
        query: &Query,
        number: usize,
        partition: &Partition,
        scratch: &mut Scratch,
        found: &mut dyn Collector,
    ) -> bool {
        let Codes::Product(quantizer) = &self.codes else { return false };
        let Scratch { mask, block: room, product, .. } = scratch;
        if mask::count(mask) > quantizer.few() {
            return false;
        }
        let rows = 0..partition.row_ids().len();
        let block = Block { rows, kept: Some(mask), threshold: found.threshold() };
        room.clear();
        quantizer.scan_few(&query.vector, &self.file, number, self.metric, partition, &block, product, room);
        room.offer(partition.row_ids(), found);
        true
    }

    /// Searches all rows of the partition that the scratch was prepared for, or those in its mask.
    fn scan(
        &self,
        query: &Query,
        partition: &Partition,
        is_masked: bool,
        scratch: &mut Scratch,
        found: &mut dyn Collector,
    ) -> Result<()> {
        let rows = partition.row_ids().len();
        let Scratch { mask, block: room, product, scalar, .. } = scratch;
        let mask = is_masked.then_some(&mask[..]);
        let mut start = 0;
        let mut most = if found.threshold().is_finite() { BLOCK_ROWS } else { FIRST_ROWS };
        while start < rows {
            let threshold = found.threshold();
            let end = rows.min(start + most);
            let kept = mask.map(|mask| &mask[start / 64..end.div_ceil(64)]);
            let block = Block { rows: start..end, kept, threshold };
            start = end;
            most = BLOCK_ROWS.min(most * 2);
            if kept.is_some_and(|words| words.iter().all(|&word| word == 0)) {
                continue;
            }
            room.clear();
            match &self.codes {
                Codes::Flat => flat::scan(&query.vector, self.metric, partition, &block, room)?,
                Codes::Product(quantizer) => quantizer.scan(partition.codes(), rows, &block, product, room),
                Codes::Scalar(quantizer) => quantizer.scan(partition, &block, scalar, room),
            }
            room.offer(partition.row_ids(), found);
        }
        Ok(())
    }
}

impl Scratch {
    /// Writes the mask of the rows that a filter keeps; whether there is any.
    fn keep(&mut self, filter: Option<&dyn RowFilter>, row_ids: &[u64]) -> bool {
        let Some(filter) = filter else { return true };
        self.mask.clear();
        self.mask.resize(row_ids.len().div_ceil(64), 0);
        filter.keep(row_ids, &mut self.mask);
        if let Some(last) = self.mask.last_mut() {
            *last &= !0 >> (row_ids.len().wrapping_neg() % 64);
        }
        mask::any(&self.mask)
    }

    /// The distances and numbers of the partitions that [`Ivf::rank`] found, the nearest first.
    pub fn ranked(&self) -> &[(f32, u32)] {
        &self.ranked
    }
}

/// The kernels' name of a metric.
///
/// # Errors
/// Unsupported if there are no kernels for it.
pub fn kernel_metric(metric: FileMetric) -> Result<Metric> {
    Ok(match metric {
        FileMetric::L2 => Metric::L2,
        FileMetric::Cosine => Metric::Cosine,
        FileMetric::Dot => Metric::Dot,
        FileMetric::Hamming => Metric::Hamming,
        other => return Err(Error::unsupported(format!("the metric {other} is not computed"))),
    })
}

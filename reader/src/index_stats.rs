//! [`IndexStats`]: figures of an index, from its metadata and tables of contents.

use crate::{Dataset, Error, Index, Result, indices, segment_files::SegmentFiles};
pub use lancet_format::index::IdDomain;
use lancet_format::{
    Column, DataType, Key,
    index::{
        BTreeIndex, BitmapIndex, BloomFilterIndex, IndexKind, InvertedDetails, IvfIndex, LabelListIndex,
        NGramIndex, Storage, SubIndex, ZoneMapIndex,
    },
    table::{IndexMetadata, Uuid},
};

/// Figures of an index; see [`Dataset::index_stats`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IndexStats {
    /// What the manifest says, its segments in the order of `segments`.
    pub index: Index,
    /// Of each segment.
    pub segments: Vec<SegmentStats>,
}

/// Figures of a segment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SegmentStats {
    /// Its folder in `_indices`.
    pub uuid: Uuid,
    /// The version of its layout.
    pub version: i32,
    /// How many fragments it covers, those that are gone among them; `None` if the manifest does not say.
    pub fragments: Option<u64>,
    /// The sizes of its files together, where the manifest says them.
    pub bytes: Option<u64>,
    /// What is particular to its kind.
    pub figures: Figures,
}

/// Figures of a segment by the kind of its index.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Figures {
    /// Partitions of vectors.
    Vector(VectorFigures),
    /// Values in order.
    BTree {
        /// Whether rows are named by id or by address.
        domain: IdDomain,
        /// Pages of values.
        pages: usize,
        /// The most values of a page.
        batch_size: u64,
        /// All values, NULLs included.
        values: u64,
        /// How many are NULL.
        nulls: u64,
        /// The least and the greatest value, a column of one row each; `None` without values.
        bounds: Option<(Column, Column)>,
    },
    /// A set of rows for each value.
    Bitmap {
        /// Distinct values, NULL apart.
        keys: usize,
        /// Whether some row is NULL.
        has_nulls: bool,
        /// The least and the greatest value, a column of one row each; `None` without values.
        bounds: Option<(Column, Column)>,
    },
    /// A set of rows for each element of lists.
    LabelList {
        /// Distinct elements, NULL apart.
        labels: usize,
        /// Whether it tells which lists are NULL.
        has_null_bitmap: bool,
    },
    /// Bounds of values for each run of rows.
    ZoneMap {
        /// Runs of rows.
        zones: usize,
        /// Rows of a run when it was cut.
        rows_per_zone: u64,
        /// Whether it knows each NULL row.
        has_null_bitmap: bool,
    },
    /// A Bloom filter for each run of rows.
    BloomFilter {
        /// Runs of rows.
        zones: usize,
        /// Rows of a run when it was cut.
        rows_per_zone: u64,
        /// How often a filter holds what is not there, as it was planned.
        probability: f64,
        /// Whether it knows each NULL row.
        has_null_bitmap: bool,
    },
    /// A set of rows for each three letters.
    NGram {
        /// Distinct sequences of three letters, that of texts without one among them.
        tokens: usize,
    },
    /// Documents for each word.
    Inverted(InvertedDetails),
    /// A kind that lancet does not read.
    Other,
}

/// Figures of a segment of a vector index.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct VectorFigures {
    /// The kind, `IVF_PQ` say.
    pub kind: String,
    /// How vectors are compared.
    pub metric: lancet_format::index::Metric,
    /// Whether partitions have graphs.
    pub sub_index: SubIndex,
    /// How vectors are stored.
    pub storage: Storage,
    /// The numbers of a vector.
    pub dimension: usize,
    /// The type of these numbers.
    pub item: DataType,
    /// Rows of all partitions.
    pub rows: u64,
    /// Rows of each partition.
    pub lengths: Lengths,
    /// The sum of the distances of all rows to their centroids, as the builder told it.
    pub loss: Option<f64>,
}

/// How many rows partitions have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lengths {
    /// How many partitions there are.
    pub count: usize,
    /// The rows of the smallest.
    pub min: u64,
    /// Half of the partitions have no more rows.
    pub p50: u64,
    /// 95 of 100 have no more.
    pub p95: u64,
    /// The rows of the largest.
    pub max: u64,
    /// Partitions without rows.
    pub empty: usize,
}

impl Lengths {
    fn of(mut lengths: Vec<u64>) -> Self {
        lengths.sort_unstable();
        // The least length that so many of a hundred do not exceed.
        let percentile = |percent: usize| {
            let rank = (lengths.len() * percent).div_ceil(100).max(1);
            lengths.get(rank - 1).copied().unwrap_or_default()
        };
        Lengths {
            count: lengths.len(),
            min: lengths.first().copied().unwrap_or_default(),
            p50: percentile(50),
            p95: percentile(95),
            max: lengths.last().copied().unwrap_or_default(),
            empty: lengths.partition_point(|&length| length == 0),
        }
    }
}

/// The most names of other indices in an error.
const SHOWN: usize = 10;

/// See [`Dataset::index_stats`].
pub(crate) fn of_index(dataset: &Dataset, name: &str) -> Result<IndexStats> {
    let mut indices = indices::list(dataset)?;
    let Some(found) = indices.iter().position(|index| index.name == name) else {
        let names: Vec<_> = indices.iter().take(SHOWN).map(|index| format!("`{}`", index.name)).collect();
        let (has, more) = (names.join(", "), if indices.len() > SHOWN { ", …" } else { "" });
        let has = if indices.is_empty() { "none" } else { &has };
        return Err(Error::invalid_input(format!("the dataset has no index `{name}`; it has {has}{more}")));
    };
    let index = indices.swap_remove(found);
    let segments = index.segments.iter().map(|entry| of_segment(dataset, entry)).collect::<Result<_>>()?;
    Ok(IndexStats { index, segments })
}

fn of_segment(dataset: &Dataset, entry: &IndexMetadata) -> Result<SegmentStats> {
    let path = format!("{}/_indices/{}", dataset.folder(), entry.uuid);
    let sizes = entry.files.iter().try_fold(0u64, |sum, file| sum.checked_add(file.size?));
    Ok(SegmentStats {
        uuid: entry.uuid,
        version: entry.version,
        fragments: entry.fragments.as_ref().map(|covered| covered.iter().count() as u64),
        bytes: sizes.filter(|_| !entry.files.is_empty()),
        figures: figures(dataset, entry).map_err(|error| Error::index(path, error))?,
    })
}

fn figures(dataset: &Dataset, entry: &IndexMetadata) -> lancet_format::Result<Figures> {
    let files = SegmentFiles::new(dataset, entry);
    if entry.details.as_ref().is_some_and(|details| details.is("VectorIndexDetails")) {
        return Ok(Figures::Vector(vector(&IvfIndex::open(&files)?)));
    }
    let kind = match IndexKind::of(entry)? {
        Some(kind) => kind,
        None => {
            let path = entry.fields.first().and_then(|&id| dataset.schema().path_to(id));
            let of_lists = path
                .as_ref()
                .and_then(|path| path.last())
                .is_some_and(|field| matches!(field.data_type, DataType::List(_) | DataType::LargeList(_)));
            IndexKind::of_files(entry.files.iter().map(|file| &*file.path), of_lists)
        }
    };
    Ok(match kind {
        IndexKind::BTree(domain) => {
            let index = BTreeIndex::open(&files)?;
            Figures::BTree {
                domain,
                pages: index.num_pages(),
                batch_size: index.batch_size(),
                values: index.num_rows(),
                nulls: index.num_nulls(),
                bounds: btree_bounds(&index)?,
            }
        }
        IndexKind::Bitmap => {
            let index = BitmapIndex::open(&files)?;
            Figures::Bitmap {
                keys: index.num_keys(),
                has_nulls: index.num_null_sets() > 0,
                bounds: match index.num_keys() {
                    0 => None,
                    keys => bounds(index.data_type(), index.key(0), index.key(keys - 1)),
                },
            }
        }
        IndexKind::LabelList { .. } => {
            let index = LabelListIndex::open(&files)?;
            Figures::LabelList {
                labels: index.elements().num_keys(),
                has_null_bitmap: index.null_lists().is_some(),
            }
        }
        IndexKind::ZoneMap(_) => {
            let index = ZoneMapIndex::open(&files)?;
            Figures::ZoneMap {
                zones: index.zones().len(),
                rows_per_zone: index.rows_per_zone(),
                has_null_bitmap: index.null_rows().is_some(),
            }
        }
        IndexKind::BloomFilter => {
            let index = BloomFilterIndex::open(&files)?;
            Figures::BloomFilter {
                zones: index.zones().len(),
                rows_per_zone: index.items(),
                probability: index.probability(),
                has_null_bitmap: index.null_rows().is_some(),
            }
        }
        IndexKind::NGram => Figures::NGram { tokens: NGramIndex::open(&files)?.tokens().len() },
        IndexKind::Inverted(details) => Figures::Inverted(details),
        _ => Figures::Other,
    })
}

fn vector(index: &IvfIndex) -> VectorFigures {
    VectorFigures {
        kind: index.kind(),
        metric: index.metric(),
        sub_index: index.sub_index(),
        storage: *index.storage(),
        dimension: index.dimension(),
        item: index.centroids().item().clone(),
        rows: index.rows(),
        lengths: Lengths::of(index.partitions().iter().map(|rows| rows.end - rows.start).collect()),
        loss: index.loss(),
    }
}

/// The least and the greatest value. Where the first of them shares its page with NULLs, that page is read.
fn btree_bounds(index: &BTreeIndex) -> lancet_format::Result<Option<(Column, Column)>> {
    let (nulls, rows, pages) = (index.num_nulls(), index.num_rows(), index.num_pages());
    if nulls == rows {
        return Ok(None);
    }
    let first = index.page_of(nulls);
    let (values, row);
    let min = match index.min().get(first) {
        Some(min) => Some(min),
        None => {
            values = index.read_page(first, None)?;
            row = (nulls - index.page_rows(first).start) as usize;
            values.key(row)
        }
    };
    let max = index.max().get(pages - 1);
    Ok(min.zip(max).and_then(|(min, max)| bounds(index.data_type(), min, max)))
}

fn bounds(data_type: &DataType, min: Key<'_>, max: Key<'_>) -> Option<(Column, Column)> {
    min.to_column(data_type).zip(max.to_column(data_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_lengths() {
        let lengths = Lengths::of((0..100).rev().collect());
        assert_eq!((lengths.count, lengths.min, lengths.p50, lengths.p95), (100, 0, 49, 94));
        assert_eq!((lengths.max, lengths.empty), (99, 1));
        assert_eq!(Lengths::of(vec![7]), Lengths { count: 1, min: 7, p50: 7, p95: 7, max: 7, empty: 0 });
        assert_eq!(Lengths::of(Vec::new()), Lengths::default());
    }
}

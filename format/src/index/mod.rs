//! The files of indices: from values of a column to the rows that hold them.
//!
//! A segment of an index is a folder of ordinary Lance files, in any version of the container, whose columns
//! mean something. [`IndexKind::of`] says which kind a manifest's entry is; each kind has a type that opens its files, checks
//! them, and reads parts of them:
//!
//! | kind | files | type |
//! |---|---|---|
//! | BTree | `page_lookup.lance`, `page_data.lance` | [`BTreeIndex`] |
//! | Bitmap | `bitmap_page_lookup.lance` | [`BitmapIndex`] |
//! | ZoneMap | `zonemap.lance` | [`ZoneMapIndex`] |
//! | BloomFilter | `bloomfilter.lance` | [`BloomFilterIndex`] |
//! | LabelList | `bitmap_page_lookup.lance` | [`LabelListIndex`] |
//! | NGram | `ngram_postings.lance` | [`NGramIndex`] |
//! | IVF | `index.idx`, `auxiliary.idx` | [`IvfIndex`] |
//! | Inverted | `metadata.lance`, `part_…` | recognised only |
//!
//! Rows are named by row id or by row address, see [`IndexKind::domain`]. An index may name rows and fragments
//! that no longer exist; that is no fault. Anything else that contradicts these layouts is an error that names the
//! file: an index is never the only copy of data, so the caller can do without.

mod bitmap;
mod bloom_filter;
mod btree;
mod details;
mod files;
mod ivf;
mod label_list;
mod ngram;
mod row_addresses;
mod set_layout;
mod xxh64;
mod zone_map;
mod zones;

pub use bitmap::BitmapIndex;
pub use bloom_filter::{BloomFilterIndex, BloomHash};
pub use btree::BTreeIndex;
pub use details::{IdDomain, IndexKind, InvertedDetails, ZoneMapDetails};
pub use files::IndexFiles;
pub use ivf::{IvfIndex, Metric, Storage, SubIndex, Tensor};
pub use label_list::LabelListIndex;
pub use ngram::{MAX_TOKEN, NGramIndex, NULL_TOKEN, needle_tokens};
pub use row_addresses::RowAddressSet;
pub use set_layout::{SET_BUFFERS, SetLayout, set_buffer};
pub use zone_map::ZoneMapIndex;
pub use zones::Zone;

//! Kinds of scalar index, as the manifest's entries tell them apart.
//!
//! An entry has the name of a protobuf message and the message itself. Only its last part counts: packages differ
//! from kind to kind. A name that is not known, or a layout version above the ones listed here, means that the
//! entry is left alone and the rows are scanned.

use crate::{
    Result, proto,
    table::{IndexDetails, IndexMetadata},
};
use alloc::{format, string::String};

/// A kind of scalar index, with what its details say.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexKind {
    /// Values in order, each with its row. Version 0 names rows by id, version 1 by address.
    BTree(IdDomain),
    /// A set of rows for each value.
    Bitmap,
    /// A set of rows for each element of lists; `version` 0 does not tell which lists are NULL.
    LabelList {
        /// 0 or 1.
        version: u32,
    },
    /// A set of rows for each three letters that follow one another in texts.
    NGram,
    /// Bounds of the values in each run of rows.
    ZoneMap(ZoneMapDetails),
    /// A Bloom filter for each run of rows.
    BloomFilter,
    /// Documents for each word. Recognised, not searched.
    Inverted(InvertedDetails),
    /// Any other kind, or a version that is not known: scan instead.
    Other,
}

/// What the numbers of an index mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdDomain {
    /// Row ids; the same as addresses in tables without stable row ids.
    RowId,
    /// `fragment id << 32 | offset`.
    RowAddress,
}

/// The details of a zone map; absent ones in what Lance 9 wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ZoneMapDetails {
    /// Live rows of a zone when it was cut.
    pub rows_per_zone: Option<u64>,
    /// Whether data files that are appended hold the zones of their rows.
    pub use_seeds: Option<bool>,
    /// Whether the index must know each NULL row.
    pub has_null_bitmap: bool,
}

/// How an inverted index makes words of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvertedDetails {
    /// `simple`, `whitespace`, `ngram`, …; `None` if the entry does not say.
    pub base_tokenizer: Option<String>,
    /// The language of stemming and stop words.
    pub language: String,
    /// Whether positions of words are kept.
    pub with_position: bool,
    /// Words of as many bytes or more are dropped; `None` is no bound.
    pub max_token_length: Option<u32>,
    /// Whether words are lower-cased.
    pub lower_case: bool,
    /// Whether words are stemmed.
    pub stem: bool,
    /// Whether stop words are dropped.
    pub remove_stop_words: bool,
    /// Whether letters with marks are folded to plain ones.
    pub ascii_folding: bool,
    /// Documents of a block of a posting.
    pub block_size: u32,
}

/// Where the block size of postings is not stated.
const DEFAULT_BLOCK_SIZE: u32 = 128;

impl IndexKind {
    /// The kind of an entry of the manifest; `None` if it has no details, which very old tables leave out: then
    /// [`IndexKind::of_files`] tells.
    ///
    /// # Errors
    /// Corrupt if the details of a known kind cannot be read.
    pub fn of(entry: &IndexMetadata) -> Result<Option<Self>> {
        let Some(details) = &entry.details else { return Ok(None) };
        let within = |error: crate::Error| error.within(format!("index `{}`", entry.name.escape_debug()));
        Self::parse(details, entry.version).map(Some).map_err(within)
    }

    fn parse(details: &IndexDetails, version: i32) -> Result<Self> {
        // Each kind with the newest version of its layout that is read here.
        let known = |name: &str, newest: i32| details.is(name) && (0..=newest).contains(&version);
        let value = || details.value.clone();
        Ok(if known("BTreeIndexDetails", 1) {
            IndexKind::BTree(if version == 0 { IdDomain::RowId } else { IdDomain::RowAddress })
        } else if known("BitmapIndexDetails", 0) {
            IndexKind::Bitmap
        } else if known("LabelListIndexDetails", 1) {
            IndexKind::LabelList { version: version as u32 }
        } else if known("NGramIndexDetails", 0) {
            IndexKind::NGram
        } else if known("ZoneMapIndexDetails", 0) {
            let message: proto::table::ZoneMapIndexDetails = proto::decode_shared(value(), 0, "details")?;
            IndexKind::ZoneMap(ZoneMapDetails {
                rows_per_zone: message.rows_per_zone,
                use_seeds: message.use_seeds,
                has_null_bitmap: message.has_null_bitmap == Some(true),
            })
        } else if known("BloomFilterIndexDetails", 0) {
            IndexKind::BloomFilter
        } else if known("InvertedIndexDetails", 3) {
            let message: proto::table::InvertedIndexDetails = proto::decode_shared(value(), 0, "details")?;
            IndexKind::Inverted(InvertedDetails {
                base_tokenizer: message.base_tokenizer,
                // Lance keeps the name as JSON, quotes included.
                language: message.language.trim_matches('"').into(),
                with_position: message.with_position,
                max_token_length: message.max_token_length,
                lower_case: message.lower_case,
                stem: message.stem,
                remove_stop_words: message.remove_stop_words,
                ascii_folding: message.ascii_folding,
                block_size: message.block_size.unwrap_or(DEFAULT_BLOCK_SIZE),
            })
        } else {
            IndexKind::Other
        })
    }

    /// The kind of a segment without details, from the names of its files and whether its column holds lists.
    pub fn of_files<'a>(names: impl IntoIterator<Item = &'a str>, of_lists: bool) -> Self {
        let (mut bitmap, mut inverted, mut btree) = (false, false, false);
        for name in names {
            bitmap |= name == super::bitmap::FILE;
            inverted |= matches!(name, "metadata.lance" | "invert.lance");
            btree |= name == super::btree::LOOKUP;
        }
        match (of_lists, bitmap, inverted, btree) {
            (true, true, ..) => IndexKind::LabelList { version: 0 },
            (false, true, ..) => IndexKind::Bitmap,
            (false, false, false, true) => IndexKind::BTree(IdDomain::RowId),
            _ => IndexKind::Other,
        }
    }

    /// What the numbers in an index of this kind mean.
    pub fn domain(&self) -> IdDomain {
        match self {
            IndexKind::BTree(domain) => *domain,
            IndexKind::ZoneMap(_) | IndexKind::BloomFilter => IdDomain::RowAddress,
            _ => IdDomain::RowId,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn kind(name: &str, version: i32, value: &'static [u8]) -> Result<IndexKind> {
        let type_url = format!("/lance.table.{name}IndexDetails");
        IndexKind::parse(&IndexDetails { type_url, value: Bytes::from_static(value) }, version)
    }

    #[test]
    fn tells_kinds_and_versions_apart() {
        assert_eq!(kind("BTree", 0, b"").unwrap(), IndexKind::BTree(IdDomain::RowId));
        assert_eq!(kind("BTree", 1, b"").unwrap().domain(), IdDomain::RowAddress);
        assert_eq!(kind("Bitmap", 0, b"").unwrap(), IndexKind::Bitmap);
        assert_eq!(kind("LabelList", 1, b"").unwrap(), IndexKind::LabelList { version: 1 });
        assert_eq!(kind("NGram", 0, b"").unwrap(), IndexKind::NGram);
        assert_eq!(kind("BloomFilter", 0, b"").unwrap().domain(), IdDomain::RowAddress);
        let zones = ZoneMapDetails { rows_per_zone: Some(100), use_seeds: Some(false), ..Default::default() };
        assert_eq!(kind("ZoneMap", 0, b"\x08\x64\x10\0").unwrap(), IndexKind::ZoneMap(zones));
        let nulls = ZoneMapDetails { has_null_bitmap: true, ..zones };
        assert_eq!(kind("ZoneMap", 0, b"\x08\x64\x10\0\x18\x01").unwrap(), IndexKind::ZoneMap(nulls));
        let Ok(IndexKind::Inverted(words)) = kind("Inverted", 2, b"\x12\x09\"English\"\x30\x01") else {
            panic!("an inverted index")
        };
        assert_eq!((&*words.language, words.stem, words.block_size), ("English", true, 128));
    }

    #[test]
    fn what_is_not_known_is_scanned() {
        for (name, version) in
            [("BTree", 2), ("BTree", -1), ("Bitmap", 1), ("LabelList", 2), ("ZoneMap", 1), ("Fm", 0), ("", 0)]
        {
            assert_eq!(kind(name, version, b"\xff").unwrap(), IndexKind::Other, "{name} {version}");
        }
        assert!(kind("ZoneMap", 0, b"\xff").is_err());
    }

    #[test]
    fn files_tell_where_details_do_not() {
        let bitmap = ["bitmap_page_lookup.lance"];
        assert_eq!(IndexKind::of_files(bitmap, false), IndexKind::Bitmap);
        assert_eq!(IndexKind::of_files(bitmap, true), IndexKind::LabelList { version: 0 });
        let btree = ["page_data.lance", "page_lookup.lance"];
        assert_eq!(IndexKind::of_files(btree, false), IndexKind::BTree(IdDomain::RowId));
        assert_eq!(IndexKind::of_files(["metadata.lance"], false), IndexKind::Other);
    }
}

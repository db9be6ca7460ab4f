//! Where index files hold sets of rows, for whoever checks files without knowing their kind.
//!
//! | file | where | holds |
//! |---|---|---|
//! | `bitmap_page_lookup.lance` | column `bitmaps` | [`RowAddressSet`]: the rows of each key |
//! | `ngram_postings.lance` | column `posting_list` | [`Treemap`]: the rows of each token |
//! | `metadata.lance` | column `deleted_fragments` | [`Roaring`]: the fragments whose documents are gone |
//! | any | the global buffer that [`SET_BUFFERS`] names in the schema's metadata | [`RowAddressSet`] |

use super::RowAddressSet;
use crate::{
    Error, Result,
    table::{Roaring, Treemap},
};
use alloc::format;
use bytes::Bytes;

/// Keys of a schema's metadata whose value is the decimal number of a global buffer that holds a
/// [`RowAddressSet`]: the rows that are null, and the rows whose list is.
pub const SET_BUFFERS: [&str; 2] = ["null_bitmap", "lance:label_list_nulls"];

/// How a set of rows is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetLayout {
    /// A [`RowAddressSet`].
    RowAddresses,
    /// A [`Treemap`].
    Treemap,
    /// A [`Roaring`] bitmap.
    Roaring,
}

impl SetLayout {
    /// How the values of `column` in the index file called `name` are written, if they are sets of rows.
    pub fn of_column(name: &str, column: &str) -> Option<Self> {
        match (name, column) {
            ("bitmap_page_lookup.lance", "bitmaps") => Some(SetLayout::RowAddresses),
            ("ngram_postings.lance", "posting_list") => Some(SetLayout::Treemap),
            ("metadata.lance", "deleted_fragments") => Some(SetLayout::Roaring),
            _ => None,
        }
    }

    /// Checks a whole set.
    ///
    /// # Errors
    /// Corrupt, with the position in `bytes`.
    pub fn check(self, bytes: &Bytes) -> Result<()> {
        match self {
            SetLayout::RowAddresses => RowAddressSet::parse(bytes).map(drop),
            SetLayout::Treemap => Treemap::parse(bytes).map(drop),
            SetLayout::Roaring => Roaring::parse(bytes).map(drop),
        }
    }
}

/// The number of the global buffer that the value of one of [`SET_BUFFERS`] names.
///
/// # Errors
/// Corrupt if it is no number.
pub fn set_buffer(key: &str, value: &[u8]) -> Result<u32> {
    let number = core::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| {
        Error::corrupt(format!(
            "metadata `{key}`: expected the number of a global buffer, found `{}`",
            value.escape_ascii()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_global_buffers() {
        assert_eq!(set_buffer("null_bitmap", b"1"), Ok(1));
        for value in [&b""[..], b"-1", b"1 ", b"4294967296", b"\xff"] {
            assert!(set_buffer("null_bitmap", value).is_err());
        }
    }
}

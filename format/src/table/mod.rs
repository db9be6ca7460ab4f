//! The table format: the files of a dataset directory that are not data.
//!
//! | file | read by |
//! |---|---|
//! | `_versions/….manifest` | [`ManifestName`], [`Manifest`] |
//! | `_transactions/….txn` | [`Transaction`] |
//! | `_deletions/….arrow`, `….bin` | [`DeletionFile::parse`], [`Deletions`] |
//! | `_refs/tags/….json`, `_refs/branches/….json` | [`Tag`], [`Branch`] |
//! | `_indices/{uuid}/details.binpb` | [`FragmentReuse`] |
//!
//! A manifest holds, for each fragment, its [`RowIdSequence`] and [`RowVersions`], and lists the segments of
//! indices ([`IndexMetadata`]).
//!
//! Nothing here touches a file system: a caller brings the bytes of a whole file.

mod deletion;
pub mod flags;
mod fragment;
mod fragment_reuse;
mod index;
mod manifest;
mod name;
mod refs;
mod roaring;
mod row_ids;
mod transaction;
mod treemap;

pub use deletion::Deletions;
pub use fragment::{DataFile, DeletionFile, DeletionKind, Fragment, Lineage, MAX_ROWS, hidden_field};
pub use fragment_reuse::{FragmentDigest, FragmentReuse, FragmentReuseDetails, ReuseGroup, ReuseVersion};
pub use index::{IndexDetails, IndexFile, IndexMetadata, Uuid};
pub use manifest::{BasePath, Manifest, Timestamp, WriterVersion};
pub use name::{ManifestName, Scheme};
pub use refs::{Branch, Tag};
pub(crate) use roaring::partition_point;
pub use roaring::{Numbers, Roaring};
pub use row_ids::{RowIdSegment, RowIdSequence, RowVersions, SegmentKind};
pub use transaction::{Operation, RewriteGroup, Transaction};
pub use treemap::Treemap;

use crate::{Result, ensure};

/// Checks that `path` stays below the folder that it is relative to; `what` names it in errors.
fn check_relative(path: &str, what: &str) -> Result<()> {
    let mut parts = path.split(['/', '\\']);
    let inside =
        !path.starts_with(['/', '\\']) && !path.contains(['\0', ':']) && parts.all(|part| part != "..");
    ensure!(
        inside && !path.is_empty(),
        "{what}: expected a relative path without `..`, found `{}`",
        path.escape_debug()
    );
    Ok(())
}

//! What one file of a dataset holds, without reading the values: for people who look into files, and for tests
//! that watch how files are written.
//!
//! | file | description |
//! |---|---|
//! | `….lance`, `….idx` | [`FileDescription`]: version, schema, columns, pages, [encodings](Encoding), buffers |
//! | `….manifest` | [`ManifestDescription`] |
//! | `….arrow`, `….bin` | [`DeletionsDescription`] |
//! | `….txn` | [`Transaction`] |
//! | `….json` | [`Tag`] or [`Branch`] |
//!
//! A damaged part does not hide the others: it is told by the error that a reader would give for it.

mod array;
mod compressive;
mod container;
mod encoding;
mod layout;

pub use container::{
    BufferDescription, ColumnDescription, FieldDescription, FileDescription, PageDescription,
    SchemaDescription, fields, file,
};
pub use encoding::{Encoding, Parameter, Value};

pub use crate::v21::LayerKind;

use crate::{
    ColumnMap, Container, Error, Result, Source,
    json::Value as Json,
    table::{Branch, DeletionKind, Deletions, IndexMetadata, MAX_ROWS, Manifest, Roaring, Tag, Transaction},
};
use alloc::{boxed::Box, format, sync::Arc, vec::Vec};
use bytes::Bytes;
/// The numbers and the magic at the end of a manifest. Those of other files begin in the same place.
const MANIFEST_END: &[u8] = b"\0\0\x02\0LANC";
const LANCE_END: &[u8] = b"LANC";
const ARROW_START: &[u8] = b"ARROW1";
/// The file that names the newest version says no more than a tag might.
const VERSION_HINT: &str = "latest_version_hint.json";

/// Any file of a dataset.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Description {
    /// The size in bytes.
    pub size: u64,
    /// What it holds.
    pub content: Content,
}

/// What any file of a dataset holds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Content {
    /// A Lance file: data, or a part of an index.
    File(Box<FileDescription>),
    /// A version of a table.
    Manifest(Box<ManifestDescription>),
    /// A list of deleted rows.
    Deletions(DeletionsDescription),
    /// What a commit did.
    Transaction(Transaction),
    /// A name for a version.
    Tag(Tag),
    /// A line of versions.
    Branch(Branch),
}

/// A manifest and its sections.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ManifestDescription {
    /// The version.
    pub manifest: Manifest,
    /// All fields of its schema, each before its children. Which columns hold them differs from file to file.
    pub fields: Vec<FieldDescription>,
    /// The segments of its indices.
    pub indices: Result<Vec<IndexMetadata>>,
    /// What the commit did, if the file holds that.
    pub transaction: Result<Option<Transaction>>,
    /// How many fields of the manifest's message are not known, and only kept.
    pub unknown_fields: usize,
}

/// A deletion file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeletionsDescription {
    /// How it is written.
    pub kind: DeletionKind,
    /// The offsets of the deleted rows.
    pub rows: Roaring,
}

impl ManifestDescription {
    /// What is wrong with its parts.
    pub fn errors(&self) -> impl Iterator<Item = &Error> {
        self.indices.as_ref().err().into_iter().chain(self.transaction.as_ref().err())
    }
}

/// Which kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lance,
    Manifest,
    Deletions(DeletionKind),
    Transaction,
    Reference,
}

/// Describes a whole file; its kind is told by the ending of its name, or else by its magic.
///
/// # Errors
/// Unsupported if the kind is not known; otherwise what a reader of the file says to it. A Lance file is
/// described as soon as its footer is sound.
pub fn describe(name: &str, source: &Arc<dyn Source>) -> Result<Description> {
    let kind = match by_name(name) {
        Some(kind) => kind,
        None => by_magic(source)?,
    };
    let read = || source.read(0..source.len());
    let content = match kind {
        Kind::Lance => Content::File(Box::new(file(&Container::open(source.clone())?))),
        Kind::Manifest => Content::Manifest(Box::new(manifest(&read()?)?)),
        Kind::Deletions(kind) => Content::Deletions(deletions(kind, &read()?)?),
        Kind::Transaction => Content::Transaction(Transaction::parse(&read()?)?),
        Kind::Reference => reference(&read()?)?,
    };
    Ok(Description { size: source.len(), content })
}

fn by_name(name: &str) -> Option<Kind> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending {
        "lance" | "idx" => Kind::Lance,
        "manifest" => Kind::Manifest,
        "arrow" => Kind::Deletions(DeletionKind::Arrow),
        "bin" => Kind::Deletions(DeletionKind::Bitmap),
        "txn" => Kind::Transaction,
        "json" if name != VERSION_HINT => Kind::Reference,
        _ => return None,
    })
}

fn by_magic(source: &Arc<dyn Source>) -> Result<Kind> {
    let size = source.len();
    let start = source.read(0..size.min(ARROW_START.len() as u64))?;
    let end = source.read(size.saturating_sub(MANIFEST_END.len() as u64)..size)?;
    if end[..] == *MANIFEST_END {
        Ok(Kind::Manifest)
    } else if end.ends_with(LANCE_END) {
        Ok(Kind::Lance)
    } else if start[..] == *ARROW_START {
        Ok(Kind::Deletions(DeletionKind::Arrow))
    } else {
        Err(Error::unsupported(
            "expected a file of a dataset: .lance, .idx, .manifest, .arrow, .bin, .txn, or .json of a tag or branch",
        ))
    }
}

/// Describes a manifest.
///
/// # Errors
/// As [`Manifest::parse`].
pub fn manifest(file: &Bytes) -> Result<ManifestDescription> {
    let manifest = Manifest::parse(file)?;
    let transaction = manifest.transaction().and_then(|section| {
        let transaction = section.map(|bytes| Transaction::parse(&bytes)).transpose();
        transaction.map_err(|error| error.within("transaction section"))
    });
    let unknown_fields = manifest.unknown_fields()?.len();
    let fields = fields(&manifest.schema, &ColumnMap::default());
    Ok(ManifestDescription { fields, indices: manifest.indices(), transaction, unknown_fields, manifest })
}

/// Describes a deletion file of this kind.
///
/// # Errors
/// As [`Deletions::parse_arrow`] and [`Deletions::parse_bitmap`].
pub fn deletions(kind: DeletionKind, file: &Bytes) -> Result<DeletionsDescription> {
    let deletions = match kind {
        // The file does not say which fragment it belongs to, so its rows may be as many as any has.
        DeletionKind::Arrow => Deletions::parse_arrow(file, MAX_ROWS)?,
        DeletionKind::Bitmap => Deletions::parse_bitmap(file, MAX_ROWS)?,
    };
    Ok(DeletionsDescription { kind, rows: deletions.as_set().clone() })
}

/// A tag or a branch, told apart by what they must have.
fn reference(file: &[u8]) -> Result<Content> {
    let value = Json::parse(file)?;
    if value.get("parentVersion").is_some() {
        Branch::parse(file).map(Content::Branch)
    } else if value.get("version").is_some() {
        Tag::parse(file).map(Content::Tag)
    } else {
        Err(Error::unsupported(format!(
            "expected the JSON of a tag, with `version`, or of a branch, with `parentVersion`; found neither in \
             {} bytes",
            file.len()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name_then_by_magic() {
        let kind = |name: &str, bytes: &'static [u8]| {
            let source: Arc<dyn Source> = Arc::new(Bytes::from_static(bytes));
            by_name(name).map_or_else(|| by_magic(&source), Ok)
        };
        assert_eq!(kind("a/b.lance/data/c.lance", b""), Ok(Kind::Lance));
        assert_eq!(kind("index.idx", b""), Ok(Kind::Lance));
        assert_eq!(kind("d1.manifest", b""), Ok(Kind::Manifest));
        assert_eq!(kind("0-1-2.bin", b""), Ok(Kind::Deletions(DeletionKind::Bitmap)));
        assert_eq!(kind("x.lance/noname", b"..\0\0\x02\0LANC"), Ok(Kind::Manifest));
        assert_eq!(kind("x", b"..\x02\0\x01\0LANC"), Ok(Kind::Lance));
        assert_eq!(kind("x", b"LANC"), Ok(Kind::Lance));
        assert_eq!(kind("x", b"ARROW1\0\0"), Ok(Kind::Deletions(DeletionKind::Arrow)));
        assert!(kind("x", b"").is_err());
        assert!(kind(VERSION_HINT, br#"{"version":2}"#).is_err());
    }

    #[test]
    fn tags_and_branches() {
        assert!(matches!(reference(br#"{"version":2}"#), Ok(Content::Tag(_))));
        assert!(matches!(reference(br#"{"parentVersion":2}"#), Ok(Content::Branch(_))));
        for text in ["{}", "[]", "", r#"{"version":"x"}"#] {
            assert!(reference(text.as_bytes()).is_err(), "{text}");
        }
    }
}

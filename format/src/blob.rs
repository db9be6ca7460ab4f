//! Blob columns: values that lie outside their pages, which hold only descriptions of them.
//!
//! ```text
//! first version    position u64 | size u64
//!                  bytes of the data file itself
//! second version   kind u8 | position u64 | size u64 | blob_id u32 | blob_uri text
//!                  0  bytes of the data file itself
//!                  1  bytes of the blob file `blob_id`, which holds many values
//!                  2  bytes of the blob file `blob_id`, which holds only this one
//!                  3  bytes of the file `blob_uri`, all of them if size is 0: an absolute URI if `blob_id` is 0,
//!                     else relative to the base path with that id
//! ```
//! Every version of the file format keeps descriptions in its own way; once read they are a column of structs,
//! null where the value is null. [`fetch`] turns it into a column of bytes.

use crate::{
    Column, DataType, Error, Extent, Field, File, Result, Source, Values,
    column::too_large,
    ensure,
    leaf::{self, LeafBuilder, LeafShape},
};
use alloc::{format, string::String, sync::Arc};
use core::{fmt, ops::Range};

/// The most bytes that the blobs of several rows take: more of them are too large for one batch.
const MAX_BYTES: u64 = 1 << 28;

/// The most bytes that several blobs of one row take.
const MAX_ROW_BYTES: u64 = 1 << 30;

/// A file other than the data file that bytes of its blobs lie in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlobFile<'a> {
    /// One written along with the data file, into the folder named as it without the ending `.lance`; its own
    /// name is [`blob_file_name`].
    Numbered(u32),
    /// One that only the description names.
    External {
        /// The id of the base path that `uri` is relative to; `None`: the URI is absolute.
        base: Option<u32>,
        /// Where the file lies.
        uri: &'a str,
    },
}

impl fmt::Display for BlobFile<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlobFile::Numbered(id) => write!(f, "blob file {}", blob_file_name(*id)),
            BlobFile::External { uri, .. } => write!(f, "external blob `{uri}`"),
        }
    }
}

/// Opens the files that the blobs of one data file lie in.
pub trait BlobFiles: fmt::Debug + Send + Sync {
    /// Opens one of them.
    ///
    /// # Errors
    /// Source if it is not there or cannot be opened, unsupported if it lies where nothing can be opened.
    fn open(&self, file: BlobFile<'_>) -> Result<Arc<dyn Source>>;
}

/// The name of blob file `id`: the 32 bits of the number, the lowest first.
pub fn blob_file_name(id: u32) -> String {
    format!("{:032b}.blob", id.reverse_bits())
}

impl Field {
    /// Whether values lie outside their pages, which hold only descriptions of them.
    pub fn is_blob(&self) -> bool {
        let marked = self.is_blob_of_second_version() || self.metadata.contains_key("lance-encoding:blob");
        marked
            && match &self.data_type {
                DataType::LargeBinary => true,
                // The fields of a description are in no schema, so they have no ids.
                DataType::Struct(fields) => !fields.is_empty() && fields.iter().all(|field| field.id == -1),
                _ => false,
            }
    }

    fn is_blob_of_second_version(&self) -> bool {
        self.metadata.get("ARROW:extension:name").is_some_and(|name| name == b"lance.blob.v2")
    }

    /// The field that reads descriptions of these blobs; `None` if this field does not read blobs' bytes.
    pub(crate) fn blob_description(&self) -> Option<Field> {
        let bytes = self.is_blob() && self.data_type == DataType::LargeBinary;
        bytes.then(|| {
            self.with_type(match self.is_blob_of_second_version() {
                false => first_version(),
                true => second_version(),
            })
        })
    }

    /// This field with all blobs in it, however deep, read as descriptions instead of bytes: structs of
    /// `position` and `size`, which in the second version of blobs also have `kind`, `blob_id` and `blob_uri`.
    #[must_use]
    pub fn with_blob_descriptions(&self) -> Field {
        if let Some(described) = self.blob_description() {
            return described;
        }
        let inside = |field: &Arc<Field>| Arc::new(field.with_blob_descriptions());
        self.with_type(match &self.data_type {
            DataType::Struct(fields) => DataType::Struct(fields.iter().map(inside).collect()),
            DataType::List(item) => DataType::List(inside(item)),
            DataType::LargeList(item) => DataType::LargeList(inside(item)),
            DataType::FixedSizeList(item, dimension) => DataType::FixedSizeList(inside(item), *dimension),
            DataType::Map(entries) => DataType::Map(inside(entries)),
            other => other.clone(),
        })
    }
}

/// The type of descriptions of the first version.
pub(crate) fn first_version() -> DataType {
    description(&[("position", DataType::UInt64), ("size", DataType::UInt64)])
}

fn second_version() -> DataType {
    description(&[
        ("kind", DataType::UInt8),
        ("position", DataType::UInt64),
        ("size", DataType::UInt64),
        ("blob_id", DataType::UInt32),
        ("blob_uri", DataType::Utf8),
    ])
}

fn description(fields: &[(&str, DataType)]) -> DataType {
    let fields =
        fields.iter().map(|(name, data_type)| Arc::new(Field::new(name, -1, data_type.clone(), false)));
    DataType::Struct(fields.collect())
}

/// Where the bytes of a value lie.
#[derive(Debug, PartialEq)]
enum Blob<'a> {
    Empty,
    /// In the data file itself.
    Here {
        position: u64,
        size: u64,
    },
    There {
        file: BlobFile<'a>,
        position: u64,
        size: u64,
    },
    Whole(BlobFile<'a>),
}

/// The descriptions of some rows.
struct Descriptions<'a> {
    positions: &'a [u64],
    sizes: &'a [u64],
    /// Kinds, ids and URIs, which the first version has not.
    second: Option<(&'a [u8], &'a [u32], &'a Column)>,
}

impl<'a> Descriptions<'a> {
    fn of(column: &'a Column) -> Option<Self> {
        Some(match column.children() {
            [positions, sizes] => {
                Descriptions { positions: positions.primitive()?, sizes: sizes.primitive()?, second: None }
            }
            [kinds, positions, sizes, ids, uris] => Descriptions {
                positions: positions.primitive()?,
                sizes: sizes.primitive()?,
                second: Some((kinds.primitive()?, ids.primitive()?, uris)),
            },
            _ => return None,
        })
    }

    fn get(&self, row: usize) -> Result<Blob<'a>> {
        let (position, size) = (self.positions[row], self.sizes[row]);
        let (kind, id, uri) = match self.second {
            None => (0, 0, ""),
            Some((kinds, ids, uris)) => (kinds[row], ids[row], uris.str(row).unwrap_or_default()),
        };
        Ok(match (kind, size) {
            (0..=2, 0) => Blob::Empty,
            (0, _) => Blob::Here { position, size },
            (1 | 2, _) => Blob::There { file: BlobFile::Numbered(id), position, size },
            (3, _) => {
                ensure!(!uri.is_empty(), "expected the URI of an external blob, found none");
                let file = BlobFile::External { base: (id != 0).then_some(id), uri };
                match size {
                    0 => Blob::Whole(file),
                    _ => Blob::There { file, position, size },
                }
            }
            _ => return Err(Error::unsupported(format!("expected a blob of kind 0 to 3, found {kind}"))),
        })
    }
}

/// The bytes of the blobs of `rows` rows, which `descriptions` say where to find, as a column of `data_type`,
/// large binary. There may be more blobs than rows, in lists.
///
/// # Errors
/// Too large if blobs of several rows are more than 256 MiB, or several of one row more than 1 GiB. One blob
/// alone is only bounded by the file that it lies in.
pub(crate) fn fetch(
    file: &File,
    descriptions: &Column,
    data_type: &DataType,
    rows: usize,
    reuse: Option<Values>,
) -> Result<Column> {
    let found = Descriptions::of(descriptions);
    let found = found.ok_or_else(|| Error::invalid_input("expected descriptions of blobs"))?;
    let limit = if rows > 1 { MAX_BYTES } else { MAX_ROW_BYTES };
    let (len, source) = (descriptions.len(), file.container().source());

    // Nothing is read before the sizes are known not to be too large.
    let (mut room, mut here) = (Room { limit, blobs: 0, bytes: 0 }, 0u64);
    let blob = |row| match descriptions.is_null(row) {
        true => Ok(Blob::Empty),
        false => found.get(row),
    };
    for row in 0..len {
        match blob(row)? {
            Blob::Here { position, size } => {
                Extent::new(source, position, size, "blob")?;
                here = here.saturating_add(size);
                if here > source.len() {
                    return Err(Error::corrupt(format!(
                        "blob: expected sizes that add up to no more than the file, found one of {size} bytes"
                    ))
                    .at(position));
                }
                room.take(size)?;
            }
            Blob::There { size, .. } => room.take(size)?,
            Blob::Empty | Blob::Whole(_) => {}
        }
    }

    let mut values = LeafBuilder::new(LeafShape::of(data_type)?, len, reuse);
    values.reserve(leaf::Room { slots: 0, bytes: here as usize }, here as usize);
    let mut files = OpenFiles { file, last: None };
    for row in 0..len {
        match blob(row)? {
            Blob::Empty => values.append_defaults(1)?,
            Blob::Here { position, size } => {
                values.append_value(&Extent::new(source, position, size, "blob")?.all()?)?;
            }
            Blob::There { file, position, size } => {
                append(&mut values, file, files.get(file)?, position..position.saturating_add(size))?;
            }
            Blob::Whole(file) => {
                let source = files.get(file)?;
                room.take(source.len())?;
                append(&mut values, file, source, 0..source.len())?;
            }
        }
    }
    Ok(values.finish(data_type, descriptions.validity().cloned()))
}

fn append(
    values: &mut LeafBuilder,
    file: BlobFile<'_>,
    source: &Arc<dyn Source>,
    range: Range<u64>,
) -> Result<()> {
    let bytes = Extent::new(source, range.start, range.end - range.start, "blob");
    bytes.and_then(|bytes| values.append_value(&bytes.all()?)).map_err(|error| error.within(file))
}

/// What may still be read.
struct Room {
    limit: u64,
    blobs: usize,
    bytes: u64,
}

impl Room {
    fn take(&mut self, size: u64) -> Result<()> {
        self.blobs += 1;
        self.bytes = self.bytes.saturating_add(size);
        match self.blobs > 1 && self.bytes > self.limit {
            true => Err(too_large()),
            false => Ok(()),
        }
    }
}

/// Opens blob files. Neighbours often lie in the same one, so the last is kept.
struct OpenFiles<'a> {
    file: &'a File,
    last: Option<(BlobFile<'a>, Arc<dyn Source>)>,
}

impl<'a> OpenFiles<'a> {
    fn get(&mut self, wanted: BlobFile<'a>) -> Result<&Arc<dyn Source>> {
        let last = match self.last.take() {
            Some(last) if last.0 == wanted => last,
            _ => {
                let files = self
                    .file
                    .blob_files()
                    .ok_or_else(|| Error::unsupported(format!("{wanted}: the data file was opened alone")))?;
                (wanted, files.open(wanted)?)
            }
        };
        Ok(&self.last.insert(last).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn names_of_blob_files() {
        assert_eq!(blob_file_name(1), "10000000000000000000000000000000.blob");
        assert_eq!(blob_file_name(2), "01000000000000000000000000000000.blob");
        assert_eq!(blob_file_name(u32::MAX), "11111111111111111111111111111111.blob");
    }

    #[test]
    fn what_descriptions_say() {
        let uris = Column::nulls(&DataType::Utf8, 6);
        let (kinds, sizes) = ([0, 0, 1, 2, 3, 4], [0, 9, 9, 9, 9, 9]);
        let second = Some((&kinds[..], &[5; 6][..], &uris));
        let descriptions = Descriptions { positions: &[7; 6], sizes: &sizes, second };
        let get = |row| descriptions.get(row);
        assert_eq!(get(0).unwrap(), Blob::Empty);
        assert_eq!(get(1).unwrap(), Blob::Here { position: 7, size: 9 });
        let there = Blob::There { file: BlobFile::Numbered(5), position: 7, size: 9 };
        assert_eq!(get(2).unwrap(), there);
        assert_eq!(get(3).unwrap(), there);
        assert_eq!(get(4).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(get(5).unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn one_blob_may_be_large() {
        let mut room = Room { limit: 10, blobs: 0, bytes: 0 };
        room.take(1 << 40).unwrap();
        assert_eq!(room.take(1).unwrap_err().kind(), ErrorKind::TooLarge);
        let mut room = Room { limit: 10, blobs: 0, bytes: 0 };
        (0..10).for_each(|_| room.take(1).unwrap());
        assert!(room.take(1).is_err());
        assert!(room.take(u64::MAX).is_err());
    }
}

//! Fragments: a table's rows in horizontal slices, each with its data files and deletions.

use super::{Deletions, check_relative, flags};
use crate::{Error, Result, ensure, proto};
use alloc::{format, string::String, sync::Arc, vec::Vec};
use bytes::Bytes;
use core::fmt;
use proto::table::data_fragment::{CreatedAt, LastUpdatedAt, RowIds};

/// The most rows that a fragment may have: row addresses give 32 bits to the offset.
const MAX_ROWS: u64 = 1 << 32;
/// A place of a data file's field list that a later file took over.
const TOMBSTONE: i32 = -2;

/// Field ids of the columns in which a fragment may store the lineage of its rows ([`Lineage::Column`]).
pub mod hidden_field {
    /// The stable row ids.
    pub const ROW_ID: i32 = -3;
    /// The versions in which the rows were created.
    pub const CREATED_AT: i32 = -4;
    /// The versions in which the rows were last updated.
    pub const LAST_UPDATED_AT: i32 = -5;
}

/// The version of the data file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StorageVersion {
    /// Version 2.0.
    V2_0,
    /// Version 2.1.
    V2_1,
    /// Version 2.2.
    V2_2,
}

impl StorageVersion {
    /// Reads the text of a manifest's `data_format`.
    ///
    /// # Errors
    /// Unsupported, by name.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "2.0" => Ok(StorageVersion::V2_0),
            "2.1" => Ok(StorageVersion::V2_1),
            "2.2" => Ok(StorageVersion::V2_2),
            "0.1" | "legacy" => Err(legacy()),
            _ => Err(Error::unsupported(format!(
                "data file version `{}`: expected 2.0, 2.1 or 2.2",
                text.escape_debug()
            ))),
        }
    }

    /// From the two numbers of a data file's entry; early writers of 2.0 wrote them as 0.3.
    pub(super) fn from_numbers(major: u32, minor: u32) -> Result<Self> {
        match (major, minor) {
            (2, 0) | (0, 3) => Ok(StorageVersion::V2_0),
            (2, 1) => Ok(StorageVersion::V2_1),
            (2, 2) => Ok(StorageVersion::V2_2),
            (0, 0..=2) => Err(legacy()),
            _ => Err(Error::unsupported(format!(
                "data file version `{major}.{minor}`: expected 2.0, 2.1 or 2.2"
            ))),
        }
    }
}

pub(super) fn legacy() -> Error {
    Error::unsupported("data file version `0.1` (legacy): expected 2.0, 2.1 or 2.2")
}

impl fmt::Display for StorageVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StorageVersion::V2_0 => "2.0",
            StorageVersion::V2_1 => "2.1",
            StorageVersion::V2_2 => "2.2",
        })
    }
}

/// A horizontal slice of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fragment {
    /// The upper half of the addresses of its rows; not the position among the fragments.
    pub id: u32,
    /// The files that hold its columns; at least one, and each field in at most one.
    pub files: Vec<DataFile>,
    /// Where the deleted rows are listed.
    pub deletion: Option<DeletionFile>,
    /// Rows including deleted ones; `None` where the manifest does not say, and a data file must.
    pub physical_rows: Option<u64>,
    /// The stable id of each row.
    pub row_ids: Option<Lineage>,
    /// The version in which each row was created; absent means 1 for all.
    pub created_at: Option<Lineage>,
    /// The version in which each row was last updated; absent means 1 for all.
    pub last_updated_at: Option<Lineage>,
}

/// Where one number for each row of a fragment is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lineage {
    /// In the manifest, as a sequence.
    Inline(Bytes),
    /// In the data file that lists the [hidden field](hidden_field).
    Column,
}

/// A file that holds some columns of a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataFile {
    /// Relative to the `data` folder of its base.
    pub path: String,
    /// The ids of the fields in it. Fields that later files took over have −2.
    pub fields: Arc<[i32]>,
    /// For each of `fields` its column in the file, or −1 if it has none of its own.
    pub column_indices: Arc<[i32]>,
    /// The version of the file's format.
    pub version: StorageVersion,
    /// The size in bytes, where the manifest says it.
    pub size: Option<u64>,
    /// The base that it lies under; `None` is the dataset's own root.
    pub base_id: Option<u32>,
}

impl DataFile {
    /// The column that holds field `id` in this file, or −1 if only the field's children have columns.
    pub fn column_of(&self, id: i32) -> Option<i32> {
        if id == TOMBSTONE {
            return None;
        }
        let place = self.fields.iter().position(|field| *field == id)?;
        self.column_indices.get(place).copied()
    }
}

/// How a deletion file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionKind {
    /// An Arrow file of offsets.
    Arrow,
    /// A Roaring bitmap.
    Bitmap,
}

/// A file that lists deleted rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeletionFile {
    /// How it is written.
    pub kind: DeletionKind,
    /// The version that the deleting commit started from.
    pub read_version: u64,
    /// A random number.
    pub id: u64,
    /// How many rows are deleted, where the manifest says it.
    pub num_deleted_rows: Option<u64>,
    /// The base that it lies under; `None` is the dataset's own root.
    pub base_id: Option<u32>,
}

impl DeletionFile {
    /// Its name in the `_deletions` folder.
    pub fn file_name(&self, fragment_id: u32) -> String {
        let extension = match self.kind {
            DeletionKind::Arrow => "arrow",
            DeletionKind::Bitmap => "bin",
        };
        format!("{fragment_id}-{}-{}.{extension}", self.read_version, self.id)
    }

    /// Parses the whole file, which belongs to a fragment of `physical_rows` rows.
    ///
    /// # Errors
    /// Corrupt if the file contradicts its layout, the rows or the manifest's count.
    pub fn parse(&self, bytes: &Bytes, physical_rows: u64) -> Result<Deletions> {
        let deletions = match self.kind {
            DeletionKind::Arrow => Deletions::parse_arrow(bytes, physical_rows)?,
            DeletionKind::Bitmap => Deletions::parse_bitmap(bytes, physical_rows)?,
        };
        if let Some(expected) = self.num_deleted_rows {
            let found = deletions.len();
            ensure!(found == expected, "expected {expected} deleted rows as in the manifest, found {found}");
        }
        Ok(deletions)
    }
}

/// Turns messages into fragments, and shares the field lists of files that are alike: in most tables
/// every fragment has the same.
#[derive(Default)]
pub(super) struct Builder {
    previous: Vec<FieldList>,
    sorted: Vec<i32>,
}

#[derive(Clone)]
struct FieldList {
    fields: Arc<[i32]>,
    column_indices: Arc<[i32]>,
}

impl Builder {
    /// The fragment of one message of a manifest with these reader flags.
    pub(super) fn fragment(&mut self, message: proto::table::DataFragment, flags: u64) -> Result<Fragment> {
        let id = message.id;
        self.build(message, flags).map_err(|error| error.within(format!("fragment {id}")))
    }

    fn build(&mut self, message: proto::table::DataFragment, flags: u64) -> Result<Fragment> {
        let id = u32::try_from(message.id).ok().filter(|id| *id != u32::MAX);
        let Some(id) = id else {
            return Err(Error::corrupt(format!("expected an id below {}, found {}", u32::MAX, message.id)));
        };
        ensure!(!message.files.is_empty(), "expected at least one data file, found none");
        ensure!(message.overlays.is_empty(), "expected no overlays without the flag for them");
        let physical_rows = message.physical_rows;
        ensure!(physical_rows <= MAX_ROWS, "expected at most 2^32 rows, found {physical_rows}");
        let physical_rows = Some(physical_rows).filter(|rows| *rows != 0);

        let files = self.files(message.files)?;
        let deletion = message.deletion_file.map(|file| deletion(&file, physical_rows)).transpose()?;
        let row_ids = match message.row_ids {
            Some(RowIds::Inline(bytes)) => Some(Lineage::Inline(bytes)),
            Some(RowIds::External(_)) => return Err(external("row ids")),
            Some(RowIds::Column(_)) => Some(hidden(&files, hidden_field::ROW_ID)?),
            None => None,
        };
        let created_at = match message.created_at {
            Some(CreatedAt::Inline(bytes)) => Some(Lineage::Inline(bytes)),
            Some(CreatedAt::External(_)) => return Err(external("created-at versions")),
            Some(CreatedAt::Column(_)) => Some(hidden(&files, hidden_field::CREATED_AT)?),
            None => None,
        };
        let last_updated_at = match message.last_updated_at {
            Some(LastUpdatedAt::Inline(bytes)) => Some(Lineage::Inline(bytes)),
            Some(LastUpdatedAt::External(_)) => return Err(external("last-updated-at versions")),
            Some(LastUpdatedAt::Column(_)) => Some(hidden(&files, hidden_field::LAST_UPDATED_AT)?),
            None => None,
        };
        ensure!(
            flags & flags::STABLE_ROW_IDS == 0 || row_ids.is_some(),
            "expected row ids, which the table's flags promise, found none"
        );
        Ok(Fragment { id, files, deletion, physical_rows, row_ids, created_at, last_updated_at })
    }

    fn files(&mut self, messages: Vec<proto::table::DataFile>) -> Result<Vec<DataFile>> {
        let mut known = messages.len() == self.previous.len();
        let mut files = Vec::with_capacity(messages.len());
        let mut lists = Vec::with_capacity(messages.len());
        for (index, message) in messages.into_iter().enumerate() {
            let (fields, column_indices) = (message.fields, message.column_indices);
            let list = match self.previous.get(index) {
                Some(list) if *list.fields == fields && *list.column_indices == column_indices => {
                    list.clone()
                }
                _ => {
                    known = false;
                    FieldList { fields: fields.into(), column_indices: column_indices.into() }
                }
            };
            let path = message.path;
            let within = |error: Error| error.within(format!("data file `{}`", path.escape_debug()));
            check_relative(&path, "data file")?;
            let version =
                StorageVersion::from_numbers(message.file_major_version, message.file_minor_version)
                    .map_err(within)?;
            if !known {
                self.check_list(&list).map_err(within)?;
            }
            files.push(DataFile {
                path,
                fields: list.fields.clone(),
                column_indices: list.column_indices.clone(),
                version,
                size: Some(message.file_size_bytes).filter(|size| *size != 0),
                base_id: message.base_id,
            });
            lists.push(list);
        }
        if !known {
            let all = lists.iter().flat_map(|list| list.fields.iter()).filter(|id| **id != TOMBSTONE);
            if let Some(id) = self.duplicate(all) {
                return Err(Error::corrupt(format!("expected field {id} in one data file, found it twice")));
            }
            self.previous = lists;
        }
        Ok(files)
    }

    fn check_list(&mut self, list: &FieldList) -> Result<()> {
        let FieldList { fields, column_indices } = list;
        ensure!(
            fields.len() == column_indices.len(),
            "expected a column index for each of {} fields, found {}",
            fields.len(),
            column_indices.len()
        );
        if let Some(id) = fields.iter().find(|id| **id == -1 || **id < hidden_field::LAST_UPDATED_AT) {
            return Err(Error::corrupt(format!("expected field ids of the schema, found {id}")));
        }
        if let Some(index) = column_indices.iter().find(|index| **index < -1) {
            return Err(Error::corrupt(format!("expected column indices of at least -1, found {index}")));
        }
        match self.duplicate(column_indices.iter().filter(|index| **index != -1)) {
            Some(index) => Err(Error::corrupt(format!("expected each column once, found {index} twice"))),
            None => Ok(()),
        }
    }

    /// A number that occurs more than once.
    fn duplicate<'a>(&mut self, numbers: impl Iterator<Item = &'a i32>) -> Option<i32> {
        self.sorted.clear();
        self.sorted.extend(numbers);
        self.sorted.sort_unstable();
        self.sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
    }
}

fn deletion(file: &proto::table::DeletionFile, physical_rows: Option<u64>) -> Result<DeletionFile> {
    let kind = match file.file_type {
        0 => DeletionKind::Arrow,
        1 => DeletionKind::Bitmap,
        other => {
            return Err(Error::corrupt(format!("deletion file: expected type 0 or 1, found {other}")));
        }
    };
    let count = file.num_deleted_rows;
    let rows = physical_rows.unwrap_or(MAX_ROWS);
    ensure!(count <= rows, "deletion file: expected at most {rows} deleted rows, found {count}");
    Ok(DeletionFile {
        kind,
        read_version: file.read_version,
        id: file.id,
        num_deleted_rows: Some(count).filter(|count| *count != 0),
        base_id: file.base_id,
    })
}

fn external(what: &str) -> Error {
    Error::unsupported(format!("{what} in a file of their own: expected them in the manifest"))
}

fn hidden(files: &[DataFile], field: i32) -> Result<Lineage> {
    let stored = files.iter().any(|file| file.column_of(field).is_some_and(|column| column >= 0));
    ensure!(stored, "expected a data file with the hidden field {field}, found none");
    Ok(Lineage::Column)
}

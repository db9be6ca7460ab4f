//! Fragments: a table's rows in horizontal slices, each with its data files and deletions.

use super::{Deletions, check_relative, flags};
use crate::{Error, FileVersion, Result, ensure, proto};
use alloc::{format, string::String, sync::Arc, vec::Vec};
use bytes::Bytes;
use proto::table::data_fragment::{CreatedAt, LastUpdatedAt, RowIds};

/// The most rows that a fragment may have: row addresses give 32 bits to the offset.
pub const MAX_ROWS: u64 = 1 << 32;
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
    /// The fragment as it stands in the manifest, with fields that this version of lancet does not know:
    /// whoever writes the next version must carry those as they are.
    pub raw: Bytes,
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
    pub version: FileVersion,
    /// The size in bytes, where the manifest says it.
    pub size: Option<u64>,
    /// The base that it lies under; `None` is the dataset's own root.
    pub base_id: Option<u32>,
}

impl DataFile {
    /// Whether later files took over some of its fields: their values were written again, for the rows that were there.
    pub fn has_replaced_fields(&self) -> bool {
        self.fields.contains(&TOMBSTONE)
    }

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
    previous: Vec<Arc<FieldList>>,
    sorted: Vec<i32>,
}

struct FieldList {
    /// The lists as they are in the message: its fields and its column indices.
    packed: [Vec<Bytes>; 2],
    fields: Arc<[i32]>,
    column_indices: Arc<[i32]>,
}

impl Builder {
    /// The fragment of one message of a manifest with these reader flags.
    pub(super) fn fragment(
        &mut self,
        message: proto::table::DataFragment,
        raw: Bytes,
        flags: u64,
    ) -> Result<Fragment> {
        let id = message.id;
        self.build(message, raw, flags).map_err(|error| error.within(format!("fragment {id}")))
    }

    fn build(&mut self, message: proto::table::DataFragment, raw: Bytes, flags: u64) -> Result<Fragment> {
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
        Ok(Fragment { id, files, deletion, physical_rows, row_ids, created_at, last_updated_at, raw })
    }

    fn files(&mut self, messages: Vec<proto::table::DataFile>) -> Result<Vec<DataFile>> {
        let mut known = messages.len() == self.previous.len();
        let mut files = Vec::with_capacity(messages.len());
        let mut lists = Vec::with_capacity(messages.len());
        for (index, message) in messages.into_iter().enumerate() {
            let path = message.path;
            let within = |error: Error| error.within(format!("data file `{}`", path.escape_debug()));
            check_relative(&path, "data file")?;
            let packed = [message.fields, message.column_indices];
            let list = match self.previous.get(index) {
                Some(list) if list.packed == packed => list.clone(),
                _ => {
                    known = false;
                    Arc::new(FieldList::unpack(packed).map_err(within)?)
                }
            };
            let version = FileVersion::from_numbers(message.file_major_version, message.file_minor_version)
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
        let FieldList { fields, column_indices, .. } = list;
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

impl FieldList {
    fn unpack(packed: [Vec<Bytes>; 2]) -> Result<Self> {
        let [fields, column_indices] = packed.each_ref().map(|parts| proto::table::unpack(parts));
        let (fields, column_indices) = (fields?.into(), column_indices?.into());
        Ok(FieldList { packed, fields, column_indices })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorKind, table::Roaring};
    use prost::encoding::encode_varint;
    use proto::table::{
        DataFile as FileMessage, DataFragment, DeletionFile as DeletionMessage, ExternalFile,
    };

    type Change = fn(&mut DataFragment);

    fn pack(numbers: &[i32]) -> Vec<Bytes> {
        let mut out = Vec::new();
        numbers.iter().for_each(|number| encode_varint(*number as u64, &mut out));
        [out.into()].into()
    }

    fn file(fields: &[i32], column_indices: &[i32]) -> FileMessage {
        FileMessage {
            path: "a.lance".into(),
            fields: pack(fields),
            column_indices: pack(column_indices),
            file_major_version: 2,
            file_minor_version: 1,
            ..FileMessage::default()
        }
    }

    fn fragment(files: Vec<FileMessage>) -> DataFragment {
        DataFragment { id: 3, files, physical_rows: 10, ..DataFragment::default() }
    }

    fn build(message: DataFragment) -> Result<Fragment> {
        Builder::default().fragment(message, Bytes::new(), 0)
    }

    /// The kind of error that a change to a sound fragment leads to.
    fn refuse(change: impl FnOnce(&mut DataFragment)) -> ErrorKind {
        let mut message = fragment([file(&[0, 1, -2], &[0, 1, 2])].into());
        assert!(build(message.clone()).is_ok());
        change(&mut message);
        build(message).expect_err("a change that matters").kind()
    }

    #[test]
    fn refuses_what_contradicts_the_format() {
        let corrupt: [(Change, &str); 17] = [
            (|it| it.files[0].fields = [Bytes::from_static(&[0x80])].into(), "half a number"),
            (|it| it.id = 0xffff_ffff, "the reserved id"),
            (|it| it.id = 1 << 32, "an id of more than 32 bits"),
            (|it| it.files.clear(), "no files"),
            (|it| it.physical_rows = (1 << 32) + 1, "too many rows"),
            (|it| it.files[0].path = "/etc/a".into(), "an absolute path"),
            (|it| it.files[0].path = "b/../../a".into(), "a path that leaves"),
            (|it| it.files[0].path = "..\\a".into(), "a path that leaves on Windows"),
            (|it| it.files[0].path = String::new(), "no path"),
            (|it| it.files[0].column_indices = pack(&[0, 1]), "fewer columns than fields"),
            (|it| it.files[0].column_indices = pack(&[0, 0, 2]), "a column twice"),
            (|it| it.files[0].column_indices = pack(&[0, -2, 2]), "a negative column"),
            (|it| it.files[0].fields = pack(&[0, -1, 2]), "a field without id"),
            (|it| it.files[0].fields = pack(&[0, -6, 2]), "a field id that is not known"),
            (|it| it.files.push(file(&[1], &[0])), "a field in two files"),
            (|it| it.overlays.push(Bytes::new()), "overlays without their flag"),
            (|it| it.row_ids = Some(RowIds::Column(proto::Empty {})), "a hidden column that is not there"),
        ];
        for (change, why) in corrupt {
            assert_eq!(refuse(change), ErrorKind::Corrupt, "{why}");
        }
        let unsupported: [(Change, &str); 5] = [
            (|it| it.files[0].file_minor_version = 3, "version 2.3"),
            (|it| (it.files[0].file_major_version, it.files[0].file_minor_version) = (0, 2), "legacy"),
            (|it| it.row_ids = Some(RowIds::External(ExternalFile::default())), "row ids in a file"),
            (|it| it.created_at = Some(CreatedAt::External(ExternalFile::default())), "versions in a file"),
            (
                |it| it.last_updated_at = Some(LastUpdatedAt::External(ExternalFile::default())),
                "versions in a file",
            ),
        ];
        for (change, why) in unsupported {
            assert_eq!(refuse(change), ErrorKind::Unsupported, "{why}");
        }
        let without_ids = fragment([file(&[0], &[0])].into());
        assert!(Builder::default().fragment(without_ids, Bytes::new(), flags::STABLE_ROW_IDS).is_err());
    }

    #[test]
    fn finds_columns() {
        let mut message = fragment([file(&[0, -2, 4, -3, 5], &[0, 1, 2, 3, -1]), file(&[1], &[0])].into());
        message.row_ids = Some(RowIds::Column(proto::Empty {}));
        let built = build(message).unwrap();
        let columns = |field| built.files.iter().map(|file| file.column_of(field)).collect::<Vec<_>>();
        assert_eq!(columns(4), [Some(2), None]);
        assert_eq!(columns(1), [None, Some(0)]);
        assert_eq!(columns(5), [Some(-1), None]);
        assert_eq!(columns(-2), [None, None]);
        assert_eq!(columns(hidden_field::ROW_ID), [Some(3), None]);
        assert_eq!(built.row_ids, Some(Lineage::Column));
        assert_eq!(built.files[0].size, None);
    }

    #[test]
    fn joins_the_parts_of_a_list() {
        let mut message = file(&[0, 1], &[0, 1]);
        message.fields = [pack(&[0]), pack(&[1])].concat();
        let built = build(fragment([message].into())).unwrap();
        assert_eq!(*built.files[0].fields, [0, 1]);
    }

    #[test]
    fn shares_equal_field_lists() {
        let mut builder = Builder::default();
        let mut build = |files: Vec<_>| builder.fragment(fragment(files), Bytes::new(), 0);
        let first = build([file(&[0, 1], &[0, 1])].into()).unwrap();
        let second = build([file(&[0, 1], &[0, 1])].into()).unwrap();
        assert!(Arc::ptr_eq(&first.files[0].fields, &second.files[0].fields));
        let third = build([file(&[0, 1], &[0, 1]), file(&[2], &[0])].into()).unwrap();
        assert!(Arc::ptr_eq(&first.files[0].fields, &third.files[0].fields));
        assert!(build([file(&[0, 1], &[0, 1]), file(&[1], &[0])].into()).is_err());
        assert!(build([file(&[0, 1], &[0, 0]), file(&[2], &[0])].into()).is_err());
    }

    #[test]
    fn deletion_files() {
        let message = DeletionMessage { file_type: 1, read_version: 4, id: u64::MAX, ..Default::default() };
        let found = deletion(&message, Some(10)).unwrap();
        assert_eq!(found.file_name(7), "7-4-18446744073709551615.bin");
        assert_eq!(found.num_deleted_rows, None);
        let counted = deletion(&DeletionMessage { num_deleted_rows: 2, ..message }, Some(10)).unwrap();
        let bytes = |values| Roaring::from_sorted(values).as_bytes().clone();
        assert_eq!(counted.parse(&bytes(&[3, 9]), 10).unwrap().len(), 2);
        assert!(counted.parse(&bytes(&[3]), 10).is_err(), "another count than the manifest's");
        assert!(counted.parse(&bytes(&[3, 10]), 10).is_err());
        assert!(deletion(&DeletionMessage { file_type: 2, ..message }, None).is_err());
        assert!(deletion(&DeletionMessage { num_deleted_rows: 11, ..message }, Some(10)).is_err());
        let arrow = deletion(&DeletionMessage { file_type: 0, ..message }, None).unwrap();
        assert!(arrow.file_name(0).ends_with(".arrow"));
    }
}

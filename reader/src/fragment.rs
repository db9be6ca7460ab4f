//! [`Fragment`]: one fragment of an open dataset: its files, its deletions, the columns of its rows.

use crate::{
    Error, Result,
    files::{FilePool, FileSlot, OpenFile},
    location::{self, Place},
    row_ids::FragmentRowIds,
};
use lancet_format::{
    Coded, Column, DataType, Field, Lent, ReadRoom,
    table::{self, Deletions, Lineage, MAX_ROWS, RowIdSequence, RowVersions, hidden_field},
};
use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

/// A fragment of one or more versions. What it has read of its files it keeps for as long as it lives.
#[derive(Debug)]
pub(crate) struct Fragment {
    pub(crate) meta: table::Fragment,
    /// Where the manifest lies that describes the fragment.
    manifest_path: Arc<str>,
    files: Vec<Arc<FileSlot>>,
    deletion_place: Option<Place>,
    deletions: OnceLock<Deletions>,
    physical_rows: OnceLock<u64>,
    row_ids: OnceLock<FragmentRowIds>,
    created_at: OnceLock<RowNumbers>,
    last_updated_at: OnceLock<RowNumbers>,
}

/// A version for each row of a fragment.
#[derive(Debug)]
enum RowNumbers {
    /// Version 1 for all, where the table does not say.
    First,
    Versions(RowVersions),
    Column(Column),
}

impl Fragment {
    pub(crate) fn new(
        meta: table::Fragment,
        manifest_path: Arc<str>,
        files: Vec<Arc<FileSlot>>,
        deletion_place: Option<Place>,
    ) -> Self {
        let physical_rows = meta.physical_rows.map(OnceLock::from).unwrap_or_default();
        Fragment {
            meta,
            manifest_path,
            files,
            deletion_place,
            deletions: OnceLock::new(),
            physical_rows,
            row_ids: OnceLock::new(),
            created_at: OnceLock::new(),
            last_updated_at: OnceLock::new(),
        }
    }

    pub(crate) fn files(&self) -> &[Arc<FileSlot>] {
        &self.files
    }

    pub(crate) fn deletion_place(&self) -> Option<&Place> {
        self.deletion_place.as_ref()
    }

    /// The path of the deletion file as errors name it.
    fn deletion_path(&self) -> &str {
        match &self.deletion_place {
            Some(Ok(path)) => path,
            _ => &self.manifest_path,
        }
    }

    /// The stable ids of the rows.
    pub(crate) fn row_ids(&self, pool: &FilePool) -> Result<&FragmentRowIds> {
        if let Some(found) = self.row_ids.get() {
            return Ok(found);
        }
        let rows = self.physical_rows(pool)?;
        let ids = match &self.meta.row_ids {
            Some(Lineage::Inline(bytes)) => FragmentRowIds::of_sequence(
                RowIdSequence::parse(bytes, rows).map_err(|error| self.of_manifest(error))?,
            ),
            Some(Lineage::Column) => {
                FragmentRowIds::of_column(self.hidden(pool, hidden_field::ROW_ID, "_rowid")?)
            }
            None => {
                return Err(Error::corrupt(
                    &*self.manifest_path,
                    format!("expected row ids of fragment {}", self.meta.id),
                ));
            }
        };
        Ok(self.row_ids.get_or_init(|| ids))
    }

    /// Numbers between which all stable ids of the fragment lie; `None` if it has no rows. Cheap where the
    /// ids lie in the manifest.
    pub(crate) fn row_id_bounds(&self, pool: &FilePool) -> Result<Option<(u64, u64)>> {
        match &self.meta.row_ids {
            Some(Lineage::Inline(bytes)) => {
                RowIdSequence::bounds(bytes).map_err(|error| self.of_manifest(error))
            }
            _ => self
                .row_ids(pool)
                .map(|_| (self.physical_rows(pool).unwrap_or(0) > 0).then_some((0, u64::MAX))),
        }
    }

    /// The version in which the newest row was created.
    pub(crate) fn newest_row(&self, pool: &FilePool) -> Result<u64> {
        if self.meta.created_at.is_none() {
            return Ok(1);
        }
        // Reads the versions, if it has not been done.
        self.extend_versions(pool, true, &[], &mut Vec::new())?;
        Ok(match self.created_at.get() {
            Some(RowNumbers::Versions(versions)) => {
                versions.runs().map(|(_, version)| version).max().unwrap_or(0)
            }
            Some(RowNumbers::Column(column)) => {
                column.primitive::<u64>().unwrap_or_default().iter().copied().max().unwrap_or(0)
            }
            _ => 1,
        })
    }

    /// Appends the versions in which the rows of `ranges` were created, or last updated.
    pub(crate) fn extend_versions(
        &self,
        pool: &FilePool,
        created: bool,
        ranges: &[Range<u64>],
        out: &mut Vec<u64>,
    ) -> Result<()> {
        let (cell, lineage, id, name) = match created {
            true => {
                (&self.created_at, &self.meta.created_at, hidden_field::CREATED_AT, "_row_created_at_version")
            }
            false => (
                &self.last_updated_at,
                &self.meta.last_updated_at,
                hidden_field::LAST_UPDATED_AT,
                "_row_last_updated_at_version",
            ),
        };
        if cell.get().is_none() {
            let rows = self.physical_rows(pool)?;
            let numbers = match lineage {
                None => RowNumbers::First,
                Some(Lineage::Inline(bytes)) => RowNumbers::Versions(
                    RowVersions::parse(bytes, rows).map_err(|error| self.of_manifest(error))?,
                ),
                Some(Lineage::Column) => RowNumbers::Column(self.hidden(pool, id, name)?),
            };
            let _ = cell.set(numbers);
        }
        let rows = ranges.iter().cloned().flatten();
        match cell.get() {
            Some(RowNumbers::Versions(versions)) => out.extend(rows.map(|row| versions.get(row))),
            Some(RowNumbers::Column(column)) => {
                let all = column.primitive::<u64>().unwrap_or_default();
                out.extend(rows.map(|row| all[row as usize]));
            }
            Some(RowNumbers::First) | None => out.extend(rows.map(|_| 1)),
        }
        Ok(())
    }

    /// All values of a column that holds one number for each physical row and is not in the schema.
    fn hidden(&self, pool: &FilePool, id: i32, name: &str) -> Result<Column> {
        let rows = self.physical_rows(pool)?;
        let field = Field::new(name, id, DataType::UInt64, false);
        let column = self.read(pool, &field, std::slice::from_ref(&(0..rows)), None)?;
        match column.null_count() {
            0 => Ok(column),
            nulls => Err(Error::corrupt(
                self.files.first().map_or("", |file| file.path()),
                format!("column `{name}`: expected no nulls, found {nulls}"),
            )),
        }
    }

    fn of_manifest(&self, error: lancet_format::Error) -> Error {
        Error::format(&*self.manifest_path, error.within(format!("fragment {}", self.meta.id)))
    }

    /// The address of the row at offset 0.
    pub(crate) fn base_address(&self) -> u64 {
        u64::from(self.meta.id) << 32
    }

    /// The number of rows, deleted ones included.
    pub(crate) fn physical_rows(&self, pool: &FilePool) -> Result<u64> {
        if let Some(&rows) = self.physical_rows.get() {
            return Ok(rows);
        }
        // Very old manifests do not say: the files do.
        let file = self.files.first().ok_or_else(|| Error::invalid_input("a fragment without files"))?;
        let (_, rows) =
            pool.get(file)?.container().schema().map_err(|error| Error::format(file.path(), error))?;
        if rows > MAX_ROWS {
            return Err(Error::corrupt(file.path(), format!("expected at most 2^32 rows, found {rows}")));
        }
        Ok(*self.physical_rows.get_or_init(|| rows))
    }

    /// The deleted rows; `None` if there are none.
    pub(crate) fn deletions(&self, pool: &FilePool) -> Result<Option<&Deletions>> {
        let (Some(meta), Some(place)) = (&self.meta.deletion, &self.deletion_place) else { return Ok(None) };
        if let Some(found) = self.deletions.get() {
            return Ok(Some(found));
        }
        let rows = self.physical_rows(pool)?;
        let path = location::path_of(place, &self.manifest_path)?;
        let bytes = pool.storage().read(path).map_err(|error| Error::io(path, error))?;
        let parsed = meta.parse(&bytes, rows).map_err(|error| Error::format(path, error))?;
        Ok(Some(self.deletions.get_or_init(|| parsed)))
    }

    /// The number of rows that are not deleted. Reads no file if the manifest says how many are.
    pub(crate) fn live_rows(&self, pool: &FilePool) -> Result<u64> {
        let rows = self.physical_rows(pool)?;
        let deleted = match &self.meta.deletion {
            None => 0,
            Some(meta) => match meta.num_deleted_rows {
                Some(deleted) => deleted,
                None => self.deletions(pool)?.map_or(0, Deletions::len),
            },
        };
        rows.checked_sub(deleted).ok_or_else(|| {
            Error::corrupt(
                self.deletion_path(),
                format!("expected at most {rows} deleted rows, as the fragment has, found {deleted}"),
            )
        })
    }

    /// The offset of the live row that `n` live rows precede; `n` is below [`Fragment::live_rows`].
    pub(crate) fn select_live(&self, pool: &FilePool, n: u64) -> Result<u64> {
        match self.deletions(pool)? {
            None => Ok(n),
            Some(deletions) => deletions.select_live(n).map(u64::from).ok_or_else(|| {
                Error::corrupt(
                    self.deletion_path(),
                    "expected as many deleted rows as the manifest says, found more",
                )
            }),
        }
    }

    /// The values of `field` in the physical rows of `ranges`.
    pub(crate) fn read(
        &self,
        pool: &FilePool,
        field: &Field,
        ranges: &[Range<u64>],
        reuse: Option<Column>,
    ) -> Result<Column> {
        self.read_with(pool, field, ranges, reuse, &mut ReadRoom::default())
    }

    /// As [`Fragment::read`], with room that is kept for the next rows of this field.
    pub(crate) fn read_with(
        &self,
        pool: &FilePool,
        field: &Field,
        ranges: &[Range<u64>],
        reuse: Option<Column>,
        room: &mut ReadRoom,
    ) -> Result<Column> {
        let mut holders = self.files.iter().filter(|file| holds(file, field));
        match (holders.next(), holders.next()) {
            (None, _) => self.nulls(pool, field, ranges),
            (Some(file), None) => {
                let rows = self.physical_rows(pool)?;
                pool.get(file)?
                    .read_with(field, file.columns(), rows, ranges, reuse, room)
                    .map_err(|error| Error::format(file.path(), error))
            }
            (Some(_), Some(_)) => self.read_parts(pool, field, ranges),
        }
    }

    /// A column that no file of the fragment holds was added later: all rows are null.
    fn nulls(&self, pool: &FilePool, field: &Field, ranges: &[Range<u64>]) -> Result<Column> {
        let rows = self.physical_rows(pool)?;
        if ranges.last().is_some_and(|last| last.end > rows) {
            return Err(Error::invalid_input(format!("expected rows below {rows}")));
        }
        if !field.nullable {
            let path = self.files.first().map_or("", |file| file.path());
            return Err(Error::corrupt(
                path,
                format!(
                    "expected column `{}` in a file of fragment {}, it is not nullable",
                    field.name, self.meta.id
                ),
            ));
        }
        let count = ranges.iter().map(|range| range.end - range.start).sum::<u64>();
        Ok(Column::absent(&field.data_type, count as usize)?)
    }

    /// A struct whose fields lie in different files, since some were added later.
    fn read_parts(&self, pool: &FilePool, field: &Field, ranges: &[Range<u64>]) -> Result<Column> {
        let DataType::Struct(fields) = &field.data_type else {
            let path = self.files.first().map_or("", |file| file.path());
            return Err(Error::corrupt(
                path,
                format!(
                    "expected column `{}` in one file of fragment {}, found it in several",
                    field.name, self.meta.id
                ),
            ));
        };
        let len = ranges.iter().map(|range| range.end - range.start).sum::<u64>() as usize;
        let (mut validity, mut children) = (None, Vec::with_capacity(fields.len()));
        for child in fields.iter() {
            if !self.files.iter().any(|file| holds(file, child)) {
                children.push(self.nulls(pool, child, ranges)?);
                continue;
            }
            let alone = field.with_type(DataType::Struct([child.clone()].into()));
            let column = self.read(pool, &alone, ranges, None)?;
            validity = validity.or_else(|| column.validity().cloned());
            children.extend(column.children().first().cloned());
        }
        Column::structs(&field.data_type, len, validity, children).map_err(Error::from)
    }

    /// The rows of `range` as numbers of the distinct values of `field`; see [`lancet_format::File::read_coded`].
    pub(crate) fn read_coded(
        &self,
        pool: &FilePool,
        field: &Field,
        range: Range<u64>,
    ) -> Result<Option<Coded>> {
        let mut holders = self.files.iter().filter(|file| holds(file, field));
        let (Some(file), None) = (holders.next(), holders.next()) else { return Ok(None) };
        let rows = self.physical_rows(pool)?;
        pool.get(file)?
            .read_coded(field, file.columns(), rows, range)
            .map_err(|error| Error::format(file.path(), error))
    }

    /// The one file that holds `field`, open; `None` if it is in no file or in parts.
    pub(crate) fn holder(&self, pool: &FilePool, field: &Field) -> Result<Option<Holder<'_>>> {
        let mut holders = self.files.iter().filter(|file| holds(file, field));
        match (holders.next(), holders.next()) {
            (Some(slot), None) => Ok(Some(Holder { slot, open: pool.get(slot)? })),
            _ => Ok(None),
        }
    }

    /// The rows around `row` that can be had without copying `field`, as long as no others are with them.
    pub(crate) fn lent_page(&self, pool: &FilePool, field: &Field, row: u64) -> Result<Option<Range<u64>>> {
        let Some(holder) = self.holder(pool, field)? else { return Ok(None) };
        let found = holder.open.lent_page(field, holder.slot.columns(), row);
        found.map_err(|error| holder.fail(error))
    }
}

/// A file that holds all of a field; it stays open while this is held.
pub(crate) struct Holder<'a> {
    slot: &'a FileSlot,
    open: OpenFile,
}

impl Holder<'_> {
    /// `row` of `field` and rows that follow it where they lie, if they can be had so, in which case none of them is null.
    pub(crate) fn lent_from(&self, field: &Field, row: u64) -> Result<Option<Lent<'_>>> {
        self.open.lent_from(field, self.slot.columns(), row).map_err(|error| self.fail(error))
    }

    fn fail(&self, error: lancet_format::Error) -> Error {
        Error::format(self.slot.path(), error)
    }
}

/// Whether `file` has a column for `field` or for any field below it.
fn holds(file: &FileSlot, field: &Field) -> bool {
    file.holds(field.id) || field.data_type.children().iter().any(|child| holds(file, child))
}

#[cfg(test)]
mod tests {
    use crate::Dataset;
    use lancet_format::Column;

    /// Dictionaries and constants of the fixtures: codes say the same as values.
    #[test]
    fn codes_stand_for_the_values() {
        let mut coded = 0;
        for name in ["types-v21", "types-v22", "types-pages-v21", "types-pages-v22", "events"] {
            let path = format!("{}/../fixtures/{name}.lance", env!("CARGO_MANIFEST_DIR"));
            let dataset = Dataset::open(path).unwrap();
            for fragment in dataset.fragments() {
                let rows = fragment.physical_rows(dataset.pool()).unwrap();
                for field in &dataset.schema().fields {
                    for range in [0..rows, 0..1, rows / 3..rows / 2, rows - 1..rows] {
                        let Some(found) = fragment.read_coded(dataset.pool(), field, range.clone()).unwrap()
                        else {
                            continue;
                        };
                        coded += 1;
                        let values = fragment.read(dataset.pool(), field, &[range], None).unwrap();
                        let picks: Vec<_> = found.codes.iter().map(|&code| (0, code)).collect();
                        let expanded = Column::gather(&[&found.items], &picks, None).unwrap();
                        assert_eq!(found.validity.as_ref(), values.validity(), "{name} {}", field.name);
                        for row in (0..values.len()).filter(|&row| !values.is_null(row)) {
                            let same = match expanded.boolean(row) {
                                Some(value) => Some(value) == values.boolean(row),
                                None => expanded.bytes(row) == values.bytes(row),
                            };
                            assert!(same, "{name} {} row {row}", field.name);
                        }
                    }
                }
            }
        }
        assert!(coded > 50, "{coded} ranges are coded");
    }
}

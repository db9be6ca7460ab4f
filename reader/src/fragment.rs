//! [`Fragment`]: one fragment of an open dataset: its files, its deletions, the columns of its rows.

use crate::{Error, Result, files::FilePool, files::FileSlot};
use lancet_format::{
    Column, DataType, Field,
    table::{self, Deletions},
};
use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

/// The most rows that a fragment may have: row addresses give 32 bits to the offset.
const MAX_ROWS: u64 = 1 << 32;

/// A fragment of one version. What it has read of its files it keeps for as long as it lives.
#[derive(Debug)]
pub(crate) struct Fragment {
    pub(crate) meta: table::Fragment,
    files: Vec<Arc<FileSlot>>,
    deletion_path: Option<String>,
    deletions: OnceLock<Deletions>,
    physical_rows: OnceLock<u64>,
}

impl Fragment {
    pub(crate) fn new(
        meta: table::Fragment,
        files: Vec<Arc<FileSlot>>,
        deletion_path: Option<String>,
    ) -> Self {
        let physical_rows = meta.physical_rows.map(OnceLock::from).unwrap_or_default();
        Fragment { meta, files, deletion_path, deletions: OnceLock::new(), physical_rows }
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
        let (Some(meta), Some(path)) = (&self.meta.deletion, &self.deletion_path) else { return Ok(None) };
        if let Some(found) = self.deletions.get() {
            return Ok(Some(found));
        }
        let rows = self.physical_rows(pool)?;
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
            let path = self.deletion_path.clone().unwrap_or_default();
            Error::corrupt(
                path,
                format!("expected at most {rows} deleted rows, as the fragment has, found {deleted}"),
            )
        })
    }

    /// The offset of the live row that `n` live rows precede; `n` is below [`Fragment::live_rows`].
    pub(crate) fn select_live(&self, pool: &FilePool, n: u64) -> Result<u64> {
        match self.deletions(pool)? {
            None => Ok(n),
            Some(deletions) => deletions.select_live(n).map(u64::from).ok_or_else(|| {
                let path = self.deletion_path.clone().unwrap_or_default();
                Error::corrupt(path, "expected as many deleted rows as the manifest says, found more")
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
        let mut holders = self.files.iter().filter(|file| holds(file, field));
        match (holders.next(), holders.next()) {
            (None, _) => self.nulls(pool, field, ranges),
            (Some(file), None) => self.read_from(pool, file, field, ranges, reuse),
            (Some(_), Some(_)) => self.read_parts(pool, field, ranges),
        }
    }

    fn read_from(
        &self,
        pool: &FilePool,
        file: &Arc<FileSlot>,
        field: &Field,
        ranges: &[Range<u64>],
        reuse: Option<Column>,
    ) -> Result<Column> {
        let rows = self.physical_rows(pool)?;
        pool.get(file)?
            .read(field, file.columns(), rows, ranges, reuse)
            .map_err(|error| Error::format(file.path(), error))
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

    /// Up to which row a batch that starts at `row` can be had without copying `field`, if at all.
    pub(crate) fn borrowed_until(&self, pool: &FilePool, field: &Field, row: u64) -> Result<Option<u64>> {
        let mut holders = self.files.iter().filter(|file| holds(file, field));
        match (holders.next(), holders.next()) {
            (Some(file), None) => pool
                .get(file)?
                .borrowed_until(field, file.columns(), row)
                .map_err(|error| Error::format(file.path(), error)),
            _ => Ok(None),
        }
    }
}

/// Whether `file` has a column for `field` or for any field below it.
fn holds(file: &FileSlot, field: &Field) -> bool {
    file.holds(field.id) || field.data_type.children().iter().any(|child| holds(file, child))
}

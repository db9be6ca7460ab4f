//! Opening the files of a segment: what all kinds of index have in common.

use super::RowAddressSet;
use crate::{
    Buffer, Column, ColumnMap, DataType, Error, ErrorKind, Field, File, Physical, Result, Schema, Source,
    ensure, proto,
};
use alloc::{format, string::String, sync::Arc, vec::Vec};
use core::{fmt, ops::Range, str::FromStr};
use prost::Message;

/// The most rows for each byte of a file. Rows differ by some bits at least, so there are fewer, and a file that
/// says otherwise would only fill memory.
const MAX_ROWS_PER_BYTE: u64 = 4;

/// The files of one segment of an index.
pub trait IndexFiles: fmt::Debug + Send + Sync {
    /// Opens the file called `name`; `None` if there is none.
    ///
    /// # Errors
    /// Source if it cannot be opened.
    fn open(&self, name: &str) -> Result<Option<Arc<dyn Source>>>;

    /// The names of all files.
    ///
    /// # Errors
    /// Source if they cannot be listed.
    fn names(&self) -> Result<Vec<String>>;
}

/// An open file of an index, read by its own schema. Every error names the file.
#[derive(Debug)]
pub(super) struct IndexFile {
    name: String,
    file: File,
    schema: Schema,
    columns: ColumnMap,
    rows: u64,
}

impl IndexFile {
    /// Opens the file called `name`, which must be there.
    pub(super) fn open(files: &dyn IndexFiles, name: &str) -> Result<Self> {
        match Self::find(files, name)? {
            Some(file) => Ok(file),
            None => Err(Error::corrupt("expected the file, found none").within(name)),
        }
    }

    /// Opens the file called `name` if there is one.
    pub(super) fn find(files: &dyn IndexFiles, name: &str) -> Result<Option<Self>> {
        let Some(source) = files.open(name)? else { return Ok(None) };
        Self::read_schema(source, name).map(Some).map_err(|error| error.within(name))
    }

    fn read_schema(source: Arc<dyn Source>, name: &str) -> Result<Self> {
        let most = source.len().saturating_mul(MAX_ROWS_PER_BYTE);
        let file = File::open(source)?;
        let (schema, rows) = file.container().schema()?;
        ensure!(rows <= most, "expected at most {most} rows in a file of this size, found {rows}");
        let columns = ColumnMap::of_schema(&schema.fields, file.container().version());
        Ok(IndexFile { name: name.into(), file, schema, columns, rows })
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// `result`, whose error is about this file.
    pub(super) fn check<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.within(&self.name))
    }

    /// The column called `name`.
    pub(super) fn field(&self, name: &str) -> Result<Arc<Field>> {
        match self.schema.fields.iter().find(|field| &*field.name == name) {
            Some(field) => Ok(field.clone()),
            None => self.check(Err(Error::corrupt(format!("expected a column `{name}`, found none")))),
        }
    }

    /// The column called `name`, which must have this type.
    pub(super) fn field_of(&self, name: &str, data_type: &DataType) -> Result<Arc<Field>> {
        let field = self.field(name)?;
        self.expect_type(&field, field.data_type == *data_type, data_type)?;
        Ok(field)
    }

    /// The column called `name`, which must hold values with an order.
    pub(super) fn ordered_field(&self, name: &str) -> Result<Arc<Field>> {
        let field = self.field(name)?;
        match crate::has_order(&field.data_type) {
            true => Ok(field),
            false => self.check(Err(Error::unsupported(format!(
                "column `{name}`: values of type {} have no order",
                field.data_type
            )))),
        }
    }

    /// The column called `name`, which must hold bytes.
    pub(super) fn binary_field(&self, name: &str) -> Result<Arc<Field>> {
        let field = self.field(name)?;
        let fits = matches!(field.data_type, DataType::Binary | DataType::LargeBinary);
        self.expect_type(&field, fits, &DataType::Binary)?;
        Ok(field)
    }

    fn expect_type(&self, field: &Field, fits: bool, expected: &DataType) -> Result<()> {
        let found = &field.data_type;
        self.check(match fits {
            true => Ok(()),
            false => Err(Error::corrupt(format!(
                "column `{}`: expected type {expected}, found {found}",
                field.name
            ))),
        })
    }

    /// Some rows of a column.
    pub(super) fn read(&self, field: &Field, rows: Range<u64>, reuse: Option<Column>) -> Result<Column> {
        self.check(self.file.read(field, &self.columns, self.rows, core::slice::from_ref(&rows), reuse))
    }

    /// The bytes of some rows of a column of fixed width, end to end within each piece: pieces of the file where the rows
    /// lie there as they are, else copies. None of the rows, nor an item of theirs, may be null.
    pub(super) fn read_pieces(&self, field: &Field, rows: Range<u64>) -> Result<Vec<Buffer>> {
        let (mut pieces, mut row) = (Vec::new(), rows.start);
        while row < rows.end {
            let lent = self.check(self.file.lent_rows(field, &self.columns, row))?;
            let end = lent.map_or(rows.end, |lent| lent.end.min(rows.end));
            pieces.push(self.read_fixed(field, row..end)?);
            row = end;
        }
        Ok(pieces)
    }

    /// As [`read_pieces`](Self::read_pieces), in one piece.
    pub(super) fn read_fixed(&self, field: &Field, rows: Range<u64>) -> Result<Buffer> {
        let column = self.read(field, rows, None)?;
        let nulls = column.null_count() + column.child().map_or(0, Column::null_count);
        match column.into_fixed() {
            Some(buffer) if nulls == 0 => Ok(buffer),
            _ => self.check(Err(Error::corrupt(format!(
                "column `{}`: expected no nulls, found {nulls}",
                field.name
            )))),
        }
    }

    /// All rows of a column.
    pub(super) fn read_all(&self, field: &Field) -> Result<Column> {
        self.read(field, 0..self.rows, None)
    }

    /// Some rows of a column of numbers, none of which may be null.
    pub(super) fn read_numbers(
        &self,
        field: &Field,
        rows: Range<u64>,
        reuse: Option<Column>,
    ) -> Result<Column> {
        let column = self.read(field, rows, reuse)?;
        debug_assert!(matches!(column.data_type().physical(), Physical::Fixed(_) | Physical::Bits));
        self.expect_no_null(field, &column)?;
        Ok(column)
    }

    fn expect_no_null(&self, field: &Field, column: &Column) -> Result<()> {
        self.check(match column.null_count() {
            0 => Ok(()),
            nulls => {
                Err(Error::corrupt(format!("column `{}`: expected no nulls, found {nulls}", field.name)))
            }
        })
    }

    /// All rows of the column of `u64` called `name`.
    pub(super) fn all_u64(&self, name: &str) -> Result<Vec<u64>> {
        let column = self.read_numbers(&*self.field_of(name, &DataType::UInt64)?, 0..self.rows, None)?;
        Ok(column.primitive::<u64>().unwrap_or_default().into())
    }

    /// All rows of the column of `u32` called `name`.
    pub(super) fn all_u32(&self, name: &str) -> Result<Vec<u32>> {
        let column = self.read_numbers(&*self.field_of(name, &DataType::UInt32)?, 0..self.rows, None)?;
        Ok(column.primitive::<u32>().unwrap_or_default().into())
    }

    /// Row `row` of a column of bytes, null not allowed.
    pub(super) fn bytes(&self, field: &Field, row: u64) -> Result<bytes::Bytes> {
        let column = self.read(field, row..row + 1, None)?;
        self.expect_no_null(field, &column)?;
        Ok(column.into_bytes())
    }

    /// The text under `key` in the metadata of the schema.
    pub(super) fn metadata(&self, key: &str) -> Option<&str> {
        self.schema.metadata.get(key).and_then(|value| core::str::from_utf8(value).ok())
    }

    /// The text under `key` in the metadata of the schema, which must be there.
    pub(super) fn required(&self, key: &str) -> Result<&str> {
        let missing = || Error::corrupt(format!("metadata: expected a text `{key}`, found none"));
        self.check(self.metadata(key).ok_or_else(missing))
    }

    /// The message in global buffer `index`; `what` names it in errors.
    pub(super) fn message_of_buffer<M: Message + Default>(&self, index: u32, what: &str) -> Result<M> {
        let read = || {
            ensure!(index != 0, "expected another global buffer than 0, which is the schema");
            let extent = self.file.container().global_buffer(index)?;
            proto::decode_shared(extent.share(0..extent.len())?, extent.position(), what)
        };
        self.check(read().map_err(|error| error.within(format!("global buffer {index}"))))
    }

    /// The number under `key` in the metadata of the schema, or `default` if there is none.
    pub(super) fn number<T: FromStr>(&self, key: &str, default: T) -> Result<T> {
        let Some(text) = self.metadata(key) else { return Ok(default) };
        self.check(text.parse().map_err(|_| {
            Error::corrupt(format!("metadata `{key}`: expected a number, found `{}`", text.escape_debug()))
        }))
    }

    /// The set of rows in the global buffer whose index stands under `key` in the metadata, if it does.
    pub(super) fn rows_of_buffer(&self, key: &str) -> Result<Option<RowAddressSet>> {
        if self.metadata(key).is_none() {
            return Ok(None);
        }
        let index = self.number(key, 0)?;
        let read = || {
            ensure!(index != 0, "expected another global buffer than 0, which is the schema");
            let extent = self.file.container().global_buffer(index)?;
            RowAddressSet::parse(&extent.share(0..extent.len())?)
                .map_err(|error| error.within(format!("global buffer {index}")))
        };
        self.check(read().map_err(|error| error.within(format!("metadata `{key}`"))).map(Some))
    }

    /// An error about row `row` of this file.
    pub(super) fn corrupt_row(&self, row: usize, message: String) -> Error {
        Error::new(ErrorKind::Corrupt, message).within(format!("row {row}")).within(&self.name)
    }
}

//! [`File`]: an open Lance file whose columns are read by ranges of rows.
//!
//! Column metadata is parsed when a column is first read, and a page's encoding, chunk table and dictionary
//! when one of its rows is. Both are kept for as long as the file is open and shared by all threads without
//! a lock: two threads that open the same page at once both parse it, and one of the results is kept.

use crate::{
    BlobFiles, Coded, Column, Container, DataType, Error, Field, FileVersion, Result, Source,
    container::{ColumnPages, PageParts},
    lent::Lent,
    v20,
    v21::{self, ReadRoom},
};
use alloc::{boxed::Box, format, sync::Arc, vec::Vec};
use core::ops::Range;
use once_cell::race::OnceBox;

/// An open file of version 2.0, 2.1 or 2.2.
#[derive(Debug)]
pub struct File {
    container: Container,
    columns: Box<[OnceBox<OpenColumn>]>,
    blob_files: Option<Arc<dyn BlobFiles>>,
}

/// Which physical column of a file holds a field, by field id.
///
/// For a dataset this comes from the manifest, for a file that stands alone (an index) from its own schema:
/// see [`ColumnMap::of_schema`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnMap(Vec<(i32, u32)>);

impl ColumnMap {
    /// From pairs of field id and column; later pairs with the same id are ignored.
    pub fn new(pairs: impl IntoIterator<Item = (i32, u32)>) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort_by_key(|&(id, _)| id);
        pairs.dedup_by_key(|&mut (id, _)| id);
        ColumnMap(pairs)
    }

    /// The columns of a file that holds exactly `schema`.
    pub fn of_schema(fields: &[Arc<Field>], version: FileVersion) -> Self {
        fn visit(field: &Field, version: FileVersion, pairs: &mut Vec<(i32, u32)>) {
            let leaf = is_leaf(field);
            if leaf || version == FileVersion::V2_0 {
                pairs.push((field.id, pairs.len() as u32));
            }
            if !leaf {
                field.data_type.children().iter().for_each(|child| visit(child, version, pairs));
            }
        }
        let mut pairs = Vec::new();
        fields.iter().for_each(|field| visit(field, version, &mut pairs));
        Self::new(pairs)
    }

    /// The column that holds field `id`.
    pub fn get(&self, id: i32) -> Option<u32> {
        self.0.binary_search_by_key(&id, |&(id, _)| id).ok().map(|at| self.0[at].1)
    }
}

/// Whether `field` has one column of its own and none below it, in versions 2.1 and 2.2.
pub(crate) fn is_leaf(field: &Field) -> bool {
    match &field.data_type {
        DataType::Struct(fields) => fields.is_empty() || field.is_packed(),
        DataType::FixedSizeList(item, _) => !matches!(item.data_type, DataType::Struct(_)),
        other => other.children().is_empty(),
    }
}

#[derive(Debug)]
pub(crate) struct OpenColumn {
    pub(crate) pages: ColumnPages,
    opened: Box<[OnceBox<OpenPage>]>,
    /// Lists of version 2.0: the first item of each page, and the number of all items.
    pub(crate) item_starts: OnceBox<Vec<u64>>,
}

/// A page ready to be read.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a column boxes its pages as they are")]
pub(crate) enum OpenPage {
    V20(v20::Page),
    V21(v21::Page),
}

impl File {
    /// Opens a file: reads its footer and nothing else.
    ///
    /// # Errors
    /// See [`Container::open`].
    pub fn open(source: Arc<dyn Source>) -> Result<Self> {
        let container = Container::open(source)?;
        // The table of as many columns was found to lie in the file, so this is bounded by its size.
        let mut columns = Vec::with_capacity(container.num_columns() as usize);
        columns.resize_with(container.num_columns() as usize, OnceBox::new);
        Ok(File { container, columns: columns.into(), blob_files: None })
    }

    /// The same file with a way to those in which bytes of its blobs lie.
    #[must_use]
    pub fn with_blob_files(self, files: Arc<dyn BlobFiles>) -> Self {
        File { blob_files: Some(files), ..self }
    }

    /// The same file with another bound on what one compressed buffer (a chunk of values, a dictionary, in version 2.0
    /// a page) may expand to, in bytes. It is 256 MiB ([`DEFAULT_MAX_DECOMPRESSED`]) unless changed.
    ///
    /// Pages that were opened before keep the bound that they were opened with.
    ///
    /// [`DEFAULT_MAX_DECOMPRESSED`]: crate::DEFAULT_MAX_DECOMPRESSED
    #[must_use]
    pub fn with_max_decompressed(mut self, bytes: usize) -> Self {
        self.container.max_decompressed = bytes;
        self
    }

    pub(crate) fn blob_files(&self) -> Option<&dyn BlobFiles> {
        self.blob_files.as_deref()
    }

    /// The container: version, schema, global buffers.
    pub fn container(&self) -> &Container {
        &self.container
    }

    /// The values of `field` in the rows of `ranges`, one after the other.
    ///
    /// `columns` says where the field and its children lie; those that lie nowhere read as null. `rows` is
    /// how many rows the file must have. The ranges are ascending, disjoint, and end at `rows` at the most.
    /// The buffers of `reuse` are written again where they fit.
    ///
    /// # Errors
    /// Corrupt or unsupported, with column, page and offset; too large if the rows do not fit 32-bit
    /// offsets, or have more blobs than should be read at once; source if a file of blobs cannot be had.
    pub fn read(
        &self,
        field: &Field,
        columns: &ColumnMap,
        rows: u64,
        ranges: &[Range<u64>],
        reuse: Option<Column>,
    ) -> Result<Column> {
        self.read_with(field, columns, rows, ranges, reuse, &mut ReadRoom::default())
    }

    /// As [`File::read`], with `room` for what decoding needs. Reading few rows of one column again and again, with the
    /// same room and the last column to reuse, soon allocates nothing.
    ///
    /// # Errors
    /// As [`File::read`].
    pub fn read_with(
        &self,
        field: &Field,
        columns: &ColumnMap,
        rows: u64,
        ranges: &[Range<u64>],
        reuse: Option<Column>,
        room: &mut ReadRoom,
    ) -> Result<Column> {
        debug_assert!(ranges.is_sorted_by(|a, b| a.end <= b.start));
        if ranges.last().is_some_and(|last| last.end > rows) {
            return Err(Error::invalid_input(format!("expected rows below {rows}")));
        }
        match self.container.version() {
            FileVersion::V2_0 => v20::read(self, field, columns, rows, ranges, reuse),
            FileVersion::V2_1 | FileVersion::V2_2 => {
                v21::read(self, field, columns, rows, ranges, reuse, room)
            }
        }
        .map_err(|error| error.within(format!("column `{}`", field.name)))
    }

    /// The rows of `range` as numbers of the distinct values of `field`, if all of them lie in one page that
    /// stores each value once; `None` if they must be [`read`](Self::read) as they are.
    ///
    /// # Errors
    /// As [`File::read`].
    pub fn read_coded(
        &self,
        field: &Field,
        columns: &ColumnMap,
        rows: u64,
        range: Range<u64>,
    ) -> Result<Option<Coded>> {
        if range.end > rows {
            return Err(Error::invalid_input(format!("expected rows below {rows}")));
        }
        match self.container.version() {
            _ if range.is_empty() => Ok(None),
            FileVersion::V2_0 => Ok(None),
            FileVersion::V2_1 | FileVersion::V2_2 => v21::read_coded(self, field, columns, rows, range),
        }
        .map_err(|error| error.within(format!("column `{}`", field.name)))
    }

    /// The rows of the page that holds `row` of `field`, if any of them can be had without a copy, as long as
    /// they are not mixed with those of another page.
    ///
    /// # Errors
    /// As [`File::read`].
    pub fn lent_page(&self, field: &Field, columns: &ColumnMap, row: u64) -> Result<Option<Range<u64>>> {
        self.find_lent_page(field, columns, row)
            .map_err(|error| error.within(format!("column `{}`", field.name)))
    }

    fn find_lent_page(&self, field: &Field, columns: &ColumnMap, row: u64) -> Result<Option<Range<u64>>> {
        let Some((column, page)) = self.page_in_memory(field, columns, row)? else { return Ok(None) };
        let open = self.column(column)?;
        let lent = match self.container.version() {
            FileVersion::V2_0 => v20::page(self, column, page, field)?.lends_rows(),
            FileVersion::V2_1 | FileVersion::V2_2 => v21::page(self, column, page, field)?.lends_rows(),
        };
        Ok(lent.then(|| open.pages.starts[page]..open.pages.starts[page + 1]))
    }

    /// The rows around `row` of `field` that lie end to end in the file, so that reading them, or a part of them, copies
    /// nothing; `None` if that cannot be. They are those of a page, or of a chunk in it.
    ///
    /// # Errors
    /// As [`File::read`].
    pub fn lent_rows(&self, field: &Field, columns: &ColumnMap, row: u64) -> Result<Option<Range<u64>>> {
        let find = || {
            let Some((column, page)) = self.page_in_memory(field, columns, row)? else { return Ok(None) };
            let pages = &self.column(column)?.pages;
            let (start, end) = (pages.starts[page], pages.starts[page + 1]);
            let lent = match self.container.version() {
                FileVersion::V2_0 => {
                    v20::page(self, column, page, field)?.lends_rows().then_some(0..u64::MAX)
                }
                FileVersion::V2_1 | FileVersion::V2_2 => {
                    v21::page(self, column, page, field)?.lent_rows(row - start)
                }
            };
            Ok(lent.map(|rows| start + rows.start..rows.end.saturating_add(start).min(end)))
        };
        find().map_err(|error: Error| error.within(format!("column `{}`", field.name)))
    }

    /// `row` of `field`, and the rows that follow it without a gap, where they lie in the file, aligned for its values;
    /// `None` if they must be [`read`](Self::read). Rows of such pages are never null.
    ///
    /// # Errors
    /// As [`File::read`].
    pub fn lent_from(&self, field: &Field, columns: &ColumnMap, row: u64) -> Result<Option<Lent<'_>>> {
        let find = || {
            let Some((column, page)) = self.page_in_memory(field, columns, row)? else { return Ok(None) };
            let within = row - self.column(column)?.pages.starts[page];
            match self.container.version() {
                FileVersion::V2_0 => v20::page(self, column, page, field)?.lent_from(within),
                FileVersion::V2_1 | FileVersion::V2_2 => {
                    v21::page(self, column, page, field)?.lent_from(within)
                }
            }
        };
        find().map_err(|error: Error| error.within(format!("column `{}`", field.name)))
    }

    /// The column of `field` and the page of it that holds `row`, if the file lies in memory, aligned.
    fn page_in_memory(&self, field: &Field, columns: &ColumnMap, row: u64) -> Result<Option<(u32, usize)>> {
        let Some(column) = columns.get(field.id) else { return Ok(None) };
        // A file that lies in memory off the alignment of values would be copied after all.
        let lies_well = |bytes: &bytes::Bytes| bytes.as_ptr().align_offset(8) == 0;
        let in_memory = self.container.source().in_memory().is_some_and(lies_well);
        // Fields of packed structs are set apart, and copied.
        let is_struct = matches!(field.data_type, DataType::Struct(_));
        if is_struct || !is_leaf(field) || field.is_blob() || !in_memory {
            return Ok(None);
        }
        Ok(self.column(column)?.pages.page_of(row).map(|page| (column, page)))
    }

    /// The size of the file in bytes.
    pub fn size(&self) -> u64 {
        self.container.source().len()
    }

    /// The pages of which rows have been read so far, and the bytes of their buffers.
    pub fn pages_used(&self) -> (u64, u64) {
        let (mut pages, mut bytes) = (0, 0u64);
        for column in self.columns.iter().filter_map(OnceBox::get) {
            for (index, _) in column.opened.iter().enumerate().filter(|(_, page)| page.get().is_some()) {
                pages += 1;
                bytes = bytes.saturating_add(column.pages.page_bytes(index));
            }
        }
        (pages, bytes)
    }

    /// The pages of column `index`.
    pub(crate) fn column(&self, index: u32) -> Result<&OpenColumn> {
        let Some(slot) = self.columns.get(index as usize) else {
            return Err(Error::corrupt(format!(
                "expected column {index}, the file has {}",
                self.columns.len()
            )));
        };
        slot.get_or_try_init(|| {
            let pages = self.container.column(index)?;
            let mut opened = Vec::with_capacity(pages.len());
            opened.resize_with(pages.len(), OnceBox::new);
            Ok(Box::new(OpenColumn { pages, opened: opened.into(), item_starts: OnceBox::new() }))
        })
    }

    /// Page `index` of column `column`, opened by `open` if this is the first use of it.
    pub(crate) fn page(
        &self,
        column: u32,
        index: usize,
        open: impl FnOnce(&ColumnPages, PageParts) -> Result<OpenPage>,
    ) -> Result<&OpenPage> {
        let OpenColumn { pages, opened, .. } = self.column(column)?;
        opened[index]
            .get_or_try_init(|| Ok(Box::new(open(pages, self.container.page(pages, index)?)?)))
            .map_err(|error: Error| error.within(format!("page {index}")))
    }
}

/// The parts of `ranges` that lie in each page: calls `read` with the page and rows relative to its start.
pub(crate) fn for_each_page(
    pages: &ColumnPages,
    ranges: &[Range<u64>],
    mut read: impl FnMut(usize, Range<u64>) -> Result<()>,
) -> Result<()> {
    let mut page = 0;
    for range in ranges {
        let mut row = range.start;
        while row < range.end {
            if !(pages.starts[page] <= row && row < pages.starts[page + 1]) {
                page = pages.page_of(row).ok_or_else(|| pages.too_short(row))?;
            }
            let (start, end) = (pages.starts[page], pages.starts[page + 1].min(range.end));
            read(page, row - start..end - start).map_err(|error| error.within(format!("page {page}")))?;
            row = end;
        }
    }
    Ok(())
}

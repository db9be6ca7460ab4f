//! Pages of file version 2.1 and 2.2: structural encodings, a column for each leaf of the schema.

use crate::{Column, ColumnMap, Error, Field, File, Result, container::PageParts, file::OpenPage};
use core::ops::Range;

/// An opened page.
#[derive(Debug)]
pub(crate) struct Page {}

impl Page {
    fn open(_parts: PageParts, _field: &Field) -> Result<Self> {
        Err(Error::unsupported("file version 2.1"))
    }

    /// Whether rows of this page can be lent as they lie in the file.
    pub(crate) fn lends_rows(&self) -> bool {
        false
    }
}

/// Page `index` of `column`, which holds `field`.
pub(crate) fn page<'a>(file: &'a File, column: u32, index: usize, field: &Field) -> Result<&'a Page> {
    match file.page(column, index, |_, parts| Page::open(parts, field).map(OpenPage::V21))? {
        OpenPage::V21(page) => Ok(page),
        OpenPage::V20(_) => unreachable!("a file has one version"),
    }
}

/// See [`File::read`].
pub(crate) fn read(
    _file: &File,
    _field: &Field,
    _columns: &ColumnMap,
    _rows: u64,
    _ranges: &[Range<u64>],
    _reuse: Option<Column>,
) -> Result<Column> {
    Err(Error::unsupported("file version 2.1"))
}

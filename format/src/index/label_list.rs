//! LabelList: for each distinct element of lists the set of rows whose list holds it.
//!
//! ```text
//! bitmap_page_lookup.lance   as of a Bitmap index whose keys are elements; NULL: rows that hold a NULL element
//!                            metadata  lance:label_list_nulls: the number of a global buffer with the set of
//!                                      rows whose list is NULL; absent in version 0
//! ```
//! Rows with an empty list are nowhere.

use super::{BitmapIndex, IndexFiles, RowAddressSet};
use crate::Result;

const NULLS: &str = "lance:label_list_nulls";

/// An open LabelList index.
#[derive(Debug)]
pub struct LabelListIndex {
    elements: BitmapIndex,
    null_lists: Option<RowAddressSet>,
}

impl LabelListIndex {
    /// Reads the elements and the set of NULL lists.
    ///
    /// # Errors
    /// As [`BitmapIndex::open`], and corrupt if the set of NULL lists cannot be read.
    pub fn open(files: &dyn IndexFiles) -> Result<Self> {
        let elements = BitmapIndex::open(files)?;
        let null_lists = elements.file().rows_of_buffer(NULLS)?;
        Ok(LabelListIndex { elements, null_lists })
    }

    /// The rows of each element.
    pub fn elements(&self) -> &BitmapIndex {
        &self.elements
    }

    /// The rows whose list is NULL; `None` if the index does not tell.
    pub fn null_lists(&self) -> Option<&RowAddressSet> {
        self.null_lists.as_ref()
    }
}

//! [`Pages`]: the pages of a BTree that were read before.

use crate::cache::{Cached, IndexCache, Shelf};
use lancet_format::{Column, Result, index::BTreeIndex};
use lancet_index::btree;
use std::{ops::Range, sync::Arc};

/// Values and ids of pages, each read when it is first asked for.
#[derive(Debug)]
pub(crate) struct Pages {
    values: Arc<Shelf<Column>>,
    ids: Arc<Shelf<Column>>,
}

impl Cached for Column {
    fn bytes(&self) -> usize {
        self.heap_bytes() + size_of::<Self>()
    }
}

impl Pages {
    pub(crate) fn new(cache: &Arc<IndexCache>, tree: &BTreeIndex) -> Self {
        let shelf = || Shelf::new(cache.clone(), tree.num_pages());
        Pages { values: shelf(), ids: shelf() }
    }

    /// Appends the ids of rows of the index.
    ///
    /// # Errors
    /// Those of reading pages.
    pub(crate) fn extend_ids(&self, tree: &BTreeIndex, rows: Range<u64>, out: &mut Vec<u64>) -> Result<()> {
        let mut start = rows.start;
        while start < rows.end {
            let page = tree.page_of(start);
            let own = tree.page_rows(page);
            let end = rows.end.min(own.end);
            let ids = self.ids.get(page, || tree.read_ids(own.clone(), None))?;
            let ids = ids.primitive::<u64>().unwrap_or_default();
            out.extend_from_slice(&ids[(start - own.start) as usize..(end - own.start) as usize]);
            start = end;
        }
        Ok(())
    }
}

impl btree::Pages for &Pages {
    fn look(
        &mut self,
        index: &BTreeIndex,
        page: usize,
        look: &mut dyn FnMut(&Column) -> usize,
    ) -> Result<usize> {
        let values = self.values.get(page, || index.read_page(page, None))?;
        Ok(look(&values))
    }
}

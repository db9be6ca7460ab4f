//! [`Pages`]: the pages of a BTree that were read before.

use crate::cache::{Cached, IndexCache, Shelf};
use lancet_format::{Column, Keys, Result, index::BTreeIndex};
use lancet_index::btree;
use std::{ops::Range, sync::Arc};

/// Keys and ids of pages, each read when it is first asked for.
#[derive(Debug)]
pub(crate) struct Pages {
    keys: Arc<Shelf<Keys>>,
    ids: Arc<Shelf<Column>>,
}

impl Cached for Column {
    fn bytes(&self) -> usize {
        self.heap_bytes() + size_of::<Self>()
    }
}

impl Cached for Keys {
    fn bytes(&self) -> usize {
        self.heap_bytes() + size_of::<Self>()
    }
}

impl Pages {
    pub(crate) fn new(cache: &Arc<IndexCache>, tree: &BTreeIndex) -> Self {
        let pages = tree.num_pages();
        Pages { keys: Shelf::new(cache.clone(), pages), ids: Shelf::new(cache.clone(), pages) }
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
        look: &mut dyn FnMut(&Keys) -> usize,
    ) -> Result<usize> {
        let keys = self.keys.get(page, || index.read_keys(page))?;
        Ok(look(&keys))
    }
}

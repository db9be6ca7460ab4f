//! [`Coded`]: rows as numbers of the distinct values that their page stores once.

use crate::{Bitmap, Column};
use alloc::{sync::Arc, vec::Vec};

/// Rows of a page that stores each distinct value once: a dictionary, or a page of one value. What is computed of
/// the items need not be computed for each row.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Coded {
    /// For each row the position of its value in `items`; that of a null row is unimportant but below their number.
    pub codes: Vec<u32>,
    /// The distinct values: at least one, none of them null. All rows of a page share the same.
    pub items: Arc<Column>,
    /// Which rows are not null; `None` if all of them.
    pub validity: Option<Bitmap>,
}

impl Coded {
    /// Rows as numbers of distinct values.
    ///
    /// # Panics
    /// If a code is not below the number of items, or the validity is not that of so many rows.
    pub fn new(codes: Vec<u32>, items: Arc<Column>, validity: Option<Bitmap>) -> Self {
        assert!(codes.iter().all(|&code| (code as usize) < items.len()), "codes of {} items", items.len());
        assert!(
            validity.as_ref().is_none_or(|bits| bits.len() == codes.len()),
            "validity of {}",
            codes.len()
        );
        Coded { codes, items, validity }
    }
}

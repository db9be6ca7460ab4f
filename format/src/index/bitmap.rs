//! Bitmap: for each distinct value the set of its rows.
//!
//! ```text
//! bitmap_page_lookup.lance   keys: T, in any order, NULL among them | bitmaps: binary, a set of rows each
//! ```
//! Floats are distinct by their bits: −0 and +0 have a row each, and so has every NaN. A key may have no rows. A
//! key should not occur twice; if it does, its rows are those of both.

use super::{
    RowAddressSet,
    files::{IndexFile, IndexFiles},
};
use crate::{Column, DataType, Error, Field, Key, Keys, Result, table::partition_point};
use alloc::{format, sync::Arc, vec::Vec};
use core::ops::Range;

/// The only file.
pub(super) const FILE: &str = "bitmap_page_lookup.lance";

/// An open Bitmap index: the keys in memory, the sets in their file.
#[derive(Debug)]
pub struct BitmapIndex {
    file: IndexFile,
    data_type: DataType,
    keys: Keys,
    /// Rows of the file without NULL, in the order of their keys.
    order: Vec<u32>,
    /// Rows of the file whose key is NULL.
    nulls: Vec<u32>,
    sets: Arc<Field>,
}

impl BitmapIndex {
    /// Reads the keys.
    ///
    /// # Errors
    /// Corrupt if the file is missing or does not hold such columns, unsupported if the values have no order.
    pub fn open(files: &dyn IndexFiles) -> Result<Self> {
        let file = IndexFile::open(files, FILE)?;
        let field = file.ordered_field("keys")?;
        let sets = file.binary_field("bitmaps")?;
        let Ok(rows) = u32::try_from(file.rows()) else {
            let message = format!("expected fewer keys, found {}", file.rows());
            return file.check(Err(Error::corrupt(message)));
        };
        let keys: Column = file.read_all(&field)?;
        let keys = Keys::of(keys).expect("a type that was found to have an order");
        let (nulls, mut order): (Vec<u32>, Vec<u32>) = (0..rows).partition(|&row| keys.is_null(row as usize));
        order.sort_by_key(|&row| keys.get(row as usize));
        Ok(BitmapIndex { file, data_type: field.data_type.clone(), keys, order, nulls, sets })
    }

    /// The type of the values.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The number of keys apart from NULL.
    pub fn num_keys(&self) -> usize {
        self.order.len()
    }

    /// The key at a position in the order of values.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn key(&self, position: usize) -> Key<'_> {
        self.keys.get(self.order[position] as usize).expect("ordered keys are not NULL")
    }

    /// The position of the first key for which `is_before` does not hold; it holds for none behind that.
    pub fn partition_point(&self, is_before: impl Fn(Key<'_>) -> bool) -> usize {
        partition_point(self.order.len(), |position| is_before(self.key(position)))
    }

    /// The positions of the keys that are equal to `key`.
    pub fn find(&self, key: Key<'_>) -> Range<usize> {
        let start = self.partition_point(|own| own < key);
        let equal = (start..self.num_keys()).take_while(|&position| self.key(position) == key).count();
        start..start + equal
    }

    /// The rows of the key at a position.
    ///
    /// # Errors
    /// Corrupt if they cannot be read.
    ///
    /// # Panics
    /// If there are not so many keys.
    pub fn rows(&self, position: usize) -> Result<RowAddressSet> {
        self.set(self.order[position])
    }

    /// The number of sets of NULL rows; one or none unless the file repeats itself.
    pub fn num_null_sets(&self) -> usize {
        self.nulls.len()
    }

    /// A set of NULL rows.
    ///
    /// # Errors
    /// Corrupt if it cannot be read.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn null_rows(&self, index: usize) -> Result<RowAddressSet> {
        self.set(self.nulls[index])
    }

    fn set(&self, row: u32) -> Result<RowAddressSet> {
        let bytes = self.file.bytes(&self.sets, row.into())?;
        self.file.check(RowAddressSet::parse(&bytes).map_err(|error| error.within(format!("row {row}"))))
    }

    /// The file, for what is particular to lists.
    pub(super) fn file(&self) -> &IndexFile {
        &self.file
    }
}

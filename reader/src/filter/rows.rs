//! [`Rows`]: the rows of a range for which a value is computed.

use super::Mask;
use lancet_format::Column;
use std::sync::Arc;

/// All rows of a range, or some of them by ascending position.
#[derive(Debug, Clone)]
pub(super) enum Rows {
    All(usize),
    Picked(Arc<[u32]>),
}

impl Rows {
    /// The rows of `mask`.
    pub(super) fn of(mask: &Mask) -> Self {
        match mask.count() == mask.len() {
            true => Rows::All(mask.len()),
            false => Rows::Picked(mask.iter().map(|row| row as u32).collect()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Rows::All(len) => *len,
            Rows::Picked(positions) => positions.len(),
        }
    }

    /// Where row `i` of these lies in the range.
    pub(super) fn position(&self, i: usize) -> usize {
        match self {
            Rows::All(_) => i,
            Rows::Picked(positions) => positions[i] as usize,
        }
    }

    /// Those of these rows that are in `some`, a mask with one bit for each of these.
    pub(super) fn among(&self, some: &Mask) -> Rows {
        match self {
            Rows::All(_) => Rows::of(some),
            Rows::Picked(positions) => Rows::Picked(some.iter().map(|i| positions[i]).collect()),
        }
    }

    /// These rows as a mask of a range of `len`.
    pub(super) fn mask(&self, len: usize) -> Mask {
        match self {
            Rows::All(len) => Mask::filled(*len, true),
            Rows::Picked(_) => self.scatter(&Mask::filled(self.len(), true), len),
        }
    }

    /// A mask of these rows as a mask of a range of `len`.
    pub(super) fn scatter(&self, some: &Mask, len: usize) -> Mask {
        match self {
            Rows::All(_) => some.clone(),
            Rows::Picked(positions) => {
                let mut mask = Mask::filled(len, false);
                some.iter().for_each(|i| mask.set(positions[i] as usize, true));
                mask
            }
        }
    }

    /// A mask of a range as a mask of these rows.
    pub(super) fn gather(&self, mask: Mask) -> Mask {
        match self {
            Rows::All(_) => mask,
            Rows::Picked(positions) => {
                let mut gathered = Mask::filled(positions.len(), false);
                for (i, &position) in positions.iter().enumerate() {
                    gathered.set(i, mask.get(position as usize));
                }
                gathered
            }
        }
    }
}

/// The values of an expression: one for each row, or one for all.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) column: Arc<Column>,
    /// Whether the column has one row that stands for all.
    pub(super) constant: bool,
}

impl Value {
    pub(super) fn new(column: Column) -> Self {
        Value { column: Arc::new(column), constant: false }
    }

    /// Where the value of row `i` lies in the column.
    #[inline]
    pub(super) fn at(&self, i: usize) -> usize {
        if self.constant { 0 } else { i }
    }

    /// Whether the value of row `i` is NULL.
    #[inline]
    pub(super) fn is_null(&self, i: usize) -> bool {
        self.column.is_null(self.at(i))
    }

    /// A column of `len` rows.
    pub(super) fn expand(self, len: usize) -> crate::Result<Arc<Column>> {
        match self.constant {
            false => Ok(self.column),
            true => Ok(Arc::new(Column::gather(&[&self.column], &vec![(0, 0); len], None)?)),
        }
    }
}

//! [`RangeInputs`]: the columns of some rows of one fragment, each read when it is first asked for.

use crate::{
    Result,
    files::FilePool,
    filter::{Input, Inputs},
    fragment::Fragment,
    projection::ProjectedColumn,
    read,
};
use lancet_format::Column;
use std::{ops::Range, sync::Arc};

/// Columns of the physical rows of `ranges`, read when they are asked for.
#[derive(Debug)]
pub(crate) struct RangeInputs<'a> {
    fragment: &'a Fragment,
    pool: &'a FilePool,
    columns: &'a [ProjectedColumn],
    ranges: &'a [Range<u64>],
    read: Vec<Option<Input>>,
    /// Buffers of earlier rows, to be used again.
    old: &'a mut Vec<Option<Column>>,
}

impl<'a> RangeInputs<'a> {
    pub(crate) fn new(
        fragment: &'a Fragment,
        pool: &'a FilePool,
        columns: &'a [ProjectedColumn],
        ranges: &'a [Range<u64>],
        old: &'a mut Vec<Option<Column>>,
    ) -> Self {
        let mut read = Vec::new();
        read.resize_with(columns.len(), || None);
        old.resize_with(columns.len(), || None);
        RangeInputs { fragment, pool, columns, ranges, read, old }
    }

    /// Reads column `index`: as codes, if it has them for all rows at once.
    fn load(&mut self, index: usize) -> Result<Input> {
        let column = &self.columns[index];
        if let (ProjectedColumn::Field { root, path }, [range]) = (column, self.ranges)
            && path.is_empty()
            && let Some(coded) = self.fragment.read_coded(self.pool, root, range.clone())?
        {
            return Ok(Input::Coded(Arc::new(coded)));
        }
        let reuse = self.old[index].take();
        let column = read::column(self.fragment, self.pool, column, self.ranges, reuse)?;
        Ok(Input::Plain(Arc::new(column)))
    }
}

impl Inputs for RangeInputs<'_> {
    fn rows(&self) -> usize {
        read::count(self.ranges)
    }

    fn column(&mut self, index: usize) -> Result<&Input> {
        if self.read[index].is_none() {
            self.read[index] = Some(self.load(index)?);
        }
        Ok(self.read[index].as_ref().expect("it was just read"))
    }
}

impl Drop for RangeInputs<'_> {
    /// Keeps the buffers for the next rows.
    fn drop(&mut self) {
        for (old, read) in self.old.iter_mut().zip(self.read.drain(..)) {
            if let Some(Input::Plain(column)) = read {
                *old = Arc::into_inner(column);
            }
        }
    }
}

//! Pages of file version 2.0: trees of array encodings, a column for each node of the schema.
//!
//! ```text
//! leaf      one column: numbers, text, vectors, packed structs, blobs
//! struct    a column without buffers, then the columns of its fields; structs are never null
//! list      a column of ends, then the columns of its items
//! ```
//! The ends of a list count the items of their own page of ends; the items of all pages lie end to end in
//! the column of the items, whose pages need not begin where those of the ends do.

mod array;
mod bitpacked;
mod data;
mod dictionary;
mod ends;
mod page;

pub(crate) use page::Page;

use crate::{
    Bitmap, Buffer, Column, ColumnMap, DataType, Error, Field, File, Physical, Result, Values,
    bitmap::BitmapBuilder,
    blob::{fetch, first_version},
    column::{Offset, too_large},
    container::ColumnPages,
    file::{OpenPage, for_each_page, is_leaf},
    leaf::{LeafBuilder, LeafShape, Room},
};
use alloc::{boxed::Box, format, sync::Arc, vec::Vec};
use core::{cell::Cell, ops::Range, slice};
use page::Content;

/// The position and size of a blob that is null.
const NULL_BLOB: [u64; 2] = [1, 0];

/// Null items that take no bytes in the file are read up to this size in memory, in one call.
const MAX_ABSENT_BYTES: u64 = 1 << 28;

/// Page `index` of `column`, which holds `field`.
pub(crate) fn page<'a>(file: &'a File, column: u32, index: usize, field: &Field) -> Result<&'a Page> {
    let opened = file.page(column, index, |pages, parts| {
        Page::open(pages, &parts, field).map(OpenPage::V20).map_err(|error| error.at(parts.encoding_position))
    })?;
    match opened {
        OpenPage::V20(page) => Ok(page),
        OpenPage::V21(_) => unreachable!("a file has one version"),
    }
}

/// See [`File::read`].
pub(crate) fn read(
    file: &File,
    field: &Field,
    columns: &ColumnMap,
    rows: u64,
    ranges: &[Range<u64>],
    reuse: Option<Column>,
) -> Result<Column> {
    Reader { file, columns, absent: Cell::new(0) }.field(field, Rows::Exactly(rows), ranges, reuse)
}

/// What is known about the number of rows of a column.
#[derive(Clone, Copy)]
enum Rows {
    /// Top-level columns and their fields.
    Exactly(u64),
    /// Items of lists: those that the lists cover.
    AtLeast(u64),
}

struct Reader<'a> {
    file: &'a File,
    columns: &'a ColumnMap,
    /// Bytes of memory for items that take none in the file.
    absent: Cell<u64>,
}

impl<'a> Reader<'a> {
    fn field(
        &self,
        field: &Field,
        rows: Rows,
        ranges: &[Range<u64>],
        reuse: Option<Column>,
    ) -> Result<Column> {
        if self.is_absent(field) {
            return self.nulls(&field.data_type, rows, ranges);
        }
        match (&field.data_type, field.data_type.physical()) {
            (DataType::Struct(_), _) if field.is_blob() => self.descriptions(field, rows, ranges),
            (DataType::Struct(fields), _) if field.is_packed() && !self.has_any(fields) => {
                self.packed(field, rows, ranges)
            }
            (DataType::Struct(fields), _) => self.structs(field, fields, rows, ranges, reuse),
            (_, Physical::List) => {
                let values = |offsets, items| Values::List { offsets, items };
                self.lists::<i32>(field, rows, ranges, reuse, values)
            }
            (_, Physical::LargeList) => {
                let values = |offsets, items| Values::LargeList { offsets, items };
                self.lists::<i64>(field, rows, ranges, reuse, values)
            }
            _ => self.leaf(field, rows, ranges, reuse),
        }
    }

    /// Lists can claim any number of items that take no bytes in the file: not so many that they fill memory.
    fn count_absent(&self, items: usize, bits: u64) -> Result<()> {
        let bytes = (items as u64).checked_mul(bits).map(|bits| bits.div_ceil(8));
        match bytes.and_then(|bytes| self.absent.get().checked_add(bytes)) {
            Some(bytes) if bytes <= MAX_ABSENT_BYTES => {
                self.absent.set(bytes);
                Ok(())
            }
            _ => Err(too_large()),
        }
    }

    /// Whether neither `field` nor a field below it lies in the file.
    fn is_absent(&self, field: &Field) -> bool {
        self.columns.get(field.id).is_none()
            && (is_leaf(field) || field.data_type.children().iter().all(|child| self.is_absent(child)))
    }

    /// Whether any of `fields` has a column of its own. Those of a packed struct have none; the first writers of this
    /// version packed only by the older of the two names, and kept the other in the schema.
    fn has_any(&self, fields: &[Arc<Field>]) -> bool {
        fields.iter().any(|field| self.columns.get(field.id).is_some())
    }

    fn nulls(&self, data_type: &DataType, rows: Rows, ranges: &[Range<u64>]) -> Result<Column> {
        let data_type = match data_type {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        let count = total(ranges)?;
        if let Rows::AtLeast(_) = rows {
            let width = data_type.value_bytes().saturating_mul(8);
            self.count_absent(count, width)?;
        }
        Column::absent(data_type, count)
    }

    /// The pages of the column that holds `field`, and its number.
    fn pages(&self, field: &Field, rows: Rows) -> Result<(u32, &'a ColumnPages)> {
        let Some(column) = self.columns.get(field.id) else {
            return Err(Error::corrupt(format!(
                "expected a column for field {}, since there are some below it",
                field.id
            )));
        };
        let pages = &self.file.column(column)?.pages;
        match rows {
            Rows::Exactly(rows) => pages.expect_rows(rows)?,
            Rows::AtLeast(rows) if pages.rows() < rows => return Err(pages.too_short(rows - 1)),
            Rows::AtLeast(_) => {}
        }
        Ok((column, pages))
    }

    fn structs(
        &self,
        field: &Field,
        fields: &[Arc<Field>],
        rows: Rows,
        ranges: &[Range<u64>],
        reuse: Option<Column>,
    ) -> Result<Column> {
        if self.columns.get(field.id).is_some() {
            self.pages(field, rows)?;
        }
        let mut old = match reuse.map(|column| column.into_parts().1) {
            Some(Values::Struct(children)) => children,
            _ => Vec::new(),
        }
        .into_iter();
        let children = fields
            .iter()
            .map(|child| {
                self.field(child, rows, ranges, old.next())
                    .map_err(|error| error.within(format!("field `{}`", child.name)))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Column::new(field.data_type.clone(), total(ranges)?, None, Values::Struct(children)))
    }

    fn lists<O: Offset>(
        &self,
        field: &Field,
        rows: Rows,
        ranges: &[Range<u64>],
        reuse: Option<Column>,
        values: fn(Buffer, Box<Column>) -> Values,
    ) -> Result<Column> {
        let [item] = field.data_type.children() else {
            return Err(Error::corrupt(format!("expected one child field of {}", field.data_type)));
        };
        let (column, pages) = self.pages(field, rows)?;
        let starts = self.item_starts(column, field)?;
        let count = total(ranges)?;
        let (validity, old) = reuse.map(Column::into_parts).unzip();
        let (mut offsets, old_items) = match old {
            Some(Values::List { offsets, items } | Values::LargeList { offsets, items }) => {
                (offsets, Some(*items))
            }
            _ => Default::default(),
        };
        offsets.clear();
        // As for the values of a leaf: no more than the file can hold.
        let most = usize::try_from(self.file.container().source().len()).unwrap_or(usize::MAX);
        offsets.reserve((count.min(most) + 1) * size_of::<O>());
        offsets.grow_typed::<O>(1)[0] = O::from_usize(0)?;
        let mut validity = reused_bits(validity.flatten(), count);
        let mut items: Vec<Range<u64>> = Vec::new();
        let nested = matches!(rows, Rows::AtLeast(_));
        let mut base = 0usize;
        for_each_page(pages, ranges, |index, rows| {
            let page = page(self.file, column, index, field)?;
            let Content::List(ends) = &page.content else { return Err(changed(field)) };
            let rows = rows.start as usize..rows.end as usize;
            let Some(ends) = ends else {
                if nested {
                    self.count_absent(rows.len(), 8 * size_of::<O>() as u64)?;
                }
                offsets.grow_typed::<O>(rows.len()).fill(O::from_usize(base)?);
                validity.append_n(rows.len(), false);
                return Ok(());
            };
            let cuts = ends.cut(rows.clone())?;
            if rows.end == page.rows && cuts.last != ends.limit() {
                let message = format!("expected the last end to be {}, found {}", ends.limit(), cuts.last);
                return Err(ends.bad(rows.end - 1, message));
            }
            // Offsets ascend, so that the last is the largest.
            let end = usize::try_from(cuts.last - cuts.first)
                .ok()
                .and_then(|items| base.checked_add(items))
                .ok_or_else(too_large)?;
            O::from_usize(end)?;
            for (offset, end) in offsets.grow_typed::<O>(rows.len()).iter_mut().zip(cuts.ends()) {
                *offset = O::from_usize(base + end)?;
            }
            base = end;
            cuts.append_validity(&mut validity);
            let cut = starts[index] + cuts.first..starts[index] + cuts.last;
            match items.last_mut() {
                _ if cut.is_empty() => {}
                Some(last) if last.end == cut.start => last.end = cut.end,
                _ => items.push(cut),
            }
            Ok(())
        })?;
        let rows = Rows::AtLeast(starts.last().copied().unwrap_or_default());
        let items = self
            .field(item, rows, &items, old_items)
            .map_err(|error| error.within(format!("field `{}`", item.name)))?;
        let values = values(offsets, Box::new(items));
        Ok(Column::new(field.data_type.clone(), count, validity.finish(), values))
    }

    /// The first item of each page of the list column `column`, and the number of all items.
    fn item_starts(&self, column: u32, field: &Field) -> Result<&'a [u64]> {
        let open = self.file.column(column)?;
        let starts = open.item_starts.get_or_try_init(|| {
            let mut starts = Vec::with_capacity(open.pages.len() + 1);
            let mut items = 0u64;
            starts.push(0);
            for index in 0..open.pages.len() {
                let parts = self.file.container().page(&open.pages, index)?;
                let more = page::num_items(&parts, field)?;
                items = items.checked_add(more).filter(|&items| items <= 1 << 40).ok_or_else(|| {
                    Error::corrupt(format!("list: pages of more than 2^40 items in all, one of {more}"))
                        .at(parts.encoding_position)
                })?;
                starts.push(items);
            }
            Ok::<_, Error>(Box::new(starts))
        })?;
        Ok(starts)
    }

    fn leaf(
        &self,
        field: &Field,
        rows: Rows,
        ranges: &[Range<u64>],
        reuse: Option<Column>,
    ) -> Result<Column> {
        let (column, pages) = self.pages(field, rows)?;
        let count = total(ranges)?;
        if page::is_blob(pages)? {
            let descriptions = self.descriptions(field, rows, ranges)?;
            let old = reuse.map(|column| column.into_parts().1);
            return fetch(self.file, &descriptions, &field.data_type, count, old);
        }
        let shape = LeafShape::of(&field.data_type)?;
        let whole = contiguous(ranges);
        let ranges = whole.as_ref().map_or(ranges, slice::from_ref);
        let keep =
            whole.as_ref().is_some_and(|rows| pages.page_of(rows.start) == pages.page_of(rows.end - 1));

        // Memory is set aside for rows that the file can hold, not for those that it claims to hold.
        let slot_bits = shape.slot_bits();
        let file_bits = self.file.container().source().len().saturating_mul(8);
        let room = usize::try_from(file_bits / slot_bits.unwrap_or(1).max(1)).unwrap_or(usize::MAX);
        let expected = count.min(room);
        let (validity, values) = reuse.map(Column::into_parts).unzip();
        let mut validity = reused_bits(validity.flatten(), expected);
        let mut slots = LeafBuilder::new(shape, expected, values);
        let mut room = Room::of_slots(expected);
        if !keep && matches!(slots.shape(), LeafShape::Variable { .. }) {
            for_each_page(pages, ranges, |index, part| {
                let part = part.start as usize..part.end as usize;
                if let Content::Leaf(array) = &page(self.file, column, index, field)?.content {
                    room.bytes = room.bytes.saturating_add(array.text_bytes(part)?);
                }
                Ok(())
            })?;
        }
        if !keep {
            slots.reserve(room, usize::try_from(file_bits / 8).unwrap_or(usize::MAX));
        }
        for_each_page(pages, ranges, |index, part| {
            let part = part.start as usize..part.end as usize;
            match &page(self.file, column, index, field)?.content {
                Content::Leaf(array) if array.shape().is(slots.shape()) => {
                    if let Rows::AtLeast(_) = rows
                        && array.is_absent()
                    {
                        self.count_absent(part.len(), slot_bits.unwrap_or(64))?;
                    }
                    array.read(part, &mut slots, &mut validity, keep)
                }
                _ => Err(changed(field)),
            }
        })?;
        let validity = match slots.shape() {
            LeafShape::Null => None,
            _ => validity.finish(),
        };
        Ok(slots.finish(&field.data_type, validity))
    }

    /// What the pages of `column` say about the values of `ranges`, as structs: position 1 and no bytes is
    /// null, every other size says how many bytes lie at the position in the file.
    fn descriptions(&self, field: &Field, rows: Rows, ranges: &[Range<u64>]) -> Result<Column> {
        let (column, pages) = self.pages(field, rows)?;
        let count = total(ranges)?;
        let (mut positions, mut sizes) = (Buffer::new(), Buffer::new());
        let mut validity = BitmapBuilder::default();
        for_each_page(pages, ranges, |index, part| {
            let Content::Blobs(descriptions) = &page(self.file, column, index, field)?.content else {
                return Err(changed(field));
            };
            let part = part.start as usize..part.end as usize;
            let count = part.len();
            let window = descriptions.rows(part)?;
            let pairs = window.as_chunks::<8>().0.as_chunks::<2>().0;
            let out = positions.grow_typed::<u64>(count).iter_mut().zip(sizes.grow_typed::<u64>(count));
            for (pair, (position, size)) in pairs.iter().zip(out) {
                let found = pair.map(u64::from_le_bytes);
                validity.append(found != NULL_BLOB);
                [*position, *size] = if found == NULL_BLOB { [0; 2] } else { found };
            }
            Ok(())
        })?;
        let numbers = |buffer| Column::new(DataType::UInt64, count, None, Values::Fixed(buffer));
        let children = Values::Struct([positions, sizes].map(numbers).into());
        Ok(Column::new(first_version(), count, validity.finish(), children))
    }

    /// A struct whose rows are the values of its fields end to end.
    fn packed(&self, field: &Field, rows: Rows, ranges: &[Range<u64>]) -> Result<Column> {
        let (column, pages) = self.pages(field, rows)?;
        let count = total(ranges)?;
        let fields = field.data_type.children();
        let mut builders = Vec::with_capacity(fields.len());
        for child in fields {
            builders.push((
                page::packed_child_width(child)?,
                LeafBuilder::new(LeafShape::of(&child.data_type)?, 0, None),
            ));
        }
        for_each_page(pages, ranges, |index, part| {
            let Content::Packed(records) = &page(self.file, column, index, field)?.content else {
                return Err(changed(field));
            };
            let part = part.start as usize..part.end as usize;
            let bytes = records.rows(part.clone())?;
            let mut at = 0;
            for (width, builder) in &mut builders {
                let out = builder.grow_fixed(part.len(), *width)?;
                for (slot, record) in out.chunks_exact_mut(*width).zip(bytes.chunks_exact(records.width())) {
                    slot.copy_from_slice(record.get(at..at + *width).ok_or_else(|| changed(field))?);
                }
                at += *width;
            }
            Ok(())
        })?;
        let children = fields
            .iter()
            .zip(builders)
            .map(|(child, (_, builder))| builder.finish(&child.data_type, None))
            .collect();
        Ok(Column::new(field.data_type.clone(), count, None, Values::Struct(children)))
    }
}

/// The number of rows in `ranges`.
fn total(ranges: &[Range<u64>]) -> Result<usize> {
    let rows = ranges.iter().map(|range| range.end - range.start).sum::<u64>();
    usize::try_from(rows).map_err(|_| too_large())
}

/// The one range that `ranges` are, if no rows are left out between them.
fn contiguous(ranges: &[Range<u64>]) -> Option<Range<u64>> {
    let (first, last) = (ranges.first()?, ranges.last()?);
    let gapless = ranges.windows(2).all(|pair| pair[0].end == pair[1].start);
    (gapless && first.start < last.end).then_some(first.start..last.end)
}

fn reused_bits(old: Option<Bitmap>, expected: usize) -> BitmapBuilder {
    BitmapBuilder::reuse(old.map(Bitmap::into_buffer).unwrap_or_default(), expected)
}

/// A page is opened once, for the type that its column was first read with.
#[cold]
fn changed(field: &Field) -> Error {
    Error::invalid_input(format!("column was read before with a type that is not {}", field.data_type))
}

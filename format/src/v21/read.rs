//! Rows of a column: those of its leaves, page by page, put together.

use super::{
    ReadRoom, Target,
    layers::Node,
    packed,
    page::{leaf_shape, open_page},
    structure::{LeafColumn, Structure, assemble, for_each_leaf, is_empty_struct},
};
use crate::{
    Bitmap, Buffer, Column, ColumnMap, DataType, Error, Field, File, Result, Values,
    blob::fetch,
    coded::Coded,
    column::{check_repeated, too_large},
    file::{for_each_page, is_leaf},
    leaf::{LeafBuilder, LeafShape, Room},
};
use alloc::{format, vec::Vec};
use core::ops::Range;

/// So many ranges are read together.
const MANY_RANGES: usize = 4;

/// Ranges of at least so many rows are worth a look at what they need.
const MIN_RUN: usize = 256;

/// See [`File::read_coded`].
pub(crate) fn read_coded(
    file: &File,
    field: &Field,
    columns: &ColumnMap,
    rows: u64,
    range: Range<u64>,
) -> Result<Option<Coded>> {
    let path = &[Node::Item];
    let Some(column) = columns.get(field.id) else { return Ok(None) };
    if !is_leaf(field) || field.blob_description().is_some() || !field.data_type.children().is_empty() {
        return Ok(None);
    }
    let pages = &file.column(column)?.pages;
    pages.expect_rows(rows)?;
    let Some(index) = pages.page_of(range.start) else { return Ok(None) };
    if pages.starts[index + 1] < range.end {
        return Ok(None);
    }
    let page = open_page(file, column, index, path, field)?;
    let Some(items) = page.items(&field.data_type) else { return Ok(None) };
    let count = total(core::slice::from_ref(&range))?;
    check_repeated(count, size_of::<u32>() as u64)?;
    let leaf = LeafBuilder::new(page.shape.clone(), 0, None);
    let mut target =
        Target::new(leaf, Structure::new(path, count, count, Buffer::new()), false, &mut ReadRoom::default());
    target.codes = Some(Vec::with_capacity(count));
    let start = pages.starts[index];
    page.read(range.start - start..range.end - start, &mut target)
        .map_err(|error| error.within(format!("page {index}")))?;
    let validity = target.structure.finish(&mut Buffer::new()).leaf.take_validity();
    Ok(Some(Coded { codes: target.codes.unwrap_or_default(), items: items.clone(), validity }))
}

/// See [`File::read`].
pub(crate) fn read(
    file: &File,
    field: &Field,
    columns: &ColumnMap,
    rows: u64,
    ranges: &[Range<u64>],
    reuse: Option<Column>,
    room: &mut ReadRoom,
) -> Result<Column> {
    let count = total(ranges)?;
    if is_leaf(field) {
        return match columns.get(field.id) {
            Some(column) => {
                Ok(read_leaf(file, field, &[Node::Item], column, rows, ranges, reuse, room)?.leaf)
            }
            None => Column::absent(&field.data_type, count),
        };
    }
    let mut leaves = Vec::new();
    for_each_leaf(field, &mut Vec::new(), &mut |leaf, path| {
        leaves.push(match columns.get(leaf.id) {
            Some(column) => {
                Some(read_leaf(file, leaf, path, column, rows, ranges, None, &mut ReadRoom::default())?)
            }
            None => None,
        });
        Ok(())
    })?;
    assemble(field, 0, count, &mut leaves.iter_mut())
}

/// The number of rows in `ranges`.
fn total(ranges: &[Range<u64>]) -> Result<usize> {
    let rows = ranges.iter().try_fold(0u64, |rows, range| rows.checked_add(range.end - range.start));
    rows.and_then(|rows| usize::try_from(rows).ok()).ok_or_else(too_large)
}

/// The size of the file.
fn file_bytes(file: &File) -> usize {
    usize::try_from(file.container().source().len()).unwrap_or(usize::MAX)
}

#[expect(clippy::too_many_arguments, reason = "where the leaf lies, its rows, and room for them")]
fn read_leaf(
    file: &File,
    field: &Field,
    path: &[Node],
    column: u32,
    rows: u64,
    ranges: &[Range<u64>],
    reuse: Option<Column>,
    room: &mut ReadRoom,
) -> Result<LeafColumn> {
    if let Some(described) = field.blob_description() {
        let LeafColumn { nodes, leaf } = read_leaf(file, &described, path, column, rows, ranges, None, room)?;
        let old_values = reuse.map(|column| column.into_parts().1);
        let leaf = fetch(file, &leaf, &field.data_type, total(ranges)?, old_values)?;
        return Ok(LeafColumn { nodes, leaf });
    }
    let pages = &file.column(column)?.pages;
    // Fixed-size lists of structs have as many entries for each row as structs in it.
    let entries = path.iter().try_fold(1usize, |entries, node| entries.checked_mul(node.entries()));
    let entries = entries.ok_or_else(too_large)?;
    let scaled: Vec<Range<u64>>;
    let ranges = match entries {
        1 => ranges,
        _ if path.contains(&Node::List) => {
            return Err(Error::unsupported(
                "encoding of lists together with fixed-size lists of structs is not supported",
            ));
        }
        _ => {
            let entries = entries as u64;
            let scale = |row: u64| row.checked_mul(entries).ok_or_else(too_large);
            scaled = ranges
                .iter()
                .map(|range| Ok(scale(range.start)?..scale(range.end)?))
                .collect::<Result<_>>()?;
            &scaled
        }
    };
    pages.expect_rows(rows.saturating_mul(entries as u64))?;
    // A false number of rows sets no memory aside: where rows take no bytes, the builders grow with them.
    let count = total(ranges)?.min(file_bytes(file).saturating_mul(8));
    let (old_validity, old_values) = reuse.map(Column::into_parts).unzip();
    let in_one_page = match ranges {
        [range] => range.start < range.end && pages.page_of(range.start) == pages.page_of(range.end - 1),
        _ => false,
    };
    let keep = in_one_page && {
        let page = pages.page_of(ranges[0].start).ok_or_else(|| pages.too_short(ranges[0].start))?;
        let (start, last) = (ranges[0].start - pages.starts[page], ranges[0].end - 1 - pages.starts[page]);
        let lent = open_page(file, column, page, path, field)?.lent_rows(start);
        lent.is_some_and(|rows| rows.contains(&last))
    };
    // Runs of rows are looked at before they are read, so that every buffer has its final size from the beginning;
    // rows here and there are too few for their buffers to grow often.
    let mut needed = Room::of_slots(count);
    if !keep && count / MIN_RUN >= ranges.len() {
        needed = Room::default();
        for_each_page(pages, ranges, |page, rows| {
            needed += open_page(file, column, page, path, field)?.room(rows, in_one_page)?;
            Ok(())
        })?;
    }
    let inner = needed.slots.min(file_bytes(file).saturating_mul(8));
    let mut leaf = LeafBuilder::new(leaf_shape(field)?, inner, old_values);
    if !keep {
        leaf.reserve(needed, file_bytes(file));
    }
    let spare = core::mem::take(&mut room.validity);
    let validity = old_validity.flatten().map_or(spare, Bitmap::into_buffer);
    let structure = Structure::new(path, count, inner, validity);
    let mut target = Target::new(leaf, structure, keep, room);
    if ranges.len() < MANY_RANGES {
        for_each_page(pages, ranges, |page, rows| {
            open_page(file, column, page, path, field)?.read(rows, &mut target)
        })?;
    } else {
        // All that is wanted of a page at once.
        let mut wanted: Vec<(usize, Range<u64>)> = Vec::with_capacity(ranges.len());
        for_each_page(pages, ranges, |page, rows| {
            wanted.push((page, rows));
            Ok(())
        })?;
        let mut rows = Vec::with_capacity(wanted.len());
        for of_page in wanted.chunk_by(|a, b| a.0 == b.0) {
            let page = of_page[0].0;
            rows.clear();
            rows.extend(of_page.iter().map(|(_, rows)| rows.clone()));
            open_page(file, column, page, path, field)
                .and_then(|page| page.read_many(&rows, &mut target))
                .map_err(|error| error.within(format!("page {page}")))?;
        }
    }
    let Target { leaf, structure, rep, def, scratch, .. } = target;
    *room = ReadRoom { rep, def, scratch, validity: Buffer::new() };
    let mut nodes = structure.finish(&mut room.validity);
    let validity = nodes.leaf.take_validity();
    Ok(LeafColumn { leaf: finish_leaf(leaf, field, validity)?, nodes })
}

/// The column of a leaf; packed structs are taken apart, empty ones have no nulls.
fn finish_leaf(leaf: LeafBuilder, field: &Field, validity: Option<Bitmap>) -> Result<Column> {
    match &field.data_type {
        empty if is_empty_struct(empty) => {
            Ok(Column::new(empty.clone(), leaf.len(), None, Values::Struct(Vec::new())))
        }
        DataType::Struct(fields) => match leaf.shape() {
            LeafShape::Null => packed::all_null(leaf.len(), &field.data_type, validity),
            LeafShape::Fixed { .. } => Ok(leaf.finish_packed(&field.data_type, fields, validity)),
            _ => Ok(leaf.finish(&field.data_type, validity)),
        },
        other => Ok(leaf.finish(other, validity)),
    }
}

//! Pages of file versions 2.1 and 2.2: structural encodings, a column for each leaf of the schema.
//!
//! ```text
//! layers      which levels mean null or empty        structure   levels to validity and offsets
//! mini_block  chunks of small values                 full_zip    large values, one by one
//! constant    one value, or only nulls               chunks      where chunks and their rows lie
//! values      encodings inside a chunk               block       encodings of a whole buffer
//! dictionary  distinct values of a page              packed      rows of structs with variable fields
//! blob        descriptions of values that lie elsewhere
//! ```

mod blob;
mod block;
mod chunks;
mod constant;
mod dictionary;
mod full_zip;
mod layers;
mod levels;
mod mini_block;
mod packed;
mod picked;
mod structure;
mod values;

use crate::{
    Bitmap, Buffer, Column, ColumnMap, DataType, Error, Field, File, Result, Values,
    blob::fetch,
    coded::Coded,
    column::{check_repeated, too_large},
    container::PageParts,
    file::{OpenPage, for_each_page, is_leaf},
    leaf::{LeafBuilder, LeafShape, Room},
    proto::{self, v21 as message},
};
use alloc::{format, sync::Arc, vec::Vec};
use blob::BlobPage;
use constant::Constant;
use core::ops::Range;
use full_zip::FullZip;
pub use layers::LayerKind;
use layers::{Layers, Node};
use mini_block::{DecompressedChunk, MiniBlock};
use packed::FieldRows;
use structure::{LeafColumn, Structure, assemble, for_each_leaf, is_empty_struct};

/// So many ranges are read together.
const MANY_RANGES: usize = 4;

/// Ranges of at least so many rows are worth a look at what they need.
const MIN_RUN: usize = 256;

/// An opened page.
#[derive(Debug)]
pub(crate) struct Page {
    shape: LeafShape,
    layers: Layers,
    layout: Layout,
}

#[derive(Debug)]
enum Layout {
    MiniBlock(MiniBlock),
    FullZip(FullZip),
    Constant(Constant),
    Blob(BlobPage),
}

/// What a page appends to, with scratch for the levels of the rows at hand.
#[derive(Debug)]
pub(crate) struct Target {
    leaf: LeafBuilder,
    structure: Structure,
    rep: Vec<u16>,
    def: Vec<u16>,
    /// Whether all rows come from one piece of one page, which may then be shared.
    keep: bool,
    /// Numbers of distinct values, where those are wanted instead of the values.
    codes: Option<Vec<u32>>,
    scratch: Scratch,
}

/// Room that ranges of rows use one after the other.
#[derive(Debug, Default)]
struct Scratch {
    /// Dictionary indices as they are stored, and as positions of items.
    indices: Option<LeafBuilder>,
    picks: Vec<u32>,
    chunk: DecompressedChunk,
    /// One value, decompressed, or those of runs.
    values: Vec<u8>,
    packed: Vec<FieldRows>,
    /// The entries of a chunk at which a row starts.
    starts: Vec<u64>,
}

/// Room for reading one column again and again; see [`File::read_with`].
#[derive(Debug, Default)]
pub struct ReadRoom {
    rep: Vec<u16>,
    def: Vec<u16>,
    scratch: Scratch,
    /// For the validity of rows, when those before had no nulls.
    validity: Buffer,
}

impl Target {
    fn new(leaf: LeafBuilder, structure: Structure, keep: bool, room: &mut ReadRoom) -> Self {
        let ReadRoom { rep, def, scratch, .. } = core::mem::take(room);
        let mut target = Target { leaf, structure, rep, def, keep, codes: None, scratch };
        // Another page may lie where the one of the last chunk did.
        target.scratch.chunk.of = None;
        target.scratch.picks.clear();
        target
    }

    /// Where indices to distinct values go: where those are wanted instead of the values, they are what is returned.
    fn picks(&mut self) -> &mut Vec<u32> {
        self.codes.as_mut().unwrap_or(&mut self.scratch.picks)
    }

    /// The number of values so far.
    fn len(&self) -> usize {
        self.codes.as_ref().map_or(self.leaf.len(), Vec::len)
    }
}

impl Page {
    fn open(parts: PageParts, path: &[Node], field: &Field) -> Result<Self> {
        let position = parts.encoding_position;
        let layout: message::PageLayout = proto::decode(&parts.encoding, position, "page layout")?;
        let shape = leaf_shape(field)?;
        let (layers, layout) =
            Self::open_layout(layout, &parts, path, field, &shape).map_err(|error| error.at(position))?;
        Ok(Page { shape, layers, layout })
    }

    fn open_layout(
        layout: message::PageLayout,
        parts: &PageParts,
        path: &[Node],
        field: &Field,
        shape: &LeafShape,
    ) -> Result<(Layers, Layout)> {
        Ok(match layout.layout {
            Some(message::Layout::MiniBlock(layout)) => {
                let layers = Layers::parse(&layout.layers, path)?;
                let page = MiniBlock::open(&layout, parts, &layers, shape)?;
                (layers, Layout::MiniBlock(page))
            }
            Some(message::Layout::FullZip(layout)) => {
                let layers = Layers::parse(&layout.layers, path)?;
                let packed = match &field.data_type {
                    DataType::Struct(fields) if field.is_packed() => Some(packed_fields(fields)?),
                    _ => None,
                };
                let page = FullZip::open(&layout, parts, &layers, shape, packed.as_deref())?;
                (layers, Layout::FullZip(page))
            }
            Some(message::Layout::Constant(layout)) => {
                let layers = Layers::parse(&layout.layers, path)?;
                let page = Constant::open(&layout, parts, &layers, shape)?;
                (layers, Layout::Constant(page))
            }
            Some(message::Layout::Blob(layout)) => {
                let layers = Layers::parse(&layout.layers, path)?;
                let page = BlobPage::open(*layout, parts, &layers, field, shape)?;
                (layers, Layout::Blob(page))
            }
            Some(message::Layout::Sparse(_)) => {
                return Err(Error::unsupported("page layout `sparse` is not supported"));
            }
            None => return Err(Error::corrupt("expected a page layout, found none")),
        })
    }

    /// Whether every text that rows of this page can have was checked when it was opened.
    fn is_checked(&self) -> bool {
        match &self.layout {
            Layout::MiniBlock(page) => page.has_dictionary(),
            Layout::Constant(_) => true,
            Layout::FullZip(_) | Layout::Blob(_) => false,
        }
    }

    /// Whether rows of this page can be lent as they lie in the file.
    pub(crate) fn lends_rows(&self) -> bool {
        matches!(&self.layout, Layout::FullZip(page) if page.is_plain())
    }

    /// The rows around `row` that lie end to end in the file and can be lent as they are: all of the page, or those of
    /// a chunk of it.
    pub(crate) fn lent_rows(&self, row: u64) -> Option<Range<u64>> {
        match &self.layout {
            Layout::MiniBlock(page) => self.shape.slot_bytes().and_then(|_| page.lent_rows(row)),
            _ => self.lends_rows().then_some(0..u64::MAX),
        }
    }

    /// The bytes of `row` where they lie, if they can be lent.
    pub(crate) fn lent_row(&self, row: u64) -> Result<Option<&[u8]>> {
        match (&self.layout, self.shape.slot_bytes()) {
            (Layout::MiniBlock(page), Some(width)) => page.lent_row(row, width),
            (Layout::FullZip(page), Some(_)) => page.lent_row(row),
            _ => Ok(None),
        }
    }

    /// The distinct values of the page, of type `data_type`, if it stores each of them once.
    fn items(&self, data_type: &DataType) -> Option<&Arc<Column>> {
        match &self.layout {
            Layout::MiniBlock(page) => page.items(data_type),
            Layout::Constant(page) => page.item(data_type),
            Layout::FullZip(_) | Layout::Blob(_) => None,
        }
    }

    /// The room that rows `range`, which are not none, need, or a little more; if they are not `alone`, also where that
    /// takes a look at each of them.
    fn room(&self, range: Range<u64>, alone: bool) -> Result<Room> {
        match &self.layout {
            Layout::MiniBlock(page) => page.room(range, &self.shape, !alone),
            Layout::FullZip(page) => page.room(range),
            Layout::Constant(page) => Ok(page.room(range)),
            Layout::Blob(_) => Ok(Room::of_slots((range.end - range.start) as usize)),
        }
    }

    /// Appends rows of `ranges`, which ascend and are many, to `target`.
    fn read_many(&self, ranges: &[Range<u64>], target: &mut Target) -> Result<()> {
        if let (Layout::MiniBlock(page), true) = (&self.layout, target.leaf.shape().is(&self.shape))
            && !target.keep
            && target.codes.is_none()
        {
            let first = target.leaf.len();
            if page.read_picked(ranges, target)? {
                let rows = ranges.iter().map(|range| range.end - range.start).sum::<u64>() as usize;
                target.structure.append_valid(rows);
                return self.check_read(first, target);
            }
        }
        ranges.iter().try_for_each(|range| self.read(range.clone(), target))
    }

    /// Appends rows `range` of the page to `target`.
    fn read(&self, range: Range<u64>, target: &mut Target) -> Result<()> {
        if !target.leaf.shape().is(&self.shape) {
            return Err(changed());
        }
        let first = target.leaf.len();
        match &self.layout {
            Layout::MiniBlock(page) => page.read(range, &self.layers, target)?,
            Layout::FullZip(page) => page.read(range, &self.layers, target)?,
            Layout::Constant(page) => page.read(range, &self.layers, target)?,
            Layout::Blob(page) => page.read(range, &self.layers, target)?,
        }
        self.check_read(first, target)
    }

    /// Checks what was appended to `target`, from slot `first` on.
    fn check_read(&self, first: usize, target: &Target) -> Result<()> {
        let (found, expected) = (target.len(), target.structure.leaf_len());
        crate::ensure!(found == expected, "expected {expected} values for the levels read, found {found}");
        match self.is_checked() {
            true => Ok(()),
            false => target.leaf.check_utf8(first),
        }
    }
}

/// A page is opened once, for the field that its column was first read as.
#[cold]
fn changed() -> Error {
    Error::invalid_input("column was read before with another type or nesting")
}

/// What the slots of a leaf hold: a packed struct is one value of all its fields' bytes.
fn leaf_shape(field: &Field) -> Result<LeafShape> {
    match &field.data_type {
        empty if is_empty_struct(empty) => Ok(LeafShape::Null),
        // Fields that cannot be packed can only be null, all of them.
        DataType::Struct(fields) if field.is_packed() => {
            Ok(packed_fields(fields).map_or(LeafShape::Null, |fields| packed::shape(&fields)))
        }
        other => LeafShape::of(other),
    }
}

/// The shapes of a packed struct's fields.
fn packed_fields(fields: &[Arc<Field>]) -> Result<Vec<LeafShape>> {
    fields.iter().map(|child| LeafShape::of(&child.data_type)).collect()
}

/// Page `index` of `column`, which holds the leaf `field` without any nesting.
pub(crate) fn page<'a>(file: &'a File, column: u32, index: usize, field: &Field) -> Result<&'a Page> {
    open_page(file, column, index, &[Node::Item], field)
}

fn open_page<'a>(
    file: &'a File,
    column: u32,
    index: usize,
    path: &[Node],
    field: &Field,
) -> Result<&'a Page> {
    match file.page(column, index, |_, parts| Page::open(parts, path, field).map(OpenPage::V21))? {
        OpenPage::V21(page) if page.layers.fit(path) => Ok(page),
        OpenPage::V21(_) => Err(changed()),
        OpenPage::V20(_) => unreachable!("a file has one version"),
    }
}

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

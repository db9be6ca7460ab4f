//! A page, whatever its layout.

use super::{
    Target,
    blob::BlobPage,
    constant::Constant,
    full_zip::FullZip,
    layers::{Layers, Node},
    mini_block::MiniBlock,
    packed,
    structure::is_empty_struct,
};
use crate::{
    Column, DataType, Error, Field, File, Result,
    container::PageParts,
    file::OpenPage,
    leaf::{LeafShape, Room},
    lent::Lent,
    proto::{self, v21 as message},
};
use alloc::{sync::Arc, vec::Vec};
use core::ops::Range;

/// An opened page.
#[derive(Debug)]
pub(crate) struct Page {
    pub(super) shape: LeafShape,
    pub(super) layers: Layers,
    layout: Layout,
}

#[derive(Debug)]
enum Layout {
    MiniBlock(MiniBlock),
    FullZip(FullZip),
    Constant(Constant),
    Blob(BlobPage),
}

impl Page {
    fn open(parts: PageParts, path: &[Node], field: &Field) -> Result<Self> {
        let position = parts.encoding_position;
        let layout: message::PageLayout = proto::decode(&parts.encoding, position, "page layout")?;
        Self::of_layout(layout, &parts, path, field, leaf_shape(field)?).map_err(|error| error.at(position))
    }

    /// The page that `layout` describes, in slots of `shape`.
    pub(super) fn of_layout(
        layout: message::PageLayout,
        parts: &PageParts,
        path: &[Node],
        field: &Field,
        shape: LeafShape,
    ) -> Result<Self> {
        let (layers, layout) = match layout.layout {
            Some(message::Layout::MiniBlock(layout)) => {
                let layers = Layers::parse(&layout.layers, path)?;
                let page = MiniBlock::open(&layout, parts, &layers, &shape)?;
                (layers, Layout::MiniBlock(page))
            }
            Some(message::Layout::FullZip(layout)) => {
                let layers = Layers::parse(&layout.layers, path)?;
                let packed = match &field.data_type {
                    DataType::Struct(fields) if field.is_packed() => Some(packed_fields(fields)?),
                    _ => None,
                };
                let page = FullZip::open(&layout, parts, &layers, &shape, packed.as_deref())?;
                (layers, Layout::FullZip(page))
            }
            Some(message::Layout::Constant(layout)) => {
                let layers = Layers::parse(&layout.layers, path)?;
                let page = Constant::open(&layout, parts, &layers, &shape)?;
                (layers, Layout::Constant(page))
            }
            Some(message::Layout::Blob(layout)) => {
                let layers = Layers::parse(&layout.layers, path)?;
                let page = BlobPage::open(*layout, parts, &layers, field, &shape)?;
                (layers, Layout::Blob(page))
            }
            Some(message::Layout::Sparse(_)) => {
                return Err(Error::unsupported("page layout `sparse` is not supported"));
            }
            None => return Err(Error::corrupt("expected a page layout, found none")),
        };
        Ok(Page { shape, layers, layout })
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

    /// `row` and those that follow it without a gap, if they can be lent.
    pub(crate) fn lent_from(&self, row: u64) -> Result<Option<Lent<'_>>> {
        match (&self.layout, self.shape.slot_bytes()) {
            (Layout::MiniBlock(page), Some(width)) => page.lent_from(row, width),
            (Layout::FullZip(page), Some(_)) => page.lent_from(row),
            _ => Ok(None),
        }
    }

    /// The distinct values of the page, of type `data_type`, if it stores each of them once.
    pub(super) fn items(&self, data_type: &DataType) -> Option<&Arc<Column>> {
        match &self.layout {
            Layout::MiniBlock(page) => page.items(data_type),
            Layout::Constant(page) => page.item(data_type),
            Layout::FullZip(_) | Layout::Blob(_) => None,
        }
    }

    /// The room that rows `range`, which are not none, need, or a little more; if they are not `alone`, also where that
    /// takes a look at each of them.
    pub(super) fn room(&self, range: Range<u64>, alone: bool) -> Result<Room> {
        match &self.layout {
            Layout::MiniBlock(page) => page.room(range, &self.shape, !alone),
            Layout::FullZip(page) => page.room(range),
            Layout::Constant(page) => Ok(page.room(range)),
            Layout::Blob(_) => Ok(Room::of_slots((range.end - range.start) as usize)),
        }
    }

    /// Appends rows of `ranges`, which ascend and are many, to `target`.
    pub(super) fn read_many(&self, ranges: &[Range<u64>], target: &mut Target) -> Result<()> {
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
    pub(super) fn read(&self, range: Range<u64>, target: &mut Target) -> Result<()> {
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
pub(super) fn leaf_shape(field: &Field) -> Result<LeafShape> {
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

pub(super) fn open_page<'a>(
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

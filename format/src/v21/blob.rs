//! Blob pages of the first version: descriptions that also say what is null.
//!
//! ```text
//! size > 0                  bytes at `position` in the file
//! size 0, position 0        an empty value
//! size 0, position > 0      no value: position is definition level << 16 | repetition level
//! ```
//! The descriptions are packed structs of a page layout within the layout, which knows neither nulls nor lists.
//! A value that is not empty has no room for its repetition level, so lists of blobs cannot be told apart: Lance
//! writes them but does not read them either.

use super::{Page, ReadRoom, Target, layers::Layers, layers::Node, structure::Structure};
use crate::{
    Buffer, Error, Field, Result,
    container::PageParts,
    ensure,
    leaf::{LeafBuilder, LeafShape},
    proto::v21 as message,
};
use alloc::boxed::Box;
use core::ops::Range;

/// Bytes of a position and a size.
const DESCRIPTION: usize = 16;

/// An opened page of descriptions.
#[derive(Debug)]
pub(crate) struct BlobPage(Box<Page>);

impl BlobPage {
    pub(crate) fn open(
        layout: message::Blob,
        parts: &PageParts,
        layers: &Layers,
        field: &Field,
        shape: &LeafShape,
    ) -> Result<Self> {
        if layers.max_rep > 0 {
            return Err(Error::unsupported("encoding of lists of blobs does not say where lists start"));
        }
        ensure!(
            field.is_blob() && shape.slot_bytes() == Some(DESCRIPTION),
            "found positions of blobs where the type is {}",
            field.data_type
        );
        let inner = layout.inner.ok_or_else(|| Error::corrupt("expected a page layout, found none"))?;
        ensure!(
            !matches!(inner.layout, Some(message::Layout::Blob(_))),
            "expected descriptions of blobs, found blobs of them"
        );
        let page = Page::of_layout(*inner, parts, &[Node::Item], field, shape.clone())?;
        ensure!(page.layers.max_def == 0, "expected descriptions of blobs without nulls");
        Ok(BlobPage(Box::new(page)))
    }

    /// Appends rows `range` of the page.
    pub(crate) fn read(&self, range: Range<u64>, layers: &Layers, target: &mut Target) -> Result<()> {
        let rows = (range.end - range.start) as usize;
        let leaf = LeafBuilder::new(self.0.shape.clone(), rows, None);
        let mut inner = Target::new(
            leaf,
            Structure::new(&[Node::Item], rows, 0, Buffer::new()),
            false,
            &mut ReadRoom::default(),
        );
        self.0.read(range, &mut inner)?;
        let found: &[[u64; 2]] = inner.leaf.typed().unwrap_or_default();
        let slots = target.leaf.grow_fixed(found.len(), DESCRIPTION)?;
        target.def.clear();
        for (slot, &[position, size]) in slots.as_chunks_mut::<8>().0.chunks_exact_mut(2).zip(found) {
            let (level, position) = match size {
                0 => (null_level(position, layers)?, 0),
                _ => (0, position),
            };
            slot.copy_from_slice(&[position.to_le_bytes(), size.to_le_bytes()]);
            target.def.push(level);
        }
        target.structure.append(layers, &[], &target.def)
    }
}

/// The definition level of a value without bytes.
fn null_level(position: u64, layers: &Layers) -> Result<u16> {
    let (level, rep) = (position >> 16, position & 0xffff);
    ensure!(rep == 0, "blob: expected no repetition level, found {rep}");
    match u16::try_from(level) {
        Ok(level) if level <= layers.max_def && (level > 0 || position == 0) => Ok(level),
        _ => Err(Error::corrupt(alloc::format!(
            "blob: expected a definition level of at most {}, found {level}",
            layers.max_def
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_values_without_bytes() {
        let layers = Layers::parse(&[3, 3], &[Node::Item, Node::Item]).unwrap();
        assert_eq!(null_level(0, &layers).unwrap(), 0);
        assert_eq!(null_level(2 << 16, &layers).unwrap(), 2);
        for position in [1, 3 << 16, 1 << 16 | 1, u64::MAX] {
            assert!(null_level(position, &layers).is_err(), "{position}");
        }
    }
}

//! The values of a leaf: what a slot is, and the builder that decoders append slots to.
//!
//! A *slot* is one leaf value: a number, a text, a whole vector, or a packed struct. A fixed-size list of numbers is one
//! slot, however deeply nested; nulls inside it are bitmaps beside the values.
//!
//! ```text
//! shape   what a slot holds         text    appending texts, coded ones too
//! items   slots that are repeated   finish  the column
//! ```

mod finish;
mod items;
mod shape;
mod text;

pub(crate) use items::Items;
use shape::items_at;
pub(crate) use shape::{Item, LeafShape, Room};

use crate::{
    Buffer, Error, Result, Values,
    bitmap::BitmapBuilder,
    column::{Offset, check_repeated},
    ensure,
};
use alloc::{format, vec::Vec};
use bytes::Bytes;

/// Appends slots; [`LeafBuilder::finish`] makes the column.
#[derive(Debug, Clone)]
pub(crate) struct LeafBuilder {
    shape: LeafShape,
    slots: usize,
    values: Slots,
    /// For each dimension, outermost first: which items are not null.
    item_validity: Vec<BitmapBuilder>,
}

#[derive(Debug, Clone)]
enum Slots {
    Null,
    Bits(BitmapBuilder),
    Fixed(Buffer),
    Variable {
        offsets: Buffer,
        bytes: Buffer,
    },
    LargeVariable {
        offsets: Buffer,
        bytes: Buffer,
    },
    /// A leaf for each field.
    Packed(Vec<LeafBuilder>),
}

impl LeafBuilder {
    /// A builder for about `expected` slots, which reuses the buffers of `old` where they fit.
    pub(crate) fn new(shape: LeafShape, expected: usize, old: Option<Values>) -> Self {
        let old_fixed = |old: Option<Values>| match innermost(old) {
            Some(Values::Fixed(buffer)) => cleared(buffer),
            _ => Buffer::new(),
        };
        let values = match &shape {
            LeafShape::Null => Slots::Null,
            LeafShape::Fixed { item: Item::Bit, items, .. } => {
                Slots::Bits(BitmapBuilder::reuse(Buffer::new(), expected * items))
            }
            LeafShape::Fixed { .. } => Slots::Fixed(old_fixed(old)),
            LeafShape::Variable { large: false, .. } => {
                let (offsets, bytes) = match old {
                    Some(Values::Variable { offsets, bytes }) => (cleared(offsets), cleared(bytes)),
                    _ => Default::default(),
                };
                Slots::Variable { offsets: first_offset::<i32>(offsets, expected), bytes }
            }
            LeafShape::Variable { large: true, .. } => {
                let (offsets, bytes) = match old {
                    Some(Values::LargeVariable { offsets, bytes }) => (cleared(offsets), cleared(bytes)),
                    _ => Default::default(),
                };
                Slots::LargeVariable { offsets: first_offset::<i64>(offsets, expected), bytes }
            }
            LeafShape::Packed(fields) => Slots::Packed(
                fields.iter().map(|field| LeafBuilder::new(field.clone(), expected, None)).collect(),
            ),
        };
        let dims = match &shape {
            LeafShape::Fixed { dims, .. } => dims.len(),
            _ => 0,
        };
        let mut item_validity = Vec::new();
        item_validity.resize_with(dims, BitmapBuilder::default);
        LeafBuilder { shape, slots: 0, values, item_validity }
    }

    pub(crate) fn shape(&self) -> &LeafShape {
        &self.shape
    }

    /// The number of slots so far.
    pub(crate) fn len(&self) -> usize {
        self.slots
    }

    /// Takes all slots out and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.slots = 0;
        self.item_validity.iter_mut().for_each(|validity| *validity = BitmapBuilder::default());
        match &mut self.values {
            Slots::Null => {}
            Slots::Bits(bits) => *bits = BitmapBuilder::default(),
            Slots::Fixed(buffer) => buffer.clear(),
            Slots::Variable { offsets, bytes } | Slots::LargeVariable { offsets, bytes } => {
                let first = if matches!(self.shape, LeafShape::Variable { large: true, .. }) { 8 } else { 4 };
                offsets.truncate(first);
                bytes.clear();
            }
            Slots::Packed(fields) => fields.iter_mut().for_each(LeafBuilder::clear),
        }
    }

    /// Appends `count` slots of whole bytes and lends them; the caller writes all of them.
    ///
    /// # Errors
    /// Corrupt if the slots of this leaf are not `width` bytes each.
    pub(crate) fn grow_fixed(&mut self, count: usize, width: usize) -> Result<&mut [u8]> {
        let own = self.shape.slot_bytes();
        match &mut self.values {
            Slots::Fixed(buffer) if own == Some(width) => {
                self.slots += count;
                for (level, validity) in self.item_validity.iter_mut().enumerate() {
                    validity.append_n(count * items_at(&self.shape, level), true);
                }
                Ok(buffer.grow(count * width))
            }
            _ => Err(Error::corrupt(format!(
                "found values of {width} bytes where the type has {:?}",
                self.shape
            ))),
        }
    }

    /// Makes room, once it is known how much is needed and that the slots will be copied, so that no buffer grows
    /// later. `most` is what the file can hold in bytes: more than that times eight is not believed.
    pub(crate) fn reserve(&mut self, room: Room, most: usize) {
        let bits = self.shape.slot_bits().unwrap_or(1).max(1);
        let slots = room.slots.min(usize::try_from(most as u64 * 8 / bits).unwrap_or(usize::MAX));
        for (level, validity) in self.item_validity.iter_mut().enumerate() {
            validity.expect(slots.saturating_mul(items_at(&self.shape, level)));
        }
        match &mut self.values {
            Slots::Null | Slots::Bits(_) => {}
            Slots::Fixed(buffer) => buffer.reserve(slots * self.shape.slot_bytes().unwrap_or_default()),
            Slots::Variable { offsets, bytes } => {
                offsets.reserve(slots * size_of::<i32>());
                bytes.reserve(room.bytes.min(most.saturating_mul(8)));
            }
            Slots::LargeVariable { offsets, bytes } => {
                offsets.reserve(slots * size_of::<i64>());
                bytes.reserve(room.bytes.min(most.saturating_mul(8)));
            }
            Slots::Packed(fields) => {
                fields.iter_mut().for_each(|field| field.reserve(Room::of_slots(slots), most));
            }
        }
    }

    /// Appends `count` slots that lie end to end in `bytes`: shared if they are the first, aligned, and
    /// `keep` says that nothing follows them.
    pub(crate) fn append_fixed(
        &mut self,
        bytes: Bytes,
        count: usize,
        width: usize,
        keep: bool,
    ) -> Result<()> {
        ensure!(
            bytes.len() == count * width,
            "expected {count} values of {width} bytes, found {} bytes",
            bytes.len()
        );
        if keep && self.slots == 0 {
            let align = self.item_align();
            self.grow_fixed(0, width)?;
            let Slots::Fixed(buffer) = &mut self.values else { unreachable!("checked by grow_fixed") };
            *buffer = Buffer::share(bytes, align);
            self.slots = count;
            self.items_are_valid(count);
            return Ok(());
        }
        self.grow_fixed(count, width)?.copy_from_slice(&bytes);
        Ok(())
    }

    /// The alignment that Arrow's consumers expect of the items: at most 8 here.
    fn item_align(&self) -> usize {
        match self.shape {
            LeafShape::Fixed { item: Item::Bytes(width), .. } if width.is_power_of_two() => width.min(8),
            LeafShape::Fixed { item: Item::Bytes(width), .. } if width % 8 == 0 => 8,
            _ => 1,
        }
    }

    /// Appends `count` slots whose bits lie end to end in `source` from bit `start * bits of a slot` on.
    pub(crate) fn append_bits(&mut self, source: &[u8], start: usize, count: usize) -> Result<()> {
        let LeafShape::Fixed { items, .. } = self.shape else { return Err(self.mismatch("bits")) };
        let Slots::Bits(out) = &mut self.values else { return Err(self.mismatch("bits")) };
        ensure!(
            holds_bits(source, start, count, items),
            "expected {count} values of {items} bits behind {start} others, found {} bytes",
            source.len()
        );
        out.append_bits(source, start * items, count * items);
        self.slots += count;
        self.items_are_valid(count);
        Ok(())
    }

    /// Appends one slot of bits, given one byte an item (0 or 1).
    pub(crate) fn append_bytes_as_bits(&mut self, bytes: &[u8]) -> Result<()> {
        let LeafShape::Fixed { items: 1, .. } = self.shape else {
            return Err(self.mismatch("bytes of bits"));
        };
        let Slots::Bits(out) = &mut self.values else { return Err(self.mismatch("bytes of bits")) };
        for &byte in bytes {
            out.append(byte != 0);
        }
        self.slots += bytes.len();
        // Lists of one boolean.
        for validity in &mut self.item_validity {
            validity.append_n(bytes.len(), true);
        }
        Ok(())
    }

    /// Says which items of the `count` slots just appended are null, for dimension `level`: bit
    /// `start * items` of `source` on, one bit an item, set if not null.
    pub(crate) fn set_item_validity(
        &mut self,
        level: usize,
        source: &[u8],
        start: usize,
        count: usize,
    ) -> Result<()> {
        let items = items_at(&self.shape, level);
        ensure!(level < self.item_validity.len(), "found item validity where the type has no items");
        ensure!(
            holds_bits(source, start, count, items),
            "item validity: expected {count} times {items} bits behind {start} others, found {} bytes",
            source.len()
        );
        let validity = &mut self.item_validity[level];
        ensure!(
            validity.len() >= count * items,
            "item validity: expected no more than {} items, found {count} times {items}",
            validity.len()
        );
        validity.rewind(count * items);
        validity.append_bits(source, start * items, count * items);
        Ok(())
    }

    /// Appends `count` packed structs: `append` is called with the number and the leaf of each field, and appends as many
    /// slots.
    pub(crate) fn append_packed(
        &mut self,
        count: usize,
        mut append: impl FnMut(usize, &mut LeafBuilder) -> Result<()>,
    ) -> Result<()> {
        let Slots::Packed(fields) = &mut self.values else { return Err(self.mismatch("packed structs")) };
        fields.iter_mut().enumerate().try_for_each(|(i, field)| append(i, field))?;
        self.slots += count;
        Ok(())
    }

    /// Appends `count` slots of unimportant content, for nulls: zeros, or empty text.
    ///
    /// # Errors
    /// Too large if they would fill memory: no bytes of the file stand behind them.
    pub(crate) fn append_defaults(&mut self, count: usize) -> Result<()> {
        check_repeated(count, self.shape.slot_bits().unwrap_or(64).div_ceil(8))?;
        match &mut self.values {
            Slots::Null => {}
            Slots::Bits(bits) => {
                let LeafShape::Fixed { items, .. } = self.shape else { unreachable!("bits have a width") };
                bits.append_n(count * items, false);
            }
            Slots::Fixed(buffer) => {
                let width = self.shape.slot_bytes().unwrap_or_default();
                buffer.grow(count * width).fill(0);
            }
            Slots::Variable { offsets, bytes } => {
                offsets.grow_typed::<i32>(count).fill(i32::from_usize(bytes.len())?);
            }
            Slots::LargeVariable { offsets, bytes } => {
                offsets.grow_typed::<i64>(count).fill(i64::from_usize(bytes.len())?);
            }
            Slots::Packed(fields) => fields.iter_mut().try_for_each(|field| field.append_defaults(count))?,
        }
        self.slots += count;
        self.items_are_valid(count);
        Ok(())
    }

    /// The slots as numbers of `T`; `None` unless they have its width.
    pub(crate) fn typed<T: bytemuck::Pod>(&self) -> Option<&[T]> {
        match &self.values {
            Slots::Fixed(buffer) if self.shape.slot_bytes() == Some(size_of::<T>()) => Some(buffer.typed()),
            _ => None,
        }
    }

    /// Says of the items of the next `count` slots that none is null.
    fn items_are_valid(&mut self, count: usize) {
        for (level, validity) in self.item_validity.iter_mut().enumerate() {
            validity.append_n(count * items_at(&self.shape, level), true);
        }
    }

    #[cold]
    fn mismatch(&self, found: &str) -> Error {
        Error::corrupt(format!("found {found} where the type has {:?}", self.shape))
    }
}

/// Whether `source` has `count` slots of `items` bits each behind `start` others.
fn holds_bits(source: &[u8], start: usize, count: usize, items: usize) -> bool {
    let bits = start.checked_add(count).and_then(|slots| slots.checked_mul(items));
    bits.is_some_and(|bits| bits.div_ceil(8) <= source.len())
}

/// The values under all fixed-size lists.
fn innermost(values: Option<Values>) -> Option<Values> {
    match values? {
        Values::FixedSizeList(items) => innermost(Some(items.into_parts().1)),
        other => Some(other),
    }
}

fn cleared(mut buffer: Buffer) -> Buffer {
    buffer.clear();
    buffer
}

/// An offsets buffer with the leading zero and room for `expected` more.
fn first_offset<O: Offset>(mut offsets: Buffer, expected: usize) -> Buffer {
    offsets.reserve((expected + 1) * size_of::<O>());
    offsets.grow(size_of::<O>()).fill(0);
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, DataType};
    use alloc::vec;

    fn shape(logical: &str) -> (DataType, LeafShape) {
        let data_type = DataType::parse(logical, Vec::new()).unwrap();
        let shape = LeafShape::of(&data_type).unwrap();
        (data_type, shape)
    }

    #[test]
    fn nested_vectors_with_null_items() {
        let (data_type, shape) = shape("fixed_size_list:fixed_size_list:int8:2:3");
        let mut builder = LeafBuilder::new(shape, 2, None);
        builder.grow_fixed(2, 6).unwrap().copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        builder.set_item_validity(0, &[0b101_111], 0, 2).unwrap();
        builder.set_item_validity(1, &[0xff, 0x07], 0, 2).unwrap();
        let column = builder.finish(&data_type, None);
        let middle = column.child().unwrap();
        assert_eq!((column.len(), middle.len(), middle.is_null(4), middle.is_null(5)), (2, 6, true, false));
        assert_eq!(middle.child().unwrap().null_count(), 1);
        assert_eq!(column.flat::<i8>().unwrap()[11], 12);
    }

    #[test]
    fn text_must_be_utf8_on_value_bounds() {
        let (_, shape) = shape("string");
        let mut builder = LeafBuilder::new(shape, 2, None);
        builder.append_values("aé".as_bytes(), [1usize, 3].into_iter()).unwrap();
        builder.check_utf8(0).unwrap();
        builder.append_values("é".as_bytes(), [1usize, 2].into_iter()).unwrap();
        assert!(builder.check_utf8(0).is_err());
        assert!(builder.check_utf8(2).is_err());
    }

    #[test]
    fn repeated_values_do_not_fill_memory() {
        let too_large = |result: Result<()>| result.unwrap_err().kind() == crate::ErrorKind::TooLarge;
        let (data_type, vectors) = shape("fixed_size_list:float:268435456");
        let mut builder = LeafBuilder::new(vectors, 0, None);
        assert!(too_large(builder.append_defaults(2)));
        assert!(too_large(builder.append_defaults(usize::MAX)));
        assert!(Column::absent(&data_type, 2).is_err());
        let (_, text) = shape("large_string");
        let mut one = LeafBuilder::new(text.clone(), 0, None);
        one.append_value(&[b'a'; 1 << 15]).unwrap();
        let mut builder = LeafBuilder::new(text, 0, None);
        assert!(too_large(Items::new(one.clone()).append_to(&mut builder, &[0; (1 << 15) + 1])));
        one.append_value(b"b").unwrap();
        assert!(too_large(Items::new(one).append_to(&mut builder, &[0; (1 << 15) + 1])));
    }

    #[test]
    fn shares_the_first_page_and_copies_on_growth() {
        let (data_type, shape) = shape("int64");
        let bytes = Bytes::from_owner(bytemuck::cast_slice::<u64, u8>(&[1, 2, 3]).to_vec());
        let aligned = bytes.as_ptr().align_offset(8) == 0;
        let mut builder = LeafBuilder::new(shape.clone(), 3, None);
        builder.append_fixed(bytes.clone(), 3, 8, true).unwrap();
        let column = builder.finish(&data_type, None);
        assert!(matches!(column.values(), Values::Fixed(buffer) if buffer.is_shared() == aligned));
        let mut builder = LeafBuilder::new(shape, 3, Some(column.into_parts().1));
        builder.append_fixed(bytes, 3, 8, true).unwrap();
        builder.append_defaults(1).unwrap();
        assert_eq!(builder.finish(&data_type, None).primitive::<u64>().unwrap(), vec![1, 2, 3, 0]);
    }
}

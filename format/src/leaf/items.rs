//! [`Items`]: distinct slots, each of which many rows may repeat.

use super::{LeafBuilder, LeafShape, Slots};
use crate::{
    Buffer, Column, DataType, Result,
    column::{Offset, check_repeated},
};
use lancet_kernels::gather::{self, ShortTexts};

/// The slots of a dictionary, or the one of a constant. They lie in the file once: what repeats them is refused if it
/// would fill memory.
#[derive(Debug)]
pub(crate) struct Items {
    slots: LeafBuilder,
    /// The same as texts that are copied fastest, if all are short.
    short: Option<ShortTexts>,
}

impl Items {
    pub(crate) fn new(mut slots: LeafBuilder) -> Self {
        let short = match &mut slots.values {
            Slots::Variable { offsets, bytes } => short::<i32>(offsets, bytes),
            Slots::LargeVariable { offsets, bytes } => short::<i64>(offsets, bytes),
            _ => None,
        };
        Items { slots, short }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The items as a column of type `data_type`.
    pub(crate) fn column(&self, data_type: &DataType) -> Column {
        self.slots.clone().finish(data_type, None)
    }

    /// The items end to end, if they are whole bytes of one width.
    pub(crate) fn fixed(&self) -> Option<(usize, &[u8])> {
        match &self.slots.values {
            Slots::Fixed(buffer) => Some((self.slots.shape.slot_bytes()?, buffer.as_slice())),
            _ => None,
        }
    }

    /// The bytes of the texts at `indices` in all; 0 for slots of one width.
    pub(crate) fn text_bytes(&self, indices: &[u32]) -> usize {
        fn sum<O: gather::Offset>(offsets: &[O], indices: &[u32]) -> usize {
            let text = |&i: &u32| offsets[i as usize + 1].position() - offsets[i as usize].position();
            indices.iter().map(text).fold(0, usize::saturating_add)
        }
        match &self.slots.values {
            Slots::Variable { offsets, .. } => sum::<i32>(offsets.typed(), indices),
            Slots::LargeVariable { offsets, .. } => sum::<i64>(offsets.typed(), indices),
            _ => 0,
        }
    }

    /// Appends the items at `indices` to `leaf`, which has the same shape; indices are below the number of items, or 0
    /// if there are none.
    ///
    /// # Errors
    /// Too large if they would fill memory.
    pub(crate) fn append_to(&self, leaf: &mut LeafBuilder, indices: &[u32]) -> Result<()> {
        debug_assert_eq!(self.slots.shape, leaf.shape);
        match indices {
            [] => return Ok(()),
            _ if self.slots.slots == 0 => return leaf.append_defaults(indices.len()),
            [first, rest @ ..] if rest.iter().all(|index| index == first) => {
                return self.append_repeated(leaf, *first as usize, indices.len());
            }
            _ => {}
        }
        match (&mut leaf.values, &self.slots.values) {
            (Slots::Fixed(_), Slots::Fixed(source)) => {
                let width = leaf.shape.slot_bytes().unwrap_or_default();
                check_repeated(indices.len(), width as u64)?;
                let out = leaf.grow_fixed(indices.len(), width)?;
                gather::fixed(width, source.as_slice(), indices, out);
                return Ok(());
            }
            (Slots::Bits(_), Slots::Bits(bits)) => {
                return indices
                    .iter()
                    .try_for_each(|&i| leaf.append_bytes_as_bits(&[u8::from(bits.get(i as usize))]));
            }
            (Slots::Null, _) => return leaf.append_defaults(indices.len()),
            (Slots::Variable { offsets, bytes }, Slots::Variable { offsets: from, bytes: data }) => {
                self.append_texts::<i32>(offsets, bytes, from, data, indices)?;
            }
            (
                Slots::LargeVariable { offsets, bytes },
                Slots::LargeVariable { offsets: from, bytes: data },
            ) => {
                self.append_texts::<i64>(offsets, bytes, from, data, indices)?;
            }
            _ => return Err(leaf.mismatch("items of another type")),
        }
        leaf.slots += indices.len();
        Ok(())
    }

    /// Appends item `index` `count` times.
    ///
    /// # Errors
    /// Too large if that would fill memory.
    pub(crate) fn append_repeated(&self, leaf: &mut LeafBuilder, index: usize, count: usize) -> Result<()> {
        fn texts<O: Offset>(
            offsets: &mut Buffer,
            bytes: &mut Buffer,
            text: &[u8],
            count: usize,
        ) -> Result<()> {
            check_repeated(count, text.len() as u64)?;
            let base = bytes.len();
            O::from_usize(base + count * text.len())?;
            let mut end = base;
            for out in offsets.grow_typed::<O>(count) {
                end += text.len();
                *out = O::truncated(end);
            }
            repeat(text, bytes.grow(count * text.len()));
            Ok(())
        }
        debug_assert_eq!(self.slots.shape, leaf.shape);
        match (&mut leaf.values, &self.slots.values) {
            (Slots::Fixed(_), Slots::Fixed(items)) => {
                let width = leaf.shape.slot_bytes().unwrap_or_default();
                check_repeated(count, width as u64)?;
                repeat(&items.as_slice()[index * width..][..width], leaf.grow_fixed(count, width)?);
                return Ok(());
            }
            (Slots::Bits(out), Slots::Bits(item)) => {
                let LeafShape::Fixed { items, .. } = leaf.shape else { unreachable!("bits have a width") };
                check_repeated(count, items as u64)?;
                match items {
                    1 => out.append_n(count, item.get(index)),
                    _ => (0..count * items).for_each(|i| out.append(item.get(index * items + i % items))),
                }
                leaf.items_are_valid(count);
            }
            (Slots::Null, _) => return leaf.append_defaults(count),
            (Slots::Variable { offsets, bytes }, Slots::Variable { offsets: from, bytes: data }) => {
                let from = &from.typed::<i32>()[index..];
                let text = &data.as_slice()[from[0] as usize..from[1] as usize];
                texts::<i32>(offsets, bytes, text, count)?;
            }
            (
                Slots::LargeVariable { offsets, bytes },
                Slots::LargeVariable { offsets: from, bytes: data },
            ) => {
                let from = &from.typed::<i64>()[index..];
                let text = &data.as_slice()[from[0] as usize..from[1] as usize];
                texts::<i64>(offsets, bytes, text, count)?;
            }
            _ => return Err(leaf.mismatch("items of another type")),
        }
        leaf.slots += count;
        Ok(())
    }

    /// Two passes, so that the texts get the room they need at once: where each ends, then what they are.
    fn append_texts<O: Offset + gather::Offset>(
        &self,
        offsets: &mut Buffer,
        bytes: &mut Buffer,
        from: &Buffer,
        data: &Buffer,
        indices: &[u32],
    ) -> Result<()> {
        let base = bytes.len();
        let mut end = base;
        let ends = offsets.grow_typed::<O>(indices.len()).iter_mut().zip(indices);
        let from = from.typed::<O>();
        if let Some(short) = &self.short {
            let lengths = short.lengths();
            for (out, &i) in ends {
                end += lengths[i as usize] as usize;
                *out = O::truncated(end);
            }
        } else {
            for (out, &i) in ends {
                end += from[i as usize + 1].position() - from[i as usize].position();
                *out = O::truncated(end);
            }
        }
        // The last is the largest.
        O::from_usize(end)?;
        check_repeated(1, (end - base) as u64)?;
        let out = bytes.grow(end - base);
        match &self.short {
            Some(short) => short.copy(indices, out),
            None => gather::texts(from, data.as_slice(), indices, out),
        }
        Ok(())
    }
}

/// The texts, if all are short; else bytes are added behind the last that belong to none, so that all can be gathered
/// fast.
fn short<O: Offset + gather::Offset>(offsets: &Buffer, bytes: &mut Buffer) -> Option<ShortTexts> {
    let short = ShortTexts::new::<O>(offsets.typed(), bytes.as_slice());
    if short.is_none() {
        bytes.grow(16).fill(0);
    }
    short
}

/// Fills `out` with `value` over and over: what is filled is copied behind itself.
fn repeat(value: &[u8], out: &mut [u8]) {
    if out.is_empty() {
        return;
    }
    out[..value.len()].copy_from_slice(value);
    let mut filled = value.len();
    while filled < out.len() {
        let more = filled.min(out.len() - filled);
        out.copy_within(..more, filled);
        filled += more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;
    use alloc::{vec, vec::Vec};

    fn picked(items: &[&[u8]], logical: &str, indices: &[u32]) -> Column {
        let data_type = DataType::parse(logical, Vec::new()).unwrap();
        let shape = LeafShape::of(&data_type).unwrap();
        let mut slots = LeafBuilder::new(shape.clone(), 0, None);
        for item in items {
            match shape.slot_bytes() {
                Some(width) => slots.grow_fixed(1, width).unwrap().copy_from_slice(item),
                None => slots.append_value(item).unwrap(),
            }
        }
        let mut leaf = LeafBuilder::new(shape, 0, None);
        let items = Items::new(slots);
        // In two parts: the second begins behind what is there.
        let (first, second) = indices.split_at(indices.len() / 3);
        items.append_to(&mut leaf, first).unwrap();
        items.append_to(&mut leaf, second).unwrap();
        leaf.finish(&data_type, None)
    }

    #[test]
    fn items_by_number() {
        let long = [b'x'; 40];
        let short: [&[u8]; 5] = [b"a", b"", b"sixteen bytes ok", b"bcd", b"efgh"];
        let mixed: [&[u8]; 5] = [b"a", b"", &long, b"seventeen bytes..", b"efgh"];
        let fixed: [&[u8]; 5] = [b"1234", b"5678", b"9abc", b"defg", b"hijk"];
        for indices in [vec![], vec![3; 40], (0..300u32).map(|i| i * i % 5).collect(), vec![2, 1, 0, 4]] {
            for (items, logical) in [
                (short, "string"),
                (short, "large_binary"),
                (mixed, "large_string"),
                (mixed, "binary"),
                (fixed, "int32"),
                (fixed, "fixed_size_binary:4"),
            ] {
                let column = picked(&items, logical, &indices);
                assert_eq!(column.len(), indices.len());
                for (row, &index) in indices.iter().enumerate() {
                    let expected = items[index as usize];
                    match column.values() {
                        Values::Fixed(bytes) => assert_eq!(&bytes.as_slice()[4 * row..][..4], expected),
                        _ => assert_eq!(column.bytes(row), Some(expected), "{logical}, row {row}"),
                    }
                }
            }
        }
    }

    #[test]
    fn bits_by_number() {
        let data_type = DataType::parse("bool", Vec::new()).unwrap();
        let shape = LeafShape::of(&data_type).unwrap();
        let mut slots = LeafBuilder::new(shape.clone(), 0, None);
        slots.append_bytes_as_bits(&[0, 1]).unwrap();
        let items = Items::new(slots);
        let mut leaf = LeafBuilder::new(shape, 0, None);
        items.append_to(&mut leaf, &[1, 0, 1]).unwrap();
        items.append_to(&mut leaf, &[1, 1]).unwrap();
        let column = leaf.finish(&data_type, None);
        let Values::Bits(bits) = column.values() else { panic!("expected bits") };
        assert_eq!((0..5).map(|i| bits.get(i)).collect::<Vec<_>>(), [true, false, true, true, true]);
    }
}

//! Dictionary encoding: values stored once each, and an index to them for each row.
//!
//! ```text
//! text columns          index 0 is null, index k is item k − 1
//! dictionary columns    index k is item k; a null row refers to a null item
//! ```
//! The items are decoded when the page is opened. Slot 0 of what is kept is null, so that slot k + 1 holds
//! item k, and every row has a slot.

use super::array::Array;
use crate::{
    DataType, Error, Result,
    bitmap::BitmapBuilder,
    container::PageParts,
    leaf::{Items, LeafBuilder},
    proto::v20 as proto,
};
use alloc::{format, vec, vec::Vec};
use bytemuck::Pod;
use core::ops::Range;

#[derive(Debug)]
pub(super) struct Dictionary {
    indices: Array,
    /// What is added to an index to find its slot.
    shift: u64,
    slots: Items,
    valid: BitmapBuilder,
    position: u64,
}

/// The slots that rows choose.
enum Chosen {
    /// One, so many times.
    Same(u32, usize),
    Each(Vec<u32>),
}

impl Dictionary {
    /// The dictionary of a page of `rows` values of `data_type`; none if all its items are null.
    pub(super) fn open(
        message: &proto::Dictionary,
        data_type: &DataType,
        rows: usize,
        parts: &PageParts,
    ) -> Result<Option<Self>> {
        let (index, items, shift) = match data_type {
            DataType::Dictionary(index, items) => (&**index, &**items, 1),
            other => (&DataType::UInt8, other, 0),
        };
        let indices = Array::open(message.indices.as_deref(), index, rows, parts)?;
        let count = message.num_dictionary_items as usize;
        let array = Array::open(message.items.as_deref(), items, count, parts)?;
        if array.is_dictionary() {
            return Err(Error::unsupported("a dictionary of a dictionary"));
        }
        if array.is_absent() {
            return Ok(None);
        }
        let mut slots = LeafBuilder::new(array.shape().clone(), count, None);
        let mut valid = BitmapBuilder::default();
        slots.append_defaults(1)?;
        valid.append(false);
        array.read(0..count, &mut slots, &mut valid, false)?;
        let slots = Items::new(slots);
        Ok(Some(Dictionary { indices, shift, slots, valid, position: parts.encoding_position }))
    }

    /// Whether the indices take no bytes in the file.
    pub(super) fn is_absent(&self) -> bool {
        self.indices.is_absent()
    }

    /// The bytes of the texts of `rows`.
    pub(super) fn text_bytes(&self, rows: Range<usize>) -> Result<usize> {
        Ok(match self.chosen(rows)? {
            Chosen::Same(slot, count) => self.slots.text_bytes(&[slot]).saturating_mul(count),
            Chosen::Each(slots) => self.slots.text_bytes(&slots),
        })
    }

    /// The slot of each of `rows`.
    fn chosen(&self, rows: Range<usize>) -> Result<Chosen> {
        let mut indices = LeafBuilder::new(self.indices.shape().clone(), rows.len(), None);
        let mut present = BitmapBuilder::default();
        self.indices.read(rows, &mut indices, &mut present, true)?;
        match indices.shape().slot_bytes() {
            Some(1) => self.choose::<u8>(&indices, &present),
            Some(2) => self.choose::<u16>(&indices, &present),
            Some(4) => self.choose::<u32>(&indices, &present),
            _ => self.choose::<u64>(&indices, &present),
        }
    }

    /// Appends `rows`.
    pub(super) fn read(
        &self,
        rows: Range<usize>,
        slots: &mut LeafBuilder,
        validity: &mut BitmapBuilder,
    ) -> Result<()> {
        let chosen = match self.chosen(rows)? {
            Chosen::Same(slot, count) => {
                self.slots.append_repeated(slots, slot as usize, count)?;
                validity.append_n(count, self.valid.get(slot as usize));
                return Ok(());
            }
            Chosen::Each(chosen) => chosen,
        };
        self.slots.append_to(slots, &chosen)?;
        if self.valid.count_zeros() == 1 && !chosen.contains(&0) {
            validity.append_n(chosen.len(), true);
            return Ok(());
        }
        let mut valid = vec![0u8; chosen.len().div_ceil(8)];
        for (byte, rows) in valid.iter_mut().zip(chosen.chunks(8)) {
            for (bit, &slot) in rows.iter().enumerate() {
                *byte |= u8::from(self.valid.get(slot as usize)) << bit;
            }
        }
        validity.append_bits(&valid, 0, chosen.len());
        Ok(())
    }

    /// The slot of each row.
    fn choose<T: Pod + Into<u64> + Ord>(
        &self,
        indices: &LeafBuilder,
        present: &BitmapBuilder,
    ) -> Result<Chosen> {
        let indices = indices.typed::<T>().unwrap_or_default();
        let slots = self.slots.len() as u64;
        let slot_of = |index: T| index.into().checked_add(self.shift).filter(|&slot| slot < slots);
        if let (Some(&first), true) = (indices.first(), present.all()) {
            let extremes = |(low, high): (T, T), &index: &T| (index.min(low), index.max(high));
            let (low, high) = indices.iter().fold((first, first), extremes);
            match slot_of(high) {
                Some(slot) if low == high => return Ok(Chosen::Same(slot as u32, indices.len())),
                Some(_) => {
                    let slots = indices.iter().map(|&index| (index.into() + self.shift) as u32);
                    return Ok(Chosen::Each(slots.collect()));
                }
                None => {}
            }
        }
        let slot = |(row, &index): (usize, &T)| {
            if !present.get(row) {
                return Ok(0);
            }
            slot_of(index).map(|slot| slot as u32).ok_or_else(|| self.outside(index.into()))
        };
        indices.iter().enumerate().map(slot).collect::<Result<_>>().map(Chosen::Each)
    }

    #[cold]
    fn outside(&self, index: u64) -> Error {
        Error::corrupt(format!(
            "dictionary: expected indices to {} items, found {index}",
            self.slots.len() - 1
        ))
        .at(self.position)
    }
}

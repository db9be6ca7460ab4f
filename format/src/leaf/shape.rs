//! [`LeafShape`]: how many bits a slot has; [`Room`]: how much memory slots take.

use crate::{DataType, Error, Physical, Result};
use alloc::{format, vec::Vec};

/// What one slot of a leaf holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LeafShape {
    /// Nothing: every slot is null.
    Null,
    /// `items` values of `item` each: a plain value has one item and no dimensions.
    Fixed {
        item: Item,
        /// Dimensions of nested fixed-size lists, outermost first.
        dims: Vec<usize>,
        /// The product of the dimensions.
        items: usize,
    },
    /// Bytes of any number, text if `utf8`; `large` columns have 64-bit offsets.
    Variable { large: bool, utf8: bool },
    /// A value of each field of a struct, at least one of which is variable.
    Packed(Vec<LeafShape>),
}

/// One item of a fixed-width slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    Bit,
    Bytes(usize),
}

impl LeafShape {
    /// Whether this is the same shape: cheap where there are no dimensions, since it is asked for every range of rows.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (
                LeafShape::Fixed { item, dims, items },
                LeafShape::Fixed { item: other_item, dims: other_dims, items: other_items },
            ) => {
                item == other_item
                    && items == other_items
                    && dims.len() == other_dims.len()
                    && (dims.is_empty() || dims == other_dims)
            }
            (one, other) => one == other,
        }
    }

    /// The shape of `data_type`.
    ///
    /// # Errors
    /// Unsupported for types that are no leaf or not known.
    pub(crate) fn of(data_type: &DataType) -> Result<Self> {
        let unsupported = || Error::unsupported(format!("values of type {data_type} are not supported here"));
        if let DataType::Unknown(logical) = data_type {
            return Err(Error::unsupported(format!("logical type `{logical}` is not known")));
        }
        Ok(match data_type.physical() {
            Physical::Null => LeafShape::Null,
            Physical::Bits => Self::plain(Item::Bit),
            Physical::Fixed(width) => Self::plain(Item::Bytes(width)),
            Physical::Variable => LeafShape::Variable { large: false, utf8: data_type.is_utf8() },
            Physical::LargeVariable => LeafShape::Variable { large: true, utf8: data_type.is_utf8() },
            Physical::FixedSizeList(dimension) => {
                let [inner] = data_type.children() else { return Err(unsupported()) };
                match Self::of(&inner.data_type)? {
                    LeafShape::Fixed { item, mut dims, items } => {
                        dims.insert(0, dimension);
                        let items = items.checked_mul(dimension).filter(|&items| items <= 1 << 31);
                        LeafShape::Fixed { item, dims, items: items.ok_or_else(unsupported)? }
                    }
                    _ => return Err(unsupported()),
                }
            }
            Physical::List | Physical::LargeList | Physical::Struct => return Err(unsupported()),
        })
    }

    /// One item a slot.
    pub(crate) fn plain(item: Item) -> Self {
        LeafShape::Fixed { item, dims: Vec::new(), items: 1 }
    }

    /// The bits of one slot, or `None` for shapes without a width.
    pub(crate) fn slot_bits(&self) -> Option<u64> {
        match self {
            LeafShape::Fixed { item: Item::Bit, items, .. } => Some(*items as u64),
            LeafShape::Fixed { item: Item::Bytes(width), items, .. } => {
                Some(*items as u64 * *width as u64 * 8)
            }
            _ => None,
        }
    }

    /// The bytes of one slot, if it is whole bytes and not made of bits.
    pub(crate) fn slot_bytes(&self) -> Option<usize> {
        match self {
            LeafShape::Fixed { item: Item::Bytes(width), items, .. } => Some(items * width),
            _ => None,
        }
    }
}

/// How much room slots take: their number, and the bytes of their texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) slots: usize,
    pub(crate) bytes: usize,
}

impl Room {
    /// Slots without text.
    pub(crate) fn of_slots(slots: usize) -> Self {
        Room { slots, bytes: 0 }
    }
}

impl core::ops::AddAssign for Room {
    fn add_assign(&mut self, more: Room) {
        self.slots = self.slots.saturating_add(more.slots);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }
}

/// Items of one slot counted at dimension `level`: the product of the dimensions down to it.
pub(super) fn items_at(shape: &LeafShape, level: usize) -> usize {
    match shape {
        LeafShape::Fixed { dims, .. } => dims[..=level].iter().product(),
        _ => 0,
    }
}

//! The column that a leaf becomes.

use super::{LeafBuilder, LeafShape, Slots};
use crate::{Bitmap, Buffer, Column, DataType, Field, Values, bitmap::BitmapBuilder};
use alloc::{boxed::Box, sync::Arc};

impl LeafBuilder {
    /// The column of all slots, of type `data_type`, whose rows have `validity`.
    pub(crate) fn finish(self, data_type: &DataType, validity: Option<Bitmap>) -> Column {
        let slots = self.slots;
        let flat = match self.values {
            Slots::Null => Values::Null,
            Slots::Bits(bits) => Values::Bits(bits.finish_all()),
            Slots::Fixed(buffer) => Values::Fixed(buffer),
            Slots::Variable { offsets, bytes } => Values::Variable { offsets, bytes },
            Slots::LargeVariable { offsets, bytes } => Values::LargeVariable { offsets, bytes },
            Slots::Packed(leaves) => {
                let fields = leaves.into_iter().zip(data_type.children());
                Values::Struct(fields.map(|(leaf, field)| leaf.finish(&field.data_type, None)).collect())
            }
        };
        // Dictionaries are read as their values.
        let data_type = match data_type {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        nest(data_type, slots, validity, flat, &mut self.item_validity.into_iter())
    }

    /// The column of structs whose fields lie side by side in each slot; none of the fields is null.
    pub(crate) fn finish_packed(
        self,
        data_type: &DataType,
        fields: &[Arc<Field>],
        validity: Option<Bitmap>,
    ) -> Column {
        let (slots, stride) = (self.slots, self.shape.slot_bytes().unwrap_or_default());
        let Slots::Fixed(rows) = self.values else { unreachable!("packed structs are made of bytes") };
        let mut at = 0;
        let children = fields.iter().map(|field| {
            let shape = LeafShape::of(&field.data_type).expect("checked when the page was opened");
            let width = shape.slot_bytes().unwrap_or_default();
            let mut child = Buffer::with_capacity(slots * width);
            let out = child.grow(slots * width);
            for (value, row) in
                out.chunks_exact_mut(width.max(1)).zip(rows.as_slice().chunks_exact(stride.max(1)))
            {
                value.copy_from_slice(&row[at..at + width]);
            }
            at += width;
            nest(&field.data_type, slots, None, Values::Fixed(child), &mut core::iter::empty())
        });
        let children = children.collect();
        Column::new(data_type.clone(), slots, validity, Values::Struct(children))
    }
}

/// Wraps flat items in the fixed-size lists of `data_type`.
fn nest(
    data_type: &DataType,
    len: usize,
    validity: Option<Bitmap>,
    flat: Values,
    item_validity: &mut impl Iterator<Item = BitmapBuilder>,
) -> Column {
    match data_type {
        DataType::FixedSizeList(item, dimension) => {
            let inner_validity = item_validity.next().and_then(BitmapBuilder::finish);
            let inner = nest(&item.data_type, len * *dimension as usize, inner_validity, flat, item_validity);
            Column::new(data_type.clone(), len, validity, Values::FixedSizeList(Box::new(inner)))
        }
        _ => Column::new(data_type.clone(), len, validity, flat),
    }
}

//! Dictionaries of mini-block pages: distinct values in a block, and indices to them in the chunks.

use super::{
    Target,
    block::{self, Block},
    values::ValueCodec,
};
use crate::{
    Column, DataType, Error, Extent, Result,
    column::check_repeated,
    ensure,
    leaf::{Item, Items, LeafBuilder, LeafShape},
    proto::v21 as message,
};
use alloc::{boxed::Box, format, sync::Arc, vec::Vec};
use core::ops::Range;
use lancet_kernels::gather;
use once_cell::race::OnceBox;

/// Distinct values that the slots refer to.
#[derive(Debug)]
pub(super) struct Dictionary {
    pub(super) items: Items,
    /// The items as a column, made when first asked for.
    column: OnceBox<Arc<Column>>,
    /// What an index is stored as.
    pub(super) index: LeafShape,
}

impl Dictionary {
    pub(super) fn open(
        block: &Block,
        extent: &Extent,
        num_items: u64,
        indices: &message::Compressive,
        shape: &LeafShape,
    ) -> Result<Self> {
        let bits = ValueCodec::stated_bits(indices)?;
        ensure!(
            matches!(bits, 8 | 16 | 32 | 64),
            "expected dictionary indices of 8 to 64 bits, found {bits}"
        );
        let index = LeafShape::plain(Item::Bytes((bits / 8) as usize));
        let num_items = usize::try_from(num_items).unwrap_or(usize::MAX);
        let mut items = LeafBuilder::new(shape.clone(), 0, None);
        block
            .decode(&extent.all()?, num_items, &mut items)
            .and_then(|()| items.check_utf8(0))
            .map_err(|error| error.at(extent.position()).within("dictionary"))?;
        Ok(Dictionary { items: Items::new(items), column: OnceBox::new(), index })
    }

    /// The items as a column, if there are any.
    pub(super) fn column(&self, data_type: &DataType) -> Option<&Arc<Column>> {
        let column = || Box::new(Arc::new(self.items.column(data_type)));
        (self.items.len() > 0).then(|| self.column.get_or_init(column))
    }

    /// Appends the items that were picked.
    pub(super) fn append_picks(&self, target: &mut Target) -> Result<()> {
        self.items.append_to(&mut target.leaf, &target.scratch.picks)?;
        target.scratch.picks.clear();
        Ok(())
    }

    /// Appends slots `range` of a chunk whose indices are stored as runs, if its items have one width: an item is looked
    /// up once for each run. `false` if that cannot be done, as if an index, maybe of a null, is none of an item.
    pub(super) fn append_runs(
        &self,
        runs: &[&[u8]],
        range: Range<usize>,
        target: &mut Target,
    ) -> Result<bool> {
        let Target { leaf, scratch, .. } = target;
        let (Some((width @ (1 | 2 | 4 | 8 | 16), items)), &[indices, lengths]) = (self.items.fixed(), runs)
        else {
            return Ok(false);
        };
        let picks = &mut scratch.picks;
        picks.clear();
        let all = match self.index.slot_bytes() {
            Some(1) => self.pick_all::<u8>(indices, picks),
            Some(2) => self.pick_all::<u16>(indices, picks),
            Some(4) => self.pick_all::<u32>(indices, picks),
            _ => self.pick_all::<u64>(indices, picks),
        };
        if all {
            check_repeated(range.len(), width as u64)?;
            scratch.values.resize(picks.len() * width, 0);
            gather::fixed(width, items, picks, &mut scratch.values);
            block::runs(&scratch.values, lengths, width as u64 * 8, range, leaf)?;
        }
        picks.clear();
        Ok(all)
    }

    /// Appends the indices to `picks` as numbers below the number of items. Null slots may hold any index, and
    /// get 0 instead; `levels` are the definition levels of the slots, or none if no slot is null.
    pub(super) fn pick(
        &self,
        indices: &LeafBuilder,
        levels: impl Iterator<Item = u16>,
        picks: &mut Vec<u32>,
    ) -> Result<()> {
        match self.index.slot_bytes() {
            Some(1) => self.pick_of::<u8>(indices, levels, picks),
            Some(2) => self.pick_of::<u16>(indices, levels, picks),
            Some(4) => self.pick_of::<u32>(indices, levels, picks),
            _ => self.pick_of::<u64>(indices, levels, picks),
        }
    }

    fn pick_of<T: Index>(
        &self,
        indices: &LeafBuilder,
        levels: impl Iterator<Item = u16>,
        picks: &mut Vec<u32>,
    ) -> Result<()> {
        let indices = indices.typed::<T>().unwrap_or_default();
        if self.pick_all::<T>(bytemuck::cast_slice(indices), picks) {
            return Ok(());
        }
        let items = self.items.len() as u64;
        for (&index, level) in indices.iter().zip(levels.chain(core::iter::repeat(0))) {
            picks.push(match index.into() {
                index if index < items => index as u32,
                _ if level > 0 => 0,
                index => {
                    return Err(Error::corrupt(format!(
                        "expected an index into a dictionary of {items} items, found {index}"
                    )));
                }
            });
        }
        Ok(())
    }

    /// Appends the indices that lie end to end in `bytes`, in this machine's order, if all are of items; else none.
    fn pick_all<T: Index>(&self, bytes: &[u8], picks: &mut Vec<u32>) -> bool {
        let before = picks.len();
        let items = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        let chunks = bytes.chunks_exact(size_of::<T>());
        let mut outside = !chunks.remainder().is_empty();
        picks.extend(chunks.map(|bytes| {
            let index: u64 = bytemuck::pod_read_unaligned::<T>(bytes).into();
            // Of 32 bits, where the compiler compares several at once.
            outside |= (index as u32 >= items) | (index >> 32 != 0);
            index as u32
        }));
        if outside {
            picks.truncate(before);
        }
        !outside
    }
}

/// A number that an index of a dictionary is stored as.
trait Index: bytemuck::Pod + Into<u64> {}

impl<T: bytemuck::Pod + Into<u64>> Index for T {}

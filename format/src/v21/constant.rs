//! Constant pages: every slot holds the same value, or there are only nulls and empty lists.
//!
//! ```text
//! inline value   0 buffers   the value in every slot
//!                2 buffers   levels (rep, def), the value in every slot that they leave
//! no inline      0 buffers   all null
//!                1 buffer    the value in buffer 0, in every slot
//!                2 buffers   levels only: no slot holds a value
//!                3 buffers   the value in buffer 0, then levels
//! value buffer   u32 count | count × u32 length | the Arrow buffers of a one-row array
//! ```

use super::{Target, layers::Layers, levels::LevelCodec};
use crate::{
    Column, DataType, Error, Extent, Result,
    column::check_repeated,
    container::PageParts,
    cursor::Cursor,
    ensure,
    leaf::{Item, Items, LeafBuilder, LeafShape, Room},
    proto::v21 as message,
};
use alloc::{boxed::Box, format, sync::Arc, vec::Vec};
use core::ops::Range;
use lancet_kernels::levels;
use once_cell::race::OnceBox;

/// An opened constant page.
#[derive(Debug)]
pub(crate) struct Constant {
    /// One slot, or none if no slot holds a value.
    value: Option<Items>,
    /// The value as a column, made when first asked for.
    column: OnceBox<Arc<Column>>,
    rep: Vec<u16>,
    def: Vec<u16>,
    /// The first entry of each row and the end of the last, if there are lists.
    row_starts: Vec<u32>,
    all_null: bool,
}

impl Constant {
    pub(crate) fn open(
        layout: &message::Constant,
        parts: &PageParts,
        layers: &Layers,
        shape: &LeafShape,
    ) -> Result<Self> {
        let value = match (&layout.inline_value, parts.buffers.len()) {
            (Some(bytes), 0 | 2) => Some(Items::new(inline(bytes, shape)?)),
            (None, 1 | 3) => Some(Items::new(scalar(parts.buffer(0, "value")?, shape)?)),
            (None, 0 | 2) => None,
            (_, found) => {
                return Err(Error::corrupt(format!(
                    "expected 0 to 3 buffers of a constant page, found {found}"
                )));
            }
        };
        let (mut rep, mut def) = (Vec::new(), Vec::new());
        if let count @ (2 | 3) = parts.buffers.len() {
            rep = all_levels(
                parts.buffer(count - 2, "levels")?,
                layout.rep_compression.as_ref(),
                parts.max_decompressed,
                layout.num_rep_values,
            )?;
            def = all_levels(
                parts.buffer(count - 1, "levels")?,
                layout.def_compression.as_ref(),
                parts.max_decompressed,
                layout.num_def_values,
            )?;
        }
        let row_starts = match layers.max_rep {
            0 => {
                ensure!(rep.is_empty(), "expected no repetition levels, found some without a list");
                let rows = parts.rows;
                ensure!(
                    def.is_empty() || def.len() as u64 == rows,
                    "expected {rows} levels, found {}",
                    def.len()
                );
                Vec::new()
            }
            max => {
                ensure!(
                    def.is_empty() || def.len() == rep.len(),
                    "expected as many definition as repetition levels, found {} and {}",
                    def.len(),
                    rep.len()
                );
                ensure!(rep.len() <= u32::MAX as usize, "expected at most 2^32 levels");
                let is_start = |(i, level): (usize, &u16)| (*level == max).then_some(i as u32);
                let mut starts: Vec<u32> = rep.iter().enumerate().filter_map(is_start).collect();
                ensure!(
                    starts.len() as u64 == parts.rows && starts.first().is_none_or(|&first| first == 0),
                    "expected levels of {} rows, found {}",
                    parts.rows,
                    starts.len()
                );
                starts.push(rep.len() as u32);
                starts
            }
        };
        let all_null = value.is_none() && parts.buffers.is_empty();
        if all_null {
            ensure!(layers.max_rep == 0, "expected levels for a list, found none");
            // Without a layer for nulls the rows would read as values that nobody wrote.
            ensure!(
                layers.max_def > 0 || *shape == LeafShape::Null || parts.rows == 0,
                "expected a nullable layer in a page of nulls, found none"
            );
        }
        if value.is_none() && !all_null {
            let visible = levels::count_at_most(&def, 0);
            let slots = if def.is_empty() { rep.len() } else { visible };
            ensure!(
                slots == 0 || *shape == LeafShape::Null,
                "expected no values in a page without a value, found {slots}"
            );
        }
        Ok(Constant { value, column: OnceBox::new(), rep, def, row_starts, all_null })
    }

    /// A column of the one value, if there is one.
    pub(crate) fn item(&self, data_type: &DataType) -> Option<&Arc<Column>> {
        let value = self.value.as_ref()?;
        Some(self.column.get_or_init(|| Box::new(Arc::new(value.column(data_type)))))
    }

    /// The room that rows `range` need, or a little more.
    pub(crate) fn room(&self, range: Range<u64>) -> Room {
        let slots = match self.row_starts.is_empty() {
            true => (range.end - range.start) as usize,
            false => (self.row_starts[range.end as usize] - self.row_starts[range.start as usize]) as usize,
        };
        let value = self.value.as_ref().map_or(0, |value| value.text_bytes(&[0]));
        Room { slots, bytes: slots.saturating_mul(value) }
    }

    /// Appends rows `range` of the page.
    pub(crate) fn read(&self, range: Range<u64>, layers: &Layers, target: &mut Target) -> Result<()> {
        let rows = (range.end - range.start) as usize;
        // Before levels and indices are made for rows of which the file holds no bytes.
        check_repeated(rows, 4)?;
        if self.all_null {
            target.def.clear();
            target.def.resize(rows, layers.max_def.min(1));
            target.structure.append(layers, &[], &target.def)?;
            return target.leaf.append_defaults(rows);
        }
        let entries = match self.row_starts.is_empty() {
            true => range.start as usize..range.end as usize,
            false => {
                self.row_starts[range.start as usize] as usize..self.row_starts[range.end as usize] as usize
            }
        };
        let rep = if self.rep.is_empty() { &[][..] } else { &self.rep[entries.clone()] };
        let def = if self.def.is_empty() { &[][..] } else { &self.def[entries.clone()] };
        match rep.is_empty() && def.is_empty() {
            true => target.structure.append_valid(rows),
            false => target.structure.append(layers, rep, def)?,
        }
        let slots = match def.is_empty() {
            true => entries.len(),
            false => levels::count_at_most(def, layers.visible),
        };
        if let Some(codes) = &mut target.codes {
            codes.resize(codes.len() + slots, 0);
            return Ok(());
        }
        match &self.value {
            Some(value) => value.append_repeated(&mut target.leaf, 0, slots),
            None => target.leaf.append_defaults(slots),
        }
    }
}

fn all_levels(
    extent: &Extent,
    compression: Option<&message::Compressive>,
    max_decompressed: usize,
    count: u64,
) -> Result<Vec<u16>> {
    let bytes = extent.all()?;
    let mut out = Vec::new();
    if bytes.is_empty() {
        return Ok(out);
    }
    let (codec, count) = match LevelCodec::parse(compression, max_decompressed)? {
        Some(codec) => (codec, usize::try_from(count).unwrap_or(usize::MAX)),
        None => (LevelCodec::raw(), bytes.len() / 2),
    };
    codec
        .decode(&bytes, count, 0..count, &mut out)
        .map_err(|error| error.at(extent.position()).within("levels"))?;
    Ok(out)
}

/// The value that stands in the page's description: the bytes of a number, or one byte for a boolean.
fn inline(bytes: &[u8], shape: &LeafShape) -> Result<LeafBuilder> {
    let mut value = LeafBuilder::new(shape.clone(), 1, None);
    match shape {
        LeafShape::Fixed { item: Item::Bit, items: 1, .. } => {
            ensure!(matches!(bytes, [0 | 1]), "expected a boolean of one byte, found {bytes:?}");
            value.append_bytes_as_bits(bytes)?;
        }
        LeafShape::Fixed { item: Item::Bytes(_), .. } => {
            value.grow_fixed(1, bytes.len())?.copy_from_slice(bytes);
        }
        LeafShape::Variable { .. } => value.append_value(bytes)?,
        other => return Err(Error::corrupt(format!("found an inline value where the type has {other:?}"))),
    }
    value.check_utf8(0)?;
    Ok(value)
}

/// The value that lies in a buffer of its own, as a one-row array.
fn scalar(extent: &Extent, shape: &LeafShape) -> Result<LeafBuilder> {
    let bytes = extent.all()?;
    let mut cursor = Cursor::new(&bytes, extent.position());
    let count = cursor.u32("number of buffers")?;
    let expected = if matches!(shape, LeafShape::Variable { .. }) { 2 } else { 1 };
    ensure!(count == expected, "expected a value of {expected} buffers, found {count}");
    let mut sizes = [0; 2];
    for size in &mut sizes[..count as usize] {
        *size = cursor.u32("size of a buffer")? as usize;
    }
    let mut value = LeafBuilder::new(shape.clone(), 1, None);
    let first = cursor.take(sizes[0], "value")?;
    match shape {
        LeafShape::Variable { .. } => {
            let data = cursor.take(sizes[1], "value")?;
            let mut offsets = Cursor::new(first, extent.position());
            let (start, end) = match first.len() {
                8 => (u64::from(offsets.u32("offset")?), u64::from(offsets.u32("offset")?)),
                16 => (offsets.u64("offset")?, offsets.u64("offset")?),
                found => return Err(Error::corrupt(format!("expected two offsets, found {found} bytes"))),
            };
            let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            let Some(text) = range.and_then(|(start, end)| data.get(start..end)) else {
                return Err(Error::corrupt(format!(
                    "expected a value within {} bytes, found bytes {start}..{end}",
                    data.len()
                )));
            };
            value.append_value(text)?;
        }
        LeafShape::Fixed { item: Item::Bit, .. } => value.append_bits(first, 0, 1)?,
        LeafShape::Fixed { .. } => value.grow_fixed(1, first.len())?.copy_from_slice(first),
        LeafShape::Null | LeafShape::Packed(_) => {
            return Err(Error::corrupt(format!("found a value where the type has {shape:?}")));
        }
    }
    value.check_utf8(0)?;
    Ok(value)
}

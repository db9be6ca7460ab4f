//! How the chunks of a mini-block page hold their values: a few buffers for up to 32768 slots.
//!
//! ```text
//! flat               slots × bits                                  1 buffer
//! bit-packed         word W | 128 × W bytes (at most 1024 slots)   1 buffer
//! variable           (slots + 1) offsets | bytes | padding         1 buffer; offsets count from its start
//! FSST               as variable, each value coded by symbols      1 buffer
//! run length         run values; run lengths, a byte each          2 buffers
//! byte stream split  byte 0 of all slots, byte 1 of all slots, …   1 buffer
//! fixed-size list    a bitmap for each level with null items, then the items as flat
//! general            the first buffer compressed, then any of these
//! ```

use super::block::{
    self, InlineBlock, MAX_DEPTH, by_word, child, compressed, flat_bits, required, unsupported, word_bits,
};
use crate::{
    Error, Result,
    compress::Compressed,
    ensure,
    leaf::{Item, LeafBuilder, LeafShape},
    proto::v21::{Compression, Compressive},
};
use alloc::{boxed::Box, format, vec::Vec};
use core::ops::Range;
use lancet_kernels::fsst::Symbols;

/// How a chunk holds its values.
#[derive(Debug, Clone)]
pub(crate) enum ValueCodec {
    Flat {
        bits: u64,
    },
    Packed {
        bits: u64,
    },
    Variable {
        offset_width: usize,
    },
    Fsst {
        symbols: Box<Symbols>,
        offset_width: usize,
    },
    Rle {
        bits: u64,
    },
    ByteStreamSplit {
        bits: u64,
    },
    /// For each dimension, outermost first, whether a bitmap says which items are null; then flat items.
    FixedSizeList {
        validity: Vec<bool>,
        bits: u64,
    },
    General {
        compressed: Compressed,
        inner: Box<ValueCodec>,
    },
}

impl ValueCodec {
    /// From its message, checked against the shape of the values; compressed chunks expand to `max` bytes at the most.
    ///
    /// # Errors
    /// Unsupported for encodings that chunks do not use, by name; corrupt if the shape is another.
    pub(crate) fn parse(message: &Compressive, shape: &LeafShape, max: usize, depth: usize) -> Result<Self> {
        ensure!(depth < MAX_DEPTH, "expected encodings nested at most {MAX_DEPTH} deep");
        let fixed = |bits: u64| {
            let own = shape.slot_bits();
            ensure!(own == Some(bits), "expected values of {own:?} bits, found {bits}");
            Ok(bits)
        };
        Ok(match required(message)? {
            Compression::Flat(flat) => ValueCodec::Flat { bits: fixed(flat.bits_per_value)? },
            Compression::InlineBitpacking(packed) => {
                ValueCodec::Packed { bits: fixed(word_bits(packed.uncompressed_bits_per_value)?)? }
            }
            Compression::Variable(variable) => {
                check_variable(shape)?;
                ValueCodec::Variable { offset_width: offset_width(variable.offsets.as_deref())? }
            }
            Compression::Fsst(fsst) => {
                check_variable(shape)?;
                let Compression::Variable(inner) = required(child(fsst.values.as_deref())?)? else {
                    return Err(Error::unsupported("FSST of anything but variable values is not supported"));
                };
                let symbols = symbols(&fsst.symbol_table)?;
                ValueCodec::Fsst { symbols, offset_width: offset_width(inner.offsets.as_deref())? }
            }
            Compression::Rle(runs) => {
                let lengths = flat_bits(runs.run_lengths.as_deref())?;
                ensure!(lengths == 8, "expected run lengths of 8 bits, found {lengths}");
                ValueCodec::Rle { bits: fixed(word_bits(flat_bits(runs.values.as_deref())?)?)? }
            }
            Compression::ByteStreamSplit(split) => {
                let bits = fixed(flat_bits(split.values.as_deref())?)?;
                ensure!(bits == 32 || bits == 64, "expected split values of 32 or 64 bits, found {bits}");
                ValueCodec::ByteStreamSplit { bits }
            }
            Compression::FixedSizeList(_) => {
                let (validity, bits) = fixed_size_list(message, shape)?;
                ValueCodec::FixedSizeList { validity, bits }
            }
            Compression::PackedStruct(packed) => {
                let sum = packed.bits_per_value.iter().try_fold(0u64, |sum, &bits| sum.checked_add(bits));
                let sum = sum
                    .ok_or_else(|| Error::corrupt("expected packed widths that add up to 64 bits of size"))?;
                ValueCodec::Flat { bits: fixed(sum)? }
            }
            Compression::General(general) => ValueCodec::General {
                compressed: compressed(general, max)?,
                inner: Box::new(Self::parse(child(general.values.as_deref())?, shape, max, depth + 1)?),
            },
            other => return Err(unsupported(other, "values of a mini-block page")),
        })
    }

    /// Whether a chunk holds values of whole bytes end to end, and nothing else.
    pub(crate) fn is_plain(&self) -> bool {
        match self {
            ValueCodec::Flat { bits } => bits % 8 == 0,
            ValueCodec::FixedSizeList { validity, bits } => bits % 8 == 0 && !validity.contains(&true),
            _ => false,
        }
    }

    /// The bits of a value as the encoding itself states them, for values whose type does not: the
    /// indices of a dictionary.
    pub(crate) fn stated_bits(message: &Compressive) -> Result<u64> {
        match required(message)? {
            Compression::Flat(flat) => Ok(flat.bits_per_value),
            Compression::InlineBitpacking(packed) => Ok(packed.uncompressed_bits_per_value),
            Compression::Rle(runs) => flat_bits(runs.values.as_deref()),
            Compression::ByteStreamSplit(split) => flat_bits(split.values.as_deref()),
            Compression::General(general) => Self::stated_bits(child(general.values.as_deref())?),
            other => Err(unsupported(other, "indices of a dictionary")),
        }
    }

    /// How many buffers each chunk has.
    pub(crate) fn num_buffers(&self) -> usize {
        match self {
            ValueCodec::Rle { .. } => 2,
            ValueCodec::FixedSizeList { validity, .. } => validity.iter().filter(|has| **has).count() + 1,
            ValueCodec::General { inner, .. } => inner.num_buffers(),
            _ => 1,
        }
    }

    /// Appends slots `range` of a chunk of `slots` slots to `out`.
    pub(crate) fn decode(
        &self,
        buffers: &[&[u8]],
        slots: usize,
        range: Range<usize>,
        out: &mut LeafBuilder,
    ) -> Result<()> {
        let first = buffers[0];
        match self {
            ValueCodec::Flat { bits } => block::flat(first, *bits, slots, range, out),
            ValueCodec::Packed { bits } => {
                by_word(*bits, InlineBlock { bytes: first, count: slots, range, out })
            }
            ValueCodec::Variable { offset_width } => {
                let values = Variable::new(first, *offset_width, slots, range.clone())?;
                values.append_to(out)
            }
            ValueCodec::Fsst { symbols, offset_width } => {
                let values = Variable::new(first, *offset_width, slots, range)?;
                if !symbols.is_compressed() {
                    return values.append_to(out);
                }
                let first = values.first;
                out.append_coded(symbols, values.data, values.ends().map(|end| end - first))
            }
            ValueCodec::Rle { bits } => block::runs(first, buffers[1], *bits, range, out),
            ValueCodec::ByteStreamSplit { bits } => {
                let width = (*bits / 8) as usize;
                ensure!(
                    first.len() == slots * width,
                    "expected {slots} split values of {width} bytes, found {} bytes",
                    first.len()
                );
                let target = out.grow_fixed(range.len(), width)?;
                for (byte, plane) in first.chunks_exact(slots.max(1)).enumerate() {
                    for (value, &b) in target.chunks_exact_mut(width).zip(&plane[range.clone()]) {
                        value[byte] = b;
                    }
                }
                Ok(())
            }
            ValueCodec::FixedSizeList { validity, bits } => {
                let (items, bitmaps) = match buffers.split_last() {
                    Some((items, bitmaps)) => (*items, bitmaps),
                    None => return Err(Error::corrupt("expected a buffer of items, found none")),
                };
                block::flat(items, *bits, slots, range.clone(), out)?;
                let levels = validity.iter().enumerate().filter(|(_, has)| **has);
                for ((level, _), bitmap) in levels.zip(bitmaps) {
                    out.set_item_validity(level, bitmap, range.start, range.len())?;
                }
                Ok(())
            }
            ValueCodec::General { inner, .. } => {
                let mut whole = Vec::new();
                self.decompress(first, slots, out.shape(), &mut whole)?;
                inner.decode(&replace_first(buffers, &whole), slots, range, out)
            }
        }
    }

    /// How many bytes of text slots `range` of a chunk of `slots` slots take, or the most that they may take.
    pub(crate) fn text_bytes(&self, buffers: &[&[u8]], slots: usize, range: Range<usize>) -> Result<usize> {
        let first = buffers[0];
        Ok(match self {
            ValueCodec::Variable { offset_width } => {
                Variable::open(first, *offset_width, slots, range)?.span().len()
            }
            ValueCodec::Fsst { symbols, offset_width } => {
                let span = Variable::open(first, *offset_width, slots, range)?.span();
                symbols.most_decoded(first.get(span).unwrap_or_default())
            }
            ValueCodec::General { compressed, .. } => compressed.stated_size(first),
            _ => 0,
        })
    }

    /// Sets `out` to the first buffer of a compressed chunk of `slots` slots, decompressed.
    pub(crate) fn decompress(
        &self,
        first: &[u8],
        slots: usize,
        shape: &LeafShape,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let ValueCodec::General { compressed, .. } = self else {
            out.clear();
            out.extend_from_slice(first);
            return Ok(());
        };
        // Values of one width never grow by more than a header and padding to 1024 of them.
        let largest = |bits: u64| (slots + 1024).saturating_mul(bits.div_ceil(8) as usize + 1);
        compressed.decompress(first, shape.slot_bits().map(largest), out)
    }
}

/// The buffers of a chunk with another first one.
pub(crate) fn replace_first<'a>(buffers: &[&'a [u8]], first: &'a [u8]) -> Vec<&'a [u8]> {
    core::iter::once(first).chain(buffers.iter().skip(1).copied()).collect()
}

/// The values of `range` in a buffer of offsets and bytes.
pub(super) struct Variable<'a> {
    /// One offset more than values.
    offsets: &'a [u8],
    wide: bool,
    /// The offset of the first byte of `data`.
    pub(super) first: usize,
    pub(super) data: &'a [u8],
}

impl<'a> Variable<'a> {
    /// The offsets, not yet checked, and no data.
    fn open(buffer: &'a [u8], offset_width: usize, slots: usize, range: Range<usize>) -> Result<Self> {
        let table = (slots + 1) * offset_width;
        let Some(offsets) = buffer.get(..table) else {
            return Err(Error::corrupt(format!(
                "expected offsets of {table} bytes, found {} bytes",
                buffer.len()
            )));
        };
        let offsets = &offsets[range.start * offset_width..(range.end + 1) * offset_width];
        Ok(Variable { offsets, wide: offset_width == 8, first: 0, data: &[] })
    }

    /// Where the values lie, if the offsets ascend.
    fn span(&self) -> Range<usize> {
        self.offset(0)..self.ends().next_back().unwrap_or_default()
    }

    pub(super) fn new(
        buffer: &'a [u8],
        offset_width: usize,
        slots: usize,
        range: Range<usize>,
    ) -> Result<Self> {
        let table = (slots + 1) * offset_width;
        let mut values = Self::open(buffer, offset_width, slots, range)?;
        let (first, mut last, mut ascending) = (values.offset(0), 0, true);
        for end in core::iter::once(first).chain(values.ends()) {
            ascending &= last <= end;
            last = end;
        }
        ensure!(
            first >= table,
            "expected the first value behind the offsets, at {table} or later, found {first}"
        );
        ensure!(ascending, "expected ascending offsets");
        let Some(data) = buffer.get(first..last) else {
            return Err(Error::corrupt(format!(
                "expected values up to byte {last}, found {} bytes",
                buffer.len()
            )));
        };
        (values.first, values.data) = (first, data);
        Ok(values)
    }

    #[inline]
    fn offset(&self, i: usize) -> usize {
        match self.wide {
            false => self.offsets.as_chunks().0.get(i).map_or(0, |&bytes| u32::from_le_bytes(bytes) as usize),
            true => self.offsets.as_chunks().0.get(i).map_or(0, |&bytes| u64::from_le_bytes(bytes) as usize),
        }
    }

    pub(super) fn ends(&self) -> impl ExactSizeIterator<Item = usize> + DoubleEndedIterator + use<'a> {
        let (offsets, wide) = (self.offsets, self.wide);
        let count = offsets.len() / if wide { 8 } else { 4 } - 1;
        (1..count + 1).map(move |i| match wide {
            false => u32::from_le_bytes(offsets.as_chunks().0[i]) as usize,
            true => u64::from_le_bytes(offsets.as_chunks().0[i]) as usize,
        })
    }

    fn append_to(&self, out: &mut LeafBuilder) -> Result<()> {
        let first = self.first;
        out.append_values(self.data, self.ends().map(|end| end - first))
    }
}

/// The table of a FSST encoding.
pub(crate) fn symbols(table: &[u8]) -> Result<Box<Symbols>> {
    Symbols::parse(table).map(Box::new).map_err(|what| Error::corrupt(format!("FSST symbol table: {what}")))
}

/// Walks the levels of a fixed-size list: which have a bitmap of null items, and the bits of a slot.
pub(crate) fn fixed_size_list(message: &Compressive, shape: &LeafShape) -> Result<(Vec<bool>, u64)> {
    let LeafShape::Fixed { item, dims, items } = shape else {
        return Err(Error::corrupt(format!("found a fixed-size list where the type has {shape:?}")));
    };
    let mut validity = Vec::new();
    let mut message = message;
    loop {
        match required(message)? {
            Compression::FixedSizeList(list) => {
                let dimension = dims.get(validity.len()).copied();
                ensure!(
                    dimension == Some(list.items_per_value as usize),
                    "expected a fixed-size list of {dimension:?} items, found {}",
                    list.items_per_value
                );
                validity.push(list.has_validity);
                message = child(list.values.as_deref())?;
            }
            Compression::Flat(flat) => {
                let own = match item {
                    Item::Bit => 1,
                    Item::Bytes(width) => *width as u64 * 8,
                };
                ensure!(
                    validity.len() == dims.len() && flat.bits_per_value == own,
                    "expected items of {own} bits in {} lists, found {} bits in {}",
                    dims.len(),
                    flat.bits_per_value,
                    validity.len()
                );
                return Ok((validity, *items as u64 * own));
            }
            other => return Err(unsupported(other, "items of a fixed-size list")),
        }
    }
}

fn check_variable(shape: &LeafShape) -> Result<()> {
    ensure!(
        matches!(shape, LeafShape::Variable { .. }),
        "found variable values where the type has {shape:?}"
    );
    Ok(())
}

/// The width in bytes of the offsets that are flat in `message`.
fn offset_width(message: Option<&Compressive>) -> Result<usize> {
    match flat_bits(message)? {
        32 => Ok(4),
        64 => Ok(8),
        bits => Err(Error::corrupt(format!("expected offsets of 32 or 64 bits, found {bits}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::v21::{ByteStreamSplit, Flat};
    use alloc::vec;

    fn split(bits_per_value: u64) -> Compressive {
        let flat = Flat { bits_per_value, data: None };
        let values = Compressive { compression: Some(Compression::Flat(flat)) };
        let split = ByteStreamSplit { values: Some(Box::new(values)) };
        Compressive { compression: Some(Compression::ByteStreamSplit(Box::new(split))) }
    }

    /// With compression asked for, Lance splits the bytes of a dictionary's indices too.
    #[test]
    fn split_bytes_as_indices_of_a_dictionary() {
        assert_eq!(ValueCodec::stated_bits(&split(32)).unwrap(), 32);
        let shape = LeafShape::plain(Item::Bytes(4));
        let codec = ValueCodec::parse(&split(32), &shape, 0, 0).unwrap();
        let planes = [&[1, 2, 3][..], &[0, 1, 0], &[0, 0, 0], &[0, 0, 7]].concat();
        let mut out = LeafBuilder::new(shape, 2, None);
        codec.decode(&[&planes], 3, 1..3, &mut out).unwrap();
        assert_eq!(out.typed::<u32>(), Some(&vec![0x102, 0x0700_0003][..]));
    }
}

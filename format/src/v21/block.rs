//! Blocks: one buffer that is decoded as a whole: dictionaries, and levels with rare encodings.
//!
//! ```text
//! flat           count × bits
//! variable       u32 32 | u32 start | (count + 1) u32 offsets | bytes        (or the same with u64 and 64)
//! inline         word W | 128 × W bytes: up to 1024 bit-packed values
//! out of line    128 × W bytes for every 1024 values, then a tail: raw, or one more packed block
//! run length     u64 size of values | values | run lengths, a byte each
//! general        compressed (see `compress`), then any of these
//! ```

use crate::{
    Error, Result,
    compress::{Compressed, Scheme},
    cursor::Cursor,
    ensure,
    leaf::{Item, LeafBuilder, LeafShape},
    proto::v21::{Compression, Compressive, General},
};
use alloc::{boxed::Box, format, vec::Vec};
use lancet_kernels::{rle, unpack};

/// How deep encodings may nest before a file is refused.
pub(crate) const MAX_DEPTH: usize = 16;

/// Values of no bits take no bytes, so that their number is a mere claim: no more of them are believed than any
/// chunk has.
const MAX_UNSTORED: usize = 1 << 16;

/// How one buffer holds all its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Block {
    Flat { bits: u64 },
    Variable,
    Inline { bits: u64 },
    OutOfLine { bits: u64, width: usize },
    Rle { bits: u64 },
    General { compressed: Compressed, inner: Box<Block> },
}

impl Block {
    /// From its message; compressed blocks expand to `max` bytes at the most.
    ///
    /// # Errors
    /// Unsupported for encodings that no block uses, by name.
    pub(crate) fn parse(message: &Compressive, max: usize, depth: usize) -> Result<Self> {
        ensure!(depth < MAX_DEPTH, "expected encodings nested at most {MAX_DEPTH} deep");
        Ok(match required(message)? {
            Compression::Flat(flat) => Block::Flat { bits: flat.bits_per_value },
            Compression::Variable(_) => Block::Variable,
            Compression::InlineBitpacking(packed) => {
                Block::Inline { bits: word_bits(packed.uncompressed_bits_per_value)? }
            }
            Compression::OutOfLineBitpacking(packed) => {
                let bits = word_bits(packed.uncompressed_bits_per_value)?;
                let width = flat_bits(packed.values.as_deref())?;
                ensure!(width <= bits, "expected packed values of at most {bits} bits, found {width}");
                Block::OutOfLine { bits, width: width as usize }
            }
            Compression::Rle(runs) => {
                let lengths = flat_bits(runs.run_lengths.as_deref())?;
                ensure!(lengths == 8, "expected run lengths of 8 bits, found {lengths}");
                Block::Rle { bits: word_bits(flat_bits(runs.values.as_deref())?)? }
            }
            Compression::General(general) => Block::General {
                compressed: compressed(general, max)?,
                inner: Box::new(Block::parse(child(general.values.as_deref())?, max, depth + 1)?),
            },
            other => return Err(unsupported(other, "block")),
        })
    }

    /// The bits of one value, if it has a width.
    pub(crate) fn value_bits(&self) -> Option<u64> {
        match self {
            Block::Flat { bits }
            | Block::Inline { bits }
            | Block::OutOfLine { bits, .. }
            | Block::Rle { bits } => Some(*bits),
            Block::Variable => None,
            Block::General { inner, .. } => inner.value_bits(),
        }
    }

    /// Appends all `count` values of `bytes` to `out`.
    pub(crate) fn decode(&self, bytes: &[u8], count: usize, out: &mut LeafBuilder) -> Result<()> {
        match self {
            Block::Flat { bits } => flat(bytes, *bits, count, 0..count, out),
            Block::Variable => variable(bytes, count, out),
            Block::Inline { bits } => by_word(*bits, InlineBlock { bytes, count, range: 0..count, out }),
            Block::OutOfLine { bits, width } => {
                by_word(*bits, OutOfLineBlock { bytes, width: *width, count, range: 0..count, out })
            }
            Block::Rle { bits } => {
                let (values, lengths) = split_runs(bytes, count)?;
                runs(values, lengths, *bits, 0..count, out)
            }
            Block::General { compressed, inner } => {
                let mut whole = Vec::new();
                compressed.decompress(bytes, inner.largest(count), &mut whole)?;
                inner.decode(&whole, count, out)
            }
        }
    }

    /// The most bytes that `count` values can take before compression, if that can be known.
    fn largest(&self, count: usize) -> Option<usize> {
        match self {
            Block::Variable | Block::General { .. } => None,
            other => {
                let bytes = (other.value_bits().unwrap_or(64).div_ceil(8) as usize).saturating_add(1);
                // Packed blocks are padded to 1024 values and have a header; runs have a byte each more.
                let rows = count.div_ceil(1024).saturating_add(1).saturating_mul(1024);
                Some(rows.saturating_mul(bytes))
            }
        }
    }
}

/// `range` of `count` flat values.
pub(crate) fn flat(
    bytes: &[u8],
    bits: u64,
    count: usize,
    range: core::ops::Range<usize>,
    out: &mut LeafBuilder,
) -> Result<()> {
    let own = out.shape().slot_bits();
    if matches!(out.shape(), LeafShape::Fixed { item: Item::Bit, .. }) {
        ensure!(own == Some(bits), "expected values of {own:?} bits, found {bits}");
        return out.append_bits(bytes, range.start, range.len());
    }
    ensure!(own == Some(bits) && bits.is_multiple_of(8), "expected values of {own:?} bits, found {bits}");
    let width = (bits / 8) as usize;
    let within = range.start.checked_mul(width).zip(range.end.checked_mul(width));
    let Some(values) = within.and_then(|(start, end)| bytes.get(start..end)) else {
        return Err(Error::corrupt(format!(
            "expected {count} values of {width} bytes, found {} bytes",
            bytes.len()
        )));
    };
    out.grow_fixed(range.len(), width)?.copy_from_slice(values);
    Ok(())
}

fn variable(bytes: &[u8], count: usize, out: &mut LeafBuilder) -> Result<()> {
    let mut cursor = Cursor::new(bytes, 0);
    let width = cursor.u32("offset width")?;
    let (start, ends) = match width {
        32 => {
            let start = cursor.u32("offset of the bytes")? as usize;
            let table = cursor.take(count.saturating_add(1).saturating_mul(4), "offsets")?;
            (start, table.as_chunks().0.iter().map(|&b| u32::from_le_bytes(b) as usize).collect::<Vec<_>>())
        }
        64 => {
            ensure!(cursor.u32("offset width")? == 0, "expected an offset width of 64 bits");
            let start = cursor.u64("offset of the bytes")? as usize;
            let table = cursor.take(count.saturating_add(1).saturating_mul(8), "offsets")?;
            (start, table.as_chunks().0.iter().map(|&b| u64::from_le_bytes(b) as usize).collect())
        }
        _ => return Err(Error::corrupt(format!("expected an offset width of 32 or 64 bits, found {width}"))),
    };
    ensure!(start == cursor.consumed(), "expected the bytes at {}, found {start}", cursor.consumed());
    let data = &bytes[start..];
    ensure!(ends.first() == Some(&0) && ends.is_sorted(), "expected ascending offsets from 0");
    let last = ends.last().copied().unwrap_or_default();
    let Some(data) = data.get(..last) else {
        return Err(Error::corrupt(format!("expected {last} bytes of values, found {}", data.len())));
    };
    out.append_values(data, ends[1..].iter().copied())
}

/// The values and the lengths of the runs of a block of `count` values.
pub(crate) fn split_runs(bytes: &[u8], count: usize) -> Result<(&[u8], &[u8])> {
    let mut cursor = Cursor::new(bytes, 0);
    let size = cursor.u64("runs")?;
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let values = cursor.take(size, "run values")?;
    let lengths = cursor.take(cursor.remaining(), "run lengths")?;
    ensure!(rle::total(lengths) == Some(count as u64), "expected runs of {count} values in all");
    Ok((values, lengths))
}

/// `range` of the values that the runs expand to.
pub(crate) fn runs(
    values: &[u8],
    lengths: &[u8],
    bits: u64,
    range: core::ops::Range<usize>,
    out: &mut LeafBuilder,
) -> Result<()> {
    let width = (bits / 8) as usize;
    ensure!(
        values.len() == lengths.len() * width,
        "expected {} run values of {width} bytes, found {} bytes",
        lengths.len(),
        values.len()
    );
    let target = out.grow_fixed(range.len(), width)?;
    let complete = match width {
        1 => rle::expand::<1>(values, lengths, range.start, target),
        2 => rle::expand::<2>(values, lengths, range.start, target),
        4 => rle::expand::<4>(values, lengths, range.start, target),
        16 => rle::expand::<16>(values, lengths, range.start, target),
        _ => rle::expand::<8>(values, lengths, range.start, target),
    };
    ensure!(complete, "expected runs of at least {} values, each longer than 0", range.end);
    Ok(())
}

/// Work on packed words whose width is known only at run time.
pub(crate) trait ByWord {
    fn run<W: unpack::Word + bytemuck::Pod>(self) -> Result<()>;
}

/// Runs `work` with the word type of `bits` bits.
pub(crate) fn by_word(bits: u64, work: impl ByWord) -> Result<()> {
    match bits {
        8 => work.run::<u8>(),
        16 => work.run::<u16>(),
        32 => work.run::<u32>(),
        _ => work.run::<u64>(),
    }
}

/// Up to 1024 values behind a word that says how many bits each takes.
pub(crate) struct InlineBlock<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) count: usize,
    pub(crate) range: core::ops::Range<usize>,
    pub(crate) out: &'a mut LeafBuilder,
}

impl ByWord for InlineBlock<'_> {
    fn run<W: unpack::Word + bytemuck::Pod>(self) -> Result<()> {
        let InlineBlock { bytes, count, range, out } = self;
        let word = size_of::<W>();
        ensure!(count <= unpack::BLOCK, "expected at most 1024 bit-packed values, found {count}");
        let (width, packed) = inline_width::<W>(bytes)?;
        let target = out.grow_fixed(range.len(), word)?;
        unpack::range::<W>(width, packed, range.start, bytemuck::cast_slice_mut(target));
        Ok(())
    }
}

/// The bit width and the packed values of an inline block.
pub(crate) fn inline_width<W: unpack::Word>(bytes: &[u8]) -> Result<(usize, &[u8])> {
    let word = size_of::<W>();
    let Some((header, packed)) = bytes.split_at_checked(word) else {
        return Err(Error::corrupt(format!("expected a bit width of {word} bytes, found {}", bytes.len())));
    };
    let mut width = [0; 8];
    width[..word].copy_from_slice(header);
    let width = u64::from_le_bytes(width);
    ensure!(width <= W::BITS as u64, "expected a bit width of at most {}, found {width}", W::BITS);
    let width = width as usize;
    ensure!(
        packed.len() == unpack::packed_len(width),
        "expected {} bytes of values of {width} bits, found {}",
        unpack::packed_len(width),
        packed.len()
    );
    Ok((width, packed))
}

/// `range` of `count` values in packed blocks of 1024 without headers.
pub(crate) struct OutOfLineBlock<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) width: usize,
    pub(crate) count: usize,
    pub(crate) range: core::ops::Range<usize>,
    pub(crate) out: &'a mut LeafBuilder,
}

impl ByWord for OutOfLineBlock<'_> {
    fn run<W: unpack::Word + bytemuck::Pod>(self) -> Result<()> {
        let OutOfLineBlock { bytes, width, count, range, out } = self;
        // Checks the size for `count` before anything is sized by it.
        out_of_line::<W>(bytes, width, count, 0, &mut [])?;
        let target = out.grow_fixed(range.len(), size_of::<W>())?;
        out_of_line::<W>(bytes, width, count, range.start, bytemuck::cast_slice_mut(target))
    }
}

/// Values `start..start + out.len()` of `count` values in packed blocks of 1024 without headers.
pub(crate) fn out_of_line<W: unpack::Word + bytemuck::Pod>(
    bytes: &[u8],
    width: usize,
    count: usize,
    start: usize,
    out: &mut [W],
) -> Result<()> {
    let block = unpack::packed_len(width);
    let (full, rest) = (count / unpack::BLOCK, count % unpack::BLOCK);
    ensure!(
        width > 0 || count <= MAX_UNSTORED,
        "expected at most {MAX_UNSTORED} values of no bits, found {count}"
    );
    let tail = full.checked_mul(block).and_then(|full| bytes.len().checked_sub(full));
    // A raw tail is written only if it is no longer than a packed one, so the two cannot be confused.
    let raw_tail = tail == Some(rest * size_of::<W>());
    ensure!(
        raw_tail || (rest > 0 && tail == Some(block)),
        "expected {count} values packed to {width} bits, found {} bytes",
        bytes.len()
    );
    let (mut at, mut out) = (start, out);
    while !out.is_empty() {
        let (index, from) = (at / unpack::BLOCK, at % unpack::BLOCK);
        let here = out.len().min(unpack::BLOCK - from);
        let (head, next) = out.split_at_mut(here);
        let data = &bytes[index * block..];
        if index == full && raw_tail {
            let raw = &data[from * size_of::<W>()..(from + here) * size_of::<W>()];
            bytemuck::cast_slice_mut(head).copy_from_slice(raw);
        } else {
            unpack::range::<W>(width, &data[..block], from, head);
        }
        (at, out) = (at + here, next);
    }
    Ok(())
}

/// The encoding that must be there.
pub(crate) fn required(message: &Compressive) -> Result<&Compression> {
    message.compression.as_ref().ok_or_else(|| Error::corrupt("expected an encoding, found none"))
}

/// The encoding inside another that must be there.
pub(crate) fn child(message: Option<&Compressive>) -> Result<&Compressive> {
    message.ok_or_else(|| Error::corrupt("expected an encoding inside another, found none"))
}

/// The width of an encoding that must be flat. Zero bits are written as no number at all.
pub(crate) fn flat_bits(message: Option<&Compressive>) -> Result<u64> {
    match required(child(message)?)? {
        Compression::Flat(flat) => Ok(flat.bits_per_value),
        other => Err(unsupported(other, "flat child")),
    }
}

/// The compression that a message names, for buffers that expand to `max` bytes at the most.
pub(crate) fn compressed(general: &General, max: usize) -> Result<Compressed> {
    let number = general.compression.map_or(0, |compression| compression.scheme);
    Ok(Compressed::new(Scheme::from_number(number)?, max))
}

/// A width that a machine word can have.
pub(crate) fn word_bits(bits: u64) -> Result<u64> {
    ensure!(matches!(bits, 8 | 16 | 32 | 64), "expected words of 8, 16, 32 or 64 bits, found {bits}");
    Ok(bits)
}

/// `encoding` is not known in this `context`.
pub(crate) fn unsupported(encoding: &Compression, context: &str) -> Error {
    let name = match encoding {
        Compression::Flat(_) => "flat",
        Compression::Variable(_) => "variable",
        Compression::Constant(_) => "constant",
        Compression::OutOfLineBitpacking(_) => "out-of-line bit packing",
        Compression::InlineBitpacking(_) => "inline bit packing",
        Compression::Fsst(_) => "FSST",
        Compression::Dictionary(_) => "dictionary",
        Compression::Rle(_) => "run length",
        Compression::ByteStreamSplit(_) => "byte stream split",
        Compression::General(_) => "general compression",
        Compression::FixedSizeList(_) => "fixed-size list",
        Compression::PackedStruct(_) => "packed struct",
        Compression::VariablePackedStruct(_) => "variable packed struct",
    };
    Error::unsupported(format!("encoding `{name}` is not supported as {context}"))
}

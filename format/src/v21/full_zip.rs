//! Full-zip pages: large values, each with its levels directly before it.
//!
//! ```text
//! buffer 0   for each entry: control word (rep << bits of def | def) of 0, 1, 2 or 4 bytes, and if it
//!            owns a slot:  fixed     [item bitmaps] value, null slots too
//!                          variable  length, bytes (see `packed` for structs); nothing at all for a null
//! buffer 1   rows + 1 positions in buffer 0, if there are lists or variable values
//! ```

use super::{
    Target,
    block::{MAX_DEPTH, child, compressed, required, unsupported},
    layers::Layers,
    packed::PackedRows,
    values::{fixed_size_list, symbols},
};
use crate::{
    Error, Extent, Result,
    compress::Compressed,
    container::PageParts,
    ensure,
    leaf::{Item, LeafBuilder, LeafShape, Room},
    lent::Lent,
    proto::v21::{self as message, Compression, ZipWidth},
};
use alloc::{boxed::Box, format, vec::Vec};
use core::ops::Range;
use lancet_kernels::fsst::Symbols;

/// An opened full-zip page.
#[derive(Debug)]
pub(crate) struct FullZip {
    bits_rep: u32,
    bits_def: u32,
    /// Bytes of a control word.
    control: usize,
    values: Values,
    data: Extent,
    index: Option<PositionIndex>,
    rows: u64,
}

#[derive(Debug)]
enum Values {
    Fixed {
        /// Bytes of the bitmaps before each value, with the dimension that each belongs to.
        bitmaps: Vec<(usize, usize)>,
        /// Bytes of the value itself.
        width: usize,
    },
    Variable {
        /// Bytes of a length.
        length: usize,
        codec: PerValue,
    },
    Packed {
        /// Bytes of a length.
        length: usize,
        rows: PackedRows,
    },
}

/// How the bytes of one variable value are coded.
#[derive(Debug)]
pub(crate) enum PerValue {
    Plain,
    Fsst(Box<Symbols>),
    General { compressed: Compressed, inner: Box<PerValue> },
}

/// Where each row starts in the data.
#[derive(Debug)]
struct PositionIndex {
    extent: Extent,
    width: usize,
}

impl FullZip {
    pub(crate) fn open(
        layout: &message::FullZip,
        parts: &PageParts,
        layers: &Layers,
        shape: &LeafShape,
        packed: Option<&[LeafShape]>,
    ) -> Result<Self> {
        let (bits_rep, bits_def) = (layout.bits_rep, layout.bits_def);
        let bits = bits_rep.saturating_add(bits_def);
        let control = match bits {
            0 => 0,
            1..=8 => 1,
            9..=16 => 2,
            17..=32 if bits_rep <= 16 && bits_def <= 16 => 4,
            _ => {
                return Err(Error::corrupt(format!(
                    "expected control words of at most 32 bits, found {bits_rep} + {bits_def}"
                )));
            }
        };
        ensure!(bits_rep > 0 || layers.max_rep == 0, "expected repetition levels, found none for a list");
        let compression = layout.value_compression.as_ref();
        let compression =
            compression.ok_or_else(|| Error::corrupt("expected an encoding of values, found none"))?;
        let values = match layout.width {
            Some(ZipWidth::BitsPerValue(bits)) => fixed_values(compression, shape, bits)?,
            Some(ZipWidth::BitsPerOffset(bits)) => {
                ensure!(bits == 32 || bits == 64, "expected lengths of 32 or 64 bits, found {bits}");
                let length = bits as usize / 8;
                match (required(compression)?, packed) {
                    (Compression::VariablePackedStruct(message), Some(fields)) => Values::Packed {
                        length,
                        rows: PackedRows::parse(message, fields, parts.max_decompressed)?,
                    },
                    _ => {
                        ensure!(
                            matches!(shape, LeafShape::Variable { .. }) && packed.is_none(),
                            "found variable values where the type has {shape:?}"
                        );
                        Values::Variable {
                            length,
                            codec: PerValue::parse(compression, parts.max_decompressed, 0)?,
                        }
                    }
                }
            }
            None => return Err(Error::corrupt("expected a width of values or lengths, found none")),
        };
        let data = parts.buffer(0, "values")?.clone();
        let index = match layers.max_rep > 0 || !matches!(values, Values::Fixed { .. }) {
            true => Some(PositionIndex::open(parts.buffer(1, "repetition index")?, parts.rows, data.len())?),
            false => None,
        };
        let page = FullZip { bits_rep, bits_def, control, values, data, index, rows: parts.rows };
        if let (None, Values::Fixed { .. }) = (&page.index, &page.values) {
            let expected = page.rows.checked_mul(page.stride() as u64);
            if expected != Some(page.data.len() as u64) {
                return Err(Error::corrupt(format!(
                    "expected {} values of {} bytes, found {} bytes",
                    page.rows,
                    page.stride(),
                    page.data.len()
                ))
                .at(page.data.position()));
            }
        }
        Ok(page)
    }

    /// Bytes from one row to the next where rows have one entry of one width.
    fn stride(&self) -> usize {
        match &self.values {
            Values::Fixed { bitmaps, width } => {
                self.control + bitmaps.iter().map(|(_, bytes)| bytes).sum::<usize>() + width
            }
            Values::Variable { .. } | Values::Packed { .. } => 0,
        }
    }

    /// Whether values lie end to end with nothing between them.
    pub(crate) fn is_plain(&self) -> bool {
        self.index.is_none()
            && matches!(&self.values, Values::Fixed { width, .. } if *width == self.stride() && *width > 0)
    }

    /// `row` and those after it where they lie, of a plain page in memory.
    pub(crate) fn lent_from(&self, row: u64) -> Result<Option<Lent<'_>>> {
        let stride = self.stride();
        match self.is_plain() && row < self.rows {
            true => {
                Ok(self.data.lent(row as usize * stride..self.rows as usize * stride)?.map(Lent::of_bytes))
            }
            false => Ok(None),
        }
    }

    /// The room that rows `range` need, or a little more.
    pub(crate) fn room(&self, range: Range<u64>) -> Result<Room> {
        let rows = (range.end - range.start) as usize;
        let Some(index) = &self.index else { return Ok(Room::of_slots(rows)) };
        let bytes = index.bytes(range)?;
        let entry = self.control
            + match &self.values {
                Values::Fixed { .. } => self.stride() - self.control,
                Values::Variable { length, .. } | Values::Packed { length, .. } => *length,
            };
        let slots = if self.bits_rep == 0 { rows } else { bytes.len() / entry.max(1) };
        let bytes = match &self.values {
            // The fields of packed structs are set apart before they are decoded.
            Values::Fixed { .. } | Values::Packed { .. } => 0,
            Values::Variable { codec: PerValue::Plain, .. } => bytes.len(),
            Values::Variable { length, codec } => {
                let window = self.data.get(bytes)?;
                let (mut at, mut total) = (0, 0usize);
                // What is wrong with the entries is told when they are read.
                while let Ok(control) = take(&window, &mut at, self.control)
                    && at < window.len()
                {
                    if self.control_word(control).1 == 0 {
                        let Ok(value) = sized(&window, &mut at, *length) else { break };
                        total = total.saturating_add(codec.most_decoded(value));
                    }
                }
                total
            }
        };
        Ok(Room { slots, bytes })
    }

    /// Appends rows `range` of the page.
    pub(crate) fn read(&self, range: Range<u64>, layers: &Layers, target: &mut Target) -> Result<()> {
        let rows = (range.end - range.start) as usize;
        let bytes = match &self.index {
            Some(index) => index.bytes(range.clone())?,
            None => {
                let stride = self.stride();
                range.start as usize * stride..range.end as usize * stride
            }
        };
        if self.is_plain() && target.leaf.shape().slot_bytes().is_some() {
            target.structure.append_valid(rows);
            return match target.keep && self.data.in_memory() {
                true => target.leaf.append_fixed(self.data.share(bytes)?, rows, self.stride(), true),
                false => {
                    let width = self.stride();
                    let window = self.data.get(bytes)?;
                    target.leaf.grow_fixed(rows, width)?.copy_from_slice(&window);
                    Ok(())
                }
            };
        }
        let position = self.data.position() + bytes.start as u64;
        let window = self.data.get(bytes)?;
        self.entries(&window, rows, layers, target).map_err(|error| error.at(position))
    }

    /// Reads all entries of `bytes`, which are `rows` rows.
    fn entries(&self, bytes: &[u8], rows: usize, layers: &Layers, target: &mut Target) -> Result<()> {
        let Target { leaf, rep, def, scratch, .. } = target;
        rep.clear();
        def.clear();
        // At least one entry a row, which takes no less than its control word.
        let expected = rows.min(bytes.len() / self.control.max(1));
        rep.reserve(if self.bits_rep > 0 { expected } else { 0 });
        def.reserve(if self.bits_def > 0 { expected } else { 0 });
        if let Values::Packed { rows, .. } = &self.values {
            rows.start(&mut scratch.packed);
        }
        let (mut at, mut started, mut slots) = (0, 0, 0);
        while at < bytes.len() || (layers.max_rep == 0 && started < rows) {
            let (r, d) = self.control_word(take(bytes, &mut at, self.control)?);
            if self.bits_rep > 0 {
                started += usize::from(r == layers.max_rep);
                rep.push(r);
            } else {
                started += 1;
            }
            if self.bits_def > 0 {
                def.push(d);
            }
            if d > layers.visible {
                continue;
            }
            slots += 1;
            match &self.values {
                Values::Fixed { bitmaps, width } => {
                    let mut validity = [(0, &[][..]); 8];
                    for ((level, size), slot) in bitmaps.iter().zip(&mut validity) {
                        *slot = (*level, take(bytes, &mut at, *size)?);
                    }
                    append_fixed(leaf, take(bytes, &mut at, *width)?)?;
                    for (level, bitmap) in &validity[..bitmaps.len()] {
                        leaf.set_item_validity(*level, bitmap, 0, 1)?;
                    }
                }
                Values::Variable { .. } if d != 0 => leaf.append_defaults(1)?,
                Values::Variable { length, codec } => {
                    codec.append(sized(bytes, &mut at, *length)?, leaf, &mut scratch.values)?;
                }
                Values::Packed { rows, .. } if d != 0 => rows.split_null(&mut scratch.packed),
                Values::Packed { length, rows } => {
                    rows.split(sized(bytes, &mut at, *length)?, &mut scratch.packed)?;
                }
            }
        }
        if let Values::Packed { rows, .. } = &self.values {
            rows.append(slots, &scratch.packed, leaf, &mut scratch.values)?;
        }
        ensure!(started == rows, "expected {rows} rows, found {started}");
        ensure!(
            rep.first().is_none_or(|first| *first == layers.max_rep),
            "expected the first entry to start a row, found one with level {}",
            rep[0]
        );
        match self.bits_rep == 0 && self.bits_def == 0 {
            true => target.structure.append_valid(rows),
            false => target.structure.append(layers, &target.rep, &target.def)?,
        }
        Ok(())
    }

    fn control_word(&self, bytes: &[u8]) -> (u16, u16) {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        let word = u32::from_le_bytes(word);
        let low = |word: u32, bits: u32| (u64::from(word) & ((1u64 << bits) - 1)) as u16;
        let rep = if self.bits_rep == 0 {
            0
        } else {
            low((u64::from(word) >> self.bits_def) as u32, self.bits_rep)
        };
        (rep, low(word, self.bits_def))
    }
}

/// Appends one slot of whole bytes; a boolean is a byte too.
fn append_fixed(leaf: &mut LeafBuilder, value: &[u8]) -> Result<()> {
    match leaf.shape() {
        LeafShape::Fixed { item: Item::Bit, items: 1, .. } => leaf.append_bytes_as_bits(value),
        LeafShape::Fixed { item: Item::Bit, .. } => leaf.append_bits(value, 0, 1),
        _ => {
            leaf.grow_fixed(1, value.len())?.copy_from_slice(value);
            Ok(())
        }
    }
}

/// The bytes behind their length, itself of `length` bytes.
pub(crate) fn sized<'a>(bytes: &'a [u8], at: &mut usize, length: usize) -> Result<&'a [u8]> {
    let mut size = [0; 8];
    size[..length].copy_from_slice(take(bytes, at, length)?);
    take(bytes, at, usize::try_from(u64::from_le_bytes(size)).unwrap_or(usize::MAX))
}

pub(crate) fn take<'a>(bytes: &'a [u8], at: &mut usize, len: usize) -> Result<&'a [u8]> {
    let Some(found) = at.checked_add(len).and_then(|end| bytes.get(*at..end)) else {
        return Err(Error::corrupt(format!(
            "expected {len} more bytes in the entries of a row, found {}",
            bytes.len() - *at
        )));
    };
    *at += len;
    Ok(found)
}

fn fixed_values(compression: &message::Compressive, shape: &LeafShape, bits: u32) -> Result<Values> {
    let LeafShape::Fixed { item, dims, items } = shape else {
        return Err(Error::corrupt(format!("found values of {bits} bits where the type has {shape:?}")));
    };
    let width = match item {
        // A single boolean takes a byte; a list of them its bits.
        Item::Bit => items.div_ceil(8),
        Item::Bytes(width) => items * width,
    };
    let bitmaps: Vec<(usize, usize)> = match required(compression)? {
        Compression::Flat(_) => Vec::new(),
        Compression::FixedSizeList(_) => {
            let (validity, _) = fixed_size_list(compression, shape)?;
            let bytes = |level: usize| dims[..=level].iter().product::<usize>().div_ceil(8);
            validity
                .iter()
                .enumerate()
                .filter(|(_, has)| **has)
                .map(|(level, _)| (level, bytes(level)))
                .collect()
        }
        other => return Err(unsupported(other, "values of a full-zip page")),
    };
    ensure!(bitmaps.len() <= 8, "expected fixed-size lists nested at most eight deep");
    let expected = (width + bitmaps.iter().map(|(_, bytes)| bytes).sum::<usize>()) as u64 * 8;
    ensure!(expected == u64::from(bits), "expected values of {expected} bits, found {bits}");
    Ok(Values::Fixed { bitmaps, width })
}

impl PerValue {
    /// From its message; compressed values expand to `max` bytes at the most.
    pub(crate) fn parse(compression: &message::Compressive, max: usize, depth: usize) -> Result<Self> {
        ensure!(depth < MAX_DEPTH, "expected encodings nested at most {MAX_DEPTH} deep");
        Ok(match required(compression)? {
            Compression::Variable(_) | Compression::Flat(_) => PerValue::Plain,
            Compression::Fsst(fsst) => {
                let symbols = symbols(&fsst.symbol_table)?;
                match symbols.is_compressed() {
                    true => PerValue::Fsst(symbols),
                    false => PerValue::Plain,
                }
            }
            Compression::General(general) => PerValue::General {
                compressed: compressed(general, max)?,
                inner: Box::new(PerValue::parse(child(general.values.as_deref())?, max, depth + 1)?),
            },
            other => return Err(unsupported(other, "variable values of a full-zip page")),
        })
    }

    /// Appends the decoded value; `scratch` is room for it before its last decoding.
    fn append(&self, value: &[u8], leaf: &mut LeafBuilder, scratch: &mut Vec<u8>) -> Result<()> {
        match self {
            PerValue::Plain => leaf.append_value(value),
            PerValue::Fsst(symbols) => leaf.append_coded(symbols, value, core::iter::once(value.len())),
            PerValue::General { compressed, inner } => {
                compressed.decompress(value, None, scratch)?;
                inner.append(scratch, leaf, &mut Vec::new())
            }
        }
    }

    /// The bytes of the decoded value, or the most that it may have.
    fn most_decoded(&self, value: &[u8]) -> usize {
        match self {
            PerValue::Plain => value.len(),
            PerValue::Fsst(symbols) => symbols.most_decoded(value),
            PerValue::General { compressed, .. } => compressed.stated_size(value),
        }
    }

    /// Appends values that lie end to end in `bytes`, up to each of `ends`; the last is that of `bytes`.
    pub(super) fn append_all(
        &self,
        bytes: &[u8],
        ends: &[usize],
        leaf: &mut LeafBuilder,
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        match self {
            PerValue::Plain => leaf.append_values(bytes, ends.iter().copied()),
            PerValue::Fsst(symbols) => leaf.append_coded(symbols, bytes, ends.iter().copied()),
            PerValue::General { .. } => {
                let starts = core::iter::once(&0).chain(ends);
                starts.zip(ends).try_for_each(|(&start, &end)| self.append(&bytes[start..end], leaf, scratch))
            }
        }
    }
}

impl PositionIndex {
    fn open(extent: &Extent, rows: u64, data: usize) -> Result<Self> {
        let corrupt = |message| Error::corrupt(message).at(extent.position());
        let entries = rows + 1;
        let width = extent.len() as u64 / entries;
        if !matches!(width, 1 | 2 | 4 | 8) || width * entries != extent.len() as u64 {
            return Err(corrupt(format!(
                "repetition index: expected {entries} positions of 1, 2, 4 or 8 bytes, found {} bytes",
                extent.len()
            )));
        }
        let index = PositionIndex { extent: extent.clone(), width: width as usize };
        let ends = index.bytes(rows..rows)?;
        if ends.start != data {
            return Err(corrupt(format!(
                "repetition index: expected it to end at {data}, found {}",
                ends.start
            )));
        }
        Ok(index)
    }

    /// Where the rows of `range` lie in the data.
    fn bytes(&self, range: Range<u64>) -> Result<Range<usize>> {
        let (start, end) = (self.position(range.start)?, self.position(range.end)?);
        match (usize::try_from(start), usize::try_from(end)) {
            (Ok(start), Ok(end)) if start <= end => Ok(start..end),
            _ => Err(Error::corrupt(format!(
                "repetition index: expected ascending positions, found {start}, {end}"
            ))
            .at(self.extent.position() + range.start * self.width as u64)),
        }
    }

    fn position(&self, row: u64) -> Result<u64> {
        let at = row as usize * self.width;
        let mut position = [0; 8];
        position[..self.width].copy_from_slice(&self.extent.get(at..at + self.width)?);
        Ok(u64::from_le_bytes(position))
    }
}

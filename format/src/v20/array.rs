//! Array encodings of leaves: numbers, vectors, booleans, text.
//!
//! ```text
//! nullable ─ fixed_size_list ─ nullable ─ fixed_size_list ─ nullable ─ flat    a level for each dimension
//! nullable ─ flat | bitpacked | bitpacked_for_non_neg                          numbers
//! nullable ─ fixed_size_binary                                                 text of one length
//! binary | fsst ─ binary | dictionary ─ indices, items                         text, nulls in the numbers
//! ```
//! A level of `nullable` may be missing, which says that nothing is null there.

use super::{
    bitpacked::Bitpacked,
    data::{Data, Flat, required, to_usize},
    dictionary::Dictionary,
    ends::Ends,
};
use crate::{
    DataType, Error, Result,
    bitmap::BitmapBuilder,
    column::check_repeated,
    container::PageParts,
    ensure,
    leaf::{Item, LeafBuilder, LeafShape},
    proto::v20 as proto,
};
use alloc::{boxed::Box, format, vec, vec::Vec};
use core::ops::Range;
use lancet_kernels::fsst::Symbols;

/// The array of one leaf in one page. What the messages say was checked against the buffers; what the
/// buffers hold is checked as it is read.
#[derive(Debug)]
pub(super) struct Array {
    shape: LeafShape,
    validity: Validity,
    /// For dimensions with nulls inside: the dimension, outermost first, and its items in a row.
    item_validity: Vec<(usize, usize, Validity)>,
    values: Values,
}

/// Which rows, or items of rows, are not null.
#[derive(Debug)]
pub(super) enum Validity {
    AllValid,
    AllNull,
    /// Set bits are not null.
    Bits(Flat),
}

#[derive(Debug)]
enum Values {
    /// No bytes: all rows, or all their items, are null.
    Absent,
    Fixed(Flat),
    Bits(Flat),
    Bitpacked(Bitpacked),
    FixedText(Flat),
    Text(Text),
    Coded(Text, Box<Symbols>),
    Dictionary(Box<Dictionary>),
}

/// Binary values end to end.
#[derive(Debug)]
struct Text {
    ends: Ends,
    bytes: Data,
}

impl Array {
    /// The array of `rows` values of `data_type` that `encoding` describes.
    ///
    /// Messages nest no deeper than the protobuf decoder lets them, which bounds the recursion.
    pub(super) fn open(
        encoding: Option<&proto::ArrayEncoding>,
        data_type: &DataType,
        rows: usize,
        parts: &PageParts,
    ) -> Result<Self> {
        let shape = LeafShape::of(data_type)?;
        let (mut validity, mut array) = peel(encoding, 1, rows, parts)?;
        let mut item_validity = Vec::new();
        let dims = match &shape {
            LeafShape::Fixed { dims, .. } => dims.as_slice(),
            _ => &[],
        };
        let mut per_row = 1;
        for (level, &dimension) in dims.iter().enumerate() {
            let list = match array {
                None => break,
                Some(proto::Array::FixedSizeList(list)) => list,
                Some(other) => return Err(unexpected(other, data_type)),
            };
            ensure!(
                u64::from(list.dimension) == dimension as u64,
                "fixed_size_list: expected a dimension of {dimension}, found {}",
                list.dimension
            );
            per_row *= dimension;
            let (validity, items) = peel(list.items.as_deref(), per_row, rows, parts)?;
            if !matches!(validity, Validity::AllValid) {
                item_validity.push((level, per_row, validity));
            }
            array = items;
        }
        let values = match array {
            None => Values::Absent,
            Some(proto::Array::Dictionary(dictionary)) if dims.is_empty() => {
                match Dictionary::open(dictionary, data_type, rows, parts)? {
                    Some(dictionary) => Values::Dictionary(Box::new(dictionary)),
                    None => {
                        validity = Validity::AllNull;
                        Values::Absent
                    }
                }
            }
            Some(array) => Values::open(array, &shape, data_type, rows, parts)?,
        };
        if values.state_nulls() && !matches!(validity, Validity::AllValid) {
            return Err(Error::unsupported("a nullable array of values that state nulls themselves"));
        }
        Ok(Array { shape, validity, item_validity, values })
    }

    pub(super) fn shape(&self) -> &LeafShape {
        &self.shape
    }

    /// Whether the rows are those of a dictionary.
    pub(super) fn is_dictionary(&self) -> bool {
        matches!(self.values, Values::Dictionary(_))
    }

    /// Whether the rows take no bytes in the file.
    pub(super) fn is_absent(&self) -> bool {
        match &self.values {
            Values::Absent => true,
            Values::Dictionary(dictionary) => dictionary.is_absent(),
            _ => false,
        }
    }

    /// Whether the rows lie in a page buffer as they lie in a column.
    pub(super) fn lends_rows(&self) -> bool {
        matches!(&self.values, Values::Fixed(Flat { data: Data::Stored(_), .. }))
            && matches!(self.validity, Validity::AllValid)
            && self.item_validity.is_empty()
    }

    /// The bytes of `rows` where they lie, if they can be lent.
    pub(super) fn lent(&self, rows: Range<usize>) -> Result<Option<&[u8]>> {
        match &self.values {
            Values::Fixed(flat @ Flat { data: Data::Stored(extent), .. }) if self.lends_rows() => {
                extent.lent(rows.start * flat.width()..rows.end * flat.width())
            }
            _ => Ok(None),
        }
    }

    /// The bytes of text of `rows`, or the most that there may be.
    pub(super) fn text_bytes(&self, rows: Range<usize>) -> Result<usize> {
        match &self.values {
            Values::Text(text) => Ok(text.span(rows)?.len()),
            Values::Coded(text, symbols) => {
                let span = text.span(rows)?;
                Ok(symbols.most_decoded(&text.bytes.get(span)?))
            }
            Values::FixedText(flat) => Ok(rows.len().saturating_mul(flat.width())),
            Values::Dictionary(dictionary) => dictionary.text_bytes(rows),
            _ => Ok(0),
        }
    }

    /// Appends `rows`; `keep` says that nothing follows them.
    pub(super) fn read(
        &self,
        rows: Range<usize>,
        slots: &mut LeafBuilder,
        validity: &mut BitmapBuilder,
        keep: bool,
    ) -> Result<()> {
        let count = rows.len();
        if self.is_absent() {
            check_repeated(count, 4)?;
        }
        if !self.values.state_nulls() {
            self.validity.append(rows.clone(), validity)?;
        }
        match &self.values {
            Values::Absent => slots.append_defaults(count)?,
            Values::Fixed(flat) if keep => {
                slots.append_fixed(flat.share(rows.clone())?, count, flat.width(), true)?;
            }
            Values::Fixed(flat) => {
                let bytes = flat.rows(rows.clone())?;
                slots.grow_fixed(count, flat.width())?.copy_from_slice(&bytes);
            }
            Values::Bits(flat) => {
                let (bytes, skip) = flat.bits(rows.clone())?;
                slots.append_bits(&bytes, skip, count)?;
            }
            Values::Bitpacked(packed) => {
                let LeafShape::Fixed { items, .. } = self.shape else { unreachable!("checked on opening") };
                let out = slots.grow_fixed(count, items * packed.item())?;
                packed.unpack(rows.start * items..rows.end * items, out)?;
            }
            Values::FixedText(flat) => {
                let first = slots.len();
                let bytes = flat.rows(rows.clone())?;
                slots.append_values(&bytes, (0..count).map(|i| (i + 1) * flat.width()))?;
                let at = flat.data.position_of(rows.start * flat.width());
                slots.check_utf8(first).map_err(|error| error.at(at))?;
            }
            Values::Text(text) => text.read(None, rows.clone(), slots, validity)?,
            Values::Coded(text, symbols) => text.read(Some(symbols), rows.clone(), slots, validity)?,
            Values::Dictionary(dictionary) => dictionary.read(rows.clone(), slots, validity)?,
        }
        for (level, per_row, validity) in &self.item_validity {
            match validity {
                Validity::AllValid => {}
                Validity::AllNull => {
                    let zeros = vec![0; (count * per_row).div_ceil(8)];
                    slots.set_item_validity(*level, &zeros, 0, count)?;
                }
                Validity::Bits(flat) => {
                    let (bits, skip) = flat.bits(rows.clone())?;
                    slots.set_item_validity(*level, &bits, skip, count)?;
                }
            }
        }
        Ok(())
    }
}

impl Validity {
    pub(super) fn append(&self, rows: Range<usize>, validity: &mut BitmapBuilder) -> Result<()> {
        match self {
            Validity::AllValid => validity.append_n(rows.len(), true),
            Validity::AllNull => validity.append_n(rows.len(), false),
            Validity::Bits(flat) => {
                let count = rows.len();
                let (bits, skip) = flat.bits(rows)?;
                validity.append_bits(&bits, skip, count);
            }
        }
        Ok(())
    }
}

impl Values {
    fn open(
        array: &proto::Array,
        shape: &LeafShape,
        data_type: &DataType,
        rows: usize,
        parts: &PageParts,
    ) -> Result<Self> {
        use proto::Array;
        Ok(match (array, shape) {
            (Array::Flat(flat), LeafShape::Fixed { item: Item::Bit, items, .. }) => {
                Values::Bits(Flat::open(flat, 1, *items, rows, parts)?)
            }
            (Array::Flat(flat), LeafShape::Fixed { item: Item::Bytes(width), items, .. }) => {
                Values::Fixed(Flat::open(flat, width * 8, *items, rows, parts)?)
            }
            (
                Array::Bitpacked(packed) | Array::BitpackedForNonNeg(packed),
                LeafShape::Fixed { item: Item::Bytes(width), items, .. },
            ) => {
                let Some(count) = rows.checked_mul(*items) else {
                    return Err(Error::corrupt(format!("bitpacked: {rows} rows of {items} values")));
                };
                Values::Bitpacked(match array {
                    Array::Bitpacked(_) => Bitpacked::open_stream(packed, *width, count, parts)?,
                    _ => Bitpacked::open_blocks(packed, *width, count, parts)?,
                })
            }
            (Array::FixedSizeBinary(text), LeafShape::Variable { .. }) => {
                ensure!(text.byte_width > 0, "fixed_size_binary: expected a width, found 0");
                let width = to_usize(text.byte_width.into(), "bytes")?;
                match peel(text.bytes.as_deref(), width, rows, parts)? {
                    (Validity::AllValid, Some(Array::Flat(flat))) => {
                        Values::FixedText(Flat::open(flat, 8, width, rows, parts)?)
                    }
                    _ => return Err(Error::unsupported("fixed_size_binary over bytes that are not flat")),
                }
            }
            (Array::Binary(binary), LeafShape::Variable { .. }) => {
                Values::Text(Text::open(binary, rows, parts)?)
            }
            (Array::Fsst(fsst), LeafShape::Variable { .. }) => {
                let (_, Some(Array::Binary(binary))) = peel(fsst.binary.as_deref(), 1, rows, parts)? else {
                    return Err(Error::unsupported("fsst over values that are not binary"));
                };
                let symbols = Symbols::parse(&fsst.symbol_table).map_err(Error::corrupt)?;
                Values::Coded(Text::open(binary, rows, parts)?, Box::new(symbols))
            }
            _ => return Err(unexpected(array, data_type)),
        })
    }

    /// Whether nulls are part of the numbers, so that reading the values appends the validity too.
    fn state_nulls(&self) -> bool {
        matches!(self, Values::Text(_) | Values::Coded(..) | Values::Dictionary(_))
    }
}

impl Text {
    fn open(binary: &proto::Binary, rows: usize, parts: &PageParts) -> Result<Self> {
        let words = open_words(binary.indices.as_deref(), rows, parts)?;
        let bytes = match peel(binary.bytes.as_deref(), 1, rows, parts)? {
            (Validity::AllValid, Some(proto::Array::Flat(flat))) => {
                Flat::open_text(flat, binary.null_adjustment.saturating_sub(1), parts)?
            }
            _ => return Err(Error::unsupported("binary over bytes that are not flat")),
        };
        let limit = bytes.len() as u64;
        Ok(Text { ends: Ends::new(words, binary.null_adjustment, limit), bytes })
    }

    /// The bytes of `rows`: none if their ends are not sound, which is told when they are read.
    fn span(&self, rows: Range<usize>) -> Result<Range<usize>> {
        let span = self.ends.span(rows)?;
        let within = span.start <= span.end && span.end <= self.bytes.len() as u64;
        Ok(if within { span.start as usize..span.end as usize } else { 0..0 })
    }

    fn read(
        &self,
        symbols: Option<&Symbols>,
        rows: Range<usize>,
        slots: &mut LeafBuilder,
        validity: &mut BitmapBuilder,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let cuts = self.ends.cut(rows)?;
        // Not beyond the bytes, whose number is a `usize`.
        let (start, end) = (cuts.first as usize, cuts.last as usize);
        let data = self.bytes.get(start..end)?;
        let first = slots.len();
        match symbols {
            None => slots.append_values(&data, cuts.ends())?,
            Some(symbols) => slots
                .append_coded(symbols, &data, cuts.ends())
                .map_err(|error| error.at(self.bytes.position_of(start)))?,
        }
        slots.check_utf8(first).map_err(|error| error.at(self.bytes.position_of(start)))?;
        cuts.append_validity(validity);
        Ok(())
    }
}

/// The 64-bit numbers of `rows` ends.
pub(super) fn open_words(
    encoding: Option<&proto::ArrayEncoding>,
    rows: usize,
    parts: &PageParts,
) -> Result<Flat> {
    match peel(encoding, 1, rows, parts)? {
        (Validity::AllValid, Some(proto::Array::Flat(flat))) => Flat::open(flat, 64, 1, rows, parts),
        _ => Err(Error::unsupported("ends that are not flat numbers")),
    }
}

/// What lies under the nullables around `encoding`, and which of `rows` times `per_row` values they say
/// are null; no array if all are.
pub(super) fn peel<'a>(
    encoding: Option<&'a proto::ArrayEncoding>,
    per_row: usize,
    rows: usize,
    parts: &PageParts,
) -> Result<(Validity, Option<&'a proto::Array>)> {
    let mut validity = Validity::AllValid;
    let mut encoding = encoding;
    loop {
        let array = required(encoding, "an array")?.array.as_ref();
        let Some(array) = array else {
            return Err(Error::unsupported("expected an array encoding of version 2.0, found another"));
        };
        let proto::Array::Nullable(nullable) = array else { return Ok((validity, Some(array))) };
        match required(nullable.nullability.as_ref(), "a nullability")? {
            proto::Nullability::NoNulls(inner) => encoding = inner.values.as_deref(),
            proto::Nullability::AllNulls(_) => return Ok((Validity::AllNull, None)),
            proto::Nullability::SomeNulls(inner) => {
                if let Validity::Bits(_) = validity {
                    return Err(Error::unsupported("a nullable array directly in another"));
                }
                match required(inner.validity.as_deref(), "a validity")?.array.as_ref() {
                    Some(proto::Array::Flat(flat)) => {
                        validity = Validity::Bits(Flat::open(flat, 1, per_row, rows, parts)?);
                    }
                    _ => return Err(Error::unsupported("a validity that is not flat")),
                }
                encoding = inner.values.as_deref();
            }
        }
    }
}

#[cold]
pub(super) fn unexpected(array: &proto::Array, data_type: &DataType) -> Error {
    use proto::Array::*;
    let name = match array {
        Flat(_) => "flat",
        Nullable(_) => "nullable",
        FixedSizeList(_) => "fixed_size_list",
        List(_) => "list",
        Struct(_) => "struct",
        Binary(_) => "binary",
        Dictionary(_) => "dictionary",
        Fsst(_) => "fsst",
        PackedStruct(_) => "packed_struct",
        Bitpacked(_) => "bitpacked",
        FixedSizeBinary(_) => "fixed_size_binary",
        BitpackedForNonNeg(_) => "bitpacked_for_non_neg",
        Constant(_) => "constant",
    };
    Error::unsupported(format!("array encoding `{name}` is not supported for {data_type}"))
}

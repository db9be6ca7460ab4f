//! What array encodings refer to: page buffers, plain or decompressed, and values of one width in them.
//!
//! Errors about a message get their offset, that of the message, where the page is opened.

use crate::{
    Error, Extent, Result, Window,
    compress::{Compressed, Scheme},
    container::PageParts,
    ensure,
    proto::v20 as proto,
};
use alloc::{format, vec::Vec};
use bytes::Bytes;
use core::ops::Range;

/// The bytes of one page buffer. A compressed one is decompressed as a whole when its page is opened.
#[derive(Debug)]
pub(super) enum Data {
    Stored(Extent),
    Decompressed { bytes: Bytes, position: u64 },
}

impl Data {
    /// The buffer that `reference` names, at most `limit` bytes if it is compressed.
    fn open(
        reference: Option<&proto::Buffer>,
        compression: Option<&proto::Compression>,
        limit: u64,
        parts: &PageParts,
    ) -> Result<Self> {
        let Some(reference) = reference else {
            return Err(Error::corrupt("array encoding: expected a buffer, found none"));
        };
        if reference.buffer_type != 0 {
            return Err(Error::unsupported(format!(
                "array encoding: expected a buffer of the page, found buffer type {}",
                reference.buffer_type
            )));
        }
        let extent = parts.buffer(reference.buffer_index as usize, "array encoding")?;
        let scheme = match compression.map_or("", |compression| compression.scheme.as_str()) {
            "" | "none" => return Ok(Data::Stored(extent.clone())),
            "lz4" => Scheme::Lz4,
            "zstd" => Scheme::Zstd,
            other => return Err(Error::unsupported(format!("buffer compression `{other}` is not known"))),
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        Compressed::new(scheme, parts.max_decompressed)
            .decompress(&extent.all()?, Some(limit), &mut bytes)
            .map_err(|error| error.at(extent.position()))?;
        Ok(Data::Decompressed { bytes: bytes.into(), position: extent.position() })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Data::Stored(extent) => extent.len(),
            Data::Decompressed { bytes, .. } => bytes.len(),
        }
    }

    /// Where byte `at` lies in the file; for decompressed bytes, where their buffer lies.
    pub(super) fn position_of(&self, at: usize) -> u64 {
        match self {
            Data::Stored(extent) => extent.position() + at as u64,
            Data::Decompressed { position, .. } => *position,
        }
    }

    pub(super) fn get(&self, range: Range<usize>) -> Result<Window<'_>> {
        match self {
            Data::Stored(extent) => extent.get(range),
            Data::Decompressed { bytes, position } => match bytes.get(range.clone()) {
                Some(window) => Ok(Window::Lent(window)),
                None => Err(outside(&range, bytes.len(), *position)),
            },
        }
    }

    pub(super) fn share(&self, range: Range<usize>) -> Result<Bytes> {
        match self {
            Data::Stored(extent) => extent.share(range),
            Data::Decompressed { bytes, position } if range.start > range.end || range.end > bytes.len() => {
                Err(outside(&range, bytes.len(), *position))
            }
            Data::Decompressed { bytes, .. } => Ok(bytes.slice(range)),
        }
    }
}

#[cold]
fn outside(range: &Range<usize>, len: usize, position: u64) -> Error {
    Error::corrupt(format!(
        "expected bytes {}..{} of a buffer that decompresses to {len} bytes",
        range.start, range.end
    ))
    .at(position)
}

/// Rows of one width end to end: `bits` bits each, in a buffer that was found to hold all of them.
#[derive(Debug)]
pub(super) struct Flat {
    pub(super) data: Data,
    bits: usize,
}

impl Flat {
    /// Flat values of `value_bits` bits, `per_row` of them for each of `rows` rows.
    pub(super) fn open(
        flat: &proto::Flat,
        value_bits: usize,
        per_row: usize,
        rows: usize,
        parts: &PageParts,
    ) -> Result<Self> {
        ensure!(
            flat.bits_per_value == value_bits as u64,
            "flat: expected values of {value_bits} bits, found {}",
            flat.bits_per_value
        );
        Self::of_buffer(flat.buffer.as_ref(), flat.compression.as_ref(), value_bits, per_row, rows, parts)
    }

    /// As [`Flat::open`], without a message that states the width.
    pub(super) fn of_buffer(
        buffer: Option<&proto::Buffer>,
        compression: Option<&proto::Compression>,
        value_bits: usize,
        per_row: usize,
        rows: usize,
        parts: &PageParts,
    ) -> Result<Self> {
        let bits = value_bits.checked_mul(per_row);
        let total = bits.and_then(|bits| bits.checked_mul(rows));
        let (Some(bits), Some(total)) = (bits, total) else {
            return Err(Error::corrupt(format!(
                "flat: expected sizes that can be counted, found {rows} rows of {per_row} values of \
                 {value_bits} bits"
            )));
        };
        let needed = total.div_ceil(8);
        let data = Data::open(buffer, compression, needed as u64, parts)?;
        if data.len() < needed {
            return Err(Error::corrupt(format!(
                "flat: expected {needed} bytes for {rows} rows of {bits} bits, found {}",
                data.len()
            ))
            .at(data.position_of(0)));
        }
        Ok(Flat { data, bits })
    }

    /// The bytes of a page's text: all of a buffer, at most `limit` bytes if it is compressed.
    pub(super) fn open_text(flat: &proto::Flat, limit: u64, parts: &PageParts) -> Result<Data> {
        ensure!(flat.bits_per_value == 8, "binary: expected bytes of 8 bits, found {}", flat.bits_per_value);
        Data::open(flat.buffer.as_ref(), flat.compression.as_ref(), limit, parts)
    }

    /// The bytes of one row; whole bytes only.
    pub(super) fn width(&self) -> usize {
        debug_assert!(self.bits.is_multiple_of(8));
        self.bits / 8
    }

    fn byte_range(&self, rows: Range<usize>) -> Range<usize> {
        rows.start * self.width()..rows.end * self.width()
    }

    /// The bytes of `rows`.
    pub(super) fn rows(&self, rows: Range<usize>) -> Result<Window<'_>> {
        self.data.get(self.byte_range(rows))
    }

    /// As [`Flat::rows`], with a share in their ownership.
    pub(super) fn share(&self, rows: Range<usize>) -> Result<Bytes> {
        self.data.share(self.byte_range(rows))
    }

    /// Bytes that hold the bits of `rows`, and the row that they begin with counted back from the first
    /// asked for: eight rows are whole bytes, whatever their width.
    pub(super) fn bits(&self, rows: Range<usize>) -> Result<(Window<'_>, usize)> {
        let bytes = rows.start / 8 * self.bits..(rows.end * self.bits).div_ceil(8);
        Ok((self.data.get(bytes)?, rows.start % 8))
    }
}

/// `value`, or the error of a message that lacks a part.
pub(super) fn required<'a, T>(value: Option<&'a T>, what: &str) -> Result<&'a T> {
    value.ok_or_else(|| Error::corrupt(format!("array encoding: expected {what}, found none")))
}

/// Rows and values are counted in `usize` from here on.
pub(super) fn to_usize(value: u64, what: &str) -> Result<usize> {
    usize::try_from(value)
        .map_err(|_| Error::corrupt(format!("expected a number of {what} that fits memory, found {value}")))
}

//! Rows of several columns, one after the other: whole stretches are copied, where [`Column::gather`] goes row by row.

use super::{Column, Offset, Values};
use crate::{Bitmap, Buffer, Physical, Result, bitmap::BitmapBuilder};
use alloc::{boxed::Box, vec::Vec};
use core::ops::Range;

/// Rows of a column.
type Part<'a> = (&'a Column, Range<usize>);

impl Column {
    /// These rows of several columns of one type, in that order.
    ///
    /// The buffers of `reuse` are written again where they fit.
    ///
    /// # Errors
    /// Too large if the result does not fit the type's offsets.
    ///
    /// # Panics
    /// If there are no parts, their types differ, or a range is out of bounds.
    pub fn concat(parts: &[(&Column, Range<usize>)], reuse: Option<Column>) -> Result<Column> {
        let (old_validity, old) = reuse.map(Column::into_parts).unzip();
        let data_type = parts[0].0.data_type.clone();
        let len = parts.iter().map(|(_, rows)| rows.len()).sum();
        let values = match (&parts[0].0.values, data_type.physical()) {
            (Values::Null, _) => Values::Null,
            (Values::Bits(_), _) => Values::Bits(bits(parts, len)),
            (Values::Fixed(_), Physical::Fixed(width)) => {
                Values::Fixed(fixed(parts, len * width, width, old))
            }
            (Values::Variable { .. }, _) => {
                let (offsets, bytes) = texts::<i32>(parts, len, old)?;
                Values::Variable { offsets, bytes }
            }
            (Values::LargeVariable { .. }, _) => {
                let (offsets, bytes) = texts::<i64>(parts, len, old)?;
                Values::LargeVariable { offsets, bytes }
            }
            (Values::List { .. }, _) => {
                let offsets = ends::<i32>(parts, len, Buffer::new())?;
                Values::List { offsets, items: items(parts, None)? }
            }
            (Values::LargeList { .. }, _) => {
                let offsets = ends::<i64>(parts, len, Buffer::new())?;
                Values::LargeList { offsets, items: items(parts, None)? }
            }
            (Values::FixedSizeList(_), _) => {
                let old = match old {
                    Some(Values::FixedSizeList(items)) => Some(*items),
                    _ => None,
                };
                Values::FixedSizeList(items(parts, old)?)
            }
            (Values::Struct(fields), _) => {
                let field = |i: usize| {
                    let inner: Vec<Part<'_>> =
                        parts.iter().map(|(part, rows)| (&part.children()[i], rows.clone())).collect();
                    Column::concat(&inner, None)
                };
                Values::Struct((0..fields.len()).map(field).collect::<Result<_>>()?)
            }
            (Values::Fixed(_), _) => unreachable!("fixed values, fixed type"),
        };
        Ok(Column { data_type, len, validity: validity(parts, len, old_validity.flatten()), values })
    }
}

fn bits(parts: &[Part<'_>], len: usize) -> Bitmap {
    let mut out = BitmapBuilder::reuse(Buffer::new(), len);
    for (part, rows) in parts {
        let Values::Bits(bits) = &part.values else { panic!("parts of different types") };
        out.append_bits(bits.buffer().as_slice(), rows.start, rows.len());
    }
    out.finish_all()
}

fn validity(parts: &[Part<'_>], len: usize, reuse: Option<Bitmap>) -> Option<Bitmap> {
    if parts.iter().all(|(part, _)| part.validity.is_none()) {
        return None;
    }
    let mut out = BitmapBuilder::reuse(reuse.map(Bitmap::into_buffer).unwrap_or_default(), len);
    for (part, rows) in parts {
        match &part.validity {
            Some(bits) => out.append_bits(bits.buffer().as_slice(), rows.start, rows.len()),
            None => out.append_n(rows.len(), true),
        }
    }
    out.finish()
}

fn fixed(parts: &[Part<'_>], bytes: usize, width: usize, reuse: Option<Values>) -> Buffer {
    let mut out = match reuse {
        Some(Values::Fixed(buffer)) => buffer,
        _ => Buffer::new(),
    };
    out.clear();
    out.reserve(bytes);
    for (part, rows) in parts {
        let Values::Fixed(values) = &part.values else { panic!("parts of different types") };
        out.extend_from_slice(&values.as_slice()[rows.start * width..rows.end * width]);
    }
    out
}

fn texts<O: Offset>(parts: &[Part<'_>], len: usize, reuse: Option<Values>) -> Result<(Buffer, Buffer)> {
    let (offsets, mut out) = match reuse {
        Some(Values::Variable { offsets, bytes } | Values::LargeVariable { offsets, bytes }) => {
            (offsets, bytes)
        }
        _ => Default::default(),
    };
    out.clear();
    out.reserve(parts.iter().map(|part| inner(part).len()).sum());
    for part in parts {
        let (Values::Variable { bytes, .. } | Values::LargeVariable { bytes, .. }) = &part.0.values else {
            panic!("parts of different types")
        };
        out.extend_from_slice(&bytes.as_slice()[inner(part)]);
    }
    Ok((ends::<O>(parts, len, offsets)?, out))
}

/// What of the bytes or items of a column the rows hold.
fn inner((part, rows): &Part<'_>) -> Range<usize> {
    if rows.is_empty() {
        return 0..0;
    }
    let (first, last) = (part.range(rows.start), part.range(rows.end - 1));
    first.zip(last).map_or(0..0, |(first, last)| first.start..last.end)
}

/// The offsets of all rows, `len` and one more.
fn ends<O: Offset>(parts: &[Part<'_>], len: usize, mut out: Buffer) -> Result<Buffer> {
    out.clear();
    let mut ends = out.grow_typed::<O>(len + 1);
    ends[0] = O::from_usize(0)?;
    ends = &mut ends[1..];
    let mut total = 0;
    for part in parts {
        let (own, rest) = ends.split_at_mut(part.1.len());
        let inner = inner(part);
        // The offsets ascend, so that all fit if the last does.
        O::from_usize(total + inner.len())?;
        let moved = |end: usize| O::truncated(total + end - inner.start);
        match &part.0.values {
            Values::Variable { offsets, .. } | Values::List { offsets, .. } => {
                let offsets = &offsets.typed::<i32>()[part.1.start + 1..part.1.end + 1];
                own.iter_mut().zip(offsets).for_each(|(to, &end)| *to = moved(end as usize));
            }
            Values::LargeVariable { offsets, .. } | Values::LargeList { offsets, .. } => {
                let offsets = &offsets.typed::<i64>()[part.1.start + 1..part.1.end + 1];
                own.iter_mut().zip(offsets).for_each(|(to, &end)| *to = moved(end as usize));
            }
            _ => panic!("parts of different types"),
        }
        total += inner.len();
        ends = rest;
    }
    Ok(out)
}

fn items(parts: &[Part<'_>], reuse: Option<Column>) -> Result<Box<Column>> {
    let inner: Vec<Part<'_>> =
        parts.iter().map(|part| (part.0.child().expect("parts of one type"), inner(part))).collect();
    Column::concat(&inner, reuse).map(Box::new)
}

//! Texts and bytes that are appended to a leaf.

use super::{LeafBuilder, LeafShape, Slots};
use crate::{
    Buffer, Error, Result,
    column::{Offset, too_large},
    ensure,
};
use lancet_kernels::fsst::Symbols;

impl LeafBuilder {
    /// Appends one text or binary value.
    pub(crate) fn append_value(&mut self, value: &[u8]) -> Result<()> {
        match &mut self.values {
            Slots::Variable { offsets, bytes } => {
                bytes.extend_from_slice(value);
                offsets.grow_typed::<i32>(1)[0] = i32::from_usize(bytes.len())?;
            }
            Slots::LargeVariable { offsets, bytes } => {
                bytes.extend_from_slice(value);
                offsets.grow_typed::<i64>(1)[0] = i64::from_usize(bytes.len())?;
            }
            _ => return Err(self.mismatch("text or binary")),
        }
        self.slots += 1;
        Ok(())
    }

    /// Appends as many values as `ends` has, whose bytes lie end to end in `data`; value `i` ends at
    /// `ends[i]` of it. The ends ascend and the last is `data.len()`.
    pub(crate) fn append_values(
        &mut self,
        data: &[u8],
        ends: impl ExactSizeIterator<Item = usize>,
    ) -> Result<()> {
        fn append<O: Offset>(
            offsets: &mut Buffer,
            bytes: &mut Buffer,
            data: &[u8],
            ends: impl ExactSizeIterator<Item = usize>,
        ) -> Result<()> {
            let base = bytes.len();
            // The largest is checked once; the others are smaller.
            O::from_usize(base.checked_add(data.len()).ok_or_else(too_large)?)?;
            bytes.extend_from_slice(data);
            let count = ends.len();
            for (out, end) in offsets.grow_typed::<O>(count).iter_mut().zip(ends) {
                *out = O::truncated(base + end);
            }
            Ok(())
        }
        self.slots += ends.len();
        match &mut self.values {
            Slots::Variable { offsets, bytes } => append::<i32>(offsets, bytes, data, ends),
            Slots::LargeVariable { offsets, bytes } => append::<i64>(offsets, bytes, data, ends),
            _ => Err(self.mismatch("text or binary")),
        }
    }

    /// Appends texts coded by `symbols`, which lie end to end in `codes`; `ends` are relative to it and ascending.
    ///
    /// # Errors
    /// Corrupt if they are not coded so; too large if the bytes no longer fit the offsets.
    pub(crate) fn append_coded(
        &mut self,
        symbols: &Symbols,
        codes: &[u8],
        ends: impl ExactSizeIterator<Item = usize>,
    ) -> Result<()> {
        fn append<O: Offset>(
            offsets: &mut Buffer,
            bytes: &mut Buffer,
            symbols: &Symbols,
            codes: &[u8],
            ends: impl ExactSizeIterator<Item = usize>,
        ) -> Result<()> {
            let base = bytes.len();
            let mut out = offsets.grow_typed::<O>(ends.len()).iter_mut();
            // Where there is room for more codes than these, these need not be looked at.
            let most = match codes.len() * 8 {
                most if most <= bytes.spare() => most,
                _ => symbols.most_decoded(codes),
            };
            let room = bytes.grow(most);
            let total = symbols.decode_texts(codes, ends, room, |end| {
                if let Some(out) = out.next() {
                    *out = O::truncated(base + end);
                }
            });
            let end = total.and_then(|total| base.checked_add(total)).ok_or_else(bad_codes)?;
            bytes.truncate(end);
            // The largest is checked once; the others are smaller.
            O::from_usize(end).map(drop)
        }
        self.slots += ends.len();
        match &mut self.values {
            Slots::Variable { offsets, bytes } => append::<i32>(offsets, bytes, symbols, codes, ends),
            Slots::LargeVariable { offsets, bytes } => append::<i64>(offsets, bytes, symbols, codes, ends),
            _ => Err(self.mismatch("text or binary")),
        }
    }

    /// Checks that the slots from `first` on are UTF-8, if this leaf is text.
    pub(crate) fn check_utf8(&self, first: usize) -> Result<()> {
        if let Slots::Packed(fields) = &self.values {
            return fields.iter().try_for_each(|field| field.check_utf8(first));
        }
        let LeafShape::Variable { utf8: true, .. } = self.shape else { return Ok(()) };
        match &self.values {
            Slots::Variable { offsets, bytes } => {
                check_utf8(&offsets.typed::<i32>()[first..], bytes, |o| o as usize)
            }
            Slots::LargeVariable { offsets, bytes } => {
                check_utf8(&offsets.typed::<i64>()[first..], bytes, |o| o as usize)
            }
            _ => Ok(()),
        }
    }
}

#[cold]
fn bad_codes() -> Error {
    Error::corrupt("expected FSST codes of the symbol table, found others")
}

/// The bytes between the first and the last offset are UTF-8, and no offset splits a character.
fn check_utf8<O: Copy>(offsets: &[O], bytes: &Buffer, position: impl Fn(O) -> usize) -> Result<()> {
    let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else { return Ok(()) };
    let (first, last) = (position(first), position(last));
    let bytes = &bytes.as_slice()[..last];
    let text = &bytes[first..];
    if text.is_ascii() {
        return Ok(());
    }
    let valid = core::str::from_utf8(text).is_ok()
        && offsets.iter().all(|&offset| bytes.get(position(offset)).is_none_or(|byte| byte & 0xc0 != 0x80));
    ensure!(valid, "expected UTF-8 text, found other bytes");
    Ok(())
}

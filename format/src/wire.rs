//! Protobuf messages as raw fields: what a writer needs to carry fields that it does not know.

use crate::{Error, Result};
use alloc::format;
use bytes::Bytes;

/// A field of a message as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RawField {
    pub(crate) number: u32,
    /// Key and value.
    pub(crate) bytes: Bytes,
    /// The value alone; for length-delimited fields without the length.
    pub(crate) value: Bytes,
}

/// The values of all fields called `number`, in order: as many as a decoder of the message finds.
pub(crate) fn values(message: &Bytes, number: u32) -> impl Iterator<Item = Bytes> + '_ {
    fields(message)
        .filter_map(Result::ok)
        .filter(move |field| field.number == number)
        .map(|field| field.value)
}

/// The fields of `message` in order.
pub(crate) fn fields(message: &Bytes) -> impl Iterator<Item = Result<RawField>> + '_ {
    let mut at = 0;
    core::iter::from_fn(move || {
        if at >= message.len() {
            return None;
        }
        let field = field(message, at);
        // After an error nothing more can be found.
        at = field.as_ref().map_or(message.len(), |(_, end)| *end);
        Some(field.map(|(field, _)| field))
    })
}

fn field(message: &Bytes, start: usize) -> Result<(RawField, usize)> {
    let truncated = || Error::corrupt(format!("expected a protobuf field at byte {start} of a message"));
    let (key, at) = varint(message, start).ok_or_else(truncated)?;
    let (value, end) = match key & 7 {
        0 => (at, varint(message, at).ok_or_else(truncated)?.1),
        1 => (at, at + 8),
        2 => {
            let (len, at) = varint(message, at).ok_or_else(truncated)?;
            let end = usize::try_from(len).ok().and_then(|len| at.checked_add(len));
            (at, end.ok_or_else(truncated)?)
        }
        5 => (at, at + 4),
        other => {
            return Err(Error::corrupt(format!(
                "expected a protobuf wire type of 0, 1, 2 or 5, found {other}"
            )));
        }
    };
    let number = u32::try_from(key >> 3).map_err(|_| truncated())?;
    match end <= message.len() {
        true => {
            Ok((RawField { number, bytes: message.slice(start..end), value: message.slice(value..end) }, end))
        }
        false => Err(truncated()),
    }
}

/// The number at `at` and where it ends.
fn varint(bytes: &[u8], mut at: usize) -> Option<(u64, usize)> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(at)?;
        at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some((number, at));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn every_wire_type() {
        let message = Bytes::from_static(&[
            0x08, 0x96, 0x01, 0x12, 2, 7, 8, 0x1d, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8,
        ]);
        let found: Vec<_> = fields(&message).map(|field| field.unwrap()).collect();
        let numbers: Vec<_> = found.iter().map(|field| field.number).collect();
        assert_eq!(numbers, [1, 2, 3, 4]);
        assert_eq!((&found[1].bytes[..], &found[1].value[..]), (&[0x12, 2, 7, 8][..], &[7, 8][..]));
        let whole: Vec<u8> = found.iter().flat_map(|field| field.bytes.to_vec()).collect();
        assert_eq!(whole, message);
        for end in [1, 2, 4, 6, 9, 20] {
            assert!(fields(&message.slice(..end)).any(|field| field.is_err()), "cut at {end}");
        }
    }
}

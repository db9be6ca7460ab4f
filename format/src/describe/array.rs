//! The array encodings of version 2.0.

use super::{Encoding, Value};
use crate::proto::v20::*;
use alloc::boxed::Box;

/// What `message` says, whether this crate can decode it or not.
pub(super) fn array(message: &ArrayEncoding) -> Encoding {
    let child = |message: &Option<Box<ArrayEncoding>>| optional(message.as_deref());
    let Some(kind) = &message.array else { return Encoding::unknown() };
    match kind {
        Array::Flat(flat) => {
            let scheme = flat.compression.as_ref().map(|compression| compression.scheme.clone().into());
            buffer(Encoding::new("flat").of(flat.bits_per_value), flat.buffer)
                .with_some("compression", scheme.map(Value::Word))
        }
        Array::Nullable(nullable) => match &nullable.nullability {
            Some(Nullability::NoNulls(inner)) => Encoding::new("no-nulls").of(child(&inner.values)),
            Some(Nullability::SomeNulls(inner)) => {
                Encoding::new("some-nulls").of(child(&inner.values)).with("validity", child(&inner.validity))
            }
            Some(Nullability::AllNulls(_)) => Encoding::new("all-nulls"),
            None => Encoding::new("nullable").of(Encoding::unknown()),
        },
        Array::FixedSizeList(list) => {
            Encoding::new("fixed-size-list").of(list.dimension).of(child(&list.items))
        }
        Array::List(list) => Encoding::new("list")
            .with("ends", child(&list.offsets))
            .with("null-adjustment", list.null_offset_adjustment)
            .with("items", list.num_items),
        Array::Struct(_) => Encoding::new("struct"),
        Array::Binary(binary) => Encoding::new("binary")
            .with("ends", child(&binary.indices))
            .with("bytes", child(&binary.bytes))
            .with("null-adjustment", binary.null_adjustment),
        Array::Dictionary(dictionary) => Encoding::new("dictionary")
            .with("indices", child(&dictionary.indices))
            .with("items", child(&dictionary.items).counted(dictionary.num_dictionary_items.into())),
        Array::Fsst(fsst) => Encoding::new("fsst")
            .of(child(&fsst.binary))
            .with("symbol-table-bytes", fsst.symbol_table.len() as u64),
        Array::PackedStruct(packed) => buffer(
            packed
                .inner
                .iter()
                .fold(Encoding::new("packed-struct"), |encoding, field| encoding.of(array(field))),
            packed.buffer,
        ),
        Array::Bitpacked(packed) => bitpacked("bitpacked", packed).with("signed", packed.signed),
        Array::FixedSizeBinary(binary) => {
            Encoding::new("fixed-size-binary").of(binary.byte_width).of(child(&binary.bytes))
        }
        Array::BitpackedForNonNeg(packed) => bitpacked("bitpacked-for-non-neg", packed),
        Array::Constant(_) => Encoding::new("constant"),
    }
}

fn optional(message: Option<&ArrayEncoding>) -> Encoding {
    message.map_or_else(Encoding::unknown, array)
}

fn bitpacked(name: &'static str, packed: &Bitpacked) -> Encoding {
    let (from, to) = (packed.uncompressed_bits_per_value, packed.compressed_bits_per_value);
    buffer(Encoding::new(name).of(Value::Narrowed { from, to }), packed.buffer)
}

/// The same with the number of a buffer. Those of the page are the rule.
fn buffer(encoding: Encoding, buffer: Option<Buffer>) -> Encoding {
    let Some(Buffer { buffer_index, buffer_type }) = buffer else { return encoding };
    match buffer_type {
        0 => encoding.with("buffer", buffer_index),
        1 => encoding.with("column-buffer", buffer_index),
        2 => encoding.with("file-buffer", buffer_index),
        _ => encoding.with("unknown-buffer", buffer_index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn nested_ones_are_one_expression() {
        let flat = |bits_per_value, buffer_index| {
            let buffer = Some(Buffer { buffer_index, buffer_type: 0 });
            Some(Box::new(ArrayEncoding {
                array: Some(Array::Flat(Flat { bits_per_value, buffer, compression: None })),
            }))
        };
        let inner = SomeNulls { validity: flat(1, 0), values: flat(64, 1) };
        let nullable = Nullable { nullability: Some(Nullability::SomeNulls(Box::new(inner))) };
        let message = ArrayEncoding { array: Some(Array::Nullable(Box::new(nullable))) };
        assert_eq!(array(&message).to_string(), "some-nulls(flat(64, buffer=1), validity=flat(1, buffer=0))");
        assert_eq!(array(&ArrayEncoding::default()).to_string(), "unknown");
    }
}

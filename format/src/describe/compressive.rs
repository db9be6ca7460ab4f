//! The encodings inside pages of versions 2.1 and 2.2.

use super::{Encoding, Value};
use crate::{compress::Scheme, proto::v21::*};
use alloc::vec::Vec;

/// What `message` says, whether this crate can decode it or not.
pub(super) fn compressive(message: &Compressive) -> Encoding {
    let child = |message: &Option<alloc::boxed::Box<Compressive>>| optional(message.as_deref());
    let Some(compression) = &message.compression else { return Encoding::unknown() };
    match compression {
        Compression::Flat(flat) => {
            Encoding::new("flat").of(flat.bits_per_value).with_some("compression", scheme(flat.data))
        }
        Compression::Variable(variable) => Encoding::new("variable")
            .with("offsets", child(&variable.offsets))
            .with_some("compression", scheme(variable.values)),
        Compression::Constant(constant) => Encoding::new("constant").with_some("", constant.value.clone()),
        Compression::OutOfLineBitpacking(packed) => {
            let from = packed.uncompressed_bits_per_value;
            let encoding = Encoding::new("out-of-line");
            match flat_bits(packed.values.as_deref()) {
                Some(to) => encoding.of(Value::Narrowed { from, to }),
                None => encoding.of(from).with("values", child(&packed.values)),
            }
        }
        Compression::InlineBitpacking(packed) => Encoding::new("bitpacked")
            .of(packed.uncompressed_bits_per_value)
            .with_some("compression", scheme(packed.values)),
        Compression::Fsst(fsst) => Encoding::new("fsst")
            .of(child(&fsst.values))
            .with("symbol-table-bytes", fsst.symbol_table.len() as u64),
        Compression::Dictionary(_) => Encoding::new("dictionary"),
        Compression::Rle(runs) => {
            Encoding::new("rle").of(child(&runs.values)).with("lengths", child(&runs.run_lengths))
        }
        Compression::ByteStreamSplit(split) => Encoding::new("byte-stream-split").of(child(&split.values)),
        Compression::General(general) => {
            let number = general.compression.map_or(0, |compression| compression.scheme);
            match Scheme::from_number(number) {
                Ok(scheme) => Encoding::new(scheme.name()),
                Err(_) => Encoding::new("general").with("scheme", number as u32),
            }
            .of(child(&general.values))
        }
        Compression::FixedSizeList(list) => Encoding::new("fixed-size-list")
            .of(list.items_per_value)
            .of(child(&list.values))
            .with("validity", list.has_validity),
        Compression::PackedStruct(packed) => Encoding::new("packed-struct")
            .with("bits", Value::Numbers(packed.bits_per_value.clone()))
            .with("values", child(&packed.values)),
        Compression::VariablePackedStruct(packed) => {
            packed.fields.iter().fold(Encoding::new("variable-packed-struct"), |encoding, field| {
                let part = Encoding::new("field").of(optional(field.value.as_ref()));
                encoding.of(match field.width {
                    Some(PackedWidth::BitsPerValue(bits)) => part.with("bits", bits),
                    Some(PackedWidth::BitsPerLength(bits)) => part.with("length-bits", bits),
                    None => part,
                })
            })
        }
    }
}

/// The encoding of a message that should be there.
pub(super) fn optional(message: Option<&Compressive>) -> Encoding {
    message.map_or_else(Encoding::unknown, compressive)
}

fn flat_bits(message: Option<&Compressive>) -> Option<u64> {
    match message?.compression.as_ref()? {
        Compression::Flat(Flat { bits_per_value, data: None }) => Some(*bits_per_value),
        _ => None,
    }
}

/// How a buffer is compressed, if it is.
fn scheme(compression: Option<BufferCompression>) -> Option<Value> {
    let number = compression?.scheme;
    Some(match Scheme::from_number(number) {
        Ok(scheme) => scheme.name().into(),
        Err(_) => (number as u32).into(),
    })
}

/// The layers of a page.
pub(super) fn layers(numbers: &[i32]) -> Vec<super::LayerKind> {
    numbers.iter().copied().map(super::LayerKind::from_number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{boxed::Box, string::ToString};

    fn flat(bits_per_value: u64) -> Option<Box<Compressive>> {
        let flat = Flat { bits_per_value, data: None };
        Some(Box::new(Compressive { compression: Some(Compression::Flat(flat)) }))
    }

    fn shown(compression: Compression) -> alloc::string::String {
        compressive(&Compressive { compression: Some(compression) }).to_string()
    }

    #[test]
    fn nested_ones_are_one_expression() {
        let packed = OutOfLineBitpacking { uncompressed_bits_per_value: 16, values: flat(1) };
        assert_eq!(shown(Compression::OutOfLineBitpacking(Box::new(packed))), "out-of-line(16→1)");
        let general = |scheme| General { compression: Some(BufferCompression { scheme }), values: flat(64) };
        assert_eq!(shown(Compression::General(Box::new(general(2)))), "zstd(flat(64))");
        assert_eq!(shown(Compression::General(Box::new(general(9)))), "general(scheme=9, flat(64))");
        let list = FixedSizeList { items_per_value: 4, values: flat(32), has_validity: true };
        assert_eq!(
            shown(Compression::FixedSizeList(Box::new(list))),
            "fixed-size-list(4, flat(32), validity=true)"
        );
    }

    #[test]
    fn what_cannot_be_decoded_is_described() {
        let fields = [
            PackedField { value: flat(32).map(|value| *value), width: Some(PackedWidth::BitsPerValue(32)) },
            PackedField { value: None, width: Some(PackedWidth::BitsPerLength(64)) },
        ];
        let packed = VariablePackedStruct { fields: fields.into() };
        assert_eq!(
            shown(Compression::VariablePackedStruct(packed)),
            "variable-packed-struct(field(flat(32), bits=32), field(unknown, length-bits=64))"
        );
        let value = Some(bytes::Bytes::from_static(&[7; 40]));
        let constant = shown(Compression::Constant(ConstantValue { value }));
        assert!(constant.starts_with("constant(0x0707") && constant.ends_with("07… 40 bytes)"), "{constant}");
        assert_eq!(compressive(&Compressive::default()).to_string(), "unknown");
    }
}

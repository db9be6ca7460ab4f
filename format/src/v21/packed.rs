//! Packed structs whose fields have no common width: full-zip values of several fields.
//!
//! ```text
//! in the file   for each field:  fixed     its bytes
//!                                variable  length, bytes as the field's own encoding codes them
//! in a leaf     for each field:  fixed     its bytes
//!                                variable  u32 length, bytes decoded
//!               nothing at all for a null row
//! ```
//! A leaf of such rows has a slot of bytes for each; if all fields have a width, so has the slot.

use super::{
    block::{child, required, unsupported},
    full_zip::{PerValue, sized, take},
    values::fixed_size_list,
};
use crate::{
    Column, DataType, Error, Field, Result, Values,
    bitmap::Bitmap,
    ensure,
    leaf::{LeafBuilder, LeafShape},
    proto::v21::{Compression, Compressive, PackedField, PackedWidth, VariablePackedStruct},
};
use alloc::{format, sync::Arc, vec::Vec};

/// How one field of a row is coded.
#[derive(Debug)]
enum FieldCodec {
    Fixed { width: usize },
    Variable { length: usize, codec: PerValue },
}

/// How the rows of a page are coded.
#[derive(Debug)]
pub(crate) struct PackedRows(Vec<FieldCodec>);

impl PackedRows {
    /// From its message; `fields` are the shapes of the struct's fields. Compressed values expand to `max` bytes at
    /// the most.
    pub(crate) fn parse(message: &VariablePackedStruct, fields: &[LeafShape], max: usize) -> Result<Self> {
        ensure!(
            message.fields.len() == fields.len(),
            "packed struct: expected {} fields, found {}",
            fields.len(),
            message.fields.len()
        );
        let fields = message.fields.iter().zip(fields);
        fields
            .map(|(field, shape)| FieldCodec::parse(field, shape, max))
            .collect::<Result<_>>()
            .map(PackedRows)
    }

    /// Appends the row that `bytes` code.
    pub(crate) fn append(&self, bytes: &[u8], leaf: &mut LeafBuilder) -> Result<()> {
        let mut row = Vec::new();
        let mut at = 0;
        for field in &self.0 {
            match field {
                FieldCodec::Fixed { width } => row.extend_from_slice(take(bytes, &mut at, *width)?),
                FieldCodec::Variable { length, codec } => {
                    let value = codec.decode(sized(bytes, &mut at, *length)?)?;
                    let size = u32::try_from(value.len())
                        .map_err(|_| Error::corrupt("expected a value of less than 4 GiB"))?;
                    row.extend_from_slice(&size.to_le_bytes());
                    row.extend_from_slice(&value);
                }
            }
        }
        ensure!(at == bytes.len(), "packed struct: expected a row of {at} bytes, found {}", bytes.len());
        match leaf.shape().slot_bytes() {
            Some(width) => {
                ensure!(row.len() == width, "expected a row of {width} bytes, found {}", row.len());
                leaf.grow_fixed(1, width)?.copy_from_slice(&row);
                Ok(())
            }
            None => leaf.append_value(&row),
        }
    }
}

impl FieldCodec {
    fn parse(message: &PackedField, shape: &LeafShape, max: usize) -> Result<Self> {
        let value = child(message.value.as_ref())?;
        let mismatch = || Error::corrupt(format!("packed struct: found another width for {shape:?}"));
        match (message.width, shape.slot_bytes()) {
            (Some(PackedWidth::BitsPerValue(bits)), Some(width)) if bits == width as u64 * 8 => {
                check_plain(value, shape)?;
                Ok(FieldCodec::Fixed { width })
            }
            (Some(PackedWidth::BitsPerLength(bits @ (32 | 64))), None) => {
                Ok(FieldCodec::Variable { length: bits as usize / 8, codec: PerValue::parse(value, max, 0)? })
            }
            _ => Err(mismatch()),
        }
    }
}

/// Refuses all encodings but the bytes themselves.
fn check_plain(message: &Compressive, shape: &LeafShape) -> Result<()> {
    match required(message)? {
        Compression::Flat(_) => Ok(()),
        Compression::FixedSizeList(_) => {
            let (validity, _) = fixed_size_list(message, shape)?;
            ensure!(!validity.contains(&true), "packed struct: expected no null items");
            Ok(())
        }
        other => Err(unsupported(other, "a field of a packed struct")),
    }
}

/// The shape of packed rows.
pub(crate) fn shape(fields: &[LeafShape]) -> LeafShape {
    let width = fields.iter().map(LeafShape::slot_bytes).sum::<Option<usize>>();
    match width {
        Some(width) => LeafShape::plain(crate::leaf::Item::Bytes(width)),
        None => LeafShape::Variable { large: false, utf8: false },
    }
}

/// `len` rows of a struct with fields that cannot be packed, which Lance writes only if all are null.
pub(crate) fn all_null(len: usize, data_type: &DataType, validity: Option<Bitmap>) -> Result<Column> {
    match len == 0 || validity.is_some_and(|validity| validity.count_ones() == 0) {
        true => Ok(Column::nulls(data_type, len)),
        false => Err(Error::unsupported(format!("packed values of type {data_type} are not supported"))),
    }
}

/// The struct whose rows, in the form of a leaf, `leaf` holds.
pub(crate) fn take_apart(
    leaf: LeafBuilder,
    data_type: &DataType,
    fields: &[Arc<Field>],
    validity: Option<Bitmap>,
) -> Result<Column> {
    let count = leaf.len();
    let rows = leaf.finish(&DataType::Binary, None);
    let shapes = fields.iter().map(|field| LeafShape::of(&field.data_type));
    let mut children = shapes
        .map(|shape| shape.map(|shape| LeafBuilder::new(shape, count, None)))
        .collect::<Result<Vec<_>>>()?;
    for row in 0..count {
        let bytes = rows.bytes(row).unwrap_or_default();
        let mut at = 0;
        for child in &mut children {
            match child.shape().slot_bytes() {
                _ if bytes.is_empty() => child.append_defaults(1)?,
                Some(width) => {
                    let value = take(bytes, &mut at, width)?;
                    child.grow_fixed(1, width)?.copy_from_slice(value);
                }
                None => child.append_value(sized(bytes, &mut at, 4)?)?,
            }
        }
    }
    let children = children.into_iter().zip(fields).map(|(child, field)| {
        child.check_utf8(0).map_err(|error| error.within(format!("field `{}`", field.name)))?;
        Ok(child.finish(&field.data_type, None))
    });
    let children = children.collect::<Result<_>>()?;
    Ok(Column::new(data_type.clone(), count, validity, Values::Struct(children)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        bitmap::BitmapBuilder,
        proto::v21::{Flat, Variable},
    };
    use alloc::{boxed::Box, vec};

    const TEXT: LeafShape = LeafShape::Variable { large: false, utf8: true };

    fn flat(bits_per_value: u64) -> Compressive {
        Compressive { compression: Some(Compression::Flat(Flat { bits_per_value, data: None })) }
    }

    /// An int16 and a text.
    fn message() -> VariablePackedStruct {
        let number = PackedField { value: Some(flat(16)), width: Some(PackedWidth::BitsPerValue(16)) };
        let text = Variable { offsets: Some(Box::new(flat(32))), values: None };
        let text = Compressive { compression: Some(Compression::Variable(Box::new(text))) };
        let text = PackedField { value: Some(text), width: Some(PackedWidth::BitsPerLength(32)) };
        VariablePackedStruct { fields: vec![number, text] }
    }

    fn fields() -> [LeafShape; 2] {
        [LeafShape::of(&DataType::Int16).unwrap(), TEXT]
    }

    fn read(rows: &[&[u8]]) -> Result<Column> {
        let codec = PackedRows::parse(&message(), &fields(), 0)?;
        let mut leaf = LeafBuilder::new(shape(&fields()), rows.len(), None);
        for row in rows {
            match row.is_empty() {
                true => leaf.append_defaults(1)?,
                false => codec.append(row, &mut leaf)?,
            }
        }
        let field = |name: &str, data_type| Arc::new(Field::new(name, 0, data_type, false));
        let fields = [field("n", DataType::Int16), field("t", DataType::Utf8)];
        take_apart(leaf, &DataType::Struct(fields.clone().into()), &fields, None)
    }

    #[test]
    fn rows_become_columns() {
        let column = read(&[b"\x05\0\x02\0\0\0hi", b"", b"\xff\xff\0\0\0\0"]).unwrap();
        let Values::Struct(children) = column.values() else { panic!("expected a struct") };
        let bytes = |child: usize| -> Vec<&[u8]> {
            (0..3).map(|row| children[child].bytes(row).unwrap_or_default()).collect()
        };
        assert_eq!(bytes(0), [&b"\x05\0"[..], b"\0\0", b"\xff\xff"]);
        assert_eq!(bytes(1), [&b"hi"[..], b"", b""]);
    }

    #[test]
    fn fields_that_cannot_be_packed() {
        let item = Arc::new(Field::new("item", 0, DataType::Int8, true));
        let list = Arc::new(Field::new("l", 0, DataType::List(item), true));
        let data_type = DataType::Struct(vec![list].into());
        let validity = |first: bool| {
            let mut bits = BitmapBuilder::default();
            bits.append(first);
            bits.append(false);
            bits.finish()
        };
        let nulls = all_null(2, &data_type, validity(false)).unwrap();
        assert_eq!((nulls.len(), nulls.null_count()), (2, 2));
        assert!(all_null(2, &data_type, validity(true)).is_err());
        assert!(all_null(2, &data_type, None).is_err());
    }

    #[test]
    fn what_is_no_row() {
        for row in [&b"\x05"[..], b"\x05\0\x03\0\0\0hi", b"\x05\0\x01\0\0\0hi", b"\x05\0\x01\0\0\0\xff"] {
            assert!(read(&[row]).is_err(), "{row:?}");
        }
        let wide = LeafShape::of(&DataType::Int32).unwrap();
        assert!(PackedRows::parse(&message(), &[wide, TEXT], 0).is_err());
        assert!(PackedRows::parse(&message(), &[TEXT], 0).is_err());
    }
}

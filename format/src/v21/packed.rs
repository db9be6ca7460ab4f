//! Packed structs whose fields have no common width: full-zip values of several fields.
//!
//! ```text
//! row   for each field:  fixed     its bytes
//!                        variable  length, bytes as the field's own encoding codes them
//!       nothing at all for a null row
//! ```
//! The bytes of each field are set apart row by row, and then decoded as if they were a column's. If all fields have a
//! width, a row is one slot of bytes instead, as in mini-block pages.

use super::{
    block::{child, required, unsupported},
    full_zip::{PerValue, sized, take},
    values::fixed_size_list,
};
use crate::{
    Column, DataType, Error, Result,
    bitmap::Bitmap,
    ensure,
    leaf::{LeafBuilder, LeafShape},
    proto::v21::{Compression, Compressive, PackedField, PackedWidth, VariablePackedStruct},
};
use alloc::{format, vec::Vec};

/// How one field of a row is coded.
#[derive(Debug)]
enum FieldCodec {
    Fixed { width: usize },
    Variable { length: usize, codec: PerValue },
}

/// How the rows of a page are coded.
#[derive(Debug)]
pub(crate) struct PackedRows(Vec<FieldCodec>);

/// One field of many rows: coded values end to end.
#[derive(Debug, Default)]
pub(crate) struct FieldRows {
    bytes: Vec<u8>,
    /// Where each ends, if they are variable.
    ends: Vec<usize>,
}

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

    /// Makes `fields` ready for rows.
    pub(super) fn start(&self, fields: &mut Vec<FieldRows>) {
        fields.resize_with(self.0.len(), FieldRows::default);
        for field in fields {
            field.bytes.clear();
            field.ends.clear();
        }
    }

    /// Sets the fields of a row apart.
    pub(super) fn split(&self, row: &[u8], fields: &mut [FieldRows]) -> Result<()> {
        let mut at = 0;
        for (codec, field) in self.0.iter().zip(fields) {
            match codec {
                FieldCodec::Fixed { width } => field.bytes.extend_from_slice(take(row, &mut at, *width)?),
                FieldCodec::Variable { length, .. } => {
                    field.bytes.extend_from_slice(sized(row, &mut at, *length)?);
                    field.ends.push(field.bytes.len());
                }
            }
        }
        ensure!(at == row.len(), "packed struct: expected a row of {at} bytes, found {}", row.len());
        Ok(())
    }

    /// As [`split`](Self::split), for a null row.
    pub(super) fn split_null(&self, fields: &mut [FieldRows]) {
        for (codec, field) in self.0.iter().zip(fields) {
            match codec {
                FieldCodec::Fixed { width } => field.bytes.resize(field.bytes.len() + width, 0),
                FieldCodec::Variable { .. } => field.ends.push(field.bytes.len()),
            }
        }
    }

    /// Appends `count` rows whose fields were set apart.
    pub(super) fn append(
        &self,
        count: usize,
        fields: &[FieldRows],
        leaf: &mut LeafBuilder,
        scratch: &mut Vec<u8>,
    ) -> Result<()> {
        if let Some(stride) = leaf.shape().slot_bytes() {
            let rows = leaf.grow_fixed(count, stride)?;
            let mut at = 0;
            for (codec, field) in self.0.iter().zip(fields) {
                let FieldCodec::Fixed { width } = *codec else { continue };
                for (row, value) in
                    rows.chunks_exact_mut(stride.max(1)).zip(field.bytes.chunks_exact(width.max(1)))
                {
                    row[at..at + width].copy_from_slice(value);
                }
                at += width;
            }
            return Ok(());
        }
        leaf.append_packed(count, |i, leaf| match &self.0[i] {
            FieldCodec::Fixed { width } => {
                leaf.grow_fixed(count, *width)?.copy_from_slice(&fields[i].bytes);
                Ok(())
            }
            FieldCodec::Variable { codec, .. } => {
                codec.append_all(&fields[i].bytes, &fields[i].ends, leaf, scratch)
            }
        })
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
        None => LeafShape::Packed(fields.to_vec()),
    }
}

/// `len` rows of a struct with fields that cannot be packed, which Lance writes only if all are null.
pub(crate) fn all_null(len: usize, data_type: &DataType, validity: Option<Bitmap>) -> Result<Column> {
    match len == 0 || validity.is_some_and(|validity| validity.count_ones() == 0) {
        true => Ok(Column::nulls(data_type, len)),
        false => Err(Error::unsupported(format!("packed values of type {data_type} are not supported"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Field, Values,
        bitmap::BitmapBuilder,
        proto::v21::{Flat, Variable},
    };
    use alloc::{boxed::Box, sync::Arc, vec};

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
        let mut apart = Vec::new();
        codec.start(&mut apart);
        for row in rows {
            match row.is_empty() {
                true => codec.split_null(&mut apart),
                false => codec.split(row, &mut apart)?,
            }
        }
        codec.append(rows.len(), &apart, &mut leaf, &mut Vec::new())?;
        leaf.check_utf8(0)?;
        let field = |name: &str, data_type| Arc::new(Field::new(name, 0, data_type, false));
        let fields = vec![field("n", DataType::Int16), field("t", DataType::Utf8)];
        Ok(leaf.finish(&DataType::Struct(fields.into()), None))
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

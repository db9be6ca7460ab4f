//! Protobuf messages without their schema: single fields are changed, all others stay as they are.

use prost::encoding::{decode_varint, encode_varint};

/// The fields of a message in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message(Vec<(u64, Value)>);

/// The two kinds of values that manifests consist of.
#[derive(Debug, Clone)]
enum Value {
    Number(u64),
    /// Also messages and packed numbers.
    Bytes(Vec<u8>),
}

impl Message {
    pub(crate) fn parse(mut bytes: &[u8]) -> Self {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = decode_varint(&mut bytes).unwrap();
            let number = decode_varint(&mut bytes).unwrap();
            let value = match key & 7 {
                0 => Value::Number(number),
                2 => Value::Bytes(bytes.split_off(..number as usize).unwrap().to_vec()),
                other => panic!("wire type {other}"),
            };
            fields.push((key >> 3, value));
        }
        Message(fields)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, value) in &self.0 {
            match value {
                Value::Number(value) => {
                    encode_varint(number << 3, &mut out);
                    encode_varint(*value, &mut out);
                }
                Value::Bytes(bytes) => {
                    encode_varint(number << 3 | 2, &mut out);
                    encode_varint(bytes.len() as u64, &mut out);
                    out.extend(bytes);
                }
            }
        }
        out
    }

    /// The value of a number, 0 if it is not there.
    pub(crate) fn number(&self, field: u64) -> u64 {
        let found = self.0.iter().find_map(|(number, value)| match value {
            Value::Number(value) if *number == field => Some(*value),
            _ => None,
        });
        found.unwrap_or(0)
    }

    /// Sets a number.
    pub(crate) fn set(&mut self, field: u64, value: u64) {
        self.remove(field);
        self.0.push((field, Value::Number(value)));
    }

    /// Sets bytes.
    pub(crate) fn set_bytes(&mut self, field: u64, bytes: impl Into<Vec<u8>>) {
        self.remove(field);
        self.0.push((field, Value::Bytes(bytes.into())));
    }

    /// Takes a field away, all of its values if it is repeated.
    pub(crate) fn remove(&mut self, field: u64) {
        self.0.retain(|(number, _)| *number != field);
    }

    /// Puts the values of a repeated field into the opposite order.
    pub(crate) fn reverse(&mut self, field: u64) {
        let (mut values, others): (Vec<_>, Vec<_>) =
            self.0.drain(..).partition(|(number, _)| *number == field);
        values.reverse();
        self.0 = [others, values].concat();
    }

    /// Changes each message of a field, with its place among them.
    pub(crate) fn each(&mut self, field: u64, mut change: impl FnMut(usize, &mut Message)) {
        let messages = self.0.iter_mut().filter(|(number, _)| *number == field);
        for (place, (_, value)) in messages.enumerate() {
            let Value::Bytes(bytes) = value else { panic!("field {field} is a number") };
            let mut message = Message::parse(bytes);
            change(place, &mut message);
            *bytes = message.encode();
        }
    }

    /// Changes the first message of a field.
    pub(crate) fn first(&mut self, field: u64, change: impl FnOnce(&mut Message)) {
        let mut change = Some(change);
        self.each(field, |_, message| {
            if let Some(change) = change.take() {
                change(message);
            }
        });
        assert!(change.is_none(), "no field {field}");
    }
}

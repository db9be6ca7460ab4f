//! Protobuf messages without their schema: taken apart, damaged in one field, and put together again with
//! all lengths around it right, so that the damage is met where the field is used and not before.

use crate::random::Random;

/// Numbers that arithmetic and allocations stumble over.
pub(crate) const NUMBERS: [u64; 20] = [
    0,
    1,
    2,
    3,
    7,
    8,
    63,
    64,
    255,
    1 << 15,
    1 << 16,
    u32::MAX as u64 / 2,
    u32::MAX as u64,
    1 << 32,
    1 << 40,
    1 << 60,
    1 << 61,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) number: u64,
    pub(crate) value: Value,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Number(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(Vec<u8>),
    /// Bytes that happen to be a message; nearly always they are meant to be one.
    Message(Vec<Field>),
}

/// Takes a number from the front of `bytes`.
pub(crate) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

pub(crate) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The fields of a message, unless the bytes are none.
pub(crate) fn parse(mut bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut bytes)?),
            1 => {
                let (head, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                Value::Fixed64(*head)
            }
            2 => {
                let len = usize::try_from(varint(&mut bytes)?).ok()?;
                let (head, rest) = bytes.split_at_checked(len)?;
                bytes = rest;
                match parse(head) {
                    Some(fields) if !fields.is_empty() => Value::Message(fields),
                    _ => Value::Bytes(head.to_vec()),
                }
            }
            5 => {
                let (head, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                Value::Fixed32(*head)
            }
            _ => return None,
        };
        if !(1..1 << 20).contains(&(key >> 3)) {
            return None;
        }
        fields.push(Field { number: key >> 3, value });
    }
    Some(fields)
}

pub(crate) fn encode(fields: &[Field]) -> Vec<u8> {
    let mut out = Vec::new();
    for Field { number, value } in fields {
        let (wire, payload) = match value {
            Value::Number(_) => (0, None),
            Value::Fixed64(_) => (1, None),
            Value::Fixed32(_) => (5, None),
            Value::Bytes(bytes) => (2, Some(bytes.clone())),
            Value::Message(fields) => (2, Some(encode(fields))),
        };
        put_varint(number << 3 | wire, &mut out);
        match (value, payload) {
            (Value::Number(number), _) => put_varint(*number, &mut out),
            (Value::Fixed64(bytes), _) => out.extend(bytes),
            (Value::Fixed32(bytes), _) => out.extend(bytes),
            (_, Some(payload)) => {
                put_varint(payload.len() as u64, &mut out);
                out.extend(payload);
            }
            _ => {}
        }
    }
    out
}

/// Takes the field at `path` out of all messages on the way.
pub(crate) fn remove(fields: &mut Vec<Field>, path: &[u64]) {
    let [first, rest @ ..] = path else { return };
    if rest.is_empty() {
        return fields.retain(|field| field.number != *first);
    }
    for field in fields.iter_mut().filter(|field| field.number == *first) {
        if let Value::Message(inner) = &mut field.value {
            remove(inner, rest);
        }
    }
}

/// How many fields there are, those inside others too.
fn count(fields: &[Field]) -> usize {
    let inner = fields.iter().map(|field| match &field.value {
        Value::Message(inner) => count(inner),
        _ => 0,
    });
    fields.len() + inner.sum::<usize>()
}

/// Damages one field.
pub(crate) fn damage(fields: &mut Vec<Field>, random: &mut Random) {
    let total = count(fields);
    if total > 0 {
        damage_at(fields, &mut random.below(total), random);
    }
}

fn damage_at(fields: &mut Vec<Field>, skip: &mut usize, random: &mut Random) -> bool {
    for i in 0..fields.len() {
        if *skip == 0 {
            damage_one(fields, i, random);
            return true;
        }
        *skip -= 1;
        if let Value::Message(inner) = &mut fields[i].value
            && damage_at(inner, skip, random)
        {
            return true;
        }
    }
    false
}

fn damage_one(fields: &mut Vec<Field>, at: usize, random: &mut Random) {
    match (random.below(10), &mut fields[at].value) {
        (0, _) => {
            fields.remove(at);
        }
        (1, _) => {
            let copy = fields[at].clone();
            fields.insert(at, copy);
        }
        (2, _) => fields[at].number = 1 + random.below(14) as u64,
        (3, _) => {
            let other = random.below(fields.len());
            fields.swap(at, other);
        }
        (_, Value::Number(number)) => {
            *number = match random.below(4) {
                0 => number.wrapping_add(1),
                1 => number.wrapping_sub(1),
                _ => *random.pick(&NUMBERS),
            }
        }
        (_, Value::Bytes(bytes)) => damage_bytes(bytes, random),
        (_, Value::Message(inner)) => {
            // Packed numbers often look like a message.
            let mut bytes = encode(inner);
            damage_bytes(&mut bytes, random);
            fields[at].value = Value::Bytes(bytes);
        }
        (_, Value::Fixed64(bytes)) => *bytes = random.pick(&NUMBERS).to_le_bytes(),
        (_, Value::Fixed32(bytes)) => *bytes = (*random.pick(&NUMBERS) as u32).to_le_bytes(),
    }
}

fn damage_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    match random.below(4) {
        0 => bytes.truncate(random.below(bytes.len() + 1)),
        // As a list of packed numbers.
        1 => {
            let mut rest = &bytes[..];
            let mut numbers = Vec::new();
            while let Some(number) = varint(&mut rest) {
                numbers.push(number);
            }
            if !numbers.is_empty() {
                let at = random.below(numbers.len());
                numbers[at] = *random.pick(&NUMBERS);
                bytes.clear();
                numbers.iter().for_each(|&number| put_varint(number, bytes));
            }
        }
        2 => bytes.extend(random.word().to_le_bytes()),
        _ if bytes.is_empty() => put_varint(*random.pick(&NUMBERS), bytes),
        _ => {
            let at = random.below(bytes.len());
            bytes[at] = random.word() as u8;
        }
    }
}

/// A field that holds bytes.
pub(crate) fn length_delimited(number: u64, bytes: &[u8]) -> Vec<u8> {
    encode(&[Field { number, value: Value::Bytes(bytes.to_vec()) }])
}

//! The order in which indices keep values, and [`Scalar`], one value on its own.
//!
//! Numbers ascend; floats by IEEE 754 totalOrder (−NaN < −∞ < … < −0 < +0 < … < +∞ < NaN, each NaN by its bits);
//! text and binary by their bytes; false before true; times and decimals by the number that stores them. NULL is
//! not in the order: whoever keeps NULLs says where.
//!
//! A [`Key`] is a value in a form whose plain comparison is this order: numbers of up to 64 bits become one word,
//! wider ones four. [`Keys`] are those of a column.

use crate::{Bitmap, Buffer, Column, DataType, Physical, Values, table::partition_point};
use alloc::vec::Vec;
use core::ops::Range;

/// One value, not NULL, of a column's type.
///
/// Which variant a type has: every signed integer, date, time, timestamp and duration is `Int`, in the column's own
/// unit; every unsigned integer is `UInt`; text, binary and fixed-size binary are `Bytes`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)] // The names are those of the types.
pub enum Scalar<'a> {
    Boolean(bool),
    Int(i64),
    UInt(u64),
    /// The bits of an IEEE half.
    Float16(u16),
    Float32(f32),
    Float64(f64),
    /// The unscaled number.
    Decimal128(i128),
    /// The unscaled number in two's complement, the lowest byte first.
    Decimal256([u8; 32]),
    Bytes(&'a [u8]),
}

/// A value as its place in the order. Keys of one type compare as their values do; keys of different types
/// compare somehow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key<'a> {
    /// A number of up to 64 bits.
    Word(u64),
    /// A decimal, the highest word first.
    Wide([u64; 4]),
    /// Text or binary.
    Bytes(&'a [u8]),
}

/// The sign bit: turning it over makes two's complement ascend as unsigned numbers do.
const SIGN: u64 = 1 << 63;

#[inline]
fn signed(value: i64) -> u64 {
    value as u64 ^ SIGN
}

/// The place of the float whose bits, moved up to the top of the word, are `bits`.
#[inline]
fn float(bits: u64) -> u64 {
    // Negative floats descend as their bits ascend.
    bits ^ (((bits as i64) >> 63) as u64 | SIGN)
}

fn wide(bytes: [u8; 32]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().rev().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words[0] ^= SIGN;
    words
}

fn widen(value: i128) -> [u8; 32] {
    let mut bytes = [if value < 0 { 0xff } else { 0 }; 32];
    bytes[..16].copy_from_slice(&value.to_le_bytes());
    bytes
}

impl Key<'_> {
    /// The value that has this place among those of `data_type`, in a column of one row; `None` if there is none. It is
    /// of the type of the values if that is a dictionary's.
    pub fn to_column(self, data_type: &DataType) -> Option<Column> {
        let data_type = match data_type {
            DataType::Dictionary(_, values) => values,
            own => own,
        };
        let kind = kind(data_type)?;
        let values = match (self, data_type.physical()) {
            (Key::Word(word), Physical::Bits) => {
                Values::Bits(Bitmap::new(Buffer::copy_of(&[word as u8 & 1]), 1))
            }
            (Key::Word(word), Physical::Fixed(width @ 1..=8)) => {
                let value = match kind {
                    // As in `float`, whose sign bit is turned over.
                    Kind::Float => (word ^ (!((word as i64) >> 63) as u64 | SIGN)) >> (64 - 8 * width),
                    Kind::Signed => word ^ SIGN,
                    _ => word,
                };
                Values::Fixed(Buffer::copy_of(&value.to_le_bytes()[..width]))
            }
            (Key::Wide(mut words), Physical::Fixed(width @ 1..=32)) => {
                words[0] ^= SIGN;
                let bytes: Vec<u8> = words.iter().rev().flat_map(|word| word.to_le_bytes()).collect();
                Values::Fixed(Buffer::copy_of(&bytes[..width]))
            }
            (Key::Bytes(bytes), Physical::Fixed(_)) => Values::Fixed(Buffer::copy_of(bytes)),
            (Key::Bytes(bytes), Physical::Variable) => {
                let offsets = Buffer::of(&[0, i32::try_from(bytes.len()).ok()?]);
                Values::Variable { offsets, bytes: Buffer::copy_of(bytes) }
            }
            (Key::Bytes(bytes), Physical::LargeVariable) => {
                let offsets = Buffer::of(&[0, i64::try_from(bytes.len()).ok()?]);
                Values::LargeVariable { offsets, bytes: Buffer::copy_of(bytes) }
            }
            _ => return None,
        };
        Column::from_parts(data_type, 1, None, values).ok()
    }
}

impl<'a> Scalar<'a> {
    /// The value's place in the order.
    #[inline]
    pub fn key(self) -> Key<'a> {
        match self {
            Scalar::Boolean(value) => Key::Word(value.into()),
            Scalar::Int(value) => Key::Word(signed(value)),
            Scalar::UInt(value) => Key::Word(value),
            Scalar::Float16(bits) => Key::Word(float(u64::from(bits) << 48)),
            Scalar::Float32(value) => Key::Word(float(u64::from(value.to_bits()) << 32)),
            Scalar::Float64(value) => Key::Word(float(value.to_bits())),
            Scalar::Decimal128(value) => Key::Wide(wide(widen(value))),
            Scalar::Decimal256(bytes) => Key::Wide(wide(bytes)),
            Scalar::Bytes(bytes) => Key::Bytes(bytes),
        }
    }

    /// Whether this is a NaN.
    pub fn is_nan(self) -> bool {
        match self {
            Scalar::Float16(bits) => bits & 0x7fff > 0x7c00,
            Scalar::Float32(value) => value.is_nan(),
            Scalar::Float64(value) => value.is_nan(),
            _ => false,
        }
    }

    /// Whether a column of this type may hold the value.
    pub fn fits(self, data_type: &DataType) -> bool {
        use DataType::*;
        let within = |value: i64, bits: u32| value << (64 - bits) >> (64 - bits) == value;
        match (self, data_type) {
            (scalar, Dictionary(_, values)) => scalar.fits(values),
            (Scalar::Boolean(_), Boolean)
            | (Scalar::Float16(_), Float16)
            | (Scalar::Float32(_), Float32)
            | (Scalar::Float64(_), Float64)
            | (Scalar::Decimal128(_), Decimal128(..))
            | (Scalar::Decimal256(_), Decimal256(..))
            | (Scalar::Bytes(_), Utf8 | LargeUtf8 | Binary | LargeBinary)
            | (Scalar::UInt(_), UInt64)
            | (Scalar::Int(_), Int64 | Date64 | Time64(_) | Timestamp(..) | Duration(_)) => true,
            (Scalar::Int(value), Int8) => within(value, 8),
            (Scalar::Int(value), Int16) => within(value, 16),
            (Scalar::Int(value), Int32 | Date32 | Time32(_)) => within(value, 32),
            (Scalar::UInt(value), UInt8) => value >> 8 == 0,
            (Scalar::UInt(value), UInt16) => value >> 16 == 0,
            (Scalar::UInt(value), UInt32) => value >> 32 == 0,
            (Scalar::Bytes(bytes), FixedSizeBinary(width)) => bytes.len() == *width as usize,
            _ => false,
        }
    }
}

/// How the stored numbers of a type are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Signed,
    Unsigned,
    Float,
    Decimal,
    Bytes,
}

fn kind(data_type: &DataType) -> Option<Kind> {
    use DataType::*;
    Some(match data_type {
        Boolean => Kind::Boolean,
        Int8 | Int16 | Int32 | Int64 | Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..)
        | Duration(_) => Kind::Signed,
        UInt8 | UInt16 | UInt32 | UInt64 => Kind::Unsigned,
        Float16 | Float32 | Float64 => Kind::Float,
        Decimal128(..) | Decimal256(..) => Kind::Decimal,
        Utf8 | LargeUtf8 | Binary | LargeBinary | FixedSizeBinary(_) => Kind::Bytes,
        Dictionary(_, values) => return kind(values),
        _ => return None,
    })
}

/// The word in which `bytes`, at most eight, are the highest: two's complement and floats keep their sign bit.
#[inline]
fn top<const N: usize>(bytes: &[u8; N]) -> u64 {
    let mut word = [0; 8];
    word[8 - N..].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The key of one stored number of `N` bytes, at most eight.
#[inline]
fn word<const N: usize>(kind: Kind, bytes: &[u8; N]) -> u64 {
    let (top, spare) = (top(bytes), 64 - 8 * N as u32);
    match kind {
        Kind::Float => float(top),
        Kind::Signed => signed((top as i64) >> spare),
        _ => top >> spare,
    }
}

impl Column {
    /// Value `i`; `None` if it is NULL, and for types without an order.
    ///
    /// # Panics
    /// If there is no row `i`.
    pub fn scalar(&self, i: usize) -> Option<Scalar<'_>> {
        use DataType::*;
        if self.is_null(i) {
            return None;
        }
        let data_type = match self.data_type() {
            Dictionary(_, values) => values,
            own => own,
        };
        if *data_type == Boolean {
            return self.boolean(i).map(Scalar::Boolean);
        }
        let (kind, bytes) = (kind(data_type)?, self.bytes(i)?);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        Some(match (kind, data_type) {
            (Kind::Bytes, _) => Scalar::Bytes(bytes),
            (_, Float16) => Scalar::Float16(number(bytes) as u16),
            (_, Float32) => Scalar::Float32(f32::from_bits(number(bytes) as u32)),
            (_, Float64) => Scalar::Float64(f64::from_bits(number(bytes))),
            (_, Decimal128(..)) => Scalar::Decimal128(i128::from_le_bytes(bytes.try_into().ok()?)),
            (_, Decimal256(..)) => Scalar::Decimal256(bytes.try_into().ok()?),
            (Kind::Signed, _) => {
                let spare = 64 - 8 * bytes.len() as u32;
                Scalar::Int((number(bytes) << spare) as i64 >> spare)
            }
            _ => Scalar::UInt(number(bytes)),
        })
    }

    /// Where value `i` is in the order; `None` if it is NULL, and for types without an order.
    ///
    /// # Panics
    /// If there is no row `i`.
    #[inline]
    pub fn key(&self, i: usize) -> Option<Key<'_>> {
        self.scalar(i).map(Scalar::key)
    }

    /// The first row of `rows` whose key is not before what `is_before` looks for, or `rows.end`. The rows hold
    /// no NULL and ascend.
    ///
    /// # Panics
    /// If the rows are out of bounds or the type has no order.
    pub fn partition_point(&self, rows: Range<usize>, mut is_before: impl FnMut(Key<'_>) -> bool) -> usize {
        let (mut low, mut high) = (rows.start, rows.end);
        while low < high {
            let middle = low + (high - low) / 2;
            match is_before(self.key(middle).expect("rows without NULL of a type that has an order")) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// Whether `rows`, none of them NULL, ascend; equal neighbours may be there.
    ///
    /// # Panics
    /// If the rows are out of bounds or the type has no order.
    pub fn ascends(&self, rows: Range<usize>) -> bool {
        if let Values::Fixed(buffer) = self.values()
            && let Some(kind @ (Kind::Signed | Kind::Unsigned | Kind::Float)) = kind(self.data_type())
            && let Physical::Fixed(width) = self.data_type().physical()
        {
            fn all<const N: usize>(kind: Kind, bytes: &[u8]) -> bool {
                // One loop for each kind, so that each can become vector instructions.
                let values = bytes.as_chunks::<N>().0;
                let check = |key: fn(&[u8; N]) -> u64| {
                    let pairs = values.iter().zip(&values[1.min(values.len())..]);
                    pairs.fold(true, |all, (a, b)| all & (key(a) <= key(b)))
                };
                match kind {
                    Kind::Float => check(|bytes| word(Kind::Float, bytes)),
                    Kind::Signed => check(|bytes| word(Kind::Signed, bytes)),
                    _ => check(|bytes| word(Kind::Unsigned, bytes)),
                }
            }
            let bytes = &buffer.as_slice()[rows.start * width..rows.end * width];
            match width {
                1 => return all::<1>(kind, bytes),
                2 => return all::<2>(kind, bytes),
                4 => return all::<4>(kind, bytes),
                8 => return all::<8>(kind, bytes),
                _ => {}
            }
        }
        rows.clone().zip(rows.start + 1..rows.end).all(|(a, b)| self.key(a) <= self.key(b))
    }
}

/// The keys of a column, for columns that are small and often searched.
#[derive(Debug, Clone)]
pub struct Keys {
    validity: Option<Bitmap>,
    values: KeyValues,
}

/// The values behind [`Keys`]; those of NULLs are unspecified.
#[derive(Debug, Clone)]
pub enum KeyValues {
    /// Numbers of up to 64 bits.
    Words(Vec<u64>),
    /// Decimals.
    Wide(Vec<[u64; 4]>),
    /// Text or binary: the column itself.
    Bytes(Column),
}

impl Keys {
    /// The keys of `column`; `None` if its type has no order.
    pub fn of(column: Column) -> Option<Self> {
        fn words<const N: usize>(kind: Kind, bytes: &[u8]) -> Vec<u64> {
            bytes.as_chunks::<N>().0.iter().map(|bytes| word(kind, bytes)).collect()
        }
        let kind = kind(column.data_type())?;
        let validity = column.validity().cloned();
        let values = match (column.values(), column.data_type().physical()) {
            (Values::Bits(bits), _) => KeyValues::Words(bits.iter().map(u64::from).collect()),
            _ if kind == Kind::Bytes => KeyValues::Bytes(column),
            (Values::Fixed(buffer), Physical::Fixed(width)) => match width {
                1 => KeyValues::Words(words::<1>(kind, buffer.as_slice())),
                2 => KeyValues::Words(words::<2>(kind, buffer.as_slice())),
                4 => KeyValues::Words(words::<4>(kind, buffer.as_slice())),
                8 => KeyValues::Words(words::<8>(kind, buffer.as_slice())),
                16 => {
                    let numbers = buffer.as_slice().as_chunks::<16>().0.iter();
                    KeyValues::Wide(numbers.map(|bytes| wide(widen(i128::from_le_bytes(*bytes)))).collect())
                }
                _ => {
                    let numbers = buffer.as_slice().as_chunks::<32>().0.iter();
                    KeyValues::Wide(numbers.map(|bytes| wide(*bytes)).collect())
                }
            },
            _ => return None,
        };
        Some(Keys { validity, values })
    }

    /// The number of keys, NULLs included.
    pub fn len(&self) -> usize {
        match &self.values {
            KeyValues::Words(words) => words.len(),
            KeyValues::Wide(words) => words.len(),
            KeyValues::Bytes(column) => column.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Key `i`, `None` if it is NULL.
    ///
    /// # Panics
    /// If there is no key `i`.
    #[inline]
    pub fn get(&self, i: usize) -> Option<Key<'_>> {
        if self.validity.as_ref().is_some_and(|bits| !bits.get(i)) {
            return None;
        }
        match &self.values {
            KeyValues::Words(words) => Some(Key::Word(words[i])),
            KeyValues::Wide(words) => Some(Key::Wide(words[i])),
            KeyValues::Bytes(column) => column.bytes(i).map(Key::Bytes),
        }
    }

    /// The first key of `rows` that is not before what `is_before` looks for, or `rows.end`. The rows hold no NULL and
    /// ascend.
    ///
    /// # Panics
    /// If the rows are out of bounds.
    pub fn partition_point(&self, rows: Range<usize>, is_before: impl Fn(Key<'_>) -> bool) -> usize {
        let start = rows.start;
        match &self.values {
            KeyValues::Words(words) => {
                start + words[rows].partition_point(|&word| is_before(Key::Word(word)))
            }
            KeyValues::Wide(words) => {
                start + words[rows].partition_point(|&words| is_before(Key::Wide(words)))
            }
            KeyValues::Bytes(column) => {
                let holds = |i| column.bytes(start + i).is_some_and(|bytes| is_before(Key::Bytes(bytes)));
                start + partition_point(rows.len(), holds)
            }
        }
    }

    /// The bytes of memory that the keys take.
    pub fn heap_bytes(&self) -> usize {
        match &self.values {
            KeyValues::Words(words) => words.capacity() * 8,
            KeyValues::Wide(words) => words.capacity() * 32,
            KeyValues::Bytes(column) => column.heap_bytes(),
        }
    }

    /// Whether key `i` is NULL.
    ///
    /// # Panics
    /// If there is no key `i`.
    #[inline]
    pub fn is_null(&self, i: usize) -> bool {
        self.validity.as_ref().is_some_and(|bits| !bits.get(i))
    }

    /// The values, to be searched all at once.
    pub fn values(&self) -> &KeyValues {
        &self.values
    }
}

/// Whether values of a type have an order, so that an index of it can be searched.
pub fn has_order(data_type: &DataType) -> bool {
    kind(data_type).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, TimeUnit, bitmap::BitmapBuilder};
    use alloc::vec;

    fn fixed(data_type: DataType, bytes: &[u8]) -> Column {
        let Physical::Fixed(width) = data_type.physical() else { panic!("a fixed width") };
        Column::new(data_type, bytes.len() / width, None, Values::Fixed(Buffer::copy_of(bytes)))
    }

    /// Every way to a key gives the same one, and the values ascend strictly.
    fn check(column: &Column) {
        let keys = Keys::of(column.clone()).unwrap();
        assert_eq!(keys.len(), column.len());
        assert!(column.ascends(0..column.len()));
        for i in 0..column.len() {
            let scalar = column.scalar(i).unwrap();
            assert!(scalar.fits(column.data_type()));
            assert_eq!(keys.get(i), Some(scalar.key()));
            let alone = scalar.key().to_column(column.data_type()).unwrap();
            assert_eq!(alone, Column::gather(&[column], &[(0, i as u32)], None).unwrap());
            assert!(i == 0 || keys.get(i - 1) < keys.get(i), "{scalar:?}");
            let found = column.partition_point(0..column.len(), |key| key < scalar.key());
            assert_eq!(found, i);
        }
        let reversed: Vec<_> = (0..column.len() as u32).rev().map(|row| (0, row)).collect();
        let reversed = Column::gather(&[column], &reversed, None).unwrap();
        assert!(!reversed.ascends(0..column.len()));
    }

    #[test]
    fn floats_are_in_total_order() {
        let floats = [-f64::NAN, f64::NEG_INFINITY, -2.5, -0.0, 0.0, 1e-300, 7.0, f64::INFINITY, f64::NAN];
        check(&fixed(DataType::Float64, bytemuck::cast_slice(&floats)));
        let floats = [-f32::NAN, f32::NEG_INFINITY, -2.5, -0.0, 0.0, 1e-30, 7.0, f32::INFINITY, f32::NAN];
        check(&fixed(DataType::Float32, bytemuck::cast_slice(&floats)));
        let halves = [0xfe00u16, 0xfc00, 0xbc00, 0x8000, 0, 1, 0x3c00, 0x7c00, 0x7e00];
        check(&fixed(DataType::Float16, bytemuck::cast_slice(&halves)));
        assert!(Scalar::Float16(0x7e00).is_nan() && !Scalar::Float16(0xfc00).is_nan());
    }

    #[test]
    fn numbers_ascend() {
        check(&fixed(DataType::Int8, &[0x80, 0xff, 0, 1, 0x7f]));
        check(&fixed(DataType::UInt8, &[0, 1, 0x7f, 0x80, 0xff]));
        check(&fixed(DataType::Date32, bytemuck::cast_slice(&[i32::MIN, -1, 0, i32::MAX])));
        let timestamp = DataType::Timestamp(TimeUnit::Nanosecond, None);
        check(&fixed(timestamp, bytemuck::cast_slice(&[i64::MIN, -1, 0, i64::MAX])));
        check(&fixed(DataType::UInt64, bytemuck::cast_slice(&[0, 1, u64::MAX])));
        let decimals = [i128::MIN, -(1 << 64), -1, 0, 1, 1 << 64, i128::MAX];
        let bytes: Vec<u8> = decimals.iter().flat_map(|value| value.to_le_bytes()).collect();
        check(&fixed(DataType::Decimal128(38, 2), &bytes));
        let bytes: Vec<u8> = decimals.iter().flat_map(|value| widen(*value)).collect();
        check(&fixed(DataType::Decimal256(76, 2), &bytes));
    }

    #[test]
    fn bytes_and_booleans_ascend() {
        check(&fixed(DataType::FixedSizeBinary(2), &[0, 0xff, 1, 0, 0xff, 0]));
        let mut bits = BitmapBuilder::default();
        [false, true].into_iter().for_each(|bit| bits.append(bit));
        check(&Column::new(DataType::Boolean, 2, None, Values::Bits(bits.finish_all())));
        let mut offsets = Buffer::new();
        offsets.grow_typed::<i32>(4).copy_from_slice(&[0, 0, 1, 3]);
        let values = Values::Variable { offsets, bytes: Buffer::copy_of("zé".as_bytes()) };
        check(&Column::new(DataType::Utf8, 3, None, values));
    }

    #[test]
    fn nulls_and_other_types_have_no_key() {
        let nulls = Column::nulls(&DataType::Int32, 2);
        assert_eq!((nulls.key(1), nulls.scalar(0)), (None, None));
        let keys = Keys::of(nulls).unwrap();
        assert!(keys.is_null(0) && keys.get(1).is_none());
        let list = DataType::Struct(vec![].into());
        assert!(!has_order(&list) && Keys::of(Column::nulls(&list, 1)).is_none());
        assert!(!Scalar::Int(128).fits(&DataType::Int8) && Scalar::Int(-128).fits(&DataType::Int8));
        assert!(!Scalar::UInt(256).fits(&DataType::UInt8) && !Scalar::Int(1).fits(&DataType::UInt8));
    }
}

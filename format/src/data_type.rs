//! [`DataType`]: what a column's values are, parsed from the schema's logical type strings.
//!
//! The strings are listed in `docs/format/file.md`. Types that own child fields (`struct`, `list`, `map`,
//! a fixed-size list of structs) get them from the schema (see [`crate::schema`]).

use crate::{Error, Field, Result};
use alloc::{format, sync::Arc, vec::Vec};
use core::fmt;

/// No value is larger: the most that 32-bit offsets reach.
const MAX_VALUE_BYTES: u64 = i32::MAX as u64;

/// The unit of a time, a timestamp or a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Seconds.
    Second,
    /// Milliseconds.
    Millisecond,
    /// Microseconds.
    Microsecond,
    /// Nanoseconds.
    Nanosecond,
}

impl TimeUnit {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "s" => TimeUnit::Second,
            "ms" => TimeUnit::Millisecond,
            "us" => TimeUnit::Microsecond,
            "ns" => TimeUnit::Nanosecond,
            _ => return None,
        })
    }

    /// The unit as Lance and Arrow abbreviate it.
    pub fn abbreviation(self) -> &'static str {
        match self {
            TimeUnit::Second => "s",
            TimeUnit::Millisecond => "ms",
            TimeUnit::Microsecond => "us",
            TimeUnit::Nanosecond => "ns",
        }
    }

    /// How many decimal digits of a second the unit resolves: 0, 3, 6 or 9.
    pub fn digits(self) -> usize {
        match self {
            TimeUnit::Second => 0,
            TimeUnit::Millisecond => 3,
            TimeUnit::Microsecond => 6,
            TimeUnit::Nanosecond => 9,
        }
    }
}

/// The type of a column. Cloning is cheap: nested types share their fields.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // The names are Arrow's.
pub enum DataType {
    Null,
    Boolean,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    /// The upper 16 bits of an f32; Arrow holds it as a fixed-size binary of two bytes.
    BFloat16,
    Float32,
    Float64,
    /// 128-bit two's complement; the digits in all, and those behind the point.
    Decimal128(u8, i8),
    /// 256-bit two's complement; the digits in all, and those behind the point.
    Decimal256(u8, i8),
    /// Days since 1970-01-01, 32 bits.
    Date32,
    /// Milliseconds since 1970-01-01, 64 bits.
    Date64,
    /// Time of day, 32 bits, in seconds or milliseconds.
    Time32(TimeUnit),
    /// Time of day, 64 bits, in micro- or nanoseconds.
    Time64(TimeUnit),
    /// Time since the epoch, 64 bits: UTC if a zone is named, local otherwise.
    Timestamp(TimeUnit, Option<Arc<str>>),
    Duration(TimeUnit),
    Utf8,
    LargeUtf8,
    Binary,
    LargeBinary,
    FixedSizeBinary(u32),
    /// JSON in its binary form (JSONB), held as large binary.
    Json,
    List(Arc<Field>),
    LargeList(Arc<Field>),
    FixedSizeList(Arc<Field>, u32),
    Struct(Arc<[Arc<Field>]>),
    /// A list of entries, a struct of `key` and `value`.
    Map(Arc<Field>),
    /// Values of the second type, stored once each and referred to by the first; read as the values.
    Dictionary(Arc<DataType>, Arc<DataType>),
    /// A logical type that this crate does not know: an error once the column is read, not before.
    Unknown(Arc<str>),
}

/// How the values of a type lie in memory, apart from validity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Physical {
    /// No values, only a length.
    Null,
    /// One bit an item.
    Bits,
    /// That many bytes an item.
    Fixed(usize),
    /// Offsets of 32 bits and bytes.
    Variable,
    /// Offsets of 64 bits and bytes.
    LargeVariable,
    /// Offsets of 32 bits and one child.
    List,
    /// Offsets of 64 bits and one child.
    LargeList,
    /// One child with that many items for each.
    FixedSizeList(usize),
    /// Children of the same length.
    Struct,
}

impl DataType {
    /// The memory layout of this type's values.
    pub fn physical(&self) -> Physical {
        use DataType::*;
        match self {
            Null | Unknown(_) => Physical::Null,
            Boolean => Physical::Bits,
            Int8 | UInt8 => Physical::Fixed(1),
            Int16 | UInt16 | Float16 | BFloat16 => Physical::Fixed(2),
            Int32 | UInt32 | Float32 | Date32 | Time32(_) => Physical::Fixed(4),
            Int64 | UInt64 | Float64 | Date64 | Time64(_) | Timestamp(..) | Duration(_) => Physical::Fixed(8),
            Decimal128(..) => Physical::Fixed(16),
            Decimal256(..) => Physical::Fixed(32),
            FixedSizeBinary(width) => Physical::Fixed(*width as usize),
            Utf8 | Binary => Physical::Variable,
            LargeUtf8 | LargeBinary | Json => Physical::LargeVariable,
            List(_) | Map(_) => Physical::List,
            LargeList(_) => Physical::LargeList,
            FixedSizeList(_, dimension) => Physical::FixedSizeList(*dimension as usize),
            Struct(_) => Physical::Struct,
            Dictionary(_, values) => values.physical(),
        }
    }

    /// Whether values are text that must be UTF-8.
    pub fn is_utf8(&self) -> bool {
        match self {
            DataType::Utf8 | DataType::LargeUtf8 => true,
            DataType::Dictionary(_, values) => values.is_utf8(),
            _ => false,
        }
    }

    /// The child fields, outermost level only.
    pub fn children(&self) -> &[Arc<Field>] {
        match self {
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::FixedSizeList(item, _)
            | DataType::Map(item) => core::slice::from_ref(item),
            DataType::Struct(fields) => fields,
            _ => &[],
        }
    }

    /// The least bytes of memory that one value takes: its fixed parts, and no less than a byte for anything
    /// that can be counted.
    pub fn value_bytes(&self) -> u64 {
        let children = || self.children().iter().map(|child| child.data_type.value_bytes());
        match self.physical() {
            Physical::Null | Physical::Bits => 1,
            Physical::Fixed(width) => width as u64,
            Physical::Variable | Physical::List => 4,
            Physical::LargeVariable | Physical::LargeList => 8,
            Physical::FixedSizeList(dimension) => {
                children().fold(0, u64::saturating_add).saturating_mul(dimension as u64)
            }
            Physical::Struct => children().fold(0, u64::saturating_add).max(1),
        }
    }

    /// This type, unless one value of it fills memory: then numbers of rows times sizes do not overflow.
    fn checked(self) -> Result<Self> {
        match self.value_bytes() {
            0..=MAX_VALUE_BYTES => Ok(self),
            bytes => Err(Error::unsupported(format!(
                "expected values of at most {MAX_VALUE_BYTES} bytes, found a type of {bytes}"
            ))),
        }
    }

    /// Parses a logical type; `children` are the schema's child fields of this one.
    ///
    /// # Errors
    /// Unsupported if the type is not known or its values are too large, corrupt if its children do not fit.
    pub(crate) fn parse(logical: &str, children: Vec<Arc<Field>>) -> Result<Self> {
        let nested = |expected: &str| {
            Error::corrupt(format!(
                "type `{logical}`: expected {expected}, found {} child fields",
                children.len()
            ))
        };
        Ok(match logical {
            "struct" => DataType::Struct(children.into()).checked()?,
            "list" | "list.struct" => {
                DataType::List(only(&children).ok_or_else(|| nested("one child field"))?)
            }
            "large_list" | "large_list.struct" => {
                DataType::LargeList(only(&children).ok_or_else(|| nested("one child field"))?)
            }
            "map" => {
                let entries = only(&children).ok_or_else(|| nested("one child field"))?;
                match &entries.data_type {
                    DataType::Struct(pair) if pair.len() == 2 => DataType::Map(entries),
                    _ => return Err(Error::corrupt("type `map`: expected entries of a key and a value")),
                }
            }
            _ => {
                if let Some(rest) = logical.strip_prefix("fixed_size_list:struct:") {
                    let item = only(&children).ok_or_else(|| nested("one child field"))?;
                    return DataType::FixedSizeList(item, dimension(logical, rest)?).checked();
                }
                if !children.is_empty() {
                    return Err(nested("no child field"));
                }
                return Self::parse_childless(logical, 0);
            }
        })
    }

    fn parse_childless(logical: &str, depth: usize) -> Result<Self> {
        use DataType::*;
        let unknown = || Error::unsupported(format!("logical type `{logical}` is not known"));
        let (head, rest) = logical.split_once(':').unwrap_or((logical, ""));
        let unit = |accepted: &[TimeUnit]| {
            TimeUnit::parse(rest).filter(|unit| accepted.contains(unit)).ok_or_else(unknown)
        };
        Ok(match head {
            "null" => Null,
            "bool" => Boolean,
            "int8" => Int8,
            "int16" => Int16,
            "int32" => Int32,
            "int64" => Int64,
            "uint8" => UInt8,
            "uint16" => UInt16,
            "uint32" => UInt32,
            "uint64" => UInt64,
            "halffloat" => Float16,
            "lance.bfloat16" => BFloat16,
            "float" => Float32,
            "double" => Float64,
            "string" => Utf8,
            "large_string" => LargeUtf8,
            "binary" => Binary,
            "large_binary" | "blob" => LargeBinary,
            "json" => Json,
            "date32" => Date32,
            "date64" => Date64,
            "time32" => Time32(unit(&[TimeUnit::Second, TimeUnit::Millisecond])?),
            "time64" => Time64(unit(&[TimeUnit::Microsecond, TimeUnit::Nanosecond])?),
            "duration" => Duration(TimeUnit::parse(rest).ok_or_else(unknown)?),
            "timestamp" => {
                // The zone itself may hold colons (`+05:30`).
                let (unit, zone) = rest.split_once(':').unwrap_or((rest, "-"));
                let zone = (zone != "-" && !zone.is_empty()).then(|| Arc::from(zone));
                Timestamp(TimeUnit::parse(unit).ok_or_else(unknown)?, zone)
            }
            "decimal" => {
                let mut parts = rest.split(':');
                let bits = parts.next();
                let precision = parts.next().and_then(|p| p.parse().ok()).ok_or_else(unknown)?;
                let scale = parts.next().and_then(|s| s.parse().ok()).ok_or_else(unknown)?;
                match bits {
                    Some("128") if precision <= 38 => Decimal128(precision, scale),
                    Some("256") if precision <= 76 => Decimal256(precision, scale),
                    _ => return Err(unknown()),
                }
            }
            "fixed_size_binary" => FixedSizeBinary(dimension(logical, rest)?),
            "fixed_size_list" => {
                if depth >= 8 {
                    return Err(Error::unsupported("fixed-size lists nested more than eight deep"));
                }
                let (item, size) = rest.rsplit_once(':').ok_or_else(unknown)?;
                let item = Self::parse_childless(item, depth + 1)?;
                if !matches!(
                    item.physical(),
                    Physical::Bits | Physical::Fixed(_) | Physical::FixedSizeList(_)
                ) {
                    return Err(unknown());
                }
                FixedSizeList(Arc::new(Field::item(item)), dimension(logical, size)?).checked()?
            }
            // Only a whole column is a dictionary.
            "dict" if depth > 0 => return Err(unknown()),
            "dict" => {
                let (types, _ordered) = rest.rsplit_once(':').ok_or_else(unknown)?;
                let (values, index) = types.rsplit_once(':').ok_or_else(unknown)?;
                let index = Self::parse_childless(index, depth + 1)?;
                let values = Self::parse_childless(values, depth + 1)?;
                if !index.is_integer() {
                    return Err(unknown());
                }
                Dictionary(Arc::new(index), Arc::new(values))
            }
            _ => return Err(unknown()),
        })
    }

    fn is_integer(&self) -> bool {
        use DataType::*;
        matches!(self, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
    }
}

fn only(children: &[Arc<Field>]) -> Option<Arc<Field>> {
    match children {
        [child] => Some(child.clone()),
        _ => None,
    }
}

/// The size in `…:size`; zero is no size.
fn dimension(logical: &str, text: &str) -> Result<u32> {
    match text.parse() {
        Ok(size @ 1..=0x7fff_ffff) => Ok(size),
        _ => Err(Error::corrupt(format!(
            "type `{logical}`: expected a size of 1 to 2147483647, found `{text}`"
        ))),
    }
}

impl fmt::Display for DataType {
    /// Writes the type as Arrow's users know it, nested fields included.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use DataType::*;
        let name = match self {
            Null => "null",
            Boolean => "bool",
            Int8 => "int8",
            Int16 => "int16",
            Int32 => "int32",
            Int64 => "int64",
            UInt8 => "uint8",
            UInt16 => "uint16",
            UInt32 => "uint32",
            UInt64 => "uint64",
            Float16 => "float16",
            BFloat16 => "bfloat16",
            Float32 => "float32",
            Float64 => "float64",
            Date32 => "date32",
            Date64 => "date64",
            Utf8 => "utf8",
            LargeUtf8 => "large_utf8",
            Binary => "binary",
            LargeBinary => "large_binary",
            Json => "json",
            Decimal128(precision, scale) => return write!(f, "decimal128({precision}, {scale})"),
            Decimal256(precision, scale) => return write!(f, "decimal256({precision}, {scale})"),
            Time32(unit) => return write!(f, "time32({})", unit.abbreviation()),
            Time64(unit) => return write!(f, "time64({})", unit.abbreviation()),
            Duration(unit) => return write!(f, "duration({})", unit.abbreviation()),
            Timestamp(unit, None) => return write!(f, "timestamp({})", unit.abbreviation()),
            Timestamp(unit, Some(zone)) => return write!(f, "timestamp({}, {zone})", unit.abbreviation()),
            FixedSizeBinary(width) => return write!(f, "fixed_size_binary({width})"),
            List(item) => return write!(f, "list<{}>", item.data_type),
            LargeList(item) => return write!(f, "large_list<{}>", item.data_type),
            FixedSizeList(item, size) => return write!(f, "fixed_size_list<{}, {size}>", item.data_type),
            Map(entries) => match entries.data_type.children() {
                [key, value] => return write!(f, "map<{}, {}>", key.data_type, value.data_type),
                _ => "map",
            },
            Dictionary(index, values) => return write!(f, "dictionary<{index}, {values}>"),
            Unknown(logical) => return write!(f, "unknown<{logical}>"),
            Struct(fields) => {
                f.write_str("struct<")?;
                for (i, field) in fields.iter().enumerate() {
                    let separator = if i == 0 { "" } else { ", " };
                    write!(f, "{separator}{}: {}", field.name, field.data_type)?;
                }
                return f.write_str(">");
            }
        };
        f.write_str(name)
    }
}

impl Field {
    /// The unnamed item of a fixed-size list of primitives, which the schema does not list.
    fn item(data_type: DataType) -> Self {
        Field::new("item", -1, data_type, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn parse(text: &str) -> Result<DataType> {
        DataType::parse(text, Vec::new())
    }

    #[test]
    fn logical_types() {
        for (text, shown) in [
            ("int8", "int8"),
            ("timestamp:us:-", "timestamp(us)"),
            ("timestamp:ns:+05:30", "timestamp(ns, +05:30)"),
            ("decimal:128:38:-3", "decimal128(38, -3)"),
            ("fixed_size_list:fixed_size_list:int8:2:3", "fixed_size_list<fixed_size_list<int8, 2>, 3>"),
            ("fixed_size_list:lance.bfloat16:4", "fixed_size_list<bfloat16, 4>"),
            ("fixed_size_list:timestamp:us:UTC:4", "fixed_size_list<timestamp(us, UTC), 4>"),
            ("dict:string:int32:false", "dictionary<int32, utf8>"),
            ("dict:timestamp:us:-:int8:false", "dictionary<int8, timestamp(us)>"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for text in [
            "",
            "int9",
            "list",
            "map",
            "time32:ns",
            "decimal:128:39:0",
            "fixed_size_list:int8:0",
            "fixed_size_list:string:3",
            "fixed_size_list:int8",
            "fixed_size_list:int64:2147483647",
            "fixed_size_list:fixed_size_binary:65536:65536",
            "dict:dict:string:int8:false:int8:false",
            "dict:string:float:false",
            "duration",
            "fixed_size_binary:x",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}

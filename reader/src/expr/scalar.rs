//! [`Scalar`]: one value, in the form in which a column holds it.

use super::I256;
use half::{bf16, f16};
use std::sync::Arc;

/// One value. What it means is said by the [`DataType`](crate::DataType) that stands beside it:
///
/// | type | scalar |
/// |---|---|
/// | every type | [`Null`](Scalar::Null) |
/// | bool | [`Boolean`](Scalar::Boolean) |
/// | int8 … int64, dates, times, timestamps, durations | [`Int`](Scalar::Int), in the column's unit |
/// | uint8 … uint64 | [`UInt`](Scalar::UInt) |
/// | floats | the variant of their width |
/// | decimals | their unscaled value |
/// | utf8, large utf8 | [`Text`](Scalar::Text) |
/// | binary of every kind | [`Binary`](Scalar::Binary) |
/// | lists, large lists, fixed-size lists | [`List`](Scalar::List), its items in the item type |
/// | dictionaries | as their values |
///
/// Equality is that of the value's bits: a NaN equals itself, and 0.0 differs from −0.0. How values compare in a
/// filter is the comparison's business.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[allow(missing_docs)] // The table above says what they are.
pub enum Scalar {
    Null,
    Boolean(bool),
    Int(i64),
    UInt(u64),
    Float16(f16),
    BFloat16(bf16),
    Float32(f32),
    Float64(f64),
    Decimal128(i128),
    Decimal256(I256),
    Text(Arc<str>),
    Binary(Arc<[u8]>),
    List(Arc<[Scalar]>),
    /// The value that is bound to the parameter with this number, counted from 0.
    Parameter(u32),
}

impl Scalar {
    /// Whether this is NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Scalar::Null)
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        use Scalar::*;
        match (self, other) {
            (Null, Null) => true,
            (Boolean(a), Boolean(b)) => a == b,
            (Int(a), Int(b)) => a == b,
            (UInt(a), UInt(b)) => a == b,
            (Float16(a), Float16(b)) => a.to_bits() == b.to_bits(),
            (BFloat16(a), BFloat16(b)) => a.to_bits() == b.to_bits(),
            (Float32(a), Float32(b)) => a.to_bits() == b.to_bits(),
            (Float64(a), Float64(b)) => a.to_bits() == b.to_bits(),
            (Decimal128(a), Decimal128(b)) => a == b,
            (Decimal256(a), Decimal256(b)) => a == b,
            (Text(a), Text(b)) => a == b,
            (Binary(a), Binary(b)) => a == b,
            (List(a), List(b)) => a == b,
            (Parameter(a), Parameter(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Scalar {}

//! Arithmetic of decimals, on unscaled integers of 256 bits.

use super::{
    build,
    expression::{Call, Fail},
    number::validity,
    rows::Value,
    types::{numbers, plain, unexpected},
};
use crate::{
    Result,
    expr::{Arithmetic, I256},
};
use lancet_format::{Bitmap, Column, DataType};
use std::fmt;

/// The unscaled integers of a decimal column.
enum Decimals<'a> {
    Small(&'a [[u8; 16]]),
    Large(&'a [[u8; 32]]),
}

impl<'a> Decimals<'a> {
    fn of(column: &'a Column) -> Result<Self> {
        match plain(column.data_type()) {
            DataType::Decimal128(..) => Ok(Decimals::Small(numbers(column)?)),
            _ => Ok(Decimals::Large(numbers(column)?)),
        }
    }

    fn get(&self, row: usize) -> I256 {
        match self {
            Decimals::Small(values) => I256::from(i128::from_le_bytes(values[row])),
            Decimals::Large(values) => I256::from_le_bytes(values[row]),
        }
    }
}

/// A decimal as errors show it.
struct Shown(I256, i8);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            0 => write!(f, "{}", self.0),
            scale => write!(f, "{}e{}", self.0, -i16::from(scale)),
        }
    }
}

/// A column of what `compute` gives for each row; where it gives none, the row fails if it is not NULL.
fn column(
    data_type: &DataType,
    len: usize,
    validity: Option<Bitmap>,
    fail: &mut Fail<'_>,
    mut compute: impl FnMut(usize) -> Result<I256, String>,
) -> Result<Column> {
    let narrow = matches!(plain(data_type), DataType::Decimal128(..));
    let limit = shift(I256::from(1), if narrow { 38 } else { 76 }).unwrap_or_default();
    let fits = |value: I256| value < limit && value.checked_neg().is_some_and(|value| value < limit);
    let mut compute = |row: usize| {
        if validity.as_ref().is_some_and(|bits| !bits.get(row)) {
            return I256::default();
        }
        let value = compute(row).and_then(|value| match fits(value) {
            true => Ok(value),
            false => Err(format!("{value} has more digits than {data_type} can have")),
        });
        value.unwrap_or_else(|message| {
            fail.row(row, || message);
            I256::default()
        })
    };
    if narrow {
        let out: Vec<[u8; 16]> =
            (0..len).map(|row| compute(row).to_i128().unwrap_or_default().to_le_bytes()).collect();
        return build::numbers(data_type, &out, validity);
    }
    let out: Vec<[u8; 32]> = (0..len).map(|row| compute(row).to_le_bytes()).collect();
    build::numbers(data_type, &out, validity)
}

fn scale_of(data_type: &DataType) -> i8 {
    match plain(data_type) {
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => *scale,
        _ => 0,
    }
}

/// `left op right`
pub(super) fn arithmetic(op: Arithmetic, left: &DataType, right: &DataType, result: &DataType) -> Call {
    let scales = (scale_of(left), scale_of(right), scale_of(result));
    let result = plain(result).clone();
    Call::new(move |values, len, fail| {
        let [left, right] = values else { return Err(unexpected(&result)) };
        let (lefts, rights) = (Decimals::of(&left.column)?, Decimals::of(&right.column)?);
        let (left_scale, right_scale, _) = scales;
        column(&result, len, validity(values, len)?, fail, |row| {
            let (a, b) = (lefts.get(Value::at(left, row)), rights.get(Value::at(right, row)));
            let shown = || format!("{} {} {}", Shown(a, left_scale), op.symbol(), Shown(b, right_scale));
            if matches!(op, Arithmetic::Divide | Arithmetic::Remainder) && b == I256::default() {
                return Err(format!("division by zero: {}", shown()));
            }
            compute(op, a, b, scales).ok_or_else(|| format!("{} does not fit {result}", shown()))
        })
    })
}

/// The result at the last of the scales of left, right and result; none if it does not fit.
fn compute(op: Arithmetic, a: I256, b: I256, (left, right, result): (i8, i8, i8)) -> Option<I256> {
    match op {
        Arithmetic::Add => rescale(a, left, result)?.checked_add(rescale(b, right, result)?),
        Arithmetic::Subtract => {
            rescale(a, left, result)?.checked_add(rescale(b, right, result)?.checked_neg()?)
        }
        Arithmetic::Multiply => {
            let product = wide::multiply(a, b)?;
            shift(product, i32::from(result) - i32::from(left) - i32::from(right))
        }
        Arithmetic::Divide => {
            // Truncated, as integers are.
            let steps = i32::from(result) - i32::from(left) + i32::from(right);
            match steps >= 0 {
                true => Some(wide::divide(shift(a, steps)?, b)?.0),
                false => Some(wide::divide(a, shift(b, -steps)?)?.0),
            }
        }
        Arithmetic::Remainder => {
            let scale = left.max(right);
            let (_, rest) = wide::divide(rescale(a, left, scale)?, rescale(b, right, scale)?)?;
            rescale(rest, scale, result)
        }
    }
}

fn rescale(value: I256, from: i8, to: i8) -> Option<I256> {
    shift(value, i32::from(to) - i32::from(from))
}

/// The value times ten to the power of `steps`, rounded half away from zero.
pub(super) fn shift(mut value: I256, steps: i32) -> Option<I256> {
    for _ in 0..steps {
        if value == I256::default() {
            return Some(value);
        }
        value = value.checked_mul(10)?;
    }
    let mut digit = 0;
    for _ in 0..-steps {
        (value, digit) = value.div_rem(10);
    }
    match digit.abs() >= 5 {
        true => value.checked_add(I256::from(i128::from(digit.signum()))),
        false => Some(value),
    }
}

/// `-value`
pub(super) fn negate() -> Call {
    unary("-", I256::checked_neg)
}

/// `abs(value)`
pub(super) fn abs() -> Call {
    unary("abs of ", |value| if value.is_negative() { value.checked_neg() } else { Some(value) })
}

fn unary(name: &'static str, apply: fn(I256) -> Option<I256>) -> Call {
    Call::new(move |values, len, fail| {
        let own = &values[0].column;
        let decimals = Decimals::of(own)?;
        let data_type = plain(own.data_type());
        column(data_type, len, own.validity().cloned(), fail, |row| {
            let value = decimals.get(values[0].at(row));
            apply(value).ok_or_else(|| format!("{name}{value} does not fit {data_type}"))
        })
    })
}

/// Products and quotients of 256 bits.
mod wide {
    use super::I256;

    /// The product, or none if it does not fit.
    pub(super) fn multiply(a: I256, b: I256) -> Option<I256> {
        if let (Some(a), Some(b)) = (a.to_i128(), b.to_i128())
            && let Some(product) = a.checked_mul(b)
        {
            return Some(I256::from(product));
        }
        let (left, right) = (digits(a)?, digits(b)?);
        let mut product = [0u64; 8];
        for (i, &left) in left.iter().enumerate() {
            let mut carry = 0u128;
            for (j, &right) in right.iter().enumerate() {
                let sum = u128::from(left) * u128::from(right) + u128::from(product[i + j]) + carry;
                product[i + j] = sum as u64;
                carry = sum >> 64;
            }
            product[i + 4] = carry as u64;
        }
        let (low, high) = product.split_at(4);
        let negative = a.is_negative() != b.is_negative();
        high.iter().all(|&digit| digit == 0).then(|| from_digits(low, negative)).flatten()
    }

    /// The quotient rounded toward zero and the remainder with the sign of `a`; none by zero, or if it does not fit.
    pub(super) fn divide(a: I256, b: I256) -> Option<(I256, I256)> {
        if let (Some(a), Some(b)) = (a.to_i128(), b.to_i128())
            && let (Some(quotient), Some(rest)) = (a.checked_div(b), a.checked_rem(b))
        {
            return Some((I256::from(quotient), I256::from(rest)));
        }
        let (dividend, divisor) = (digits(a)?, digits(b)?);
        if divisor == [0; 4] {
            return None;
        }
        let (mut quotient, mut rest) = ([0u64; 4], [0u64; 4]);
        for bit in (0..256).rev() {
            // Neither is above 2^255, so that twice the rest fits.
            let mut carry = dividend[bit / 64] >> (bit % 64) & 1;
            for digit in &mut rest {
                let next = *digit >> 63;
                *digit = *digit << 1 | carry;
                carry = next;
            }
            if rest.iter().rev().ge(divisor.iter().rev()) {
                let mut borrow = false;
                for (digit, &other) in rest.iter_mut().zip(&divisor) {
                    let (less, first) = digit.overflowing_sub(other);
                    let (less, second) = less.overflowing_sub(u64::from(borrow));
                    *digit = less;
                    borrow = first || second;
                }
                quotient[bit / 64] |= 1 << (bit % 64);
            }
        }
        let quotient = from_digits(&quotient, a.is_negative() != b.is_negative())?;
        Some((quotient, from_digits(&rest, a.is_negative())?))
    }

    /// The 64-bit digits of the absolute value, the least first; none of the least of all values.
    fn digits(value: I256) -> Option<[u64; 4]> {
        let value = if value.is_negative() { value.checked_neg()? } else { value };
        Some(bytemuck::cast::<[u8; 32], [[u8; 8]; 4]>(value.to_le_bytes()).map(u64::from_le_bytes))
    }

    fn from_digits(digits: &[u64], negative: bool) -> Option<I256> {
        let mut bytes = [0; 32];
        for (bytes, digit) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(digits) {
            *bytes = digit.to_le_bytes();
        }
        let value = I256::from_le_bytes(bytes);
        match (value.is_negative(), negative) {
            (true, _) => None,
            (false, true) => value.checked_neg(),
            (false, false) => Some(value),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn products_and_quotients_undo_each_other() {
            let large =
                |power: u32| (0..power).try_fold(I256::from(7), |value, _| value.checked_mul(10)).unwrap();
            for (a, b) in [(large(40), large(30)), (large(70), I256::from(-3)), (large(5), large(60))] {
                let product = multiply(a, b).unwrap();
                assert_eq!(divide(product, b), Some((a, I256::default())));
                let more =
                    product.checked_add(I256::from(if product.is_negative() { -2 } else { 2 })).unwrap();
                assert_eq!(divide(more, b).unwrap().0, a);
            }
            assert_eq!(multiply(large(50), large(50)), None);
            assert_eq!(divide(large(50), I256::default()), None);
        }
    }
}

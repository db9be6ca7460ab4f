//! [`I256`]: a 256-bit two's complement integer, the unscaled value of a wide decimal.

use std::cmp::Ordering;

/// A 256-bit signed integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct I256 {
    high: i128,
    low: u128,
}

impl I256 {
    /// The value of 32 little-endian bytes, as a column holds it.
    pub fn from_le_bytes(bytes: [u8; 32]) -> Self {
        let (low, high) = bytes.split_at(16);
        let half = |bytes: &[u8]| bytes.try_into().unwrap_or_default();
        I256 { high: i128::from_le_bytes(half(high)), low: u128::from_le_bytes(half(low)) }
    }

    /// The little-endian bytes, as a column holds them.
    pub fn to_le_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&self.low.to_le_bytes());
        bytes[16..].copy_from_slice(&self.high.to_le_bytes());
        bytes
    }

    /// Whether the value is below zero.
    pub fn is_negative(self) -> bool {
        self.high < 0
    }

    /// The value as 128 bits, if it fits.
    pub fn to_i128(self) -> Option<i128> {
        let narrow = self.low as i128;
        (self == Self::from(narrow)).then_some(narrow)
    }

    /// The negated value, or none if it does not fit.
    pub fn checked_neg(self) -> Option<Self> {
        let (low, carry) = (!self.low).overflowing_add(1);
        let high = (!self.high).checked_add(i128::from(carry))?;
        Some(I256 { high, low })
    }

    /// The sum, or none if it does not fit.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let (low, carry) = self.low.overflowing_add(other.low);
        // The carry goes to whichever half leaves room for it: −1 + carry is a sum that fits.
        let (sum, over) = self.high.overflowing_add(other.high);
        let (sum, carried_over) = sum.overflowing_add(i128::from(carry));
        (over == carried_over).then_some(I256 { high: sum, low })
    }

    /// Ten times the value and a digit away from zero, or none if it does not fit.
    pub(crate) fn push_digit(self, digit: u8) -> Option<Self> {
        let digit = i128::from(digit) * if self.is_negative() { -1 } else { 1 };
        self.checked_mul(10)?.checked_add(Self::from(digit))
    }

    /// The product with a small number, or none if it does not fit.
    pub fn checked_mul(self, factor: u32) -> Option<Self> {
        let negative = self.is_negative();
        let factor = u128::from(factor);
        // Four 64-bit digits of the magnitude, so that every product fits 128 bits.
        let mut carry = 0u128;
        let mut digits = self.magnitude();
        for digit in &mut digits {
            let product = u128::from(*digit) * factor + carry;
            *digit = product as u64;
            carry = product >> 64;
        }
        (carry == 0).then(|| Self::from_magnitude(digits, negative)).flatten()
    }

    /// The quotient rounded toward zero, and the remainder with the sign of the value.
    ///
    /// `divisor` must not be zero.
    pub(crate) fn div_rem(self, divisor: u32) -> (Self, i64) {
        let negative = self.is_negative();
        let mut digits = self.magnitude();
        let mut rest = 0u128;
        for digit in digits.iter_mut().rev() {
            let dividend = rest << 64 | u128::from(*digit);
            *digit = (dividend / u128::from(divisor)) as u64;
            rest = dividend % u128::from(divisor);
        }
        let rest = rest as i64;
        let quotient = Self::from_magnitude(digits, negative).unwrap_or_default();
        (quotient, if negative { -rest } else { rest })
    }

    /// The 64-bit digits of the absolute value, the least first.
    fn magnitude(self) -> [u64; 4] {
        let (mut high, mut low) = (self.high as u128, self.low);
        if self.is_negative() {
            let (negated, carry) = (!low).overflowing_add(1);
            low = negated;
            high = (!high).wrapping_add(u128::from(carry));
        }
        [low as u64, (low >> 64) as u64, high as u64, (high >> 64) as u64]
    }

    fn from_magnitude(digits: [u64; 4], negative: bool) -> Option<Self> {
        let low = u128::from(digits[1]) << 64 | u128::from(digits[0]);
        let high = u128::from(digits[3]) << 64 | u128::from(digits[2]);
        let value = I256 { high: high as i128, low };
        match (negative, value.high >= 0) {
            (false, true) => Some(value),
            (true, true) => value.checked_neg(),
            // The least value of all is its own negation.
            (true, false) if value.high == i128::MIN && low == 0 => Some(value),
            _ => None,
        }
    }
}

impl From<i128> for I256 {
    fn from(value: i128) -> Self {
        I256 { high: value >> 127, low: value as u128 }
    }
}

impl Ord for I256 {
    fn cmp(&self, other: &Self) -> Ordering {
        self.high.cmp(&other.high).then(self.low.cmp(&other.low))
    }
}

impl PartialOrd for I256 {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl std::fmt::Display for I256 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (mut rest, mut digits) = (*self, Vec::new());
        while rest != Self::default() || digits.is_empty() {
            let (quotient, digit) = rest.div_rem(10);
            digits.push(b'0' + digit.unsigned_abs() as u8);
            rest = quotient;
        }
        digits.reverse();
        let digits = String::from_utf8(digits).unwrap_or_default();
        f.pad_integral(!self.is_negative(), "", &digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<I256> {
        let (digits, negative) = text.strip_prefix('-').map_or((text, false), |rest| (rest, true));
        let mut value = I256::default();
        for digit in digits.bytes() {
            value = value.checked_mul(10)?;
            let digit = i128::from(digit - b'0');
            value = value.checked_add(I256::from(if negative { -digit } else { digit }))?;
        }
        Some(value)
    }

    const MAX: &str = "57896044618658097711785492504343953926634992332820282019728792003956564819967";
    const MIN: &str = "-57896044618658097711785492504343953926634992332820282019728792003956564819968";

    #[test]
    fn reads_and_writes_every_magnitude() {
        for text in ["0", "-1", "170141183460469231731687303715884105728", MAX, MIN] {
            let value = parse(text).unwrap();
            assert_eq!(value.to_string(), text);
            assert_eq!(I256::from_le_bytes(value.to_le_bytes()), value);
        }
        for value in [0, -1, 7, i128::MAX, i128::MIN] {
            assert_eq!(I256::from(value).to_i128(), Some(value));
            assert_eq!(I256::from(value).to_string(), value.to_string());
        }
    }

    #[test]
    fn overflow_is_told() {
        let (max, min) = (parse(MAX).unwrap(), parse(MIN).unwrap());
        assert_eq!(max.checked_add(I256::from(1)), None);
        assert_eq!(min.checked_add(I256::from(-1)), None);
        assert_eq!(max.checked_mul(2), None);
        assert_eq!(min.checked_neg(), None);
        assert_eq!(max.checked_neg().unwrap().checked_add(I256::from(-1)), Some(min));
        assert_eq!(max.checked_add(min), Some(I256::from(-1)));
        assert!(min < I256::from(i128::MIN) && I256::from(i128::MAX) < max);
        assert_eq!(max.to_i128(), None);
    }
}

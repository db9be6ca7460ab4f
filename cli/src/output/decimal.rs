//! Decimals: integers of 128 or 256 bits with a point.

/// 2²⁵⁶ has 78 digits.
const MOST_DIGITS: usize = 78;

/// Appends the number `bytes` (little-endian two's complement, at most 32) with `scale` digits behind the
/// point; a negative scale counts zeros to the left of it.
pub(super) fn decimal(out: &mut String, bytes: &[u8], scale: i8) {
    let mut buffer = [0; MOST_DIGITS];
    let (negative, digits) = digits(bytes, &mut buffer);
    let digits = str::from_utf8(digits).expect("digits are text");
    if negative {
        out.push('-');
    }
    let zeros = |count: usize| std::iter::repeat_n('0', count);
    let places = usize::from(scale.unsigned_abs());
    if scale < 0 {
        out.push_str(digits);
        out.extend(zeros(if digits == "0" { 0 } else { places }));
    } else if digits.len() > places {
        let (whole, fraction) = digits.split_at(digits.len() - places);
        out.push_str(whole);
        if !fraction.is_empty() {
            out.push('.');
            out.push_str(fraction);
        }
    } else {
        out.push_str("0.");
        out.extend(zeros(places - digits.len()));
        out.push_str(digits);
    }
}

/// Whether the number is negative, and the decimal digits of its magnitude, `0` for zero.
fn digits<'a>(bytes: &[u8], buffer: &'a mut [u8; MOST_DIGITS]) -> (bool, &'a [u8]) {
    let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
    let mut extended = [if negative { 0xff } else { 0 }; 32];
    extended[..bytes.len()].copy_from_slice(bytes);
    let mut limbs = [0_u64; 4];
    for (limb, bytes) in limbs.iter_mut().zip(extended.as_chunks().0) {
        *limb = u64::from_le_bytes(*bytes);
    }
    if negative {
        let mut carry = true;
        for limb in &mut limbs {
            (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
        }
    }
    // Eighteen digits at a time, the last ones first.
    const GROUP: u128 = 1_000_000_000_000_000_000;
    let mut start = MOST_DIGITS;
    while limbs != [0; 4] {
        let mut rest = 0;
        for limb in limbs.iter_mut().rev() {
            let dividend = rest << 64 | u128::from(*limb);
            *limb = (dividend / GROUP) as u64;
            rest = dividend % GROUP;
        }
        let mut group = rest as u64;
        let last = limbs == [0; 4];
        for _ in 0..18 {
            if last && group == 0 {
                break;
            }
            start -= 1;
            buffer[start] = b'0' + (group % 10) as u8;
            group /= 10;
        }
    }
    if start == MOST_DIGITS {
        start -= 1;
        buffer[start] = b'0';
    }
    (negative, &buffer[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_128(value: i128, scale: i8) -> String {
        let mut out = String::new();
        decimal(&mut out, &value.to_le_bytes(), scale);
        out
    }

    fn of_256(bytes: [u8; 32], scale: i8) -> String {
        let mut out = String::new();
        decimal(&mut out, &bytes, scale);
        out
    }

    #[test]
    fn scales() {
        for (value, scale, expected) in [
            (0, 0, "0"),
            (0, 2, "0.00"),
            (0, -3, "0"),
            (5, 2, "0.05"),
            (-5, 2, "-0.05"),
            (100, 2, "1.00"),
            (-12345, 3, "-12.345"),
            (-12345, -3, "-12345000"),
            (1, 38, "0.00000000000000000000000000000000000001"),
            (i128::MAX, 0, "170141183460469231731687303715884105727"),
            (i128::MIN, 4, "-17014118346046923173168730371588410.5728"),
        ] {
            assert_eq!(of_128(value, scale), expected);
        }
    }

    #[test]
    fn groups_of_digits_keep_their_zeros() {
        for exponent in 0..38 {
            let power = 10_i128.pow(exponent);
            assert_eq!(of_128(power, 0), power.to_string());
            assert_eq!(of_128(-power + 1, 0), (-power + 1).to_string());
        }
    }

    #[test]
    fn of_256_bits() {
        let mut least = [0; 32];
        least[31] = 0x80;
        assert_eq!(
            of_256(least, 0),
            "-57896044618658097711785492504343953926634992332820282019728792003956564819968"
        );
        assert_eq!(of_256([0xff; 32], 1), "-0.1");
        let mut power = [0; 32];
        power[16] = 1;
        assert_eq!(of_256(power, 0), "340282366920938463463374607431768211456");
    }
}

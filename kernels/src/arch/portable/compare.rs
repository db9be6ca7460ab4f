//! Comparisons of lanes as the compiler finds registers for them: to bytes of 0 or 1, which a product gathers.

use crate::compare::{Kernels, Lane, words, words_of_two};

/// The kernels of a width.
pub(crate) const fn table<L: Lane, const FLOAT: bool>() -> Kernels<L> {
    Kernels {
        within: |values, low, span, flip, mask| {
            words(values, flip, mask, |block| {
                pack(block.map(|value| key::<L, FLOAT>(value).wrapping_sub(low) <= span))
            });
        },
        equal: |left, right, flip, mask| {
            words_of_two(left, right, flip, mask, |left, right| {
                let equal = |i: usize| zero::<L, FLOAT>(left[i]) == zero::<L, FLOAT>(right[i]);
                pack(core::array::from_fn(equal))
            });
        },
        less: |left, right, bias, flip, mask| {
            // Unsigned order of what has its sign bit inverted is signed order.
            let bias = bias.xor(L::SIGN);
            words_of_two(left, right, flip, mask, |left, right| {
                let order = |value: L| match FLOAT {
                    true => key::<L, true>(zero::<L, true>(value)).xor(L::SIGN),
                    false => value.xor(bias),
                };
                pack(core::array::from_fn(|i| order(left[i]) < order(right[i])))
            });
        },
    }
}

#[inline(always)]
fn key<L: Lane, const FLOAT: bool>(value: L) -> L {
    if FLOAT { value.order() } else { value }
}

/// A float with −0 as +0.
#[inline(always)]
fn zero<L: Lane, const FLOAT: bool>(value: L) -> L {
    if FLOAT && value == L::SIGN { L::default() } else { value }
}

/// Bit `i` is `bits[i]`.
#[inline(always)]
fn pack(bits: [bool; 64]) -> u64 {
    let bytes = bits.map(u8::from);
    let mut word = 0;
    for (i, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        // Byte k is 1 << 8k if its bit is set; the product moves it to 56 + k, and nothing else there.
        let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word |= gathered << (8 * i);
    }
    word
}

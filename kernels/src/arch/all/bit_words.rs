//! [`BitWords`]: bits as words of 64, which every processor counts in few instructions, and most in one.

use super::measure::Vector;

/// Sixty-four bits.
#[derive(Clone, Copy)]
pub(crate) struct BitWords(u64);

/// Bytes of a word.
const BYTES: usize = size_of::<u64>();

impl Vector for BitWords {
    type Element = u8;
    type Sum = i32;
    type Total = i32;
    /// How many bytes a vector has, and how many of them follow its last whole word.
    type Tail = (usize, usize);
    const LANES: usize = BYTES;

    #[inline(always)]
    unsafe fn load(at: *const u8) -> Self {
        // SAFETY: the caller's promise; an array of bytes lies anywhere.
        Self(u64::from_le_bytes(unsafe { at.cast::<[u8; BYTES]>().read() }))
    }
    #[inline(always)]
    unsafe fn tail(dim: usize) -> (usize, usize) {
        (dim, dim % BYTES)
    }
    #[inline(always)]
    unsafe fn load_tail(vector: *const u8, (len, rest): (usize, usize)) -> Self {
        // SAFETY: the caller's promise: there are `len` bytes, and `rest` of them and less than a word are wanted. The last
        // word of a longer vector ends with them.
        unsafe {
            if len >= BYTES {
                return Self(Self::load(vector.add(len - BYTES)).0.unbounded_shr(8 * (BYTES - rest) as u32));
            }
            let mut bytes = [0; BYTES];
            for (i, byte) in bytes.iter_mut().enumerate().take(rest) {
                *byte = vector.add(len - rest + i).read();
            }
            Self(u64::from_le_bytes(bytes))
        }
    }
    #[inline(always)]
    unsafe fn zero() -> i32 {
        0
    }
    /// Bits that both have.
    #[inline(always)]
    unsafe fn add_product(sum: i32, a: Self, b: Self) -> i32 {
        sum.wrapping_add((a.0 & b.0).count_ones() as i32)
    }
    /// Bits that one of them has.
    #[inline(always)]
    unsafe fn add_difference(sum: i32, a: Self, b: Self) -> i32 {
        sum.wrapping_add((a.0 ^ b.0).count_ones() as i32)
    }
    #[inline(always)]
    unsafe fn merge(a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    unsafe fn totals<const R: usize>(sums: [i32; R]) -> [i32; R] {
        sums
    }
}

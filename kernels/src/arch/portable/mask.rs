//! Counts and positions of bits, one word at a time.

use crate::mask::{self, Kernels};
use alloc::vec::Vec;

pub(crate) static TABLE: Kernels = Kernels { count, positions };

/// As [`Kernels::count`]; inlined into functions of an instruction set, it is made of that.
#[inline(always)]
pub(crate) fn count(words: &[[u8; 8]]) -> u64 {
    words.iter().map(|&word| u64::from(u64::from_ne_bytes(word).count_ones())).sum()
}

fn positions(mask: &[u64], first: u32, out: &mut Vec<u32>) {
    out.extend(mask::ones(mask).map(|row| first + row as u32));
}

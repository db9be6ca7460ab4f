//! Counts and positions of bits, one word at a time, and bits by their positions.

use crate::mask::{self, Kernels};
use alloc::vec::Vec;

pub(crate) static TABLE: Kernels = Kernels { count, positions, gather };

/// As [`Kernels::count`]; inlined into functions of an instruction set, it is made of that.
#[inline(always)]
pub(crate) fn count(words: &[[u8; 8]]) -> u64 {
    words.iter().map(|&word| u64::from(u64::from_ne_bytes(word).count_ones())).sum()
}

fn positions(mask: &[u64], first: u32, out: &mut Vec<u32>) {
    out.extend(mask::ones(mask).map(|row| first + row as u32));
}

pub(crate) fn gather(mask: &[u64], positions: &[u64], out: &mut [u64]) {
    let bit = |position: u64| {
        let at = usize::try_from(position / 64).unwrap_or(usize::MAX);
        mask.get(at).map_or(0, |word| word >> (position % 64) & 1)
    };
    for (out, positions) in out.iter_mut().zip(positions.chunks(64)) {
        *out = positions.iter().zip(0..).fold(0, |word, (&position, i)| word | bit(position) << i);
    }
}

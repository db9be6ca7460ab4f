//! Tables of a byte for each byte, looked up for 64 bytes at once.

use crate::arch::all::prefetch;
use core::arch::x86_64::*;

/// A table of a byte for each byte.
pub(super) struct Lookup([__m512i; 4]);

impl Lookup {
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn new(table: &[u8; 256]) -> Self {
        // SAFETY: the arrays have as many bytes as are loaded.
        Lookup(
            [0, 1, 2, 3].map(|i| unsafe { _mm512_loadu_si512(table.as_chunks::<64>().0[i].as_ptr().cast()) }),
        )
    }

    /// What the table has for each byte.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(super) fn of(&self, bytes: __m512i) -> __m512i {
        let [a, b, c, d] = self.0;
        let low = _mm512_permutex2var_epi8(a, bytes, b);
        let high = _mm512_permutex2var_epi8(c, bytes, d);
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high)
    }
}

/// How far ahead memory is asked for: what is summed up was often not read before.
const AHEAD: usize = 2048;

/// The numbers that the bytes of `codes` have in `table`, summed up.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn sum(table: &[u8; 256], codes: &[u8]) -> usize {
    let numbers = Lookup::new(table);
    let mut sums = _mm512_setzero_si512();
    for step in codes.chunks(64) {
        prefetch::read(step.as_ptr().wrapping_add(AHEAD));
        let there = u64::MAX >> (64 - step.len());
        // SAFETY: as many bytes are loaded as the slice has.
        let found = numbers.of(unsafe { _mm512_maskz_loadu_epi8(there, step.as_ptr().cast()) });
        let found = _mm512_maskz_mov_epi8(there, found);
        sums = _mm512_add_epi64(sums, _mm512_sad_epu8(found, _mm512_setzero_si512()));
    }
    _mm512_reduce_add_epi64(sums).cast_unsigned() as usize
}

#[cfg(test)]
mod tests {
    use super::super::Squeeze;
    use crate::random::{Random, rounds};

    #[test]
    fn sums_as_without_instruction_sets() {
        let Some(squeeze) = Squeeze::in_use() else { return };
        let mut random = Random(13);
        for len in 0..rounds(400) {
            let table: [u8; 256] = core::array::from_fn(|_| random.word() as u8);
            let codes = random.bytes(len);
            let expected: usize = codes.iter().map(|&code| table[code as usize] as usize).sum();
            assert_eq!(squeeze.sum(&table, &codes), expected);
        }
    }
}

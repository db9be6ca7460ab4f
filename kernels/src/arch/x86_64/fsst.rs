//! Lengths of FSST symbols, looked up for 64 codes at once, with AVX-512 VBMI.

use crate::isa::{Extensions, Isa};
use core::arch::x86_64::*;

/// Whether the instruction set in use has what the functions below need: AVX-512 F and BW, and VBMI.
pub(crate) fn is_usable() -> bool {
    Isa::current() == Isa::Avx512 && Extensions::available().vbmi
}

/// The numbers that the bytes of `codes` have in `table`, summed up; only where it [`is_usable`].
pub(crate) fn sum(table: &[u8; 256], codes: &[u8]) -> usize {
    assert!(is_usable());
    // SAFETY: the machine has the instruction set in use, and VBMI.
    unsafe { sum_vbmi(table, codes) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn sum_vbmi(table: &[u8; 256], codes: &[u8]) -> usize {
    let load = |bytes: &[u8; 64]| {
        // SAFETY: the array has as many bytes as are loaded.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    };
    let [a, b, c, d] = [0, 1, 2, 3].map(|quarter| load(&table.as_chunks().0[quarter]));
    let (steps, rest) = codes.as_chunks::<64>();
    let mut sums = _mm512_setzero_si512();
    for step in steps {
        let codes = load(step);
        let low = _mm512_permutex2var_epi8(a, codes, b);
        let high = _mm512_permutex2var_epi8(c, codes, d);
        let found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(codes), low, high);
        sums = _mm512_add_epi64(sums, _mm512_sad_epu8(found, _mm512_setzero_si512()));
    }
    let rest: usize = rest.iter().map(|&code| table[code as usize] as usize).sum();
    _mm512_reduce_add_epi64(sums).cast_unsigned() as usize + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, rounds};

    #[test]
    fn sums_as_without_instruction_sets() {
        if !Isa::Avx512.is_available() || !Extensions::available().vbmi {
            return;
        }
        let mut random = Random(13);
        for len in 0..rounds(400) {
            let table: [u8; 256] = core::array::from_fn(|_| random.word() as u8);
            let codes = random.bytes(len);
            let expected: usize = codes.iter().map(|&code| table[code as usize] as usize).sum();
            // SAFETY: the machine has the instruction sets.
            assert_eq!(unsafe { sum_vbmi(&table, &codes) }, expected);
        }
    }
}

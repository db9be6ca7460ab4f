//! FSST symbols with AVX-512: lengths looked up for 64 codes at once (VBMI), eight symbols fetched at once, and the
//! bytes that they do not use squeezed out (VBMI2).

use crate::{
    fsst::{Block, Symbols},
    isa::{Extensions, Isa},
};
use core::arch::x86_64::*;

/// Whether the instruction set in use has what the functions below need: AVX-512 F and BW, VBMI and VBMI2.
pub(crate) fn is_usable() -> bool {
    Isa::current() == Isa::Avx512 && {
        let found = Extensions::available();
        found.vbmi && found.vbmi2
    }
}

/// Decodes `codes`, at most as many as a block has, to `out`, and sets the lengths, literals and places of `block`; bit
/// 0 of its literals says whether the first code is one. Returns the bytes written; `None` if a code has no symbol or
/// there is no room. Only where it [`is_usable`].
pub(crate) fn decode(symbols: &Symbols, codes: &[u8], block: &mut Block, out: &mut [u8]) -> Option<usize> {
    assert!(is_usable());
    // SAFETY: the machine has the instruction set in use, and VBMI and VBMI2.
    unsafe { decode_vbmi2(symbols, codes, block, out) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2")]
fn decode_vbmi2(symbols: &Symbols, codes: &[u8], block: &mut Block, out: &mut [u8]) -> Option<usize> {
    /// By length: as many bits.
    const ONES: [u8; 16] = [0, 1, 3, 7, 15, 31, 63, 127, 255, 0, 0, 0, 0, 0, 0, 0];
    let table = Lookup::new(&symbols.lengths);
    // SAFETY: the array has as many bytes as are loaded.
    let ones = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(ONES.as_ptr().cast()) });
    let mut inside = block.literals[0] & 1;
    let mut at = 0;
    for (step, step_codes) in codes.chunks(64).enumerate() {
        let there = u64::MAX >> (64 - step_codes.len());
        // SAFETY: as many bytes are loaded as the slice has.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(there, step_codes.as_ptr().cast()) };
        let found = table.of(bytes);
        let none = _mm512_movepi8_mask(found);
        let mut literals = inside;
        inside = 0;
        let mut escapes = 0;
        if none | literals != 0 {
            let mut left = _mm512_mask_cmpeq_epi8_mask(there, bytes, _mm512_set1_epi8(-1)) & !literals;
            while left != 0 {
                let escape = left & left.wrapping_neg();
                escapes |= escape;
                literals |= escape << 1;
                left &= !(escape | escape << 1);
            }
            inside = escapes >> 63;
            if none & there & !(escapes | literals) != 0 {
                return None;
            }
        }
        let found = _mm512_maskz_mov_epi8(there & !escapes, found);
        let found = _mm512_mask_mov_epi8(found, literals & there, _mm512_set1_epi8(1));
        block.literals[step] = literals;
        let (mut masks, mut padded) = ([0u64; 8], [0u64; 8]);
        let places = &mut block.places[step * 8..];
        store(&mut masks, _mm512_shuffle_epi8(ones, found));
        store(&mut padded, bytes);
        let lengths = &mut block.lengths[step * 64..][..step_codes.len().next_multiple_of(8)];
        // SAFETY: as many bytes are stored as the slice has, which are at most 64.
        unsafe {
            _mm512_mask_storeu_epi8(lengths.as_mut_ptr().cast(), u64::MAX >> (64 - lengths.len()), found)
        };
        for (group, place) in places.iter_mut().enumerate().take(step_codes.len().div_ceil(8)) {
            *place = at as u16;
            let mask = masks[group];
            let codes = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(padded[group].cast_signed()));
            let coded = !(literals >> (8 * group)) as __mmask8;
            // SAFETY: the table has a symbol for each of the codes, which are bytes.
            let eight = unsafe {
                _mm512_mask_i64gather_epi64::<8>(codes, coded, codes, symbols.symbols.as_ptr().cast())
            };
            let text = _mm512_maskz_compress_epi8(mask, eight);
            let len = mask.count_ones() as usize;
            let room = out.get_mut(at..)?;
            if let Some(room) = room.first_chunk_mut::<64>() {
                // SAFETY: the array has as many bytes as are stored.
                unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), text) };
            } else {
                let room = room.get_mut(..len)?;
                // SAFETY: no more bytes are stored than the slice has, which are fewer than 64.
                unsafe { _mm512_mask_storeu_epi8(room.as_mut_ptr().cast(), (1 << len) - 1, text) };
            }
            at += len;
        }
    }
    let (words, bits) = (codes.len() / 64, codes.len() % 64);
    if bits == 0 {
        block.literals[words] = inside;
    }
    if codes.len().is_multiple_of(8) {
        block.places[codes.len() / 8] = at as u16;
    }
    Some(at)
}

/// Stores a register of 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(words: &mut [u64; 8], register: __m512i) {
    // SAFETY: the array has as many bytes as are stored.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), register) }
}

/// A table of a byte for each byte.
struct Lookup([__m512i; 4]);

impl Lookup {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(table: &[u8; 256]) -> Self {
        // SAFETY: the arrays have as many bytes as are loaded.
        Lookup(
            [0, 1, 2, 3].map(|i| unsafe { _mm512_loadu_si512(table.as_chunks::<64>().0[i].as_ptr().cast()) }),
        )
    }

    /// What the table has for each byte.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn of(&self, bytes: __m512i) -> __m512i {
        let [a, b, c, d] = self.0;
        let low = _mm512_permutex2var_epi8(a, bytes, b);
        let high = _mm512_permutex2var_epi8(c, bytes, d);
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high)
    }
}

/// The numbers that the bytes of `codes` have in `table`, summed up; only where it [`is_usable`].
pub(crate) fn sum(table: &[u8; 256], codes: &[u8]) -> usize {
    assert!(is_usable());
    // SAFETY: the machine has the instruction set in use, and VBMI.
    unsafe { sum_vbmi(table, codes) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn sum_vbmi(table: &[u8; 256], codes: &[u8]) -> usize {
    let numbers = Lookup::new(table);
    let (steps, rest) = codes.as_chunks::<64>();
    let mut sums = _mm512_setzero_si512();
    for step in steps {
        // SAFETY: the array has as many bytes as are loaded.
        let found = numbers.of(unsafe { _mm512_loadu_si512(step.as_ptr().cast()) });
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

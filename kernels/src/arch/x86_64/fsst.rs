//! FSST symbols with AVX-512: lengths looked up for 64 codes at once (VBMI), eight symbols fetched at once, and the
//! bytes that they do not use squeezed out (VBMI2).

use crate::{
    fsst::{Block, LITERAL, Symbols},
    isa::{Extensions, Isa},
};
use core::arch::x86_64::*;

/// What the functions below need: AVX-512 F and BW, VBMI and VBMI2. There is one only where the machine has them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Squeeze(());

impl Squeeze {
    /// If the instruction set in use is AVX-512 and the machine has the others.
    pub(crate) fn in_use() -> Option<Self> {
        let found = Extensions::available();
        (Isa::current() == Isa::Avx512 && found.vbmi && found.vbmi2).then_some(Squeeze(()))
    }

    /// Decodes `codes`, at most as many as a block has, to `out`, and sets the starts and places of `block`. Returns the
    /// bytes written; `None` if a code has no symbol or there is no room.
    pub(crate) fn decode(
        self,
        symbols: &Symbols,
        codes: &[u8],
        block: &mut Block,
        out: &mut [u8],
    ) -> Option<usize> {
        // SAFETY: the machine has what is needed, or there would be no `self`.
        unsafe { decode(symbols, codes, block, out) }
    }

    /// The numbers that the bytes of `codes` have in `table`, summed up.
    pub(crate) fn sum(self, table: &[u8; 256], codes: &[u8]) -> usize {
        // SAFETY: as above.
        unsafe { sum(table, codes) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2")]
fn decode(symbols: &Symbols, codes: &[u8], block: &mut Block, out: &mut [u8]) -> Option<usize> {
    // By group of eight codes: which bytes of their symbols are text, and which codes are bytes behind an escape.
    let (mut masks, mut literals) = ([0; Block::CODES / 8], [0; Block::CODES / 8]);
    measure(symbols, codes, block, &mut masks, &mut literals)?;
    let (groups, rest) = codes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut at = 0;
    let codes = groups.iter().chain([&last]).zip(&mut block.places);
    for ((&codes, place), (&mask, &literals)) in codes.zip(masks.iter().zip(&literals)) {
        *place = at as u16;
        let codes = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(i64::from_le_bytes(codes)));
        // SAFETY: the table has a symbol for each of the codes, which are bytes.
        let eight = unsafe {
            _mm512_mask_i64gather_epi64::<8>(codes, !literals, codes, symbols.symbols.as_ptr().cast())
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
    // Behind a full block there is no last group.
    block.places[Block::CODES / 8] = at as u16;
    Some(at)
}

/// Finds out which bytes of symbols are text, which codes are bytes behind an escape, and where in its group of eight
/// each code begins. `None` if one has no symbol.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2")]
fn measure(
    symbols: &Symbols,
    codes: &[u8],
    block: &mut Block,
    masks: &mut [u64; Block::CODES / 8],
    literals: &mut [u8; Block::CODES / 8],
) -> Option<()> {
    /// By length: as many bits.
    const ONES: [u8; 16] = [0, 1, 3, 7, 15, 31, 63, 127, 255, 0, 0, 0, 0, 0, 0, 0];
    let table = Lookup::new(&symbols.lengths);
    // SAFETY: the array has as many bytes as are loaded.
    let ones = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(ONES.as_ptr().cast()) });
    let steps = masks.as_chunks_mut::<8>().0.iter_mut().zip(literals.as_chunks_mut::<8>().0);
    let steps = steps.zip(block.starts.as_chunks_mut::<64>().0);
    for (codes, ((masks, literals), starts)) in codes.chunks(64).zip(steps) {
        let there = u64::MAX >> (64 - codes.len());
        // SAFETY: as many bytes are loaded as the slice has.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(there, codes.as_ptr().cast()) };
        let lengths = table.of(bytes);
        let none = _mm512_movepi8_mask(lengths) & there;
        let (mut escapes, mut behind) = (0, block.inside as u64);
        if none | behind != 0 {
            let mut left = _mm512_mask_cmpeq_epi8_mask(there, bytes, _mm512_set1_epi8(-1)) & !behind;
            while left != 0 {
                let escape = left & left.wrapping_neg();
                escapes |= escape;
                behind |= escape << 1;
                left &= !(escape | escape << 1);
            }
            block.inside = escapes >> (codes.len() - 1) != 0;
            if none & !(escapes | behind) != 0 {
                return None;
            }
        }
        let lengths = _mm512_maskz_mov_epi8(there & !escapes, lengths);
        let lengths = _mm512_mask_mov_epi8(lengths, behind & there, _mm512_set1_epi8(1));
        // Sums of the lengths before each, within eight.
        let sums = _mm512_slli_epi64::<8>(lengths);
        let sums = _mm512_add_epi8(sums, _mm512_slli_epi64::<8>(sums));
        let sums = _mm512_add_epi8(sums, _mm512_slli_epi64::<16>(sums));
        let sums = _mm512_add_epi8(sums, _mm512_slli_epi64::<32>(sums));
        let sums = _mm512_mask_add_epi8(sums, behind, sums, _mm512_set1_epi8(LITERAL.cast_signed()));
        // SAFETY: the arrays have as many bytes as are stored.
        unsafe {
            _mm512_storeu_si512(starts.as_mut_ptr().cast(), sums);
            _mm512_storeu_si512(masks.as_mut_ptr().cast(), _mm512_shuffle_epi8(ones, lengths));
        }
        *literals = behind.to_le_bytes();
    }
    if codes.len().is_multiple_of(64) {
        block.starts[codes.len()] = if block.inside { LITERAL } else { 0 };
    }
    Some(())
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

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn sum(table: &[u8; 256], codes: &[u8]) -> usize {
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

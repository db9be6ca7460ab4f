//! Symbols of up to eight bytes: lengths looked up for 64 codes at once, then the symbols of eight fetched together.

use super::{Escapes, close, lookup::Lookup, starts, store};
use crate::fsst::{Block, Symbols};
use core::arch::x86_64::*;

/// See [`super::Squeeze::decode`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2")]
pub(super) fn decode(symbols: &Symbols, codes: &[u8], block: &mut Block, out: &mut [u8]) -> Option<usize> {
    // By group of eight codes: which bytes of their symbols are text, and which codes are bytes behind an escape.
    let (mut masks, mut literals) = ([0; Block::CODES / 8], [0; Block::CODES / 8]);
    measure(symbols, codes, block, &mut masks, &mut literals)?;
    let (groups, rest) = codes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mut at = 0;
    let steps = groups.iter().chain([&last]).zip(&mut block.places);
    for ((&codes, place), (&mask, &literals)) in steps.zip(masks.iter().zip(&literals)) {
        *place = at as u16;
        let codes = _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(i64::from_le_bytes(codes)));
        // SAFETY: the table has a symbol for each of the codes, which are bytes.
        let eight = unsafe {
            _mm512_mask_i64gather_epi64::<8>(codes, !literals, codes, symbols.symbols.as_ptr().cast())
        };
        let text = _mm512_maskz_compress_epi8(mask, eight);
        let len = mask.count_ones() as usize;
        store(text, len, out, at)?;
        at += len;
    }
    close(block, codes.len(), at);
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
    for (codes, ((masks, literals), starts_of)) in codes.chunks(64).zip(steps) {
        let there = u64::MAX >> (64 - codes.len());
        // SAFETY: as many bytes are loaded as the slice has.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(there, codes.as_ptr().cast()) };
        let lengths = table.of(bytes);
        let none = _mm512_movepi8_mask(lengths) & there;
        let found = Escapes::of(bytes, there, block.inside);
        block.inside = found.inside(codes.len());
        if none & !(found.escapes | found.behind) != 0 {
            return None;
        }
        let lengths = _mm512_maskz_mov_epi8(there & !found.escapes, lengths);
        let lengths = _mm512_mask_mov_epi8(lengths, found.behind & there, _mm512_set1_epi8(1));
        // SAFETY: the arrays have as many bytes as are stored.
        unsafe {
            _mm512_storeu_si512(starts_of.as_mut_ptr().cast(), starts(lengths, found.behind));
            _mm512_storeu_si512(masks.as_mut_ptr().cast(), _mm512_shuffle_epi8(ones, lengths));
        }
        *literals = found.behind.to_le_bytes();
    }
    Some(())
}

//! Symbols of at most two bytes, as short words and letters at random have them: registers hold both bytes of all.
//!
//! ```text
//! codes           c0    c1    c2    …  c63       64
//! first, second   f0 s0 f1 s1 f2 s2 …  f63 s63   looked up, and put side by side: 128
//! kept             1  1  1  0  0  0      1   1   no second byte for symbols of one, and nothing for escapes
//! text            f0 s0 f1 …
//! ```

use super::{Escapes, close, lookup::Lookup, starts, store};
use crate::fsst::{Block, NONE};
use core::arch::x86_64::*;

/// What codes stand for, if it is at most two bytes for each.
#[derive(Clone)]
pub(crate) struct Pairs {
    first: [u8; 256],
    second: [u8; 256],
    /// The second byte of a symbol of one; no other symbol has it.
    none: u8,
    /// How many codes have a symbol: the lowest ones.
    count: u8,
}

impl Pairs {
    /// The symbols of `symbols` and their lengths, by code. Codes without a symbol are the highest.
    pub(crate) fn of(symbols: &[u64; 256], lengths: &[u8; 256]) -> Option<Self> {
        let count = lengths.iter().position(|&length| length == NONE)?;
        if lengths[..count].iter().any(|&length| length > 2) {
            return None;
        }
        let mut is_used = [false; 256];
        for (symbol, _) in symbols.iter().zip(lengths).filter(|(_, length)| **length == 2) {
            is_used[symbol.to_le_bytes()[1] as usize] = true;
        }
        // There are 255 symbols at the most.
        let none = is_used.iter().position(|is_used| !is_used)? as u8;
        let second = |code: usize| if lengths[code] == 2 { symbols[code].to_le_bytes()[1] } else { none };
        Some(Pairs {
            first: core::array::from_fn(|code| symbols[code].to_le_bytes()[0]),
            second: core::array::from_fn(second),
            none,
            count: count as u8,
        })
    }
}

/// See [`super::Squeeze::decode_pairs`].
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2")]
pub(super) fn decode(pairs: &Pairs, codes: &[u8], block: &mut Block, out: &mut [u8]) -> Option<usize> {
    let (first, second) = (Lookup::new(&pairs.first), Lookup::new(&pairs.second));
    let none = _mm512_set1_epi8(pairs.none.cast_signed());
    let count = _mm512_set1_epi8(pairs.count.cast_signed());
    let (one, two) = (_mm512_set1_epi8(1), _mm512_set1_epi8(2));
    // What is put side by side is so within 16 bytes: 32 codes and 32 others, in this order.
    let low_half = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let high_half = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    let mut at = 0;
    let steps = block.starts.as_chunks_mut::<64>().0.iter_mut().zip(block.places.as_chunks_mut::<8>().0);
    for (codes, (starts_of, places)) in codes.chunks(64).zip(steps) {
        let there = u64::MAX >> (64 - codes.len());
        // SAFETY: as many bytes are loaded as the slice has.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(there, codes.as_ptr().cast()) };
        let missing = _mm512_mask_cmpge_epu8_mask(there, bytes, count);
        let (mut firsts, seconds) = (first.of(bytes), second.of(bytes));
        let mut kept = there;
        let mut longer = _mm512_mask_cmpneq_epi8_mask(there, seconds, none);
        let mut behind = 0;
        if missing != 0 || block.inside {
            let found = Escapes::of(bytes, there, block.inside);
            block.inside = found.inside(codes.len());
            if missing & !(found.escapes | found.behind) != 0 {
                return None;
            }
            behind = found.behind;
            firsts = _mm512_mask_mov_epi8(firsts, behind, bytes);
            kept &= !found.escapes;
            longer &= !behind;
        }
        let lengths = _mm512_mask_mov_epi8(_mm512_maskz_mov_epi8(kept, one), longer, two);
        // The bytes of each eight codes are 16 at the most, so that the sums of all are bytes, too.
        let eights = _mm512_cvtepi64_epi8(_mm512_sad_epu8(lengths, _mm512_setzero_si512()));
        let sums = _mm_cvtsi128_si64(eights).cast_unsigned().wrapping_mul(u64::MAX / 255);
        let before = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((sums << 8).cast_signed()));
        let before = _mm_add_epi16(before, _mm_set1_epi16(at as i16));
        // SAFETY: the arrays have as many bytes as are stored.
        unsafe {
            _mm512_storeu_si512(starts_of.as_mut_ptr().cast(), starts(lengths, behind));
            _mm_storeu_si128(places.as_mut_ptr().cast(), before);
        }
        let (low, high) = (_mm512_unpacklo_epi8(firsts, seconds), _mm512_unpackhi_epi8(firsts, seconds));
        let middle = at + (sums >> 24 & 0xff) as usize;
        let text = _mm512_permutex2var_epi64(low, low_half, high);
        store(_mm512_maskz_compress_epi8(zipped(kept, longer), text), middle - at, out, at)?;
        let text = _mm512_permutex2var_epi64(low, high_half, high);
        at += (sums >> 56) as usize;
        let kept = zipped(kept >> 32, longer >> 32);
        store(_mm512_maskz_compress_epi8(kept, text), at - middle, out, middle)?;
    }
    close(block, codes.len(), at);
    Some(at)
}

/// The low 32 bits of both, one of `even` and one of `odd` in turn.
#[inline]
#[target_feature(enable = "bmi2")]
fn zipped(even: u64, odd: u64) -> u64 {
    _pdep_u64(even, u64::MAX / 3) | _pdep_u64(odd, (u64::MAX / 3) << 1)
}

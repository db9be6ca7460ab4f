//! FSST symbols with AVX-512.
//!
//! ```text
//! pairs    symbols of at most two bytes: both bytes looked up for 64 codes at once (VBMI)
//! eights   symbols of up to eight: eight symbols fetched at once
//! lookup   tables of a byte for each byte, in registers
//! ```
//! Either way the bytes that symbols do not use are squeezed out (VBMI2).

mod eights;
mod lookup;
mod pairs;

use crate::{
    fsst::{Block, ESCAPE, LITERAL, Symbols},
    isa::{Extensions, Isa},
};
use core::arch::x86_64::*;
pub(crate) use pairs::Pairs;

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
        unsafe { eights::decode(symbols, codes, block, out) }
    }

    /// As [`Squeeze::decode`], with symbols of at most two bytes.
    pub(crate) fn decode_pairs(
        self,
        pairs: &Pairs,
        codes: &[u8],
        block: &mut Block,
        out: &mut [u8],
    ) -> Option<usize> {
        // SAFETY: as above.
        unsafe { pairs::decode(pairs, codes, block, out) }
    }

    /// The numbers that the bytes of `codes` have in `table`, summed up.
    pub(crate) fn sum(self, table: &[u8; 256], codes: &[u8]) -> usize {
        // SAFETY: as above.
        unsafe { lookup::sum(table, codes) }
    }
}

/// Of the next 64 codes: which are escapes, and which are bytes behind one, the code behind the last one too.
struct Escapes {
    escapes: u64,
    behind: u64,
}

impl Escapes {
    /// Of the codes of `bytes` that are `there`, the first of which is behind an escape if `inside`. An escape may stand
    /// behind another: then it is a byte. So in a run of them every other one is an escape, from the first on.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn of(bytes: __m512i, there: u64, inside: bool) -> Self {
        const EVEN: u64 = u64::MAX / 3;
        let all = _mm512_mask_cmpeq_epi8_mask(there, bytes, _mm512_set1_epi8(ESCAPE.cast_signed()));
        let all = all & !u64::from(inside);
        let firsts = all & !(all << 1);
        // What is added at the start of a run goes through all of it.
        let even = all & !all.wrapping_add(firsts & EVEN);
        let escapes = even & EVEN | all & !even & !EVEN;
        Escapes { escapes, behind: escapes << 1 | u64::from(inside) }
    }

    /// Whether the last of `count` codes is an escape.
    fn inside(&self, count: usize) -> bool {
        self.escapes >> (count - 1) & 1 == 1
    }
}

/// Where each code begins within its eight, by the bytes that each of 64 stands for, with [`LITERAL`] for those
/// `behind` an escape.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn starts(lengths: __m512i, behind: u64) -> __m512i {
    let sums = _mm512_slli_epi64::<8>(lengths);
    let sums = _mm512_add_epi8(sums, _mm512_slli_epi64::<8>(sums));
    let sums = _mm512_add_epi8(sums, _mm512_slli_epi64::<16>(sums));
    let sums = _mm512_add_epi8(sums, _mm512_slli_epi64::<32>(sums));
    _mm512_mask_add_epi8(sums, behind, sums, _mm512_set1_epi8(LITERAL.cast_signed()))
}

/// Says where the code behind the `count` of `block` begins, `at` bytes behind the first, if they fill all steps of 64.
fn close(block: &mut Block, count: usize, at: usize) {
    if count.is_multiple_of(64) {
        block.starts[count] = if block.inside { LITERAL } else { 0 };
        block.places[count / 8] = at as u16;
    }
}

/// Writes the first `len` bytes of `text` to `out` from `at` on, and maybe others behind them; `None` if there is no
/// room.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn store(text: __m512i, len: usize, out: &mut [u8], at: usize) -> Option<()> {
    let room = out.get_mut(at..)?;
    if let Some(room) = room.first_chunk_mut::<64>() {
        // SAFETY: the array has as many bytes as are stored.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), text) };
    } else {
        let room = room.get_mut(..len)?;
        // SAFETY: no more bytes are stored than the slice has, which are fewer than 64.
        unsafe { _mm512_mask_storeu_epi8(room.as_mut_ptr().cast(), (1 << len) - 1, text) };
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes one after the other, against 64 at once.
    #[test]
    fn escapes_of_escapes() {
        if Squeeze::in_use().is_none() {
            return;
        }
        let mut random = crate::random::Random(17);
        for round in 0..crate::random::rounds(4000) {
            let marks =
                [random.word() & random.word(), random.word(), random.word() | random.word()][round % 3];
            let there = u64::MAX >> random.below(64);
            let inside = random.below(2) == 1;
            let codes: [u8; 64] =
                core::array::from_fn(|i| if marks >> i & 1 == 1 { ESCAPE } else { i as u8 });
            let (mut escapes, mut behind, mut is_behind) = (0, 0, inside);
            for (i, &code) in codes.iter().enumerate().filter(|(i, _)| there >> i & 1 == 1) {
                behind |= u64::from(is_behind) << i;
                is_behind = code == ESCAPE && !is_behind;
                escapes |= u64::from(is_behind) << i;
            }
            // SAFETY: the machine has AVX-512, and the array has as many bytes as are loaded.
            let found = unsafe { Escapes::of(_mm512_loadu_si512(codes.as_ptr().cast()), there, inside) };
            assert_eq!(
                (found.escapes, found.behind & there),
                (escapes, behind),
                "{marks:x} {there:x} {inside}"
            );
            assert_eq!(found.inside(there.count_ones() as usize), is_behind);
        }
    }
}

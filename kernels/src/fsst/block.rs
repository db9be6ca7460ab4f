//! Codes in a row, whatever string they belong to, decoded some hundreds at a time.
//!
//! ```text
//! codes      7   255  120  3   3  …      7 stands for "http://w", 3 for "ww."; 120 is a byte behind an escape
//! lengths    8   0    1    3   3  …      bytes that each stands for
//! literals   0   0    1    0   0  …      a bit each
//! places     0, …                        where every eighth begins
//! ```
//! Strings are short, and loops over each would end where the processor does not expect it. So the codes of all strings
//! are decoded first, and where one ends is then found from the places and lengths, without a branch.

use super::{ESCAPE, NONE, Symbols};
#[cfg(target_arch = "x86_64")]
use crate::arch::x86_64::fsst as x86_64;

/// Codes that are decoded together, and where what they stand for begins.
pub(crate) struct Block {
    /// The first code, and the one behind the last.
    start: usize,
    pub(super) end: usize,
    /// Where the first begins in what is decoded.
    at: usize,
    /// Of each code; 0 for an escape and behind the last.
    pub(crate) lengths: [u8; Block::CODES + 8],
    /// 64 to a word, the first lowest: which are bytes behind an escape. The one behind the last counts, too.
    pub(crate) literals: [u64; Block::CODES / 64 + 1],
    /// Where every eighth begins, counted from `at`.
    pub(crate) places: [u16; Block::CODES / 8 + 1],
}

impl Block {
    pub(crate) const CODES: usize = 512;

    /// No codes, at the beginning of a string.
    pub(super) fn new() -> Self {
        Block {
            start: 0,
            end: 0,
            at: 0,
            lengths: [0; Block::CODES + 8],
            literals: [0; Block::CODES / 64 + 1],
            places: [0; Block::CODES / 8 + 1],
        }
    }

    /// Whether code `i` of the block is a byte behind an escape.
    #[inline(always)]
    pub(crate) fn is_literal(&self, i: usize) -> bool {
        self.literals[i / 64] >> (i % 64) & 1 != 0
    }

    /// Where what stands before code `end`, which is in the block or behind its last, ends; `None` if that is behind
    /// an escape.
    #[inline(always)]
    pub(super) fn place(&self, end: usize) -> Option<usize> {
        let i = end - self.start;
        let eight = u64::from_le_bytes(self.lengths.as_chunks().0[i / 8]);
        let before = eight & ((1 << (i % 8 * 8)) - 1);
        // The lengths are summed up in the highest byte: seven are 56 at the most.
        let before = before.wrapping_mul(0x0101_0101_0101_0101) >> 56;
        let place = self.at + self.places[i / 8] as usize + before as usize;
        (!self.is_literal(i)).then_some(place)
    }

    /// Decodes the next codes to `out` from `at` on. Returns the end in `out`; `None` if a code has no symbol or there
    /// is no room, or if the last of all codes is an escape.
    pub(super) fn decode_next(
        &mut self,
        symbols: &Symbols,
        codes: &[u8],
        at: usize,
        out: &mut [u8],
    ) -> Option<usize> {
        let inside = self.is_literal(self.end - self.start);
        (self.start, self.at) = (self.end, at);
        self.end += Block::CODES.min(codes.len() - self.start);
        let now = &codes[self.start..self.end];
        self.literals[now.len() / 64] = 0;
        self.literals[0] = inside as u64;
        let out = out.get_mut(at..)?;
        #[cfg(target_arch = "x86_64")]
        let len = if x86_64::is_usable() {
            x86_64::decode(symbols, now, self, out)?
        } else {
            self.decode_portably(symbols, now, out)?
        };
        #[cfg(not(target_arch = "x86_64"))]
        let len = self.decode_portably(symbols, now, out)?;
        (self.end < codes.len() || !self.is_literal(now.len())).then_some(at + len)
    }

    pub(super) fn decode_portably(
        &mut self,
        symbols: &Symbols,
        codes: &[u8],
        out: &mut [u8],
    ) -> Option<usize> {
        let mut inside = self.literals[0] & 1 != 0;
        self.literals[..=codes.len() / 64].fill(0);
        let (groups, rest) = codes.as_chunks::<8>();
        let mut at = 0;
        for (group, codes) in groups.iter().enumerate() {
            self.places[group] = at as u16;
            let room = out.get_mut(at..).and_then(|out| out.first_chunk_mut());
            let fast =
                room.filter(|_| !inside).and_then(|room| self.decode_eight(symbols, codes, group, room));
            match fast {
                Some(len) => at += len,
                None => self.decode_slowly(symbols, codes, group * 8, &mut at, &mut inside, out)?,
            }
        }
        self.places[groups.len()] = at as u16;
        self.decode_slowly(symbols, rest, groups.len() * 8, &mut at, &mut inside, out)?;
        if inside {
            self.literals[codes.len() / 64] |= 1 << (codes.len() % 64);
        }
        Some(at)
    }

    /// Decodes group `group` of eight codes. Returns the bytes written; `None` if one of them has no symbol.
    #[inline(always)]
    fn decode_eight(
        &mut self,
        symbols: &Symbols,
        codes: &[u8; 8],
        group: usize,
        room: &mut [u8; 72],
    ) -> Option<usize> {
        let lengths = &mut self.lengths.as_chunks_mut::<8>().0[group];
        let (mut at, mut none) = (0, 0);
        for (&code, length) in codes.iter().zip(lengths) {
            *length = symbols.lengths[code as usize];
            none |= *length;
            // Seven lengths are 56 at the most: the mask changes nothing, but no check is needed.
            let start = at & 63;
            room[start..start + 8].copy_from_slice(&symbols.symbols[code as usize].to_le_bytes());
            at += *length as usize;
        }
        (none < NONE).then_some(at)
    }

    /// Decodes up to eight codes, of which `first` is the first in the block, one by one.
    fn decode_slowly(
        &mut self,
        symbols: &Symbols,
        codes: &[u8],
        first: usize,
        at: &mut usize,
        inside: &mut bool,
        out: &mut [u8],
    ) -> Option<()> {
        let mut lengths = [0; 8];
        for (i, &code) in codes.iter().enumerate() {
            let length = match symbols.lengths[code as usize] {
                _ if *inside => {
                    *out.get_mut(*at)? = code;
                    self.literals[(first + i) / 64] |= 1 << ((first + i) % 64);
                    *inside = false;
                    1
                }
                NONE if code == ESCAPE => {
                    *inside = true;
                    0
                }
                NONE => return None,
                length => {
                    let symbol = symbols.symbols[code as usize].to_le_bytes();
                    out.get_mut(*at..)?
                        .get_mut(..length as usize)?
                        .copy_from_slice(&symbol[..length as usize]);
                    length
                }
            };
            lengths[i] = length;
            *at += length as usize;
        }
        self.lengths.as_chunks_mut().0[first / 8] = lengths;
        Some(())
    }
}

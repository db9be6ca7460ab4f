//! Codes in a row, whatever string they belong to, decoded some hundreds at a time.
//!
//! ```text
//! codes    7   255  120       3   3   …     7 stands for "http://w", 3 for "ww."; 120 is a byte behind an escape
//! starts   0   8    8 | 128   9   12  …     where each begins, counted from the first of eight; 128 marks the byte
//! places   0, …                             where every eighth begins
//! ```
//! Strings are short, and loops over each would end where the processor does not expect it. So the codes of all strings
//! are decoded first, and where one ends is then looked up.

use super::{ESCAPE, NONE, Symbols};

/// Codes that are decoded together, and where what they stand for begins.
pub(crate) struct Block {
    /// The first code, and the one behind the last.
    first: usize,
    pub(super) end: usize,
    /// Where the first begins in what is decoded.
    at: usize,
    /// Whether the last is an escape.
    pub(crate) inside: bool,
    /// Where each begins, counted from the first of its eight, with [`LITERAL`] for a byte behind an escape. The one
    /// behind the last has a place, too.
    pub(crate) starts: [u8; Block::CODES + 8],
    /// Where every eighth begins, counted from `at`.
    pub(crate) places: [u16; Block::CODES / 8 + 1],
}

/// Marks what begins behind an escape: seven codes before it stand for 56 bytes at the most.
pub(crate) const LITERAL: u8 = 0x80;

impl Block {
    pub(crate) const CODES: usize = 512;

    /// No codes, at the beginning of a string.
    pub(super) fn new() -> Self {
        Block {
            first: 0,
            end: 0,
            at: 0,
            inside: false,
            starts: [0; Block::CODES + 8],
            places: [0; Block::CODES / 8 + 1],
        }
    }

    /// Where what stands before code `end`, which is in the block or behind its last, ends; `None` if that is behind
    /// an escape.
    #[inline(always)]
    pub(super) fn place(&self, end: usize) -> Option<usize> {
        let i = end - self.first;
        let (place, start) = (self.places[i / 8], self.starts[i]);
        (start < LITERAL).then_some(self.at + place as usize + start as usize)
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
        (self.first, self.at) = (self.end, at);
        self.end += Block::CODES.min(codes.len() - self.first);
        let now = &codes[self.first..self.end];
        let out = out.get_mut(at..)?;
        let len = self.decode(symbols, now, out)?;
        (self.end < codes.len() || !self.inside).then_some(at + len)
    }

    /// Decodes `codes`, at most as many as a block has, to `out`, and sets starts and places. Returns the bytes written;
    /// `None` if a code has no symbol or there is no room.
    pub(super) fn decode(&mut self, symbols: &Symbols, codes: &[u8], out: &mut [u8]) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        match (symbols.squeeze, &symbols.pairs) {
            (Some(squeeze), Some(pairs)) => return squeeze.decode_pairs(pairs, codes, self, out),
            (Some(squeeze), None) => return squeeze.decode(symbols, codes, self, out),
            (None, _) => {}
        }
        self.decode_portably(symbols, codes, out)
    }

    /// As [`Block::decode`], on any machine.
    fn decode_portably(&mut self, symbols: &Symbols, codes: &[u8], out: &mut [u8]) -> Option<usize> {
        let (groups, rest) = codes.as_chunks::<8>();
        let mut at = 0;
        for (group, codes) in groups.iter().enumerate() {
            self.places[group] = at as u16;
            let starts = &mut self.starts.as_chunks_mut().0[group];
            let room = out.get_mut(at..).and_then(|out| out.first_chunk_mut());
            let fast = room.filter(|_| !self.inside).and_then(|room| eight(symbols, codes, starts, room));
            match fast {
                Some(len) => at += len,
                None => self.decode_slowly(symbols, codes, group, &mut at, out)?,
            }
        }
        self.places[groups.len()] = at as u16;
        self.decode_slowly(symbols, rest, groups.len(), &mut at, out)?;
        Some(at)
    }

    /// Decodes the codes of group `group`, which may be fewer than eight, one by one.
    fn decode_slowly(
        &mut self,
        symbols: &Symbols,
        codes: &[u8],
        group: usize,
        at: &mut usize,
        out: &mut [u8],
    ) -> Option<()> {
        let before = *at;
        let mark = |inside| if inside { LITERAL } else { 0 };
        for (i, &code) in codes.iter().enumerate() {
            self.starts[group * 8 + i] = (*at - before) as u8 | mark(self.inside);
            match symbols.lengths[code as usize] {
                _ if self.inside => {
                    *out.get_mut(*at)? = code;
                    self.inside = false;
                    *at += 1;
                }
                NONE if code == ESCAPE => self.inside = true,
                NONE => return None,
                length => {
                    let symbol = symbols.symbols[code as usize].to_le_bytes();
                    let length = length as usize;
                    out.get_mut(*at..)?.get_mut(..length)?.copy_from_slice(&symbol[..length]);
                    *at += length;
                }
            }
        }
        let behind = if codes.len() < 8 { (*at - before) as u8 } else { 0 };
        self.starts[group * 8 + codes.len()] = behind | mark(self.inside);
        Some(())
    }
}

/// Decodes eight codes. Returns the bytes written; `None` if one of them has no symbol.
#[inline(always)]
fn eight(symbols: &Symbols, codes: &[u8; 8], starts: &mut [u8; 8], room: &mut [u8; 72]) -> Option<usize> {
    let (mut at, mut all) = (0, 0);
    for (&code, start) in codes.iter().zip(starts) {
        *start = at as u8;
        let length = symbols.lengths[code as usize];
        all |= length;
        // Seven lengths are 56 at the most: the mask changes nothing, but no check is needed.
        let place = at & 63;
        room[place..place + 8].copy_from_slice(&symbols.symbols[code as usize].to_le_bytes());
        at += length as usize;
    }
    (all < NONE).then_some(at)
}

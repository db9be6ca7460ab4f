//! Strings coded with FSST: a byte is a code for a symbol of 1 to 8 bytes, or an escape before a literal byte.
//!
//! The table of symbols is stored once for many strings, each of which decodes on its own:
//!
//! ```text
//! byte 0     n, the number of symbols, 0..=255
//! byte 1..3  used by encoders only
//! byte 3     bit 0: whether strings are coded at all
//! byte 4..8  magic 54 53 53 46
//! 8          n × 8 bytes: symbols, the first byte of text first
//! 8 + 8n     n bytes: the lengths of the symbols, 1..=8
//!            zeros up to 2312 bytes
//! ```

mod block;

#[cfg(target_arch = "x86_64")]
use crate::arch::x86_64::fsst::{Pairs, Squeeze};
pub(crate) use block::Block;
#[cfg(target_arch = "x86_64")]
pub(crate) use block::LITERAL;
use core::slice::Iter;

/// The length of a code without a symbol: a bit that no length has.
pub(crate) const NONE: u8 = 0x80;

/// Bytes of a stored table.
const TABLE_LEN: usize = 2312;

const MAGIC: [u8; 4] = [0x54, 0x53, 0x53, 0x46];

/// The code before a literal byte.
pub(crate) const ESCAPE: u8 = 255;

/// The symbols that codes stand for.
#[derive(Clone)]
pub struct Symbols {
    compressed: bool,
    /// The first byte of text is the lowest.
    pub(crate) symbols: [u64; 256],
    /// By code; [`NONE`] for the escape and for codes that have no symbol.
    pub(crate) lengths: [u8; 256],
    /// By byte: as many bytes as it can stand for, at the most.
    most: [u8; 256],
    /// The instructions to decode with, if the machine has them.
    #[cfg(target_arch = "x86_64")]
    squeeze: Option<Squeeze>,
    /// The symbols again, if all are short.
    #[cfg(target_arch = "x86_64")]
    pairs: Option<Pairs>,
}

impl core::fmt::Debug for Symbols {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Symbols({})", self.lengths.iter().filter(|len| **len < NONE).count())
    }
}

impl Symbols {
    /// Reads a stored table. The error says what is wrong with it.
    pub fn parse(table: &[u8]) -> Result<Symbols, &'static str> {
        let table: &[u8; TABLE_LEN] = table.try_into().map_err(|_| "an FSST symbol table is 2312 bytes")?;
        if table[4..8] != MAGIC {
            return Err("an FSST symbol table begins with another magic");
        }
        let n = table[0] as usize;
        let (symbols, rest) = table[8..].split_at(8 * n);
        let compressed = table[3] & 1 != 0;
        let mut parsed = Symbols {
            compressed,
            symbols: [0; 256],
            lengths: [NONE; 256],
            most: [1; 256],
            #[cfg(target_arch = "x86_64")]
            squeeze: Squeeze::in_use(),
            #[cfg(target_arch = "x86_64")]
            pairs: None,
        };
        for (symbol, &bytes) in parsed.symbols.iter_mut().zip(symbols.as_chunks().0) {
            *symbol = u64::from_le_bytes(bytes);
        }
        parsed.lengths[..n].copy_from_slice(&rest[..n]);
        if parsed.lengths[..n].iter().any(|length| !(1..=8).contains(length)) {
            return Err("an FSST symbol is 1 to 8 bytes long");
        }
        parsed.most[..n].copy_from_slice(&rest[..n]);
        #[cfg(target_arch = "x86_64")]
        if parsed.squeeze.is_some() {
            parsed.pairs = Pairs::of(&parsed.symbols, &parsed.lengths);
        }
        Ok(parsed)
    }

    /// Whether strings are coded. If not, they are stored as they are, and the functions below pass them through.
    pub fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// The most bytes that strings decode to whose codes lie end to end in `codes`: as many, if there are no escapes.
    pub fn most_decoded(&self, codes: &[u8]) -> usize {
        if !self.compressed {
            return codes.len();
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(squeeze) = self.squeeze {
            return squeeze.sum(&self.most, codes);
        }
        sum(&self.most, codes)
    }

    /// Decodes strings whose codes lie end to end in `codes`, up to each of `code_ends`, which ascend. They fill the
    /// start of `out` end to end; `end` is called with the end of each in turn. Returns the last end; `None` if a string
    /// is invalid, or they do not fit. `out` may be overwritten behind them.
    ///
    /// # Panics
    ///
    /// If `code_ends` leave `codes` or do not ascend.
    pub fn decode_texts(
        &self,
        codes: &[u8],
        code_ends: impl Iterator<Item = usize>,
        out: &mut [u8],
        mut end: impl FnMut(usize),
    ) -> Option<usize> {
        if !self.compressed {
            code_ends.for_each(end);
            return self.decode_into(codes, out);
        }
        let mut block = Block::new();
        let mut at = block.decode_next(self, codes, 0, out)?;
        let mut before = 0;
        for code_end in code_ends {
            assert!(before <= code_end, "texts that end at code {before}, then {code_end}");
            before = code_end;
            while code_end > block.end {
                assert!(code_end <= codes.len(), "a text up to code {code_end} of {}", codes.len());
                at = block.decode_next(self, codes, at, out)?;
            }
            end(block.place(code_end)?);
        }
        (block.end == codes.len()).then_some(at)
    }

    /// Bytes of a decoded string; `None` if a code has no symbol or the last one is an escape.
    pub fn decoded_len(&self, codes: &[u8]) -> Option<usize> {
        if !self.compressed {
            return Some(codes.len());
        }
        let mut len = 0usize;
        let mut codes = codes.iter();
        while let Some(&code) = codes.next() {
            let length = match self.lengths[code as usize] {
                NONE => literal(code, &mut codes).map(|_| 1)?,
                length => length as usize,
            };
            len = len.checked_add(length)?;
        }
        Some(len)
    }

    /// Decodes a string to the start of `out` and returns its length; `None` if it is invalid or does not fit.
    ///
    /// The rest of `out` may be overwritten too: with eight spare bytes, each symbol is copied whole.
    pub fn decode_into(&self, codes: &[u8], out: &mut [u8]) -> Option<usize> {
        if !self.compressed {
            out.get_mut(..codes.len())?.copy_from_slice(codes);
            return Some(codes.len());
        }
        let (mut block, mut at) = (Block::new(), 0);
        while block.end < codes.len() {
            at = block.decode_next(self, codes, at, out)?;
        }
        Some(at)
    }
}

/// The numbers that the bytes of `codes` have in `table`, summed up.
fn sum(table: &[u8; 256], codes: &[u8]) -> usize {
    codes.iter().map(|&code| table[code as usize] as usize).sum()
}

/// The byte after an escape; `None` if it is missing or `code` is no escape.
#[inline]
fn literal(code: u8, codes: &mut Iter<'_, u8>) -> Option<u8> {
    if code == ESCAPE { codes.next().copied() } else { None }
}

#[cfg(test)]
mod tests;

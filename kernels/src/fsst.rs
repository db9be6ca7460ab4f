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

use core::slice::Iter;

/// Codes that are looked up together.
const STEP: usize = 8;

/// Bytes of a stored table.
const TABLE_LEN: usize = 2312;

const MAGIC: [u8; 4] = [0x54, 0x53, 0x53, 0x46];

/// The code before a literal byte.
const ESCAPE: u8 = 255;

/// The symbols that codes stand for.
#[derive(Clone)]
pub struct Symbols {
    compressed: bool,
    symbols: [[u8; 8]; 256],
    /// By code; 0 for the escape and for codes that have no symbol.
    lengths: [u8; 256],
}

impl core::fmt::Debug for Symbols {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Symbols({})", self.lengths.iter().filter(|len| **len > 0).count())
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
        let mut parsed = Symbols { compressed: table[3] & 1 != 0, symbols: [[0; 8]; 256], lengths: [0; 256] };
        parsed.symbols[..n].copy_from_slice(symbols.as_chunks().0);
        parsed.lengths[..n].copy_from_slice(&rest[..n]);
        if parsed.lengths[..n].iter().any(|length| !(1..=8).contains(length)) {
            return Err("an FSST symbol is 1 to 8 bytes long");
        }
        Ok(parsed)
    }

    /// Whether strings are coded. If not, they are stored as they are, and the functions below pass them through.
    pub fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// Where each of several strings ends once it is decoded: their codes lie end to end in `codes`, up to each of
    /// `code_ends`, which ascend. Calls `end` with each, and returns the last; `None` if an escape is the last code of a
    /// string. Codes without a symbol are told by [`decode_into`](Self::decode_into).
    ///
    /// # Panics
    ///
    /// If `code_ends` leave `codes` or do not ascend.
    pub fn decoded_ends(
        &self,
        codes: &[u8],
        code_ends: impl Iterator<Item = usize>,
        mut end: impl FnMut(usize),
    ) -> Option<usize> {
        let (mut start, mut total) = (0, 0usize);
        for code_end in code_ends {
            let len = match self.compressed {
                true => self.text_len(codes, start, code_end)?,
                false => code_end - start,
            };
            total = total.checked_add(len)?;
            end(total);
            start = code_end;
        }
        Some(total)
    }

    /// The decoded bytes of the codes from `start` to `end`. Eight are looked up at once, those of the next string too,
    /// which then count for nothing: the lengths of strings differ less in such steps, and the processor guesses them
    /// well.
    #[inline(always)]
    fn text_len(&self, codes: &[u8], start: usize, end: usize) -> Option<usize> {
        let (mut at, mut len) = (start, 0);
        assert!(start <= end && end <= codes.len(), "codes from {start} to {end} of {}", codes.len());
        while at < end {
            let Some(&step) = codes[at..].first_chunk::<STEP>() else {
                return Some(len + self.coded_len(&codes[at..end])?);
            };
            let beyond = STEP.saturating_sub(end - at);
            // The byte of an escape counts for nothing, as those beyond the end.
            let word = u64::from_le_bytes(step) | !(u64::MAX >> (8 * beyond));
            if escapes(word & (u64::MAX >> (8 * beyond))) != 0 {
                return Some(len + self.coded_len(&codes[at..end])?);
            }
            len += word.to_le_bytes().iter().map(|&code| self.lengths[code as usize] as usize).sum::<usize>();
            at += STEP;
        }
        Some(len)
    }

    /// The most bytes that strings decode to whose codes lie end to end in `codes`: exactly as many, if all of them are
    /// valid.
    pub fn most_decoded(&self, codes: &[u8]) -> usize {
        if !self.compressed {
            return codes.len();
        }
        let (mut at, mut len) = (0, 0usize);
        while let Some(&step) = codes.get(at..).and_then(|codes| codes.first_chunk::<STEP>()) {
            // Up to the first escape.
            let escapes = escapes(u64::from_le_bytes(step));
            let known = escapes.trailing_zeros() as usize / 8;
            len += match known {
                STEP => step.iter().map(|&code| self.lengths[code as usize] as usize).sum::<usize>(),
                _ => {
                    step[..known].iter().map(|&code| self.lengths[code as usize] as usize).sum::<usize>() + 1
                }
            };
            at += if known == STEP { STEP } else { known + 2 };
        }
        let rest = codes.get(at..).unwrap_or_default();
        len + self.coded_len(rest).unwrap_or(8 * rest.len())
    }

    fn coded_len(&self, codes: &[u8]) -> Option<usize> {
        let (mut len, mut codes) = (0usize, codes.iter());
        while let Some(&code) = codes.next() {
            len += match code {
                ESCAPE => codes.next().map(|_| 1)?,
                code => self.lengths[code as usize] as usize,
            };
        }
        Some(len)
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
                0 => literal(code, &mut codes).map(|_| 1)?,
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
        let mut at = 0;
        let mut codes = codes;
        loop {
            // As long as there is room for whole symbols, whatever their length.
            while let (Some((&code, rest)), Some(room)) =
                (codes.split_first(), out.get_mut(at..).and_then(|out| out.first_chunk_mut::<8>()))
            {
                let length = self.lengths[code as usize] as usize;
                if length == 0 {
                    break;
                }
                *room = self.symbols[code as usize];
                at += length;
                codes = rest;
            }
            let Some((&code, rest)) = codes.split_first() else { return Some(at) };
            let mut rest = rest.iter();
            match self.lengths[code as usize] as usize {
                0 => {
                    *out.get_mut(at)? = literal(code, &mut rest)?;
                    at += 1;
                }
                length => {
                    let symbol = &self.symbols[code as usize][..length];
                    out.get_mut(at..at + length)?.copy_from_slice(symbol);
                    at += length;
                }
            }
            codes = rest.as_slice();
        }
    }
}

/// The highest bit of each byte of the word that is [`ESCAPE`], all of whose bits are set; above the first of them
/// there may be bits too many.
#[inline(always)]
fn escapes(word: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    (!word).wrapping_sub(LOW) & word & (LOW << 7)
}

/// The byte after an escape; `None` if it is missing or `code` is no escape.
#[inline]
fn literal(code: u8, codes: &mut Iter<'_, u8>) -> Option<u8> {
    if code == ESCAPE { codes.next().copied() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, rounds};
    use std::{vec, vec::Vec};

    fn table(symbols: &[&[u8]]) -> Vec<u8> {
        let mut table = vec![symbols.len() as u8, 0, 0, 1];
        table.extend(MAGIC);
        for symbol in symbols {
            table.extend(*symbol);
            table.resize(table.len() + 8 - symbol.len(), 0);
        }
        table.extend(symbols.iter().map(|symbol| symbol.len() as u8));
        table.resize(TABLE_LEN, 0);
        table
    }

    fn decode(symbols: &Symbols, codes: &[u8]) -> Option<Vec<u8>> {
        let mut out = vec![0; symbols.decoded_len(codes)?];
        assert_eq!(symbols.decode_into(codes, &mut out), Some(out.len()));
        assert_eq!(symbols.most_decoded(codes), out.len());
        let (mut ends, middle) = (vec![], codes.len() / 2);
        let middle = middle + usize::from(symbols.decoded_len(&codes[..middle]).is_none());
        let total = symbols.decoded_ends(codes, [middle, codes.len()].into_iter(), |end| ends.push(end));
        assert_eq!(total, Some(out.len()));
        assert_eq!(ends, [symbols.decoded_len(&codes[..middle]).unwrap(), out.len()]);
        Some(out)
    }

    #[test]
    fn symbols_and_literals() {
        let symbols = Symbols::parse(&table(&[b"http://", b"a", b"8 bytes."])).unwrap();
        assert!(symbols.is_compressed());
        assert_eq!(decode(&symbols, &[]).unwrap(), b"");
        assert_eq!(decode(&symbols, &[0, 1, 255, b'x', 255, 255, 2, 1]).unwrap(), b"http://ax\xff8 bytes.a");
    }

    #[test]
    fn invalid_codes() {
        let symbols = Symbols::parse(&table(&[b"a", b"bc"])).unwrap();
        for codes in [&[2u8][..], &[0, 254], &[255], &[0, 255], &[255, 255, 255]] {
            assert_eq!(symbols.decoded_len(codes), None, "{codes:?}");
            assert_eq!(symbols.decode_into(codes, &mut [0; 32]), None, "{codes:?}");
        }
    }

    #[test]
    fn strings_that_do_not_fit() {
        let symbols = Symbols::parse(&table(&[b"a", b"seven b"])).unwrap();
        let codes = [1, 0, 255, b'x', 1];
        for room in 0..16 {
            assert_eq!(symbols.decode_into(&codes, &mut vec![0; room]), None);
        }
        for room in 16..32 {
            let mut out = vec![0; room];
            assert_eq!(symbols.decode_into(&codes, &mut out), Some(16));
            assert_eq!(&out[..16], b"seven baxseven b");
        }
    }

    #[test]
    fn uncoded_strings_pass_through() {
        let mut off = table(&[b"ab"]);
        off[3] = 0;
        let symbols = Symbols::parse(&off).unwrap();
        assert!(!symbols.is_compressed());
        assert_eq!(decode(&symbols, &[0, 7, 255]).unwrap(), [0, 7, 255]);
        assert_eq!(symbols.decode_into(&[1, 2], &mut [0]), None);
    }

    #[test]
    fn full_tables_against_the_definition() {
        let mut random = Random(6);
        for n in [0, 1, 17, 254, 255] {
            let mut symbol = || {
                let len = 1 + random.below(8);
                random.bytes(len)
            };
            let texts: Vec<Vec<u8>> = (0..n).map(|_| symbol()).collect();
            let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let symbols = Symbols::parse(&table(&texts)).unwrap();
            for _ in 0..rounds(300) {
                let (mut codes, mut text) = (vec![], vec![]);
                for _ in 0..random.below(50) {
                    let code = random.below(n + 1);
                    if code < n {
                        codes.push(code as u8);
                        text.extend(texts[code]);
                    } else {
                        let byte = random.word() as u8;
                        codes.extend([255, byte]);
                        text.push(byte);
                    }
                }
                assert_eq!(decode(&symbols, &codes).unwrap(), text);
            }
        }
    }

    #[test]
    fn invalid_tables() {
        let valid = table(&[b"a", b"bc"]);
        assert!(Symbols::parse(&valid).is_ok());
        assert!(Symbols::parse(&valid[1..]).is_err());
        assert!(Symbols::parse(&[&valid[..], &[0]].concat()).is_err());
        // The magic, then the length of the second symbol.
        for (at, byte) in [(4, 0), (7, 0x54), (8 + 16 + 1, 0), (8 + 16 + 1, 9), (0, 3)] {
            let mut table = valid.clone();
            table[at] = byte;
            assert!(Symbols::parse(&table).is_err(), "byte {at} = {byte}");
        }
    }
}

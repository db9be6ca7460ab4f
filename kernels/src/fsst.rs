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

#[cfg(target_arch = "x86_64")]
use crate::arch::x86_64::fsst as x86_64;
use core::slice::Iter;

/// The length of a code without a symbol: a bit that no length has.
const NONE: u8 = 0x80;

/// Room for four symbols, and for what is written behind the last.
const ROOM: usize = 40;

/// Bytes of a stored table.
const TABLE_LEN: usize = 2312;

const MAGIC: [u8; 4] = [0x54, 0x53, 0x53, 0x46];

/// The code before a literal byte.
const ESCAPE: u8 = 255;

/// The symbols that codes stand for.
#[derive(Clone)]
pub struct Symbols {
    compressed: bool,
    /// The first byte of text is the lowest.
    symbols: [u64; 256],
    /// By code; [`NONE`] for the escape and for codes that have no symbol.
    lengths: [u8; 256],
    /// By byte: as many bytes as it can stand for, at the most.
    most: [u8; 256],
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
        let mut parsed = Symbols { compressed, symbols: [0; 256], lengths: [NONE; 256], most: [1; 256] };
        for (symbol, &bytes) in parsed.symbols.iter_mut().zip(symbols.as_chunks().0) {
            *symbol = u64::from_le_bytes(bytes);
        }
        parsed.lengths[..n].copy_from_slice(&rest[..n]);
        if parsed.lengths[..n].iter().any(|length| !(1..=8).contains(length)) {
            return Err("an FSST symbol is 1 to 8 bytes long");
        }
        parsed.most[..n].copy_from_slice(&rest[..n]);
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
        if x86_64::is_usable() {
            return x86_64::sum(&self.most, codes);
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
        // All codes are decoded in a row, whatever string they belong to, and where every fourth begins is written
        // down: strings are short, and loops over them would end where the processor does not expect it.
        let mut block = Block::new();
        let mut at = self.decode_block(codes, &mut block, 0, out)?;
        let mut before = 0;
        for code_end in code_ends {
            assert!(
                before <= code_end && code_end <= codes.len(),
                "codes {before}..{code_end} of {}",
                codes.len()
            );
            before = code_end;
            while code_end > block.end {
                at = self.decode_block(codes, &mut block, at, out)?;
            }
            end(self.place(codes, &block, code_end)?);
        }
        (block.end == codes.len()).then_some(at)
    }

    /// Where what stands before code `end`, which is in the block or behind its last, ends; `None` if that is behind an
    /// escape.
    #[inline(always)]
    fn place(&self, codes: &[u8], block: &Block, end: usize) -> Option<usize> {
        let (group, rest) = ((end - block.start) / 4, (end - block.start) % 4);
        let place = block.places[group];
        let codes = &codes[block.start + group * 4..];
        if let Some(four) = codes.first_chunk::<4>() {
            // The lengths of those before the end, a byte each: no branch, which the processor would guess wrong.
            let lengths = u32::from_le_bytes(four.map(|code| self.lengths[code as usize]));
            let lengths = lengths & ((1 << (8 * rest)) - 1);
            if lengths & 0x8080_8080 == 0 && place & INSIDE == 0 {
                let sum = lengths.wrapping_mul(0x0101_0101) >> 24;
                return Some(block.at + place as usize + sum as usize);
            }
        }
        let mut at = block.at + (place & !INSIDE) as usize;
        let mut inside = place & INSIDE != 0;
        for &code in &codes[..rest] {
            match self.lengths[code as usize] {
                _ if inside => (at, inside) = (at + 1, false),
                NONE => inside = true,
                length => at += length as usize,
            }
        }
        (!inside).then_some(at)
    }

    /// Decodes four codes, and returns the end; `None` if one of them has no symbol.
    #[inline(always)]
    fn decode_four(&self, codes: [u8; 4], room: &mut [u8; ROOM]) -> Option<usize> {
        let [a, b, c, d] = codes.map(usize::from);
        let length = |code: usize| self.lengths[code] as usize;
        let (first, second, third, fourth) = (length(a), length(b), length(c), length(d));
        if first | second | third | fourth >= NONE as usize {
            return None;
        }
        let mut put = |at: usize, code: usize| {
            // Three lengths are 24 at the most: the mask changes nothing, but no check is needed.
            let at = at & 31;
            room[at..at + 8].copy_from_slice(&self.symbols[code].to_le_bytes());
        };
        put(0, a);
        put(first, b);
        put(first + second, c);
        put(first + second + third, d);
        Some(first + second + third + fourth)
    }

    /// Decodes the codes behind `block` to `out` from `at` on, and sets it to them. Returns the end in `out`.
    fn decode_block(&self, codes: &[u8], block: &mut Block, at: usize, out: &mut [u8]) -> Option<usize> {
        let (start, base) = (block.end, at);
        let out = out.get_mut(base..)?;
        let more = codes.len() > start + Block::CODES;
        let codes = &codes[start..][..Block::CODES.min(codes.len() - start)];
        let (mut group, mut at) = (0, 0);
        // A byte behind an escape in the group before.
        let mut inside = block.inside;
        loop {
            // As long as there is room for whole symbols, whatever their length.
            if !inside {
                let groups = &codes.as_chunks::<4>().0[group..];
                for (four, place) in groups.iter().zip(&mut block.places[group..]) {
                    let room = out.get_mut(at..).and_then(|out| out.first_chunk_mut::<ROOM>());
                    let Some(room) = room else { break };
                    let Some(end) = self.decode_four(*four, room) else { break };
                    *place = at as u16;
                    at += end;
                    group += 1;
                }
            }
            // Then code by code, up to the next group.
            block.places[group] = at as u16 | if inside { INSIDE } else { 0 };
            let rest = codes.get(group * 4..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            for &code in &rest[..rest.len().min(4)] {
                let length = self.lengths[code as usize];
                if inside {
                    *out.get_mut(at)? = code;
                    (at, inside) = (at + 1, false);
                } else if length < NONE {
                    let symbol = self.symbols[code as usize].to_le_bytes();
                    let length = length as usize;
                    out.get_mut(at..at + length)?.copy_from_slice(&symbol[..length]);
                    at += length;
                } else if code == ESCAPE {
                    inside = true;
                } else {
                    return None;
                }
            }
            group += 1;
            if rest.len() <= 4 {
                // The last group may not be full: its place is that of its first code.
                if rest.len() == 4 {
                    block.places[group] = at as u16 | if inside { INSIDE } else { 0 };
                }
                break;
            }
        }
        *block = Block { start, end: start + codes.len(), at: base, inside, ..*block };
        (more || !inside).then_some(base + at)
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
            at = self.decode_block(codes, &mut block, at, out)?;
        }
        Some(at)
    }
}

/// Some codes of many, and where what they stand for begins.
struct Block {
    /// The first code, and the one behind the last.
    start: usize,
    end: usize,
    /// Where the first begins in what is decoded.
    at: usize,
    /// Whether the last is an escape.
    inside: bool,
    /// Where every fourth begins, counted from there; with [`INSIDE`], it is a byte behind an escape.
    places: [u16; Block::CODES / 4 + 1],
}

const INSIDE: u16 = 1 << 15;

impl Block {
    /// Few enough for their places to be numbers of 15 bits.
    const CODES: usize = 1024;

    fn new() -> Self {
        Block { start: 0, end: 0, at: 0, inside: false, places: [0; Block::CODES / 4 + 1] }
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
        let escapes = codes.contains(&ESCAPE);
        assert!(symbols.most_decoded(codes) >= out.len());
        assert!(escapes || symbols.most_decoded(codes) == out.len());
        let (mut ends, middle) = (vec![], codes.len() / 2);
        let middle = middle + usize::from(symbols.decoded_len(&codes[..middle]).is_none());
        let mut texts = vec![0; out.len()];
        let code_ends = [middle, middle, codes.len()];
        let total = symbols.decode_texts(codes, code_ends.into_iter(), &mut texts, |end| ends.push(end));
        assert_eq!((total, &texts), (Some(out.len()), &out));
        let first = symbols.decoded_len(&codes[..middle]).unwrap();
        assert_eq!(ends, [first, first, out.len()]);
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
    fn strings_that_end_in_an_escape() {
        let symbols = Symbols::parse(&table(&[b"a", b"bc"])).unwrap();
        let codes = [0, 255, b'x', 1, 0, 0];
        let texts = |ends: &[usize]| symbols.decode_texts(&codes, ends.iter().copied(), &mut [0; 64], |_| ());
        assert_eq!(texts(&[1, 3, 6]), Some(6));
        assert_eq!(texts(&[0, 2, 6]), None);
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
            for round in 0..rounds(300) {
                let (mut codes, mut text) = (vec![], vec![]);
                for _ in 0..random.below(if round % 8 == 0 { 4000 } else { 50 }) {
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

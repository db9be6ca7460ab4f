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

/// Bytes of a stored table.
const TABLE_LEN: usize = 2312;

const MAGIC: [u8; 4] = [0x54, 0x53, 0x53, 0x46];

/// The code before a literal byte.
const ESCAPE: u8 = 255;

/// The symbols that codes stand for.
#[derive(Debug, Clone)]
pub struct Symbols {
    compressed: bool,
    symbols: [[u8; 8]; 256],
    /// By code; 0 for the escape and for codes that have no symbol.
    lengths: [u8; 256],
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

    /// Bytes of a decoded string; `None` if a code has no symbol or the last one is an escape.
    pub fn decoded_len(&self, codes: &[u8]) -> Option<usize> {
        if !self.compressed {
            return Some(codes.len());
        }
        let mut len = 0usize;
        let mut codes = codes.iter();
        while let Some(&code) = codes.next() {
            len += match self.lengths[code as usize] {
                0 => self.literal(code, &mut codes).map(|_| 1)?,
                length => length as usize,
            };
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
        let mut codes = codes.iter();
        while let Some(&code) = codes.next() {
            let length = self.lengths[code as usize] as usize;
            if length == 0 {
                *out.get_mut(at)? = self.literal(code, &mut codes)?;
                at += 1;
                continue;
            }
            let symbol = &self.symbols[code as usize];
            match out.get_mut(at..at + 8) {
                Some(room) => room.copy_from_slice(symbol),
                None => out.get_mut(at..at + length)?.copy_from_slice(&symbol[..length]),
            }
            at += length;
        }
        Some(at)
    }

    /// The byte after an escape.
    #[inline]
    fn literal(&self, code: u8, codes: &mut core::slice::Iter<'_, u8>) -> Option<u8> {
        if code == ESCAPE { codes.next().copied() } else { None }
    }
}

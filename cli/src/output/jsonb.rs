//! JSON columns: the binary form (JSONB) as JSON text.
//!
//! ```text
//! container  u32 header, entries of u32, then what the entries describe, end to end
//!   header   0x2… one value   0x4… object   0x8… array      low 29 bits: how many
//!   entries  of an object: all keys, then all values
//! entry      high bits: 0x0 null, 0x1 text, 0x2 number, 0x3 false, 0x4 true, 0x5 container
//!            low 28 bits: bytes
//! number     u8 kind, then 0 to 8 bytes:
//!            0x00 zero  0x10 NaN  0x20 ∞  0x30 −∞  0x40 signed  0x50 unsigned  0x60 f64
//! ```
//!
//! All words and numbers are big-endian; integers take 1, 2, 4 or 8 bytes.

use super::text::{quoted, show};
use super::value::float;

/// How deep containers may lie in each other.
const DEEPEST: usize = 500;

/// What the bytes contradict.
type Result<T> = std::result::Result<T, &'static str>;

/// Appends the JSON text of `bytes`.
pub(super) fn json(out: &mut String, bytes: &[u8]) -> Result<()> {
    container(out, bytes, 0)
}

fn container(out: &mut String, bytes: &[u8], depth: usize) -> Result<()> {
    if depth > DEEPEST {
        return Err("containers lie too deep in each other");
    }
    let header = word(bytes, 0)?;
    let count = (header & 0x1fff_ffff) as usize;
    match header & 0xe000_0000 {
        0x2000_0000 => value(out, &mut Entries::new(bytes, 0, 1, 1)?, depth),
        0x8000_0000 => {
            let mut values = Entries::new(bytes, 0, count, count)?;
            out.push('[');
            for index in 0..count {
                if index > 0 {
                    out.push(',');
                }
                value(out, &mut values, depth)?;
            }
            out.push(']');
            Ok(())
        }
        0x4000_0000 => {
            let mut keys = Entries::new(bytes, 0, count, 2 * count)?;
            let mut values = Entries::new(bytes, count, count, 2 * count)?;
            out.push('{');
            for index in 0..count {
                if index > 0 {
                    out.push(',');
                }
                text(out, keys.next()?.1)?;
                out.push(':');
                value(out, &mut values, depth)?;
            }
            out.push('}');
            Ok(())
        }
        _ => Err("expected a header of a value, an object or an array"),
    }
}

/// Entries of a container and the bytes that they describe.
struct Entries<'a> {
    bytes: &'a [u8],
    /// Where the next entry lies.
    entry: usize,
    /// Where its bytes lie.
    data: usize,
}

impl<'a> Entries<'a> {
    /// `count` entries behind the first `skipped` of a container that has `all`.
    fn new(bytes: &'a [u8], skipped: usize, count: usize, all: usize) -> Result<Self> {
        if all > bytes.len() / 4 || skipped + count > all {
            return Err("expected fewer entries than bytes");
        }
        let mut entries = Entries { bytes, entry: 4, data: 4 + 4 * all };
        for _ in 0..skipped {
            entries.next()?;
        }
        Ok(entries)
    }

    /// The kind of the next entry, and its bytes.
    fn next(&mut self) -> Result<(u32, &'a [u8])> {
        let entry = word(self.bytes, self.entry)?;
        let end = self.data + (entry & 0x0fff_ffff) as usize;
        let data = self.bytes.get(self.data..end).ok_or("an entry reaches past the end")?;
        self.entry += 4;
        self.data = end;
        Ok((entry >> 28, data))
    }
}

fn value(out: &mut String, entries: &mut Entries<'_>, depth: usize) -> Result<()> {
    match entries.next()? {
        (0, _) => out.push_str("null"),
        (1, bytes) => text(out, bytes)?,
        (2, bytes) => number(out, bytes)?,
        (3, _) => out.push_str("false"),
        (4, _) => out.push_str("true"),
        (5, bytes) => container(out, bytes, depth + 1)?,
        _ => return Err("expected an entry of a known kind"),
    }
    Ok(())
}

fn text(out: &mut String, bytes: &[u8]) -> Result<()> {
    quoted(out, str::from_utf8(bytes).map_err(|_| "text is not UTF-8")?);
    Ok(())
}

fn number(out: &mut String, bytes: &[u8]) -> Result<()> {
    let (&kind, bytes) = bytes.split_first().ok_or("a number has no bytes")?;
    // The bits at the end of a word of zeros, and those of the sign before them.
    let mut word = [0; 8];
    let bits = match bytes.len() {
        0 | 1 | 2 | 4 | 8 => {
            word[8 - bytes.len()..].copy_from_slice(bytes);
            u64::from_be_bytes(word)
        }
        _ => return Err("expected a number of 1, 2, 4 or 8 bytes"),
    };
    let unused = 64 - 8 * bytes.len() as u32;
    match (kind, bytes.len()) {
        (0x00, 0) => out.push('0'),
        (0x10, 0) => float(out, f64::NAN),
        (0x20, 0) => float(out, f64::INFINITY),
        (0x30, 0) => float(out, f64::NEG_INFINITY),
        (0x40, 1..) => show(out, (bits << unused) as i64 >> unused),
        (0x50, 1..) => show(out, bits),
        (0x60, 8) => float(out, f64::from_bits(bits)),
        _ => return Err("expected a number of a known kind"),
    }
    Ok(())
}

fn word(bytes: &[u8], at: usize) -> Result<u32> {
    let bytes = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or("the bytes end early")?;
    Ok(u32::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(hex: &str) -> Result<String> {
        let bytes: Vec<u8> =
            (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
        let mut out = String::new();
        json(&mut out, &bytes).map(|()| out)
    }

    /// Written by pylance 10.0.0.
    const OBJECT: &str = "400000031000000110000001100000012000000250000028500000046162635001800000\
                          052000000220000009400000000000000010000005500160c00400000000000078c3a90a\
                          2240000000";

    #[test]
    fn as_lance_writes_it() {
        for (hex, expected) in [
            (OBJECT, r#"{"a":1,"b":[1,-2.5,true,null,"xé\n\""],"c":{}}"#),
            ("80000000", "[]"),
            ("800000015000000c800000015000000480000000", "[[[]]]"),
            ("200000002000000100", "0"),
            ("20000000200000024080", "-128"),
            ("200000002000000340ff7f", "-129"),
            ("2000000020000005500001 0000".replace(' ', "").as_str(), "65536"),
            ("200000002000000950ffffffffffffffff", "18446744073709551615"),
            ("2000000020000009408000000000000000", "-9223372036854775808"),
            ("2000000020000009607e37e43c8800759c", "1e+300"),
            ("2000000020000009608000000000000000", "-0.0"),
            ("200000001000000173", r#""s""#),
            ("2000000030000000", "false"),
            ("2000000000000000", "null"),
        ] {
            assert_eq!(written(hex).as_deref(), Ok(expected), "{hex}");
        }
    }

    #[test]
    fn damaged_bytes_are_refused() {
        for length in 0..OBJECT.len() / 2 {
            assert!(written(&OBJECT[..2 * length]).is_err(), "{length} bytes");
        }
        for hex in ["5fffffff", "9fffffff", "600000002000000100", "2000000070000000", "200000002000000140"] {
            assert!(written(hex).is_err(), "{hex}");
        }
        let deep = |depth: u32| {
            let entry = |level: u32| format!("80000001{:08x}", 0x5000_0000 | (8 * (depth - level) - 4));
            (0..depth).map(entry).collect::<String>() + "80000000"
        };
        assert!(written(&deep(3)).is_ok());
        assert!(written(&deep(100_000)).is_err());
    }
}

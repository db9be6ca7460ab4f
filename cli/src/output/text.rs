//! Small pieces of text: anything that can be displayed, JSON strings, base64.

use std::fmt::{Display, Write};

/// Appends `value`.
pub(super) fn show(out: &mut String, value: impl Display) {
    write!(out, "{value}").expect("a string takes all text");
}

/// Appends `text` as a JSON string.
pub(crate) fn quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => show(out, format_args!("\\u{control:04x}")),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

/// Appends `bytes` in base64 with padding.
pub(super) fn base64(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let byte = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            // Three bytes are four digits, two are three, one is two; the others are padding.
            let value = bits >> (18 - 6 * digit) & 63;
            out.push(if digit <= group.len() { char::from(DIGITS[value as usize]) } else { '=' });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    #[test]
    fn json_strings() {
        for (text, expected) in [
            ("", r#""""#),
            ("é😀\u{7f}", "\"é😀\u{7f}\""),
            ("a\"b\\c/", r#""a\"b\\c/""#),
            ("\n\r\t\0\u{1f}", r#""\n\r\t\u0000\u001f""#),
        ] {
            assert_eq!(written(|out| quoted(out, text)), expected);
        }
    }

    #[test]
    fn base64_of_every_remainder() {
        for (bytes, expected) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg=="),
            (&[0xff, 0xfe, 0xfd, 0x00], "//79AA=="),
        ] {
            assert_eq!(written(|out| base64(out, bytes)), expected);
        }
    }
}

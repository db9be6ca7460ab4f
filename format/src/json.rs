//! JSON, as far as Lance keeps small facts in it: tags, branches, metadata of index files.

use crate::{Error, Result};
use alloc::{borrow::Cow, format, vec::Vec};

/// Values may lie in so many others.
const MAX_DEPTH: usize = 64;

/// A JSON value that borrows from its text.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number as it is written.
    Number(&'a str),
    /// A text.
    Text(Cow<'a, str>),
    /// The values of an array.
    Array(Vec<Value<'a>>),
    /// The members of an object in the order of the text.
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// Parses a whole text.
    ///
    /// # Errors
    /// Corrupt, with the position, if the text is not JSON or is nested more than 64 deep.
    pub fn parse(text: &'a [u8]) -> Result<Self> {
        let text = core::str::from_utf8(text)
            .map_err(|error| Error::corrupt("JSON: expected UTF-8").at(error.valid_up_to() as u64))?;
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(MAX_DEPTH)?;
        parser.skip_space();
        if parser.at < text.len() { Err(parser.expected("the end")) } else { Ok(value) }
    }

    /// The member called `name`, unless it is absent or null.
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        let Value::Object(members) = self else { return None };
        let (_, value) = members.iter().rev().find(|(key, _)| key == name)?;
        Some(value).filter(|value| **value != Value::Null)
    }

    /// The member called `name` as `read` understands it, unless it is absent or null.
    ///
    /// # Errors
    /// Corrupt if `read` does not understand it; `expected` says what it looks for.
    pub fn member<'v, T>(
        &'v self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&'v Value<'a>) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match read(value) {
            Some(value) => Ok(Some(value)),
            None => Err(Error::corrupt(format!("member `{name}`: expected {expected}"))),
        }
    }

    /// The text.
    pub fn as_str(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// The number, if it is written as one of this type.
    pub fn as_u64(&self) -> Option<u64> {
        if let Value::Number(number) = self { number.parse().ok() } else { None }
    }

    /// The number, if it is written as one of this type.
    pub fn as_i64(&self) -> Option<i64> {
        if let Value::Number(number) = self { number.parse().ok() } else { None }
    }

    /// The nearest number of this type.
    pub fn as_f64(&self) -> Option<f64> {
        if let Value::Number(number) = self { number.parse().ok() } else { None }
    }

    /// The truth value.
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(value) = self { Some(*value) } else { None }
    }

    /// The values of an array.
    pub fn as_array(&self) -> Option<&[Value<'a>]> {
        if let Value::Array(values) = self { Some(values) } else { None }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&[(Cow<'a, str>, Value<'a>)]> {
        if let Value::Object(members) = self { Some(members) } else { None }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Steps over `byte` if it comes next.
    fn skip(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        self.at += usize::from(next);
        next
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    #[cold]
    fn expected(&self, what: &str) -> Error {
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            Some(found) => format!("`{}`", found.escape_debug()),
            None => "the end".into(),
        };
        Error::corrupt(format!("JSON: expected {what}, found {found}")).at(self.at as u64)
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>> {
        self.skip_space();
        match self.peek() {
            Some(b'{' | b'[') if depth == 0 => Err(self.expected("less nesting")),
            Some(b'{') => self.object(depth - 1),
            Some(b'[') => self.array(depth - 1),
            Some(b'"') => self.text().map(Value::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Value<'a>> {
        let words = [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))];
        for (word, value) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.expected("a value"))
    }

    fn array(&mut self, depth: usize) -> Result<Value<'a>> {
        self.at += 1;
        let mut values = Vec::new();
        self.skip_space();
        if self.skip(b']') {
            return Ok(Value::Array(values));
        }
        loop {
            values.push(self.value(depth)?);
            self.skip_space();
            if self.skip(b']') {
                return Ok(Value::Array(values));
            }
            if !self.skip(b',') {
                return Err(self.expected("`,` or `]`"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value<'a>> {
        self.at += 1;
        let mut members = Vec::new();
        self.skip_space();
        if self.skip(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.expected("a name"));
            }
            let name = self.text()?;
            self.skip_space();
            if !self.skip(b':') {
                return Err(self.expected("`:`"));
            }
            members.push((name, self.value(depth)?));
            self.skip_space();
            if self.skip(b'}') {
                return Ok(Value::Object(members));
            }
            if !self.skip(b',') {
                return Err(self.expected("`,` or `}`"));
            }
        }
    }

    fn number(&mut self) -> Result<Value<'a>> {
        let start = self.at;
        self.skip(b'-');
        if !self.skip(b'0') {
            self.digits()?;
        }
        if self.skip(b'.') {
            self.digits()?;
        }
        if self.skip(b'e') || self.skip(b'E') {
            let _sign = self.skip(b'+') || self.skip(b'-');
            self.digits()?;
        }
        Ok(Value::Number(&self.text[start..self.at]))
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }

    /// The text behind a quotation mark, which comes next.
    fn text(&mut self) -> Result<Cow<'a, str>> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            // Stops only before ASCII, never inside a character.
            text += &self.text[start..self.at];
            if self.skip(b'"') {
                return Ok(text);
            }
            if !self.skip(b'\\') {
                return Err(self.expected("`\"`"));
            }
            text.to_mut().push(self.escape()?);
        }
    }

    /// The character that is written behind a backslash.
    fn escape(&mut self) -> Result<char> {
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte.into(),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.expected("an escape")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// The character behind `\u`: one UTF-16 unit, or two with another `\u` between them.
    fn unicode(&mut self) -> Result<char> {
        let first = self.hex()?;
        let is_high = (0xd800..0xdc00).contains(&first);
        let second = if is_high && self.skip(b'\\') && self.skip(b'u') { Some(self.hex()?) } else { None };
        let mut characters = char::decode_utf16([first].into_iter().chain(second));
        match (characters.next(), characters.next()) {
            (Some(Ok(character)), None) => Ok(character),
            _ => Err(self.expected("the other half of a surrogate pair")),
        }
    }

    fn hex(&mut self) -> Result<u16> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        match digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            Some(unit) => {
                self.at += 4;
                Ok(unit)
            }
            None => Err(self.expected("four hexadecimal digits")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn parses_every_kind_of_value() {
        let text =
            br#" {"a": [1, -2.5e3, 0, true, false, null, {}, []], "b\n\u00e9\ud83d\ude00": "x/\"", "a": 7} "#;
        let value = Value::parse(text).unwrap();
        let members = value.as_object().unwrap();
        let array = members[0].1.as_array().unwrap();
        assert_eq!(array[0].as_u64(), Some(1));
        assert_eq!((array[1].as_f64(), array[1].as_i64()), (Some(-2500.0), None));
        assert_eq!(array[3].as_bool(), Some(true));
        assert_eq!(array[5..], [Value::Null, Value::Object(vec![]), Value::Array(vec![])]);
        assert_eq!(value.get("b\né😀").and_then(Value::as_str), Some("x/\""));
        assert_eq!(value.get("a").and_then(Value::as_i64), Some(7));
        assert_eq!(value.get("c"), None);
        assert_eq!(Value::parse(b"18446744073709551615").unwrap().as_u64(), Some(u64::MAX));
    }

    #[test]
    fn refuses_what_is_not_json() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            "-",
            "1e",
            "nul",
            "\"\\x\"",
            "\"\u{1}\"",
            "\"\\u12\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\\udc00\"",
            "1 2",
            "\"\\u00é\"",
            "{\"a\"}",
            "+1",
        ] {
            assert!(Value::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Value::parse(b"\"\xff\"").is_err());
        let nested = |depth| [vec![b'['; depth], vec![b']'; depth]].concat();
        assert!(Value::parse(&nested(MAX_DEPTH)).is_ok());
        assert!(Value::parse(&nested(MAX_DEPTH + 1)).is_err());
        assert!(Value::parse(&vec![b'['; 1 << 20]).is_err());
    }
}

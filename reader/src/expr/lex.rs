//! The words of a filter.
//!
//! ```text
//! word        a letter or _, then letters, digits and _
//! name        `any`                   the backtick is doubled within, as quotes are in text
//! text        'any' or "any"          binary: X'00ff'
//! number      1  1.5  .5  1.  1e-3    no sign
//! parameter   ?  $1
//! sign        ( ) [ ] , . + - * / % || = == != <> < <= > >=, or any other character, which the parser then refuses
//! between     white space, -- to the end of the line, /* any, also /* such */ in it */
//! ```

use super::Place;
use crate::Result;
use std::{borrow::Cow, sync::Arc};

/// A word of a filter, as it stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Name(Quoted<'a>),
    Text(Quoted<'a>),
    /// What stands between the quotes.
    Binary(&'a str),
    Number(&'a str),
    Parameter(&'a str),
    Sign(&'a str),
}

/// What stands between quotes, in which they are doubled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quoted<'a> {
    inner: &'a str,
    quote: char,
}

impl<'a> Quoted<'a> {
    /// What is meant.
    pub(super) fn text(self) -> Cow<'a, str> {
        if !self.inner.contains(self.quote) {
            return self.inner.into();
        }
        let once = self.quote.to_string();
        self.inner.replace(&once.repeat(2), &once).into()
    }
}

/// The tokens of a text, and which one is next.
pub(super) struct Tokens<'a> {
    text: Arc<str>,
    /// Each with the byte at which it starts.
    tokens: Vec<(Token<'a>, usize)>,
    next: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self> {
        let mut lexer = Lexer { text, at: 0 };
        let mut tokens = Vec::with_capacity(text.len() / 4 + 4);
        loop {
            let unterminated =
                |(what, start)| Place::new(&text.into(), start).error(format_args!("unterminated {what}"));
            lexer.skip_space().map_err(unterminated)?;
            let start = lexer.at;
            match lexer.token().map_err(unterminated)? {
                Some(token) => tokens.push((token, start)),
                None => return Ok(Tokens { text: text.into(), tokens, next: 0 }),
            }
        }
    }

    /// The token that is next, without taking it.
    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.peek_at(0)
    }

    /// The token that comes `ahead` tokens after the next.
    pub(super) fn peek_at(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.next + ahead).map(|&(token, _)| token)
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Option<Token<'a>> {
        let token = self.peek();
        self.next += 1;
        token
    }

    /// Takes the next token if it is this sign.
    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let taken = matches!(self.peek(), Some(Token::Sign(own)) if own == sign);
        self.next += usize::from(taken);
        taken
    }

    /// Whether the next token is this keyword.
    pub(super) fn is_keyword(&self, keyword: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(keyword))
    }

    /// Takes the next token if it is this keyword.
    pub(super) fn take_keyword(&mut self, keyword: &str) -> bool {
        let taken = self.is_keyword(keyword);
        self.next += usize::from(taken);
        taken
    }

    /// Where the next token stands.
    pub(super) fn place(&self) -> Place {
        let end = self.text.len();
        Place::new(&self.text, self.tokens.get(self.next).map_or(end, |&(_, offset)| offset))
    }

    /// An error at the next token.
    pub(super) fn expected<T>(&self, what: &str) -> Result<T> {
        Err(self.place().error(format_args!("expected {what}")))
    }
}

struct Lexer<'a> {
    text: &'a str,
    /// The byte at which to go on.
    at: usize,
}

/// What has no end, and where it starts.
type Unterminated = (&'static str, usize);

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Takes the characters that come next for which `wanted` is true.
    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !wanted(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    /// Goes on behind white space and comments.
    fn skip_space(&mut self) -> Result<(), Unterminated> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest().starts_with("--") {
                self.take_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                self.skip_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    /// Goes on behind the comment that starts here, and those within it.
    fn skip_comment(&mut self) -> Result<(), Unterminated> {
        let start = self.at;
        let mut depth = 0usize;
        loop {
            let Some(next) = self.rest().find(['*', '/']) else { return Err(("comment", start)) };
            self.at += next;
            match self.rest().get(..2) {
                Some("/*") => depth += 1,
                Some("*/") => depth -= 1,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// The next token, which starts here; `None` at the end.
    fn token(&mut self) -> Result<Option<Token<'a>>, Unterminated> {
        let (start, rest) = (self.at, self.rest());
        let mut characters = rest.chars();
        let Some(first) = characters.next() else { return Ok(None) };
        let second = characters.next();
        let is_digit = |c: char| c.is_ascii_digit();
        Ok(Some(match first {
            'x' | 'X' if second == Some('\'') => {
                self.at += 1;
                Token::Binary(self.quoted("binary literal")?.inner)
            }
            '_' => Token::Word(self.word()),
            _ if first.is_alphabetic() => Token::Word(self.word()),
            '`' => Token::Name(self.quoted("name")?),
            '\'' | '"' => Token::Text(self.quoted("text")?),
            '.' if second.is_some_and(is_digit) => self.number(),
            _ if is_digit(first) => self.number(),
            '?' | '$' => {
                self.at += 1;
                self.take_while(|c| c.is_alphanumeric() || c == '_');
                Token::Parameter(&self.text[start..self.at])
            }
            _ => {
                let two = rest.get(..2).filter(|two| ["||", "==", "!=", "<>", "<=", ">="].contains(two));
                let sign = two.unwrap_or(&rest[..first.len_utf8()]);
                self.at += sign.len();
                Token::Sign(sign)
            }
        }))
    }

    fn word(&mut self) -> &'a str {
        self.take_while(|c| c.is_alphanumeric() || c == '_')
    }

    fn number(&mut self) -> Token<'a> {
        let start = self.at;
        self.take_while(|c| c.is_ascii_digit());
        if self.rest().starts_with('.') {
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        let mantissa = self.at;
        if self.rest().starts_with(['e', 'E']) {
            self.at += 1;
            self.at += usize::from(self.rest().starts_with(['+', '-']));
            // Without digits it is a word that comes behind the number.
            if self.take_while(|c| c.is_ascii_digit()).is_empty() {
                self.at = mantissa;
            }
        }
        Token::Number(&self.text[start..self.at])
    }

    /// What stands between the quote here and the next one that is not doubled.
    fn quoted(&mut self, what: &'static str) -> Result<Quoted<'a>, Unterminated> {
        let start = self.at;
        let quote = self.rest().chars().next().expect("a quote");
        self.at += 1;
        loop {
            let Some(next) = self.rest().find(quote) else { return Err((what, start)) };
            self.at += next + 1;
            match self.rest().starts_with(quote) {
                true => self.at += 1,
                false => return Ok(Quoted { inner: &self.text[start + 1..self.at - 1], quote }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of a text, each with a letter for its kind.
    fn tokens(text: &str) -> String {
        let show = |token: &(Token<'_>, usize)| match token.0 {
            Token::Word(word) => format!("w:{word}"),
            Token::Name(name) => format!("n:{}", name.text()),
            Token::Text(quoted) => format!("t:{}", quoted.text()),
            Token::Binary(digits) => format!("b:{digits}"),
            Token::Number(digits) => format!("d:{digits}"),
            Token::Parameter(number) => format!("p:{number}"),
            Token::Sign(sign) => sign.to_string(),
        };
        match Tokens::new(text) {
            Ok(tokens) => tokens.tokens.iter().map(show).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn words_of_every_kind() {
        for (text, expected) in [
            ("", ""),
            ("  a\u{a0}=\t_b1 ", "w:a = w:_b1"),
            ("größe>=1", "w:größe >= d:1"),
            ("`a``b`.`c d`", "n:a`b . n:c d"),
            ("'it''s' \"a \"\"b\"\"\" '\"'", "t:it's t:a \"b\" t:\""),
            ("'' ''''", "t: t:'"),
            ("X'00ff' x'' x", "b:00ff b: w:x"),
            ("1 1.5 .5 1. 1e3 1.5E-3 1e 2e+", "d:1 d:1.5 d:.5 d:1. d:1e3 d:1.5E-3 d:1 w:e d:2 w:e +"),
            ("1..2 a.5 a.b", "d:1. d:.2 w:a d:.5 w:a . w:b"),
            ("0x12 5a", "d:0 w:x12 d:5 w:a"),
            ("? $1 ?2 $a_1", "p:? p:$1 p:?2 p:$a_1"),
            ("a<>b<=c==d!=e<-1", "w:a <> w:b <= w:c == w:d != w:e < - d:1"),
            ("a||b|c;", "w:a || w:b | w:c ;"),
            ("a -- b\n= /* c /* d */ * / */ 1--", "w:a = d:1"),
            ("a/b*c/**/", "w:a / w:b * w:c"),
            ("é€😀", "w:é € 😀"),
        ] {
            assert_eq!(tokens(text), expected, "{text}");
        }
    }

    #[test]
    fn what_has_no_end() {
        for (text, expected) in [
            ("a = 'b", "unterminated text, at line 1, column 5: \"'b\""),
            ("a = 'b''", "unterminated text, at line 1, column 5: \"'b''\""),
            ("\n`a", "unterminated name, at line 2, column 1: \"`a\""),
            ("x'0", "unterminated binary literal, at line 1, column 2: \"'0\""),
            ("a /* /* */", "unterminated comment, at line 1, column 3: \"/* /* */\""),
        ] {
            assert!(tokens(text).ends_with(expected), "{text}: {}", tokens(text));
        }
    }
}

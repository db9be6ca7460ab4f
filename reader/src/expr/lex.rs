//! The words of a filter, cut by `sqlparser` in a dialect of ours.
//!
//! Only its tokenizer is used. Its parser nests a chain of ANDs as deep as it is long, so that merely dropping one of
//! 100,000 terms overflows the stack, it leaves many nodes without a place in the text, and it takes much that is no
//! part of this language.

use super::Place;
use crate::Result;
use sqlparser::dialect::Dialect;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};
use std::sync::Arc;

/// Backticks quote names; single and double quotes both make text.
#[derive(Debug)]
struct Filters;

impl Dialect for Filters {
    fn is_identifier_start(&self, character: char) -> bool {
        character.is_alphabetic() || character == '_'
    }

    fn is_identifier_part(&self, character: char) -> bool {
        character.is_alphanumeric() || character == '_'
    }

    fn is_delimited_identifier_start(&self, character: char) -> bool {
        character == '`'
    }
}

/// The tokens of a text, white space and comments left out, and which one is next.
pub(super) struct Tokens {
    text: Arc<str>,
    /// Each with the byte at which it starts.
    tokens: Vec<(Token, usize)>,
    next: usize,
}

impl Tokens {
    pub(super) fn new(text: &str) -> Result<Self> {
        let text: Arc<str> = text.into();
        let mut offsets = Offsets::new(&text);
        let found = Tokenizer::new(&Filters, &text).tokenize_with_location();
        let found = found.map_err(|error| {
            let message = match error.message.strip_prefix("Unterminated ") {
                Some(rest) => format!("unterminated {rest}"),
                None => error.message,
            };
            Place::new(&text, offsets.of(error.location)).error(message)
        })?;
        let tokens = found
            .into_iter()
            .filter(|TokenWithSpan { token, .. }| !matches!(token, Token::Whitespace(_)))
            .map(|TokenWithSpan { token, span }| (token, offsets.of(span.start)))
            .collect();
        Ok(Tokens { text, tokens, next: 0 })
    }

    /// The token that is next, without taking it.
    pub(super) fn peek(&self) -> Option<&Token> {
        self.peek_at(0)
    }

    /// The token that comes `ahead` tokens after the next.
    pub(super) fn peek_at(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.next + ahead).map(|(token, _)| token)
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Option<Token> {
        let token = self.peek().cloned();
        self.next += 1;
        token
    }

    /// Takes the next token if it is this one.
    pub(super) fn take_if(&mut self, token: &Token) -> bool {
        let taken = self.peek() == Some(token);
        self.next += usize::from(taken);
        taken
    }

    /// Whether the token `ahead` of the next is this keyword.
    pub(super) fn is_keyword(&self, ahead: usize, keyword: &str) -> bool {
        let word = match self.peek_at(ahead) {
            Some(Token::Word(word)) => word,
            _ => return false,
        };
        word.quote_style.is_none() && word.value.eq_ignore_ascii_case(keyword)
    }

    /// Takes the next token if it is this keyword.
    pub(super) fn take_keyword(&mut self, keyword: &str) -> bool {
        let taken = self.is_keyword(0, keyword);
        self.next += usize::from(taken);
        taken
    }

    /// The text from the next token on.
    pub(super) fn rest(&self) -> &str {
        self.tokens.get(self.next).map_or("", |&(_, offset)| &self.text[offset..])
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

/// Lines and columns, which ascend, as bytes.
struct Offsets<'a> {
    characters: std::iter::Peekable<std::str::CharIndices<'a>>,
    end: usize,
    at: Location,
}

impl<'a> Offsets<'a> {
    fn new(text: &'a str) -> Self {
        Offsets {
            characters: text.char_indices().peekable(),
            end: text.len(),
            at: Location { line: 1, column: 1 },
        }
    }

    /// The byte at `location`, which must not lie before one that was asked for.
    fn of(&mut self, location: Location) -> usize {
        while self.at < location
            && let Some((_, character)) = self.characters.next()
        {
            match character {
                '\n' => self.at = Location { line: self.at.line + 1, column: 1 },
                _ => self.at.column += 1,
            }
        }
        self.characters.peek().map_or(self.end, |&(offset, _)| offset)
    }
}

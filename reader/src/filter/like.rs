//! LIKE, ILIKE, `starts_with`, `contains` and regular expressions over the bytes of UTF-8.

use crate::{Error, Result};
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};

/// The most memory that a regular expression takes once compiled, and its cache.
const MAX_REGEX_BYTES: usize = 4 << 20;

/// A pattern that texts are matched with.
#[derive(Debug)]
pub(super) enum Pattern {
    /// The whole text.
    Exact(Box<[u8]>),
    Prefix(Box<[u8]>),
    Suffix(Box<[u8]>),
    Contains(Box<Finder<'static>>),
    Like(Box<Like>),
    Regex(Regex),
}

impl Pattern {
    /// `starts_with`
    pub(super) fn prefix(text: &[u8]) -> Self {
        Pattern::Prefix(text.into())
    }

    /// `ends_with`
    pub(super) fn suffix(text: &[u8]) -> Self {
        Pattern::Suffix(text.into())
    }

    /// `contains`
    pub(super) fn contains(text: &[u8]) -> Self {
        Pattern::Contains(Box::new(Finder::new(text).into_owned()))
    }

    /// LIKE or ILIKE.
    ///
    /// # Errors
    /// Invalid input if an ILIKE becomes too large.
    pub(super) fn like(pattern: &str, escape: char, ignore_case: bool) -> Result<Self> {
        let pieces = pieces(pattern, escape);
        if ignore_case {
            return ilike(&pieces).map(Pattern::Regex);
        }
        use Piece::{Any, Text};
        Ok(match &pieces[..] {
            [] => Pattern::Exact(Box::default()),
            [Text(text)] => Pattern::Exact(text.as_bytes().into()),
            [Any] => Pattern::prefix(b""),
            [Text(text), Any] => Pattern::prefix(text.as_bytes()),
            [Any, Text(text)] => Pattern::suffix(text.as_bytes()),
            [Any, Text(text), Any] => Pattern::contains(text.as_bytes()),
            _ => Pattern::Like(Box::new(Like::new(pieces))),
        })
    }

    /// A regular expression; `flags` as in `regexp_like`: any of `imsxU`.
    ///
    /// # Errors
    /// Invalid input if it is none, or too large.
    pub(super) fn regex(pattern: &str, flags: &str) -> Result<Self> {
        let mut builder = RegexBuilder::new(pattern);
        for flag in flags.chars() {
            match flag {
                'i' => builder.case_insensitive(true),
                'm' => builder.multi_line(true),
                's' => builder.dot_matches_new_line(true),
                'x' => builder.ignore_whitespace(true),
                'U' => builder.swap_greed(true),
                'R' => builder.crlf(true),
                _ => {
                    return Err(Error::invalid_input(format!(
                        "regular expression `{pattern}`: expected flags of `imsxUR`, found `{flag}`"
                    )));
                }
            };
        }
        build(&mut builder, pattern).map(Pattern::Regex)
    }

    /// Whether it matches.
    #[inline]
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        match self {
            Pattern::Exact(exact) => text == &**exact,
            Pattern::Prefix(prefix) => text.starts_with(prefix),
            Pattern::Suffix(suffix) => text.ends_with(suffix),
            Pattern::Contains(finder) => finder.find(text).is_some(),
            Pattern::Like(like) => like.matches(text),
            Pattern::Regex(regex) => regex.is_match(text),
        }
    }
}

fn build(builder: &mut RegexBuilder, pattern: &str) -> Result<Regex> {
    builder.size_limit(MAX_REGEX_BYTES).dfa_size_limit(MAX_REGEX_BYTES).nest_limit(64);
    builder.build().map_err(|error| {
        let reason = error.to_string();
        // The message draws the pattern over several lines; the last of them says what is wrong.
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Error::invalid_input(format!("regular expression `{pattern}`: {reason}"))
    })
}

/// A part of a LIKE pattern.
#[derive(Debug, Clone, PartialEq)]
enum Piece {
    /// `%`, once however often it stands there.
    Any,
    /// `_`
    One,
    Text(String),
}

fn pieces(pattern: &str, escape: char) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        let literal = match character {
            // An escape at the end stands for itself.
            _ if character == escape => characters.next().unwrap_or(character),
            '%' => {
                if pieces.last() != Some(&Piece::Any) {
                    pieces.push(Piece::Any);
                }
                continue;
            }
            '_' => {
                pieces.push(Piece::One);
                continue;
            }
            _ => character,
        };
        match pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(literal),
            _ => pieces.push(Piece::Text(literal.into())),
        }
    }
    pieces
}

/// What of a LIKE pattern an index can look for.
#[derive(Debug, PartialEq)]
pub(crate) struct LikeParts {
    /// The whole text, where there is no wildcard.
    pub(crate) whole: Option<String>,
    /// What stands before the first wildcard; it may be empty.
    pub(crate) head: String,
    /// Whether the pattern is the head and `%`.
    pub(crate) head_is_all: bool,
    /// The longest text, and whether the pattern is that between two `%`.
    pub(crate) longest: Option<(String, bool)>,
}

/// Takes a LIKE pattern apart.
pub(crate) fn like_parts(pattern: &str, escape: char) -> LikeParts {
    let pieces = pieces(pattern, escape);
    let text = |piece: &Piece| match piece {
        Piece::Text(text) => Some(text.clone()),
        _ => None,
    };
    let longest = pieces.iter().filter_map(text).max_by_key(String::len);
    LikeParts {
        whole: match &pieces[..] {
            [] => Some(String::new()),
            [Piece::Text(text)] => Some(text.clone()),
            _ => None,
        },
        head: pieces.first().and_then(text).unwrap_or_default(),
        head_is_all: matches!(&pieces[..], [Piece::Text(_), Piece::Any]),
        longest: longest.map(|text| (text, matches!(&pieces[..], [Piece::Any, _, Piece::Any]))),
    }
}

/// Case is that of Unicode's simple folding, which the regular expressions know.
fn ilike(pieces: &[Piece]) -> Result<Regex> {
    let body: String = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Any => ".*".to_owned(),
            Piece::One => ".".to_owned(),
            Piece::Text(text) => regex::escape(text),
        })
        .collect();
    let pattern = format!(r"\A{body}\z");
    build(RegexBuilder::new(&pattern).case_insensitive(true).dot_matches_new_line(true), &pattern)
}

/// A pattern with `_`, or with several `%`.
#[derive(Debug)]
pub(super) struct Like {
    /// What must stand at the beginning; all of the text if there is no `%`.
    head: Run,
    /// What must follow, each somewhere behind the one before it.
    middle: Vec<Run>,
    /// What must stand at the end; none without a `%`.
    tail: Option<Run>,
}

/// Texts and single characters without `%` between them.
#[derive(Debug, Default)]
struct Run {
    pieces: Vec<Piece>,
    /// Finds its first text, if it begins with one.
    first: Option<Finder<'static>>,
    characters: usize,
}

impl Like {
    fn new(pieces: Vec<Piece>) -> Self {
        let mut runs: Vec<Run> = pieces.split(|piece| *piece == Piece::Any).map(Run::new).collect();
        let tail = (runs.len() > 1).then(|| runs.pop()).flatten();
        let head = runs.remove(0);
        Like { head, middle: runs, tail }
    }

    fn matches(&self, text: &[u8]) -> bool {
        let Some(mut rest) = self.head.strip(text) else { return false };
        let Some(tail) = &self.tail else { return rest.is_empty() };
        // The first place where a run fits leaves the most for those behind it.
        for run in &self.middle {
            let Some(found) = run.find(rest) else { return false };
            rest = found;
        }
        tail.last_characters(rest).is_some_and(|end| tail.strip(end).is_some())
    }
}

impl Run {
    fn new(pieces: &[Piece]) -> Self {
        let first = match pieces.first() {
            Some(Piece::Text(text)) => Some(Finder::new(text.as_bytes()).into_owned()),
            _ => None,
        };
        let characters = pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.chars().count(),
            _ => 1,
        });
        Run { pieces: pieces.to_vec(), first, characters: characters.sum() }
    }

    /// What follows the run at the beginning of `text`.
    fn strip<'t>(&self, mut text: &'t [u8]) -> Option<&'t [u8]> {
        for piece in &self.pieces {
            text = match piece {
                Piece::Text(part) => text.strip_prefix(part.as_bytes())?,
                _ => &text[first_character(text)?..],
            };
        }
        Some(text)
    }

    /// What follows the first place in `text` where the run fits.
    fn find<'t>(&self, mut text: &'t [u8]) -> Option<&'t [u8]> {
        loop {
            if let Some(finder) = &self.first {
                text = &text[finder.find(text)?..];
            }
            if let Some(rest) = self.strip(text) {
                return Some(rest);
            }
            text = &text[first_character(text)?..];
        }
    }

    /// The end of `text` that has as many characters as the run.
    fn last_characters<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let mut start = text.len();
        for _ in 0..self.characters {
            start = text[..start].iter().rposition(|&byte| !is_continuation(byte))?;
        }
        Some(&text[start..])
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// The length of the first character of UTF-8; none at the end.
fn first_character(text: &[u8]) -> Option<usize> {
    let (_, rest) = text.split_first()?;
    Some(1 + rest.iter().take_while(|byte| is_continuation(**byte)).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_texts() {
        for (pattern, texts) in [
            ("", &[("", true), ("a", false)][..]),
            ("abc", &[("abc", true), ("abcd", false)]),
            ("a%", &[("a", true), ("ab", true), ("ba", false)]),
            ("%a", &[("a", true), ("ba", true), ("ab", false)]),
            ("%b%", &[("abc", true), ("b", true), ("ac", false)]),
            ("a_c", &[("abc", true), ("aéc", true), ("a日c", true), ("ac", false), ("abbc", false)]),
            ("%_", &[("", false), ("é", true), ("abc", true)]),
            ("a%b%c", &[("abc", true), ("aXbXc", true), ("acb", false), ("abab c", true)]),
            ("%ab_%ba", &[("abXba", true), ("aba", false), ("ab ba ba", true), ("ababba", true)]),
            ("ab%ba", &[("aba", false), ("abba", true)]),
            (r"10\%", &[("10%", true), ("10x", false)]),
            (r"a\_%", &[("a_b", true), ("acb", false)]),
            (r"a\", &[(r"a\", true), ("a", false)]),
            ("a\nb", &[("a\nb", true)]),
            ("a_b", &[("a\nb", true)]),
        ] {
            for (text, expected) in texts {
                let like = Pattern::like(pattern, '\\', false).unwrap();
                assert_eq!(like.matches(text.as_bytes()), *expected, "{text:?} LIKE {pattern:?}");
                let ilike = Pattern::like(&pattern.to_uppercase(), '\\', true).unwrap();
                assert_eq!(ilike.matches(text.as_bytes()), *expected, "{text:?} ILIKE {pattern:?}");
            }
        }
        assert!(Pattern::like("ÉCOLE", '\\', true).unwrap().matches("école".as_bytes()));
    }

    #[test]
    fn regular_expressions_are_bounded() {
        assert!(Pattern::regex("^a+$", "i").unwrap().matches(b"AAA"));
        for (pattern, flags) in [("(", ""), ("a", "q"), ("(a{1000}){1000}", ""), (&"(".repeat(100), "")] {
            assert!(Pattern::regex(pattern, flags).is_err(), "{pattern}");
        }
        let hostile = Pattern::regex("(a*)*b", "").unwrap();
        assert!(!hostile.matches("a".repeat(10_000).as_bytes()));
    }
}

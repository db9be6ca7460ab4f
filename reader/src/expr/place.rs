//! [`Place`]: where in a text an expression stands, so that errors can point there.

use crate::Error;
use std::{fmt, sync::Arc};

/// How much of the text an error shows.
const EXCERPT: usize = 32;

/// A place in the text of a filter, or none for what was built otherwise.
#[derive(Clone, Default)]
pub(crate) struct Place(Option<(Arc<str>, usize)>);

impl Place {
    /// The byte `offset` of `text`, at the end if it lies beyond.
    pub(crate) fn new(text: &Arc<str>, offset: usize) -> Self {
        Place(Some((text.clone(), offset)))
    }

    /// An error of invalid input at this place.
    pub(crate) fn error(&self, message: impl fmt::Display) -> Error {
        Error::invalid_input(format!("{message}{self}"))
    }
}

/// Places take no part in the equality of expressions.
impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Display for Place {
    /// The end of a sentence: `, at line 1, column 6: "5.5 AND …"`; nothing if the place is not known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((text, offset)) = &self.0 else { return Ok(()) };
        let (before, rest) = text.split_at_checked(*offset).unwrap_or((text, ""));
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        write!(f, ", at line {line}, column {column}: ")?;
        let shown = rest.lines().next().unwrap_or_default().trim_end();
        match shown.char_indices().nth(EXCERPT) {
            _ if rest.trim().is_empty() => f.write_str("the end"),
            Some((cut, _)) => write!(f, "\"{}…\"", &shown[..cut]),
            None => write!(f, "\"{shown}\""),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some((_, offset)) => write!(f, "@{offset}"),
            None => f.write_str("@?"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_at_line_and_column() {
        let text: Arc<str> = "é = 1\n  AND x = 'a rather long text that goes on and on'\nOR y".into();
        let place = |offset| Place::new(&text, offset).to_string();
        assert_eq!(place(0), ", at line 1, column 1: \"é = 1\"");
        assert_eq!(place(3), ", at line 1, column 3: \"= 1\"");
        assert_eq!(place(13), ", at line 2, column 7: \"x = 'a rather long text that goe…\"");
        assert_eq!(place(text.len()), ", at line 3, column 5: the end");
        assert_eq!(place(1), place(text.len()), "an offset within a character");
        assert_eq!(Place::default().to_string(), "");
    }
}

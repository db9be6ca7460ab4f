//! The one error of this crate: what was wrong, where, and what was expected.
//!
//! An error is made deep inside a decoder that knows an offset but neither the column nor the file.
//! Each layer on the way up adds the place it knows ([`Error::within`]); the caller that opened the
//! file adds its name.

use alloc::{borrow::Cow, boxed::Box, format, string::String};
use core::fmt;

/// What an [`Error`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes contradict the format, or are not there.
    Corrupt,
    /// The bytes may be sound, but use something that this crate does not read.
    Unsupported,
    /// The caller asked for something that the file does not have.
    InvalidInput,
    /// One batch would not fit its column type (more than 2³¹ − 1 bytes of text, say), or would take more memory
    /// than a read should: ask for fewer rows.
    TooLarge,
    /// The [`Source`](crate::Source) could not deliver bytes that it promised.
    Source,
}

/// Why bytes could not be understood. Cheap to pass around: one pointer.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    offset: Option<u64>,
    place: String,
    message: Cow<'static, str>,
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = core::result::Result<T, E>;

impl Error {
    /// An error of `kind`; `message` says what was found and what was expected.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner { kind, offset: None, place: String::new(), message: message.into() }))
    }

    /// The bytes contradict the format.
    #[cold]
    pub fn corrupt(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// The file uses `what`, which this crate does not read.
    #[cold]
    pub fn unsupported(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// The request does not fit the file.
    #[cold]
    pub fn invalid_input(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::InvalidInput, message)
    }

    /// A source failed to deliver bytes; for implementations of [`Source`](crate::Source).
    #[cold]
    pub fn source(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Source, format!("{message}"))
    }

    /// Sets the absolute byte offset in the file, unless a deeper layer already named one.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Adds the enclosing place, outermost last: `.within("page 3").within("column `id`")`.
    #[must_use]
    pub fn within(mut self, place: impl fmt::Display) -> Self {
        self.0.place =
            if self.0.place.is_empty() { format!("{place}") } else { format!("{place}, {}", self.0.place) };
        self
    }

    /// What the error is about.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The absolute byte offset in the file, where one applies.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The place inside the file (column, page), or an empty string.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// What was found and what was expected, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { offset, place, message, .. } = &*self.0;
        f.write_str(place)?;
        if let Some(offset) = offset {
            let separator = if place.is_empty() { "" } else { ", " };
            write!(f, "{separator}byte {offset}")?;
        }
        if !place.is_empty() || offset.is_some() {
            f.write_str(": ")?;
        }
        f.write_str(message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({self})", self.0.kind)
    }
}

impl core::error::Error for Error {}

/// `return Err(corrupt)` unless the condition holds; the message is formatted only then.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::Error::corrupt(alloc::format!($($message)+)));
        }
    };
}
pub(crate) use ensure;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn names_place_offset_and_expectation() {
        let error =
            Error::corrupt("expected 4 bytes, found 3").at(17).at(99).within("page 3").within("column `id`");
        assert_eq!(error.to_string(), "column `id`, page 3, byte 17: expected 4 bytes, found 3");
        assert_eq!(Error::unsupported("x").to_string(), "x");
        assert_eq!(Error::corrupt("x").at(4).to_string(), "byte 4: x");
    }
}

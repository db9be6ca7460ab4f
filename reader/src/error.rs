//! The error of this crate: which file, where in it, and what was expected.

use std::{fmt, io, sync::Arc};

/// What an [`Error`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file or directory could not be read, or is not there.
    Io,
    /// A file's bytes contradict the format.
    Corrupt,
    /// A file uses something that this version of lancet does not read.
    Unsupported,
    /// The caller asked for something that the dataset does not have.
    InvalidInput,
    /// The rows asked for at once do not fit 32-bit offsets, or hold too many bytes of blobs: ask for fewer.
    TooLarge,
    /// The query's deadline passed before it was done.
    DeadlinePassed,
    /// The query was cancelled.
    Cancelled,
}

/// Why a dataset could not be read. One pointer wide, cheap to clone.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    path: Option<String>,
    cause: Cause,
}

enum Cause {
    Io(io::Error),
    Format(lancet_format::Error),
    Index(lancet_format::Error),
    Other(ErrorKind, String),
}

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn io(path: impl Into<String>, error: io::Error) -> Self {
        Error(Arc::new(Inner { path: Some(path.into()), cause: Cause::Io(error) }))
    }

    pub(crate) fn format(path: impl Into<String>, error: lancet_format::Error) -> Self {
        Error(Arc::new(Inner { path: Some(path.into()), cause: Cause::Format(error) }))
    }

    /// An error of an index, without which there is another way.
    pub(crate) fn index(path: impl Into<String>, error: lancet_format::Error) -> Self {
        Error(Arc::new(Inner { path: Some(path.into()), cause: Cause::Index(error) }))
    }

    pub(crate) fn corrupt(path: impl Into<String>, message: impl Into<String>) -> Self {
        let cause = Cause::Other(ErrorKind::Corrupt, message.into());
        Error(Arc::new(Inner { path: Some(path.into()), cause }))
    }

    pub(crate) fn not_found(path: impl Into<String>, message: impl Into<String>) -> Self {
        let cause = Cause::Other(ErrorKind::Io, message.into());
        Error(Arc::new(Inner { path: Some(path.into()), cause }))
    }

    pub(crate) fn invalid_input(message: impl Into<String>) -> Self {
        Error(Arc::new(Inner { path: None, cause: Cause::Other(ErrorKind::InvalidInput, message.into()) }))
    }

    /// A query that had to end before it was done.
    pub(crate) fn stopped(kind: ErrorKind, message: &str) -> Self {
        Error(Arc::new(Inner { path: None, cause: Cause::Other(kind, message.into()) }))
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Error(Arc::new(Inner { path: None, cause: Cause::Other(ErrorKind::Unsupported, message.into()) }))
    }

    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Error(Arc::new(Inner { path: None, cause: Cause::Other(ErrorKind::TooLarge, message.into()) }))
    }

    /// What the error is about.
    pub fn kind(&self) -> ErrorKind {
        use lancet_format::ErrorKind as Format;
        match &self.0.cause {
            Cause::Io(_) => ErrorKind::Io,
            Cause::Other(kind, _) => *kind,
            Cause::Format(error) | Cause::Index(error) => match error.kind() {
                Format::Unsupported => ErrorKind::Unsupported,
                Format::InvalidInput => ErrorKind::InvalidInput,
                Format::TooLarge => ErrorKind::TooLarge,
                Format::Source => ErrorKind::Io,
                _ => ErrorKind::Corrupt,
            },
        }
    }

    /// Whether a file or directory is not there.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(&self.0.cause, Cause::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// The file that the error is about, where it is about one.
    pub fn path(&self) -> Option<&str> {
        self.0.path.as_deref()
    }

    /// The byte offset in that file, where one applies.
    pub fn offset(&self) -> Option<u64> {
        match &self.0.cause {
            Cause::Format(error) | Cause::Index(error) => error.offset(),
            _ => None,
        }
    }
}

impl From<lancet_format::Error> for Error {
    /// An error about no file: a request that the schema cannot serve.
    fn from(error: lancet_format::Error) -> Self {
        Error(Arc::new(Inner { path: None, cause: Cause::Format(error) }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.0.path {
            write!(f, "{path}: ")?;
        }
        match &self.0.cause {
            Cause::Io(error) => write!(f, "{error}"),
            Cause::Format(error) => write!(f, "{error}"),
            Cause::Index(error) => write!(
                f,
                "{error} (without indices a query does without this file: `--no-index`, `IndexUse::Never`)"
            ),
            Cause::Other(_, message) => f.write_str(message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({self})", self.kind())
    }
}

impl std::error::Error for Error {}

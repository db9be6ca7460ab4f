//! [`Error`]: why a command has no answer.

use std::{error::Error as _, fmt, io};

/// `Result` with this command's [`Error`].
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug)]
pub(crate) enum Error {
    /// The library's own words.
    Dataset(lancet::Error),
    /// The library's own words on what a flag says.
    Flag(&'static str, lancet::Error),
    /// A feature that the contract has and this version does not.
    NotThereYet(&'static str),
    /// A value that cannot be shown.
    Value(String),
    /// A verification found so many faults; the answer has told them.
    Findings(usize),
    /// The answer could not be written.
    Output(io::Error),
}

impl Error {
    /// That an error is about what `flag` says.
    pub(crate) fn of(flag: &'static str) -> impl FnOnce(lancet::Error) -> Self {
        move |error| Error::Flag(flag, error)
    }

    /// Whether the reader of standard output has gone.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The error and its causes in one line; a cause that its effect already tells is left out.
    pub(crate) fn line(&self) -> String {
        let mut line = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            let text = error.to_string();
            if !line.contains(&text) {
                line.push_str(": ");
                line.push_str(&text);
            }
            cause = error.source();
        }
        line.replace(|character: char| character.is_control(), " ")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Dataset(error) => error.fmt(f),
            Error::Flag(flag, error) => write!(f, "{flag}: {error}"),
            Error::NotThereYet(what) => write!(f, "{what} is not there yet"),
            Error::Value(message) => f.write_str(message),
            Error::Findings(1) => f.write_str("one thing is wrong"),
            Error::Findings(count) => write!(f, "{count} things are wrong"),
            Error::Output(error) => write!(f, "standard output: {error}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Dataset(error) | Error::Flag(_, error) => error.source(),
            Error::NotThereYet(_) | Error::Value(_) | Error::Findings(_) | Error::Output(_) => None,
        }
    }
}

impl From<lancet::Error> for Error {
    fn from(error: lancet::Error) -> Self {
        Error::Dataset(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Output(error)
    }
}

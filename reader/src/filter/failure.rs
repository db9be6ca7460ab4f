//! [`Failures`]: rows whose value could not be computed.

use super::Mask;
use crate::Error;

/// The rows for which an operation failed, and why the first of them did. Whether that is an error is known only once
/// it is clear that the row is not decided by something else.
#[derive(Debug, Default)]
pub(super) struct Failures {
    rows: Option<Mask>,
    first: Option<(usize, String)>,
}

impl Failures {
    pub(super) fn is_none(&self) -> bool {
        self.rows.as_ref().is_none_or(Mask::is_none)
    }

    pub(super) fn rows(&self) -> Option<&Mask> {
        self.rows.as_ref()
    }

    /// Adds `row` of `len`.
    pub(super) fn push(&mut self, row: usize, len: usize, message: impl FnOnce() -> String) {
        self.rows.get_or_insert_with(|| Mask::filled(len, false)).set(row, true);
        if self.first.as_ref().is_none_or(|(first, _)| row < *first) {
            self.first = Some((row, message()));
        }
    }

    /// Adds rows of which it is not known why they failed.
    pub(super) fn add(&mut self, rows: Mask) {
        if !rows.is_none() {
            self.merge(Failures { rows: Some(rows), first: None });
        }
    }

    /// Adds those of `other`; where both know why a row failed, this one counts.
    pub(super) fn merge(&mut self, other: Failures) {
        match (&mut self.rows, other.rows) {
            (Some(rows), Some(other)) => rows.or(&other),
            (rows @ None, Some(other)) => *rows = Some(other),
            (_, None) => {}
        }
        if let Some((row, message)) = other.first
            && self.first.as_ref().is_none_or(|(first, _)| row < *first)
        {
            self.first = Some((row, message));
        }
    }

    /// Forgets the rows outside of `mask`.
    pub(super) fn retain(&mut self, mask: &Mask) {
        if let Some(rows) = &mut self.rows {
            rows.and(mask);
        }
        if self.first.as_ref().is_some_and(|(row, _)| !mask.get(*row)) {
            self.first = None;
        }
    }

    /// Why the first of the rows failed that it is known of.
    pub(super) fn error(self) -> Option<Error> {
        self.first.map(|(_, message)| Error::invalid_input(message))
    }

    /// The first row that failed, and why if that is still known.
    pub(super) fn first(self) -> Option<(usize, Option<Error>)> {
        let row = self.rows.as_ref()?.iter().next()?;
        let message = self.first.filter(|(first, _)| *first == row).map(|(_, message)| message);
        Some((row, message.map(Error::invalid_input)))
    }
}

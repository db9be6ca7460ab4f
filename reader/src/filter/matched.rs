//! Texts that are matched with patterns.

use super::{
    build,
    expression::Call,
    like::Pattern,
    rows::Value,
    term::{Known, Test},
    types::Bytes,
};
use crate::{Result, expr::Comparison};
use std::{collections::HashMap, sync::Arc};

/// How many patterns of rows are kept compiled.
const KEPT: usize = 64;

/// The kind of match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Like {
        escape: char,
        ignore_case: bool,
    },
    StartsWith,
    EndsWith,
    Contains,
    /// With or without flags.
    Regex,
}

impl Kind {
    fn pattern(self, pattern: &str, flags: &str) -> Result<Pattern> {
        match self {
            Kind::Like { escape, ignore_case } => Pattern::like(pattern, escape, ignore_case),
            Kind::StartsWith => Ok(Pattern::prefix(pattern.as_bytes())),
            Kind::EndsWith => Ok(Pattern::suffix(pattern.as_bytes())),
            Kind::Contains => Ok(Pattern::contains(pattern.as_bytes())),
            Kind::Regex => Pattern::regex(pattern, flags),
        }
    }
}

/// A match with one pattern: `constants` are the pattern and, of a regular expression, perhaps its flags.
///
/// # Errors
/// Invalid input if the pattern is none.
pub(super) fn with_constant(kind: Kind, constants: &[Arc<str>]) -> Result<Test> {
    let flags = constants.get(1).map_or("", |flags| flags);
    let pattern = kind.pattern(&constants[0], flags)?;
    Ok(Box::new(move |columns, rows| {
        let bytes = Bytes::of(&columns[0])?;
        // One loop for each kind of pattern.
        Ok(Known::all(match &pattern {
            Pattern::Exact(exact) => bytes.compare(Comparison::Equal, exact, rows),
            Pattern::Prefix(prefix) => bytes.starts_with(prefix, rows),
            Pattern::Suffix(suffix) => bytes.select(rows, |text| text.ends_with(suffix)),
            Pattern::Contains(finder) => bytes.select(rows, |text| finder.find(text).is_some()),
            other => bytes.select(rows, |text| other.matches(text)),
        }))
    }))
}

/// A match with the pattern of the same row.
pub(super) fn with_each_other(kind: Kind) -> Call {
    Call::new(move |values, len, fail| {
        let texts = values.iter().map(|value| Bytes::of(&value.column)).collect::<Result<Vec<_>>>()?;
        let text = |argument: usize, row: usize| texts[argument].text(Value::at(&values[argument], row));
        let mut patterns: HashMap<(&str, &str), Result<Pattern>> = HashMap::new();
        let mut matches = vec![false; len];
        let valid = |row: usize| values.iter().all(|value| !value.is_null(row));
        for row in (0..len).filter(|&row| valid(row)) {
            let key = (text(1, row), if values.len() > 2 { text(2, row) } else { "" });
            if patterns.len() >= KEPT && !patterns.contains_key(&key) {
                patterns.clear();
            }
            match patterns.entry(key).or_insert_with(|| kind.pattern(key.0, key.1)) {
                Ok(pattern) => matches[row] = pattern.matches(texts[0].get(values[0].at(row))),
                Err(error) => fail.row(row, || error.to_string()),
            }
        }
        build::booleans(build::bits(matches.into_iter()), build::validity((0..len).map(valid)))
    })
}

//! [`RowList`]: rows written as `0,5,10-20`.

use std::{ops::RangeInclusive, str::FromStr};

/// Row numbers or identifiers in the order asked, duplicates kept; ranges include both ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowList(Vec<RangeInclusive<u64>>);

impl RowList {
    /// The rows one by one: a range may name far more of them than fit in memory.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().cloned().flatten()
    }
}

impl FromStr for RowList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| {
            text.trim().parse::<u64>().map_err(|_| format!("expected a row such as 5, found `{text}`"))
        };
        let range = |part: &str| {
            let (first, last) = match part.split_once('-') {
                Some((first, last)) if !first.trim().is_empty() => (first, last),
                _ => (part, part),
            };
            let (first, last) = (number(first)?, number(last)?);
            if first > last {
                return Err(format!("expected a range that ascends, found `{part}`"));
            }
            Ok(first..=last)
        };
        text.split(',').map(range).collect::<Result<_, _>>().map(RowList)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<u64>, String> {
        text.parse::<RowList>().map(|rows| rows.iter().collect())
    }

    #[test]
    fn rows_and_ranges_in_the_order_asked() {
        assert_eq!(parse("0,5,10-12").unwrap(), [0, 5, 10, 11, 12]);
        assert_eq!(parse("6, 0,0,3-3").unwrap(), [6, 0, 0, 3]);
        assert_eq!(parse("18446744073709551615").unwrap(), [u64::MAX]);
    }

    #[test]
    fn a_huge_range_costs_nothing() {
        let rows: RowList = "3-18446744073709551615".parse().unwrap();
        assert_eq!(rows.iter().take(2).collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn what_is_no_row() {
        for text in ["", ",", "1,", "a", "-1", "1-", "3-2", "1.5", "18446744073709551616", "1-2-3"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}

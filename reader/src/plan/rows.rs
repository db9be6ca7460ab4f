//! [`Rows`]: a set of row addresses, or all others.

use lancet_index::RowSet;
use std::ops::Range;

/// Row addresses of which some are listed: those in the set, or those that are not.
#[derive(Debug, Default, Clone)]
pub(crate) struct Rows {
    pub(crate) set: RowSet,
    pub(crate) is_complement: bool,
}

impl Rows {
    pub(crate) fn of(set: RowSet) -> Self {
        Rows { set, is_complement: false }
    }

    /// All other rows.
    pub(crate) fn complement(self) -> Self {
        Rows { is_complement: !self.is_complement, ..self }
    }

    /// The rows that are in both.
    pub(crate) fn and(&self, other: &Rows) -> Rows {
        let set = match (self.is_complement, other.is_complement) {
            (false, false) => self.set.intersection(&other.set),
            (false, true) => self.set.difference(&other.set),
            (true, false) => other.set.difference(&self.set),
            (true, true) => self.set.union(&other.set),
        };
        Rows { set, is_complement: self.is_complement && other.is_complement }
    }

    /// The rows that are in either.
    pub(crate) fn or(&self, other: &Rows) -> Rows {
        let set = match (self.is_complement, other.is_complement) {
            (false, false) => self.set.union(&other.set),
            (false, true) => other.set.difference(&self.set),
            (true, false) => self.set.difference(&other.set),
            (true, true) => self.set.intersection(&other.set),
        };
        Rows { set, is_complement: self.is_complement || other.is_complement }
    }

    /// Appends the offsets in a fragment that lie in `within`, as ascending ranges.
    pub(crate) fn extend_ranges(&self, fragment: u32, within: Range<u64>, out: &mut Vec<Range<u64>>) {
        let base = u64::from(fragment) << 32;
        let addresses = base + within.start..base.saturating_add(within.end);
        let listed = self.set.ranges_within(addresses).map(|range| range.start - base..range.end - base);
        if !self.is_complement {
            return out.extend(listed);
        }
        let mut start = within.start;
        for range in listed {
            if start < range.start {
                out.push(start..range.start);
            }
            start = range.end;
        }
        if start < within.end {
            out.push(start..within.end);
        }
    }

    /// How many rows of a fragment of `rows` physical rows.
    pub(crate) fn len_of(&self, fragment: u32, rows: u64) -> u64 {
        let beyond = self.set.ranges_of(fragment).filter(|range| range.end > rows);
        let beyond: u64 = beyond.map(|range| range.end - range.start.max(rows)).sum();
        let listed = self.set.len_of(fragment) - beyond;
        if self.is_complement { rows - listed } else { listed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation on every pair of sets, listed or by their complement, against sets of booleans.
    #[test]
    fn algebra() {
        const ROWS: u64 = 6;
        let all: Vec<(Rows, u32)> = (0..1u32 << ROWS)
            .flat_map(|bits| {
                let set: RowSet = (0..ROWS).filter(|row| bits >> row & 1 != 0).collect();
                [(Rows::of(set.clone()), bits), (Rows::of(set).complement(), !bits & 0x3f)]
            })
            .collect();
        let bits_of = |rows: &Rows| {
            let mut ranges = Vec::new();
            rows.extend_ranges(0, 0..ROWS, &mut ranges);
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
            assert_eq!(rows.len_of(0, ROWS), ranges.iter().map(|range| range.end - range.start).sum::<u64>());
            ranges.into_iter().flatten().fold(0u32, |bits, row| bits | 1 << row)
        };
        for (a, a_bits) in &all {
            assert_eq!(bits_of(a), *a_bits);
            for (b, b_bits) in &all {
                assert_eq!(bits_of(&a.and(b)), a_bits & b_bits);
                assert_eq!(bits_of(&a.or(b)), a_bits | b_bits);
            }
        }
    }

    /// An index may name rows that a fragment does not have.
    #[test]
    fn rows_beyond_the_fragment() {
        let rows = Rows::of([1, 5, 6, 9, 1 << 32].into_iter().collect());
        let mut ranges = Vec::new();
        rows.extend_ranges(0, 0..6, &mut ranges);
        assert_eq!((ranges, rows.len_of(0, 6)), (vec![1..2, 5..6], 2));
        let mut ranges = Vec::new();
        rows.complement().extend_ranges(0, 0..6, &mut ranges);
        assert_eq!(ranges, [0..1, 2..5]);
    }
}

//! [`Bracket`]: the rows for which a condition may be true, and those among them for which it surely is.
//!
//! | | most | least |
//! |---|---|---|
//! | a AND b | ∩ | ∩ |
//! | a OR b | ∪ | ∪ |
//! | all others | all but the least | all but the most |

use super::rows::Rows;

/// Rows between which the answer lies.
#[derive(Debug)]
pub(crate) struct Bracket {
    /// No other rows are in the answer.
    pub(crate) most: Rows,
    pub(crate) least: Least,
}

/// Rows that are in the answer for sure.
#[derive(Debug)]
pub(crate) enum Least {
    /// All that may be.
    All,
    /// Some of them.
    Some(Rows),
    /// None is known.
    None,
}

impl Bracket {
    /// The answer itself.
    pub(crate) fn exact(rows: Rows) -> Self {
        Bracket { most: rows, least: Least::All }
    }

    /// Whether it is the answer itself.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.least, Least::All)
    }

    /// The rows that are in both.
    pub(crate) fn and(self, other: Bracket) -> Bracket {
        let least = match (&self.least, &other.least) {
            (Least::All, Least::All) => Least::All,
            (Least::All, Least::Some(rows)) => Least::Some(rows.and(&self.most)),
            (Least::Some(rows), Least::All) => Least::Some(rows.and(&other.most)),
            (Least::Some(a), Least::Some(b)) => Least::Some(a.and(b)),
            (Least::None, _) | (_, Least::None) => Least::None,
        };
        Bracket { most: self.most.and(&other.most), least }
    }

    /// The rows that are in either.
    pub(crate) fn or(self, other: Bracket) -> Bracket {
        let most = self.most.or(&other.most);
        if self.is_exact() && other.is_exact() {
            return Bracket::exact(most);
        }
        let least = match (self.known(), other.known()) {
            (Some(a), Some(b)) => Least::Some(a.or(&b)),
            (Some(rows), None) | (None, Some(rows)) => Least::Some(rows),
            (None, None) => Least::None,
        };
        Bracket { most, least }
    }

    /// All rows that are not in the answer.
    pub(crate) fn complement(self) -> Bracket {
        match self.least {
            Least::All => Bracket::exact(self.most.complement()),
            Least::Some(rows) => {
                Bracket { most: rows.complement(), least: Least::Some(self.most.complement()) }
            }
            Least::None => {
                Bracket { most: Rows::default().complement(), least: Least::Some(self.most.complement()) }
            }
        }
    }

    /// Those of which more is asked than what this answers.
    pub(crate) fn at_most(self) -> Bracket {
        Bracket { least: Least::None, ..self }
    }

    /// The rows that are known to be in the answer.
    fn known(self) -> Option<Rows> {
        match self.least {
            Least::All => Some(self.most),
            Least::Some(rows) => Some(rows),
            Least::None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What every operation says of brackets of three rows holds for all answers that lie in them.
    #[test]
    fn algebra() {
        const ALL: u32 = 0b111;
        let rows = |bits: u32| Rows::of((0..3).filter(|row| bits >> row & 1 != 0).collect());
        let bits = |rows: &Rows| {
            let mut ranges = Vec::new();
            rows.extend_ranges(0, 0..3, &mut ranges);
            ranges.into_iter().flatten().fold(0u32, |bits, row| bits | 1 << row)
        };
        // Each with the answers that it stands for.
        let brackets = || {
            (0..=ALL).flat_map(move |most| {
                let some = (0..=ALL).filter(move |least| least & !most == 0);
                some.map(move |least| (most, Some(least))).chain([(most, None)])
            })
        };
        let of = |(most, least): (u32, Option<u32>)| Bracket {
            most: rows(most),
            least: match least {
                Some(least) if least == most => Least::All,
                Some(least) => Least::Some(rows(least)),
                None => Least::None,
            },
        };
        let answers = |(most, least): (u32, Option<u32>)| {
            (0..=ALL).filter(move |answer| answer & !most == 0 && least.unwrap_or(0) & !answer == 0)
        };
        let holds = |bracket: Bracket, answer: u32| {
            assert_eq!(answer & !bits(&bracket.most), 0);
            let exact = bracket.is_exact();
            let least = bracket.known().map_or(0, |rows| bits(&rows));
            assert_eq!(least & !answer, 0);
            least == answer || !exact
        };
        for a in brackets() {
            for answer in answers(a) {
                assert!(holds(of(a).complement(), ALL & !answer));
                assert!(holds(of(a).at_most(), answer));
            }
            for b in brackets() {
                for (left, right) in answers(a).flat_map(|left| answers(b).map(move |right| (left, right))) {
                    assert!(holds(of(a).and(of(b)), left & right));
                    assert!(holds(of(a).or(of(b)), left | right));
                }
            }
        }
    }
}

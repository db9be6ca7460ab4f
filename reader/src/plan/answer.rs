//! [`Answer`]: which indices a filter uses, what they leave, and what is still to be evaluated on that.
//!
//! ```text
//! conditions ─ locate ▶ the best index for each, with how many rows it lists
//! conjuncts ── choose ▶ those whose rows are read from indices, the fewest first; the rest refines
//! rows ─────── ∩ of the trees of the chosen, per fragment of which all their indices know
//! ```
//!
//! | tree | rows | exact if |
//! |---|---|---|
//! | condition | what the index lists, or all but that | the index says so |
//! | AND | ∩ of those that an index serves | all are served and exact |
//! | OR | ∪, if all are served | all are exact |
//! | complement | all other rows, if it is exact | always |
//! | at most | those of the inner tree | never |

use super::{
    bracket::{Bracket, Least},
    condition::Condition,
    fragments::Fragments,
    locate::{Located, Search},
    rows::Rows,
    split::{Conjunct, Tree},
};
use crate::Result;
use lancet_format::Physical;

/// What each step takes, compared with comparing a number in a scan.
mod cost {
    /// A text, in a scan.
    pub(super) const TEXT: u64 = 8;
    /// An entry of a BTree: its id is read and put in order.
    pub(super) const ENTRY: u64 = 5;
    /// A row that is found, to be looked at by itself.
    pub(super) const FOUND: u64 = 20;
    /// A row that is found beside others.
    pub(super) const ROW: u64 = 2;
    /// What is not worth thinking about.
    pub(super) const FREE: u64 = 1 << 17;
}

/// When indices are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum IndexUse {
    /// Where they promise less work than the scan that they save.
    #[default]
    Auto,
    /// Wherever they serve the filter.
    Always,
    /// Never.
    Never,
}

/// How a filter is answered with indices.
#[derive(Debug)]
pub(crate) struct Answer<'d> {
    /// By the number of the condition.
    pub(crate) located: Vec<Option<Located<'d>>>,
    /// The numbers of the conjuncts whose rows come from indices, the fewest rows first.
    pub(crate) used: Vec<usize>,
    /// Those that are evaluated on the rows that the others leave.
    pub(crate) refine: Vec<usize>,
    /// The fragments that the rows are about: all others are scanned.
    pub(crate) coverage: Fragments,
    /// At most so many rows, some of which may be gone.
    pub(crate) estimate: u64,
}

/// What a tree will give.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    rows: u64,
    exact: bool,
    /// What finding the rows takes.
    cost: u64,
    /// What looking at them takes.
    work: u64,
}

/// A conjunct that indices serve.
struct Candidate {
    number: usize,
    estimate: Estimate,
    coverage: Fragments,
}

/// What a query wants of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) indices: IndexUse,
    /// How many rows are enough.
    pub(crate) rows: u64,
}

impl<'d> Answer<'d> {
    /// `None` if the dataset is to be scanned.
    ///
    /// # Errors
    /// Those of the files of indices.
    pub(crate) fn plan(
        search: Search<'d>,
        conjuncts: &[Conjunct],
        conditions: &[Condition],
        wanted: Wanted,
    ) -> Result<Option<Self>> {
        if wanted.indices == IndexUse::Never || conditions.is_empty() {
            return Ok(None);
        }
        let live = search.dataset.live_before()?;
        let total = live.last().copied().unwrap_or(0);
        let rows_in = |fragments: &Fragments| -> u64 {
            fragments.iter().map(|position| live[position + 1] - live[position]).sum()
        };
        let located = conditions
            .iter()
            .map(|condition| best(search, condition, &|coverage| total - rows_in(coverage)))
            .collect::<Result<Vec<_>>>()?;
        let mut candidates = Vec::new();
        for (number, conjunct) in conjuncts.iter().enumerate() {
            let Some(tree) = &conjunct.tree else { continue };
            let Some(estimate) = estimate(tree, &located, total) else { continue };
            let mut coverage = Fragments::all(live.len() - 1);
            cover(tree, &located, &mut coverage);
            if !coverage.is_empty() {
                candidates.push(Candidate { number, estimate, coverage });
            }
        }
        candidates.sort_by_key(|candidate| {
            candidate.estimate.work.saturating_add(total - rows_in(&candidate.coverage))
        });
        let mut candidates = candidates.into_iter();
        let Some(first) = candidates.next() else { return Ok(None) };
        let covered = rows_in(&first.coverage);
        let mut answer = Answer {
            located,
            used: vec![first.number],
            refine: Vec::new(),
            coverage: first.coverage,
            estimate: first.estimate.rows,
        };
        if wanted.indices == IndexUse::Auto {
            // A scan may end early where few rows are wanted of many.
            let share = wanted.rows.saturating_mul(covered) / answer.estimate.max(1);
            let scan = covered.min(share.max(1)).saturating_mul(scan_cost(conjuncts));
            if first.estimate.cost.saturating_mul(cost::ENTRY) > scan.saturating_add(cost::FREE) {
                return Ok(None);
            }
        }
        let mut is_exact = vec![false; conjuncts.len()];
        is_exact[first.number] = first.estimate.exact;
        let mut work = first.estimate.work;
        for other in candidates {
            let mut shared = answer.coverage.clone();
            shared.retain(&other.coverage);
            let lost = rows_in(&answer.coverage) - rows_in(&shared);
            let price = (other.estimate.cost.saturating_mul(cost::ENTRY)).saturating_add(lost);
            let pays = price <= work;
            if shared.is_empty() || wanted.indices == IndexUse::Auto && !pays {
                continue;
            }
            answer.coverage = shared;
            answer.used.push(other.number);
            is_exact[other.number] = other.estimate.exact;
            // As if the one said nothing about the other.
            let product = u128::from(answer.estimate) * u128::from(other.estimate.rows);
            answer.estimate = (product / u128::from(total.max(1))) as u64;
            work = work.min(answer.estimate.saturating_mul(cost::FOUND));
        }
        answer.refine = (0..conjuncts.len()).filter(|&number| !is_exact[number]).collect();
        Ok(Some(answer))
    }

    /// The rows that the chosen indices leave, in the fragments of the coverage; for the least of them, all conjuncts that
    /// were chosen are true.
    ///
    /// # Errors
    /// Those of the files of indices, and of the row ids of fragments.
    pub(crate) fn rows(&self, search: Search<'_>, conjuncts: &[Conjunct]) -> Result<Bracket> {
        let mut all: Option<Bracket> = None;
        for &number in &self.used {
            let tree = conjuncts[number].tree.as_ref();
            let read = tree.map(|tree| self.read(search, tree)).transpose()?.flatten();
            let Some(rows) = read else { continue };
            all = Some(match all {
                None => rows,
                Some(all) => all.and(rows),
            });
        }
        Ok(all.unwrap_or(Bracket { most: Rows::default().complement(), least: Least::None }))
    }

    /// The rows of a tree; `None` if indices do not serve it, as [`estimate`] says.
    fn read(&self, search: Search<'_>, tree: &Tree) -> Result<Option<Bracket>> {
        let each =
            |trees: &[Tree]| trees.iter().map(|tree| self.read(search, tree)).collect::<Result<Vec<_>>>();
        Ok(match tree {
            Tree::Leaf(number) => match &self.located[*number] {
                None => None,
                Some(located) => Some(located.read(search)?),
            },
            Tree::And(trees) => {
                let all = each(trees)?;
                let is_served = all.iter().all(Option::is_some);
                let both = all.into_iter().flatten().reduce(Bracket::and);
                if is_served { both } else { both.map(Bracket::at_most) }
            }
            Tree::Or(trees) => {
                let all: Option<Vec<Bracket>> = each(trees)?.into_iter().collect();
                all.and_then(|all| all.into_iter().reduce(Bracket::or))
            }
            Tree::Complement(inner) => self.read(search, inner)?.map(Bracket::complement),
            Tree::AtMost(inner) => self.read(search, inner)?.map(Bracket::at_most),
        })
    }

    /// The number of rows, if the indices know it without reading the rows.
    ///
    /// # Errors
    /// Those of deletion files.
    pub(crate) fn count(
        &self,
        search: Search<'_>,
        conjuncts: &[Conjunct],
        wanted: &Fragments,
    ) -> Result<Option<u64>> {
        match (conjuncts, &self.refine[..]) {
            ([Conjunct { tree: Some(Tree::Leaf(number)), .. }], []) => match &self.located[*number] {
                Some(located) => located.count(search, wanted),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }
}

/// The best index for a condition; `uncovered` counts the rows that are left to a scan.
fn best<'d>(
    search: Search<'d>,
    condition: &Condition,
    uncovered: &dyn Fn(&Fragments) -> u64,
) -> Result<Option<Located<'d>>> {
    let mut best: Option<(u64, Located<'d>)> = None;
    for index in search.dataset.catalog()?.of_field(condition.field) {
        let Some(located) = search.locate(index, condition)? else { continue };
        let found = located.rows();
        let price = uncovered(&located.coverage)
            .saturating_add(located.cost().saturating_mul(cost::ENTRY))
            .saturating_add(found.saturating_mul(if located.exact { cost::FOUND } else { cost::FOUND + 2 }));
        if best.as_ref().is_none_or(|(least, _)| price < *least) {
            best = Some((price, located));
        }
    }
    Ok(best.map(|(_, located)| located))
}

/// What a tree will give of `total` rows; `None` if indices do not serve it.
fn estimate(tree: &Tree, located: &[Option<Located<'_>>], total: u64) -> Option<Estimate> {
    let each = |trees: &[Tree]| -> Vec<Option<Estimate>> {
        trees.iter().map(|tree| estimate(tree, located, total)).collect()
    };
    Some(match tree {
        Tree::Leaf(number) => {
            let located = located[*number].as_ref()?;
            let rows = located.rows().min(total);
            let of_row = if located.is_of_zones() || rows > total / 16 { cost::ROW } else { cost::FOUND };
            let work = rows.saturating_mul(of_row);
            Estimate { rows, exact: located.exact, cost: located.cost(), work }
        }
        Tree::And(trees) => {
            let all = each(trees);
            let is_served = all.iter().all(Option::is_some);
            let all = all.into_iter().flatten();
            let mut sum = all.reduce(|a, b| Estimate {
                rows: a.rows.min(b.rows),
                exact: a.exact && b.exact,
                cost: a.cost.saturating_add(b.cost),
                work: a.work.min(b.work),
            })?;
            sum.exact &= is_served;
            sum
        }
        Tree::Or(trees) => {
            let all: Option<Vec<Estimate>> = each(trees).into_iter().collect();
            all?.into_iter().reduce(|a, b| Estimate {
                rows: a.rows.saturating_add(b.rows).min(total),
                exact: a.exact && b.exact,
                cost: a.cost.saturating_add(b.cost),
                work: a.work.saturating_add(b.work),
            })?
        }
        Tree::Complement(inner) => {
            let inner = estimate(inner, located, total).filter(|inner| inner.exact)?;
            let rows = total - inner.rows;
            Estimate { rows, work: rows.saturating_mul(cost::ROW), ..inner }
        }
        Tree::AtMost(inner) => Estimate { exact: false, ..estimate(inner, located, total)? },
    })
}

/// Leaves the fragments that all indices of a tree know.
fn cover(tree: &Tree, located: &[Option<Located<'_>>], coverage: &mut Fragments) {
    tree.leaves(&mut |number| {
        if let Some(located) = &located[number] {
            coverage.retain(&located.coverage);
        }
    });
}

/// What evaluating the cheapest conjunct on a row costs.
fn scan_cost(conjuncts: &[Conjunct]) -> u64 {
    let of = |conjunct: &Conjunct| {
        let mut cost = 1;
        conjunct.typed.columns(&mut |column| {
            let text = match column {
                crate::expr::ColumnRef::Field(path) => path.last().is_some_and(|field| {
                    !matches!(field.data_type.physical(), Physical::Bits | Physical::Fixed(_))
                }),
                _ => false,
            };
            cost = cost.max(if text { cost::TEXT } else { 1 });
        });
        cost
    };
    conjuncts.iter().map(of).min().unwrap_or(1)
}

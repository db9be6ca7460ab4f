//! [`Term`]: a condition, compiled.

use super::{Mask, expression::Expression};
use crate::{Result, expr};
use lancet_format::{Column, Values};
use std::{fmt, sync::Arc};

/// A condition.
#[derive(Debug)]
pub(super) struct Term {
    pub(super) node: Node,
    /// The only column that it depends on.
    pub(super) column: Option<usize>,
    /// The number of its table of outcomes by distinct value, where it depends on one column.
    pub(super) slot: Option<usize>,
    pub(super) can_fail: bool,
    /// Roughly how long a row takes.
    pub(super) cost: u32,
}

/// What a condition does.
#[derive(Debug)]
pub(super) enum Node {
    Constant(Option<bool>),
    /// The terms that can fail last, otherwise the cheapest first.
    And(Vec<Term>),
    /// Likewise.
    Or(Vec<Term>),
    Not(Box<Term>),
    /// Whether a condition is true, false or NULL.
    Is {
        operand: Box<Term>,
        test: expr::Test,
    },
    Leaf(Leaf),
}

/// A condition on values.
pub(super) struct Leaf {
    pub(super) operands: Vec<Expression>,
    /// Whether it is NULL exactly where one of its operands is.
    pub(super) strict: bool,
    pub(super) test: Test,
}

/// Decides for each row of the mask, outside of which the answer means nothing; the columns have one row for each of
/// the mask's. The part `known` of a strict leaf is not looked at.
pub(super) type Test = Box<dyn Fn(&[Arc<Column>], &Mask) -> Result<Known> + Send + Sync>;

/// The rows for which a condition is true, unless it is NULL; and those for which it is not NULL, if that is not all.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) yes: Mask,
    pub(super) known: Option<Mask>,
}

impl Known {
    /// Not NULL anywhere, or a strict leaf.
    pub(super) fn all(yes: Mask) -> Self {
        Known { yes, known: None }
    }
}

impl Leaf {
    /// Runs the test.
    pub(super) fn run(&self, operands: &[Arc<Column>], rows: &Mask) -> Result<Known> {
        let mut found = (self.test)(operands, rows)?;
        if self.strict {
            found.known = valid(operands);
        }
        Ok(found)
    }
}

/// The rows in which no column is NULL, if that is not all.
pub(super) fn valid(columns: &[Arc<Column>]) -> Option<Mask> {
    let mut valid: Option<Mask> = None;
    for column in columns {
        let all_null = matches!(column.values(), Values::Null);
        if column.validity().is_none() && !all_null {
            continue;
        }
        let mask = valid.get_or_insert_with(|| Mask::filled(column.len(), true));
        match column.validity() {
            Some(bits) if !all_null => mask.and_bits(bits),
            _ => mask.clear(),
        }
    }
    valid
}

impl fmt::Debug for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leaf").field("operands", &self.operands).field("strict", &self.strict).finish()
    }
}

//! Which rows a condition is true for, false for, or neither: three-valued logic over masks.
//!
//! Every condition can be asked for the rows where it is true, or for those where it is false, without knowing where it
//! is NULL: `NOT` asks for the other, AND for true and OR for false are a chain of narrowings, AND for false and OR for
//! true a union. Only a test of a condition for NULL, and a condition that is used as a value, need both
//! ([`Context::truth`]).
//!
//! Operands that can fail come last. A row is left to them only as long as the others have not decided it, and a row
//! on which one of them failed is still decided by the next: so no order of theirs decides whether there is an error.

use super::{
    Mask,
    context::Context,
    failure::Failures,
    term::{Node, Term},
};
use crate::{Result, expr::Test};

/// The rows for which a condition is true, those for which it is false; for the others it is NULL or has failed.
#[derive(Debug)]
pub(super) struct Truth {
    pub(super) yes: Mask,
    pub(super) no: Mask,
}

impl Context<'_> {
    /// Narrows `mask` to the rows where `term` is `want`; takes out rows that fail, and adds them to `failed`.
    pub(super) fn narrow(
        &mut self,
        term: &Term,
        want: bool,
        mask: &mut Mask,
        failed: &mut Failures,
    ) -> Result<()> {
        if mask.is_none() {
            return Ok(());
        }
        if let Some(coded) = self.coded(term, mask)? {
            return self.narrow_coded(term, &coded, want, mask, failed);
        }
        match &term.node {
            Node::Constant(value) => {
                if *value != Some(want) {
                    mask.clear();
                }
                Ok(())
            }
            Node::Not(operand) => self.narrow(operand, !want, mask, failed),
            Node::And(terms) if want => self.all(terms, want, mask, failed),
            Node::And(terms) => self.any(terms, want, mask, failed),
            Node::Or(terms) if want => self.any(terms, want, mask, failed),
            Node::Or(terms) => self.all(terms, want, mask, failed),
            Node::Is { operand, test: Test::Null } => {
                let mut own = Failures::default();
                let truth = self.truth(operand, mask, &mut own)?;
                let mut known = truth.yes;
                known.or(&truth.no);
                match want {
                    true => mask.and_not(&known),
                    false => mask.and(&known),
                }
                without(mask, own, failed);
                Ok(())
            }
            Node::Is { operand, test } => {
                let value = *test == Test::True;
                if want {
                    return self.narrow(operand, value, mask, failed);
                }
                let mut found = mask.clone();
                let mut own = Failures::default();
                self.narrow(operand, value, &mut found, &mut own)?;
                mask.and_not(&found);
                without(mask, own, failed);
                Ok(())
            }
            Node::Leaf(leaf) => {
                let mut own = Failures::default();
                let found = self.leaf(leaf, mask, &mut own)?;
                match want {
                    true => mask.and(&found.yes),
                    false => mask.and_not(&found.yes),
                }
                if let Some(known) = &found.known {
                    mask.and(known);
                }
                without(mask, own, failed);
                Ok(())
            }
        }
    }

    /// Narrows `mask` to the rows where every term is `want`.
    fn all(&mut self, terms: &[Term], want: bool, mask: &mut Mask, failed: &mut Failures) -> Result<()> {
        let (safe, fallible) = split(terms);
        for term in safe {
            self.narrow(term, want, mask, failed)?;
            if mask.is_none() {
                return Ok(());
            }
        }
        let Some((last, others)) = fallible.split_last() else { return Ok(()) };
        if others.is_empty() {
            return self.narrow(last, want, mask, failed);
        }
        // Rows for which no operand so far is known to be something else: all are `want` or have failed.
        let mut open = mask.clone();
        let mut own = Failures::default();
        for term in fallible {
            let mut found = open.clone();
            let mut fresh = Failures::default();
            self.narrow(term, want, &mut found, &mut fresh)?;
            mask.and(&found);
            if let Some(rows) = fresh.rows() {
                found.or(rows);
            }
            open = found;
            own.merge(fresh);
        }
        own.retain(&open);
        failed.merge(own);
        Ok(())
    }

    /// Narrows `mask` to the rows where some term is `want`.
    fn any(&mut self, terms: &[Term], want: bool, mask: &mut Mask, failed: &mut Failures) -> Result<()> {
        let mut open = mask.clone();
        let mut own = Failures::default();
        for term in terms {
            if open.is_none() {
                break;
            }
            let mut found = open.clone();
            self.narrow(term, want, &mut found, &mut own)?;
            open.and_not(&found);
        }
        // A row on which a term failed is decided by another one all the same.
        own.retain(&open);
        mask.and_not(&open);
        failed.merge(own);
        Ok(())
    }

    /// For which of `rows` the term is true, and for which false. Rows that fail are in neither, and in `failed`.
    pub(super) fn truth(&mut self, term: &Term, rows: &Mask, failed: &mut Failures) -> Result<Truth> {
        let none = || Mask::filled(rows.len(), false);
        if rows.is_none() {
            return Ok(Truth { yes: none(), no: none() });
        }
        if let Some(coded) = self.coded(term, rows)? {
            return self.truth_coded(term, &coded, rows, failed);
        }
        match &term.node {
            Node::Constant(value) => Ok(match value {
                Some(true) => Truth { yes: rows.clone(), no: none() },
                Some(false) => Truth { yes: none(), no: rows.clone() },
                None => Truth { yes: none(), no: none() },
            }),
            Node::Not(operand) => {
                let Truth { yes, no } = self.truth(operand, rows, failed)?;
                Ok(Truth { yes: no, no: yes })
            }
            Node::And(terms) => {
                let (all, some) = self.truths(terms, true, rows, failed)?;
                Ok(Truth { yes: all, no: some })
            }
            Node::Or(terms) => {
                let (all, some) = self.truths(terms, false, rows, failed)?;
                Ok(Truth { yes: some, no: all })
            }
            Node::Is { .. } => {
                let mut yes = rows.clone();
                let mut own = Failures::default();
                self.narrow(term, true, &mut yes, &mut own)?;
                let mut no = rows.clone();
                no.and_not(&yes);
                without(&mut no, own, failed);
                Ok(Truth { yes, no })
            }
            Node::Leaf(leaf) => {
                let mut own = Failures::default();
                let found = self.leaf(leaf, rows, &mut own)?;
                let mut known = rows.clone();
                if let Some(mask) = &found.known {
                    known.and(mask);
                }
                without(&mut known, own, failed);
                let (mut yes, mut no) = (known.clone(), known);
                yes.and(&found.yes);
                no.and_not(&found.yes);
                Ok(Truth { yes, no })
            }
        }
    }

    /// The rows for which every term is `value`, and those for which some term is the opposite.
    fn truths(
        &mut self,
        terms: &[Term],
        value: bool,
        rows: &Mask,
        failed: &mut Failures,
    ) -> Result<(Mask, Mask)> {
        let (mut all, mut open) = (rows.clone(), rows.clone());
        let mut own = Failures::default();
        for term in terms {
            if open.is_none() {
                break;
            }
            let Truth { yes, no } = self.truth(term, &open, &mut own)?;
            let (same, opposite) = if value { (yes, no) } else { (no, yes) };
            all.and(&same);
            open.and_not(&opposite);
        }
        own.retain(&open);
        failed.merge(own);
        let mut some = rows.clone();
        some.and_not(&open);
        Ok((all, some))
    }
}

/// The terms that cannot fail, and behind them those that can.
fn split(terms: &[Term]) -> (&[Term], &[Term]) {
    terms.split_at(terms.partition_point(|term| !term.can_fail))
}

/// Takes the rows of `own` out of `mask` and adds them to `failed`.
fn without(mask: &mut Mask, own: Failures, failed: &mut Failures) {
    if let Some(rows) = own.rows() {
        mask.and_not(rows);
    }
    failed.merge(own);
}

//! Conditions over one column whose distinct values are stored once: evaluated for each of these, then looked up.

use super::{
    Input, Mask, compare, context::Context, expression::Items, failure::Failures, logic::Truth, term::Term,
};
use crate::{Result, expr::Comparison};
use lancet_format::{Coded, Column};
use std::sync::Arc;

/// What a condition is for one distinct value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Outcome {
    False,
    True,
    Null,
    Failed,
}

/// What a condition is for each distinct value of a dictionary.
#[derive(Debug)]
pub(super) struct Table {
    /// The dictionary; kept so that no other can take its place in memory.
    items: Arc<Column>,
    outcomes: Vec<Outcome>,
    of_null: Outcome,
}

impl Context<'_> {
    /// The codes of the one column that `term` depends on, if it has them and using them pays for `rows`.
    pub(super) fn coded(&mut self, term: &Term, rows: &Mask) -> Result<Option<Arc<Coded>>> {
        let (true, Some(slot), Some(column)) = (self.tables, term.slot, term.column) else { return Ok(None) };
        let Input::Coded(coded) = self.inputs.column(column)? else { return Ok(None) };
        let ready =
            self.scratch.tables[slot].as_ref().is_some_and(|table| Arc::ptr_eq(&table.items, &coded.items));
        Ok((ready || coded.items.len() / 4 <= rows.count()).then(|| coded.clone()))
    }

    /// As [`Context::narrow`].
    pub(super) fn narrow_coded(
        &mut self,
        term: &Term,
        coded: &Coded,
        want: bool,
        mask: &mut Mask,
        failed: &mut Failures,
    ) -> Result<()> {
        let wanted = if want { Outcome::True } else { Outcome::False };
        let table = self.table(term, coded)?;
        let found = table.rows(coded, wanted, mask);
        table.fail(coded, mask, failed);
        *mask = found;
        Ok(())
    }

    /// As [`Context::truth`].
    pub(super) fn truth_coded(
        &mut self,
        term: &Term,
        coded: &Coded,
        rows: &Mask,
        failed: &mut Failures,
    ) -> Result<Truth> {
        let table = self.table(term, coded)?;
        table.fail(coded, rows, failed);
        Ok(Truth { yes: table.rows(coded, Outcome::True, rows), no: table.rows(coded, Outcome::False, rows) })
    }

    /// The table of `term`, made unless there is one of the same dictionary.
    fn table(&mut self, term: &Term, coded: &Coded) -> Result<&Table> {
        let slot = term.slot.expect("terms of one column have a table");
        let kept = &mut self.scratch.tables[slot];
        if !kept.as_ref().is_some_and(|table| Arc::ptr_eq(&table.items, &coded.items)) {
            let outcomes = self.outcomes(term, &coded.items)?;
            let nulls = Arc::new(Column::nulls(coded.items.data_type(), 1));
            let of_null = self.outcomes(term, &nulls)?[0];
            let items = coded.items.clone();
            self.scratch.tables[slot] = Some(Table { items, outcomes, of_null });
        }
        Ok(self.scratch.tables[slot].as_ref().expect("it was just made"))
    }

    fn outcomes(&mut self, term: &Term, items: &Arc<Column>) -> Result<Vec<Outcome>> {
        let mut items = Items(Input::Plain(items.clone()));
        let len = items.0.len();
        let mut failed = Failures::default();
        let mut context = Context { inputs: &mut items, scratch: self.scratch, tables: true };
        let Truth { yes, no } = context.truth(term, &Mask::filled(len, true), &mut failed)?;
        let mut outcomes = vec![Outcome::Null; len];
        yes.iter().for_each(|item| outcomes[item] = Outcome::True);
        no.iter().for_each(|item| outcomes[item] = Outcome::False);
        failed.rows().into_iter().flat_map(Mask::iter).for_each(|item| outcomes[item] = Outcome::Failed);
        Ok(outcomes)
    }
}

impl Table {
    /// The rows of `mask` whose outcome is `wanted`.
    fn rows(&self, coded: &Coded, wanted: Outcome, mask: &Mask) -> Mask {
        let len = mask.len();
        let mut found = Mask::filled(len, false);
        let mut hits = self.outcomes.iter().enumerate().filter(|(_, outcome)| **outcome == wanted);
        match (hits.next(), hits.next()) {
            (None, _) => {}
            (Some(_), _) if self.outcomes.iter().all(|outcome| *outcome == wanted) => found.fill(len, true),
            (Some((code, _)), None) => {
                compare::literal(Comparison::Equal, &coded.codes, code as u32, found.words_mut());
            }
            (Some(_), Some(_)) => {
                for (word, codes) in found.words_mut().iter_mut().zip(coded.codes.chunks(64)) {
                    for (bit, &code) in codes.iter().enumerate() {
                        *word |= u64::from(self.outcomes[code as usize] == wanted) << bit;
                    }
                }
            }
        }
        if let Some(valid) = &coded.validity {
            found.and_bits(valid);
            if self.of_null == wanted {
                let mut nulls = Mask::filled(len, true);
                let mut valid_rows = Mask::filled(len, true);
                valid_rows.and_bits(valid);
                nulls.and_not(&valid_rows);
                found.or(&nulls);
            }
        }
        found.and(mask);
        found
    }

    /// Adds the rows of `mask` whose value failed.
    fn fail(&self, coded: &Coded, mask: &Mask, failed: &mut Failures) {
        if self.of_null == Outcome::Failed || self.outcomes.contains(&Outcome::Failed) {
            failed.add(self.rows(coded, Outcome::Failed, mask));
        }
    }
}

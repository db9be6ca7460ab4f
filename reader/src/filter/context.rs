//! [`Context`]: one range of rows while a predicate is evaluated on it; and the leaves of conditions.

use super::{
    Input, Inputs, Mask, Scratch,
    failure::Failures,
    rows::Rows,
    term::{Known, Leaf},
};
use crate::Result;

/// What evaluation needs besides the expression.
pub(super) struct Context<'a> {
    pub(super) inputs: &'a mut dyn Inputs,
    pub(super) scratch: &'a mut Scratch,
    /// Whether tables of distinct values may be used; not where a message about one row is wanted.
    pub(super) tables: bool,
}

impl Context<'_> {
    /// For which of `rows` the leaf is true; outside of `rows` the answer means nothing.
    pub(super) fn leaf(&mut self, leaf: &Leaf, rows: &Mask, failed: &mut Failures) -> Result<Known> {
        let picked = self.rows_for(leaf, rows)?;
        let mut operands = Vec::with_capacity(leaf.operands.len());
        for operand in &leaf.operands {
            operands.push(self.evaluate(operand, &picked, failed)?.expand(picked.len())?);
        }
        match &picked {
            Rows::All(_) => leaf.run(&operands, rows),
            Rows::Picked(positions) => {
                let found = leaf.run(&operands, &Mask::filled(positions.len(), true))?;
                Ok(Known {
                    yes: picked.scatter(&found.yes, rows.len()),
                    known: found.known.map(|known| picked.scatter(&known, rows.len())),
                })
            }
        }
    }

    /// All rows where the operands lie there as columns; only those in question where they must be computed.
    fn rows_for(&mut self, leaf: &Leaf, rows: &Mask) -> Result<Rows> {
        let mut at_hand = true;
        for operand in &leaf.operands {
            at_hand &= match operand.as_column() {
                Some(column) => matches!(self.inputs.column(column)?, Input::Plain(_)),
                None => operand.is_constant(),
            };
        }
        Ok(if at_hand { Rows::All(rows.len()) } else { Rows::of(rows) })
    }
}

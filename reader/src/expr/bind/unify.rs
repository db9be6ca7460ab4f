//! Values that become one column: the branches of CASE, the arguments of `coalesce` and `nullif`.

use super::super::Scalar;
use super::super::cast::exact;
use super::super::convert::{castable, common, values};
use super::super::tree::Expr;
use super::super::typed::Typed;
use super::{Binder, Operand, describe};
use crate::{DataType, Result};

impl Binder<'_> {
    /// All in one type: the common one of those that are no constants, if the constants have the very same value in it,
    /// and else the common one of all.
    pub(super) fn unify(&self, exprs: &[&Expr]) -> Result<(Vec<Typed>, DataType)> {
        let mut typed = Vec::with_capacity(exprs.len());
        for expr in exprs {
            typed.push(match self.operand(expr)? {
                Operand::List(_) => return Err(expr.place.error("lists are not supported here")),
                Operand::Typed(typed) => typed,
                Operand::Literal(literal) => self.literal_alone(literal, &expr.place)?,
            });
        }
        let mut target = DataType::Null;
        let constants_last = |is_constant: bool| {
            typed.iter().zip(exprs).filter(move |(typed, _)| typed.constant().is_some() == is_constant)
        };
        for (value, expr) in constants_last(false).chain(constants_last(true)) {
            let fits = value.constant().is_some_and(|constant| {
                target != DataType::Null && exact(constant, &value.data_type, &target).is_some()
            });
            if fits {
                continue;
            }
            target = match common(&target, &value.data_type) {
                Some(data_type) => data_type,
                // Nested values have no common type but their own.
                None if target == value.data_type => target,
                None => {
                    let found = describe(value);
                    return Err(expr
                        .place
                        .error(format_args!("expected a value of type {target}, found {found}")));
                }
            };
        }
        let into = |typed: Typed| match typed.constant() {
            Some(Scalar::Null) => Typed::literal(Scalar::Null, target.clone()),
            _ if values(&typed.data_type) == &target || !castable(&typed.data_type, &target) => typed,
            _ => typed.cast_to(&target),
        };
        Ok((typed.into_iter().map(into).collect(), target))
    }
}

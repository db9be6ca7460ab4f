//! Comparisons, BETWEEN, IN and IS: where literals take the type of what they meet.

use super::super::cast::exact;
use super::super::convert::{alike, common, is_comparable, values};
use super::super::fold::order;
use super::super::literal::{self, Fit};
use super::super::tree::{Comparison, Expr, Literal, Test};
use super::super::typed::{Node, Typed};
use super::super::{I256, Place, Scalar};
use super::{Binder, Operand, describe, mismatch};
use crate::{DataType, Error, Result};
use std::cmp::Ordering;

/// What a literal is beside something that has a type.
pub(super) enum Beside {
    /// A value of the same type.
    Is(Scalar),
    /// Something between this value and the next.
    Above(Scalar),
    /// A value of a type of its own: both have to be cast.
    Else(Typed),
}

impl Binder<'_> {
    /// What a literal is beside `partner`.
    ///
    /// # Errors
    /// If the two cannot be compared, or `partner` is a column whose type cannot hold the literal.
    pub(super) fn beside(&self, literal: &Literal, partner: &Typed, place: &Place) -> Result<Beside> {
        let is_column = matches!(partner.node, Node::Column(_));
        match literal::fit(literal, &partner.data_type) {
            // Only beside a column is a number rounded to the floats that it has.
            Fit::Is(_) if !is_column && matches!(literal, Literal::Number(_)) => {
                let own = self.literal_alone(literal, place)?;
                let same =
                    own.constant().and_then(|value| exact(value, &own.data_type, values(&partner.data_type)));
                Ok(same.map_or(Beside::Else(own), Beside::Is))
            }
            Fit::Is(value) => Ok(Beside::Is(value)),
            Fit::Above(floor) => Ok(Beside::Above(floor)),
            Fit::Malformed(expected) => Err(place.error(format_args!("expected {expected}"))),
            Fit::No if !is_column => Ok(Beside::Else(self.literal_alone(literal, place)?)),
            Fit::No => Err(cannot_hold(partner, literal, place)),
            Fit::Mismatch => {
                let hint = match (literal, values(&partner.data_type)) {
                    (Literal::Text(_), DataType::Date32 | DataType::Date64) => "; write DATE '…'",
                    (Literal::Text(_), DataType::Timestamp(..)) => "; write TIMESTAMP '…'",
                    (Literal::Text(_), DataType::Time32(_) | DataType::Time64(_)) => "; write TIME '…'",
                    (Literal::Text(_), DataType::Binary | DataType::LargeBinary) => "; write X'…'",
                    _ => "",
                };
                Err(mismatch(partner, &format_args!("{literal}{hint}"), place))
            }
        }
    }

    pub(super) fn compare(&self, op: Comparison, left: &Expr, right: &Expr, place: &Place) -> Result<Typed> {
        let (first, second) = (self.operand(left)?, self.operand(right)?);
        match (first, second) {
            (Operand::List(_), _) | (_, Operand::List(_)) => Err(place.error("lists cannot be compared")),
            (Operand::Typed(typed), Operand::Literal(literal)) => {
                self.compare_literal(op, typed, literal, &right.place)
            }
            (Operand::Literal(literal), Operand::Typed(typed)) => {
                self.compare_literal(op.flipped(), typed, literal, &left.place)
            }
            (Operand::Typed(left), Operand::Typed(right)) => self.compare_typed(op, left, right, place),
            (Operand::Literal(_), Operand::Literal(_)) => {
                self.compare_typed(op, self.value(left)?, self.value(right)?, place)
            }
        }
    }

    fn compare_literal(
        &self,
        op: Comparison,
        left: Typed,
        literal: &Literal,
        place: &Place,
    ) -> Result<Typed> {
        self.comparable(&left.data_type, place)?;
        let (op, value) = match self.beside(literal, &left, place)? {
            Beside::Is(value) => (op, value),
            Beside::Else(right) => return self.compare_typed(op, left, right, place),
            // Nothing equals what lies between two values; all else is told by the lower one.
            Beside::Above(floor) => match op {
                Comparison::Equal | Comparison::NotEqual => {
                    let negated = op == Comparison::NotEqual;
                    return Ok(is_in(left, Vec::new(), false, Vec::new(), negated));
                }
                Comparison::Less | Comparison::LessOrEqual => (Comparison::LessOrEqual, floor),
                Comparison::Greater | Comparison::GreaterOrEqual => (Comparison::Greater, floor),
            },
        };
        let right = Typed::literal(value, values(&left.data_type).clone());
        Ok(Typed::boolean(Node::Compare { op, left: Box::new(left), right: Box::new(right) }))
    }

    fn compare_typed(&self, op: Comparison, left: Typed, right: Typed, place: &Place) -> Result<Typed> {
        let (op, left, right) = match left.constant() {
            Some(_) if right.constant().is_none() => (op.flipped(), right, left),
            _ => (op, left, right),
        };
        let (left, mut right) = self.settle(left, vec![(right, place)])?;
        let right = Box::new(right.remove(0));
        Ok(Typed::boolean(Node::Compare { op, left: Box::new(left), right }))
    }

    /// All in one type. A constant takes the operand's type if it has the very same value there, so that the operand
    /// needs no cast.
    pub(super) fn settle(&self, operand: Typed, others: Vec<(Typed, &Place)>) -> Result<(Typed, Vec<Typed>)> {
        let own = values(&operand.data_type).clone();
        let mut target = own.clone();
        let mut settled = Vec::with_capacity(others.len());
        for (other, place) in others {
            self.comparable(&other.data_type, place)?;
            let same = other.constant().and_then(|value| exact(value, &other.data_type, &own));
            let other = match same {
                Some(value) if operand.constant().is_none() => Typed::literal(value, own.clone()),
                _ => other,
            };
            let found = common(&target, &other.data_type);
            target = found.ok_or_else(|| mismatch(&operand, &describe(&other), place))?;
            settled.push(other);
        }
        let into = |typed: Typed| match alike(&typed.data_type, &target) {
            true => typed,
            false => typed.cast_to(&target),
        };
        Ok((into(operand), settled.into_iter().map(into).collect()))
    }

    /// # Errors
    /// If values of the type have no order.
    pub(super) fn comparable(&self, data_type: &DataType, place: &Place) -> Result<()> {
        match is_comparable(data_type) {
            true => Ok(()),
            false => Err(place.error(format_args!("values of type {data_type} cannot be compared"))),
        }
    }

    pub(super) fn test(&self, operand: &Expr, test: Test, negated: bool) -> Result<Typed> {
        let operand = match test {
            Test::Null => self.value(operand)?,
            Test::True | Test::False => self.condition(operand)?,
        };
        Ok(Typed::boolean(Node::Is { operand: Box::new(operand), test, negated }))
    }

    pub(super) fn between(&self, expr: &Expr, [low, high]: [&Expr; 2], negated: bool) -> Result<Typed> {
        let operand = self.value(expr)?;
        self.comparable(&operand.data_type, &expr.place)?;
        let bound = |expr: &Expr, is_low: bool| -> Result<Typed> {
            let literal = match self.operand(expr)? {
                Operand::List(_) => return Err(expr.place.error("lists cannot be compared")),
                Operand::Typed(bound) => return Ok(bound),
                Operand::Literal(literal) => literal,
            };
            let value = match self.beside(literal, &operand, &expr.place)? {
                Beside::Is(value) => value,
                Beside::Else(typed) => return Ok(typed),
                // The least value that is no less than the bound, the greatest that is no more.
                Beside::Above(floor) if is_low => {
                    next(&floor).ok_or_else(|| cannot_hold(&operand, literal, &expr.place))?
                }
                Beside::Above(floor) => floor,
            };
            Ok(Typed::literal(value, values(&operand.data_type).clone()))
        };
        let bounds = vec![(bound(low, true)?, &low.place), (bound(high, false)?, &high.place)];
        let (operand, mut bounds) = self.settle(operand, bounds)?;
        let (high, low) = (Box::new(bounds.remove(1)), Box::new(bounds.remove(0)));
        Ok(Typed::boolean(Node::Between { operand: Box::new(operand), low, high, negated }))
    }

    pub(super) fn is_in(&self, expr: &Expr, list: &[Expr], negated: bool) -> Result<Typed> {
        let operand = self.value(expr)?;
        self.comparable(&operand.data_type, &expr.place)?;
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            let typed = match self.operand(item)? {
                Operand::List(_) => return Err(item.place.error("lists cannot be compared")),
                Operand::Typed(typed) => typed,
                Operand::Literal(literal) => match self.beside(literal, &operand, &item.place)? {
                    Beside::Is(value) => Typed::literal(value, values(&operand.data_type).clone()),
                    Beside::Else(typed) => typed,
                    // Nothing equals it.
                    Beside::Above(_) => continue,
                },
            };
            items.push((typed, &item.place));
        }
        let (operand, items) = self.settle(operand, items)?;
        let (mut constants, mut others, mut has_null) = (Vec::new(), Vec::new(), false);
        for item in items {
            match item.constant() {
                Some(Scalar::Null) => has_null = true,
                Some(value) => constants.push(value.clone()),
                None => others.push(item),
            }
        }
        Ok(is_in(operand, constants, has_null, others, negated))
    }

    /// `operand` and what it is compared with one by one, as CASE does.
    pub(super) fn operand_and(&self, expr: &Expr, others: Vec<&Expr>) -> Result<(Typed, Vec<Typed>)> {
        let operand = self.value(expr)?;
        self.comparable(&operand.data_type, &expr.place)?;
        let mut typed = Vec::with_capacity(others.len());
        for other in others {
            let found = match self.operand(other)? {
                Operand::Literal(literal) => match self.beside(literal, &operand, &other.place)? {
                    Beside::Is(value) => Typed::literal(value, values(&operand.data_type).clone()),
                    Beside::Else(typed) => typed,
                    Beside::Above(_) => self.literal_alone(literal, &other.place)?,
                },
                Operand::Typed(typed) => typed,
                Operand::List(_) => return Err(other.place.error("lists cannot be compared")),
            };
            typed.push((found, &other.place));
        }
        self.settle(operand, typed)
    }
}

/// `operand IN (…)`, the constants in the operand's type, in ascending order and none twice; then parameters.
fn is_in(
    operand: Typed,
    mut constants: Vec<Scalar>,
    has_null: bool,
    others: Vec<Typed>,
    negated: bool,
) -> Typed {
    let parameters: Vec<Scalar> =
        constants.extract_if(.., |value| matches!(value, Scalar::Parameter(_))).collect();
    constants.sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
    constants.dedup_by(|a, b| order(a, b) == Some(Ordering::Equal));
    constants.extend(parameters);
    let (operand, values) = (Box::new(operand), constants.into());
    Typed::boolean(Node::In { operand, values, has_null, others, negated })
}

/// The next value of a type whose values are counted.
fn next(value: &Scalar) -> Option<Scalar> {
    Some(match value {
        Scalar::Int(value) => Scalar::Int(value.checked_add(1)?),
        Scalar::Decimal128(value) => Scalar::Decimal128(value.checked_add(1)?),
        Scalar::Decimal256(value) => Scalar::Decimal256(value.checked_add(I256::from(1))?),
        _ => return None,
    })
}

fn cannot_hold(column: &Typed, literal: &Literal, place: &Place) -> Error {
    place.error(format_args!("{} cannot hold {literal}", describe(column)))
}

//! Arithmetic.

use super::super::Place;
use super::super::convert::{common, decimal_parts, is_decimal, is_number, values};
use super::super::literal;
use super::super::tree::{Arithmetic, Expr, Kind, Literal};
use super::super::typed::{Node, Typed};
use super::{Binder, describe};
use crate::{DataType, Result};

impl Binder<'_> {
    pub(super) fn arithmetic(
        &self,
        op: Arithmetic,
        left: &Expr,
        right: &Expr,
        place: &Place,
    ) -> Result<Typed> {
        let (first, second) = (self.number(left, op.symbol())?, self.number(right, op.symbol())?);
        let types = (first.data_type.clone(), second.data_type.clone());
        let first = beside_number(first, left, &types.1);
        let second = beside_number(second, right, &types.0);
        let kind = match common(&first.data_type, &second.data_type) {
            Some(DataType::Null) => DataType::Int64,
            Some(DataType::Float16 | DataType::BFloat16) => DataType::Float32,
            Some(kind) => kind,
            None => return Err(place.error(format_args!("`{}` expects numbers", op.symbol()))),
        };
        let (first, second, data_type) = match is_decimal(&kind) {
            true => decimals(op, first, second, &kind),
            false => (first.cast_to(&kind), second.cast_to(&kind), kind),
        };
        let (left, right) = (Box::new(first), Box::new(second));
        Ok(Typed::new(Node::Arithmetic { op, left, right }, data_type))
    }

    pub(super) fn negate(&self, operand: &Expr) -> Result<Typed> {
        let typed = self.number(operand, "-")?;
        let data_type = match values(&typed.data_type) {
            DataType::Null => DataType::Int64,
            DataType::Float16 | DataType::BFloat16 => DataType::Float32,
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
                let found = describe(&typed);
                return Err(operand
                    .place
                    .error(format_args!("`-` expects a number with a sign, found {found}")));
            }
            other => other.clone(),
        };
        Ok(Typed::new(Node::Negate(Box::new(typed.cast_to(&data_type))), data_type))
    }

    /// An expression that must be a number; NULL is.
    pub(super) fn number(&self, expr: &Expr, wanted_by: &str) -> Result<Typed> {
        let typed = self.value(expr)?;
        match is_number(&typed.data_type) || typed.data_type == DataType::Null {
            true => Ok(typed),
            false => Err(expr
                .place
                .error(format_args!("`{wanted_by}` expects a number, found {}", describe(&typed)))),
        }
    }

    /// A float of 32 or 64 bits: the number's own type, or float64 for those that are no floats.
    pub(super) fn float(&self, expr: &Expr, wanted_by: &str) -> Result<Typed> {
        let typed = self.number(expr, wanted_by)?;
        let to = match values(&typed.data_type) {
            DataType::Float16 | DataType::BFloat16 | DataType::Float32 => DataType::Float32,
            _ => DataType::Float64,
        };
        Ok(typed.cast_to(&to))
    }
}

/// A number as it is beside another: uint64 if it can be, a decimal as it is written.
fn beside_number(typed: Typed, expr: &Expr, other: &DataType) -> Typed {
    let Kind::Literal(literal @ Literal::Number(digits)) = &expr.kind else { return typed };
    let to = match values(other) {
        DataType::UInt64 => Some(DataType::UInt64),
        other if is_decimal(other) => literal::decimal_type(digits),
        _ => None,
    };
    match to.map(|to| (literal::fit(literal, &to), to)) {
        Some((literal::Fit::Is(value), to)) => Typed::literal(value, to),
        _ => typed,
    }
}

/// The sides as decimals of one width, and the type of the result: as many digits as it can need.
fn decimals(op: Arithmetic, left: Typed, right: Typed, kind: &DataType) -> (Typed, Typed, DataType) {
    let parts = |typed: &Typed| decimal_parts(values(&typed.data_type)).unwrap_or((1, 0));
    let ((a, s), (b, t)) = (parts(&left), parts(&right));
    let (a, b, s, t) = (i16::from(a), i16::from(b), i16::from(s), i16::from(t));
    let whole = (a - s).max(b - t);
    let (precision, scale) = match op {
        Arithmetic::Add | Arithmetic::Subtract => (whole + s.max(t) + 1, s.max(t)),
        Arithmetic::Multiply => (a + b + 1, s + t),
        Arithmetic::Divide => (a - s + t + s + 4, s + 4),
        Arithmetic::Remainder => ((a - s).min(b - t) + s.max(t), s.max(t)),
    };
    let wide = matches!(kind, DataType::Decimal256(..));
    let most = if wide { 76 } else { 38 };
    let of = |precision: i16, scale: i16| {
        let precision = precision.clamp(1, most) as u8;
        let scale = scale.clamp(-76, i16::from(precision)) as i8;
        if wide { DataType::Decimal256(precision, scale) } else { DataType::Decimal128(precision, scale) }
    };
    (left.cast_to(&of(a, s)), right.cast_to(&of(b, t)), of(precision, scale))
}

//! Parameters: values of a filter that are given later, each in the type of what it is compared with.

use super::{
    Expr, Node, Scalar, Typed,
    literal::{self, Fit},
    tree::{Kind, Literal},
};
use crate::{DataType, Error, Result};
use half::f16;

/// What a parameter can be bound to: numbers, texts, bytes, a [`Scalar`], or an [`Expr`] that is a literal.
pub trait IntoParameter {
    /// The value as one of this type; `None` if the type cannot hold it.
    fn into_parameter(self, data_type: &DataType) -> Option<Scalar>;
}

impl Typed {
    /// The types of the parameters, by their numbers; a number that is not used has none.
    ///
    /// # Errors
    /// Invalid input if a parameter is compared with values of several types.
    pub(crate) fn parameters(&self) -> Result<Vec<Option<DataType>>> {
        let mut types = Vec::new();
        self.find_parameters(&mut types)?;
        Ok(types)
    }

    fn find_parameters(&self, types: &mut Vec<Option<DataType>>) -> Result<()> {
        let mut add = |value: &Scalar, data_type: &DataType| {
            let Scalar::Parameter(number) = value else { return Ok(()) };
            let number = *number as usize;
            types.resize(types.len().max(number + 1), None);
            match &types[number] {
                Some(known) if known != data_type => Err(Error::invalid_input(format!(
                    "parameter ${} is used as {known} and as {data_type}",
                    number + 1
                ))),
                _ => {
                    types[number] = Some(data_type.clone());
                    Ok(())
                }
            }
        };
        match self.node() {
            Node::Literal(value) => add(value, self.data_type())?,
            Node::In { operand, values, .. } => {
                let data_type = super::convert::values(operand.data_type());
                values.iter().try_for_each(|value| add(value, data_type))?;
            }
            _ => {}
        }
        self.children().into_iter().try_for_each(|child| child.find_parameters(types))
    }

    /// The expression with these values for its parameters.
    pub(crate) fn bound(&self, parameters: &[Scalar]) -> Typed {
        let value = |value: &Scalar| match value {
            Scalar::Parameter(number) => parameters.get(*number as usize).cloned().unwrap_or(Scalar::Null),
            value => value.clone(),
        };
        let one = |typed: &Typed| Box::new(typed.bound(parameters));
        let all = |all: &[Typed]| all.iter().map(|typed| typed.bound(parameters)).collect::<Vec<_>>();
        let node = match self.node() {
            Node::Literal(own) => Node::Literal(value(own)),
            Node::Column(column) => Node::Column(column.clone()),
            Node::Compare { op, left, right } => {
                Node::Compare { op: *op, left: one(left), right: one(right) }
            }
            Node::And(terms) => Node::And(all(terms)),
            Node::Or(terms) => Node::Or(all(terms)),
            Node::Not(operand) => Node::Not(one(operand)),
            Node::Is { operand, test, negated } => {
                Node::Is { operand: one(operand), test: *test, negated: *negated }
            }
            Node::Between { operand, low, high, negated } => {
                Node::Between { operand: one(operand), low: one(low), high: one(high), negated: *negated }
            }
            Node::In { operand, values, has_null, others, negated } => Node::In {
                operand: one(operand),
                values: values.iter().map(value).collect(),
                has_null: *has_null,
                others: all(others),
                negated: *negated,
            },
            Node::Like { operand, pattern, escape, ignore_case, negated } => Node::Like {
                operand: one(operand),
                pattern: one(pattern),
                escape: *escape,
                ignore_case: *ignore_case,
                negated: *negated,
            },
            Node::Arithmetic { op, left, right } => {
                Node::Arithmetic { op: *op, left: one(left), right: one(right) }
            }
            Node::Negate(operand) => Node::Negate(one(operand)),
            Node::Call { function, arguments } => {
                Node::Call { function: *function, arguments: all(arguments) }
            }
            Node::Case { operand, branches, otherwise } => Node::Case {
                operand: operand.as_deref().map(one),
                branches: branches.iter().map(|(when, then)| (*one(when), *one(then))).collect(),
                otherwise: otherwise.as_deref().map(one),
            },
            Node::Cast(operand) => Node::Cast(one(operand)),
            Node::Field { operand, index } => Node::Field { operand: one(operand), index: *index },
        };
        Typed { node, data_type: self.data_type.clone(), can_fail: self.can_fail }
    }
}

/// Bits of a type that stores signed integers.
fn signed_bits(data_type: &DataType) -> Option<u32> {
    use DataType::*;
    Some(match data_type {
        Int8 => 8,
        Int16 => 16,
        Int32 | Date32 | Time32(_) => 32,
        Int64 | Date64 | Time64(_) | Timestamp(..) | Duration(_) => 64,
        _ => return None,
    })
}

fn integer(value: i128, data_type: &DataType) -> Option<Scalar> {
    use DataType::*;
    if let Some(bits) = signed_bits(data_type) {
        let fits = (-1i128 << (bits - 1)..1 << (bits - 1)).contains(&value);
        return fits.then_some(Scalar::Int(value as i64));
    }
    let bits = match data_type {
        UInt8 => 8,
        UInt16 => 16,
        UInt32 => 32,
        UInt64 => 64,
        Float16 | BFloat16 | Float32 | Float64 | Decimal128(..) | Decimal256(..) => {
            return exact(&Literal::Number(value.to_string().into()), data_type);
        }
        _ => return None,
    };
    (0..1i128 << bits).contains(&value).then_some(Scalar::UInt(value as u64))
}

fn exact(literal: &Literal, data_type: &DataType) -> Option<Scalar> {
    match literal::fit(literal, data_type) {
        Fit::Is(value) => Some(value),
        _ => None,
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        /// In a column's own unit for dates, times and durations.
        impl IntoParameter for $type {
            fn into_parameter(self, data_type: &DataType) -> Option<Scalar> {
                integer(self.into(), data_type)
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

impl IntoParameter for f64 {
    /// The nearest float of the type.
    fn into_parameter(self, data_type: &DataType) -> Option<Scalar> {
        Some(match data_type {
            DataType::Float64 => Scalar::Float64(self),
            DataType::Float32 => Scalar::Float32(self as f32),
            DataType::Float16 => Scalar::Float16(f16::from_f64(self)),
            _ => return None,
        })
    }
}

impl IntoParameter for f32 {
    fn into_parameter(self, data_type: &DataType) -> Option<Scalar> {
        f64::from(self).into_parameter(data_type)
    }
}

impl IntoParameter for bool {
    fn into_parameter(self, data_type: &DataType) -> Option<Scalar> {
        (*data_type == DataType::Boolean).then_some(Scalar::Boolean(self))
    }
}

impl IntoParameter for &str {
    fn into_parameter(self, data_type: &DataType) -> Option<Scalar> {
        matches!(data_type, DataType::Utf8 | DataType::LargeUtf8).then(|| Scalar::Text(self.into()))
    }
}

impl IntoParameter for &[u8] {
    fn into_parameter(self, data_type: &DataType) -> Option<Scalar> {
        exact(&Literal::Binary(self.into()), data_type)
    }
}

impl IntoParameter for &Expr {
    fn into_parameter(self, data_type: &DataType) -> Option<Scalar> {
        match &self.kind {
            Kind::Literal(Literal::Parameter(_)) => None,
            Kind::Literal(literal) => exact(literal, data_type),
            _ => None,
        }
    }
}

impl IntoParameter for Expr {
    fn into_parameter(self, data_type: &DataType) -> Option<Scalar> {
        (&self).into_parameter(data_type)
    }
}

//! Making typed nodes: constants are computed, chains flattened, and what can fail is told.

use super::cast::cast;
use super::convert::{self, cast_can_fail};
use super::typed::{Node, Typed};
use super::{Arithmetic, Comparison, Function, Scalar, Test};
use crate::DataType;
use std::cmp::Ordering;

impl Typed {
    /// A node of this type, or the constant that it amounts to.
    pub(super) fn new(node: Node, data_type: DataType) -> Self {
        let constant = constant(&node, &data_type);
        let node = constant.map_or(node, Node::Literal);
        let mut typed = Typed { node, data_type, can_fail: false };
        typed.can_fail = typed.fails_itself() || typed.children().iter().any(|child| child.can_fail);
        typed
    }

    pub(super) fn literal(value: Scalar, data_type: DataType) -> Self {
        Typed { node: Node::Literal(value), data_type, can_fail: false }
    }

    pub(super) fn boolean(node: Node) -> Self {
        Typed::new(node, DataType::Boolean)
    }

    /// NOT of a condition.
    pub(crate) fn negated(self) -> Self {
        Typed::boolean(Node::Not(Box::new(self)))
    }

    /// The same value in another type.
    pub(super) fn cast_to(self, to: &DataType) -> Self {
        if convert::values(&self.data_type) == to {
            return self;
        }
        Typed::new(Node::Cast(Box::new(self)), to.clone())
    }

    /// The terms joined by AND, or OR, in one flat node.
    pub(crate) fn joined(terms: Vec<Typed>, is_and: bool) -> Self {
        let mut flat = Vec::with_capacity(terms.len());
        for term in terms {
            match (term.node, is_and) {
                (Node::And(inner), true) | (Node::Or(inner), false) => flat.extend(inner),
                (Node::Literal(Scalar::Boolean(value)), _) if value == is_and => (),
                // FALSE decides an AND, TRUE an OR: nothing else is asked.
                (Node::Literal(Scalar::Boolean(value)), _) => {
                    return Typed::literal(Scalar::Boolean(value), DataType::Boolean);
                }
                (node, _) => flat.push(Typed { node, ..term }),
            }
        }
        // A stable sort.
        flat.sort_by_key(|term| term.can_fail);
        match flat.len() {
            0 => Typed::literal(Scalar::Boolean(is_and), DataType::Boolean),
            1 => flat.remove(0),
            _ => Typed::boolean(if is_and { Node::And(flat) } else { Node::Or(flat) }),
        }
    }

    /// Whether this node, not those below it, may end in an error.
    fn fails_itself(&self) -> bool {
        match &self.node {
            Node::Cast(operand) => cast_can_fail(&operand.data_type, &self.data_type),
            Node::Arithmetic { .. } if convert::is_decimal(&self.data_type) => true,
            Node::Arithmetic { op: Arithmetic::Divide | Arithmetic::Remainder, right, .. } => {
                let zero = |value: &Scalar| matches!(value, Scalar::Int(0) | Scalar::UInt(0));
                convert::is_integer(&self.data_type) && right.constant().is_none_or(zero)
            }
            Node::Call { function, arguments } => match function {
                Function::Abs => !convert::is_float(&self.data_type),
                Function::Substr => arguments.len() > 2,
                Function::RegexpLike => arguments[1..].iter().any(|argument| argument.constant().is_none()),
                Function::DateTrunc(_) | Function::DatePart(_) | Function::ToTimestamp => true,
                _ => false,
            },
            _ => false,
        }
    }
}

/// The value of a node all of whose parts are constants; none if it is none, or its computation is an error, which is
/// one only where the value is asked for.
fn constant(node: &Node, data_type: &DataType) -> Option<Scalar> {
    match node {
        Node::Cast(operand) => cast(operand.constant()?, &operand.data_type, data_type),
        Node::Not(operand) => truth(not(boolean(operand.constant()?)?)),
        Node::Is { operand, test, negated } => {
            let found = match (operand.constant()?, test) {
                (value, Test::Null) => value.is_null(),
                (value, Test::True) => *value == Scalar::Boolean(true),
                (value, Test::False) => *value == Scalar::Boolean(false),
            };
            Some(Scalar::Boolean(found != *negated))
        }
        // Against NULL nothing can be said, whatever the other side is.
        Node::Compare { left, right, .. } if is_null(left) || is_null(right) => Some(Scalar::Null),
        Node::Compare { op, left, right } => {
            let order = order(left.constant()?, right.constant()?)?;
            Some(Scalar::Boolean(op.holds(order)))
        }
        Node::Between { operand, .. } if is_null(operand) => Some(Scalar::Null),
        Node::Between { operand, low, high, negated } => {
            let operand = operand.constant()?;
            let side = |op: Comparison, bound: &Typed| match bound.constant()? {
                Scalar::Null => Some(None),
                bound => Some(Some(op.holds(order(operand, bound)?))),
            };
            let found = and(side(Comparison::GreaterOrEqual, low)?, side(Comparison::LessOrEqual, high)?);
            truth(if *negated { not(found) } else { found })
        }
        Node::In { operand, others, .. } if is_null(operand) && others.is_empty() => Some(Scalar::Null),
        Node::In { values, has_null: true, others, .. } if values.is_empty() && others.is_empty() => {
            Some(Scalar::Null)
        }
        Node::In { operand, values, has_null, others, negated } if others.is_empty() => {
            let operand = operand.constant()?;
            match values.iter().any(|value| order(operand, value) == Some(Ordering::Equal)) {
                true => Some(Scalar::Boolean(!negated)),
                false if *has_null => Some(Scalar::Null),
                false => Some(Scalar::Boolean(*negated)),
            }
        }
        Node::Negate(operand) => match operand.constant()? {
            Scalar::Null => Some(Scalar::Null),
            Scalar::Int(value) => wrap(value.wrapping_neg().into(), data_type),
            Scalar::Float32(value) => Some(Scalar::Float32(-value)),
            Scalar::Float64(value) => Some(Scalar::Float64(-value)),
            Scalar::Decimal128(value) => value.checked_neg().map(Scalar::Decimal128),
            Scalar::Decimal256(value) => value.checked_neg().map(Scalar::Decimal256),
            _ => None,
        },
        Node::Arithmetic { left, right, .. } if is_null(left) || is_null(right) => Some(Scalar::Null),
        Node::Arithmetic { op, left, right } => {
            arithmetic(*op, left.constant()?, right.constant()?, data_type)
        }
        _ => None,
    }
}

fn is_null(typed: &Typed) -> bool {
    typed.constant().is_some_and(Scalar::is_null)
}

fn boolean(value: &Scalar) -> Option<Option<bool>> {
    match value {
        Scalar::Null => Some(None),
        Scalar::Boolean(value) => Some(Some(*value)),
        _ => None,
    }
}

fn truth(value: Option<bool>) -> Option<Scalar> {
    Some(value.map_or(Scalar::Null, Scalar::Boolean))
}

fn not(value: Option<bool>) -> Option<bool> {
    value.map(|value| !value)
}

fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

impl Comparison {
    /// Whether the comparison holds of two values in this order.
    pub(crate) fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// The order of two values of one type that are not NULL; none for lists.
pub(crate) fn order(left: &Scalar, right: &Scalar) -> Option<Ordering> {
    use Scalar::*;
    let floats = |a: f64, b: f64| {
        let positive_zero = |value: f64| if value == 0.0 { 0.0 } else { value };
        positive_zero(a).total_cmp(&positive_zero(b))
    };
    Some(match (left, right) {
        (Boolean(a), Boolean(b)) => a.cmp(b),
        (Int(a), Int(b)) => a.cmp(b),
        (UInt(a), UInt(b)) => a.cmp(b),
        (Float16(a), Float16(b)) if a.is_nan() || b.is_nan() => a.total_cmp(b),
        (Float16(a), Float16(b)) => floats(a.to_f64(), b.to_f64()),
        (BFloat16(a), BFloat16(b)) if a.is_nan() || b.is_nan() => a.total_cmp(b),
        (BFloat16(a), BFloat16(b)) => floats(a.to_f64(), b.to_f64()),
        (Float32(a), Float32(b)) if a.is_nan() || b.is_nan() => a.total_cmp(b),
        (Float32(a), Float32(b)) => floats((*a).into(), (*b).into()),
        (Float64(a), Float64(b)) => floats(*a, *b),
        (Decimal128(a), Decimal128(b)) => a.cmp(b),
        (Decimal256(a), Decimal256(b)) => a.cmp(b),
        (Text(a), Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Binary(a), Binary(b)) => a.cmp(b),
        _ => return None,
    })
}

/// An integer in as many bits as its type has.
fn wrap(value: i128, data_type: &DataType) -> Option<Scalar> {
    Some(match data_type {
        DataType::Int8 => Scalar::Int((value as i8).into()),
        DataType::Int16 => Scalar::Int((value as i16).into()),
        DataType::Int32 => Scalar::Int((value as i32).into()),
        DataType::Int64 => Scalar::Int(value as i64),
        DataType::UInt8 => Scalar::UInt((value as u8).into()),
        DataType::UInt16 => Scalar::UInt((value as u16).into()),
        DataType::UInt32 => Scalar::UInt((value as u32).into()),
        DataType::UInt64 => Scalar::UInt(value as u64),
        _ => return None,
    })
}

fn arithmetic(op: Arithmetic, left: &Scalar, right: &Scalar, data_type: &DataType) -> Option<Scalar> {
    let floats = |a: f64, b: f64| match op {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide => a / b,
        Arithmetic::Remainder => a % b,
    };
    let integers = |a: i128, b: i128| match op {
        Arithmetic::Add => Some(a.wrapping_add(b)),
        Arithmetic::Subtract => Some(a.wrapping_sub(b)),
        Arithmetic::Multiply => Some(a.wrapping_mul(b)),
        Arithmetic::Divide => a.checked_div(b),
        Arithmetic::Remainder => a.checked_rem(b),
    };
    match (left, right) {
        (Scalar::Int(a), Scalar::Int(b)) => wrap(integers((*a).into(), (*b).into())?, data_type),
        (Scalar::UInt(a), Scalar::UInt(b)) => wrap(integers((*a).into(), (*b).into())?, data_type),
        // Rounding a sum, product or quotient of two float32 twice gives what rounding it once does.
        (Scalar::Float32(a), Scalar::Float32(b)) => {
            Some(Scalar::Float32(floats((*a).into(), (*b).into()) as f32))
        }
        (Scalar::Float64(a), Scalar::Float64(b)) => Some(Scalar::Float64(floats(*a, *b))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_in_total_order_with_one_zero() {
        let floats =
            [-f64::NAN, f64::NEG_INFINITY, -1.0, -0.0, 0.0, f64::INFINITY, f64::NAN].map(Scalar::Float64);
        for pair in floats.windows(2) {
            let zeros = pair[0] == Scalar::Float64(-0.0);
            let expected = if zeros { Ordering::Equal } else { Ordering::Less };
            assert_eq!(order(&pair[0], &pair[1]), Some(expected), "{pair:?}");
        }
    }

    #[test]
    fn integers_wrap_in_their_own_width() {
        let sum = |a, b, data_type: &DataType| {
            arithmetic(Arithmetic::Add, &Scalar::Int(a), &Scalar::Int(b), data_type)
        };
        assert_eq!(sum(127, 1, &DataType::Int8), Some(Scalar::Int(-128)));
        assert_eq!(sum(i64::MAX, 1, &DataType::Int64), Some(Scalar::Int(i64::MIN)));
        let product =
            |a| arithmetic(Arithmetic::Multiply, &Scalar::UInt(a), &Scalar::UInt(a), &DataType::UInt64);
        assert_eq!(product(u64::MAX), Some(Scalar::UInt(1)));
        let divided =
            |a, b| arithmetic(Arithmetic::Divide, &Scalar::Int(a), &Scalar::Int(b), &DataType::Int64);
        assert_eq!(divided(i64::MIN, -1), Some(Scalar::Int(i64::MIN)));
        assert_eq!(divided(1, 0), None);
    }
}

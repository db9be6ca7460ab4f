//! [`Condition`]: a condition on one column that an index may serve, and what it asks of one.
//!
//! | condition | test | exact |
//! |---|---|---|
//! | `c = v`, `c < v`, …, `c BETWEEN v AND w` | [`Test::Equals`], [`Test::Range`] | yes |
//! | `c != v`, `c NOT IN (…)`, `c NOT BETWEEN …` | the same, negated | yes |
//! | `c IN (…)` | [`Test::IsIn`] | yes |
//! | `c IS NULL`, `c IS NOT NULL` | [`Test::IsNull`], plain or negated | yes |
//! | `b`, `b IS TRUE`, `b IS FALSE` of a boolean | [`Test::Equals`] | yes |
//! | `c LIKE 'ab%'`, `starts_with(c, 'ab')` | [`Test::StartsWith`] | yes |
//! | `c LIKE 'ab%c'` | [`Test::StartsWith`] of what stands before the first wildcard | no |
//! | `c LIKE '%abc%'`, `contains(c, 'abc')` | [`Test::Contains`] | yes, if no index on three letters serves it |
//! | `array_has(l, v)`, `array_has_any`, `array_has_all` | [`Test::HasAny`], [`Test::HasAll`] | yes |
//!
//! Indices keep values in IEEE 754 totalOrder, in which −0 lies below +0; in a filter the two are equal. So a zero is
//! asked for with both signs.

use crate::{
    expr::{ColumnRef, Comparison, Function, Node, Scalar, Typed},
    filter::like_parts,
};
use lancet_format::{Field, Scalar as Value};
use lancet_index::Query;
use std::{fmt, ops::Bound, sync::Arc};

/// A condition on one column.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    /// The id of the column's field.
    pub(crate) field: i32,
    /// The fields on the way to the column.
    path: Arc<[Arc<Field>]>,
    pub(crate) test: Test,
    /// Whether it is true where the test is false; where the value is NULL it is neither.
    pub(crate) negated: bool,
    /// Whether the test, or its negation, says all that the condition does.
    pub(crate) exact: bool,
}

/// What is asked of an index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    Equals(Scalar),
    Range(Bound<Scalar>, Bound<Scalar>),
    IsIn(Arc<[Scalar]>),
    IsNull,
    StartsWith(Scalar),
    Contains(Scalar),
    HasAny(Arc<[Scalar]>),
    HasAll(Arc<[Scalar]>),
}

/// Room for the values of one query.
pub(crate) type Room<'a> = (Vec<Value<'a>>, Vec<Option<Value<'a>>>);

impl Condition {
    /// The condition that `typed` is, or that its negation is unless it is `wanted`; `None` if no index serves such
    /// ones.
    pub(crate) fn of(typed: &Typed, wanted: bool) -> Option<Self> {
        let (operand, test, negated, exact) = match typed.node() {
            Node::Column(_) => (typed, Test::Equals(Scalar::Boolean(true)), false, true),
            Node::Compare { op, left, right } => {
                let (test, negated) = compared(*op, right.constant()?.clone());
                (&**left, test, negated, true)
            }
            Node::Between { operand, low, high, negated } => {
                let (low, high) = (low.constant()?.clone(), high.constant()?.clone());
                // A bound that is NULL leaves the other one to decide where the condition is false.
                if low.is_null() || high.is_null() {
                    return None;
                }
                (&**operand, Test::Range(Bound::Included(low), Bound::Included(high)), *negated, true)
            }
            Node::In { operand, values, has_null, others, negated } if others.is_empty() => {
                // With NULL among the items the condition is never false.
                if *has_null && *negated == wanted {
                    return None;
                }
                (&**operand, Test::IsIn(values.clone()), *negated, true)
            }
            Node::Is { operand, test: crate::expr::Test::Null, negated } => {
                (&**operand, Test::IsNull, *negated, true)
            }
            Node::Like { operand, pattern, escape, ignore_case: false, negated } => {
                let Scalar::Text(pattern) = pattern.constant()? else { return None };
                let (test, exact) = like(pattern, *escape)?;
                (&**operand, test, *negated, exact)
            }
            Node::Call { function, arguments } => {
                let [operand, argument] = &arguments[..] else { return None };
                let argument = argument.constant().filter(|argument| !argument.is_null())?;
                let items = || match argument {
                    Scalar::List(items) if !items.is_empty() => Some(items.clone()),
                    _ => None,
                };
                let test = match function {
                    Function::StartsWith => Test::StartsWith(argument.clone()),
                    Function::Contains => Test::Contains(argument.clone()),
                    Function::ArrayHas => Test::HasAny([argument.clone()].into()),
                    Function::ArrayHasAny => Test::HasAny(items()?),
                    Function::ArrayHasAll => Test::HasAll(items()?),
                    _ => return None,
                };
                (operand, test, false, true)
            }
            _ => return None,
        };
        let Node::Column(ColumnRef::Field(path)) = operand.node() else { return None };
        let negated = negated == wanted;
        if negated && !exact {
            return None;
        }
        Some(Condition { field: path.last()?.id, path: path.clone(), test, negated, exact })
    }

    /// What is asked, with the values of parameters put in; `None` if one of them is NULL, so that nothing is found.
    pub(crate) fn query<'a>(&'a self, parameters: &'a [Scalar], room: &'a mut Room<'a>) -> Option<Query<'a>> {
        let value = |scalar: &'a Scalar| value(resolve(scalar, parameters));
        let bound = |bound: &'a Bound<Scalar>, is_low: bool| {
            Some(match bound {
                Bound::Unbounded => Bound::Unbounded,
                // The bounds of zeros take both signs in, or leave both out.
                Bound::Included(own) => Bound::Included(signed(value(own)?, is_low)),
                Bound::Excluded(own) => Bound::Excluded(signed(value(own)?, !is_low)),
            })
        };
        Some(match &self.test {
            Test::Equals(own) => {
                let value = value(own)?;
                match is_zero(value) {
                    false => Query::Equals(value),
                    true => {
                        room.0.extend([signed(value, true), signed(value, false)]);
                        Query::IsIn(&room.0)
                    }
                }
            }
            Test::Range(low, high) => Query::Range(bound(low, true)?, bound(high, false)?),
            Test::IsIn(values) => {
                for own in values.iter() {
                    let Some(value) = value(own) else { continue };
                    room.0.push(value);
                    if is_zero(value) {
                        room.0.extend([signed(value, true), signed(value, false)]);
                    }
                }
                Query::IsIn(&room.0)
            }
            Test::IsNull => Query::IsNull,
            Test::StartsWith(prefix) => match value(prefix)? {
                Value::Bytes(prefix) => Query::StartsWith(prefix),
                _ => return None,
            },
            Test::Contains(part) => match resolve(part, parameters) {
                Scalar::Text(part) => Query::Contains(part),
                _ => return None,
            },
            Test::HasAny(items) | Test::HasAll(items) => {
                for own in items.iter() {
                    room.1.push(match own.is_null() {
                        true => None,
                        false => Some(value(own)?),
                    });
                    // Lists hold zeros of either sign, which are equal.
                    if let Some(Some(zero)) = room.1.last().copied().filter(|last| last.is_some_and(is_zero))
                    {
                        match &self.test {
                            Test::HasAny(_) => room.1.push(Some(signed(zero, zero_is_positive(zero)))),
                            _ => return None,
                        }
                    }
                }
                match &self.test {
                    Test::HasAny(_) => Query::HasAny(&room.1),
                    _ => Query::HasAll(&room.1),
                }
            }
        })
    }
}

/// The value of a parameter, or the literal itself.
pub(crate) fn resolve<'a>(scalar: &'a Scalar, parameters: &'a [Scalar]) -> &'a Scalar {
    match scalar {
        Scalar::Parameter(number) => parameters.get(*number as usize).unwrap_or(&Scalar::Null),
        literal => literal,
    }
}

/// `value op literal` as a test, and whether it is to be negated.
fn compared(op: Comparison, literal: Scalar) -> (Test, bool) {
    use Bound::{Excluded, Included, Unbounded};
    match op {
        Comparison::Equal => (Test::Equals(literal), false),
        Comparison::NotEqual => (Test::Equals(literal), true),
        Comparison::Less => (Test::Range(Unbounded, Excluded(literal)), false),
        Comparison::LessOrEqual => (Test::Range(Unbounded, Included(literal)), false),
        Comparison::Greater => (Test::Range(Excluded(literal), Unbounded), false),
        Comparison::GreaterOrEqual => (Test::Range(Included(literal), Unbounded), false),
    }
}

/// What a pattern asks of an index, and whether that is all that it says.
fn like(pattern: &str, escape: char) -> Option<(Test, bool)> {
    let parts = like_parts(pattern, escape);
    let text = |text: &str| Scalar::Text(text.into());
    if let Some(whole) = parts.whole {
        return Some((Test::Equals(text(&whole)), true));
    }
    match (&*parts.head, parts.longest) {
        ("", None) => None,
        ("", Some((part, is_all))) => Some((Test::Contains(text(&part)), is_all)),
        (head, _) => Some((Test::StartsWith(text(head)), parts.head_is_all)),
    }
}

/// A value as indices know it; `None` for NULL and types without an order.
pub(crate) fn value(scalar: &Scalar) -> Option<Value<'_>> {
    Some(match scalar {
        Scalar::Boolean(value) => Value::Boolean(*value),
        Scalar::Int(value) => Value::Int(*value),
        Scalar::UInt(value) => Value::UInt(*value),
        Scalar::Float16(value) => Value::Float16(value.to_bits()),
        Scalar::Float32(value) => Value::Float32(*value),
        Scalar::Float64(value) => Value::Float64(*value),
        Scalar::Decimal128(value) => Value::Decimal128(*value),
        Scalar::Decimal256(value) => Value::Decimal256(value.to_le_bytes()),
        Scalar::Text(text) => Value::Bytes(text.as_bytes()),
        Scalar::Binary(bytes) => Value::Bytes(bytes),
        _ => return None,
    })
}

fn is_zero(value: Value<'_>) -> bool {
    match value {
        Value::Float16(bits) => bits & 0x7fff == 0,
        Value::Float32(value) => value == 0.0,
        Value::Float64(value) => value == 0.0,
        _ => false,
    }
}

fn zero_is_positive(value: Value<'_>) -> bool {
    match value {
        Value::Float16(bits) => bits == 0,
        Value::Float32(value) => value.is_sign_positive(),
        Value::Float64(value) => value.is_sign_positive(),
        _ => false,
    }
}

/// A zero with this sign; any other value as it is.
fn signed(value: Value<'_>, negative: bool) -> Value<'_> {
    match value {
        _ if !is_zero(value) => value,
        Value::Float16(_) => Value::Float16(if negative { 0x8000 } else { 0 }),
        Value::Float32(_) => Value::Float32(if negative { -0.0 } else { 0.0 }),
        _ => Value::Float64(if negative { -0.0 } else { 0.0 }),
    }
}

impl fmt::Display for Condition {
    /// The condition without its values, which may be parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let test = match &self.test {
            Test::Equals(_) => "=",
            Test::Range(..) => "range",
            Test::IsIn(_) => "in",
            Test::IsNull => "is null",
            Test::StartsWith(_) => "starts with",
            Test::Contains(_) => "contains",
            Test::HasAny(_) => "has any",
            Test::HasAll(_) => "has all",
        };
        let column = self.path.iter().map(|field| &*field.name).collect::<Vec<_>>().join(".");
        match self.negated {
            false => write!(f, "{column} {test}"),
            true => write!(f, "NOT ({column} {test})"),
        }
    }
}

//! [`Expr`] and a schema → [`Typed`].
//!
//! A literal has no type until it meets something that has one. So every operand is bound to an [`Operand`], which may
//! still be a literal, and the node above decides: [`compare`] what it is beside a column, [`call`] what it is as
//! an argument.

mod call;
mod column;
mod compare;
mod number;
mod unify;

use super::convert::{castable, is_text, values};
use super::literal::{self, Fit};
use super::tree::{Expr, Kind, Literal, MAX_DEPTH};
use super::typed::{Node, Typed};
use super::{Function, Place, Scalar};
use crate::{DataType, Error, Result, Schema};

impl Expr {
    /// Gives every part of the expression its type: names are looked up in `schema`, literals take the type of the
    /// column that they meet, constants are computed.
    ///
    /// # Errors
    /// Invalid input, naming the place in the text, if a column or a function is not there, or types do not fit each
    /// other. Unsupported if a column's type is not known.
    pub fn bind(&self, schema: &Schema) -> Result<Typed> {
        Binder { schema }.value(self)
    }

    /// As [`bind`](Expr::bind), of an expression that must be a condition.
    ///
    /// # Errors
    /// As `bind`, and invalid input if the values are no booleans.
    pub fn bind_filter(&self, schema: &Schema) -> Result<Typed> {
        Binder { schema }.condition(self)
    }
}

struct Binder<'a> {
    schema: &'a Schema,
}

/// A part of an expression, typed or still a literal.
enum Operand<'e> {
    Typed(Typed),
    Literal(&'e Literal),
    List(&'e [Expr]),
}

impl Binder<'_> {
    fn operand<'e>(&self, expr: &'e Expr) -> Result<Operand<'e>> {
        match &expr.kind {
            Kind::Literal(literal) => Ok(Operand::Literal(literal)),
            Kind::List(items) => Ok(Operand::List(items)),
            _ => self.value(expr).map(Operand::Typed),
        }
    }

    /// An expression that nothing else gives a type.
    fn value(&self, expr: &Expr) -> Result<Typed> {
        let place = &expr.place;
        match &expr.kind {
            Kind::Column(path) => self.column(path, place),
            Kind::Literal(literal) => self.literal_alone(literal, place),
            Kind::Compare(op, left, right) => self.compare(*op, left, right, place),
            Kind::And(terms) => self.joined(terms, true),
            Kind::Or(terms) => self.joined(terms, false),
            Kind::Not(operand) => Ok(Typed::boolean(Node::Not(Box::new(self.condition(operand)?)))),
            Kind::Is { operand, test, negated } => self.test(operand, *test, *negated),
            Kind::Between { operand, low, high, negated } => self.between(operand, [low, high], *negated),
            Kind::In { operand, list, negated } => self.is_in(operand, list, *negated),
            Kind::Like { operand, pattern, escape, ignore_case, negated } => {
                let operand = self.text(operand, "LIKE")?;
                let pattern = self.text(pattern, "LIKE")?;
                Ok(Typed::boolean(Node::Like {
                    operand: Box::new(operand),
                    pattern: Box::new(pattern),
                    escape: escape.unwrap_or('\\'),
                    ignore_case: *ignore_case,
                    negated: *negated,
                }))
            }
            Kind::Arithmetic(op, left, right) => self.arithmetic(*op, left, right, place),
            Kind::Negate(operand) => self.negate(operand),
            Kind::Join(left, right) => {
                let arguments = vec![self.text(left, "`||`")?, self.text(right, "`||`")?];
                Ok(Typed::new(Node::Call { function: Function::Join, arguments }, DataType::Utf8))
            }
            Kind::Call { name, arguments } => self.call(name, arguments, place),
            Kind::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref())
            }
            Kind::Cast { operand, to } => self.cast(operand, to),
            Kind::Subscript(operand, index) => self.subscript(operand, index, place),
            Kind::List(_) => Err(place.error("a list of values is no value by itself")),
            Kind::TooDeep => {
                Err(place.error(format_args!("expected an expression of at most {MAX_DEPTH} levels")))
            }
        }
    }

    /// An expression that must be true, false or NULL.
    fn condition(&self, expr: &Expr) -> Result<Typed> {
        let typed = self.value(expr)?;
        match values(&typed.data_type) {
            DataType::Boolean => Ok(typed),
            DataType::Null => Ok(typed.cast_to(&DataType::Boolean)),
            _ => Err(expr.place.error(format_args!("expected a condition, found {}", describe(&typed)))),
        }
    }

    fn joined(&self, terms: &[Expr], is_and: bool) -> Result<Typed> {
        let terms = terms.iter().map(|term| self.condition(term)).collect::<Result<_>>()?;
        Ok(Typed::joined(terms, is_and))
    }

    /// An expression that must be text; NULL is.
    fn text(&self, expr: &Expr, wanted_by: &str) -> Result<Typed> {
        let typed = self.value(expr)?;
        match typed.data_type {
            DataType::Null => Ok(typed.cast_to(&DataType::Utf8)),
            ref data_type if is_text(data_type) => Ok(typed),
            _ => Err(expr.place.error(format_args!("{wanted_by} expects text, found {}", describe(&typed)))),
        }
    }

    fn literal_alone(&self, literal: &Literal, place: &Place) -> Result<Typed> {
        let (fit, data_type) = literal::alone(literal);
        match fit {
            Fit::Is(value) | Fit::Above(value) => Ok(Typed::literal(value, data_type)),
            Fit::Malformed(expected) => Err(place.error(format_args!("expected {expected}"))),
            Fit::No | Fit::Mismatch => Err(place.error(format_args!("{data_type} cannot hold {literal}"))),
        }
    }

    fn cast(&self, expr: &Expr, to: &DataType) -> Result<Typed> {
        let operand = match &expr.kind {
            // A number that is cast to a decimal is taken as it is written, not as the nearest float.
            Kind::Literal(literal @ Literal::Number(digits)) if super::convert::is_decimal(to) => {
                let own = literal::decimal_type(digits);
                match own.map(|own| (literal::fit(literal, &own), own)) {
                    Some((Fit::Is(value), own)) => Typed::literal(value, own),
                    _ => self.value(expr)?,
                }
            }
            _ => self.value(expr)?,
        };
        if !castable(&operand.data_type, to) {
            return Err(expr.place.error(format_args!("{} cannot be cast to {to}", describe(&operand))));
        }
        if let DataType::Timestamp(_, Some(name)) = to
            && super::temporal::zone(name).is_none()
        {
            return Err(expr.place.error(format_args!("time zone `{name}` is not known")));
        }
        Ok(operand.cast_to(to))
    }

    /// `list[index]` or `struct['field']`.
    fn subscript(&self, operand: &Expr, index: &Expr, place: &Place) -> Result<Typed> {
        let operand = self.value(operand)?;
        match (&operand.data_type, &index.kind) {
            (DataType::Struct(_), Kind::Literal(Literal::Text(name))) => self.field(operand, name, place),
            (DataType::Struct(_), _) => Err(place.error("the field of a struct is named by a text")),
            (DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _), _) => {
                let data_type = item.data_type.clone();
                let index = self.integer(index, "the index of a list")?;
                let arguments = vec![operand, index];
                Ok(Typed::new(Node::Call { function: Function::Element, arguments }, data_type))
            }
            _ => Err(place.error(format_args!("{} has no items or fields", describe(&operand)))),
        }
    }

    /// An integer as int64.
    fn integer(&self, expr: &Expr, what: &str) -> Result<Typed> {
        let typed = self.value(expr)?;
        if !super::convert::is_integer(&typed.data_type) && typed.data_type != DataType::Null {
            return Err(expr.place.error(format_args!("{what} is an integer, found {}", describe(&typed))));
        }
        Ok(typed.cast_to(&DataType::Int64))
    }

    fn case(
        &self,
        operand: Option<&Expr>,
        branches: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
    ) -> Result<Typed> {
        let (operand, conditions) = match operand {
            Some(operand) => {
                let conditions = branches.iter().map(|(when, _)| when).collect();
                let (operand, conditions) = self.operand_and(operand, conditions)?;
                (Some(operand), conditions)
            }
            None => {
                (None, branches.iter().map(|(when, _)| self.condition(when)).collect::<Result<Vec<_>>>()?)
            }
        };
        let values: Vec<&Expr> = branches.iter().map(|(_, value)| value).chain(otherwise).collect();
        let (mut values, data_type) = self.unify(&values)?;
        let otherwise = otherwise.and_then(|_| values.pop());
        let node = Node::Case {
            operand: operand.map(Box::new),
            branches: conditions.into_iter().zip(values).collect(),
            otherwise: otherwise.map(Box::new),
        };
        Ok(Typed::new(node, data_type))
    }
}

/// What a typed expression is, for an error: its column if it is one, and its type.
fn describe(typed: &Typed) -> String {
    match &typed.node {
        Node::Column(column) => format!("column `{}` of type {}", column::path(column), typed.data_type),
        Node::Literal(Scalar::Null) => "NULL".into(),
        _ => format!("a value of type {}", typed.data_type),
    }
}

fn mismatch(left: &Typed, right: &dyn std::fmt::Display, place: &Place) -> Error {
    place.error(format_args!("{} cannot be compared with {right}", describe(left)))
}

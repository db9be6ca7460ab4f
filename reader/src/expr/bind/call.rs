//! Calls: names → functions, arguments → their types.

use super::super::cast::exact;
use super::super::convert::{alike, castable, common, is_float, is_text, values};
use super::super::function::{DatePart, DateUnit, Function};
use super::super::literal::{self, Fit};
use super::super::tree::{Expr, Kind, Literal};
use super::super::typed::{Node, Typed};
use super::super::{Place, Scalar};
use super::{Binder, Operand, describe};
use crate::{DataType, Field, Result, TimeUnit};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

const NANOS: DataType = DataType::Timestamp(TimeUnit::Nanosecond, None);

impl Binder<'_> {
    pub(super) fn call(&self, name: &str, arguments: &[Expr], place: &Place) -> Result<Typed> {
        let count = |expected: std::ops::RangeInclusive<usize>| {
            let (least, most) = (*expected.start(), *expected.end());
            match expected.contains(&arguments.len()) {
                true => Ok(()),
                false => Err(place.error(format_args!(
                    "`{name}` takes {}, found {}",
                    match most {
                        _ if least == most => format!("{least} arguments"),
                        usize::MAX => format!("{least} arguments or more"),
                        _ => format!("{least} to {most} arguments"),
                    },
                    arguments.len()
                ))),
            }
        };
        match name {
            "now" => {
                count(0..=0)?;
                return Ok(now());
            }
            "date_trunc" | "date_part" => {
                count(2..=2)?;
                return self.date_function(name, &arguments[0], &arguments[1]);
            }
            _ => (),
        }
        let Some((function, expected)) = Function::named(name) else {
            return Err(place.error(format_args!("function `{name}` is not known")));
        };
        count(expected)?;
        use Function::*;
        let (arguments, data_type) = match function {
            StartsWith | EndsWith | Contains | RegexpLike => {
                (self.texts(arguments, name)?, DataType::Boolean)
            }
            Lower | Upper | Trim => (self.texts(arguments, name)?, DataType::Utf8),
            Length => (self.texts(arguments, name)?, DataType::Int32),
            Concat => (self.anything_as_text(arguments)?, DataType::Utf8),
            Substr => {
                let mut typed = vec![self.text(&arguments[0], "`substr`")?];
                for argument in &arguments[1..] {
                    typed.push(self.integer(argument, "a position in a text")?);
                }
                (typed, DataType::Utf8)
            }
            Abs => {
                let mut typed = self.number(&arguments[0], name)?;
                match values(&typed.data_type) {
                    DataType::Null => typed = typed.cast_to(&DataType::Int64),
                    DataType::Float16 | DataType::BFloat16 => typed = typed.cast_to(&DataType::Float32),
                    _ => (),
                }
                let data_type = values(&typed.data_type).clone();
                (vec![typed], data_type)
            }
            Round | Floor | Ceil | IsNan => {
                let mut typed = vec![self.float(&arguments[0], name)?];
                for argument in &arguments[1..] {
                    typed.push(self.integer(argument, "the number of digits")?);
                }
                let data_type =
                    if function == IsNan { DataType::Boolean } else { typed[0].data_type.clone() };
                (typed, data_type)
            }
            Coalesce | NullIf => {
                let (typed, data_type) = self.unify(&arguments.iter().collect::<Vec<_>>())?;
                if function == NullIf {
                    self.comparable(&data_type, place)?;
                }
                (typed, data_type)
            }
            ToTimestamp => return self.to_timestamp(&arguments[0]),
            ArrayLength => (vec![self.list(&arguments[0], name)?.0], DataType::UInt64),
            ArrayHas | ArrayHasAny | ArrayHasAll => {
                (self.in_array(function, name, arguments)?, DataType::Boolean)
            }
            // These have no name to call them by.
            Join | Element | DateTrunc(_) | DatePart(_) => {
                return Err(place.error(format_args!("function `{name}` is not known")));
            }
        };
        Ok(Typed::new(Node::Call { function, arguments }, data_type))
    }

    fn texts(&self, arguments: &[Expr], name: &str) -> Result<Vec<Typed>> {
        arguments.iter().map(|argument| self.text(argument, &format!("`{name}`"))).collect()
    }

    fn anything_as_text(&self, arguments: &[Expr]) -> Result<Vec<Typed>> {
        let text = |argument: &Expr| {
            let typed = self.value(argument)?;
            match castable(&typed.data_type, &DataType::Utf8) {
                _ if is_text(&typed.data_type) => Ok(typed),
                true => Ok(typed.cast_to(&DataType::Utf8)),
                false => Err(argument
                    .place
                    .error(format_args!("`concat` expects text, found {}", describe(&typed)))),
            }
        };
        arguments.iter().map(text).collect()
    }

    /// An expression that must be a list, and the field of its items.
    fn list(&self, expr: &Expr, name: &str) -> Result<(Typed, Arc<Field>)> {
        let typed = self.value(expr)?;
        let item = item_of(&typed, name, expr)?;
        Ok((typed, item))
    }

    fn in_array(&self, function: Function, name: &str, arguments: &[Expr]) -> Result<Vec<Typed>> {
        let (list, item) = self.list(&arguments[0], name)?;
        self.comparable(&item.data_type, &arguments[0].place)?;
        let second = &arguments[1];
        let other = match (function, self.operand(second)?) {
            (Function::ArrayHas, Operand::Literal(literal)) => Typed::literal(
                self.item(literal, &list, &item, &second.place)?,
                values(&item.data_type).clone(),
            ),
            (Function::ArrayHas, Operand::List(_)) => {
                return Err(second
                    .place
                    .error("`array_has` expects one item; array_has_any and array_has_all take lists"));
            }
            (Function::ArrayHas, Operand::Typed(typed)) => {
                let own = values(&item.data_type);
                match typed.constant().and_then(|value| exact(value, &typed.data_type, own)) {
                    Some(value) => Typed::literal(value, own.clone()),
                    None => as_item(typed, own, second)?,
                }
            }
            (_, Operand::List(items)) => {
                let mut scalars = Vec::with_capacity(items.len());
                for expr in items {
                    scalars.push(match &expr.kind {
                        Kind::Literal(literal) => self.item(literal, &list, &item, &expr.place)?,
                        _ => {
                            let typed = self.value(expr)?;
                            let constant =
                                typed.constant().filter(|_| alike(&typed.data_type, &item.data_type));
                            let message =
                                "the items of a list are literals of the type of the other list's items";
                            constant.cloned().ok_or_else(|| expr.place.error(message))?
                        }
                    });
                }
                let data_type =
                    DataType::List(Arc::new(Field::new("item", -1, item.data_type.clone(), true)));
                Typed::literal(Scalar::List(scalars.into()), data_type)
            }
            (_, Operand::Literal(Literal::Null)) => Typed::literal(Scalar::Null, list.data_type.clone()),
            (_, Operand::Literal(_)) => {
                return Err(second.place.error(format_args!("`{name}` expects a list")));
            }
            (_, Operand::Typed(other)) => {
                let items = item_of(&other, name, second)?;
                if !alike(&item.data_type, &items.data_type) {
                    return Err(second.place.error(format_args!(
                        "expected a list of {}, found {}",
                        item.data_type,
                        describe(&other)
                    )));
                }
                other
            }
        };
        Ok(vec![list, other])
    }

    /// A literal as an item of a list.
    fn item(&self, literal: &Literal, list: &Typed, item: &Field, place: &Place) -> Result<Scalar> {
        match literal::fit(literal, &item.data_type) {
            Fit::Is(value) => Ok(value),
            Fit::Malformed(expected) => Err(place.error(format_args!("expected {expected}"))),
            _ => Err(place.error(format_args!("{}: its items cannot be {literal}", describe(list)))),
        }
    }

    fn date_function(&self, name: &str, unit: &Expr, expr: &Expr) -> Result<Typed> {
        let Kind::Literal(Literal::Text(text)) = &unit.kind else {
            return Err(unit.place.error(format_args!("`{name}` expects the name of a unit as a literal")));
        };
        let unknown = || unit.place.error(format_args!("`{name}` knows no unit '{text}'"));
        let mut operand = match &expr.kind {
            Kind::Literal(Literal::Null) => Typed::literal(Scalar::Null, NANOS),
            _ => self.value(expr)?,
        };
        let is_time = matches!(operand.data_type, DataType::Time32(_) | DataType::Time64(_));
        match operand.data_type {
            DataType::Timestamp(..) => (),
            DataType::Date32 | DataType::Date64 if name == "date_part" => (),
            DataType::Date32 | DataType::Date64 => operand = operand.cast_to(&NANOS),
            _ if is_time && name == "date_part" => (),
            _ => {
                let found = describe(&operand);
                return Err(expr.place.error(format_args!("`{name}` expects a timestamp, found {found}")));
            }
        }
        let (function, data_type) = match name {
            "date_trunc" => {
                let unit = DateUnit::named(text).ok_or_else(unknown)?;
                (Function::DateTrunc(unit), operand.data_type.clone())
            }
            _ => match DatePart::named(text).ok_or_else(unknown)? {
                DatePart::Epoch => (Function::DatePart(DatePart::Epoch), DataType::Float64),
                part => (Function::DatePart(part), DataType::Int32),
            },
        };
        Ok(Typed::new(Node::Call { function, arguments: vec![operand] }, data_type))
    }

    /// Texts, dates and timestamps are cast, integers are seconds.
    fn to_timestamp(&self, expr: &Expr) -> Result<Typed> {
        let operand = self.value(expr)?;
        let seconds = DataType::Timestamp(TimeUnit::Second, None);
        Ok(match values(&operand.data_type) {
            DataType::Timestamp(_, zone) => {
                let to = DataType::Timestamp(TimeUnit::Nanosecond, zone.clone());
                operand.cast_to(&to)
            }
            DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Date32 | DataType::Date64 => {
                operand.cast_to(&NANOS)
            }
            _ if super::super::convert::is_integer(&operand.data_type) => {
                operand.cast_to(&DataType::Int64).cast_to(&seconds).cast_to(&NANOS)
            }
            data_type if is_float(data_type) => {
                let arguments = vec![operand.cast_to(&DataType::Float64)];
                Typed::new(Node::Call { function: Function::ToTimestamp, arguments }, NANOS)
            }
            _ => {
                let found = describe(&operand);
                return Err(expr
                    .place
                    .error(format_args!("`to_timestamp` expects text or a number, found {found}")));
            }
        })
    }
}

/// A value as one that items of a list can equal, without casting the list.
fn as_item(typed: Typed, item: &DataType, expr: &Expr) -> Result<Typed> {
    match common(&typed.data_type, item) {
        _ if alike(&typed.data_type, item) => Ok(typed),
        Some(data_type) if data_type == *item => Ok(typed.cast_to(item)),
        _ => {
            Err(expr.place.error(format_args!("expected an item of type {item}, found {}", describe(&typed))))
        }
    }
}

/// The field of the items of a list.
fn item_of(typed: &Typed, name: &str, expr: &Expr) -> Result<Arc<Field>> {
    match &typed.data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            Ok(item.clone())
        }
        _ => Err(expr.place.error(format_args!("`{name}` expects a list, found {}", describe(typed)))),
    }
}

/// The time at which the expression is bound.
fn now() -> Typed {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let nanos = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
    let utc = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
    Typed::literal(Scalar::Int(nanos), utc)
}

//! Rust's operators over [`Expr`], and Rust's values as literals.

use super::lit;
use super::tree::{Arithmetic, Expr, Kind, Literal};
use crate::DataType;
use std::{ops, sync::Arc};

impl ops::Not for Expr {
    type Output = Expr;
    fn not(self) -> Expr {
        Expr::new(Kind::Not(Box::new(self)))
    }
}

impl ops::Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        match self.kind {
            Kind::Literal(Literal::Number(digits)) => {
                Expr::new(Kind::Literal(Literal::Number(negated(&digits))))
            }
            _ => Expr::new(Kind::Negate(Box::new(self))),
        }
    }
}

/// The number with the other sign.
pub(crate) fn negated(digits: &str) -> Arc<str> {
    match digits.strip_prefix('-') {
        Some(positive) => positive.into(),
        None => format!("-{digits}").into(),
    }
}

macro_rules! arithmetic {
    ($($trait:ident $method:ident $op:ident),*) => {$(
        impl<E: Into<Expr>> ops::$trait<E> for Expr {
            type Output = Expr;
            fn $method(self, other: E) -> Expr {
                Expr::new(Kind::Arithmetic(Arithmetic::$op, Box::new(self), Box::new(other.into())))
            }
        }
    )*};
}

arithmetic!(Add add Add, Sub sub Subtract, Mul mul Multiply, Div div Divide, Rem rem Remainder);

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl From<$type> for Expr {
            fn from(value: $type) -> Self {
                Expr::new(Kind::Literal(Literal::Number(value.to_string().into())))
            }
        }
    )*};
}

integers!(i8 i16 i32 i64 i128 u8 u16 u32 u64 usize);

macro_rules! floats {
    ($($type:ty)*) => {$(
        impl From<$type> for Expr {
            /// The shortest number that reads back the same; NaN and infinities as a cast of their names.
            fn from(value: $type) -> Self {
                if value.is_finite() {
                    return Expr::new(Kind::Literal(Literal::Number(format!("{value:?}").into())));
                }
                let sign = if value.is_sign_negative() { "-" } else { "" };
                let name = if value.is_nan() { "NaN" } else { "Infinity" };
                lit(format!("{sign}{name}")).cast(DataType::Float64)
            }
        }
    )*};
}

floats!(f32 f64);

impl From<bool> for Expr {
    fn from(value: bool) -> Self {
        Expr::new(Kind::Literal(Literal::Boolean(value)))
    }
}

impl From<&str> for Expr {
    fn from(value: &str) -> Self {
        Expr::new(Kind::Literal(Literal::Text(value.into())))
    }
}

impl From<String> for Expr {
    fn from(value: String) -> Self {
        Expr::from(&*value)
    }
}

impl From<&[u8]> for Expr {
    fn from(value: &[u8]) -> Self {
        Expr::new(Kind::Literal(Literal::Binary(value.into())))
    }
}

impl From<Vec<u8>> for Expr {
    fn from(value: Vec<u8>) -> Self {
        Expr::from(&*value)
    }
}

impl<T: Into<Expr>> From<Option<T>> for Expr {
    /// NULL for none.
    fn from(value: Option<T>) -> Self {
        value.map_or_else(Expr::null, Into::into)
    }
}

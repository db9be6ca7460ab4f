//! [`Expr`]: an expression as it is written, before any schema gives it types.

use super::Place;
use crate::DataType;
use std::sync::Arc;

/// No expression is nested deeper; AND and OR chains count once, however long they are.
pub const MAX_DEPTH: usize = 64;

/// An expression over columns that are named but not yet looked up: a filter, or a computed column.
///
/// It is parsed from text ([`Expr::parse`]) or built, from [`col`](super::col), [`lit`](super::lit) and the methods
/// below; its `Display` is text that parses to an equal expression. Where in a text it came from takes no part in
/// equality.
///
/// ```
/// use lancet::expr::{Expr, col};
///
/// let built = col("score").gt(0.5).and(col("city").eq("Oslo").or(col("city").is_null()));
/// assert_eq!(built.to_string(), "score > 0.5 AND (city = 'Oslo' OR city IS NULL)");
/// assert_eq!(Expr::parse(&built.to_string())?, built);
/// # Ok::<(), lancet::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    pub(crate) kind: Kind,
    pub(crate) place: Place,
    /// Levels of this tree, itself included: at most [`MAX_DEPTH`], which bounds every recursion over it, dropping
    /// included.
    pub(crate) depth: usize,
}

/// What an [`Expr`] is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// The names of a column and of the fields below it.
    Column(Vec<Arc<str>>),
    Literal(Literal),
    Compare(Comparison, Box<Expr>, Box<Expr>),
    /// Two or more, none an AND itself.
    And(Vec<Expr>),
    /// Two or more, none an OR itself.
    Or(Vec<Expr>),
    Not(Box<Expr>),
    Is {
        operand: Box<Expr>,
        test: Test,
        negated: bool,
    },
    Between {
        operand: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        negated: bool,
    },
    In {
        operand: Box<Expr>,
        list: Vec<Expr>,
        negated: bool,
    },
    Like {
        operand: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<char>,
        ignore_case: bool,
        negated: bool,
    },
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
    Negate(Box<Expr>),
    /// `left || right`.
    Join(Box<Expr>, Box<Expr>),
    Call {
        name: Arc<str>,
        arguments: Vec<Expr>,
    },
    Case {
        operand: Option<Box<Expr>>,
        branches: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Cast {
        operand: Box<Expr>,
        to: DataType,
    },
    /// `list[index]` or `struct['field']`.
    Subscript(Box<Expr>, Box<Expr>),
    /// `[a, b]`
    List(Vec<Expr>),
    /// What a builder puts in the place of a tree that became too deep; an error once it is typed.
    TooDeep,
}

/// A literal as it is written: what it means is decided by the type of the column that it meets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Null,
    Boolean(bool),
    /// Digits, perhaps with a sign, a point, an exponent.
    Number(Arc<str>),
    Text(Arc<str>),
    Binary(Arc<[u8]>),
    /// `DATE '…'`
    Date(Arc<str>),
    /// `TIME '…'`
    Time(Arc<str>),
    /// `TIMESTAMP '…'`
    Timestamp(Arc<str>),
    /// A value that is bound later, `$1` or `?`; its number counts from 0.
    Parameter(u32),
}

/// A comparison. Floats are ordered −NaN, −inf, …, −0 = 0, …, inf, NaN, and a NaN equals only the same bits; text and
/// binary are ordered by their bytes; false is less than true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// The comparison that says the same with its sides exchanged.
    #[must_use]
    pub fn flipped(self) -> Self {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            same => same,
        }
    }

    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}

/// An operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    /// Integers divide toward zero.
    Divide,
    /// The remainder has the sign of the dividend.
    Remainder,
}

impl Arithmetic {
    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Remainder => "%",
        }
    }
}

/// What IS tests for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Test {
    Null,
    True,
    False,
}

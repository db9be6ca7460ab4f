//! Building an [`Expr`] in Rust; operators and literals are in [`super::operators`].

use super::Place;
use super::tree::{Comparison, Expr, Kind, Literal, MAX_DEPTH, Test};
use crate::{DataType, Result};
use std::sync::Arc;

/// The column called `path`, which joins the names of structs and their fields with dots; a name that holds dots
/// itself stands between backticks, or is found whole.
pub fn col(path: &str) -> Expr {
    Expr::new(Kind::Column(split_path(path)))
}

/// A literal, which [`Expr::date`] and [`Expr::timestamp`] make of dates.
pub fn lit(value: impl Into<Expr>) -> Expr {
    value.into()
}

/// The names of a dotted path.
fn split_path(path: &str) -> Vec<Arc<str>> {
    let (mut names, mut name, mut quoted) = (Vec::new(), String::new(), false);
    for character in path.chars() {
        match character {
            '`' => quoted = !quoted,
            '.' if !quoted => names.push(std::mem::take(&mut name).into()),
            _ => name.push(character),
        }
    }
    names.push(name.into());
    names
}

impl Expr {
    /// An expression that comes from no text.
    pub(crate) fn new(kind: Kind) -> Self {
        Expr::at(kind, Place::default())
    }

    /// An expression that stands at `place`. Where it would become too deep it is replaced by an error.
    pub(crate) fn at(kind: Kind, place: Place) -> Self {
        let below = kind.children().map(|child| child.depth).max().unwrap_or(0);
        Expr::above(kind, place, below)
    }

    /// An expression whose deepest child has `below` levels.
    fn above(kind: Kind, place: Place, below: usize) -> Self {
        match below {
            0..MAX_DEPTH => Expr { kind, place, depth: below + 1 },
            _ => Expr { kind: Kind::TooDeep, place, depth: 1 },
        }
    }

    /// Parses a filter.
    ///
    /// # Errors
    /// Invalid input, naming the place in the text, if it is no expression, is nested too deep, or something
    /// follows it. Whether the columns and functions exist is seen once it meets a schema.
    pub fn parse(text: &str) -> Result<Self> {
        super::parse::expression(text)
    }

    /// `DATE 'text'`, a date as `2026-07-28`.
    pub fn date(text: &str) -> Self {
        Expr::new(Kind::Literal(Literal::Date(text.into())))
    }

    /// `TIME 'text'`, a time of day as `10:15:00.5`.
    pub fn time(text: &str) -> Self {
        Expr::new(Kind::Literal(Literal::Time(text.into())))
    }

    /// `TIMESTAMP 'text'`, a timestamp as `2026-07-28 10:15:00.5`, with `Z` or an offset (`+02:00`) if it is an
    /// instant and not local time of the zone of the column that it meets.
    pub fn timestamp(text: &str) -> Self {
        Expr::new(Kind::Literal(Literal::Timestamp(text.into())))
    }

    /// NULL.
    pub fn null() -> Self {
        Expr::new(Kind::Literal(Literal::Null))
    }

    /// A list of values, `[a, b]`.
    pub fn list<E: Into<Expr>>(items: impl IntoIterator<Item = E>) -> Self {
        Expr::new(Kind::List(items.into_iter().map(Into::into).collect()))
    }

    /// A call of the function called `name`.
    pub fn call<E: Into<Expr>>(name: &str, arguments: impl IntoIterator<Item = E>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Expr::new(Kind::Call { name: name.into(), arguments })
    }

    /// `CASE WHEN condition THEN value … [ELSE otherwise] END`; without branches just `otherwise`.
    pub fn case(branches: impl IntoIterator<Item = (Expr, Expr)>, otherwise: Option<Expr>) -> Self {
        let branches: Vec<_> = branches.into_iter().collect();
        if branches.is_empty() {
            return otherwise.into();
        }
        Expr::new(Kind::Case { operand: None, branches, otherwise: otherwise.map(Box::new) })
    }

    fn compare(self, op: Comparison, other: impl Into<Expr>) -> Self {
        Expr::new(Kind::Compare(op, Box::new(self), Box::new(other.into())))
    }

    /// `self = other`
    #[must_use]
    pub fn eq(self, other: impl Into<Expr>) -> Self {
        self.compare(Comparison::Equal, other)
    }

    /// `self != other`
    #[must_use]
    pub fn not_eq(self, other: impl Into<Expr>) -> Self {
        self.compare(Comparison::NotEqual, other)
    }

    /// `self < other`
    #[must_use]
    pub fn lt(self, other: impl Into<Expr>) -> Self {
        self.compare(Comparison::Less, other)
    }

    /// `self <= other`
    #[must_use]
    pub fn lt_eq(self, other: impl Into<Expr>) -> Self {
        self.compare(Comparison::LessOrEqual, other)
    }

    /// `self > other`
    #[must_use]
    pub fn gt(self, other: impl Into<Expr>) -> Self {
        self.compare(Comparison::Greater, other)
    }

    /// `self >= other`
    #[must_use]
    pub fn gt_eq(self, other: impl Into<Expr>) -> Self {
        self.compare(Comparison::GreaterOrEqual, other)
    }

    /// `self AND other`
    #[must_use]
    pub fn and(self, other: impl Into<Expr>) -> Self {
        Expr::all([self, other.into()])
    }

    /// `self OR other`
    #[must_use]
    pub fn or(self, other: impl Into<Expr>) -> Self {
        Expr::any([self, other.into()])
    }

    /// All of them, joined with AND; true if there are none.
    pub fn all(terms: impl IntoIterator<Item = Expr>) -> Self {
        let is_and = |kind: Kind| match kind {
            Kind::And(terms) => Ok(terms),
            other => Err(other),
        };
        chain(terms, is_and, Kind::And, true)
    }

    /// Any of them, joined with OR; false if there are none.
    pub fn any(terms: impl IntoIterator<Item = Expr>) -> Self {
        let is_or = |kind: Kind| match kind {
            Kind::Or(terms) => Ok(terms),
            other => Err(other),
        };
        chain(terms, is_or, Kind::Or, false)
    }

    fn is(self, test: Test, negated: bool) -> Self {
        Expr::new(Kind::Is { operand: Box::new(self), test, negated })
    }

    /// `self IS NULL`
    #[must_use]
    pub fn is_null(self) -> Self {
        self.is(Test::Null, false)
    }

    /// `self IS NOT NULL`
    #[must_use]
    pub fn is_not_null(self) -> Self {
        self.is(Test::Null, true)
    }

    /// `self IS TRUE`
    #[must_use]
    pub fn is_true(self) -> Self {
        self.is(Test::True, false)
    }

    /// `self IS NOT TRUE`
    #[must_use]
    pub fn is_not_true(self) -> Self {
        self.is(Test::True, true)
    }

    /// `self IS FALSE`
    #[must_use]
    pub fn is_false(self) -> Self {
        self.is(Test::False, false)
    }

    /// `self IS NOT FALSE`
    #[must_use]
    pub fn is_not_false(self) -> Self {
        self.is(Test::False, true)
    }

    /// `self BETWEEN low AND high`, ends included.
    #[must_use]
    pub fn between(self, low: impl Into<Expr>, high: impl Into<Expr>) -> Self {
        let (low, high) = (Box::new(low.into()), Box::new(high.into()));
        Expr::new(Kind::Between { operand: Box::new(self), low, high, negated: false })
    }

    /// `self NOT BETWEEN low AND high`
    #[must_use]
    pub fn not_between(self, low: impl Into<Expr>, high: impl Into<Expr>) -> Self {
        let (low, high) = (Box::new(low.into()), Box::new(high.into()));
        Expr::new(Kind::Between { operand: Box::new(self), low, high, negated: true })
    }

    /// `self IN (…)`; false (NULL where `self` is) if the list is empty.
    #[must_use]
    pub fn is_in<E: Into<Expr>>(self, list: impl IntoIterator<Item = E>) -> Self {
        let list = list.into_iter().map(Into::into).collect();
        Expr::new(Kind::In { operand: Box::new(self), list, negated: false })
    }

    /// `self NOT IN (…)`
    #[must_use]
    pub fn is_not_in<E: Into<Expr>>(self, list: impl IntoIterator<Item = E>) -> Self {
        let list = list.into_iter().map(Into::into).collect();
        Expr::new(Kind::In { operand: Box::new(self), list, negated: true })
    }

    /// `self LIKE pattern`, where a backslash takes `%` and `_` their meaning.
    #[must_use]
    pub fn like(self, pattern: impl Into<Expr>) -> Self {
        self.matches(pattern.into(), false, false)
    }

    /// `self NOT LIKE pattern`
    #[must_use]
    pub fn not_like(self, pattern: impl Into<Expr>) -> Self {
        self.matches(pattern.into(), false, true)
    }

    /// `self ILIKE pattern`, without regard to case.
    #[must_use]
    pub fn ilike(self, pattern: impl Into<Expr>) -> Self {
        self.matches(pattern.into(), true, false)
    }

    fn matches(self, pattern: Expr, ignore_case: bool, negated: bool) -> Self {
        let (operand, pattern) = (Box::new(self), Box::new(pattern));
        Expr::new(Kind::Like { operand, pattern, escape: None, ignore_case, negated })
    }

    /// `self || other`, joining texts.
    #[must_use]
    pub fn join(self, other: impl Into<Expr>) -> Self {
        Expr::new(Kind::Join(Box::new(self), Box::new(other.into())))
    }

    /// `CAST(self AS to)`
    #[must_use]
    pub fn cast(self, to: DataType) -> Self {
        Expr::new(Kind::Cast { operand: Box::new(self), to })
    }

    /// `self[index]`: the item of a list, counted from 1, or the field of a struct by its name.
    #[must_use]
    pub fn get(self, index: impl Into<Expr>) -> Self {
        Expr::new(Kind::Subscript(Box::new(self), Box::new(index.into())))
    }
}

/// One flat AND or OR of the terms and of those within them.
fn chain(
    terms: impl IntoIterator<Item = Expr>,
    same: impl Fn(Kind) -> Result<Vec<Expr>, Kind>,
    make: impl Fn(Vec<Expr>) -> Kind,
    neutral: bool,
) -> Expr {
    let mut flat: Vec<Expr> = Vec::new();
    let (mut place, mut below) = (None, 0);
    for Expr { kind, place: own, depth } in terms {
        place.get_or_insert_with(|| own.clone());
        match same(kind) {
            Ok(inner) => {
                below = below.max(depth - 1);
                // Terms that come one by one extend the chain instead of copying it.
                if flat.is_empty() { flat = inner } else { flat.extend(inner) }
            }
            Err(kind) => {
                below = below.max(depth);
                flat.push(Expr { kind, place: own, depth });
            }
        }
    }
    match flat.len() {
        0 => lit(neutral),
        1 => flat.remove(0),
        _ => Expr::above(make(flat), place.unwrap_or_default(), below),
    }
}

impl Kind {
    /// The expressions directly below.
    pub(crate) fn children(&self) -> Box<dyn Iterator<Item = &Expr> + '_> {
        match self {
            Kind::Column(_) | Kind::Literal(_) | Kind::TooDeep => Box::new(std::iter::empty()),
            Kind::Compare(_, left, right)
            | Kind::Arithmetic(_, left, right)
            | Kind::Join(left, right)
            | Kind::Subscript(left, right) => Box::new([&**left, right].into_iter()),
            Kind::And(terms) | Kind::Or(terms) | Kind::List(terms) => Box::new(terms.iter()),
            Kind::Not(operand)
            | Kind::Is { operand, .. }
            | Kind::Negate(operand)
            | Kind::Cast { operand, .. } => Box::new(std::iter::once(&**operand)),
            Kind::Between { operand, low, high, .. } => Box::new([&**operand, low, high].into_iter()),
            Kind::In { operand, list, .. } => Box::new(std::iter::once(&**operand).chain(list)),
            Kind::Like { operand, pattern, .. } => Box::new([&**operand, pattern].into_iter()),
            Kind::Call { arguments, .. } => Box::new(arguments.iter()),
            Kind::Case { operand, branches, otherwise } => {
                let branches = branches.iter().flat_map(|(condition, value)| [condition, value]);
                Box::new(operand.as_deref().into_iter().chain(branches).chain(otherwise.as_deref()))
            }
        }
    }
}

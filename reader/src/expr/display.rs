//! [`Expr`] → text that parses to an equal [`Expr`].

use super::parse::{AND, COMPARISON, NOT, OR, PRIMARY, PRODUCT, RESERVED, SIGN, SUM, TEST};
use super::tree::{Arithmetic, Expr, Kind, Literal, Test};
use super::types;
use std::fmt::{self, Display, Formatter, Write};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Column(path) => {
                for (position, name) in path.iter().enumerate() {
                    f.write_str(if position == 0 { "" } else { "." })?;
                    write_name(f, name)?;
                }
                Ok(())
            }
            Kind::Literal(literal) => write!(f, "{literal}"),
            Kind::Compare(op, left, right) => {
                write!(f, "{} {} {}", left.at_least(SUM), op.symbol(), right.at_least(SUM))
            }
            Kind::And(terms) => write_joined(f, terms, " AND ", AND + 1),
            Kind::Or(terms) => write_joined(f, terms, " OR ", OR + 1),
            Kind::Not(operand) => write!(f, "NOT {}", operand.at_least(PRIMARY)),
            Kind::Is { operand, test, negated } => {
                let test = match test {
                    Test::Null => "NULL",
                    Test::True => "TRUE",
                    Test::False => "FALSE",
                };
                write!(f, "{} IS {}{test}", operand.at_least(SUM), not(*negated))
            }
            Kind::Between { operand, low, high, negated } => {
                let (operand, low, high) = (operand.at_least(SUM), low.at_least(SUM), high.at_least(SUM));
                write!(f, "{operand} {}BETWEEN {low} AND {high}", not(*negated))
            }
            Kind::In { operand, list, negated } => {
                write!(f, "{} {}IN (", operand.at_least(SUM), not(*negated))?;
                write_joined(f, list, ", ", OR)?;
                f.write_char(')')
            }
            Kind::Like { operand, pattern, escape, ignore_case, negated } => {
                let like = if *ignore_case { "ILIKE" } else { "LIKE" };
                let (operand, pattern) = (operand.at_least(SUM), pattern.at_least(SUM));
                write!(f, "{operand} {}{like} {pattern}", not(*negated))?;
                match escape {
                    Some(escape) => write!(f, " ESCAPE {}", Literal::Text(escape.to_string().into())),
                    None => Ok(()),
                }
            }
            Kind::Arithmetic(op, left, right) => {
                let own = self.precedence();
                write!(f, "{} {} {}", left.at_least(own), op.symbol(), right.at_least(own + 1))
            }
            Kind::Join(left, right) => {
                write!(f, "{} || {}", left.at_least(PRODUCT), right.at_least(PRODUCT + 1))
            }
            // A number would take the sign into itself, and two signs make a comment.
            Kind::Negate(operand) => match operand.kind {
                Kind::Literal(_) | Kind::Negate(_) => write!(f, "-({operand})"),
                _ => write!(f, "-{}", operand.at_least(SIGN)),
            },
            Kind::Call { name, arguments } => {
                write!(f, "{name}(")?;
                write_joined(f, arguments, ", ", OR)?;
                f.write_char(')')
            }
            Kind::Case { operand, branches, otherwise } => {
                f.write_str("CASE ")?;
                if let Some(operand) = operand {
                    write!(f, "{operand} ")?;
                }
                for (condition, value) in branches {
                    write!(f, "WHEN {condition} THEN {value} ")?;
                }
                if let Some(otherwise) = otherwise {
                    write!(f, "ELSE {otherwise} ")?;
                }
                f.write_str("END")
            }
            Kind::Cast { operand, to } => types::write_cast(f, operand, to),
            Kind::Subscript(operand, index) => match operand.kind {
                Kind::Column(_) | Kind::Subscript(..) | Kind::Call { .. } | Kind::Cast { .. } => {
                    write!(f, "{operand}[{index}]")
                }
                _ => write!(f, "({operand})[{index}]"),
            },
            Kind::List(items) => {
                f.write_char('[')?;
                write_joined(f, items, ", ", OR)?;
                f.write_char(']')
            }
            Kind::TooDeep => f.write_str("<nested too deep>"),
        }
    }
}

/// An expression between parentheses, unless it binds tightly enough.
struct AtLeast<'a>(&'a Expr, u8);

impl Display for AtLeast<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.precedence() < self.1 {
            true => write!(f, "({})", self.0),
            false => self.0.fmt(f),
        }
    }
}

impl Expr {
    fn at_least(&self, precedence: u8) -> AtLeast<'_> {
        AtLeast(self, precedence)
    }

    fn precedence(&self) -> u8 {
        match &self.kind {
            Kind::Or(_) => OR,
            Kind::And(_) => AND,
            Kind::Not(_) => NOT,
            Kind::Is { .. } => TEST,
            Kind::Compare(..) | Kind::Between { .. } | Kind::In { .. } | Kind::Like { .. } => COMPARISON,
            Kind::Arithmetic(Arithmetic::Add | Arithmetic::Subtract, ..) => SUM,
            Kind::Arithmetic(..) | Kind::Join(..) => PRODUCT,
            Kind::Negate(_) => SIGN,
            _ => PRIMARY,
        }
    }
}

fn not(negated: bool) -> &'static str {
    if negated { "NOT " } else { "" }
}

fn write_joined(f: &mut Formatter<'_>, terms: &[Expr], between: &str, precedence: u8) -> fmt::Result {
    for (position, term) in terms.iter().enumerate() {
        f.write_str(if position == 0 { "" } else { between })?;
        write!(f, "{}", term.at_least(precedence))?;
    }
    Ok(())
}

/// A name, between backticks if it would not be read as one.
fn write_name(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    let mut characters = name.chars();
    let plain = characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|character| character.is_alphanumeric() || character == '_')
        && !RESERVED.into_iter().any(|word| word.eq_ignore_ascii_case(name));
    match plain {
        true => f.write_str(name),
        false => write!(f, "`{}`", name.replace('`', "``")),
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        match self {
            Literal::Null => f.write_str("NULL"),
            Literal::Parameter(number) => write!(f, "${}", u64::from(*number) + 1),
            Literal::Boolean(value) => f.write_str(if *value { "TRUE" } else { "FALSE" }),
            Literal::Number(digits) => f.write_str(digits),
            Literal::Text(text) => f.write_str(&quoted(text)),
            Literal::Binary(bytes) => {
                f.write_str("X'")?;
                for byte in &**bytes {
                    write!(f, "{byte:02X}")?;
                }
                f.write_char('\'')
            }
            Literal::Date(text) => write!(f, "DATE {}", quoted(text)),
            Literal::Time(text) => write!(f, "TIME {}", quoted(text)),
            Literal::Timestamp(text) => write!(f, "TIMESTAMP {}", quoted(text)),
        }
    }
}

//! Text → [`Expr`]: a parser by precedence over the [`Tokens`].
//!
//! ```text
//! 1  OR                            5  + -
//! 2  AND                           6  * / % ||
//! 3  NOT                           7  unary -
//! 4  IS                            8  [ ] .field
//! 4  = != < <= > >= LIKE IN BETWEEN
//! ```

use super::lex::{Token, Tokens};
use super::operators::negated;
use super::tree::{Arithmetic, Comparison, Expr, Kind, Literal, MAX_DEPTH, Test};
use super::{Place, types};
use crate::{Error, Result};
use std::sync::Arc;

/// Parses a whole text.
pub(super) fn expression(text: &str) -> Result<Expr> {
    let mut parser = Parser::new(text)?;
    let expr = parser.expr(OR)?;
    parser.end()?;
    Ok(expr)
}

/// Parses `expression [AS name]`.
pub(super) fn item(text: &str) -> Result<(Expr, Option<Arc<str>>)> {
    let mut parser = Parser::new(text)?;
    let expr = parser.expr(OR)?;
    let alias = match parser.tokens.take_keyword("AS") {
        true => Some(parser.name()?),
        false => None,
    };
    parser.end()?;
    Ok((expr, alias))
}

/// How tightly an operator binds. What stands on its right binds more tightly.
type Precedence = u8;
pub(super) const OR: Precedence = 1;
pub(super) const AND: Precedence = 2;
pub(super) const NOT: Precedence = 3;
pub(super) const TEST: Precedence = 4;
pub(super) const COMPARISON: Precedence = 5;
pub(super) const SUM: Precedence = 6;
pub(super) const PRODUCT: Precedence = 7;
pub(super) const SIGN: Precedence = 8;
pub(super) const PRIMARY: Precedence = 9;

/// Words that are no names unless they stand between backticks.
pub(super) const RESERVED: [&str; 18] = [
    "AND", "AS", "BETWEEN", "CASE", "ELSE", "END", "ESCAPE", "FALSE", "ILIKE", "IN", "IS", "LIKE", "NOT",
    "NULL", "OR", "THEN", "TRUE", "WHEN",
];

/// Parentheses nest too: the text of a tree may have a pair at every level of it.
const MAX_NESTING: usize = 2 * MAX_DEPTH;

/// The greatest number of a parameter.
const MAX_PARAMETERS: u32 = 1 << 16;

struct Parser<'a> {
    tokens: Tokens<'a>,
    nesting: usize,
    /// How many parameters there are so far.
    parameters: u32,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self> {
        Ok(Parser { tokens: Tokens::new(text)?, nesting: 0, parameters: 0 })
    }

    fn end(&self) -> Result<()> {
        match self.tokens.peek() {
            None => Ok(()),
            Some(_) => self.tokens.expected("an operator or the end of the expression"),
        }
    }

    /// The expression of operators that bind at least as tightly as `least`.
    fn expr(&mut self, least: Precedence) -> Result<Expr> {
        if self.nesting == MAX_NESTING {
            return Err(too_deep(&self.tokens.place()));
        }
        self.nesting += 1;
        let mut expr = self.prefix()?;
        while let Some(precedence) = self.operator().filter(|precedence| *precedence >= least) {
            expr = self.infix(expr, precedence)?;
        }
        self.nesting -= 1;
        Ok(expr)
    }

    /// The operator that is next.
    fn operator(&self) -> Option<Precedence> {
        Some(match self.tokens.peek()? {
            Token::Sign("[" | ".") => PRIMARY,
            Token::Sign("*" | "/" | "%" | "||") => PRODUCT,
            Token::Sign("+" | "-") => SUM,
            Token::Sign(sign) => comparison(sign).map(|_| COMPARISON)?,
            Token::Word(word) => {
                let words = [("OR", OR), ("AND", AND), ("IS", TEST)];
                let tests = ["NOT", "LIKE", "ILIKE", "IN", "BETWEEN"].map(|word| (word, COMPARISON));
                let mut words = words.into_iter().chain(tests);
                words.find(|(keyword, _)| word.eq_ignore_ascii_case(keyword))?.1
            }
            _ => return None,
        })
    }

    fn infix(&mut self, left: Expr, precedence: Precedence) -> Result<Expr> {
        let place = self.tokens.place();
        match precedence {
            OR => return self.chain(left, "OR", OR),
            AND => return self.chain(left, "AND", AND),
            TEST => return self.test(left, place),
            _ => (),
        }
        let sign = match self.tokens.take() {
            Some(Token::Sign(sign)) => sign,
            Some(Token::Word(word)) => return self.predicate(left, word, place),
            _ => return Err(place.error("expected an operator")),
        };
        if let Some(op) = comparison(sign) {
            let right = self.expr(COMPARISON + 1)?;
            return make(Kind::Compare(op, Box::new(left), Box::new(right)), place);
        }
        let arithmetic = match sign {
            "+" => Arithmetic::Add,
            "-" => Arithmetic::Subtract,
            "*" => Arithmetic::Multiply,
            "/" => Arithmetic::Divide,
            "%" => Arithmetic::Remainder,
            "||" => {
                let right = self.expr(PRODUCT + 1)?;
                return make(Kind::Join(Box::new(left), Box::new(right)), place);
            }
            "[" => {
                let index = self.expr(OR)?;
                self.expect("]", "`]`")?;
                return make(Kind::Subscript(Box::new(left), Box::new(index)), place);
            }
            "." => {
                let name = Expr::at(Kind::Literal(Literal::Text(self.name()?)), place.clone());
                return make(Kind::Subscript(Box::new(left), Box::new(name)), place);
            }
            _ => return Err(place.error("expected an operator")),
        };
        let right = self.expr(precedence + 1)?;
        make(Kind::Arithmetic(arithmetic, Box::new(left), Box::new(right)), place)
    }

    /// All terms of an AND or OR at once, so that a long chain is no deep one.
    fn chain(&mut self, first: Expr, keyword: &str, precedence: Precedence) -> Result<Expr> {
        let place = self.tokens.place();
        let mut terms = vec![first];
        while self.tokens.take_keyword(keyword) {
            terms.push(self.expr(precedence + 1)?);
        }
        let chain = if precedence == AND { Expr::all(terms) } else { Expr::any(terms) };
        made(chain, place)
    }

    fn test(&mut self, operand: Expr, place: Place) -> Result<Expr> {
        self.tokens.take_keyword("IS");
        let negated = self.tokens.take_keyword("NOT");
        let tests = [("NULL", Test::Null), ("TRUE", Test::True), ("FALSE", Test::False)];
        let found = tests.into_iter().find(|(keyword, _)| self.tokens.take_keyword(keyword));
        let Some((_, test)) = found else { return self.tokens.expected("NULL, TRUE or FALSE after IS") };
        make(Kind::Is { operand: Box::new(operand), test, negated }, place)
    }

    /// `[NOT] LIKE`, `[NOT] ILIKE`, `[NOT] IN`, `[NOT] BETWEEN`, whose first word is taken.
    fn predicate(&mut self, operand: Expr, first: &str, place: Place) -> Result<Expr> {
        let operand = Box::new(operand);
        let negated = first.eq_ignore_ascii_case("NOT");
        let mut is = |keyword: &str| match negated {
            true => self.tokens.take_keyword(keyword),
            false => first.eq_ignore_ascii_case(keyword),
        };
        let (like, ilike) = (is("LIKE"), is("ILIKE"));
        if like || ilike {
            let pattern = Box::new(self.expr(COMPARISON + 1)?);
            let escape = match self.tokens.take_keyword("ESCAPE") {
                true => Some(self.escape()?),
                false => None,
            };
            return make(Kind::Like { operand, pattern, escape, ignore_case: ilike, negated }, place);
        }
        if is("IN") {
            self.expect("(", "`(` and a list of values")?;
            let list = self.list(")")?;
            return make(Kind::In { operand, list, negated }, place);
        }
        if is("BETWEEN") {
            let low = Box::new(self.expr(COMPARISON + 1)?);
            if !self.tokens.take_keyword("AND") {
                return self.tokens.expected("AND and the upper bound of BETWEEN");
            }
            let high = Box::new(self.expr(COMPARISON + 1)?);
            return make(Kind::Between { operand, low, high, negated }, place);
        }
        self.tokens.expected("LIKE, ILIKE, IN or BETWEEN after NOT")
    }

    fn escape(&mut self) -> Result<char> {
        let place = self.tokens.place();
        if let Some(Token::Text(quoted)) = self.tokens.take() {
            let text = quoted.text();
            if let (Some(escape), None) = (text.chars().next(), text.chars().nth(1)) {
                return Ok(escape);
            }
        }
        Err(place.error("expected a text of one character after ESCAPE"))
    }

    /// Everything that does not begin with an expression.
    fn prefix(&mut self) -> Result<Expr> {
        let place = self.tokens.place();
        let Some(token) = self.tokens.peek() else { return self.tokens.expected("an expression") };
        match token {
            Token::Word(word) => return self.word(word, place),
            Token::Name(_) => return self.column(place),
            _ => self.tokens.take(),
        };
        let literal = match token {
            Token::Number(digits) => Literal::Number(digits.into()),
            Token::Text(quoted) => Literal::Text(quoted.text().into()),
            Token::Binary(digits) => {
                let bytes = hex(digits)
                    .ok_or_else(|| place.error("expected pairs of hexadecimal digits in a binary literal"))?;
                Literal::Binary(bytes.into())
            }
            Token::Parameter(text) => Literal::Parameter(self.parameter(text, &place)?),
            Token::Sign("(") => {
                let inner = self.expr(OR)?;
                self.expect(")", "`)`")?;
                return Ok(inner);
            }
            Token::Sign("[") => {
                let list = self.list("]")?;
                return make(Kind::List(list), place);
            }
            Token::Sign("-") => {
                // A number takes the sign into itself: −128 is in range of an int8, 128 is not.
                if let Some(Token::Number(digits)) = self.tokens.peek() {
                    let digits = negated(digits);
                    self.tokens.take();
                    return make(Kind::Literal(Literal::Number(digits)), place);
                }
                let operand = self.expr(SIGN)?;
                return make(Kind::Negate(Box::new(operand)), place);
            }
            Token::Sign("+") => return self.expr(SIGN),
            _ => return Err(place.error("expected an expression")),
        };
        make(Kind::Literal(literal), place)
    }

    /// The number of a parameter: that of `$1` says it, each `?` has the next one.
    fn parameter(&mut self, text: &str, place: &Place) -> Result<u32> {
        let number = match text {
            "?" => self.parameters + 1,
            _ => text.strip_prefix('$').and_then(|number| number.parse().ok()).unwrap_or(0),
        };
        if !(1..=MAX_PARAMETERS).contains(&number) {
            return Err(
                place.error(format_args!("expected a parameter as `?`, or `$1` to `${MAX_PARAMETERS}`"))
            );
        }
        self.parameters = number.max(self.parameters);
        Ok(number - 1)
    }

    fn word(&mut self, word: &str, place: Place) -> Result<Expr> {
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword);
        let literal = match self.tokens.peek_at(1) {
            Some(Token::Text(quoted)) if is("DATE") => Some(Literal::Date(quoted.text().into())),
            Some(Token::Text(quoted)) if is("TIME") => Some(Literal::Time(quoted.text().into())),
            Some(Token::Text(quoted)) if is("TIMESTAMP") => Some(Literal::Timestamp(quoted.text().into())),
            _ if is("NULL") => Some(Literal::Null),
            _ if is("TRUE") => Some(Literal::Boolean(true)),
            _ if is("FALSE") => Some(Literal::Boolean(false)),
            _ => None,
        };
        if let Some(literal) = literal {
            self.tokens.take();
            if matches!(literal, Literal::Date(_) | Literal::Time(_) | Literal::Timestamp(_)) {
                self.tokens.take();
            }
            return make(Kind::Literal(literal), place);
        }
        if is("NOT") {
            self.tokens.take();
            let operand = self.expr(NOT)?;
            return make(Kind::Not(Box::new(operand)), place);
        }
        if is("CASE") {
            self.tokens.take();
            return self.case(place);
        }
        if RESERVED.into_iter().any(is) {
            return Err(place.error(format_args!(
                "expected an expression; a column called `{word}` stands between backticks"
            )));
        }
        if self.tokens.peek_at(1) == Some(Token::Sign("(")) {
            self.tokens.take();
            self.tokens.take();
            return self.call(&word.to_lowercase(), place);
        }
        self.column(place)
    }

    fn column(&mut self, place: Place) -> Result<Expr> {
        let mut path = vec![self.name()?];
        while self.tokens.take_sign(".") {
            path.push(self.name()?);
        }
        make(Kind::Column(path), place)
    }

    fn call(&mut self, name: &str, place: Place) -> Result<Expr> {
        match name {
            "cast" => {
                let operand = Box::new(self.expr(OR)?);
                if !self.tokens.take_keyword("AS") {
                    return self.tokens.expected("AS and a type");
                }
                let to = types::sql(&mut self.tokens)?;
                self.expect(")", "`)`")?;
                make(Kind::Cast { operand, to }, place)
            }
            "arrow_cast" => {
                let operand = Box::new(self.expr(OR)?);
                self.expect(",", "`,` and a type")?;
                let at = self.tokens.place();
                let to = match self.tokens.take() {
                    Some(Token::Text(quoted)) => types::arrow(&quoted.text())
                        .ok_or_else(|| at.error("expected the name of an Arrow type"))?,
                    _ => return Err(at.error("expected the name of an Arrow type as a text")),
                };
                self.expect(")", "`)`")?;
                make(Kind::Cast { operand, to }, place)
            }
            _ => {
                let arguments = self.list(")")?;
                make(Kind::Call { name: name.into(), arguments }, place)
            }
        }
    }

    fn case(&mut self, place: Place) -> Result<Expr> {
        let operand = match self.tokens.is_keyword("WHEN") {
            true => None,
            false => Some(Box::new(self.expr(OR)?)),
        };
        let mut branches = Vec::new();
        while self.tokens.take_keyword("WHEN") {
            let condition = self.expr(OR)?;
            if !self.tokens.take_keyword("THEN") {
                return self.tokens.expected("THEN");
            }
            branches.push((condition, self.expr(OR)?));
        }
        if branches.is_empty() {
            return self.tokens.expected("WHEN");
        }
        let otherwise = match self.tokens.take_keyword("ELSE") {
            true => Some(Box::new(self.expr(OR)?)),
            false => None,
        };
        if !self.tokens.take_keyword("END") {
            return self.tokens.expected("WHEN, ELSE or END");
        }
        make(Kind::Case { operand, branches, otherwise }, place)
    }

    /// Expressions up to the closing sign, the opening one taken.
    fn list(&mut self, close: &str) -> Result<Vec<Expr>> {
        let mut list = Vec::new();
        if self.tokens.take_sign(close) {
            return Ok(list);
        }
        loop {
            list.push(self.expr(OR)?);
            if !self.tokens.take_sign(",") {
                break;
            }
        }
        if !self.tokens.take_sign(close) {
            return self.tokens.expected(&format!("`,` or `{close}`"));
        }
        Ok(list)
    }

    fn name(&mut self) -> Result<Arc<str>> {
        let name = match self.tokens.peek() {
            Some(Token::Word(word)) => word.into(),
            Some(Token::Name(quoted)) => quoted.text().into(),
            _ => return self.tokens.expected("a name"),
        };
        self.tokens.take();
        Ok(name)
    }

    fn expect(&mut self, sign: &str, what: &str) -> Result<()> {
        if self.tokens.take_sign(sign) { Ok(()) } else { self.tokens.expected(what) }
    }
}

fn comparison(sign: &str) -> Option<Comparison> {
    Some(match sign {
        "=" | "==" => Comparison::Equal,
        "!=" | "<>" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

fn make(kind: Kind, place: Place) -> Result<Expr> {
    let at = place.clone();
    made(Expr::at(kind, place), at)
}

fn made(expr: Expr, place: Place) -> Result<Expr> {
    match expr.kind {
        Kind::TooDeep => Err(too_deep(&place)),
        _ => Ok(expr),
    }
}

fn too_deep(place: &Place) -> Error {
    place.error(format_args!("expected an expression of at most {MAX_DEPTH} levels"))
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    let nibble = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(nibble(high)? << 4 | nibble(low)?),
        _ => None,
    };
    digits.as_bytes().chunks(2).map(pair).collect()
}

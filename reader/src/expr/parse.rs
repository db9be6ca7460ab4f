//! Text → [`Expr`]: a parser by precedence over the [`Tokens`].
//!
//! ```text
//! 1  OR                            5  + -
//! 2  AND                           6  * / % ||
//! 3  NOT                           7  unary -
//! 4  IS                            8  [ ] .field
//! 4  = != < <= > >= LIKE IN BETWEEN
//! ```

use super::lex::Tokens;
use super::operators::negated;
use super::tree::{Arithmetic, Comparison, Expr, Kind, Literal, MAX_DEPTH, Test};
use super::{Place, types};
use crate::{Error, Result};
use sqlparser::tokenizer::{Token, Word};
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

struct Parser {
    tokens: Tokens,
    nesting: usize,
    /// How many parameters there are so far.
    parameters: u32,
}

impl Parser {
    fn new(text: &str) -> Result<Self> {
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
        let keyword = |keyword| self.tokens.is_keyword(0, keyword);
        Some(match self.tokens.peek()? {
            Token::LBracket | Token::Period => PRIMARY,
            Token::Mul | Token::Div | Token::Mod | Token::StringConcat => PRODUCT,
            Token::Plus | Token::Minus => SUM,
            token if comparison(token).is_some() => COMPARISON,
            Token::Word(_) if keyword("OR") => OR,
            Token::Word(_) if keyword("AND") => AND,
            Token::Word(_) if keyword("IS") => TEST,
            Token::Word(_) if ["NOT", "LIKE", "ILIKE", "IN", "BETWEEN"].into_iter().any(keyword) => {
                COMPARISON
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
        let Some(token) = self.tokens.take() else { return self.tokens.expected("an operator") };
        if let Some(op) = comparison(&token) {
            let right = self.expr(COMPARISON + 1)?;
            return make(Kind::Compare(op, Box::new(left), Box::new(right)), place);
        }
        let arithmetic = match token {
            Token::Plus => Arithmetic::Add,
            Token::Minus => Arithmetic::Subtract,
            Token::Mul => Arithmetic::Multiply,
            Token::Div => Arithmetic::Divide,
            Token::Mod => Arithmetic::Remainder,
            Token::StringConcat => {
                let right = self.expr(PRODUCT + 1)?;
                return make(Kind::Join(Box::new(left), Box::new(right)), place);
            }
            Token::LBracket => {
                let index = self.expr(OR)?;
                self.expect(&Token::RBracket, "`]`")?;
                return make(Kind::Subscript(Box::new(left), Box::new(index)), place);
            }
            Token::Period => {
                let name = Expr::at(Kind::Literal(Literal::Text(self.name()?)), place.clone());
                return make(Kind::Subscript(Box::new(left), Box::new(name)), place);
            }
            Token::Word(word) => return self.predicate(left, &word, place),
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
    fn predicate(&mut self, operand: Expr, first: &Word, place: Place) -> Result<Expr> {
        let operand = Box::new(operand);
        let negated = first.value.eq_ignore_ascii_case("NOT");
        let mut is = |keyword: &str| match negated {
            true => self.tokens.take_keyword(keyword),
            false => first.value.eq_ignore_ascii_case(keyword),
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
            self.expect(&Token::LParen, "`(` and a list of values")?;
            let list = self.list(&Token::RParen, "`)`")?;
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
        if let Some(Token::SingleQuotedString(text) | Token::DoubleQuotedString(text)) = self.tokens.take()
            && let (Some(escape), None) = (text.chars().next(), text.chars().nth(1))
        {
            return Ok(escape);
        }
        Err(place.error("expected a text of one character after ESCAPE"))
    }

    /// Everything that does not begin with an expression.
    fn prefix(&mut self) -> Result<Expr> {
        let place = self.tokens.place();
        let rest_starts_with_digit = self.tokens.rest().starts_with(|first: char| first.is_ascii_digit());
        let Some(token) = self.tokens.peek().cloned() else { return self.tokens.expected("an expression") };
        if let Token::Word(word) = &token {
            return self.word(word, place);
        }
        self.tokens.take();
        let literal = match token {
            Token::Number(digits, false) => Literal::Number(digits.into()),
            Token::SingleQuotedString(text) | Token::DoubleQuotedString(text) => Literal::Text(text.into()),
            // `0x12` is cut like `X'12'`, but nothing says whether it is a number.
            Token::HexStringLiteral(digits) if !rest_starts_with_digit => {
                let bytes = hex(&digits)
                    .ok_or_else(|| place.error("expected pairs of hexadecimal digits in a binary literal"))?;
                Literal::Binary(bytes.into())
            }
            Token::Placeholder(text) => Literal::Parameter(self.parameter(&text, &place)?),
            Token::LParen => {
                let inner = self.expr(OR)?;
                self.expect(&Token::RParen, "`)`")?;
                return Ok(inner);
            }
            Token::LBracket => {
                let list = self.list(&Token::RBracket, "`]`")?;
                return make(Kind::List(list), place);
            }
            Token::Minus => {
                // A number takes the sign into itself: −128 is in range of an int8, 128 is not.
                if let Some(Token::Number(digits, false)) = self.tokens.peek() {
                    let digits = negated(digits);
                    self.tokens.take();
                    return make(Kind::Literal(Literal::Number(digits)), place);
                }
                let operand = self.expr(SIGN)?;
                return make(Kind::Negate(Box::new(operand)), place);
            }
            Token::Plus => return self.expr(SIGN),
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

    fn word(&mut self, word: &Word, place: Place) -> Result<Expr> {
        let plain = word.quote_style.is_none();
        let is = |keyword: &str| plain && word.value.eq_ignore_ascii_case(keyword);
        let text = match self.tokens.peek_at(1) {
            Some(Token::SingleQuotedString(text) | Token::DoubleQuotedString(text)) => {
                Some(Arc::from(&**text))
            }
            _ => None,
        };
        let called = plain && matches!(self.tokens.peek_at(1), Some(Token::LParen));
        let literal = match text {
            Some(text) if is("DATE") => Some(Literal::Date(text)),
            Some(text) if is("TIME") => Some(Literal::Time(text)),
            Some(text) if is("TIMESTAMP") => Some(Literal::Timestamp(text)),
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
        if plain && RESERVED.into_iter().any(is) {
            return Err(place.error(format_args!(
                "expected an expression; a column called `{}` stands between backticks",
                word.value
            )));
        }
        if called {
            self.tokens.take();
            self.tokens.take();
            return self.call(&word.value.to_lowercase(), place);
        }
        let mut path = vec![self.name()?];
        while self.tokens.take_if(&Token::Period) {
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
                self.expect(&Token::RParen, "`)`")?;
                make(Kind::Cast { operand, to }, place)
            }
            "arrow_cast" => {
                let operand = Box::new(self.expr(OR)?);
                self.expect(&Token::Comma, "`,` and a type")?;
                let at = self.tokens.place();
                let to = match self.tokens.take() {
                    Some(Token::SingleQuotedString(text) | Token::DoubleQuotedString(text)) => {
                        types::arrow(&text).ok_or_else(|| at.error("expected the name of an Arrow type"))?
                    }
                    _ => return Err(at.error("expected the name of an Arrow type as a text")),
                };
                self.expect(&Token::RParen, "`)`")?;
                make(Kind::Cast { operand, to }, place)
            }
            _ => {
                let arguments = self.list(&Token::RParen, "`)`")?;
                make(Kind::Call { name: name.into(), arguments }, place)
            }
        }
    }

    fn case(&mut self, place: Place) -> Result<Expr> {
        let operand = match self.tokens.is_keyword(0, "WHEN") {
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

    /// Expressions up to the closing token, the opening one taken.
    fn list(&mut self, close: &Token, what: &str) -> Result<Vec<Expr>> {
        let mut list = Vec::new();
        if self.tokens.take_if(close) {
            return Ok(list);
        }
        loop {
            list.push(self.expr(OR)?);
            if !self.tokens.take_if(&Token::Comma) {
                break;
            }
        }
        self.expect(close, &format!("`,` or {what}"))?;
        Ok(list)
    }

    fn name(&mut self) -> Result<Arc<str>> {
        match self.tokens.peek() {
            Some(Token::Word(word)) => {
                let name = word.value.as_str().into();
                self.tokens.take();
                Ok(name)
            }
            _ => self.tokens.expected("a name"),
        }
    }

    fn expect(&mut self, token: &Token, what: &str) -> Result<()> {
        if self.tokens.take_if(token) { Ok(()) } else { self.tokens.expected(what) }
    }
}

fn comparison(token: &Token) -> Option<Comparison> {
    Some(match token {
        Token::Eq | Token::DoubleEq => Comparison::Equal,
        Token::Neq => Comparison::NotEqual,
        Token::Lt => Comparison::Less,
        Token::LtEq => Comparison::LessOrEqual,
        Token::Gt => Comparison::Greater,
        Token::GtEq => Comparison::GreaterOrEqual,
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

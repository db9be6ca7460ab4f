//! From a typed expression to what is evaluated: columns by number, patterns and sets made once, terms in order.

use super::{
    cast, compared,
    expression::{Call, Case, Expression, Kind, When},
    function,
    literal::constant,
    matched, number, structs,
    term::{Leaf, Node, Term, Test},
    types::plain,
};
use crate::{
    Result,
    expr::{self, ColumnRef, Comparison, Function, Scalar, Typed},
};
use lancet_format::{DataType, Physical};
use std::sync::Arc;

/// What one row of an operation takes, compared with that of a comparison of two numbers.
mod cost {
    pub(super) const NUMBER: u32 = 1;
    pub(super) const TEXT: u32 = 4;
    pub(super) const SET: u32 = 2;
    pub(super) const PATTERN: u32 = 8;
    pub(super) const REGEX: u32 = 40;
    pub(super) const COMPUTED: u32 = 10;
}

/// Which columns an expression depends on.
#[derive(Clone, Copy, PartialEq)]
enum Columns {
    None,
    One(usize),
    Several,
}

impl Columns {
    fn and(self, other: Columns) -> Columns {
        match (self, other) {
            (Columns::None, columns) | (columns, Columns::None) => columns,
            (one, other) if one == other => one,
            _ => Columns::Several,
        }
    }

    fn one(self) -> Option<usize> {
        match self {
            Columns::One(column) => Some(column),
            _ => None,
        }
    }
}

/// A part of an expression with what its parents need to know of it.
struct Part<T> {
    it: T,
    columns: Columns,
}

/// Gathers the columns of an expression while it is compiled.
#[derive(Default)]
pub(super) struct Compiler {
    pub(super) columns: Vec<ColumnRef>,
    pub(super) tables: usize,
}

impl Compiler {
    /// Compiles a condition.
    pub(super) fn predicate(&mut self, typed: &Typed) -> Result<Term> {
        let mut term = self.condition(typed)?.it;
        self.number(&mut term);
        Ok(term)
    }

    /// Compiles a value.
    pub(super) fn value(&mut self, typed: &Typed) -> Result<Expression> {
        let mut expression = self.expression(typed)?.it;
        self.number_within(&mut expression);
        Ok(expression)
    }

    /// Gives the outermost conditions over one column the numbers of their tables.
    fn number(&mut self, term: &mut Term) {
        if term.column.is_some() && !matches!(term.node, Node::Constant(_)) {
            term.slot = Some(self.tables);
            self.tables += 1;
            return;
        }
        match &mut term.node {
            Node::Constant(_) => {}
            Node::And(terms) | Node::Or(terms) => terms.iter_mut().for_each(|term| self.number(term)),
            Node::Not(operand) | Node::Is { operand, .. } => self.number(operand),
            Node::Leaf(leaf) => leaf.operands.iter_mut().for_each(|operand| self.number_within(operand)),
        }
    }

    fn number_within(&mut self, expression: &mut Expression) {
        match &mut expression.kind {
            Kind::Literal(_) | Kind::Column(_) => {}
            Kind::Condition(term) => self.number(term),
            Kind::Coalesce(values) | Kind::Call(_, values) => {
                values.iter_mut().for_each(|value| self.number_within(value));
            }
            Kind::Case(case) => {
                for (when, value) in &mut case.branches {
                    match when {
                        When::True(term) => self.number(term),
                        When::Equal(other) => self.number_within(other),
                    }
                    self.number_within(value);
                }
                let others = case.operand.iter_mut().chain(&mut case.otherwise);
                others.for_each(|value| self.number_within(value));
            }
        }
    }

    fn condition(&mut self, typed: &Typed) -> Result<Part<Term>> {
        use expr::Node as Typed;
        Ok(match typed.node() {
            Typed::Literal(Scalar::Boolean(value)) => constant_term(Some(*value)),
            Typed::Literal(_) => constant_term(None),
            Typed::And(terms) => self.chain(terms, Node::And)?,
            Typed::Or(terms) => self.chain(terms, Node::Or)?,
            Typed::Not(operand) => negated(self.condition(operand)?),
            Typed::Is { operand, test, negated: not } => {
                let is = match is_condition(operand) || *test != expr::Test::Null {
                    true => {
                        let operand = self.condition(operand)?;
                        derived(operand, |operand| Node::Is { operand: Box::new(operand), test: *test })
                    }
                    false => {
                        let operands = self.expressions([&**operand])?;
                        leaf(operands, false, cost::NUMBER, compared::is_null())
                    }
                };
                negated_if(*not, is)
            }
            Typed::Compare { op, left, right } => self.comparison(*op, left, right)?,
            Typed::Between { operand, low, high, negated: not } => {
                let bounds = [low, high].map(|bound| bound.constant().filter(|bound| !bound.is_null()));
                let between = match (operand.node(), bounds) {
                    (Typed::Column(_), [Some(_), Some(_)]) => {
                        let terms = [
                            self.comparison(Comparison::GreaterOrEqual, operand, low)?,
                            self.comparison(Comparison::LessOrEqual, operand, high)?,
                        ];
                        chained(terms.into(), Node::And)
                    }
                    _ => {
                        let operands = self.expressions([&**operand, low, high])?;
                        leaf(operands, false, cost::SET, compared::between())
                    }
                };
                negated_if(*not, between)
            }
            Typed::In { operand, values, has_null, others, negated: not } => {
                let test = compared::in_list(operand.data_type(), values, *has_null)?;
                let operands = self.expressions(std::iter::once(&**operand).chain(others))?;
                negated_if(*not, leaf(operands, false, cost::SET, test))
            }
            Typed::Like { operand, pattern, escape, ignore_case, negated: not } => {
                let like = matched::Kind::Like { escape: *escape, ignore_case: *ignore_case };
                negated_if(*not, self.matching(like, &[operand, pattern])?)
            }
            Typed::Call { function, arguments } => self.test_of(*function, arguments, typed)?,
            _ => self.boolean(typed)?,
        })
    }

    /// AND or OR.
    fn chain(&mut self, terms: &[Typed], node: fn(Vec<Term>) -> Node) -> Result<Part<Term>> {
        let terms = terms.iter().map(|term| self.condition(term)).collect::<Result<Vec<_>>>()?;
        Ok(chained(terms, node))
    }

    fn comparison(&mut self, op: Comparison, left: &Typed, right: &Typed) -> Result<Part<Term>> {
        if let (Some(literal), false) = (right.constant(), left.can_fail()) {
            match literal {
                Scalar::Null => return Ok(constant_term(None)),
                Scalar::Boolean(value) if matches!(op, Comparison::Equal | Comparison::NotEqual) => {
                    let same = *value == (op == Comparison::Equal);
                    return Ok(negated_if(!same, self.condition(left)?));
                }
                _ => {
                    let test = compared::with_literal(op, left.data_type(), literal)?;
                    return Ok(leaf(self.expressions([left])?, true, cost::NUMBER, test));
                }
            }
        }
        let operands = self.expressions([left, right])?;
        Ok(leaf(operands, true, cost::NUMBER, compared::with_each_other(op)))
    }

    /// A call of a function whose value is a boolean.
    fn test_of(&mut self, function: Function, arguments: &[Typed], typed: &Typed) -> Result<Part<Term>> {
        let references: Vec<&Typed> = arguments.iter().collect();
        let kind = match function {
            Function::StartsWith => matched::Kind::StartsWith,
            Function::EndsWith => matched::Kind::EndsWith,
            Function::Contains => matched::Kind::Contains,
            Function::RegexpLike => matched::Kind::Regex,
            Function::IsNan => {
                let operands = self.expressions(references)?;
                return Ok(leaf(operands, true, cost::NUMBER, number::is_nan()));
            }
            Function::ArrayHas | Function::ArrayHasAny | Function::ArrayHasAll => {
                let operands = self.expressions(references)?;
                return Ok(leaf(operands, true, cost::PATTERN, super::list::has(function)));
            }
            _ => return self.boolean(typed),
        };
        self.matching(kind, &references)
    }

    /// A match of a text with a pattern.
    fn matching(&mut self, kind: matched::Kind, arguments: &[&Typed]) -> Result<Part<Term>> {
        let cost = if kind == matched::Kind::Regex { cost::REGEX } else { cost::PATTERN };
        let text = |argument: &Typed| match argument.constant() {
            Some(Scalar::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let constants: Vec<Option<Arc<str>>> = arguments[1..].iter().map(|argument| text(argument)).collect();
        Ok(match constants.into_iter().collect::<Option<Vec<_>>>() {
            Some(constants) => {
                let test = matched::with_constant(kind, &constants)?;
                leaf(self.expressions([arguments[0]])?, true, cost, test)
            }
            // A pattern of each row may be wrong: then the row has no value.
            None => self.as_condition(arguments, cost, matched::with_each_other(kind))?,
        })
    }

    /// A boolean function of values, which may fail, as a condition.
    fn as_condition(&mut self, arguments: &[&Typed], cost: u32, call: Call) -> Result<Part<Term>> {
        let operands = self.expressions(arguments.iter().copied())?;
        let value = called(DataType::Boolean, true, operands, cost, call);
        Ok(leaf(Part { columns: value.columns, it: vec![value.it] }, true, 0, compared::boolean()))
    }

    /// A boolean value as a condition.
    fn boolean(&mut self, typed: &Typed) -> Result<Part<Term>> {
        let value = self.expression(typed)?;
        Ok(leaf(Part { columns: value.columns, it: vec![value.it] }, true, 0, compared::boolean()))
    }

    fn expressions<'a>(
        &mut self,
        typed: impl IntoIterator<Item = &'a Typed>,
    ) -> Result<Part<Vec<Expression>>> {
        let mut all = Part { it: Vec::new(), columns: Columns::None };
        for typed in typed {
            let part = self.expression(typed)?;
            all.columns = all.columns.and(part.columns);
            all.it.push(part.it);
        }
        Ok(all)
    }

    fn expression(&mut self, typed: &Typed) -> Result<Part<Expression>> {
        use expr::Node as Typed;
        let data_type = typed.data_type();
        if is_condition(typed) {
            let term = self.condition(typed)?;
            let (can_fail, cost, columns) = (term.it.can_fail, term.it.cost, term.columns);
            let kind = Kind::Condition(Box::new(term.it));
            return Ok(computed(kind, data_type, can_fail, columns, cost));
        }
        Ok(match typed.node() {
            Typed::Literal(value) => {
                let kind = Kind::Literal(Arc::new(constant(value, data_type)?));
                computed(kind, data_type, false, Columns::None, 0)
            }
            Typed::Column(column) => {
                let found = self.columns.iter().position(|known| known == column);
                let index = found.unwrap_or_else(|| {
                    self.columns.push(column.clone());
                    self.columns.len() - 1
                });
                let cost = match data_type.physical() {
                    Physical::Bits | Physical::Fixed(_) | Physical::Null => cost::NUMBER,
                    _ => cost::TEXT,
                };
                computed(Kind::Column(index), data_type, false, Columns::One(index), cost)
            }
            Typed::Case { operand, branches, otherwise } => self.case(typed, operand, branches, otherwise)?,
            Typed::Call { function: Function::Coalesce, arguments } => {
                let values = self.expressions(arguments)?;
                let (can_fail, cost) = summed(&values.it);
                computed(Kind::Coalesce(values.it), data_type, can_fail, values.columns, cost)
            }
            Typed::Arithmetic { op, left, right } => {
                let call = number::arithmetic(*op, left.data_type(), right.data_type(), data_type)?;
                self.computed_by(typed, [&**left, right], call)?
            }
            Typed::Negate(operand) => {
                let call = number::negate(operand.data_type())?;
                self.computed_by(typed, [&**operand], call)?
            }
            Typed::Cast(operand) => {
                let call = cast::cast(operand.data_type(), data_type)?;
                self.computed_by(typed, [&**operand], call)?
            }
            Typed::Field { operand, index } => {
                self.computed_by(typed, [&**operand], structs::field(*index))?
            }
            Typed::Call { function, arguments } => {
                let types: Vec<&DataType> = arguments.iter().map(|argument| argument.data_type()).collect();
                let call = function::of(*function, &types, data_type)?;
                self.computed_by(typed, arguments, call)?
            }
            // Everything else is a condition.
            _ => unreachable!("conditions were taken before"),
        })
    }

    fn computed_by<'a>(
        &mut self,
        typed: &Typed,
        arguments: impl IntoIterator<Item = &'a Typed>,
        call: Call,
    ) -> Result<Part<Expression>> {
        let arguments = self.expressions(arguments)?;
        Ok(called(typed.data_type().clone(), typed.can_fail(), arguments, cost::COMPUTED, call))
    }

    fn case(
        &mut self,
        typed: &Typed,
        operand: &Option<Box<Typed>>,
        branches: &[(Typed, Typed)],
        otherwise: &Option<Box<Typed>>,
    ) -> Result<Part<Expression>> {
        let mut columns = Columns::None;
        let mut cost = cost::COMPUTED;
        let mut add = |part: Part<Expression>| {
            columns = columns.and(part.columns);
            cost += part.it.cost;
            part.it
        };
        let operand = match operand {
            Some(operand) => Some(add(self.expression(operand)?)),
            None => None,
        };
        let mut compiled = Vec::with_capacity(branches.len());
        let mut of_conditions = Columns::None;
        for (condition, value) in branches {
            let when = match operand {
                Some(_) => When::Equal(add(self.expression(condition)?)),
                None => {
                    let term = self.condition(condition)?;
                    of_conditions = of_conditions.and(term.columns);
                    When::True(term.it)
                }
            };
            compiled.push((when, add(self.expression(value)?)));
        }
        let otherwise = match otherwise {
            Some(value) => Some(add(self.expression(value)?)),
            None => None,
        };
        let columns = columns.and(of_conditions);
        let case = Case { operand, branches: compiled, otherwise };
        Ok(computed(Kind::Case(Box::new(case)), typed.data_type(), typed.can_fail(), columns, cost))
    }
}

/// Whether the node is a condition by itself, not a value that happens to be a boolean.
fn is_condition(typed: &Typed) -> bool {
    use expr::Node::*;
    match typed.node() {
        Compare { .. } | And(_) | Or(_) | Not(_) | Is { .. } | Between { .. } | In { .. } | Like { .. } => {
            true
        }
        Call { function, .. } => matches!(
            function,
            Function::StartsWith
                | Function::EndsWith
                | Function::Contains
                | Function::RegexpLike
                | Function::IsNan
                | Function::ArrayHas
                | Function::ArrayHasAny
                | Function::ArrayHasAll
        ),
        _ => false,
    }
}

fn constant_term(value: Option<bool>) -> Part<Term> {
    let it = Term { node: Node::Constant(value), column: None, slot: None, can_fail: false, cost: 0 };
    Part { it, columns: Columns::None }
}

fn derived(operand: Part<Term>, node: impl FnOnce(Term) -> Node) -> Part<Term> {
    let Part { it: operand, columns } = operand;
    let (column, can_fail, cost) = (operand.column, operand.can_fail, operand.cost);
    Part { it: Term { node: node(operand), column, slot: None, can_fail, cost }, columns }
}

fn negated(operand: Part<Term>) -> Part<Term> {
    derived(operand, |operand| Node::Not(Box::new(operand)))
}

fn negated_if(not: bool, term: Part<Term>) -> Part<Term> {
    if not { negated(term) } else { term }
}

fn chained(terms: Vec<Part<Term>>, node: fn(Vec<Term>) -> Node) -> Part<Term> {
    let columns = terms.iter().fold(Columns::None, |columns, term| columns.and(term.columns));
    let mut terms: Vec<Term> = terms.into_iter().map(|term| term.it).collect();
    terms.sort_by_key(|term| (term.can_fail, term.cost));
    let can_fail = terms.iter().any(|term| term.can_fail);
    let cost = terms.iter().map(|term| term.cost).fold(0, u32::saturating_add);
    Part { it: Term { node: node(terms), column: columns.one(), slot: None, can_fail, cost }, columns }
}

fn leaf(operands: Part<Vec<Expression>>, strict: bool, cost: u32, test: Test) -> Part<Term> {
    let Part { it: operands, columns } = operands;
    let (can_fail, of_operands) = summed(&operands);
    let cost = of_operands.saturating_add(cost);
    let node = Node::Leaf(Leaf { operands, strict, test });
    Part { it: Term { node, column: columns.one(), slot: None, can_fail, cost }, columns }
}

fn computed(
    kind: Kind,
    data_type: &DataType,
    can_fail: bool,
    columns: Columns,
    cost: u32,
) -> Part<Expression> {
    let data_type = plain(data_type).clone();
    Part { it: Expression { kind, data_type, can_fail, column: columns.one(), cost }, columns }
}

fn called(
    data_type: DataType,
    can_fail: bool,
    arguments: Part<Vec<Expression>>,
    cost: u32,
    call: Call,
) -> Part<Expression> {
    let (arguments_fail, of_arguments) = summed(&arguments.it);
    let cost = of_arguments.saturating_add(cost);
    let kind = Kind::Call(call, arguments.it);
    computed(kind, &data_type, can_fail || arguments_fail, arguments.columns, cost)
}

/// Whether one of them can fail, and what they take together.
fn summed(expressions: &[Expression]) -> (bool, u32) {
    let cost = expressions.iter().map(|expression| expression.cost).fold(0, u32::saturating_add);
    (expressions.iter().any(|expression| expression.can_fail), cost)
}

//! [`Expression`]: a value, compiled; and how it is computed for some rows.

use super::{
    Input, Inputs, Mask, build,
    compared::pairs,
    context::Context,
    failure::Failures,
    rows::{Rows, Value},
    term::{Term, valid},
    types::plain,
};
use crate::{Result, expr::Comparison};
use lancet_format::{Coded, Column, DataType, Pick};
use std::{fmt, sync::Arc};

/// A value of each row.
#[derive(Debug)]
pub(super) struct Expression {
    pub(super) kind: Kind,
    pub(super) data_type: DataType,
    pub(super) can_fail: bool,
    /// The only column that it depends on.
    pub(super) column: Option<usize>,
    /// Roughly how long a row takes.
    pub(super) cost: u32,
}

/// How a value comes about.
#[derive(Debug)]
pub(super) enum Kind {
    /// A column of one row.
    Literal(Arc<Column>),
    /// A column by its number among those of the predicate.
    Column(usize),
    /// A condition as a value.
    Condition(Box<Term>),
    /// The first that is not NULL.
    Coalesce(Vec<Expression>),
    Case(Box<Case>),
    /// A function of all its arguments.
    Call(Call, Vec<Expression>),
}

/// The value of the first branch that is taken.
#[derive(Debug)]
pub(super) struct Case {
    /// What the conditions that are values are compared with.
    pub(super) operand: Option<Expression>,
    pub(super) branches: Vec<(When, Expression)>,
    pub(super) otherwise: Option<Expression>,
}

/// When a branch is taken.
#[derive(Debug)]
pub(super) enum When {
    True(Term),
    Equal(Expression),
}

/// Computes a column of so many rows from its arguments.
pub(super) struct Call(Box<Compute>);

type Compute = dyn Fn(&[Value], usize, &mut Fail<'_>) -> Result<Column> + Send + Sync;

impl Call {
    pub(super) fn new(
        compute: impl Fn(&[Value], usize, &mut Fail<'_>) -> Result<Column> + Send + Sync + 'static,
    ) -> Self {
        Call(Box::new(compute))
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Call")
    }
}

/// Where a function tells of rows that it has no value for.
pub(super) struct Fail<'a> {
    rows: &'a Rows,
    len: usize,
    failures: &'a mut Failures,
}

impl Fail<'_> {
    /// Row `i` of those that are computed has no value.
    #[cold]
    pub(super) fn row(&mut self, i: usize, message: impl FnOnce() -> String) {
        self.failures.push(self.rows.position(i), self.len, message);
    }
}

impl Expression {
    /// Its number, if this is a column as it is.
    pub(super) fn as_column(&self) -> Option<usize> {
        match self.kind {
            Kind::Column(column) => Some(column),
            _ => None,
        }
    }

    pub(super) fn is_constant(&self) -> bool {
        matches!(self.kind, Kind::Literal(_))
    }
}

impl Context<'_> {
    /// The values of `rows`; those of rows that fail mean nothing.
    pub(super) fn evaluate(
        &mut self,
        expression: &Expression,
        rows: &Rows,
        failed: &mut Failures,
    ) -> Result<Value> {
        if rows.len() == 0 {
            return Ok(Value::new(Column::nulls(plain(&expression.data_type), 0)));
        }
        if let Some(coded) = self.coded_values(expression, rows)? {
            return self.evaluate_coded(expression, &coded, rows);
        }
        match &expression.kind {
            Kind::Literal(column) => Ok(Value { column: column.clone(), constant: true }),
            Kind::Column(column) => match (self.inputs.column(*column)?, rows) {
                (Input::Plain(column), Rows::All(_)) => Ok(Value { column: column.clone(), constant: false }),
                (Input::Plain(column), Rows::Picked(positions)) => {
                    let picks: Vec<Pick> = positions.iter().map(|&row| (0, row)).collect();
                    Ok(Value::new(Column::gather(&[column], &picks, None)?))
                }
                (Input::Coded(coded), rows) => Ok(Value::new(decode(&coded.items, None, coded, rows)?)),
            },
            Kind::Condition(term) => {
                let len = self.inputs.rows();
                let truth = self.truth(term, &rows.mask(len), failed)?;
                let mut known = truth.yes.clone();
                known.or(&truth.no);
                let yes = rows.gather(truth.yes).to_bitmap();
                let known = build::mask_validity(Some(rows.gather(known)));
                Ok(Value::new(build::booleans(yes, known)?))
            }
            Kind::Coalesce(values) => self.coalesce(values, &expression.data_type, rows, failed),
            Kind::Case(case) => self.case(case, &expression.data_type, rows, failed),
            Kind::Call(call, arguments) => self.call(call, arguments, rows, failed),
        }
    }

    fn call(
        &mut self,
        call: &Call,
        arguments: &[Expression],
        rows: &Rows,
        failed: &mut Failures,
    ) -> Result<Value> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.evaluate(argument, rows, failed)?);
        }
        let len = self.inputs.rows();
        if !values.iter().all(|value| value.constant) {
            let mut fail = Fail { rows, len, failures: failed };
            return Ok(Value::new((call.0)(&values, rows.len(), &mut fail)?));
        }
        // What is the same for every row is computed once, and fails for all or none.
        let mut own = Failures::default();
        let mut fail = Fail { rows: &Rows::All(1), len: 1, failures: &mut own };
        let column = Arc::new((call.0)(&values, 1, &mut fail)?);
        if let Some((_, error)) = own.first() {
            let message = error.map(|error| error.to_string()).unwrap_or_default();
            (0..rows.len()).for_each(|i| failed.push(rows.position(i), len, || message.clone()));
        }
        Ok(Value { column, constant: true })
    }

    /// Codes, if the value is to be computed for each of their items.
    fn coded_values(&mut self, expression: &Expression, rows: &Rows) -> Result<Option<Arc<Coded>>> {
        let (Some(column), false) = (expression.column, expression.can_fail) else { return Ok(None) };
        if expression.as_column().is_some() {
            return Ok(None);
        }
        Ok(match self.inputs.column(column)? {
            Input::Coded(coded) if coded.items.len() <= rows.len() => Some(coded.clone()),
            _ => None,
        })
    }

    fn evaluate_coded(&mut self, expression: &Expression, coded: &Coded, rows: &Rows) -> Result<Value> {
        let nulls = Arc::new(Column::nulls(coded.items.data_type(), 1));
        let mut values = Vec::new();
        for items in [&coded.items, &nulls] {
            let mut inputs = Items(Input::Plain(items.clone()));
            let mut context = Context { inputs: &mut inputs, scratch: self.scratch, tables: self.tables };
            let value = context.evaluate(expression, &Rows::All(items.len()), &mut Failures::default())?;
            values.push(value.expand(items.len())?);
        }
        Ok(Value::new(decode(&values[0], Some(&values[1]), coded, rows)?))
    }

    fn coalesce(
        &mut self,
        values: &[Expression],
        data_type: &DataType,
        rows: &Rows,
        failed: &mut Failures,
    ) -> Result<Value> {
        let mut chosen = Chosen::new(data_type, rows.len());
        for value in values {
            let left = chosen.open.clone();
            let found = self.part(value, data_type, &left, rows, failed)?;
            let mut taken = left;
            let mut row_of = 0;
            // The column has a row for each open one, in order.
            taken.retain(|_| {
                row_of += 1;
                !found.is_null(row_of - 1)
            });
            chosen.take(found, &taken);
            if chosen.open.is_none() {
                break;
            }
        }
        chosen.finish()
    }

    fn case(
        &mut self,
        case: &Case,
        data_type: &DataType,
        rows: &Rows,
        failed: &mut Failures,
    ) -> Result<Value> {
        let operand = match &case.operand {
            Some(operand) => Some(self.evaluate(operand, rows, failed)?.expand(rows.len())?),
            None => None,
        };
        let mut chosen = Chosen::new(data_type, rows.len());
        for (when, value) in &case.branches {
            if chosen.open.is_none() {
                break;
            }
            let mut taken = chosen.open.clone();
            match (when, &operand) {
                (When::True(term), _) => {
                    let len = self.inputs.rows();
                    let mut mask = rows.scatter(&taken, len);
                    let mut own = Failures::default();
                    self.narrow(term, true, &mut mask, &mut own)?;
                    taken = rows.gather(mask);
                    chosen.fail(rows, &own);
                    failed.merge(own);
                }
                (When::Equal(other), Some(operand)) => {
                    let picks: Vec<Pick> = taken.iter().map(|row| (0, row as u32)).collect();
                    let own = Column::gather(&[operand], &picks, None)?;
                    let other = self.part(other, operand.data_type(), &taken, rows, failed)?;
                    let everything = Mask::filled(own.len(), true);
                    let mut equal = pairs(Comparison::Equal, &own, &other, &everything)?;
                    if let Some(valid) = valid(&[Arc::new(own), Arc::new(other)]) {
                        equal.and(&valid);
                    }
                    let mut row_of = 0;
                    taken.retain(|_| {
                        row_of += 1;
                        equal.get(row_of - 1)
                    });
                }
                (When::Equal(_), None) => taken.clear(),
            }
            let found = self.part(value, data_type, &taken, rows, failed)?;
            chosen.take_dense(found, &taken);
        }
        if let (Some(otherwise), false) = (&case.otherwise, chosen.open.is_none()) {
            let left = chosen.open.clone();
            let found = self.part(otherwise, data_type, &left, rows, failed)?;
            chosen.take_dense(found, &left);
        }
        chosen.finish()
    }

    /// The values of those of `rows` that are in `some`, one after the other.
    fn part(
        &mut self,
        expression: &Expression,
        data_type: &DataType,
        some: &Mask,
        rows: &Rows,
        failed: &mut Failures,
    ) -> Result<Column> {
        let among = rows.among(some);
        let value = self.evaluate(expression, &among, failed)?.expand(among.len())?;
        build::of_type(&value, data_type)
    }
}

/// Values chosen row by row from several columns.
struct Chosen {
    data_type: DataType,
    /// Rows for which nothing was chosen so far.
    open: Mask,
    /// The first one is a single NULL.
    parts: Vec<Column>,
    picks: Vec<Pick>,
}

impl Chosen {
    fn new(data_type: &DataType, len: usize) -> Self {
        let data_type = plain(data_type).clone();
        let parts = vec![Column::nulls(&data_type, 1)];
        Chosen { data_type, open: Mask::filled(len, true), parts, picks: vec![(0, 0); len] }
    }

    /// Takes the rows of `taken` from a column that has a row for each open one.
    fn take(&mut self, found: Column, taken: &Mask) {
        let part = self.parts.len() as u32;
        for (i, row) in self.open.iter().enumerate() {
            if taken.get(row) {
                self.picks[row] = (part, i as u32);
            }
        }
        self.open.and_not(taken);
        self.parts.push(found);
    }

    /// Takes the rows of `taken` from a column that has a row for each of them.
    fn take_dense(&mut self, found: Column, taken: &Mask) {
        let part = self.parts.len() as u32;
        for (i, row) in taken.iter().enumerate() {
            self.picks[row] = (part, i as u32);
        }
        self.open.and_not(taken);
        self.parts.push(found);
    }

    /// Rows that failed are not looked at any more.
    fn fail(&mut self, rows: &Rows, failed: &Failures) {
        if let Some(mask) = failed.rows() {
            self.open.and_not(&rows.gather(mask.clone()));
        }
    }

    fn finish(self) -> Result<Value> {
        let parts: Vec<&Column> = self.parts.iter().collect();
        let column = Column::gather(&parts, &self.picks, None)?;
        debug_assert_eq!(column.data_type(), &self.data_type);
        Ok(Value::new(column))
    }
}

/// Distinct values as a range of rows.
pub(super) struct Items(pub(super) Input);

impl Inputs for Items {
    fn rows(&self) -> usize {
        self.0.len()
    }

    fn column(&mut self, _: usize) -> Result<&Input> {
        Ok(&self.0)
    }
}

/// The values of `rows`, of which `items` has one for each code; `of_null` is that of NULL, by default NULL.
fn decode(items: &Column, of_null: Option<&Column>, coded: &Coded, rows: &Rows) -> Result<Column> {
    let null = Column::nulls(items.data_type(), 1);
    let pick = |i: usize| {
        let row = rows.position(i);
        match coded.validity.as_ref().is_none_or(|bits| bits.get(row)) {
            true => (0, coded.codes[row]),
            false => (1, 0),
        }
    };
    let picks: Vec<Pick> = (0..rows.len()).map(pick).collect();
    Ok(Column::gather(&[items, of_null.unwrap_or(&null)], &picks, None)?)
}

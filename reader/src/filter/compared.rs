//! Leaves that compare: with constants, with each other, with sets, with NULL.

use super::{
    Mask,
    compare::{self, Set},
    literal::constant,
    order::comparator,
    term::{Known, Test, valid},
    types::{Bytes, FromScalar, numbers, scalar_bytes, unexpected, with_numbers},
};
use crate::{
    Result,
    expr::{Comparison, Scalar},
};
use lancet_format::{Column, DataType, Values};
use std::{collections::HashSet, sync::Arc};

/// `value op literal`; the literal is not NULL.
pub(super) fn with_literal(op: Comparison, data_type: &DataType, literal: &Scalar) -> Result<Test> {
    if let Some(literal) = scalar_bytes(literal) {
        let literal: Box<[u8]> = literal.into();
        return Ok(Box::new(move |columns, rows| {
            Ok(Known::all(Bytes::of(&columns[0])?.compare(op, &literal, rows)))
        }));
    }
    with_numbers!(data_type, T => {
        if let Some(literal) = <T as FromScalar>::from_scalar(literal) {
            return Ok(Box::new(move |columns, rows| {
                let mut yes = Mask::filled(rows.len(), false);
                compare::literal::<T>(op, numbers(&columns[0])?, literal, yes.words_mut());
                Ok(Known::all(yes))
            }));
        }
    }, else {});
    let literal = constant(literal, data_type)?;
    Ok(Box::new(move |columns, rows| {
        let order = comparator(&columns[0], &literal)?;
        let mut yes = rows.clone();
        yes.retain(|row| !columns[0].is_null(row) && op.holds(order(row, 0)));
        Ok(Known::all(yes))
    }))
}

/// `left op right`, both of one type.
pub(super) fn with_each_other(op: Comparison) -> Test {
    Box::new(move |columns, rows| Ok(Known::all(pairs(op, &columns[0], &columns[1], rows)?)))
}

/// The rows in which `left op right`; where one is NULL the answer means nothing.
pub(super) fn pairs(op: Comparison, left: &Column, right: &Column, rows: &Mask) -> Result<Mask> {
    if left.data_type().physical() == right.data_type().physical() {
        with_numbers!(left.data_type(), T => {
            let mut yes = Mask::filled(rows.len(), false);
            compare::columns::<T>(op, numbers(left)?, numbers(right)?, yes.words_mut());
            return Ok(yes);
        }, else {});
    }
    let order = comparator(left, right)?;
    let mut yes = rows.clone();
    yes.retain(|row| !left.is_null(row) && !right.is_null(row) && op.holds(order(row, row)));
    Ok(yes)
}

/// `value BETWEEN low AND high`, three values of one type, each of which may be NULL.
pub(super) fn between() -> Test {
    Box::new(|columns, rows| {
        let [value, low, high] = columns else { return Err(unexpected(&DataType::Null)) };
        let above = three_valued(Comparison::GreaterOrEqual, value, low, rows)?;
        let below = three_valued(Comparison::LessOrEqual, value, high, rows)?;
        // Known where both are, or where one of them is false.
        let (mut known, mut yes) = (above.yes.clone(), above.yes);
        known.and(&below.yes);
        known.or(&above.no);
        known.or(&below.no);
        yes.and(&below.yes);
        Ok(Known { yes, known: Some(known) })
    })
}

/// The rows where a comparison is true, and where it is false.
struct ThreeValued {
    yes: Mask,
    no: Mask,
}

fn three_valued(op: Comparison, left: &Arc<Column>, right: &Arc<Column>, rows: &Mask) -> Result<ThreeValued> {
    let mut yes = pairs(op, left, right, rows)?;
    let mut no = Mask::filled(rows.len(), true);
    no.and_not(&yes);
    if let Some(valid) = valid(&[left.clone(), right.clone()]) {
        yes.and(&valid);
        no.and(&valid);
    }
    Ok(ThreeValued { yes, no })
}

/// `value IN (…)`: the first column is the value, the others are the items that are no constants. `has_null` says
/// whether NULL is among the constants.
pub(super) fn in_list(data_type: &DataType, members: &[Scalar], has_null: bool) -> Result<Test> {
    let constants = members_test(data_type, members)?;
    Ok(Box::new(move |columns, rows| {
        let (value, others) = columns.split_first().expect("IN has a value");
        let mut yes = constants(value, rows)?;
        let value_valid = valid(std::slice::from_ref(value));
        if let Some(valid) = &value_valid {
            yes.and(valid);
        }
        // Where no item is NULL, a row that equals none is known to be false.
        let mut known = Mask::filled(rows.len(), !has_null);
        for other in others {
            let equal = three_valued(Comparison::Equal, value, other, rows)?;
            yes.or(&equal.yes);
            if let Some(valid) = valid(std::slice::from_ref(other)) {
                known.and(&valid);
            }
        }
        if let Some(valid) = &value_valid {
            known.and(valid);
        }
        known.or(&yes);
        Ok(Known { yes, known: Some(known) })
    }))
}

type Members = Box<dyn Fn(&Column, &Mask) -> Result<Mask> + Send + Sync>;

/// Whether a value that is not NULL is one of `members`.
fn members_test(data_type: &DataType, members: &[Scalar]) -> Result<Members> {
    if members.is_empty() {
        return Ok(Box::new(|_, rows| Ok(Mask::filled(rows.len(), false))));
    }
    if members.iter().all(|member| scalar_bytes(member).is_some()) {
        let members: HashSet<Box<[u8]>> = members.iter().filter_map(scalar_bytes).map(Into::into).collect();
        return Ok(Box::new(move |column, rows| {
            Ok(Bytes::of(column)?.select(rows, |value| members.contains(value)))
        }));
    }
    with_numbers!(data_type, T => {
        let numbers_of = members.iter().map(<T as FromScalar>::from_scalar).collect::<Option<Vec<T>>>();
        if let Some(members) = numbers_of {
            let set = Set::new(&members);
            return Ok(Box::new(move |column, rows| {
                let mut yes = Mask::filled(rows.len(), false);
                set.contains(numbers(column)?, yes.words_mut());
                Ok(yes)
            }));
        }
    }, else {});
    let members = members.iter().map(|member| constant(member, data_type)).collect::<Result<Vec<_>>>()?;
    Ok(Box::new(move |column, rows| {
        let orders = members.iter().map(|member| comparator(column, member)).collect::<Result<Vec<_>>>()?;
        let mut yes = rows.clone();
        yes.retain(|row| !column.is_null(row) && orders.iter().any(|order| order(row, 0).is_eq()));
        Ok(yes)
    }))
}

/// `value IS NULL`
pub(super) fn is_null() -> Test {
    Box::new(|columns, rows| {
        let mut yes = rows.clone();
        match valid(columns) {
            Some(valid) => yes.and_not(&valid),
            None => yes.clear(),
        }
        Ok(Known::all(yes))
    })
}

/// A boolean value as a condition.
pub(super) fn boolean() -> Test {
    Box::new(|columns, rows| {
        let mut yes = rows.clone();
        match columns[0].values() {
            Values::Bits(bits) => yes.and_bits(bits),
            Values::Null => yes.clear(),
            _ => return Err(unexpected(columns[0].data_type())),
        }
        Ok(Known::all(yes))
    })
}

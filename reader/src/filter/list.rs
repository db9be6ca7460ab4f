//! Functions of lists.

use super::{
    build,
    expression::Call,
    number::validity,
    order::{comparator, nullable},
    rows::Value,
    term::{Known, Test},
    types::{numbers, unexpected},
};
use crate::{Result, expr::Function};
use lancet_format::{Column, DataType, Pick};

/// The items of a list column.
fn items(column: &Column) -> Result<&Column> {
    column.child().ok_or_else(|| unexpected(column.data_type()))
}

/// `array_has`, `array_has_any` or `array_has_all`.
pub(super) fn has(function: Function) -> Test {
    Box::new(move |columns, rows| {
        let (list, other) = (&columns[0], &columns[1]);
        let mut yes = rows.clone();
        let both = |row: usize| !list.is_null(row) && !other.is_null(row);
        if function == Function::ArrayHas {
            let own = items(list)?;
            let order = comparator(own, other)?;
            let is = |item: usize, row: usize| !own.is_null(item) && order(item, row).is_eq();
            yes.retain(|row| both(row) && list.range(row).unwrap_or_default().any(|item| is(item, row)));
            return Ok(Known::all(yes));
        }
        let order = nullable(items(list)?, items(other)?)?;
        yes.retain(|row| {
            if !both(row) {
                return false;
            }
            let own = list.range(row).unwrap_or_default();
            let holds = |item: usize| own.clone().any(|own| order(own, item).is_eq());
            let mut wanted = other.range(row).unwrap_or_default();
            if function == Function::ArrayHasAny { wanted.any(holds) } else { wanted.all(holds) }
        });
        Ok(Known::all(yes))
    })
}

/// `array_length(list)`
pub(super) fn length() -> Call {
    Call::new(|values, len, _| {
        let column = &values[0].column;
        items(column)?;
        let lengths = (0..len).map(|row| column.range(row).map_or(0, |range| range.len() as u64));
        build::numbers(&DataType::UInt64, &lengths.collect::<Vec<_>>(), column.validity().cloned())
    })
}

/// `list[index]`
pub(super) fn element() -> Call {
    Call::new(|values, len, _| {
        let (list, index) = (&values[0], &values[1]);
        let (own, indices) = (items(&list.column)?, numbers::<i64>(&index.column)?);
        let valid = validity(values, len)?;
        let null = Column::nulls(own.data_type(), 1);
        let pick = |row: usize| -> Pick {
            if valid.as_ref().is_some_and(|bits| !bits.get(row)) {
                return (1, 0);
            }
            let range = list.column.range(list.at(row)).unwrap_or_default();
            let at = match indices[Value::at(index, row)] {
                at @ 1.. => usize::try_from(at - 1).ok().filter(|at| *at < range.len()),
                0 => None,
                at => usize::try_from(at.unsigned_abs()).ok().and_then(|back| range.len().checked_sub(back)),
            };
            match at.and_then(|at| u32::try_from(range.start + at).ok()) {
                Some(item) => (0, item),
                None => (1, 0),
            }
        };
        let picks: Vec<Pick> = (0..len).map(pick).collect();
        Ok(Column::gather(&[own, &null], &picks, None)?)
    })
}

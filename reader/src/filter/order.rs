//! The order of values of any type, row by row: for what has no kernel of its own.

use super::{
    compare::Item,
    types::{Bytes, numbers, plain, unexpected, with_numbers},
};
use crate::Result;
use lancet_format::{Column, Values};
use std::cmp::Ordering;

/// Compares values of two columns of one type: `(row of the left one, row of the right one)`.
pub(super) type Comparator<'a> = Box<dyn Fn(usize, usize) -> Ordering + 'a>;

/// Compares values of two columns of one type, neither NULL. Lists go item by item, structs field by field; NULL
/// within them equals NULL and is less than everything else.
pub(super) fn comparator<'a>(left: &'a Column, right: &'a Column) -> Result<Comparator<'a>> {
    if let (Values::Variable { .. } | Values::LargeVariable { .. }, _)
    | (_, Values::Variable { .. } | Values::LargeVariable { .. }) = (left.values(), right.values())
    {
        let (left, right) = (Bytes::of(left)?, Bytes::of(right)?);
        return Ok(Box::new(move |i, j| left.get(i).cmp(right.get(j))));
    }
    with_numbers!(left.data_type(), T => {
        let (left, right) = (numbers::<T>(left)?, numbers::<T>(right)?);
        Ok(Box::new(move |i, j| left[i].key().cmp(&right[j].key())))
    }, else nested(left, right))
}

fn nested<'a>(left: &'a Column, right: &'a Column) -> Result<Comparator<'a>> {
    match (left.values(), right.values()) {
        (Values::Null, Values::Null) => Ok(Box::new(|_, _| Ordering::Equal)),
        (Values::Bits(left), Values::Bits(right)) => Ok(Box::new(move |i, j| left.get(i).cmp(&right.get(j)))),
        (Values::Fixed(_), Values::Fixed(_)) => {
            let (left, right) = (Bytes::of(left)?, Bytes::of(right)?);
            Ok(Box::new(move |i, j| left.get(i).cmp(right.get(j))))
        }
        (Values::Struct(left_fields), Values::Struct(right_fields))
            if left_fields.len() == right_fields.len() =>
        {
            let fields = left_fields.iter().zip(right_fields).map(|(left, right)| nullable(left, right));
            let fields = fields.collect::<Result<Vec<_>>>()?;
            Ok(Box::new(move |i, j| {
                fields.iter().map(|field| field(i, j)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
            }))
        }
        _ => {
            let (Some(left_items), Some(right_items)) = (left.child(), right.child()) else {
                return Err(unexpected(plain(right.data_type())));
            };
            let items = nullable(left_items, right_items)?;
            Ok(Box::new(move |i, j| {
                let (left, right) = (left.range(i).unwrap_or_default(), right.range(j).unwrap_or_default());
                let lengths = left.len().cmp(&right.len());
                left.zip(right).map(|(i, j)| items(i, j)).find(|order| order.is_ne()).unwrap_or(lengths)
            }))
        }
    }
}

/// As [`comparator`], of values that may be NULL.
pub(super) fn nullable<'a>(left: &'a Column, right: &'a Column) -> Result<Comparator<'a>> {
    let values = comparator(left, right)?;
    Ok(Box::new(move |i, j| match (left.is_null(i), right.is_null(j)) {
        (false, false) => values(i, j),
        (left, right) => right.cmp(&left),
    }))
}

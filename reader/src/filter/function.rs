//! Which code computes which function.

use super::{Mask, build, compared::pairs, expression::Call, list, number, term::valid, text, time};
use crate::{
    Error, Result,
    expr::{Comparison, Function},
};
use lancet_format::{Column, DataType};
use std::sync::Arc;

/// The code of a function that is not evaluated as a condition; `types` are those of its arguments.
pub(super) fn of(function: Function, types: &[&DataType], result: &DataType) -> Result<Call> {
    let first = types.first().copied().unwrap_or(&DataType::Null);
    Ok(match function {
        Function::Lower => text::lower(),
        Function::Upper => text::upper(),
        Function::Length => text::length(),
        Function::Trim => text::trim(),
        Function::Substr => text::substr(),
        Function::Concat => text::concat(),
        Function::Join => text::join(),
        Function::Abs => number::abs(first)?,
        Function::Round => number::round(types)?,
        Function::Floor => number::floor(first)?,
        Function::Ceil => number::ceil(first)?,
        Function::NullIf => null_if(result),
        Function::DateTrunc(unit) => time::truncate(unit, first)?,
        Function::DatePart(part) => time::part(part, first)?,
        Function::ToTimestamp => time::of_seconds(),
        Function::ArrayLength => list::length(),
        Function::Element => list::element(),
        _ => return Err(Error::invalid_input(format!("{function:?} has no value in {result}"))),
    })
}

/// `nullif(value, other)`
fn null_if(result: &DataType) -> Call {
    let result = result.clone();
    Call::new(move |values, len, _| {
        let value = values[0].clone().expand(len)?;
        let value = Arc::new(build::of_type(&value, &result)?);
        let other = values[1].clone().expand(len)?;
        let mut equal = pairs(Comparison::Equal, &value, &other, &Mask::filled(len, true))?;
        let known = valid(&[value.clone(), other]);
        if let Some(known) = &known {
            equal.and(known);
        }
        let mut kept = valid(std::slice::from_ref(&value)).unwrap_or_else(|| Mask::filled(len, true));
        kept.and_not(&equal);
        let validity = build::mask_validity(Some(kept));
        Ok(Column::from_parts(value.data_type(), len, validity, value.values().clone())?)
    })
}

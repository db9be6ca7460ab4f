//! Constants as columns of one row.

use super::{
    build,
    types::{FromScalar, plain, with_numbers},
};
use crate::{Error, Result, expr::Scalar};
use lancet_format::{Buffer, Column, DataType, Values};

/// A column of one row, `scalar` as `data_type`.
pub(super) fn constant(scalar: &Scalar, data_type: &DataType) -> Result<Column> {
    column(std::slice::from_ref(scalar), data_type)
}

/// A column of `scalars`, all of them of `data_type` or NULL.
pub(super) fn column(scalars: &[Scalar], data_type: &DataType) -> Result<Column> {
    use DataType::*;
    let data_type = plain(data_type);
    let mismatch = || Error::invalid_input(format!("expected a value of {data_type} among {scalars:?}"));
    if scalars.iter().all(Scalar::is_null) {
        return Ok(Column::nulls(data_type, scalars.len()));
    }
    let validity = build::validity(scalars.iter().map(|scalar| !scalar.is_null()));
    with_numbers!(data_type, T => {
        let zero: T = bytemuck::Zeroable::zeroed();
        let values = scalars.iter().map(|scalar| match scalar {
            Scalar::Null => Ok(zero),
            scalar => <T as FromScalar>::from_scalar(scalar).ok_or_else(mismatch),
        });
        let values = Buffer::of(&values.collect::<Result<Vec<T>>>()?);
        return Ok(Column::from_parts(data_type, scalars.len(), validity, Values::Fixed(values))?);
    }, else {});
    match data_type {
        Boolean => {
            let values = scalars.iter().map(|scalar| match scalar {
                Scalar::Boolean(value) => Ok(*value),
                Scalar::Null => Ok(false),
                _ => Err(mismatch()),
            });
            let values = build::bits(values.collect::<Result<Vec<_>>>()?.into_iter());
            Ok(Column::from_parts(data_type, scalars.len(), validity, Values::Bits(values))?)
        }
        List(item) | LargeList(item) | FixedSizeList(item, _) => {
            let mut items = Vec::new();
            let mut ends = Vec::new();
            for scalar in scalars {
                match scalar {
                    Scalar::List(list) => items.extend(list.iter().cloned()),
                    Scalar::Null => {
                        if let FixedSizeList(_, dimension) = data_type {
                            items.resize(items.len() + *dimension as usize, Scalar::Null);
                        }
                    }
                    _ => return Err(mismatch()),
                }
                ends.push(items.len());
            }
            let items = column(&items, &item.data_type)?.with_type(&item.data_type)?;
            build::list(data_type, validity, &ends, items)
        }
        _ => {
            let mut texts = build::Texts::new(data_type, scalars.len());
            for scalar in scalars {
                match super::types::scalar_bytes(scalar) {
                    Some(bytes) => texts.push(bytes)?,
                    None if scalar.is_null() => texts.push_null()?,
                    None => return Err(mismatch()),
                }
            }
            texts.finish()
        }
    }
}

//! Query vectors as they are given: `[…]`, `@FILE.npy`, `row:ID` or `where:PREDICATE`.

use crate::{
    error::{Error, Result},
    npy,
};
use lancet::{Column, DataType, Dataset, IndexUse, Rows};

/// One vector, or several.
#[derive(Debug, PartialEq)]
pub(crate) enum Vectors {
    One(Vec<f64>),
    Many(Vec<Vec<f64>>),
}

/// Reads what `text` gives for column `column` of `dataset`.
pub(crate) fn read(text: &str, dataset: &Dataset, column: &str, indices: IndexUse) -> Result<Vectors> {
    if let Some(path) = text.strip_prefix('@') {
        return npy::read(path);
    }
    if let Some(id) = text.strip_prefix("row:") {
        let id = id.trim().parse::<u64>();
        let id = id.map_err(|_| Error::Value(format!("--vector: expected a row id, found `{text}`")))?;
        let batch = dataset.take(Rows::Ids(&[id]), &dataset.projection([column])?)?;
        return of_row(&batch.columns()[0], text);
    }
    if let Some(predicate) = text.strip_prefix("where:") {
        let scan = dataset.scan().indices(indices).filter(predicate)?;
        let batch = scan.columns([column])?.limit(2).collect()?;
        return match batch.len() {
            1 => of_row(&batch.columns()[0], text),
            0 => Err(Error::Value(format!("--vector {text}: no row matches"))),
            _ => Err(Error::Value(format!("--vector {text}: expected one row that matches, found several"))),
        };
    }
    written_out(text)
}

/// `[1, 2.5]`, or `[[1, 2], [3, 4]]`.
fn written_out(text: &str) -> Result<Vectors> {
    let wrong = || {
        let shown: String = text.chars().take(40).collect();
        Error::Value(format!(
            "--vector: expected `[1, 2.5, …]`, `@FILE.npy`, `row:ID` or `where:PREDICATE`, found `{shown}`"
        ))
    };
    let inside = |text: &str| Some(text.trim().strip_prefix('[')?.strip_suffix(']')?.to_owned());
    let numbers = |text: &str| -> Option<Vec<f64>> {
        if text.trim().is_empty() {
            return Some(Vec::new());
        }
        text.split(',').map(|number| number.trim().parse().ok()).collect()
    };
    let all = inside(text).ok_or_else(wrong)?;
    if !all.contains('[') {
        return numbers(&all).map(Vectors::One).ok_or_else(wrong);
    }
    let rows = all.split_inclusive(']').filter(|row| !row.trim().trim_start_matches(',').trim().is_empty());
    let row = |row: &str| numbers(&inside(row.trim().trim_start_matches(','))?);
    rows.map(row).collect::<Option<_>>().map(Vectors::Many).ok_or_else(wrong)
}

/// The vector or vectors in the one row of a column.
fn of_row(column: &Column, text: &str) -> Result<Vectors> {
    let none = || Error::Value(format!("--vector {text}: the row has no vector"));
    if column.is_null(0) {
        return Err(none());
    }
    let range = column.range(0).ok_or_else(none)?;
    let items = column.child().ok_or_else(none)?;
    match items.data_type() {
        DataType::FixedSizeList(..) => {
            let vectors = range.map(|row| {
                let items = items.child().zip(items.range(row));
                items.and_then(|(items, range)| numbers(items, range)).ok_or_else(none)
            });
            vectors.collect::<Result<_>>().map(Vectors::Many)
        }
        _ => numbers(items, range).map(Vectors::One).ok_or_else(none),
    }
}

/// Some items of a column of numbers; none if it holds other values, or a null.
fn numbers(items: &Column, range: std::ops::Range<usize>) -> Option<Vec<f64>> {
    if range.clone().any(|item| items.is_null(item)) {
        return None;
    }
    Some(match items.data_type() {
        DataType::Float32 => items.primitive::<f32>()?[range].iter().map(|&x| x.into()).collect(),
        DataType::Float64 => items.primitive::<f64>()?[range].to_vec(),
        DataType::Float16 => items.primitive::<half::f16>()?[range].iter().map(|x| x.to_f64()).collect(),
        DataType::BFloat16 => items.primitive::<half::bf16>()?[range].iter().map(|x| x.to_f64()).collect(),
        DataType::UInt8 => items.primitive::<u8>()?[range].iter().map(|&x| x.into()).collect(),
        DataType::Int8 => items.primitive::<i8>()?[range].iter().map(|&x| x.into()).collect(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_written_out() {
        assert_eq!(written_out("[1, -2.5,3e2]").unwrap(), Vectors::One(vec![1.0, -2.5, 300.0]));
        assert_eq!(
            written_out("[[1,2], [3,4]]").unwrap(),
            Vectors::Many(vec![vec![1.0, 2.0], vec![3.0, 4.0]])
        );
        for text in ["", "1,2", "[1,", "[1,x]", "[[1],[2]", "[1][2]"] {
            assert!(written_out(text).is_err(), "{text}");
        }
    }
}

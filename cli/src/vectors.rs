//! Query vectors as they are given: `[…]`, `@FILE.npy`, `row:ID` or `where:PREDICATE`.

use crate::{
    error::{Error, Result},
    npy,
};
use lancet::{Column, DataType, Dataset, IndexUse, Rows};
use std::str::FromStr;

/// One vector, or several.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Vectors {
    One(Vec<f64>),
    Many(Vec<Vec<f64>>),
}

/// Where the query is to be found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Given {
    File(String),
    Row(u64),
    Where(String),
    Written(Vectors),
}

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix('@') {
            return match path {
                "" => Err("expected the name of a file after `@`".into()),
                path => Ok(Given::File(path.into())),
            };
        }
        if let Some(id) = text.strip_prefix("row:") {
            return id.trim().parse().map(Given::Row).map_err(|_| "expected a row id after `row:`".into());
        }
        if let Some(predicate) = text.strip_prefix("where:") {
            return Ok(Given::Where(predicate.into()));
        }
        let wrong = || "expected `[1, 2.5, …]`, `@FILE.npy`, `row:ID` or `where:PREDICATE`".to_owned();
        written_out(text).map(Given::Written).ok_or_else(wrong)
    }
}

/// Reads what is `given` for column `column` of `dataset`.
pub(crate) fn read(given: &Given, dataset: &Dataset, column: &str, indices: IndexUse) -> Result<Vectors> {
    match given {
        Given::File(path) => npy::read(path),
        Given::Row(id) => {
            let batch = dataset.take(Rows::Ids(&[*id]), &dataset.projection([column])?)?;
            of_row(&batch.columns()[0], column, &format!("row:{id}"))
        }
        Given::Where(predicate) => {
            let text = format!("where:{predicate}");
            let scan = dataset.scan().indices(indices).filter(predicate.as_str());
            let scan = scan.map_err(Error::of("--vector"))?;
            let batch = scan.columns([column])?.limit(2).collect()?;
            match batch.len() {
                1 => of_row(&batch.columns()[0], column, &text),
                0 => Err(Error::Value(format!("--vector {text}: no row matches"))),
                _ => Err(Error::Value(format!(
                    "--vector {text}: expected one row that matches, found several"
                ))),
            }
        }
        Given::Written(vectors) => Ok(vectors.clone()),
    }
}

/// `[1, 2.5]`, or `[[1, 2], [3, 4]]`.
fn written_out(text: &str) -> Option<Vectors> {
    let inside = |text: &str| Some(text.trim().strip_prefix('[')?.strip_suffix(']')?.to_owned());
    let numbers = |text: &str| -> Option<Vec<f64>> {
        if text.trim().is_empty() {
            return Some(Vec::new());
        }
        text.split(',').map(|number| number.trim().parse().ok()).collect()
    };
    let all = inside(text)?;
    if !all.contains('[') {
        return numbers(&all).map(Vectors::One);
    }
    let rows = all.split_inclusive(']').filter(|row| !row.trim().trim_start_matches(',').trim().is_empty());
    let row = |row: &str| numbers(&inside(row.trim().trim_start_matches(','))?);
    rows.map(row).collect::<Option<_>>().map(Vectors::Many)
}

/// The vector or vectors in the one row of a column.
fn of_row(column: &Column, name: &str, text: &str) -> Result<Vectors> {
    let none = || Error::Value(format!("--vector {text}: the row has no vector"));
    let Some(items) = column.child() else {
        let found = column.data_type();
        return Err(Error::Value(format!(
            "--vector {text}: column `{name}` has no vectors, found type {found}"
        )));
    };
    if column.is_null(0) {
        return Err(none());
    }
    let range = column.range(0).ok_or_else(none)?;
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
            assert!(written_out(text).is_none(), "{text}");
        }
    }

    #[test]
    fn forms_of_queries() {
        for (text, given) in [
            ("[1]", Given::Written(Vectors::One(vec![1.0]))),
            ("@q.npy", Given::File("q.npy".into())),
            ("row: 5", Given::Row(5)),
            ("where:", Given::Where(String::new())),
        ] {
            assert_eq!(text.parse(), Ok(given));
        }
        for text in ["", "king", "@", "row:", "row:-1", "[1,2"] {
            assert!(text.parse::<Given>().is_err(), "{text}");
        }
    }
}

//! Index files written by hand: what no stored index has, and what no index may have.

mod btree;
mod sets;
#[path = "../v20/writer.rs"]
mod writer;
mod zones;

use bytes::Bytes;
use lancet_format::{Error, Result, Source, index::IndexFiles};
use std::{collections::BTreeMap, sync::Arc};
use writer::{Page, Writer, all_nulls, binary, flat, le, no_nulls, some_nulls, u64s};

/// The files of a segment in memory.
#[derive(Debug, Default)]
struct Files(BTreeMap<String, Bytes>);

impl IndexFiles for Files {
    fn open(&self, name: &str) -> Result<Option<Arc<dyn Source>>> {
        Ok(self.0.get(name).map(|bytes| Arc::new(bytes.clone()) as Arc<dyn Source>))
    }

    fn names(&self) -> Result<Vec<String>> {
        Ok(self.0.keys().cloned().collect())
    }
}

impl Files {
    fn with(mut self, name: &str, file: Vec<u8>) -> Self {
        self.0.insert(name.into(), file.into());
        self
    }
}

/// A page of numbers of `N` bytes.
fn numbers<const N: usize, T: Copy>(values: &[T], bytes: fn(T) -> [u8; N]) -> Vec<Page> {
    vec![Page(values.len() as u64, no_nulls(&flat(8 * N as u64, 0)), vec![le(values, bytes)])]
}

/// A page of numbers, some of them NULL.
fn nullable(values: &[Option<i32>]) -> Vec<Page> {
    let rows = values.len() as u64;
    if values.iter().all(Option::is_none) {
        return vec![Page(rows, all_nulls(), vec![])];
    }
    let mut validity = vec![0u8; values.len().div_ceil(8)];
    values
        .iter()
        .enumerate()
        .filter(|(_, value)| value.is_some())
        .for_each(|(row, _)| validity[row / 8] |= 1 << (row % 8));
    let values: Vec<i32> = values.iter().map(|value| value.unwrap_or(0)).collect();
    vec![Page(rows, some_nulls(&flat(1, 0), &flat(32, 1)), vec![validity, le(&values, i32::to_le_bytes)])]
}

/// A page of bytes, none of them NULL.
fn blobs(values: &[&[u8]]) -> Vec<Page> {
    let ends: Vec<u64> = values
        .iter()
        .scan(0, |end, value| {
            *end += value.len() as u64;
            Some(*end)
        })
        .collect();
    let encoding = binary(&no_nulls(&flat(64, 0)), &no_nulls(&flat(8, 1)), 1 << 40);
    vec![Page(values.len() as u64, encoding, vec![u64s(&ends), values.concat()])]
}

/// The error, which must name `file` and hold `expected`.
fn refused<T>(result: Result<T>, file: &str, expected: &str) {
    let error: Error = result.err().expect("an error");
    let text = error.to_string();
    assert!(text.contains(file) && text.contains(expected), "expected `{expected}` in {file}, found: {text}");
}

//! Arrays in NumPy's file format.
//!
//! ```text
//! 93 "NUMPY" | major, minor | header length (u16; u32 from version 2 on) | header, a Python dict | numbers
//! {'descr': '<f4', 'fortran_order': False, 'shape': (3, 50), }
//! ```
//! Source: the `numpy.lib.format` page of NumPy's reference.

use crate::{
    error::{Error, Result},
    vectors::Vectors,
};
use half::f16;
use std::{fs, io};

/// Reads a file of one vector, or of one vector a row.
pub(crate) fn read(path: &str) -> Result<Vectors> {
    // Devices have no end.
    let bytes = fs::metadata(path).and_then(|found| match found.is_file() {
        true => fs::read(path),
        false => Err(io::Error::other("expected a file, found something else")),
    });
    let bytes = bytes.map_err(|error| Error::Value(format!("{path}: {error}")))?;
    parse(&bytes).map_err(|message| Error::Value(format!("{path}: {message}")))
}

fn parse(bytes: &[u8]) -> Result<Vectors, String> {
    let short = || "expected a NumPy array, the file is too short".to_owned();
    if bytes.get(..6) != Some(b"\x93NUMPY") {
        return Err("expected a NumPy array, which begins with `\\x93NUMPY`".into());
    }
    let (length, start): (Option<u32>, usize) = match bytes.get(6).ok_or_else(short)? {
        1 => (bytes.get(8..10).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]).into()), 10),
        _ => (bytes.get(8..12).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])), 12),
    };
    let end = length.and_then(|length| start.checked_add(length as usize)).ok_or_else(short)?;
    let header = bytes.get(start..end).ok_or_else(short)?;
    let header = std::str::from_utf8(header).map_err(|_| "expected a header of text".to_owned())?;
    let value = |name: &str| {
        let (_, rest) = header.split_once(&format!("'{name}':"))?;
        Some(rest.trim_start())
    };
    if value("fortran_order").is_none_or(|order| !order.starts_with("False")) {
        return Err("expected an array in C order".into());
    }
    let shape =
        value("shape").and_then(|text| text.strip_prefix('(')?.split_once(')')).map(|(shape, _)| shape);
    let shape: Option<Vec<usize>> = shape.and_then(|shape| {
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        sizes.map(|size| size.parse().ok()).collect()
    });
    let (rows, columns) = match shape.as_deref() {
        Some(&[columns]) => (None, columns),
        Some(&[rows, columns]) => (Some(rows), columns),
        _ => return Err("expected an array of one or two dimensions".into()),
    };
    let descr = value("descr").unwrap_or_default().trim_start_matches('\'');
    let data = &bytes[end..];
    let numbers: Vec<f64> = match descr.split('\'').next() {
        Some("<f4") => data.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes).into()).collect(),
        Some("<f8") => data.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect(),
        Some("<f2") => data.as_chunks().0.iter().map(|&bytes| f16::from_le_bytes(bytes).to_f64()).collect(),
        Some("|u1") => data.iter().map(|&byte| byte.into()).collect(),
        Some("|i1") => data.iter().map(|&byte| (byte as i8).into()).collect(),
        other => {
            let other = other.unwrap_or_default();
            return Err(format!("expected numbers of type <f2, <f4, <f8, |u1 or |i1, found `{other}`"));
        }
    };
    if rows.unwrap_or(1).checked_mul(columns) != Some(numbers.len()) {
        return Err(format!("expected {} × {columns} numbers, found {}", rows.unwrap_or(1), numbers.len()));
    }
    Ok(match rows {
        None => Vectors::One(numbers),
        Some(0) => Vectors::Many(Vec::new()),
        Some(_) if columns == 0 => return Err("expected vectors of at least one number".into()),
        Some(_) => Vectors::Many(numbers.chunks(columns).map(<[f64]>::to_vec).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn vectors_and_matrices() {
        let data: Vec<u8> = [1f32, -2.0, 3.0, 4.5].iter().flat_map(|number| number.to_le_bytes()).collect();
        assert_eq!(parse(&file("<f4", "(4,)", &data)).unwrap(), Vectors::One(vec![1.0, -2.0, 3.0, 4.5]));
        let rows = Vectors::Many(vec![vec![1.0, -2.0], vec![3.0, 4.5]]);
        assert_eq!(parse(&file("<f4", "(2, 2)", &data)).unwrap(), rows);
        assert_eq!(parse(&file("|u1", "(2,)", &[7, 200])).unwrap(), Vectors::One(vec![7.0, 200.0]));
    }

    #[test]
    fn what_is_no_array() {
        let good = file("<f4", "(1,)", &[0; 4]);
        for end in 0..good.len() {
            assert!(parse(&good[..end]).is_err(), "{end}");
        }
        for (descr, shape) in [("<i8", "(1,)"), (">f4", "(1,)"), ("<f4", "(1, 1, 1)"), ("<f4", "(2,)")] {
            assert!(parse(&file(descr, shape, &[0; 4])).is_err(), "{descr} {shape}");
        }
    }
}

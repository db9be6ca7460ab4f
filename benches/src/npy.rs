//! Matrices in the format of numpy: version 1 of it, rows one after the other, little-endian f32.

use std::{fs, io, path::Path};

/// Reads a matrix, or the first `limit` rows of it; returns it with the length of a row.
pub fn read(path: &Path, limit: usize) -> io::Result<(Vec<f32>, usize)> {
    let bytes = fs::read(path)?;
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "expected a matrix of f32 of numpy");
    let len =
        usize::from(u16::from_le_bytes(bytes.get(8..10).and_then(|b| b.try_into().ok()).ok_or_else(wrong)?));
    let head = bytes.get(10..10 + len).and_then(|head| str::from_utf8(head).ok()).ok_or_else(wrong)?;
    let shape = head.split_once("'shape': (").and_then(|(_, rest)| rest.split_once(')')).ok_or_else(wrong)?.0;
    let sizes: Vec<usize> = shape.split(',').filter_map(|size| size.trim().parse().ok()).collect();
    let [rows, dim] = sizes[..] else { return Err(wrong()) };
    if !bytes.starts_with(b"\x93NUMPY\x01")
        || !head.contains("'<f4'")
        || head.contains("'fortran_order': True")
    {
        return Err(wrong());
    }
    let (items, _) = bytes[10 + len..].as_chunks::<4>();
    let items = items.get(..rows.min(limit) * dim).ok_or_else(wrong)?;
    Ok((items.iter().map(|&item| f32::from_le_bytes(item)).collect(), dim))
}

/// Writes a matrix with rows of `dim` items.
pub fn write(path: &Path, matrix: &[f32], dim: usize) -> io::Result<()> {
    let shape = format!("({}, {dim})", matrix.len() / dim);
    let mut head = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version and length take ten bytes, and all of it is a multiple of 64.
    while !(head.len() + 11).is_multiple_of(64) {
        head.push(' ');
    }
    head.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.bytes());
    bytes.extend(matrix.iter().flat_map(|item| item.to_le_bytes()));
    fs::write(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_read_back() {
        let path = std::env::temp_dir().join(format!("lancet-npy-{}.npy", std::process::id()));
        let matrix: Vec<f32> = (0..12).map(|item| item as f32 / 3.0).collect();
        write(&path, &matrix, 4).unwrap();
        assert_eq!(read(&path, usize::MAX).unwrap(), (matrix.clone(), 4));
        assert_eq!(read(&path, 2).unwrap(), (matrix[..8].to_vec(), 4));
        fs::remove_file(&path).unwrap();
    }
}

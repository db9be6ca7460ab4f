//! Scans of codes by plain look-ups.

use crate::{
    arch::all::codes::{bytes, least, products, squared},
    codes::{Candidates, Columns, Kernels},
};

/// A bound for all rows takes as long as their sums, so there is none, and nothing is quantised.
pub(crate) static TABLE: Kernels = Kernels {
    pick,
    sums_of_8,
    sums_of_4,
    few_of_8,
    few_of_4,
    within_of_8: None,
    within_of_4: None,
    least,
    quantise: |_, _, _, _| {},
    squared,
    products,
    bytes,
};

pub(crate) fn pick(
    first: u32,
    distances: &[f32],
    kept: Option<&[u64]>,
    threshold: f32,
    out: &mut Candidates,
) {
    for (i, distances) in distances.chunks(64).enumerate() {
        let kept = kept.map_or(!0, |kept| kept[i]);
        for (bit, &distance) in distances.iter().enumerate() {
            if kept >> bit & 1 == 1 {
                out.push(first + (i * 64 + bit) as u32, distance, threshold);
            }
        }
    }
}

#[inline(always)]
pub(crate) fn sums_of_8(columns: &Columns<'_>, table: &[f32], out: &mut [f32]) {
    out.fill(0.0);
    for (byte, table) in table.as_chunks::<256>().0.iter().enumerate() {
        for (out, &code) in out.iter_mut().zip(columns.column(byte)) {
            *out += table[usize::from(code)];
        }
    }
}

#[inline(always)]
pub(crate) fn sums_of_4(columns: &Columns<'_>, table: &[f32], out: &mut [f32]) {
    out.fill(0.0);
    for (byte, [low, high]) in table.as_chunks::<16>().0.as_chunks::<2>().0.iter().enumerate() {
        for (out, &code) in out.iter_mut().zip(columns.column(byte)) {
            *out = *out + low[usize::from(code & 15)] + high[usize::from(code >> 4)];
        }
    }
}

pub(crate) fn few_of_8(columns: &Columns<'_>, table: &[f32], rows: &[u32], out: &mut [f32]) {
    side_by_side(rows, out, |rows| {
        let mut sums = [0.0; SIDE_BY_SIDE];
        for (byte, table) in table.as_chunks::<256>().0.iter().enumerate() {
            let codes = columns.column(byte);
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum += table[usize::from(codes[row])];
            }
        }
        sums
    });
}

pub(crate) fn few_of_4(columns: &Columns<'_>, table: &[f32], rows: &[u32], out: &mut [f32]) {
    side_by_side(rows, out, |rows| {
        let mut sums = [0.0; SIDE_BY_SIDE];
        for (byte, [low, high]) in table.as_chunks::<16>().0.as_chunks::<2>().0.iter().enumerate() {
            let codes = columns.column(byte);
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum = *sum + low[usize::from(codes[row] & 15)] + high[usize::from(codes[row] >> 4)];
            }
        }
        sums
    });
}

/// Rows that are summed up together: an addition takes as long as four begin.
const SIDE_BY_SIDE: usize = 4;

/// Writes the sums of some rows, which `sums` has of so many.
#[inline(always)]
fn side_by_side(rows: &[u32], out: &mut [f32], sums: impl Fn([usize; SIDE_BY_SIDE]) -> [f32; SIDE_BY_SIDE]) {
    for (rows, out) in rows.chunks(SIDE_BY_SIDE).zip(out.chunks_mut(SIDE_BY_SIDE)) {
        let last = rows[rows.len() - 1];
        let rows = core::array::from_fn(|i| *rows.get(i).unwrap_or(&last) as usize);
        out.copy_from_slice(&sums(rows)[..out.len()]);
    }
}

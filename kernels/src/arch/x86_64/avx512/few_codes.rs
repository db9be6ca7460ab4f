//! Exact sums of a few rows of codes, eight at a time: their codes are gathered, and so are entries of tables of 256; those
//! of tables of 16 are permuted.

use crate::codes::Columns;
use core::arch::x86_64::*;

/// Rows of a register of 256 bits.
const LANES: usize = 8;

#[target_feature(enable = "avx512f,avx512vl,avx2")]
pub(super) fn few_of_8(columns: &Columns<'_>, table: &[f32], rows: &[u32], out: &mut [f32]) {
    for (rows, out) in rows.chunks(LANES).zip(out.chunks_mut(LANES)) {
        let rows = eight(columns, rows);
        let mut sums = _mm256_setzero_ps();
        for (byte, table) in table.as_chunks::<256>().0.iter().enumerate() {
            let codes = _mm256_and_si256(codes(columns, byte, rows), _mm256_set1_epi32(0xff));
            // SAFETY: a byte is the place of one of 256 entries.
            let entries = unsafe { _mm256_i32gather_ps::<4>(table.as_ptr(), codes) };
            sums = _mm256_add_ps(sums, entries);
        }
        store(out, sums);
    }
}

#[target_feature(enable = "avx512f,avx512vl,avx2")]
pub(super) fn few_of_4(columns: &Columns<'_>, table: &[f32], rows: &[u32], out: &mut [f32]) {
    for (rows, out) in rows.chunks(LANES).zip(out.chunks_mut(LANES)) {
        let rows = eight(columns, rows);
        // The upper half holds sums of nothing in particular.
        let mut sums = _mm512_setzero_ps();
        for (byte, [low, high]) in table.as_chunks::<16>().0.as_chunks::<2>().0.iter().enumerate() {
            let codes = _mm512_castsi256_si512(codes(columns, byte, rows));
            // SAFETY: the entries are as many as a register takes.
            let (low, high) = unsafe { (_mm512_loadu_ps(low.as_ptr()), _mm512_loadu_ps(high.as_ptr())) };
            // Of an index only the lower four bits count.
            sums = _mm512_add_ps(sums, _mm512_permutexvar_ps(codes, low));
            sums = _mm512_add_ps(sums, _mm512_permutexvar_ps(_mm512_srli_epi32::<4>(codes), high));
        }
        store(out, _mm512_castps512_ps256(sums));
    }
}

/// The rows, the last of them as often as it takes.
///
/// # Panics
/// If one of them is not there.
#[inline]
#[target_feature(enable = "avx2")]
fn eight(columns: &Columns<'_>, rows: &[u32]) -> [i32; LANES] {
    let last = rows[rows.len() - 1];
    core::array::from_fn(|i| {
        let row = *rows.get(i).unwrap_or(&last);
        assert!((row as usize) < columns.rows() && row <= i32::MAX as u32, "rows that are there");
        row as i32
    })
}

/// Byte `byte` of rows that [`eight`] has checked, below three bytes of nothing in particular.
#[inline]
#[target_feature(enable = "avx2")]
fn codes(columns: &Columns<'_>, byte: usize, rows: [i32; LANES]) -> __m256i {
    let Some(column) = columns.column_and_more(byte) else {
        let column = columns.column(byte);
        let codes = rows.map(|row| i32::from(column[row as usize]));
        // SAFETY: eight numbers are as many as a register takes.
        return unsafe { _mm256_loadu_si256(codes.as_ptr().cast()) };
    };
    // SAFETY: the same of the rows. A row is there, and three bytes more are, so all four that are read of each are.
    unsafe {
        let rows = _mm256_loadu_si256(rows.as_ptr().cast());
        _mm256_i32gather_epi32::<1>(column.as_ptr().cast(), rows)
    }
}

/// Writes the first sums.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn store(out: &mut [f32], sums: __m256) {
    let lanes = 0xff >> (LANES - out.len().min(LANES));
    // SAFETY: as many numbers are written as there is room for.
    unsafe { _mm256_mask_storeu_ps(out.as_mut_ptr(), lanes, sums) };
}

//! Scans of codes in registers of 512 bits: 16 exact sums or 64 sums of bytes each.
//!
//! ```text
//! bytes of a part's table    4 bits: 16, once in each quarter of a register         8 bits: 256, in four registers
//! 64 codes                   look up by VPSHUFB, low and high halves                look up by VPERMI2B, twice
//! ```

use super::{
    code_tables::{least, products, quantise, squared},
    few_codes::{few_of_4, few_of_8},
};
use crate::codes::{Candidates, Columns, Kernels};
use core::arch::x86_64::*;

/// With VBMI. It is used only where the machine has AVX-512 and that.
pub(crate) static WITH_PERMUTATIONS: Kernels = Kernels {
    // SAFETY: the machine has VBMI, as said above.
    within_of_8: Some(|columns, bytes, sum, mask| unsafe { within_of_8(columns, bytes, sum, mask) }),
    ..TABLE
};

/// It is used only where the machine has AVX-512.
pub(crate) static TABLE: Kernels = Kernels {
    // SAFETY: the machine has AVX-512, as said above.
    pick: |first, distances, kept, threshold, out| unsafe { pick(first, distances, kept, threshold, out) },
    // SAFETY: as above.
    sums_of_8: |columns, table, out| unsafe { sums_of_8(columns, table, out) },
    // SAFETY: as above.
    sums_of_4: |columns, table, out| unsafe { sums_of_4(columns, table, out) },
    // SAFETY: as above.
    few_of_8: |columns, table, rows, out| unsafe { few_of_8(columns, table, rows, out) },
    // SAFETY: as above.
    few_of_4: |columns, table, rows, out| unsafe { few_of_4(columns, table, rows, out) },
    within_of_8: None,
    // SAFETY: as above.
    within_of_4: Some(|columns, bytes, sum, mask| unsafe { within_of_4(columns, bytes, sum, mask) }),
    // SAFETY: as above.
    least: |table, out| unsafe { least(table, out) },
    // SAFETY: as above.
    quantise: |table, least, scale, out| unsafe { quantise(table, least, scale, out) },
    // SAFETY: as above.
    squared: |vector, width, words, out| unsafe { squared(vector, width, words, out) },
    // SAFETY: as above.
    products: |vector, width, words, out| unsafe { products(vector, width, words, out) },
    // SAFETY: as above.
    bytes: |query, rows, out| unsafe { bytes(query, rows, out) },
};

/// As [`bytes`](crate::arch::all::codes::bytes), with all sixteen sums in a register. Four rows share the loads of the
/// query, and the latency of their sums.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
fn bytes(query: &[f32], rows: &[u8], out: &mut [f32]) {
    let dimension = query.len().max(1);
    let (fours, rest) = out.as_chunks_mut::<4>();
    let (of_fours, of_rest) = rows.split_at(fours.len() * 4 * dimension);
    for (rows, out) in of_fours.chunks_exact(4 * dimension).zip(fours) {
        let mut rows = rows.chunks_exact(dimension);
        *out = sums_of_products(query, [(); 4].map(|()| rows.next().unwrap_or_default()));
    }
    for (row, out) in of_rest.chunks_exact(dimension).zip(rest) {
        [*out] = sums_of_products(query, [row]);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
fn sums_of_products<const N: usize>(query: &[f32], rows: [&[u8]; N]) -> [f32; N] {
    let mut sums = [_mm512_setzero_ps(); N];
    let (parts, last) = query.as_chunks::<16>();
    for (i, numbers) in parts.iter().enumerate() {
        // SAFETY: the numbers are as many as the register takes.
        let numbers = unsafe { _mm512_loadu_ps(numbers.as_ptr()) };
        for (sum, row) in sums.iter_mut().zip(rows) {
            let codes: &[u8] = &row[i * 16..][..16];
            // SAFETY: so are the codes.
            let codes = unsafe { _mm_loadu_si128(codes.as_ptr().cast()) };
            let codes = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(codes));
            *sum = _mm512_add_ps(*sum, _mm512_mul_ps(codes, numbers));
        }
    }
    if !last.is_empty() {
        // SAFETY: a masked load reads only the lanes of the mask, as many as there are numbers.
        let numbers = unsafe { _mm512_maskz_loadu_ps(u16::MAX >> (16 - last.len()), last.as_ptr()) };
        for (sum, row) in sums.iter_mut().zip(rows) {
            let codes = _mm512_cvtepi32_ps(sixteen(&row[parts.len() * 16..][..last.len()]));
            *sum = _mm512_add_ps(*sum, _mm512_mul_ps(codes, numbers));
        }
    }
    sums.map(|sums| {
        let sums = _mm256_add_ps(_mm512_castps512_ps256(sums), _mm512_extractf32x8_ps::<1>(sums));
        let sums = _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps::<1>(sums));
        let sums = _mm_add_ps(sums, _mm_movehl_ps(sums, sums));
        _mm_cvtss_f32(_mm_add_ss(sums, _mm_movehdup_ps(sums)))
    })
}

/// Sixteen rows at a time, of which those near enough are compressed.
#[target_feature(enable = "avx512f,popcnt")]
fn pick(first: u32, distances: &[f32], kept: Option<&[u64]>, threshold: f32, out: &mut Candidates) {
    const LANES: usize = 16;
    let (positions, picked) = out.lists();
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let highest = _mm512_set1_ps(threshold);
    for (i, distances) in distances.chunks(LANES).enumerate() {
        let there = u16::MAX >> (LANES - distances.len());
        let kept = kept.map_or(there, |kept| (kept[i / 4] >> (i % 4 * LANES)) as u16 & there);
        // SAFETY: a masked load reads only the lanes of the mask, as many as there are distances.
        let values = unsafe { _mm512_maskz_loadu_ps(there, distances.as_ptr()) };
        let near = _mm512_mask_cmp_ps_mask::<_CMP_LE_OQ>(kept, values, highest);
        if near == 0 {
            continue;
        }
        let rows = _mm512_add_epi32(lanes, _mm512_set1_epi32(first.wrapping_add((i * LANES) as u32) as i32));
        positions.reserve(LANES);
        picked.reserve(LANES);
        let count = near.count_ones() as usize;
        // SAFETY: there is room for sixteen more of both, of which the first `count` are then counted in.
        unsafe {
            let to = positions.as_mut_ptr().add(positions.len());
            _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi32(near, rows));
            positions.set_len(positions.len() + count);
            let to = picked.as_mut_ptr().add(picked.len());
            _mm512_storeu_ps(to, _mm512_maskz_compress_ps(near, values));
            picked.set_len(picked.len() + count);
        }
    }
}

/// The first sixteen codes, or as many as there are and then zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn sixteen(codes: &[u8]) -> __m512i {
    let there = u16::MAX >> (16 - codes.len().clamp(1, 16));
    // SAFETY: a masked load reads only the lanes of the mask, which are there as long as there is one code.
    _mm512_cvtepu8_epi32(unsafe { _mm_maskz_loadu_epi8(there, codes.as_ptr().cast()) })
}

/// Sums of `N` times sixteen rows.
macro_rules! sums {
    ($name:ident, $words:literal, |$table:ident, $codes:ident, $sum:ident| $add:expr) => {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        fn $name(columns: &Columns<'_>, table: &[f32], out: &mut [f32]) {
            const ROWS: usize = 64;
            let count = columns.rows().min(out.len());
            for start in (0..count).step_by(ROWS) {
                let rows = ROWS.min(count - start);
                let mut sums = [_mm512_setzero_ps(); ROWS / 16];
                for (byte, $table) in table.as_chunks::<$words>().0.iter().enumerate() {
                    let column = &columns.column(byte)[start..][..rows];
                    for ($sum, codes) in sums.iter_mut().zip(column.chunks(16)) {
                        let $codes = sixteen(codes);
                        *$sum = $add;
                    }
                }
                for (sum, out) in sums.into_iter().zip(out[start..][..rows].chunks_mut(16)) {
                    let there = u16::MAX >> (16 - out.len());
                    // SAFETY: a masked store writes only the lanes of the mask, as many as `out` takes.
                    unsafe { _mm512_mask_storeu_ps(out.as_mut_ptr(), there, sum) };
                }
            }
        }
    };
}

sums!(sums_of_8, 256, |table, codes, sum| {
    // SAFETY: a code is below 256, and so many numbers of 4 bytes are in the table.
    _mm512_add_ps(*sum, unsafe { _mm512_i32gather_ps::<4>(codes, table.as_ptr()) })
});

sums!(sums_of_4, 32, |table, codes, sum| {
    // SAFETY: sixteen numbers twice are the 32 of the table.
    let (low, high) = unsafe { (_mm512_loadu_ps(table.as_ptr()), _mm512_loadu_ps(table.as_ptr().add(16))) };
    // Only the lowest four bits of a lane choose.
    let sum = _mm512_add_ps(*sum, _mm512_permutexvar_ps(codes, low));
    _mm512_add_ps(sum, _mm512_permutexvar_ps(_mm512_srli_epi32::<4>(codes), high))
});

/// Defines a function that finds the rows within a bound, of which `$block` adds the bytes of a column to `N` times 64
/// sums.
macro_rules! within {
    ($name:ident, $blocks:ident, $features:literal, $words:literal, $tables:expr, $look_up:expr) => {
        #[target_feature(enable = $features)]
        fn $name(columns: &Columns<'_>, bytes: &[u8], sum: u8, mask: &mut [u64]) {
            let mut at = 0;
            for (words, n) in [(8, 8), (4, 4), (2, 2), (1, 1)] {
                // All whole blocks of so many words, but the last word may have fewer rows.
                while mask.len() - at >= words {
                    let mask = &mut mask[at..][..words];
                    match n {
                        8 => $blocks::<8>(columns, bytes, sum, at * 64, mask),
                        4 => $blocks::<4>(columns, bytes, sum, at * 64, mask),
                        2 => $blocks::<2>(columns, bytes, sum, at * 64, mask),
                        _ => $blocks::<1>(columns, bytes, sum, at * 64, mask),
                    }
                    at += words;
                }
            }
        }

        /// The bits of `N` words, of rows from `start` on.
        #[inline]
        #[target_feature(enable = $features)]
        fn $blocks<const N: usize>(
            columns: &Columns<'_>,
            bytes: &[u8],
            sum: u8,
            start: usize,
            mask: &mut [u64],
        ) {
            let rows = (N * 64).min(columns.rows().saturating_sub(start));
            // Rows of the last word.
            let last = match rows.checked_sub((N - 1) * 64) {
                Some(rows @ 1..) => u64::MAX >> (64 - rows),
                _ => panic!("a row for each word"),
            };
            let mut sums = [_mm512_setzero_si512(); N];
            for (byte, table) in bytes.as_chunks::<$words>().0.iter().enumerate() {
                let column = &columns.column(byte)[start..][..rows];
                let table = $tables(table);
                for (i, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: whole words of rows are there before the last, of which only those that are there
                    // are read.
                    let codes = unsafe {
                        let from = column.as_ptr().add(i * 64).cast();
                        if i < N - 1 { _mm512_loadu_epi8(from) } else { _mm512_maskz_loadu_epi8(last, from) }
                    };
                    *sum = $look_up(*sum, table, codes);
                }
            }
            let highest = _mm512_set1_epi8(sum as i8);
            for (word, sum) in mask.iter_mut().zip(sums) {
                *word = _mm512_cmple_epu8_mask(sum, highest);
            }
            if let Some(word) = mask.last_mut() {
                *word &= last;
            }
        }
    };
}

within!(within_of_8, blocks_of_8, "avx512f,avx512bw,avx512vl,avx512vbmi", 256, table_of_256, add_of_256);
within!(within_of_4, blocks_of_4, "avx512f,avx512bw,avx512vl", 32, table_of_32, add_of_32);

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn table_of_256(table: &[u8; 256]) -> [__m512i; 4] {
    // SAFETY: the table is four times the 64 bytes that a register takes.
    core::array::from_fn(|i| unsafe { _mm512_loadu_epi8(table.as_ptr().add(i * 64).cast()) })
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn add_of_256(sum: __m512i, table: [__m512i; 4], codes: __m512i) -> __m512i {
    // The lower seven bits of a code choose from two registers, and the highest which of both.
    let upper = _mm512_movepi8_mask(codes);
    let low = _mm512_permutex2var_epi8(table[0], codes, table[1]);
    let high = _mm512_permutex2var_epi8(table[2], codes, table[3]);
    _mm512_adds_epu8(sum, _mm512_mask_blend_epi8(upper, low, high))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn table_of_32(table: &[u8; 32]) -> [__m512i; 2] {
    // SAFETY: sixteen bytes twice are the 32 of the table.
    core::array::from_fn(|i| unsafe {
        _mm512_broadcast_i32x4(_mm_loadu_si128(table.as_ptr().add(i * 16).cast()))
    })
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_of_32(sum: __m512i, table: [__m512i; 2], codes: __m512i) -> __m512i {
    let half = _mm512_set1_epi8(15);
    let low = _mm512_shuffle_epi8(table[0], _mm512_and_si512(codes, half));
    let high = _mm512_shuffle_epi8(table[1], _mm512_and_si512(_mm512_srli_epi16::<4>(codes), half));
    _mm512_adds_epu8(_mm512_adds_epu8(sum, low), high)
}

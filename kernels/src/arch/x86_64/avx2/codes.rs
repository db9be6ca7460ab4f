//! Scans of codes in registers of 256 bits. For codes of 8 bits there are no bounds: a table of 256 bytes is sixteen
//! look-ups of 16, which take as long as the sums.

use crate::{
    arch::{
        all::{
            codes,
            within::{self, Bytes},
        },
        portable,
    },
    codes::{Candidates, Columns, Kernels},
};
use core::arch::x86_64::*;

crate::arch::all::code_tables::code_tables!(
    "avx2",
    8,
    8,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_add_ps,
    _mm256_sub_ps,
    _mm256_mul_ps
);

/// It is used only where the machine has AVX2.
pub(crate) static TABLE: Kernels = Kernels {
    // SAFETY: the machine has AVX2, as said above.
    pick: |first, distances, kept, threshold, out| unsafe { pick(first, distances, kept, threshold, out) },
    // SAFETY: as above.
    sums_of_8: |columns, table, out| unsafe { sums_of_8(columns, table, out) },
    // SAFETY: as above.
    sums_of_4: |columns, table, out| unsafe { sums_of_4(columns, table, out) },
    few_of_8: portable::codes::few_of_8,
    few_of_4: portable::codes::few_of_4,
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

/// Eight rows at a time, of which those near enough are taken one by one.
#[target_feature(enable = "avx2,bmi1")]
fn pick(first: u32, distances: &[f32], kept: Option<&[u64]>, threshold: f32, out: &mut Candidates) {
    let (eights, rest) = distances.as_chunks::<8>();
    let highest = _mm256_set1_ps(threshold);
    let kept_of = |i: usize| kept.map_or(!0, |kept| kept[i / 8] >> (i % 8 * 8));
    for (i, eight) in eights.iter().enumerate() {
        // SAFETY: the numbers are as many as the register takes.
        let values = unsafe { _mm256_loadu_ps(eight.as_ptr()) };
        let near = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LE_OQ>(values, highest)) as u8;
        let mut near = near & kept_of(i) as u8;
        while near != 0 {
            let row = near.trailing_zeros() as usize;
            out.push(first.wrapping_add((i * 8 + row) as u32), eight[row], threshold);
            near &= near - 1;
        }
    }
    for (i, &distance) in rest.iter().enumerate() {
        let row = eights.len() * 8 + i;
        if kept.is_none_or(|kept| kept[row / 64] >> (row % 64) & 1 == 1) {
            out.push(first.wrapping_add(row as u32), distance, threshold);
        }
    }
}

#[target_feature(enable = "avx2")]
fn sums_of_8(columns: &Columns<'_>, table: &[f32], out: &mut [f32]) {
    portable::codes::sums_of_8(columns, table, out);
}

/// Eight rows in each of four registers.
#[target_feature(enable = "avx2")]
fn sums_of_4(columns: &Columns<'_>, table: &[f32], out: &mut [f32]) {
    const ROWS: usize = 32;
    let count = columns.rows().min(out.len());
    for start in (0..count).step_by(ROWS) {
        let rows = ROWS.min(count - start);
        let mut sums = [_mm256_setzero_ps(); ROWS / 8];
        for (byte, table) in table.as_chunks::<32>().0.iter().enumerate() {
            let mut codes = [0; ROWS];
            codes[..rows].copy_from_slice(&columns.column(byte)[start..][..rows]);
            // SAFETY: eight numbers four times are the 32 of the table.
            let table: [__m256; 4] =
                core::array::from_fn(|i| unsafe { _mm256_loadu_ps(table.as_ptr().add(i * 8)) });
            for (sum, codes) in sums.iter_mut().zip(codes.as_chunks::<8>().0) {
                // SAFETY: the codes are as many as are read.
                let codes = _mm256_cvtepu8_epi32(unsafe { _mm_loadl_epi64(codes.as_ptr().cast()) });
                *sum = _mm256_add_ps(*sum, of_sixteen(table[0], table[1], codes));
                *sum = _mm256_add_ps(*sum, of_sixteen(table[2], table[3], _mm256_srli_epi32::<4>(codes)));
            }
        }
        let mut numbers = [[0.0; 8]; ROWS / 8];
        for (numbers, sum) in numbers.iter_mut().zip(sums) {
            // SAFETY: as many numbers are written as the register has.
            unsafe { _mm256_storeu_ps(numbers.as_mut_ptr(), sum) };
        }
        out[start..][..rows].copy_from_slice(&numbers.as_flattened()[..rows]);
    }
}

/// The numbers that the lowest four bits of each lane choose: three bits from a register, and the fourth which of both.
#[inline]
#[target_feature(enable = "avx2")]
fn of_sixteen(lower: __m256, upper: __m256, codes: __m256i) -> __m256 {
    let is_upper = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(codes));
    let lower = _mm256_permutevar8x32_ps(lower, codes);
    _mm256_blendv_ps(lower, _mm256_permutevar8x32_ps(upper, codes), is_upper)
}

#[target_feature(enable = "avx2")]
fn within_of_4(columns: &Columns<'_>, bytes: &[u8], sum: u8, mask: &mut [u64]) {
    // SAFETY: AVX2 is there, of which this is written.
    unsafe { within::within_of_4::<Avx2, 4>(columns, bytes, sum, mask) }
}

#[target_feature(enable = "avx2")]
fn least(table: &[f32], out: &mut [f32]) -> u32 {
    codes::least(table, out)
}

#[target_feature(enable = "avx2")]
fn quantise(table: &[f32], least: &[f32], scale: f32, out: &mut [u8]) {
    codes::quantise(table, least, scale, out);
}

/// As [`codes::bytes`], with eight of the sixteen sums in each of two registers.
#[target_feature(enable = "avx2")]
fn bytes(query: &[f32], rows: &[u8], out: &mut [f32]) {
    let (parts, last_numbers) = query.as_chunks::<16>();
    for (row, out) in rows.chunks_exact(query.len().max(1)).zip(out) {
        let mut sums = [_mm256_setzero_ps(); 2];
        let (codes, last_codes) = row.as_chunks::<16>();
        for (numbers, codes) in parts.iter().zip(codes) {
            sums = add_sixteen(sums, numbers, codes);
        }
        if !last_numbers.is_empty() {
            let (mut numbers, mut codes) = ([0.0; 16], [0; 16]);
            numbers[..last_numbers.len()].copy_from_slice(last_numbers);
            codes[..last_codes.len()].copy_from_slice(last_codes);
            sums = add_sixteen(sums, &numbers, &codes);
        }
        let sums = _mm256_add_ps(sums[0], sums[1]);
        let sums = _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps::<1>(sums));
        let sums = _mm_add_ps(sums, _mm_movehl_ps(sums, sums));
        *out = _mm_cvtss_f32(_mm_add_ss(sums, _mm_movehdup_ps(sums)));
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_sixteen(sums: [__m256; 2], numbers: &[f32; 16], codes: &[u8; 16]) -> [__m256; 2] {
    core::array::from_fn(|half| {
        // SAFETY: half of sixteen numbers and codes are as many as the registers take.
        let (numbers, codes) = unsafe {
            let codes = _mm_loadl_epi64(codes.as_ptr().add(8 * half).cast());
            (_mm256_loadu_ps(numbers.as_ptr().add(8 * half)), codes)
        };
        let codes = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(codes));
        _mm256_add_ps(sums[half], _mm256_mul_ps(codes, numbers))
    })
}

struct Avx2;

impl Bytes for Avx2 {
    type Register = __m256i;
    const LANES: usize = 32;

    #[inline(always)]
    unsafe fn set(byte: u8) -> __m256i {
        // SAFETY: the caller has AVX2, here and below.
        unsafe { _mm256_set1_epi8(byte as i8) }
    }

    #[inline(always)]
    unsafe fn load(at: *const u8) -> __m256i {
        // SAFETY: as above; the caller has as many bytes there.
        unsafe { _mm256_loadu_si256(at.cast()) }
    }

    #[inline(always)]
    unsafe fn table(bytes: &[u8; 16]) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn low(table: __m256i, codes: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_shuffle_epi8(table, _mm256_and_si256(codes, _mm256_set1_epi8(15))) }
    }

    #[inline(always)]
    unsafe fn high(table: __m256i, codes: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { Self::low(table, _mm256_srli_epi16::<4>(codes)) }
    }

    #[inline(always)]
    unsafe fn add(a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: as above.
        unsafe { _mm256_adds_epu8(a, b) }
    }

    #[inline(always)]
    unsafe fn at_most(a: __m256i, b: __m256i) -> u64 {
        // SAFETY: as above.
        unsafe { u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(a, b), a)) as u32) }
    }
}

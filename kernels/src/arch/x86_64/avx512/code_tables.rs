//! Tables of distances to codewords, and the same in bytes, in registers of 512 bits.

use core::arch::x86_64::*;

crate::arch::all::code_tables::code_tables!(
    "avx512f,avx512bw,avx512vl,avx512dq",
    16,
    16,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_add_ps,
    _mm512_sub_ps,
    _mm512_mul_ps
);

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn least(table: &[f32], out: &mut [f32]) -> u32 {
    let mut magnitude = _mm512_setzero_si512();
    let registers = (table.len() / 16 / out.len().max(1)).max(1);
    for (part, out) in table.as_chunks::<16>().0.chunks_exact(registers).zip(out) {
        let mut least = _mm512_set1_ps(f32::INFINITY);
        for numbers in part {
            // SAFETY: the numbers are as many as the register takes.
            let numbers = unsafe { _mm512_loadu_ps(numbers.as_ptr()) };
            least = _mm512_min_ps(numbers, least);
            magnitude = _mm512_max_epu32(magnitude, _mm512_castps_si512(_mm512_abs_ps(numbers)));
        }
        *out = _mm512_reduce_min_ps(least);
    }
    _mm512_reduce_max_epu32(magnitude)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) fn quantise(table: &[f32], least: &[f32], scale: f32, out: &mut [u8]) {
    let registers = (table.len() / 16 / least.len().max(1)).max(1);
    let parts = table.as_chunks::<16>().0.chunks_exact(registers).zip(least);
    let (scale, highest) = (_mm512_set1_ps(scale), _mm512_set1_ps(255.0));
    for ((part, &least), out) in parts.zip(out.as_chunks_mut::<16>().0.chunks_exact_mut(registers)) {
        let least = _mm512_set1_ps(least);
        for (numbers, out) in part.iter().zip(out) {
            // SAFETY: the numbers are as many as the register takes, and as many bytes are written.
            unsafe {
                let numbers = _mm512_loadu_ps(numbers.as_ptr());
                let steps = _mm512_mul_ps(_mm512_sub_ps(numbers, least), scale);
                let steps = _mm512_cvttps_epi32(_mm512_min_ps(steps, highest));
                _mm_storeu_si128(out.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(steps));
            }
        }
    }
}

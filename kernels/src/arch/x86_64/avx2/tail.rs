//! The last part of a vector: less than a register, read without a byte beyond it.
//!
//! ```text
//! 32 bytes or more    the last 32, those that were met before set to zero
//! 16 to 31            the first 16 and the last 16, moved down to where the first end
//! 1 to 15             the same by words of eight, four or one
//! ```

use core::arch::x86_64::*;

/// How many bytes a vector has, and how many of them follow its last whole part.
pub(super) type Tail = (usize, usize);

pub(super) const fn tail<T>(dim: usize, lanes: usize) -> Tail {
    (dim * size_of::<T>(), dim % lanes * size_of::<T>())
}

/// Ones of which the last `n` bytes are loaded, after zeros, by a load of 32 bytes that begins `n` bytes after the
/// start.
static MASKS: [u8; 64] = {
    let mut masks = [0; 64];
    let mut i = 32;
    while i < 64 {
        masks[i] = 0xff;
        i += 1;
    }
    masks
};

/// A load of 16 bytes that begins `n` bytes after the start tells VPSHUFB to move bytes down by `n`, zeros after them.
static DOWN: [u8; 32] = {
    let mut places = [0x80; 32];
    let mut i = 0;
    while i < 16 {
        places[i] = i as u8;
        i += 1;
    }
    places
};

/// The last `rest` bytes of the `len` at `vector`, and zeros: the last 32 bytes if there are as many, with zeros
/// first, or with zeros after them.
///
/// # Safety
/// AVX2 is there; `vector` has `len` bytes; `rest` is at most `len` and less than 32, and all of a shorter vector.
#[inline(always)]
pub(super) unsafe fn tail_256(vector: *const u8, (len, rest): Tail) -> __m256i {
    // SAFETY: the caller's promise: the loads end with the vector and begin in it, the mask begins before byte 32, and
    // the places before byte 17.
    unsafe {
        if len >= 32 {
            let mask = _mm256_loadu_si256(MASKS.as_ptr().add(rest).cast());
            _mm256_and_si256(_mm256_loadu_si256(vector.add(len - 32).cast()), mask)
        } else if len >= 16 {
            let places = _mm_loadu_si128(DOWN.as_ptr().add(32 - len).cast());
            let high = _mm_shuffle_epi8(_mm_loadu_si128(vector.add(len - 16).cast()), places);
            _mm256_setr_m128i(_mm_loadu_si128(vector.cast()), high)
        } else {
            _mm256_zextsi128_si256(short(vector, len))
        }
    }
}

/// The same with 16 bytes.
///
/// # Safety
/// AVX2 is there; `vector` has `len` bytes; `rest` is at most `len` and less than 16, and all of a shorter vector.
#[inline(always)]
pub(super) unsafe fn tail_128(vector: *const u8, (len, rest): Tail) -> __m128i {
    // SAFETY: the caller's promise: the loads end with the vector and begin in it, and the mask begins before byte 32.
    unsafe {
        if len >= 16 {
            let mask = _mm_loadu_si128(MASKS.as_ptr().add(16 + rest).cast());
            _mm_and_si128(_mm_loadu_si128(vector.add(len - 16).cast()), mask)
        } else {
            short(vector, len)
        }
    }
}

/// Less than 16 bytes, and zeros.
///
/// # Safety
/// `vector` has `len` bytes, less than 16.
#[inline(always)]
unsafe fn short(vector: *const u8, len: usize) -> __m128i {
    /// A word that begins `at` bytes after the start.
    ///
    /// # Safety
    /// It is there.
    #[inline(always)]
    unsafe fn word<T: Into<u64>>(vector: *const u8, at: usize) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { vector.add(at).cast::<T>().read_unaligned() }.into()
    }
    // SAFETY: the caller's promise: each word begins and ends in the vector. No shift is by a whole word.
    unsafe {
        if len > 8 {
            let high = word::<u64>(vector, len - 8) >> (8 * (16 - len));
            return _mm_set_epi64x(high as i64, word::<u64>(vector, 0) as i64);
        }
        let low = match len {
            8 => word::<u64>(vector, 0),
            4.. => word::<u32>(vector, 0) | word::<u32>(vector, len - 4) << (8 * (len - 4)),
            2.. => word::<u16>(vector, 0) | word::<u8>(vector, len - 1) << (8 * (len - 1)),
            1 => word::<u8>(vector, 0),
            0 => 0,
        };
        _mm_cvtsi64_si128(low as i64)
    }
}

//! Telling the cache what will be read soon.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for `items` to be brought to the second level of the cache; where there is no such instruction, nothing.
#[inline]
pub(crate) fn prefetch<T>(items: &[T]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        let start = items.as_ptr().cast::<i8>();
        for at in (0..size_of_val(items)).step_by(LINE) {
            // SAFETY: every x86-64 processor has SSE; a prefetch reads nothing that a program could see.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(start.wrapping_add(at)) }
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = (items, LINE);
}

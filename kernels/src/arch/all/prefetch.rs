//! Asking for memory before it is needed.

/// Asks for the line at `at`. Nothing is read that a program could see: any address will do.
#[inline(always)]
pub(crate) fn read<T>(at: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[allow(unused_unsafe)] // safe in later toolchains
        // SAFETY: every x86-64 processor has SSE; a prefetch of an address that is not there does nothing.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(at.cast());
        }
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        // SAFETY: PRFM reads nothing that a program could see and does not fault.
        unsafe {
            core::arch::asm!("prfm pldl1keep, [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
        }
    }
    #[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
    let _ = at;
}

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

/// Asks for the line that lies `BYTES` after `at`.
#[inline(always)]
pub(crate) fn ahead<const BYTES: usize, T>(at: *const T) {
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        const { assert!(BYTES.is_multiple_of(8) && BYTES < 1 << 15, "what the instruction adds to an address") };
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                "prfm pldl1keep, [{}, {}]", in(reg) at, const BYTES,
                options(nostack, preserves_flags, readonly)
            );
        }
    }
    #[cfg(not(all(target_arch = "aarch64", not(miri))))]
    read(at.wrapping_byte_add(BYTES));
}

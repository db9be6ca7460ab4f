//! What the tests of kernels share: every instruction set in turn, repeatable numbers, and memory with guard pages.
#![allow(dead_code)] // each test uses some of it

use lancet_kernels::isa::Isa;
use std::sync::Mutex;

/// Runs `test` with each instruction set of this machine; the set is one for the process, so tests take turns.
pub(crate) fn with_each_isa(test: impl Fn(Isa)) {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    for isa in Isa::available() {
        Isa::force(isa).unwrap();
        test(isa);
    }
}

/// SplitMix64: a sequence that its seed determines.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.word() % end as u64) as usize
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// Of `lengths` all, or under Miri, which is slow, short ones of whole words and of one row more.
pub(crate) fn some(lengths: impl IntoIterator<Item = usize>) -> impl Iterator<Item = usize> {
    lengths.into_iter().filter(|&length| !cfg!(miri) || length <= 260 && length % 64 < 2)
}

/// How often a test draws inputs: fewer times under Miri.
pub(crate) fn rounds(count: usize) -> usize {
    if cfg!(miri) { count.div_ceil(30) } else { count }
}

/// Pages between two that no one may touch: a read outside of a slice at either end is a fault.
#[cfg(all(unix, not(miri)))]
pub(crate) mod guarded {
    use std::ptr;

    pub(crate) struct Pages {
        start: *mut u8,
        mapped: usize,
        page: usize,
    }

    impl Pages {
        /// Pages for `bytes` bytes.
        pub(crate) fn new(bytes: usize) -> Self {
            // SAFETY: asks for a number; an anonymous mapping anywhere, of which the first and the last page are
            // then closed, both of which lie inside it.
            unsafe {
                let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
                let mapped = bytes.div_ceil(page) * page + 2 * page;
                let (open, flags) =
                    (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
                let start = libc::mmap(ptr::null_mut(), mapped, open, flags, -1, 0).cast::<u8>();
                assert_ne!(start.cast(), libc::MAP_FAILED);
                assert_eq!(libc::mprotect(start.cast(), page, libc::PROT_NONE), 0);
                assert_eq!(libc::mprotect(start.add(mapped - page).cast(), page, libc::PROT_NONE), 0);
                Pages { start, mapped, page }
            }
        }

        /// `values` right behind the first guard page.
        pub(crate) fn at_start<T: bytemuck::Pod>(&mut self, values: &[T]) -> &mut [T] {
            self.place(values, self.page)
        }

        /// `values` right before the last guard page.
        pub(crate) fn at_end<T: bytemuck::Pod>(&mut self, values: &[T]) -> &mut [T] {
            self.place(values, self.mapped - self.page - size_of_val(values))
        }

        fn place<T: bytemuck::Pod>(&mut self, values: &[T], at: usize) -> &mut [T] {
            assert!(size_of_val(values) <= self.mapped - 2 * self.page && at.is_multiple_of(align_of::<T>()));
            // SAFETY: the bytes lie between the guard pages, were zeroed by the system, are aligned as asserted,
            // and are borrowed from `self`.
            let place =
                unsafe { std::slice::from_raw_parts_mut(self.start.add(at).cast::<T>(), values.len()) };
            place.copy_from_slice(values);
            place
        }
    }

    impl Drop for Pages {
        fn drop(&mut self) {
            // SAFETY: the mapping is this value's own, and nothing borrows from it any more.
            unsafe { libc::munmap(self.start.cast(), self.mapped) };
        }
    }
}

//! An allocator that counts, for each thread, what it holds, how often it asked, and for the largest piece.
#![allow(dead_code)] // Each test uses its own part.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Anything larger is refused, which ends the process: no test machine need swap to find a fault.
const REFUSED: usize = 2 << 30;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(0) };
    static NUMBER: Cell<usize> = const { Cell::new(0) };
    static GROWN: Cell<usize> = const { Cell::new(0) };
    /// Says what is being tried, should the process end.
    static LABEL: Cell<[u64; 3]> = const { Cell::new([0; 3]) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a piece of work took.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Taken {
    /// The most bytes held at once.
    pub(crate) peak: usize,
    /// The largest single allocation.
    pub(crate) largest: usize,
    /// How many allocations there were, growing ones counted again.
    pub(crate) number: usize,
    /// How many of them made an earlier one larger.
    pub(crate) grown: usize,
}

/// Runs `work` on this thread and says what it took. `label` is printed if it takes far too much.
pub(crate) fn measure<R>(label: [u64; 3], work: impl FnOnce() -> R) -> (R, Taken) {
    let before = LIVE.get();
    PEAK.set(before);
    LARGEST.set(0);
    NUMBER.set(0);
    GROWN.set(0);
    LABEL.set(label);
    let result = work();
    let peak = (PEAK.get() - before).max(0) as usize;
    (result, Taken { peak, largest: LARGEST.get(), number: NUMBER.get(), grown: GROWN.get() })
}

fn count(freed: usize, size: usize) -> bool {
    let live = LIVE.get() + size as isize - freed as isize;
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
    LARGEST.set(LARGEST.get().max(size));
    NUMBER.set(NUMBER.get() + usize::from(size > 0));
    if size > REFUSED {
        eprintln!("{size} bytes are asked for in case {:?}", LABEL.get());
    }
    size <= REFUSED
}

// SAFETY: Every call goes to the system's allocator with the arguments it came with; null is a valid answer.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !count(0, layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: As the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !count(0, layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: As the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size(), 0);
        // SAFETY: As the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        GROWN.set(GROWN.get() + usize::from(size > layout.size()));
        if !count(layout.size(), size) {
            return std::ptr::null_mut();
        }
        // SAFETY: As the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

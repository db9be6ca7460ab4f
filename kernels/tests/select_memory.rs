//! What selection allocates: nothing when warm, and never by k alone.

use lancet_kernels::select::{Hit, Ids, TopK, merge, smallest};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
};

struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of this function.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocated_by(action: impl FnOnce()) -> usize {
    let before = ALLOCATED.load(Ordering::Relaxed);
    action();
    ALLOCATED.load(Ordering::Relaxed) - before
}

/// One test, so that no other one allocates meanwhile.
#[test]
fn memory_of_searches() {
    let falling: Vec<f32> = (0..5000).rev().map(|row| row as f32).collect();
    let mut top = TopK::new();
    let mut search = |k: usize| {
        allocated_by(|| {
            top.reset(k, ..);
            top.push_block(&falling, Ids::From(0), None);
            assert_eq!(top.finish().len(), k.min(5000));
        })
    };
    let cold = search(usize::MAX);
    assert!(
        cold >= 5000 * size_of::<u128>() && cold < 20_000 * size_of::<u128>(),
        "{cold} bytes for 5000 rows"
    );
    for k in [usize::MAX, 1, 10, 1000, 5000] {
        assert_eq!(search(k), 0, "k = {k}");
    }
    assert_eq!(allocated_by(|| assert_eq!(smallest(&falling, 20, &mut top).len(), 20)), 0);

    let hits: Vec<Hit> = (0..10).map(|id| Hit { distance: id as f32, id }).collect();
    let mut lists = [&hits[..], &hits[2..], &[], &hits[..1]];
    let mut merged = Vec::with_capacity(15);
    assert_eq!(allocated_by(|| merge(&mut lists, 15, &mut merged)), 0);
    assert_eq!(merged.len(), 15);
}

//! Links `lancet-format` and `lancet-kernels` into a program that brings its own panic handler and
//! allocator. A crate below them that pulls in `std` brings a second panic handler, which the compiler
//! refuses. The program is linked, never run.
#![no_std]
#![no_main]

extern crate alloc;

use alloc::sync::Arc;
use bytes::Bytes;
use core::alloc::{GlobalAlloc, Layout};
use core::hint::black_box;
use core::panic::PanicInfo;
use core::ptr;

/// Always out of memory.
struct Nothing;

// SAFETY: a null pointer says that there is no memory, so there is none to misuse.
unsafe impl GlobalAlloc for Nothing {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: Nothing = Nothing;

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}

/// Named by the tables of `core` and `alloc`, which are compiled to unwind; never called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// As [`rust_eh_personality`].
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() {}

/// Where a program starts when nothing is linked in before it.
#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    let _ = black_box(lancet_format::File::open(Arc::new(Bytes::new())));
    let _ = black_box(lancet_kernels::bits::count_ones(black_box(&[0]), 0..8));
    loop {}
}

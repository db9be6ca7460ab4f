//! No distance kernel reads outside the vectors: they lie at the end of a page that none may be read after, and at the
//! start of one that none may be read before.

use super::{
    METRICS,
    definition::{Number, Random, dims, vector},
};
use lancet_kernels::{distance::DistanceTable, isa::Isa};

const PAGE: usize = 4096;
/// Pages that can be read: enough for three of the longest vectors of f64.
const PAGES: usize = 10;

/// Memory between two pages that end the process when they are read.
struct Guarded {
    start: *mut u8,
}

impl Guarded {
    #[allow(unsafe_code)]
    fn new() -> Self {
        let len = (PAGES + 2) * PAGE;
        // SAFETY: a new mapping disturbs nothing, and it is looked at only if there is one; its inner pages are then
        // made readable.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let mapping = libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(mapping, libc::MAP_FAILED);
            let start = mapping.cast::<u8>().add(PAGE);
            let inner = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(start.cast(), PAGES * PAGE, inner), 0);
            Guarded { start }
        }
    }

    /// The readable bytes.
    #[allow(unsafe_code)]
    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: these pages are readable, writable, zero to begin with, and borrowed with `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start, PAGES * PAGE) }
    }
}

impl Drop for Guarded {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made, which nothing borrows any more.
        unsafe {
            libc::munmap(self.start.sub(PAGE).cast(), (PAGES + 2) * PAGE);
        }
    }
}

/// Where in the readable bytes vectors lie.
#[derive(Clone, Copy)]
enum Place {
    Start,
    End,
}

fn place<'a, T: Number>(guarded: &'a mut Guarded, values: &[T], place: Place) -> &'a [T] {
    let all: &mut [T] = bytemuck::cast_slice_mut(guarded.bytes());
    let start = match place {
        Place::Start => 0,
        Place::End => all.len() - values.len(),
    };
    let slice = &mut all[start..][..values.len()];
    slice.copy_from_slice(values);
    slice
}

fn check<T: Number>() {
    let mut random = Random(11);
    let (mut first, mut second) = (Guarded::new(), Guarded::new());
    for isa in Isa::available() {
        let table = DistanceTable::<T>::of(isa).expect("an available set");
        for dim in dims() {
            let (query, rows): (Vec<T>, Vec<T>) = (vector(&mut random, dim), vector(&mut random, 3 * dim));
            for at in [Place::Start, Place::End] {
                let query = place(&mut first, &query, at);
                let rows = place(&mut second, &rows, at);
                for metric in METRICS {
                    let mut out = [f32::NAN; 3];
                    table.distances(metric, query, rows, dim, &mut out);
                    let mut picked = [f32::NAN; 3];
                    table.distances_of(metric, query, rows, dim, &[0u32, 1, 2], &mut picked);
                    assert_eq!(out.map(f32::to_bits), picked.map(f32::to_bits));
                    let row = |number: usize| &rows[number * dim..][..dim];
                    let mut scattered = [f32::NAN; 3];
                    table.distances_to(metric, query, &[row(0), row(1), row(2)], &mut scattered);
                    assert_eq!(out.map(f32::to_bits), scattered.map(f32::to_bits));
                    table.distance(metric, query, &rows[2 * dim..]);
                }
                table.squared_norm(query);
                table.dot(query, &rows[..dim]);
            }
        }
    }
}

#[test]
fn nothing_outside_is_read() {
    check::<f32>();
    check::<f64>();
    check::<half::f16>();
    check::<half::bf16>();
    check::<i8>();
    check::<u8>();
}

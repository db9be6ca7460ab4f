//! Arithmetic over slices: the innermost loops of lancet, and nothing that knows a file.
//!
//! | module | holds |
//! |---|---|
//! | [`unpack`] | integers of 0 to 64 bits in the FastLanes order |
//! | [`bits`] | bit sets: copy, count, gather, iterate |
//! | [`mask`] | one bit a row in words: combine, count, select |
//! | [`compare`] | columns with literals and with each other, into masks |
//! | [`levels`] | repetition and definition levels to bits and counts |
//! | [`gather`] | items of one width picked by index |
//! | [`fsst`] | strings of one-byte codes for symbols |
//! | [`rle`] | runs to items |
//! | [`distance`] | distances of a query to rows |
//! | [`select`] | the nearest of many rows |
//! | [`many`] | many vectors against many: nearest, nearest `n`, all distances |
//! | [`kmeans`] | k-means: centroids of clusters |
//! | [`parallel`] | which threads work |
//! | [`roofline`] | what the machine can do at most |
//! | [`isa`] | the instruction set in use |
//!
//! Slices may hold bytes from untrusted files. A function returns `None` or `false` where those bytes can be
//! invalid; it panics only where its caller breaks a stated rule about lengths, and has no other failure.
#![no_std]
#![deny(unsafe_code)] // only `arch` may, one folder per instruction set

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

#[allow(unsafe_code)]
mod arch;
pub mod bits;
pub mod codes;
pub mod compare;
pub mod distance;
pub mod fsst;
pub mod gather;
pub mod isa;
pub mod kmeans;
pub mod levels;
pub mod many;
pub mod mask;
pub mod parallel;
mod random;
pub mod rle;
pub mod roofline;
pub mod select;
pub mod unpack;

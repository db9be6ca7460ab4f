//! Scans of coded vectors: distances of a query to the rows of a partition, from their codes.
//!
//! | module | codes |
//! |---|---|
//! | [`product`] | numbers of codewords, 8 or 4 bits each: a table look-up for each |
//! | [`scalar`] | a byte for each number |
//!
//! A scan is given blocks of rows, what of them is wanted as a [mask](crate::mask), and the distance from which on
//! rows are of no use; it yields the others as [`Candidates`]. Every distance is bit for bit that of the definition in
//! its module, whatever the instruction set.

mod candidates;
mod columns;
mod kernels;
pub mod product;
pub mod scalar;

pub use candidates::Candidates;
pub(crate) use columns::Columns;
pub(crate) use kernels::Kernels;

use crate::arch::all::prefetch;

/// Asks for the first codes of a partition, as many as a near cache has room for. Who makes the table of the partition
/// next finds them there when it is done.
pub fn prefetch(codes: &[u8]) {
    const LINE: usize = 64;
    const LINES: usize = 512;
    for line in codes.chunks(LINE).take(LINES) {
        prefetch::read(line.as_ptr());
    }
}

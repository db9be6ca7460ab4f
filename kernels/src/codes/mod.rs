//! Scans of coded vectors: distances of a query to the rows of a partition, from their codes.
//!
//! | module | codes |
//! |---|---|
//! | [`product`] | numbers of codewords, 8 or 4 bits each: a table look-up for each |
//! | [`scalar`] | a byte for each number |
//!
//! Every distance is bit for bit that of the definition in its module, whatever the instruction set.

pub mod product;
pub mod scalar;

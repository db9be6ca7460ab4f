//! Masks to row numbers.

use super::Kernels;
use alloc::vec::Vec;

/// Appends `first + row` to `out` for each row in `mask`, ascending.
///
/// # Panics
/// If a number does not fit in 32 bits.
pub fn positions(mask: &[u64], first: u32, out: &mut Vec<u32>) {
    let Some(last) = mask.iter().rposition(|&word| word != 0) else { return };
    let mask = &mask[..=last];
    let highest = last as u64 * 64 + u64::from(mask[last].ilog2());
    assert!(highest + u64::from(first) <= u64::from(u32::MAX), "rows beyond 32 bits");
    (Kernels::current().positions)(mask, first, out);
}

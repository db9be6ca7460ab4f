//! Bits of a mask, by their positions.

use super::Kernels;

/// Sets bit `i` of `out` to bit `positions[i]` of `mask`, for all positions; what lies beyond the mask is not set.
///
/// # Panics
/// If `out` has not `positions.len().div_ceil(64)` words.
pub fn gather(mask: &[u64], positions: &[u64], out: &mut [u64]) {
    super::check(out, positions.len());
    (Kernels::current().gather)(mask, positions, out);
}

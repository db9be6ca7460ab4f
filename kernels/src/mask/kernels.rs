//! The functions over masks that have more than one instruction set.

#[cfg(target_arch = "x86_64")]
use crate::arch::x86_64::{avx2, avx512, detect};
use crate::{arch::portable, isa::Isa};
use alloc::vec::Vec;

/// The kernels of one instruction set.
pub(crate) struct Kernels {
    /// The number of set bits.
    pub(crate) count: fn(&[[u8; 8]]) -> u64,
    /// Appends the sums of the second argument and the positions of set bits, which fit in 32 bits.
    pub(crate) positions: fn(&[u64], u32, &mut Vec<u32>),
    /// As [`gather`](super::gather()), of as many words as the positions need.
    pub(crate) gather: fn(&[u64], &[u64], &mut [u64]),
}

impl Kernels {
    pub(crate) fn current() -> &'static Kernels {
        match Isa::current() {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if detect::vpopcntdq() => &avx512::mask::WITH_COUNT,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => &avx512::mask::TABLE,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => &avx2::mask::TABLE,
            _ => &portable::mask::TABLE,
        }
    }
}

//! What the machine can do at most: the limits that kernels are measured against.

use crate::{arch, isa::Isa};

/// The kernels of an instruction set.
pub(crate) struct Probes {
    pub(crate) read: fn(&[u64]) -> u64,
    pub(crate) multiply_add: fn(usize) -> usize,
}

fn probes() -> &'static Probes {
    match Isa::current() {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => &arch::x86_64::avx512::roofline::PROBES,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => &arch::x86_64::avx2::roofline::PROBES,
        #[cfg(target_arch = "aarch64")]
        Isa::Neon => &arch::aarch64::neon::roofline::PROBES,
        _ => &arch::portable::roofline::PROBES,
    }
}

/// The wrapping sum of all words, read as eight streams side by side that are asked for ahead of time: nothing on one
/// thread reads memory faster by much.
pub fn read(words: &[u64]) -> u64 {
    (probes().read)(words)
}

/// Multiplies and adds f32 numbers in registers, `rounds` times, waiting for nothing; returns how many multiplications
/// and additions that were.
pub fn multiply_add(rounds: usize) -> usize {
    (probes().multiply_add)(rounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn everything_is_read_once() {
        for len in [0, 1, 63, 64, 65, 1000, 4096 + 9] {
            let words: Vec<u64> = (0..len).map(|i| i * i + 1).collect();
            assert_eq!(read(&words), words.iter().sum::<u64>(), "{len} words");
        }
    }

    #[test]
    fn operations_are_counted() {
        assert_eq!(multiply_add(20), 2 * multiply_add(10));
    }
}

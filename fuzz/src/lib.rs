//! What the fuzz targets do: `targets` says what each makes of its input, [`mutate`] how an input is changed
//! so that it stays worth reading, [`seeds`] where the first inputs come from.
//!
//! The programs for libFuzzer in `fuzz_targets/` are [`fuzz!`] and nothing else. The damage tests of the reader
//! replay `regressions/` through the same `targets`, on any Rust; in turn this crate takes from them the
//! allocator that counts, the checks of what is read, and the messages that are damaged field by field.

#[path = "../../reader/tests/common/allocations.rs"]
mod allocations;
#[path = "../../reader/tests/damage/check.rs"]
mod check;
#[allow(dead_code, reason = "the damage tests use more of it")]
#[path = "../../reader/tests/damage/layout.rs"]
mod layout;
pub mod mutate;
mod parts;
#[path = "../../reader/tests/damage/random.rs"]
mod random;
pub mod seeds;
mod targets;
#[path = "../../reader/tests/damage/wire.rs"]
mod wire;

#[cfg(feature = "libfuzzer")]
pub use libfuzzer_sys;

/// The names of all targets.
pub fn names() -> impl Iterator<Item = &'static str> {
    targets::ALL.into_iter().map(|(name, _)| name)
}

/// Runs the target called `name`.
///
/// # Panics
/// If there is a fault in what it reaches, or no such target.
pub fn run(name: &str, input: &[u8]) {
    targets::run(name, input);
}

/// The program of the target with this name.
#[cfg(feature = "libfuzzer")]
#[macro_export]
macro_rules! fuzz {
    ($name:literal) => {
        $crate::libfuzzer_sys::fuzz_target!(|input: &[u8]| $crate::run($name, input));
        $crate::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            let plain = $crate::libfuzzer_sys::fuzzer_mutate;
            $crate::mutate::step($name, data, size, max_size, seed, plain)
        });
    };
}

//! How fast memory can be read and numbers multiplied.

use super::{measure::Vector, prefetch};

/// Words of a line of the cache.
const LINE: usize = 8;
const STREAMS: usize = 8;
/// How many lines ahead of a stream memory is asked for.
const AHEAD: usize = 16;

/// The wrapping sum of all words.
#[inline(always)]
pub(crate) fn read(words: &[u64]) -> u64 {
    let (lines, rest) = words.as_chunks::<LINE>();
    let part = lines.len() / STREAMS;
    let mut sums = [[0u64; LINE]; STREAMS];
    for at in 0..part {
        for (stream, sums) in sums.iter_mut().enumerate() {
            let line = stream * part + at;
            prefetch::read(lines.as_ptr().wrapping_add(line + AHEAD));
            for (sum, word) in sums.iter_mut().zip(&lines[line]) {
                *sum = sum.wrapping_add(*word);
            }
        }
    }
    let left = lines[STREAMS * part..].as_flattened();
    sums.as_flattened().iter().chain(left).chain(rest).fold(0, |all, word| all.wrapping_add(*word))
}

/// Multiplies and adds in twelve independent sums, `rounds` times; returns how many operations that were.
///
/// # Safety
/// The instruction set of `V` is there.
#[inline(always)]
pub(crate) unsafe fn multiply_add<V: Vector<Element = f32>>(rounds: usize) -> usize {
    const SUMS: usize = 12;
    let numbers = core::hint::black_box([0.5f32; 64]);
    // SAFETY: the caller's promise; no register has more lanes than there are numbers.
    unsafe {
        let factor = V::load(numbers.as_ptr());
        let mut sums = [V::zero(); SUMS];
        for _ in 0..rounds {
            for sum in &mut sums {
                *sum = V::add_product(*sum, factor, factor);
            }
        }
        core::hint::black_box(V::totals(sums));
    }
    rounds * SUMS * V::LANES * 2
}

/// Defines `PROBES` under the target features `$features`, with registers `$vector` of f32.
macro_rules! probes {
    ($vector:ty $(, $features:literal)?) => {
        use $crate::{arch::all::roofline, roofline::Probes};

        $(#[target_feature(enable = $features)])?
        fn read(words: &[u64]) -> u64 {
            roofline::read(words)
        }

        $(#[target_feature(enable = $features)])?
        fn multiply_add(rounds: usize) -> usize {
            // SAFETY: this function has the features.
            unsafe { roofline::multiply_add::<$vector>(rounds) }
        }

        #[allow(unused_unsafe)] // where no features are asked for
        pub(crate) static PROBES: Probes = Probes {
            // SAFETY: these are handed out only where the instruction set is there.
            read: |words| unsafe { read(words) },
            // SAFETY: as above.
            multiply_add: |rounds| unsafe { multiply_add(rounds) },
        };
    };
}
pub(crate) use probes;

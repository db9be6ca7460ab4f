//! Repetition and definition levels: one `u16` per entry, mostly small, compared against one threshold.

use crate::bits;

/// Levels that become one word of bits.
const WORD: usize = 64;

/// Sets bit `out_start + i` of `out` to `levels[i] < threshold`, and returns how many it set to one.
///
/// With definition levels, which count the nulls from the leaf up, this is the validity bitmap of a layer.
///
/// # Panics
///
/// If `out` ends before bit `out_start + levels.len()`.
pub fn less_than(levels: &[u16], threshold: u16, out: &mut [u8], out_start: usize) -> usize {
    let (words, rest) = levels.as_chunks::<WORD>();
    let mut ones = 0;
    let mut at = out_start;
    for levels in words {
        let word = less_than_word(levels, threshold);
        ones += word.count_ones() as usize;
        bits::store(out, at, WORD, word);
        at += WORD;
    }
    let mut last = [u16::MAX; WORD];
    last[..rest.len()].copy_from_slice(rest);
    let word = less_than_word(&last, threshold);
    bits::store(out, at, rest.len(), word);
    ones + word.count_ones() as usize
}

/// Bit i is `levels[i] < threshold`.
#[inline(always)]
fn less_than_word(levels: &[u16; WORD], threshold: u16) -> u64 {
    let flags: [u8; WORD] = core::array::from_fn(|i| u8::from(levels[i] < threshold));
    let mut bits = [0; WORD / 8];
    for (bits, &flags) in bits.iter_mut().zip(flags.as_chunks().0) {
        // The product moves the lowest bits of eight bytes, 8 apart, to the eight highest bits, 1 apart.
        *bits = (u64::from_le_bytes(flags).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
    u64::from_le_bytes(bits)
}

/// Levels that are `max` or less.
pub fn count_at_most(levels: &[u16], max: u16) -> usize {
    // Counters as wide as the levels fill whole vectors; the chunks are short enough for them not to wrap.
    let count = |chunk: &[u16]| -> u16 { chunk.iter().map(|&level| u16::from(level <= max)).sum() };
    levels.chunks(u16::MAX as usize).map(|chunk| count(chunk) as usize).sum()
}

/// The highest level, 0 if there are none.
pub fn max(levels: &[u16]) -> u16 {
    levels.iter().fold(0, |max, &level| max.max(level))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, rounds};
    use std::vec::Vec;

    #[test]
    fn against_the_definitions() {
        let mut random = Random(4);
        for round in 0..rounds(2000) {
            let highest = [2, 5, 0x8001, 0x1_0000][round % 4];
            let levels: Vec<u16> = (0..random.below(300)).map(|_| random.below(highest) as u16).collect();
            let threshold = random.below(highest) as u16;
            let out_start = random.below(20);
            let room = (out_start + levels.len()).div_ceil(8) + random.below(3);
            let before = random.bytes(room);

            let mut out = before.clone();
            let ones = less_than(&levels, threshold, &mut out, out_start);
            assert_eq!(ones, levels.iter().filter(|&&level| level < threshold).count());
            for i in 0..out.len() * 8 {
                let level = i.checked_sub(out_start).and_then(|i| levels.get(i));
                let expected = level.map_or(bits::get(&before, i), |&level| level < threshold);
                assert_eq!(bits::get(&out, i), expected, "bit {i}, {} levels at {out_start}", levels.len());
            }

            assert_eq!(
                count_at_most(&levels, threshold),
                levels.iter().filter(|&&level| level <= threshold).count()
            );
            assert_eq!(max(&levels), levels.iter().copied().max().unwrap_or(0));
        }
    }

    #[test]
    fn counters_do_not_wrap() {
        let levels = std::vec![0; 65536 + 1];
        assert_eq!(count_at_most(&levels, 0), levels.len());
    }

    #[test]
    #[should_panic]
    fn no_room() {
        less_than(&[0; 64], 1, &mut [0; 8], 1);
    }
}

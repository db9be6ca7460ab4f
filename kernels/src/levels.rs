//! Repetition and definition levels: one `u16` per entry, mostly small, compared against one threshold.
//!
//! Sets of entries are words of 64 bits: entry i is bit `i % 64` of word `i / 64`, and bits behind the last are zero.

#[cfg(target_arch = "x86_64")]
use crate::arch::x86_64::levels as x86_64;
use crate::bits;

/// Levels that become one word of bits.
pub(crate) const WORD: usize = 64;

/// The words of a set of `entries` entries.
pub const fn words(entries: usize) -> usize {
    entries.div_ceil(WORD)
}

/// Sets `out` to the entries whose level is below `threshold`.
///
/// # Panics
///
/// If `out.len() != words(levels.len())`.
pub fn below(levels: &[u16], threshold: u16, out: &mut [u64]) {
    assert!(out.len() == words(levels.len()), "{} words for {} levels", out.len(), levels.len());
    let (full, rest) = levels.as_chunks::<WORD>();
    #[cfg(target_arch = "x86_64")]
    let below_word = x86_64::below();
    #[cfg(not(target_arch = "x86_64"))]
    let below_word = below_words;
    below_word(full, threshold, out);
    if !rest.is_empty() {
        out[full.len()] = last_below(rest, threshold);
    }
}

/// Sets `out` to the entries whose level is `threshold` or more.
///
/// # Panics
///
/// As [`below`].
pub fn not_below(levels: &[u16], threshold: u16, out: &mut [u64]) {
    below(levels, threshold, out);
    out.iter_mut().for_each(|word| *word = !*word);
    clear_behind(out, levels.len());
}

/// Sets `set` to all of `entries` entries.
///
/// # Panics
///
/// If it has more words than they need.
pub fn fill(set: &mut [u64], entries: usize) {
    assert!(set.len() == words(entries), "{} words for {entries} entries", set.len());
    set.fill(u64::MAX);
    clear_behind(set, entries);
}

fn clear_behind(set: &mut [u64], entries: usize) {
    if let (Some(last), rest @ 1..) = (set.last_mut(), entries % WORD) {
        *last &= u64::MAX >> (WORD - rest);
    }
}

/// Sets the first of `out` to the entries whose level is below `threshold`: one word for each array of levels.
pub(crate) fn below_words(levels: &[[u16; WORD]], threshold: u16, out: &mut [u64]) {
    for (word, levels) in out.iter_mut().zip(levels) {
        *word = below_word(levels, threshold);
    }
}

/// Fewer levels than a word has.
fn last_below(levels: &[u16], threshold: u16) -> u64 {
    let mut last = [u16::MAX; WORD];
    last[..levels.len()].copy_from_slice(levels);
    below_word(&last, threshold) & (u64::MAX >> (WORD - levels.len()))
}

/// Bit i is `levels[i] < threshold`.
#[inline(always)]
fn below_word(levels: &[u16; WORD], threshold: u16) -> u64 {
    let flags: [u8; WORD] = core::array::from_fn(|i| u8::from(levels[i] < threshold));
    let mut bits = [0; WORD / 8];
    for (bits, &flags) in bits.iter_mut().zip(flags.as_chunks().0) {
        // The product moves the lowest bits of eight bytes, 8 apart, to the eight highest bits, 1 apart.
        *bits = (u64::from_le_bytes(flags).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    }
    u64::from_le_bytes(bits)
}

/// Sets bit `out_start + i` of `out` to `levels[i] < threshold`, and returns how many it set to one.
///
/// With definition levels, which count the nulls from the leaf up, this is the validity bitmap of a layer.
///
/// # Panics
///
/// If `out` ends before bit `out_start + levels.len()`.
pub fn less_than(levels: &[u16], threshold: u16, out: &mut [u8], out_start: usize) -> usize {
    /// So many words at a time stay in the nearest cache.
    const BATCH: usize = 32;
    let (mut at, mut ones) = (out_start, 0);
    for levels in levels.chunks(BATCH * WORD) {
        let mut batch = [0; BATCH];
        let words = &mut batch[..words(levels.len())];
        below(levels, threshold, words);
        for (word, levels) in words.iter().zip(levels.chunks(WORD)) {
            bits::store(out, at, levels.len(), *word);
            at += levels.len();
        }
        ones += count(words);
    }
    ones
}

/// The entries of a set.
pub fn count(set: &[u64]) -> usize {
    set.iter().map(|word| word.count_ones() as usize).sum()
}

/// The position of entry number `n` of a set, counted from 0.
pub fn nth(set: &[u64], n: usize) -> Option<usize> {
    let mut left = n;
    for (i, &word) in set.iter().enumerate() {
        let here = word.count_ones() as usize;
        if left < here {
            let rest = (0..left).fold(word, |word, _| word & (word - 1));
            return Some(i * WORD + rest.trailing_zeros() as usize);
        }
        left -= here;
    }
    None
}

/// What [`pack`] appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed {
    /// How many bits.
    pub len: usize,
    /// How many of them are set.
    pub ones: usize,
}

/// Sets the bits of `out` from `out_start` on to one for each entry of `chosen`, in order: whether it is in `set`,
/// too. This is the validity of the elements of a layer, each of which begins at one of the entries.
///
/// # Panics
///
/// If the sets are not of one size, or `out` has no room for all entries of `chosen`.
pub fn pack(set: &[u64], chosen: &[u64], out: &mut [u8], out_start: usize) -> Packed {
    assert!(set.len() == chosen.len(), "sets of {} and {} words", set.len(), chosen.len());
    #[cfg(target_arch = "x86_64")]
    if x86_64::is_usable() {
        return x86_64::pack(set, chosen, out, out_start);
    }
    pack_with(set, chosen, out, out_start, compress)
}

#[inline(always)]
pub(crate) fn pack_with(
    set: &[u64],
    chosen: &[u64],
    out: &mut [u8],
    out_start: usize,
    compress: impl Fn(u64, u64) -> u64,
) -> Packed {
    let mut packed = Packed { len: 0, ones: 0 };
    for (&set, &chosen) in set.iter().zip(chosen) {
        let len = chosen.count_ones() as usize;
        bits::store(out, out_start + packed.len, len, compress(set, chosen));
        packed.len += len;
        packed.ones += (set & chosen).count_ones() as usize;
    }
    packed
}

/// The bits of `word` at the places of `chosen`, moved together to the low end.
fn compress(word: u64, chosen: u64) -> u64 {
    if word & chosen == chosen {
        return u64::MAX.checked_shr(64 - chosen.count_ones()).unwrap_or(0);
    }
    let (mut left, mut out, mut at) = (chosen, 0, 0);
    while left != 0 {
        out |= (word >> left.trailing_zeros() & 1) << at;
        at += 1;
        left &= left - 1;
    }
    out
}

/// Sets `out[i]`, for entry number i of `chosen`, to `base` and the entries of `among` before it. These are the offsets
/// of lists, which begin at the entries of `chosen`, among the elements inside, which begin at those of `among`.
///
/// # Panics
///
/// If the sets are not of one size, or `out` is not as long as `chosen` has entries.
pub fn ranks(chosen: &[u64], among: &[u64], base: u64, out: &mut [u64]) {
    assert!(among.len() == chosen.len(), "sets of {} and {} words", among.len(), chosen.len());
    assert!(count(chosen) == out.len(), "room for each of {} entries", out.len());
    #[cfg(target_arch = "x86_64")]
    if x86_64::is_usable() {
        return x86_64::ranks(chosen, among, base, out);
    }
    ranks_of(chosen, among, base, out);
}

#[inline(always)]
pub(crate) fn ranks_of(chosen: &[u64], among: &[u64], base: u64, out: &mut [u64]) {
    let (mut base, mut out) = (base, out.iter_mut());
    for (&chosen, &among) in chosen.iter().zip(among) {
        let mut left = chosen;
        while left != 0 {
            let before = (left & left.wrapping_neg()) - 1;
            if let Some(out) = out.next() {
                *out = base + u64::from((among & before).count_ones());
            }
            left &= left - 1;
        }
        base += u64::from(among.count_ones());
    }
}

/// Levels that are `max` or less.
pub fn count_at_most(levels: &[u16], max: u16) -> usize {
    // Counters as wide as the levels fill whole vectors; the chunks are short enough for them not to wrap.
    let count = |chunk: &[u16]| -> u16 { chunk.iter().map(|&level| u16::from(level <= max)).sum() };
    levels.chunks(u16::MAX as usize).map(|chunk| count(chunk) as usize).sum()
}

/// The highest level, 0 if there are none.
pub fn max(levels: &[u16]) -> u16 {
    #[cfg(target_arch = "x86_64")]
    if x86_64::is_usable() {
        return x86_64::max(levels);
    }
    max_of(levels)
}

#[inline(always)]
pub(crate) fn max_of(levels: &[u16]) -> u16 {
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

            let mut set = std::vec![7; words(levels.len())];
            below(&levels, threshold, &mut set);
            let in_set = |set: &[u64], i: usize| set[i / 64] >> (i % 64) & 1 == 1;
            let expected: Vec<bool> = levels.iter().map(|&level| level < threshold).collect();
            assert!((0..set.len() * 64).all(|i| in_set(&set, i) == (i < expected.len() && expected[i])));
            assert_eq!(count(&set), ones);
            let mut others = std::vec![7; words(levels.len())];
            not_below(&levels, threshold, &mut others);
            let mut all = std::vec![7; words(levels.len())];
            fill(&mut all, levels.len());
            assert!(set.iter().zip(&others).zip(&all).all(|((a, b), all)| a & b == 0 && a | b == *all));
            assert_eq!(count(&all), levels.len());
            let mut members = (0..levels.len()).filter(|&i| expected[i]);
            assert!((0..=ones).all(|n| nth(&set, n) == members.next()));

            assert_eq!(
                count_at_most(&levels, threshold),
                levels.iter().filter(|&&level| level <= threshold).count()
            );
            assert_eq!(max(&levels), levels.iter().copied().max().unwrap_or(0));
        }
    }

    /// Random sets of `words` words; some words are full, some empty.
    fn set(random: &mut Random, words: usize) -> Vec<u64> {
        (0..words).map(|_| [0, u64::MAX, random.word(), random.word()][random.below(4)]).collect()
    }

    #[test]
    fn elements_of_layers() {
        let mut random = Random(11);
        for _ in 0..rounds(500) {
            let words = random.below(6);
            let (all, chosen) = (set(&mut random, words), set(&mut random, words));
            let member = |set: &[u64], i: usize| set[i / 64] >> (i % 64) & 1 == 1;
            let places: Vec<usize> = (0..words * 64).filter(|&i| member(&chosen, i)).collect();

            let (out_start, room) = (random.below(20), (words * 64 + 20).div_ceil(8));
            let before = random.bytes(room);
            let mut out = before.clone();
            let packed = pack(&all, &chosen, &mut out, out_start);
            let ones = places.iter().filter(|&&i| member(&all, i)).count();
            assert_eq!(packed, Packed { len: places.len(), ones });
            for i in 0..out.len() * 8 {
                let place = i.checked_sub(out_start).and_then(|i| places.get(i));
                let expected = place.map_or(bits::get(&before, i), |&place| member(&all, place));
                assert_eq!(bits::get(&out, i), expected, "bit {i}");
            }

            let mut out = std::vec![0; places.len()];
            ranks(&chosen, &all, 1000, &mut out);
            let rank = |place: usize| 1000 + (0..place).filter(|&i| member(&all, i)).count() as u64;
            assert!(out.iter().zip(&places).all(|(&out, &place)| out == rank(place)));
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

//! Bit sets in bytes, the least significant bit first: bit i is bit `i % 8` of byte `i / 8`.
//!
//! This is the layout of validity and deletion bitmaps, in files and in Arrow. Ranges start and end at any bit, and
//! an empty range may lie anywhere. A function panics if a bit that it is asked for is past the end of its slice.

use crate::mask::Kernels;
use core::ops::Range;

/// Whether bit `i` is set.
#[inline]
pub fn get(bytes: &[u8], i: usize) -> bool {
    bytes[i / 8] >> (i % 8) & 1 != 0
}

/// Sets bit `i`.
#[inline]
pub fn set(bytes: &mut [u8], i: usize) {
    bytes[i / 8] |= 1 << (i % 8);
}

/// Set bits in `range`.
pub fn count_ones(bytes: &[u8], range: Range<usize>) -> usize {
    let Span { edges, whole } = Span::new(range);
    let edges: u32 = edges.iter().flatten().map(|&(i, mask)| (bytes[i] & mask).count_ones()).sum();
    let (words, rest) = bytes[whole].as_chunks();
    let rest: u32 = rest.iter().map(|byte| byte.count_ones()).sum();
    edges as usize + (Kernels::current().count)(words) as usize + rest as usize
}

/// Whether a bit of `range` is set.
pub fn any(bytes: &[u8], range: Range<usize>) -> bool {
    let Span { edges, whole } = Span::new(range);
    edges.iter().flatten().any(|&(i, mask)| bytes[i] & mask != 0) || !is_all(&bytes[whole], 0)
}

/// Whether all bits of `range` are set.
pub fn all(bytes: &[u8], range: Range<usize>) -> bool {
    let Span { edges, whole } = Span::new(range);
    edges.iter().flatten().all(|&(i, mask)| bytes[i] & mask == mask) && is_all(&bytes[whole], 0xff)
}

/// Sets the bits of `range` to `value`.
pub fn fill(bytes: &mut [u8], range: Range<usize>, value: bool) {
    let Span { edges, whole } = Span::new(range);
    let byte = if value { 0xff } else { 0 };
    for (i, mask) in edges.into_iter().flatten() {
        bytes[i] = bytes[i] & !mask | byte & mask;
    }
    bytes[whole].fill(byte);
}

/// Copies `len` bits and leaves the other bits of `dst` as they are.
pub fn copy(dst: &mut [u8], dst_start: usize, src: &[u8], src_start: usize, len: usize) {
    let copy_few = |dst: &mut [u8], done: usize, len: usize| {
        store(dst, dst_start + done, len, load(src, src_start + done, len));
    };
    // Up to a byte boundary of `dst`, then whole words, then what is left.
    let head = (dst_start.wrapping_neg() % 8).min(len);
    let words = (len - head) / 64;
    let tail = (len - head) % 64;
    copy_few(dst, 0, head);
    if words > 0 {
        let body = &mut dst[(dst_start + head) / 8..][..words * 8];
        copy_words(body, src, src_start + head);
    }
    copy_few(dst, len - tail, tail);
}

/// Fills `dst`, whole words of 64 bits, with the bits of `src` from `start` on.
fn copy_words(dst: &mut [u8], src: &[u8], start: usize) {
    let (src, shift) = (&src[start / 8..], start % 8);
    if shift == 0 {
        return dst.copy_from_slice(&src[..dst.len()]);
    }
    // A word's highest bits are in a ninth byte: a second read one byte on has them, and more of the same bits.
    let (low, high) = (&src[..dst.len()], &src[1..][..dst.len()]);
    let sources = low.as_chunks().0.iter().zip(high.as_chunks().0);
    for (word, (&low, &high)) in dst.as_chunks_mut().0.iter_mut().zip(sources) {
        let (low, high) = (u64::from_le_bytes(low), u64::from_le_bytes(high));
        *word = (low >> shift | high << (8 - shift)).to_le_bytes();
    }
}

/// Sets bit `dst_start + i` of `dst` where bit `indices[i]` of `src` is set. The bits of `dst` are zero before.
pub fn gather(dst: &mut [u8], dst_start: usize, src: &[u8], indices: impl Iterator<Item = usize>) {
    let (mut at, mut byte) = (dst_start, 0);
    for index in indices {
        byte |= u8::from(get(src, index)) << (at % 8);
        if at % 8 == 7 {
            dst[at / 8] |= byte;
            byte = 0;
        }
        at += 1;
    }
    if byte != 0 {
        dst[at / 8] |= byte;
    }
}

/// The set bits below `len`, ascending.
pub fn ones(bytes: &[u8], len: usize) -> impl Iterator<Item = usize> {
    let bytes = &bytes[..len.div_ceil(8)];
    (0..len).step_by(64).flat_map(move |start| {
        let mut word = load(bytes, start, (len - start).min(64));
        core::iter::from_fn(move || {
            let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
            word &= word - 1;
            Some(start + bit)
        })
    })
}

/// Bits `start .. start + len` as the low bits of a word, for a `len` up to 64.
fn load(bytes: &[u8], start: usize, len: usize) -> u64 {
    if len == 0 {
        return 0;
    }
    let (bytes, shift) = (&bytes[start / 8..], start % 8);
    let word = match bytes.split_first_chunk() {
        Some((&word, after)) => {
            let ninth = if shift + len > 64 { u64::from(after[0]) << (64 - shift) } else { 0 };
            u64::from_le_bytes(word) >> shift | ninth
        }
        None => {
            let bytes = &bytes[..(shift + len).div_ceil(8)];
            bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)) >> shift
        }
    };
    word & low(len)
}

/// Sets bits `start .. start + len` to the low bits of a word, for a `len` up to 64.
pub(crate) fn store(bytes: &mut [u8], start: usize, len: usize, word: u64) {
    if len == 0 {
        return;
    }
    let (bytes, shift) = (&mut bytes[start / 8..], start % 8);
    let (mask, word) = (low(len), word & low(len));
    match bytes.split_first_chunk_mut() {
        Some((first, after)) => {
            *first = (u64::from_le_bytes(*first) & !(mask << shift) | word << shift).to_le_bytes();
            if shift + len > 64 {
                let part = |word: u64| (word >> (64 - shift)) as u8;
                after[0] = after[0] & !part(mask) | part(word);
            }
        }
        None => {
            let bytes = &mut bytes[..(shift + len).div_ceil(8)];
            for (i, byte) in bytes.iter_mut().enumerate() {
                let part = |word: u64| (word << shift >> (8 * i)) as u8;
                *byte = *byte & !part(mask) | part(word);
            }
        }
    }
}

/// The low `len` bits, for a `len` from 1 to 64.
fn low(len: usize) -> u64 {
    u64::MAX >> (64 - len)
}

/// Whether every byte is `byte`.
fn is_all(bytes: &[u8], byte: u8) -> bool {
    let (words, rest) = bytes.as_chunks();
    words.iter().all(|word| *word == [byte; 32]) && rest.iter().all(|b| *b == byte)
}

/// A range of bits as whole bytes, and masks of the bytes before and after them.
struct Span {
    edges: [Option<(usize, u8)>; 2],
    whole: Range<usize>,
}

impl Span {
    fn new(range: Range<usize>) -> Self {
        if range.is_empty() {
            return Span { edges: [None, None], whole: 0..0 };
        }
        let (first, last) = (range.start / 8, range.end / 8);
        let (head, tail) = (0xff << (range.start % 8), !(0xff << (range.end % 8)));
        if first == last {
            return Span { edges: [Some((first, head & tail)), None], whole: 0..0 };
        }
        let head = (head != 0xff).then_some((first, head));
        let whole = first + head.is_some() as usize..last;
        Span { edges: [head, (tail != 0).then_some((last, tail))], whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, rounds};
    use std::{vec, vec::Vec};

    /// Three bytes in four are all zeros or all ones, as in real bitmaps.
    fn bitmap(random: &mut Random, len: usize) -> Vec<u8> {
        let byte = random.word() as u8;
        let run = [0, 0xff, byte][random.below(3)];
        (0..len).map(|_| if random.below(4) == 0 { random.word() as u8 } else { run }).collect()
    }

    fn range(random: &mut Random, bytes: &[u8]) -> Range<usize> {
        let start = random.below(bytes.len() * 8 + 1);
        start..start + random.below(bytes.len() * 8 + 1 - start)
    }

    #[test]
    fn single_bits() {
        let mut bytes = [0b0000_0010, 0b1000_0000];
        assert_eq!((0..16).filter(|&i| get(&bytes, i)).collect::<Vec<_>>(), [1, 15]);
        set(&mut bytes, 8);
        set(&mut bytes, 15);
        assert_eq!(bytes, [0b0000_0010, 0b1000_0001]);
    }

    #[test]
    fn ranges() {
        let mut random = Random(1);
        for _ in 0..rounds(3000) {
            let len = random.below(70);
            let bytes = bitmap(&mut random, len);
            let range = range(&mut random, &bytes);
            let expected = range.clone().filter(|&i| get(&bytes, i)).count();
            assert_eq!(count_ones(&bytes, range.clone()), expected, "{bytes:x?} {range:?}");
            assert_eq!(any(&bytes, range.clone()), expected > 0, "{bytes:x?} {range:?}");
            assert_eq!(all(&bytes, range.clone()), expected == range.len(), "{bytes:x?} {range:?}");
            assert!(ones(&bytes, range.end).eq((0..range.end).filter(|&i| get(&bytes, i))));

            for value in [false, true] {
                let mut filled = bytes.clone();
                fill(&mut filled, range.clone(), value);
                for i in 0..bytes.len() * 8 {
                    let expected = if range.contains(&i) { value } else { get(&bytes, i) };
                    assert_eq!(get(&filled, i), expected, "bit {i}, filled {range:?}");
                }
            }
        }
    }

    #[test]
    fn short_ranges_at_every_offset() {
        let byte = [0b0110_1001; 3];
        for start in 0..=24 {
            for end in start..=24 {
                let expected = (start..end).filter(|&i| get(&byte, i)).count();
                assert_eq!(count_ones(&byte, start..end), expected);
                assert_eq!(any(&byte, start..end), expected > 0);
                assert_eq!(all(&byte, start..end), expected == end - start);
            }
        }
    }

    #[test]
    fn copies() {
        let mut random = Random(2);
        for _ in 0..rounds(5000) {
            let (src_len, dst_len) = (random.below(70), random.below(70));
            let (src, dst) = (random.bytes(src_len), random.bytes(dst_len));
            let src_start = random.below(src_len * 8 + 1);
            let dst_start = random.below(dst_len * 8 + 1);
            let len = random.below((src_len * 8 - src_start).min(dst_len * 8 - dst_start) + 1);
            let mut copied = dst.clone();
            copy(&mut copied, dst_start, &src, src_start, len);
            for i in 0..dst_len * 8 {
                let within = (dst_start..dst_start + len).contains(&i);
                let expected = if within { get(&src, src_start + (i - dst_start)) } else { get(&dst, i) };
                assert_eq!(get(&copied, i), expected, "bit {i}, {len} bits from {src_start} to {dst_start}");
            }
        }
    }

    #[test]
    fn gathers() {
        let mut random = Random(3);
        for _ in 0..rounds(500) {
            let src = random.bytes(20);
            let indices: Vec<usize> = (0..random.below(200)).map(|_| random.below(160)).collect();
            let dst_start = random.below(20);
            let mut dst = vec![0; (dst_start + indices.len()).div_ceil(8) + 1];
            gather(&mut dst, dst_start, &src, indices.iter().copied());
            for i in 0..dst.len() * 8 {
                let index = i.checked_sub(dst_start).and_then(|i| indices.get(i));
                assert_eq!(get(&dst, i), index.is_some_and(|&index| get(&src, index)));
            }
        }
    }

    #[test]
    fn empty_ranges_lie_anywhere() {
        assert_eq!(count_ones(&[], 100..100), 0);
        assert!(!any(&[], 100..100) && all(&[], 100..100));
        fill(&mut [], 100..100, true);
        copy(&mut [], 100, &[], 100, 0);
    }

    #[test]
    #[should_panic]
    fn copy_from_past_the_end() {
        copy(&mut [0; 32], 0, &[0; 31], 1, 248);
    }
}

//! Bit sets in bytes, the least significant bit first: bit i is bit `i % 8` of byte `i / 8`.
//!
//! This is the layout of validity and deletion bitmaps, in files and in Arrow. Ranges start and end at any bit, and
//! an empty range may lie anywhere. A function panics if a bit that it is asked for is past the end of its slice.

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
    let words: u64 = words.iter().map(|&word| u64::from_le_bytes(word).count_ones() as u64).sum();
    edges as usize + words as usize + rest as usize
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
    // Up to the first byte boundary of `dst`, then 64 bits at a time, then what is left.
    let head = (dst_start.wrapping_neg() % 8).min(len);
    store(dst, dst_start, head, load(src, src_start, head));

    let words = (len - head) / 64;
    let start = src_start + head;
    let (from, shift) = (&src[start / 8..], start % 8);
    let body = &mut dst[(dst_start + head) / 8..][..words * 8];
    if shift == 0 {
        body.copy_from_slice(&from[..words * 8]);
    } else if words > 0 {
        let from = &from[..words * 8 + 1];
        let high = from[8..].iter().step_by(8);
        for ((word, &low), &high) in body.as_chunks_mut().0.iter_mut().zip(from.as_chunks().0).zip(high) {
            *word = (u64::from_le_bytes(low) >> shift | (high as u64) << (64 - shift)).to_le_bytes();
        }
    }

    let done = head + words * 64;
    store(dst, dst_start + done, len - done, load(src, src_start + done, len - done));
}

/// Sets bit `dst_start + i` of `dst` where bit `indices[i]` of `src` is set. The bits of `dst` are zero before.
pub fn gather(dst: &mut [u8], dst_start: usize, src: &[u8], indices: impl Iterator<Item = usize>) {
    for (i, index) in indices.enumerate() {
        let i = dst_start + i;
        dst[i / 8] |= (get(src, index) as u8) << (i % 8);
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
    let bytes = &bytes[touched(start, len)];
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    (u128::from_le_bytes(wide) >> (start % 8)) as u64 & low(len)
}

/// Sets bits `start .. start + len` to the low bits of a word, for a `len` up to 64.
pub(crate) fn store(bytes: &mut [u8], start: usize, len: usize, word: u64) {
    let bytes = &mut bytes[touched(start, len)];
    let mut wide = [0; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let (mask, word) = (u128::from(low(len)) << (start % 8), u128::from(word & low(len)) << (start % 8));
    let wide = (u128::from_le_bytes(wide) & !mask | word).to_le_bytes();
    bytes.copy_from_slice(&wide[..bytes.len()]);
}

/// The bytes that hold bits `start .. start + len`, at most nine.
fn touched(start: usize, len: usize) -> Range<usize> {
    start / 8..if len == 0 { start / 8 } else { (start + len).div_ceil(8) }
}

/// The low `len` bits, for a `len` up to 64.
fn low(len: usize) -> u64 {
    if len == 0 { 0 } else { u64::MAX >> (64 - len) }
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

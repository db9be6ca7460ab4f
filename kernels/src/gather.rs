//! Items picked by index: those of one width, and texts.

use alloc::vec::Vec;

/// Copies item `indices[i]` of `src` to item i of `dst`; items are `width` bytes each.
///
/// # Panics
///
/// If `dst.len() != indices.len() * width` or an item is past the end of `src`.
pub fn fixed(width: usize, src: &[u8], indices: &[u32], dst: &mut [u8]) {
    assert!(
        Some(dst.len()) == indices.len().checked_mul(width),
        "room for {} items of {width} bytes",
        indices.len()
    );
    match width {
        0 => {}
        1 => array::<1>(src, indices, dst),
        2 => array::<2>(src, indices, dst),
        4 => array::<4>(src, indices, dst),
        8 => array::<8>(src, indices, dst),
        16 => array::<16>(src, indices, dst),
        _ => {
            for (item, &index) in dst.chunks_exact_mut(width).zip(indices) {
                let start = width.checked_mul(index as usize).expect("the item is in the slice");
                item.copy_from_slice(&src[start..][..width]);
            }
        }
    }
}

fn array<const WIDTH: usize>(src: &[u8], indices: &[u32], dst: &mut [u8]) {
    let src = src.as_chunks::<WIDTH>().0;
    for (item, &index) in dst.as_chunks_mut().0.iter_mut().zip(indices) {
        *item = src[index as usize];
    }
}

/// Asks for the memory around byte `at`, if there is one: whoever reads it soon does not wait for it.
#[inline]
pub fn prefetch(bytes: &[u8], at: usize) {
    if let Some(byte) = bytes.get(at) {
        crate::arch::all::prefetch::read(core::ptr::from_ref(byte));
    }
}

/// A 32- or 64-bit offset of a text.
pub trait Offset: Copy {
    /// As a position; a negative one is beyond every slice.
    fn position(self) -> usize;
}

impl Offset for i32 {
    #[inline(always)]
    fn position(self) -> usize {
        usize::try_from(self).unwrap_or(usize::MAX)
    }
}

impl Offset for i64 {
    #[inline(always)]
    fn position(self) -> usize {
        usize::try_from(self).unwrap_or(usize::MAX)
    }
}

/// Copies texts `indices` of `data` to `out`, end to end. Text i is bytes `offsets[i] .. offsets[i + 1]` of `data`.
///
/// Texts that have 16 bytes behind their beginning, in `data` and in `out`, are copied fastest: `data` should end with
/// some that belong to no text.
///
/// # Panics
///
/// If a text is not there, or they do not fit `out`.
pub fn texts<O: Offset>(offsets: &[O], data: &[u8], indices: &[u32], out: &mut [u8]) {
    let mut at = 0;
    for &index in indices {
        let index = index as usize;
        let (start, end) = (offsets[index].position(), offsets[index + 1].position());
        let len = end.wrapping_sub(start);
        // So many bytes at once, whatever the length, take a load and a store.
        if !(len <= 16 && copy::<16>(data, start, out, at) || len <= 32 && copy::<32>(data, start, out, at)) {
            out[at..][..len].copy_from_slice(&data[start..end]);
        }
        at += len;
    }
    assert!(at <= out.len(), "room for texts of {at} bytes");
}

/// Texts of at most 16 bytes, each at the beginning of 16 of its own: the fastest to copy.
#[derive(Debug, Clone)]
pub struct ShortTexts {
    texts: Vec<[u8; 16]>,
    lengths: Vec<u8>,
}

impl ShortTexts {
    /// All texts of `data`, the i-th of which is bytes `offsets[i] .. offsets[i + 1]`; `None` if one is longer.
    ///
    /// # Panics
    ///
    /// If a text is not there.
    pub fn new<O: Offset>(offsets: &[O], data: &[u8]) -> Option<Self> {
        let count = offsets.len().saturating_sub(1);
        let mut short = ShortTexts { texts: Vec::with_capacity(count), lengths: Vec::with_capacity(count) };
        for bounds in offsets.windows(2) {
            let text = &data[bounds[0].position()..bounds[1].position()];
            let mut padded = [0; 16];
            padded.get_mut(..text.len())?.copy_from_slice(text);
            short.texts.push(padded);
            short.lengths.push(text.len() as u8);
        }
        Some(short)
    }

    /// The length of each text.
    pub fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// Copies texts `indices` to `out`, end to end.
    ///
    /// # Panics
    ///
    /// If a text is not there, or they do not fit `out`.
    pub fn copy(&self, indices: &[u32], out: &mut [u8]) {
        let mut at = 0;
        for &index in indices {
            let (text, len) = (&self.texts[index as usize], self.lengths[index as usize] as usize);
            match out.get_mut(at..).and_then(|out| out.first_chunk_mut()) {
                Some(room) => *room = *text,
                None => out[at..][..len].copy_from_slice(&text[..len]),
            }
            at += len;
        }
    }
}

/// Copies `N` bytes, if they are there and there is room for them.
#[inline(always)]
fn copy<const N: usize>(from: &[u8], start: usize, to: &mut [u8], at: usize) -> bool {
    let from = from.get(start..).and_then(|from| from.first_chunk::<N>());
    match (from, to.get_mut(at..).and_then(|to| to.first_chunk_mut::<N>())) {
        (Some(from), Some(to)) => {
            *to = *from;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::{vec, vec::Vec};

    #[test]
    fn all_widths() {
        let mut random = Random(5);
        for width in 0..=40usize {
            // A last item that is cut off must not be picked, nor disturb the others.
            let src = random.bytes(20 * width + width.saturating_sub(1));
            let indices: Vec<u32> = (0..15).map(|_| random.below(20) as u32).collect();
            let mut dst = vec![0; 15 * width];
            fixed(width, &src, &indices, &mut dst);
            let items = indices.iter().flat_map(|&i| &src[i as usize * width..][..width]);
            assert!(dst.iter().eq(items), "width {width}");
        }
    }

    #[test]
    fn texts_of_all_lengths() {
        let mut random = Random(7);
        for round in 0..200 {
            let lengths: Vec<usize> = (0..1 + random.below(20)).map(|_| random.below(50)).collect();
            let mut offsets = vec![0i64];
            offsets.extend(lengths.iter().scan(0, |end, len| {
                *end += *len as i64;
                Some(*end)
            }));
            let slack = [0, 16][round % 2];
            let data = random.bytes(*offsets.last().unwrap() as usize + slack);
            let indices: Vec<u32> =
                (0..random.below(40)).map(|_| random.below(lengths.len()) as u32).collect();
            let text = |i: u32| &data[offsets[i as usize] as usize..offsets[i as usize + 1] as usize];
            let expected: Vec<u8> = indices.iter().flat_map(|&i| text(i)).copied().collect();
            let mut out = vec![0; expected.len()];
            texts(&offsets, &data, &indices, &mut out);
            assert_eq!(out, expected);
            let narrow: Vec<i32> = offsets.iter().map(|&offset| offset as i32).collect();
            out.fill(1);
            texts(&narrow, &data, &indices, &mut out);
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn short_texts() {
        let mut random = Random(9);
        for round in 0..200 {
            let mut offsets = vec![0i32];
            for _ in 0..1 + random.below(20) {
                offsets.push(offsets[offsets.len() - 1] + random.below(17) as i32);
            }
            let data = random.bytes(*offsets.last().unwrap() as usize);
            let short = ShortTexts::new(&offsets, &data).unwrap();
            let count = offsets.len() - 1;
            let indices: Vec<u32> = (0..random.below(60)).map(|_| random.below(count) as u32).collect();
            let text = |i: u32| &data[offsets[i as usize] as usize..offsets[i as usize + 1] as usize];
            let expected: Vec<u8> = indices.iter().flat_map(|&i| text(i)).copied().collect();
            let total: usize = indices.iter().map(|&i| short.lengths()[i as usize] as usize).sum();
            assert_eq!(total, expected.len());
            let mut out = vec![1; expected.len() + round % 20];
            short.copy(&indices, &mut out);
            assert_eq!(out[..total], expected);
        }
        assert!(ShortTexts::new(&[0i64, 17], &[0; 17]).is_none());
    }

    #[test]
    #[should_panic]
    fn short_text_without_room() {
        ShortTexts::new(&[0i32, 5], &[0; 5]).unwrap().copy(&[0, 0], &mut [0; 9]);
    }

    #[test]
    #[should_panic]
    fn text_that_goes_back() {
        texts(&[0i32, 5, 3], &[0; 64], &[1], &mut [0; 64]);
    }

    #[test]
    #[should_panic]
    fn text_without_room() {
        texts(&[0i32, 5], &[0; 64], &[0, 0], &mut [0; 9]);
    }

    #[test]
    #[should_panic]
    fn item_past_the_end() {
        fixed(4, &[0; 11], &[2], &mut [0; 4]);
    }

    #[test]
    #[should_panic = "room for 2 items of 3 bytes"]
    fn wrong_room() {
        fixed(3, &[0; 9], &[0, 1], &mut [0; 7]);
    }
}

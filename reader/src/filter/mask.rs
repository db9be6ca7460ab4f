//! [`Mask`]: a set of the rows of a range.

use lancet_format::{Bitmap, Buffer};
use std::ops::Range;

/// One bit for each row of a range. The bits behind the last row are not set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mask {
    words: Vec<u64>,
    len: usize,
}

impl Mask {
    /// A mask of `len` rows, all or none of them in the set.
    pub(crate) fn filled(len: usize, value: bool) -> Self {
        let mut mask = Mask::default();
        mask.fill(len, value);
        mask
    }

    /// Makes this a mask of `len` rows, all or none of them in the set; keeps its room.
    pub(crate) fn fill(&mut self, len: usize, value: bool) {
        self.words.clear();
        self.words.resize(len.div_ceil(64), if value { u64::MAX } else { 0 });
        self.len = len;
        if value && !len.is_multiple_of(64) {
            *self.words.last_mut().expect("there is a last word") = (1 << (len % 64)) - 1;
        }
    }

    /// Takes all rows out of the set.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The number of rows in the range.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The bits; those behind the last row are not set.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The bits; whoever writes them leaves those behind the last row unset.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Whether row `row` is in the set.
    pub(crate) fn get(&self, row: usize) -> bool {
        self.words[row / 64] >> (row % 64) & 1 == 1
    }

    /// Puts row `row` into the set, or takes it out.
    pub(crate) fn set(&mut self, row: usize, value: bool) {
        let bit = 1 << (row % 64);
        match value {
            true => self.words[row / 64] |= bit,
            false => self.words[row / 64] &= !bit,
        }
    }

    /// Puts the rows of `range` into the set.
    pub(crate) fn set_range(&mut self, range: Range<usize>) {
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min((start / 64 + 1) * 64);
            let bits = u64::MAX >> (64 - (end - start));
            self.words[start / 64] |= bits << (start % 64);
            start = end;
        }
    }

    /// The number of rows in the set.
    pub(crate) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether no row is in the set.
    pub(crate) fn is_none(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Keeps the rows that are in `other` too.
    pub(crate) fn and(&mut self, other: &Mask) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    /// Adds the rows of `other`.
    pub(crate) fn or(&mut self, other: &Mask) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Takes out the rows of `other`.
    pub(crate) fn and_not(&mut self, other: &Mask) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// Keeps the rows whose bit is set, `bits` being one for each row.
    pub(crate) fn and_bits(&mut self, bits: &Bitmap) {
        debug_assert_eq!(bits.len(), self.len);
        let (words, rest) = bits.buffer().as_slice()[..self.len.div_ceil(8)].as_chunks();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let bits = words.iter().chain(std::iter::once(&last)).map(|&word| u64::from_le_bytes(word));
        self.words.iter_mut().zip(bits).for_each(|(word, bits)| *word &= bits);
    }

    /// Keeps the rows for which `test` is true; it is called for each of them once, in order.
    pub(crate) fn retain(&mut self, mut test: impl FnMut(usize) -> bool) {
        for (i, word) in self.words.iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                if !test(i * 64 + bit) {
                    *word &= !(1 << bit);
                }
            }
        }
    }

    /// One bit for each row, as columns hold them.
    pub(crate) fn to_bitmap(&self) -> Bitmap {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(self.len.div_ceil(8));
        Bitmap::new(Buffer::copy_of(&bytes), self.len)
    }

    /// The rows in the set, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                (left != 0).then(|| {
                    left &= left - 1;
                    i * 64 + bit
                })
            })
        })
    }

    /// The rows in the set from `start` on, ascending.
    pub(crate) fn iter_from(&self, start: usize) -> impl Iterator<Item = usize> + '_ {
        let mut next = start;
        std::iter::from_fn(move || {
            let row = self.find(next, true)?;
            next = row + 1;
            Some(row)
        })
    }

    /// The rows in the set as ranges, ascending and apart.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut from = 0;
        std::iter::from_fn(move || {
            let start = self.find(from, true)?;
            from = self.find(start, false).unwrap_or(self.len);
            Some(start..from)
        })
    }

    /// The first row from `from` on that is in the set, or not.
    fn find(&self, from: usize, value: bool) -> Option<usize> {
        let flip = if value { 0 } else { u64::MAX };
        let mut word = from / 64;
        let mut left = (self.words.get(word)? ^ flip) & u64::MAX << (from % 64);
        while left == 0 {
            word += 1;
            left = self.words.get(word)? ^ flip;
        }
        let row = word * 64 + left.trailing_zeros() as usize;
        (row < self.len).then_some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_ranges() {
        for len in [0, 1, 63, 64, 65, 200] {
            let mut mask = Mask::filled(len, true);
            assert_eq!((mask.count(), mask.ranges().next()), (len, (len > 0).then_some(0..len)));
            for row in (0..len).filter(|row| row % 5 == 0) {
                mask.set(row, false);
            }
            let rows: Vec<_> = (0..len).filter(|row| row % 5 != 0).collect();
            assert_eq!(mask.iter().collect::<Vec<_>>(), rows);
            assert_eq!(mask.ranges().flatten().collect::<Vec<_>>(), rows);
        }
    }
}

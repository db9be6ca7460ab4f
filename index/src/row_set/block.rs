//! [`Block`]: 65,536 rows as bits, in which sets of any layout are put together.

use lancet_format::table::Numbers;

pub(super) const WORDS: usize = 1 << 10;

/// Rows with one upper half, bit i of word i / 64 for row i.
pub(super) struct Block([u64; WORDS]);

impl Block {
    /// No rows.
    pub(super) fn new() -> Self {
        Block([0; WORDS])
    }

    /// Makes these the rows; there are as many words as a block has.
    pub(super) fn assign(&mut self, words: &[u64]) {
        self.0.copy_from_slice(words);
    }

    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }

    pub(super) fn words(&self) -> &[u64; WORDS] {
        &self.0
    }

    /// Adds rows.
    pub(super) fn insert(&mut self, rows: Numbers<'_>) {
        match rows {
            Numbers::Array(rows) => rows.iter().for_each(|row| self.set(number(row))),
            Numbers::Runs(runs) => runs.iter().for_each(|run| {
                let (start, last) = bounds(run);
                self.for_words(start, last, |word, mask| *word |= mask);
            }),
            Numbers::Bits(words) => {
                for (own, word) in self.0.iter_mut().zip(words) {
                    *own |= u64::from_le_bytes(*word);
                }
            }
        }
    }

    /// Takes rows out.
    pub(super) fn remove(&mut self, rows: Numbers<'_>) {
        match rows {
            Numbers::Array(rows) => rows.iter().for_each(|row| {
                let row = number(row);
                self.0[usize::from(row) / 64] &= !(1 << (row % 64));
            }),
            Numbers::Runs(runs) => runs.iter().for_each(|run| {
                let (start, last) = bounds(run);
                self.for_words(start, last, |word, mask| *word &= !mask);
            }),
            Numbers::Bits(words) => {
                for (own, word) in self.0.iter_mut().zip(words) {
                    *own &= !u64::from_le_bytes(*word);
                }
            }
        }
    }

    /// Keeps only the rows that are also in `rows`.
    pub(super) fn retain(&mut self, rows: Numbers<'_>) {
        if let Numbers::Bits(words) = rows {
            for (own, word) in self.0.iter_mut().zip(words) {
                *own &= u64::from_le_bytes(*word);
            }
            return;
        }
        let mut kept = Block::new();
        kept.insert(rows);
        for (own, kept) in self.0.iter_mut().zip(&kept.0) {
            *own &= kept;
        }
    }

    pub(super) fn set(&mut self, row: u16) {
        self.0[usize::from(row) / 64] |= 1 << (row % 64);
    }

    fn for_words(&mut self, start: u16, last: u16, mut change: impl FnMut(&mut u64, u64)) {
        let (first_word, last_word) = (usize::from(start) / 64, usize::from(last) / 64);
        let (head, tail) = (u64::MAX << (start % 64), u64::MAX >> (63 - last % 64));
        if first_word == last_word {
            return change(&mut self.0[first_word], head & tail);
        }
        change(&mut self.0[first_word], head);
        self.0[first_word + 1..last_word].iter_mut().for_each(|word| change(word, u64::MAX));
        change(&mut self.0[last_word], tail);
    }

    /// How many rows, and in how many runs.
    pub(super) fn count(&self) -> (u32, u32) {
        let (mut rows, mut runs, mut last) = (0, 0, 0);
        for &word in &self.0 {
            rows += word.count_ones();
            // A run starts where a bit is set and the one before is not.
            runs += (word & !(word << 1 | last)).count_ones();
            last = word >> 63;
        }
        (rows, runs)
    }

    /// The rows, ascending.
    pub(super) fn rows(&self) -> impl Iterator<Item = u16> + '_ {
        self.0.iter().zip((0u32..).step_by(64)).flat_map(|(&word, start)| {
            let mut rest = word;
            core::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some((start + bit) as u16)
            })
        })
    }

    /// The first and the last row of each run, ascending.
    pub(super) fn runs(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        let mut at = 0;
        core::iter::from_fn(move || {
            let start = self.next(at, 0)?;
            let end = self.next(start, u64::MAX).unwrap_or(WORDS as u32 * 64);
            at = end;
            Some((start as u16, (end - 1) as u16))
        })
    }

    /// The first bit at or behind `from` that differs from the bits of `background`.
    fn next(&self, from: u32, background: u64) -> Option<u32> {
        let words = self.0.get(from as usize / 64..)?;
        let mut mask = u64::MAX << (from % 64);
        for (word, start) in words.iter().zip((from / 64 * 64..).step_by(64)) {
            let found = (word ^ background) & mask;
            if found != 0 {
                return Some(start + found.trailing_zeros());
            }
            mask = u64::MAX;
        }
        None
    }
}

/// A row of an array.
#[inline]
pub(super) fn number(row: &[u8; 2]) -> u16 {
    u16::from_le_bytes(*row)
}

/// The first and the last row of a run.
#[inline]
pub(super) fn bounds(run: &[u8; 4]) -> (u16, u16) {
    let start = u16::from_le_bytes([run[0], run[1]]);
    // The sum stays below 65,536 in a set that was checked.
    (start, start.saturating_add(u16::from_le_bytes([run[2], run[3]])))
}

/// A run as it is stored.
#[inline]
pub(super) fn run(start: u16, last: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (start.to_le_bytes(), (last - start).to_le_bytes());
    [a, b, c, d]
}

/// Whether a row is among `rows`.
pub(super) fn contains(rows: Numbers<'_>, row: u16) -> bool {
    match rows {
        Numbers::Array(rows) => rows.binary_search_by_key(&row, number).is_ok(),
        Numbers::Runs(runs) => {
            let after = runs.partition_point(|run| bounds(run).0 <= row);
            after > 0 && row <= bounds(&runs[after - 1]).1
        }
        Numbers::Bits(words) => u64::from_le_bytes(words[usize::from(row) / 64]) >> (row % 64) & 1 != 0,
    }
}

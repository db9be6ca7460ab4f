//! Ends: how binary values and lists of one page are cut out of the bytes or items behind them.
//!
//! ```text
//! rows × u64     end            where the row ends; it begins where the row before it does, the first at 0
//!                end + adj      the same for a null row; adj is larger than every end
//! ```
//! `["a", null, "bcd"]` with `adj` 5 is `1, 6, 4`.

use super::data::Flat;
use crate::{Error, Result, Window, bitmap::BitmapBuilder};
use alloc::{format, string::String, vec};
use core::ops::Range;
use lancet_kernels::bits;

const WIDTH: usize = size_of::<u64>();

/// The ends of one page.
#[derive(Debug)]
pub(super) struct Ends {
    words: Flat,
    adjustment: u64,
    /// How many bytes or items there are to cut.
    limit: u64,
}

impl Ends {
    /// `words` are rows of 64 bits.
    pub(super) fn new(words: Flat, adjustment: u64, limit: u64) -> Self {
        debug_assert_eq!(words.width(), WIDTH);
        Ends { words, adjustment, limit }
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Where `rows` begin and end, unchecked.
    pub(super) fn span(&self, rows: Range<usize>) -> Result<Range<u64>> {
        let end = |row: usize| -> Result<u64> {
            let word = self.words.rows(row..row + 1)?;
            Ok(words(&word).next().map_or(0, |word| plain(word, self.adjustment)))
        };
        match rows.is_empty() {
            true => Ok(0..0),
            false => Ok(rows.start.checked_sub(1).map_or(Ok(0), end)?..end(rows.end - 1)?),
        }
    }

    /// Where `rows` (not empty) lie, checked: ascending, and within what there is to cut.
    pub(super) fn cut(&self, rows: Range<usize>) -> Result<Cuts<'_>> {
        let before = rows.start.saturating_sub(1);
        let window = self.words.rows(before..rows.end)?;
        let skip = (rows.start - before) * WIDTH;
        let first = match skip {
            0 => 0,
            _ => words(&window[..skip]).next().map_or(0, |word| plain(word, self.adjustment)),
        };
        let (mut last, mut nulls) = (first, 0);
        for (i, word) in words(&window[skip..]).enumerate() {
            let end = plain(word, self.adjustment);
            if end < last {
                return Err(
                    self.bad(rows.start + i, format!("expected ascending ends, found {end} behind {last}"))
                );
            }
            last = end;
            nulls += usize::from(word >= self.adjustment);
        }
        if last >= self.adjustment || last > self.limit {
            return Err(self.bad(
                rows.end - 1,
                format!(
                    "expected ends up to {} and below the null adjustment {}, found {last}",
                    self.limit, self.adjustment
                ),
            ));
        }
        Ok(Cuts { window, skip, adjustment: self.adjustment, first, last, nulls })
    }

    /// The end of `row` cannot be.
    #[cold]
    pub(super) fn bad(&self, row: usize, message: String) -> Error {
        Error::corrupt(format!("row {row} of the page: {message}"))
            .at(self.words.data.position_of(row * WIDTH))
    }
}

/// The ends of some rows of a page.
#[derive(Debug)]
pub(super) struct Cuts<'a> {
    window: Window<'a>,
    /// Bytes of the window before the first row asked for.
    skip: usize,
    adjustment: u64,
    /// Where the first row begins.
    pub(super) first: u64,
    /// Where the last row ends.
    pub(super) last: u64,
    /// How many rows are null.
    pub(super) nulls: usize,
}

impl Cuts<'_> {
    fn words(&self) -> impl ExactSizeIterator<Item = u64> {
        words(&self.window[self.skip..])
    }

    /// The end of each row, counted from where the first row begins.
    pub(super) fn ends(&self) -> impl ExactSizeIterator<Item = usize> {
        self.words().map(|word| (plain(word, self.adjustment) - self.first) as usize)
    }

    /// Appends which rows are not null.
    pub(super) fn append_validity(&self, validity: &mut BitmapBuilder) {
        let rows = self.words().len();
        if self.nulls == 0 {
            return validity.append_n(rows, true);
        }
        let mut valid = vec![0; rows.div_ceil(8)];
        for (row, word) in self.words().enumerate() {
            if word < self.adjustment {
                bits::set(&mut valid, row);
            }
        }
        validity.append_bits(&valid, 0, rows);
    }
}

fn words(bytes: &[u8]) -> impl ExactSizeIterator<Item = u64> {
    bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word))
}

/// The end that a word states.
fn plain(word: u64, adjustment: u64) -> u64 {
    word.checked_sub(adjustment).unwrap_or(word)
}

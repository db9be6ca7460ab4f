//! [`Lookup`]: the table of a query and a partition, and the scan of its rows.

use super::{
    Layout,
    bounds::{Bounds, Limit},
    sums,
};
use crate::{
    codes::{Candidates, Columns, Kernels},
    mask,
};
use alloc::vec::Vec;
use core::ops::Range;

/// Rows that are looked at together: their sums and bits stay in the nearest cache.
const BLOCK: usize = 1024;

/// Fewer rows than one in so many are summed by themselves, not with all others. Whole searches take as long with 4 or 16.
const FEW: usize = 8;

/// A table and the room for its scans, reused from partition to partition.
#[derive(Debug, Clone, Default)]
pub struct Lookup {
    layout: Option<Layout>,
    table: Vec<f32>,
    bounds: Bounds,
    /// Codes of a block that lay row by row.
    turned: Vec<u8>,
}

impl Lookup {
    /// Has `fill` write the table of another query or partition: a number for each codeword of each part.
    pub fn start(&mut self, layout: Layout, fill: impl FnOnce(&mut [f32])) {
        layout.check();
        self.layout = Some(layout);
        self.table.resize(layout.parts * layout.codewords(), 0.0);
        fill(&mut self.table);
        self.bounds.start(layout, &self.table, Kernels::current());
    }

    /// Adds to `out` those of the rows `block` of a partition of `rows`, whose codes are `codes`, that are not above
    /// `threshold`; a NaN is above every threshold. Only rows whose bit in `kept` is set are looked at; bit 0 is that
    /// of the first row of the block.
    ///
    /// # Panics
    /// If no table was [started](Self::start), if there are not codes of all rows or not all rows of the block,
    /// if a position does not fit 32 bits, or if there are not `block.len().div_ceil(64)` words of `kept`.
    pub fn scan(
        &mut self,
        codes: &[u8],
        rows: usize,
        block: Range<usize>,
        kept: Option<&[u64]>,
        threshold: f32,
        out: &mut Candidates,
    ) {
        let layout = self.layout.expect("a table");
        assert!(block.end <= u32::MAX as usize, "positions of 32 bits");
        if let Some(kept) = kept {
            assert_eq!(kept.len(), block.len().div_ceil(64), "words of a mask of these rows");
        }
        for at in (0..block.len()).step_by(BLOCK) {
            let count = BLOCK.min(block.len() - at);
            let kept = kept.map(|kept| &kept[at / 64..(at + count).div_ceil(64)]);
            if kept.is_none_or(mask::any) {
                self.scan_block(layout, codes, rows, block.start + at, count, kept, threshold, out);
            }
        }
    }

    #[allow(clippy::too_many_arguments)] // one block of a scan
    fn scan_block(
        &mut self,
        layout: Layout,
        codes: &[u8],
        rows: usize,
        start: usize,
        count: usize,
        kept: Option<&[u64]>,
        threshold: f32,
        out: &mut Candidates,
    ) {
        let limit = self.bounds.limit(threshold);
        if limit == Limit::None {
            return;
        }
        let kernels = Kernels::current();
        let bytes = layout.row_bytes();
        let columns = if layout.transposed {
            Columns::new(codes, bytes, rows, start, count)
        } else {
            turn(&codes[start * bytes..(start + count) * bytes], bytes, count, &mut self.turned);
            Columns::new(&self.turned, bytes, count, 0, count)
        };
        let first = start as u32;
        let mut words = [!0; BLOCK / 64];
        let words = &mut words[..count.div_ceil(64)];
        if let Some(kept) = kept {
            words.copy_from_slice(kept);
        }
        if let Some(last) = words.last_mut() {
            *last &= !0 >> (count.wrapping_neg() % 64);
        }
        let are_few = |words: &[u64]| mask::count(words) < count.div_ceil(FEW);
        let within = if layout.bits == 8 { kernels.within_of_8 } else { kernels.within_of_4 };
        if let (Limit::Gap(gap), Some(within), false) = (limit, within, are_few(words)) {
            let sum = self.bounds.sum(&self.table, kernels, gap);
            let mut near = [0; BLOCK / 64];
            within(&columns, self.bounds.bytes(), sum, &mut near[..words.len()]);
            mask::and(words, &near[..words.len()]);
        }
        if are_few(words) {
            return pick(kernels, layout, &self.table, &columns, words, first, threshold, out);
        }
        let mut distances = [0.0; BLOCK];
        let distances = &mut distances[..count];
        sums(kernels, layout, &columns, &self.table, distances);
        (kernels.pick)(first, distances, Some(words), threshold, out);
    }
}

/// Adds the rows in `mask` that are near enough, of which there are few.
#[allow(clippy::too_many_arguments)] // one block of a scan
fn pick(
    kernels: &Kernels,
    layout: Layout,
    table: &[f32],
    columns: &Columns<'_>,
    mask: &[u64],
    first: u32,
    threshold: f32,
    out: &mut Candidates,
) {
    let (mut rows, mut distances) = ([0; BLOCK / FEW], [0.0; BLOCK / FEW]);
    let mut count = 0;
    for (to, row) in rows.iter_mut().zip(mask::ones(mask)) {
        *to = row as u32;
        count += 1;
    }
    let (rows, distances) = (&rows[..count], &mut distances[..count]);
    match layout.bits {
        8 => (kernels.few_of_8)(columns, table, rows, distances),
        _ => (kernels.few_of_4)(columns, table, rows, distances),
    }
    for (&row, &distance) in rows.iter().zip(&*distances) {
        out.push(first + row, distance, threshold);
    }
}

/// Lays codes that lie row by row byte by byte.
fn turn(codes: &[u8], bytes: usize, rows: usize, out: &mut Vec<u8>) {
    out.resize(rows * bytes, 0);
    for (row, codes) in codes.chunks_exact(bytes.max(1)).enumerate() {
        for (byte, &code) in codes.iter().enumerate() {
            out[byte * rows + row] = code;
        }
    }
}

//! Where the chunks of a mini-block page lie, and which slots and rows they hold.
//!
//! ```text
//! chunk words        u16 each (u32 in large pages): (size in bytes / 8 − 1) << 4 | log2(slots)
//! repetition index   u64 × (depth + 1) for each chunk: rows that end in it, entries of the row it leaves open
//! ```
//! The last chunk holds whatever slots are left, whatever its logarithm says.

use crate::{Error, Extent, Result, ensure};
use alloc::{format, vec::Vec};
use core::ops::Range;

/// Byte and slot positions of all chunks.
#[derive(Debug)]
pub(crate) struct ChunkTable {
    /// The first byte of each chunk, and the end of the last.
    bytes: Vec<u64>,
    slots: SlotIndex,
    num_slots: u64,
}

#[derive(Debug)]
enum SlotIndex {
    /// All chunks but the last hold `1 << log` slots.
    Uniform(u32),
    /// The first slot of each chunk.
    Starts(Vec<u64>),
}

impl ChunkTable {
    /// From the chunk words, for chunks of `size` bytes and `num_slots` slots in all.
    ///
    /// # Errors
    /// Corrupt if sizes or slots do not add up.
    pub(crate) fn parse(words: &Extent, large: bool, size: usize, num_slots: u64) -> Result<Self> {
        let bytes = words.all()?;
        let width = if large { 4 } else { 2 };
        let corrupt = |message| Error::corrupt(message).at(words.position());
        if bytes.len() % width != 0 || bytes.is_empty() {
            return Err(corrupt(format!(
                "chunk words: expected words of {width} bytes, found {} bytes",
                bytes.len()
            )));
        }
        let count = bytes.len() / width;
        let word = |i: usize| match large {
            false => u32::from(u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]])),
            true => u32::from_le_bytes([bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], bytes[4 * i + 3]]),
        };
        let mut starts = Vec::with_capacity(count + 1);
        let (mut end, mut slots) = (0u64, 0u64);
        starts.push(0);
        let log = word(0) & 15;
        let mut uniform = true;
        for i in 0..count {
            end += (u64::from(word(i) >> 4) + 1) * 8;
            starts.push(end);
            if i + 1 < count {
                let own = word(i) & 15;
                if own == 0 {
                    return Err(corrupt(format!(
                        "chunk {i}: expected at least 2 slots in all but the last chunk"
                    )));
                }
                uniform &= own == log;
                slots += 1 << own;
            }
        }
        if end != size as u64 {
            return Err(corrupt(format!("chunk words: expected sizes of {size} bytes in all, found {end}")));
        }
        let last = num_slots.checked_sub(slots);
        let last_log = word(count - 1) & 15;
        let fits = last.is_some_and(|last| last <= 1 << 15 && (last_log == 0 || last == 1 << last_log));
        if !fits {
            return Err(corrupt(format!(
                "chunk words: expected {num_slots} slots in all, found {slots} before the last chunk of logarithm {last_log}"
            )));
        }
        let slots = match uniform || count == 1 {
            true => SlotIndex::Uniform(if count == 1 { 15 } else { log }),
            false => {
                let mut first = 0;
                let of_chunk = (0..count).map(|i| {
                    let start = first;
                    first += 1 << (word(i) & 15);
                    start
                });
                SlotIndex::Starts(of_chunk.collect())
            }
        };
        Ok(ChunkTable { bytes: starts, slots, num_slots })
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - 1
    }

    /// Where chunk `index` lies in the buffer of chunks.
    #[inline]
    pub(crate) fn bytes(&self, index: usize) -> Range<usize> {
        self.bytes[index] as usize..self.bytes[index + 1] as usize
    }

    /// The slots of chunk `index`.
    #[inline]
    pub(crate) fn slots(&self, index: usize) -> Range<u64> {
        let last = index + 1 == self.len();
        match &self.slots {
            SlotIndex::Uniform(log) => {
                let start = (index as u64) << log;
                start..if last { self.num_slots } else { start + (1 << log) }
            }
            SlotIndex::Starts(starts) => starts[index]..if last { self.num_slots } else { starts[index + 1] },
        }
    }

    /// The chunk that holds `slot`, which is below the number of slots.
    #[inline]
    pub(crate) fn of_slot(&self, slot: u64) -> usize {
        match &self.slots {
            SlotIndex::Uniform(log) => ((slot >> log) as usize).min(self.len() - 1),
            SlotIndex::Starts(starts) => starts.partition_point(|&start| start <= slot) - 1,
        }
    }
}

/// Which rows start in which chunk, for pages with lists.
#[derive(Debug)]
pub(crate) struct RowIndex {
    /// The number of rows that start before each chunk, and in all.
    starts: Vec<u64>,
    /// Whether the last row of a chunk goes on in the next.
    open: Vec<bool>,
}

impl RowIndex {
    /// From the repetition index of a page with `chunks` chunks and `rows` rows.
    ///
    /// # Errors
    /// Corrupt if its size is wrong or its rows do not add up.
    pub(crate) fn parse(index: &Extent, depth: u32, chunks: usize, rows: u64) -> Result<Self> {
        let bytes = index.all()?;
        let corrupt = |message| Error::corrupt(message).at(index.position());
        let stride = (u64::from(depth) + 1) * 8;
        if depth == 0 || bytes.len() as u64 != stride * chunks as u64 {
            return Err(corrupt(format!(
                "repetition index: expected {chunks} entries of {stride} bytes, found {} bytes",
                bytes.len()
            )));
        }
        let stride = stride as usize;
        let mut starts = Vec::with_capacity(chunks + 1);
        let mut open = Vec::with_capacity(chunks);
        let (mut started, mut ended, mut was_open) = (0u64, 0u64, false);
        starts.push(0);
        for entry in bytes.chunks_exact(stride) {
            let (ends, left) = match entry.as_chunks::<8>().0 {
                [ends, left, ..] => (u64::from_le_bytes(*ends), u64::from_le_bytes(*left)),
                _ => return Err(corrupt("repetition index: expected two numbers for each chunk".into())),
            };
            let is_open = left > 0;
            // A row that came in open and is still open did not start here, nor did it end.
            let starting =
                ends.checked_add(u64::from(is_open)).and_then(|n| n.checked_sub(u64::from(was_open)));
            ended = ended.saturating_add(ends);
            started = match starting.and_then(|n| started.checked_add(n)) {
                Some(started) if started <= rows => started,
                _ => {
                    return Err(corrupt(format!(
                        "repetition index: expected {rows} rows in all, found {ends} that end in chunk {}",
                        open.len()
                    )));
                }
            };
            starts.push(started);
            open.push(is_open);
            was_open = is_open;
        }
        // The last row ends with the page, whatever the last entry says of it.
        if started != rows || ended > rows {
            return Err(corrupt(format!("repetition index: expected {rows} rows in all, found {started}")));
        }
        Ok(RowIndex { starts, open })
    }

    /// The chunk in which `row` starts, and how many rows start before it there.
    pub(crate) fn of_row(&self, row: u64) -> (usize, u64) {
        // Chunks in which no row starts share their number with the next: take the last that has it.
        let chunk = self.starts.partition_point(|&start| start <= row) - 1;
        (chunk, row - self.starts[chunk])
    }

    /// The chunk in which `row` ends.
    pub(crate) fn last_of_row(&self, row: u64) -> usize {
        let next = self.starts.partition_point(|&start| start <= row + 1) - 1;
        // Where the next row is the first to start in its chunk, this one may end there too, or before it.
        next.min(self.open.len() - 1)
    }

    /// Whether the last row of `chunk` goes on in the next.
    pub(crate) fn is_open(&self, chunk: usize) -> bool {
        self.open[chunk]
    }
}

/// A chunk taken apart.
///
/// ```text
/// u16 levels | u16 size of rep, if any | u16 size of def, if any | size of each value buffer (u16, u32 in
/// large pages) | padding to 8 | rep | padding | def | padding | each value buffer | padding
/// ```
#[derive(Debug)]
pub(crate) struct Chunk<'a> {
    pub(crate) num_levels: usize,
    pub(crate) rep: &'a [u8],
    pub(crate) def: &'a [u8],
    buffers: [&'a [u8]; MAX_BUFFERS],
    num_buffers: usize,
}

/// More than any encoding has: a bitmap for each of eight nested lists, and the items.
pub(crate) const MAX_BUFFERS: usize = 10;

impl<'a> Chunk<'a> {
    pub(crate) fn parse(
        bytes: &'a [u8],
        has_rep: bool,
        has_def: bool,
        num_buffers: usize,
        large: bool,
    ) -> Result<Self> {
        let mut header = Header { bytes, at: 0 };
        let num_levels = header.u16()?;
        let rep_size = if has_rep { header.u16()? } else { 0 };
        let def_size = if has_def { header.u16()? } else { 0 };
        let mut sizes = [0; MAX_BUFFERS];
        for size in &mut sizes[..num_buffers] {
            *size = if large { header.u32()? } else { header.u16()? };
        }
        let rep = header.aligned(rep_size)?;
        let def = header.aligned(def_size)?;
        let mut buffers: [&[u8]; MAX_BUFFERS] = [&[]; MAX_BUFFERS];
        for (buffer, size) in buffers.iter_mut().zip(&sizes[..num_buffers]) {
            *buffer = header.aligned(*size)?;
        }
        Ok(Chunk { num_levels, rep, def, buffers, num_buffers })
    }

    pub(crate) fn buffers(&self) -> &[&'a [u8]] {
        &self.buffers[..self.num_buffers]
    }
}

/// Reads the header of a chunk and the buffers behind it, each aligned to 8 within the chunk.
struct Header<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Header<'a> {
    #[inline]
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let Some(bytes) = self.at.checked_add(len).and_then(|end| self.bytes.get(self.at..end)) else {
            return Err(self.too_short(len));
        };
        self.at += len;
        Ok(bytes)
    }

    #[cold]
    fn too_short(&self, len: usize) -> Error {
        Error::corrupt(format!(
            "expected {len} bytes at {} of a chunk of {} bytes",
            self.at,
            self.bytes.len()
        ))
    }

    #[inline]
    fn u16(&mut self) -> Result<usize> {
        let bytes = self.take(2)?;
        Ok(usize::from(u16::from_le_bytes([bytes[0], bytes[1]])))
    }

    #[inline]
    fn u32(&mut self) -> Result<usize> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
    }

    #[inline]
    fn aligned(&mut self, len: usize) -> Result<&'a [u8]> {
        self.at = self.at.next_multiple_of(8);
        if len == 0 {
            return Ok(&[]);
        }
        self.take(len)
    }
}

/// The slots of a range of rows must lie within one chunk or page.
pub(crate) fn narrow(range: Range<u64>, start: u64) -> Result<Range<usize>> {
    ensure!(range.start >= start, "expected slots from {start} on");
    Ok((range.start - start) as usize..(range.end - start) as usize)
}

//! What a fragment knows about each row by its offset: the stable id, and the versions of its life.
//!
//! Both are lists of segments, one behind the other, that hold a number for every physical row:
//!
//! | segment | numbers |
//! |---|---|
//! | range | all from start to end |
//! | range with holes | all but those of an array |
//! | range with bitmap | start + i for each set bit i, least significant bit first |
//! | sorted array, array | each number: a base plus 16 or 32 bits, or 64 bits |
//!
//! Arrays and bitmaps are used where they lie in the manifest.

use super::roaring::{nth_one, partition_point};
use crate::{Error, Result, ensure, proto};
use alloc::{format, vec::Vec};
use bytes::Bytes;
use core::{fmt, ops::Range};
use lancet_kernels::bits;
use proto::table::{EncodedU64Array, U64Segment, encoded_u64_array, u64_segment};

/// Bits for each entry of a bitmap's rank directory.
const BLOCK: usize = 512;

/// The stable ids of a fragment's rows by offset, checked once.
#[derive(Debug, Clone)]
pub struct RowIdSequence {
    segments: Vec<Segment>,
    rows: u64,
}

/// A number for each of some consecutive rows; at least one.
#[derive(Debug, Clone)]
struct Segment {
    /// The offset of its first row.
    first_row: u64,
    len: u64,
    min: u64,
    max: u64,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Range,
    /// All numbers from the smallest to the largest, except these.
    Holes(Array),
    Bitmap {
        start: u64,
        bits: Bytes,
        /// For each block of bits how many set bits precede it.
        ranks: Vec<u32>,
    },
    Sorted(Array),
    Unsorted(Array),
}

/// A part of a sequence as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowIdSegment {
    /// How it is stored.
    pub kind: SegmentKind,
    /// How many rows; at least one.
    pub rows: u64,
    /// The smallest id.
    pub min: u64,
    /// The largest id.
    pub max: u64,
}

/// How a part of a sequence is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentKind {
    /// All numbers between two.
    Range,
    /// All numbers between two, except those of a list.
    RangeWithHoles,
    /// The numbers between two whose bit is set.
    RangeWithBitmap,
    /// A list that ascends.
    SortedArray,
    /// A list in no order.
    Array,
}

impl fmt::Display for SegmentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SegmentKind::Range => "range",
            SegmentKind::RangeWithHoles => "range-with-holes",
            SegmentKind::RangeWithBitmap => "range-with-bitmap",
            SegmentKind::SortedArray => "sorted-array",
            SegmentKind::Array => "array",
        })
    }
}

impl RowIdSequence {
    /// Checks the ids of a fragment that has `physical_rows` rows. Shares the bytes.
    ///
    /// # Errors
    /// Corrupt if a segment contradicts the format, or there is not one id for each row.
    pub fn parse(bytes: &Bytes, physical_rows: u64) -> Result<Self> {
        Self::decode(bytes, physical_rows).map_err(|error| error.within("row ids"))
    }

    /// Numbers between which all ids lie, without a check of the ids themselves: it costs a look at each
    /// segment, and a pass only over arrays that are in no order. `None` if there are no ids.
    ///
    /// # Errors
    /// Corrupt if the bytes are no sequence.
    pub fn bounds(bytes: &Bytes) -> Result<Option<(u64, u64)>> {
        let message: proto::table::RowIdSequence = proto::decode_shared(bytes.clone(), 0, "row ids")?;
        let bounds = message.segments.iter().filter_map(Segment::bounds);
        Ok(bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))))
    }

    fn decode(bytes: &Bytes, physical_rows: u64) -> Result<Self> {
        let message: proto::table::RowIdSequence = proto::decode_shared(bytes.clone(), 0, "sequence")?;
        let (mut segments, mut rows) = (Vec::new(), 0);
        for segment in message.segments {
            let room = physical_rows - rows;
            if let Some(segment) = Segment::from_proto(segment, rows, room)? {
                rows += segment.len;
                segments.push(segment);
            }
        }
        ensure!(rows == physical_rows, "expected {physical_rows} numbers, found {rows}");
        Ok(RowIdSequence { segments, rows })
    }

    /// How the ids are stored: segments in the order of the rows.
    pub fn segments(&self) -> impl Iterator<Item = RowIdSegment> + '_ {
        self.segments.iter().map(|segment| RowIdSegment {
            kind: match segment.kind {
                Kind::Range => SegmentKind::Range,
                Kind::Holes(_) => SegmentKind::RangeWithHoles,
                Kind::Bitmap { .. } => SegmentKind::RangeWithBitmap,
                Kind::Sorted(_) => SegmentKind::SortedArray,
                Kind::Unsorted(_) => SegmentKind::Array,
            },
            rows: segment.len,
            min: segment.min,
            max: segment.max,
        })
    }

    /// How many ids: one for each physical row.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The id of the row at `offset`. Takes logarithmic time.
    ///
    /// # Panics
    /// If `offset` is not below the number of rows.
    pub fn get(&self, offset: u64) -> u64 {
        assert!(offset < self.rows, "row {offset} of {}", self.rows);
        let segment = &self.segments[self.segment_of(offset)];
        segment.get(offset - segment.first_row)
    }

    /// The ids of the rows from `offset` on.
    pub fn iter_from(&self, offset: u64) -> impl Iterator<Item = u64> + '_ {
        let segments = if offset < self.rows { &self.segments[self.segment_of(offset)..] } else { &[] };
        segments.iter().flat_map(move |segment| segment.iter_from(offset.saturating_sub(segment.first_row)))
    }

    /// The offset of the row with this id. Looks at each segment that may hold it: by arithmetic or in
    /// logarithmic time, but number by number in an unsorted array (see [`is_sorted`](Self::is_sorted)).
    pub fn find(&self, id: u64) -> Option<u64> {
        let within = |segment: &&Segment| segment.min <= id && id <= segment.max;
        let mut candidates = self.segments.iter().filter(within);
        candidates.find_map(|segment| segment.find(id).map(|index| segment.first_row + index))
    }

    /// As [`find`](Self::find), but without the arrays that are in no order.
    pub fn find_ordered(&self, id: u64) -> Option<u64> {
        let within = |segment: &&Segment| segment.min <= id && id <= segment.max && segment.is_ordered();
        let mut candidates = self.segments.iter().filter(within);
        candidates.find_map(|segment| segment.find(id).map(|index| segment.first_row + index))
    }

    /// The ids in arrays that are in no order, each with its row's offset.
    pub fn unordered(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let arrays = self.segments.iter().filter(|segment| !segment.is_ordered());
        arrays.flat_map(|segment| segment.iter_from(0).zip(segment.first_row..))
    }

    /// Whether ids ascend with the offset; then [`find`](Self::find) takes no more than logarithmic time for
    /// each segment.
    pub fn is_sorted(&self) -> bool {
        self.segments.iter().all(Segment::is_ordered) && self.segments.is_sorted_by(|a, b| a.max < b.min)
    }

    /// The smallest and the largest id.
    pub fn min_max(&self) -> Option<(u64, u64)> {
        let bounds = self.segments.iter().map(|segment| (segment.min, segment.max));
        bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    fn segment_of(&self, offset: u64) -> usize {
        self.segments.partition_point(|segment| segment.first_row <= offset) - 1
    }
}

impl Segment {
    fn is_ordered(&self) -> bool {
        !matches!(self.kind, Kind::Unsorted(_))
    }

    /// Checks a segment that holds at most `room` numbers; `None` if it holds none.
    fn from_proto(message: U64Segment, first_row: u64, room: u64) -> Result<Option<Self>> {
        let Some(kind) = message.kind else {
            return Err(Error::corrupt("expected a segment of a known kind, found none"));
        };
        let segment = match kind {
            u64_segment::Kind::Range(range) => {
                let span = span(range.start, range.end)?;
                ensure!(span <= room, "expected a range of at most {room} numbers, found {span}");
                bounded(span, range.start, range.end.wrapping_sub(1), Kind::Range)
            }
            u64_segment::Kind::RangeWithHoles(range) => holes(&range, room)?,
            u64_segment::Kind::RangeWithBitmap(range) => bitmap(range, room)?,
            u64_segment::Kind::SortedArray(array) => {
                let array = Array::from_proto(Some(array))?;
                array.check_ascending()?;
                let (min, max) = array.ends().unwrap_or_default();
                bounded(array.len(), min, max, Kind::Sorted(array))
            }
            u64_segment::Kind::Array(array) => {
                let array = Array::from_proto(Some(array))?;
                let numbers = array.iter();
                let (min, max) =
                    numbers.fold((u64::MAX, 0), |(min, max), number| (min.min(number), max.max(number)));
                bounded(array.len(), min, max, Kind::Unsorted(array))
            }
        };
        let segment = Segment { first_row, ..segment };
        ensure!(segment.len <= room, "expected at most {room} numbers, found {}", segment.len);
        Ok(Some(segment).filter(|segment| segment.len != 0))
    }

    /// The bounds of a segment that was not checked; `None` if it is empty or cannot be, which is found
    /// when it is read.
    fn bounds(message: &U64Segment) -> Option<(u64, u64)> {
        let between = |start: u64, end: u64| (start < end).then(|| (start, end - 1));
        match message.kind.as_ref()? {
            u64_segment::Kind::Range(range) => between(range.start, range.end),
            u64_segment::Kind::RangeWithHoles(range) => between(range.start, range.end),
            u64_segment::Kind::RangeWithBitmap(range) => between(range.start, range.end),
            u64_segment::Kind::SortedArray(array) => Array::from_proto(Some(array.clone())).ok()?.ends(),
            u64_segment::Kind::Array(array) => {
                let array = Array::from_proto(Some(array.clone())).ok()?;
                let bounds = array.iter().map(|number| (number, number));
                bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
            }
        }
    }

    /// Number `index`, which is below the length.
    fn get(&self, index: u64) -> u64 {
        match &self.kind {
            Kind::Range => self.min + index,
            Kind::Holes(holes) => {
                let skipped = partition_point(holes.entries(), |hole| {
                    holes.get(hole) - self.min - hole as u64 <= index
                });
                self.min + index + skipped as u64
            }
            Kind::Bitmap { start, bits, ranks } => start + nth_bit(bits, ranks, index) as u64,
            Kind::Sorted(array) | Kind::Unsorted(array) => array.get(index as usize),
        }
    }

    /// The place of `id`, which lies within the bounds.
    fn find(&self, id: u64) -> Option<u64> {
        match &self.kind {
            Kind::Range => Some(id - self.min),
            Kind::Holes(holes) => {
                let skipped = holes.numbers_below(id);
                let is_hole = skipped < holes.entries() && holes.get(skipped) == id;
                (!is_hole).then(|| id - self.min - skipped as u64)
            }
            Kind::Bitmap { start, bits, ranks } => {
                let bit = (id - start) as usize;
                let block = bit / BLOCK;
                let counted = || u64::from(ranks[block]) + bits::count_ones(bits, block * BLOCK..bit) as u64;
                bits::get(bits, bit).then(counted)
            }
            Kind::Sorted(array) => {
                let index = array.numbers_below(id);
                (index < array.entries() && array.get(index) == id).then_some(index as u64)
            }
            Kind::Unsorted(array) => array.iter().position(|number| number == id).map(|index| index as u64),
        }
    }

    fn iter_from(&self, index: u64) -> Numbers<'_> {
        let next = if index < self.len { self.get(index) } else { 0 };
        let holes = match &self.kind {
            Kind::Holes(holes) => holes.numbers_below(next),
            _ => 0,
        };
        Numbers { segment: self, index, next, holes }
    }
}

/// The numbers of a segment from one on.
struct Numbers<'a> {
    segment: &'a Segment,
    index: u64,
    /// Number `index`, as long as there is one.
    next: u64,
    /// How many holes lie before it.
    holes: usize,
}

impl Iterator for Numbers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.index == self.segment.len {
            return None;
        }
        let number = self.next;
        self.index += 1;
        if self.index < self.segment.len {
            self.next = match &self.segment.kind {
                Kind::Range => number + 1,
                Kind::Holes(holes) => {
                    let mut next = number + 1;
                    while self.holes < holes.entries() && holes.get(self.holes) == next {
                        (next, self.holes) = (next + 1, self.holes + 1);
                    }
                    next
                }
                Kind::Bitmap { start, bits, .. } => {
                    next_bit(bits, number - start).map_or(number, |bit| start + bit)
                }
                Kind::Sorted(array) | Kind::Unsorted(array) => array.get(self.index as usize),
            };
        }
        Some(number)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.segment.len - self.index);
        (left.unwrap_or(usize::MAX), left.ok())
    }
}

/// A segment whose place is not yet known.
fn bounded(len: u64, min: u64, max: u64, kind: Kind) -> Segment {
    Segment { first_row: 0, len, min, max, kind }
}

fn span(start: u64, end: u64) -> Result<u64> {
    end.checked_sub(start)
        .ok_or_else(|| Error::corrupt(format!("expected a range that ascends, found {start} to {end}")))
}

fn holes(range: &u64_segment::RangeWithHoles, room: u64) -> Result<Segment> {
    let (start, end) = (range.start, range.end);
    let span = span(start, end)?;
    let holes = Array::from_proto(range.holes.clone())?;
    holes.check_ascending()?;
    if let Some((first, last)) = holes.ends() {
        ensure!(first >= start && last < end, "expected holes in {start} to {end}, found {first} to {last}");
    }
    // Different numbers of the range, so there are no more of them than of those.
    let len = span - holes.len();
    ensure!(len <= room, "expected a range of at most {room} numbers, found {len}");
    Ok(bounded(len, start, end.wrapping_sub(1), Kind::Holes(holes)))
}

fn bitmap(range: u64_segment::RangeWithBitmap, room: u64) -> Result<Segment> {
    let (start, bitmap) = (range.start, range.bitmap);
    let span = span(start, range.end)?;
    let expected = span.div_ceil(8);
    ensure!(bitmap.len() as u64 == expected, "expected a bitmap of {expected} bytes, found {}", bitmap.len());
    let spare = if span % 8 == 0 { 0 } else { bitmap[bitmap.len() - 1] >> (span % 8) };
    ensure!(spare == 0, "expected the bits behind the end of a bitmap to be zero");
    let mut len = 0;
    let mut ranks = Vec::with_capacity(bitmap.len().div_ceil(BLOCK / 8));
    for block in bitmap.chunks(BLOCK / 8) {
        ensure!(len <= room.min(u32::MAX.into()), "expected at most {room} numbers, found {len}");
        ranks.push(len as u32);
        len += bits::count_ones(block, 0..8 * block.len()) as u64;
    }
    Ok(bounded(len, start, range.end.wrapping_sub(1), Kind::Bitmap { start, bits: bitmap, ranks }))
}

/// The position of the set bit that `n` others precede, of which there is one.
fn nth_bit(bits: &[u8], ranks: &[u32], n: u64) -> usize {
    let block = ranks.partition_point(|rank| u64::from(*rank) <= n) - 1;
    let mut rest = n as u32 - ranks[block];
    let mut index = block * BLOCK / 64;
    loop {
        let word = word(bits, index);
        if rest < word.count_ones() {
            return index * 64 + nth_one(word, rest) as usize;
        }
        rest -= word.count_ones();
        index += 1;
    }
}

/// The first set bit behind bit `after`.
fn next_bit(bits: &[u8], after: u64) -> Option<u64> {
    let from = after as usize + 1;
    let mut mask = u64::MAX << (from % 64);
    for index in from / 64..bits.len().div_ceil(8) {
        let word = word(bits, index) & mask;
        if word != 0 {
            return Some(index as u64 * 64 + u64::from(word.trailing_zeros()));
        }
        mask = u64::MAX;
    }
    None
}

/// 64 bits, of which those behind the end are zero.
fn word(bits: &[u8], index: usize) -> u64 {
    let bytes = &bits[8 * index..];
    match bytes.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        }
    }
}

/// Numbers where they lie: little-endian distances from a base, none of which leads beyond 64 bits.
#[derive(Debug, Clone)]
struct Array {
    base: u64,
    width: Width,
    bytes: Bytes,
}

/// The size of each distance.
#[derive(Debug, Clone, Copy)]
enum Width {
    U16 = 2,
    U32 = 4,
    U64 = 8,
}

impl Array {
    fn from_proto(message: Option<EncodedU64Array>) -> Result<Self> {
        let (base, width, bytes) = match message.and_then(|message| message.kind) {
            Some(encoded_u64_array::Kind::U16(array)) => (array.base, Width::U16, array.offsets),
            Some(encoded_u64_array::Kind::U32(array)) => (array.base, Width::U32, array.offsets),
            Some(encoded_u64_array::Kind::U64(array)) => (0, Width::U64, array.values),
            None => return Err(Error::corrupt("expected an array of a known kind, found none")),
        };
        let size = width as usize;
        ensure!(bytes.len() % size == 0, "expected numbers of {size} bytes, found {} bytes", bytes.len());
        let array = Array { base, width, bytes };
        let largest = (0..array.entries()).map(|index| array.distance(index)).max().unwrap_or(0);
        ensure!(base.checked_add(largest).is_some(), "expected 64 bits, found {base} + {largest}");
        Ok(array)
    }

    fn entries(&self) -> usize {
        self.bytes.len() / self.width as usize
    }

    fn len(&self) -> u64 {
        self.entries() as u64
    }

    #[inline]
    fn distance(&self, index: usize) -> u64 {
        let bytes = &self.bytes[index * self.width as usize..];
        match self.width {
            Width::U16 => u16::from_le_bytes(*first(bytes)).into(),
            Width::U32 => u32::from_le_bytes(*first(bytes)).into(),
            Width::U64 => u64::from_le_bytes(*first(bytes)),
        }
    }

    #[inline]
    fn get(&self, index: usize) -> u64 {
        self.base + self.distance(index)
    }

    fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.entries()).map(|index| self.get(index))
    }

    /// The first and the last number.
    fn ends(&self) -> Option<(u64, u64)> {
        let last = self.entries().checked_sub(1)?;
        Some((self.get(0), self.get(last)))
    }

    fn check_ascending(&self) -> Result<()> {
        ensure!(self.iter().is_sorted_by(|a, b| a < b), "expected an array that ascends");
        Ok(())
    }

    /// How many numbers are less than `number`, in an array that ascends.
    fn numbers_below(&self, number: u64) -> usize {
        partition_point(self.entries(), |index| self.get(index) < number)
    }
}

/// The first `N` bytes, which are there.
#[inline]
fn first<const N: usize>(bytes: &[u8]) -> &[u8; N] {
    bytes.first_chunk().expect("the number of bytes is a multiple of the width")
}

/// For each row of a fragment a version of the table: when it was created, or last updated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowVersions {
    /// Where each run of equal versions ends.
    runs: Vec<(u64, u64)>,
}

impl RowVersions {
    /// Checks the versions of a fragment that has `physical_rows` rows.
    ///
    /// # Errors
    /// Corrupt if a run contradicts the format, or there is not one version for each row.
    pub fn parse(bytes: &Bytes, physical_rows: u64) -> Result<Self> {
        Self::decode(bytes, physical_rows).map_err(|error| error.within("row versions"))
    }

    fn decode(bytes: &Bytes, physical_rows: u64) -> Result<Self> {
        let message: proto::table::RowVersionSequence = proto::decode_shared(bytes.clone(), 0, "sequence")?;
        let (mut runs, mut rows) = (Vec::with_capacity(message.runs.len()), 0);
        for run in message.runs {
            let Some(span) = run.span else {
                return Err(Error::corrupt("expected the span of a run, found none"));
            };
            // The numbers in it have no meaning, only how many there are.
            if let Some(segment) = Segment::from_proto(span, rows, physical_rows - rows)? {
                rows += segment.len;
                runs.push((rows, run.version));
            }
        }
        ensure!(rows == physical_rows, "expected {physical_rows} versions, found {rows}");
        Ok(RowVersions { runs })
    }

    /// The version of the row at `offset`. Takes logarithmic time.
    ///
    /// # Panics
    /// If `offset` is not below the number of rows.
    pub fn get(&self, offset: u64) -> u64 {
        let run = self.runs.partition_point(|(end, _)| *end <= offset);
        self.runs[run].1
    }

    /// The runs of rows with one version, in order.
    pub fn runs(&self) -> impl Iterator<Item = (Range<u64>, u64)> + '_ {
        let mut start = 0;
        self.runs.iter().map(move |(end, version)| (core::mem::replace(&mut start, *end)..*end, *version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeSet, vec};
    use encoded_u64_array::{Offsets, Values};
    use prost::Message;
    use u64_segment::{Range, RangeWithBitmap, RangeWithHoles};

    fn segment(kind: u64_segment::Kind) -> U64Segment {
        U64Segment { kind: Some(kind) }
    }

    fn range(start: u64, end: u64) -> U64Segment {
        segment(u64_segment::Kind::Range(Range { start, end }))
    }

    fn u16s(base: u64, offsets: &[u16]) -> EncodedU64Array {
        let offsets = offsets.iter().flat_map(|value| value.to_le_bytes()).collect();
        EncodedU64Array { kind: Some(encoded_u64_array::Kind::U16(Offsets { base, offsets })) }
    }

    fn u32s(base: u64, offsets: &[u32]) -> EncodedU64Array {
        let offsets = offsets.iter().flat_map(|value| value.to_le_bytes()).collect();
        EncodedU64Array { kind: Some(encoded_u64_array::Kind::U32(Offsets { base, offsets })) }
    }

    fn u64s(values: &[u64]) -> EncodedU64Array {
        let values = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        EncodedU64Array { kind: Some(encoded_u64_array::Kind::U64(Values { values })) }
    }

    fn with_holes(start: u64, end: u64, holes: EncodedU64Array) -> U64Segment {
        segment(u64_segment::Kind::RangeWithHoles(RangeWithHoles { start, end, holes: Some(holes) }))
    }

    fn with_bitmap(start: u64, end: u64, bitmap: Vec<u8>) -> U64Segment {
        let bitmap = bitmap.into();
        segment(u64_segment::Kind::RangeWithBitmap(RangeWithBitmap { start, end, bitmap }))
    }

    fn sorted(array: EncodedU64Array) -> U64Segment {
        segment(u64_segment::Kind::SortedArray(array))
    }

    fn unsorted(array: EncodedU64Array) -> U64Segment {
        segment(u64_segment::Kind::Array(array))
    }

    fn encode(segments: Vec<U64Segment>) -> Bytes {
        proto::table::RowIdSequence { segments }.encode_to_vec().into()
    }

    /// Every kind of segment, and what it holds.
    fn samples() -> Vec<(U64Segment, Vec<u64>)> {
        let thirds = |len: u64| (0..len).filter(|bit| bit % 3 == 1);
        let mut bitmap = vec![0; 250];
        thirds(1999).for_each(|bit| bits::set(&mut bitmap, bit as usize));
        let big = [u64::MAX - 9, u64::MAX - 3, u64::MAX - 1];
        vec![
            (range(5, 5), vec![]),
            (range(0, 100), (0..100).collect()),
            (with_holes(1000, 1010, u16s(1000, &[0, 1, 4, 9])), vec![1002, 1003, 1005, 1006, 1007, 1008]),
            (with_holes(2000, 2003, u32s(0, &[])), vec![2000, 2001, 2002]),
            (with_bitmap(3000, 4999, bitmap), thirds(1999).map(|bit| 3000 + bit).collect()),
            (sorted(u16s(5000, &[0, 7, 9])), vec![5000, 5007, 5009]),
            (sorted(u64s(&big)), big.to_vec()),
            (unsorted(u32s(6000, &[900_000, 3, 70_000])), vec![906_000, 6003, 76_000]),
        ]
    }

    fn check(sequence: &RowIdSequence, ids: &[u64]) {
        assert_eq!(sequence.len(), ids.len() as u64);
        assert!(sequence.iter_from(0).eq(ids.iter().copied()));
        for (offset, id) in ids.iter().enumerate() {
            assert_eq!(sequence.get(offset as u64), *id);
            assert_eq!(sequence.find(*id), Some(offset as u64));
            assert!(sequence.iter_from(offset as u64).take(9).eq(ids[offset..].iter().copied().take(9)));
        }
        assert_eq!(sequence.iter_from(ids.len() as u64).next(), None);
        let known: BTreeSet<u64> = ids.iter().copied().collect();
        for id in ids.iter().flat_map(|id| [id.wrapping_sub(1), id.wrapping_add(1)]) {
            assert_eq!(sequence.find(id).is_some(), known.contains(&id), "{id}");
        }
        let bounds = sequence.min_max().unwrap_or_default();
        assert!(ids.iter().all(|id| bounds.0 <= *id && *id <= bounds.1));
        assert!(!sequence.is_sorted() || ids.is_sorted());
    }

    #[test]
    fn every_kind_of_segment_alone_and_together() {
        let (mut segments, mut all) = (Vec::new(), Vec::new());
        for (segment, ids) in samples() {
            let sequence = RowIdSequence::parse(&encode(vec![segment.clone()]), ids.len() as u64).unwrap();
            assert_eq!(sequence.is_sorted(), ids.is_sorted());
            check(&sequence, &ids);
            segments.push(segment);
            all.extend(ids);
        }
        check(&RowIdSequence::parse(&encode(segments), all.len() as u64).unwrap(), &all);
    }

    #[test]
    fn reads_real_bytes() {
        let holes = b"\x12\x11\x08\xe9\x07\x10\xb8\x08\x1a\x09\x0a\x07\x08\x9a\x08\x12\x02\0\0";
        let mut bytes = vec![0x0a, holes.len() as u8];
        bytes.extend(holes);
        let sequence = RowIdSequence::parse(&bytes.into(), 78).unwrap();
        assert!(sequence.iter_from(0).eq((1001..1080).filter(|id| *id != 1050)));

        let versions = b"\x0a\x09\x0a\x05\x0a\x03\x10\x96\x01\x10\x01";
        let versions = RowVersions::parse(&Bytes::from_static(versions), 150).unwrap();
        assert!(versions.runs().eq([(0..150, 1)]));
    }

    #[test]
    fn refuses_what_contradicts_the_format() {
        let refused = [
            (range(9, 8), 0, "start behind end"),
            (range(0, 1 << 62), 10, "longer than the fragment"),
            (range(0, 9), 10, "shorter than the fragment"),
            (with_holes(0, 10, u16s(0, &[3, 3])), 8, "holes twice"),
            (with_holes(0, 10, u16s(0, &[4, 3])), 8, "holes that descend"),
            (with_holes(0, 10, u16s(0, &[10])), 9, "a hole behind the end"),
            (with_holes(5, 10, u16s(4, &[0])), 4, "a hole before the start"),
            (with_holes(0, u64::MAX, u16s(4, &[0])), 4, "a long range with a hole"),
            (with_bitmap(0, 9, vec![0xff]), 8, "a short bitmap"),
            (with_bitmap(0, 8, vec![0xff, 0]), 8, "a long bitmap"),
            (with_bitmap(0, 9, vec![0xff, 2]), 9, "a bit behind the end"),
            (with_bitmap(0, u64::MAX, vec![0xff]), 8, "a short bitmap of a long range"),
            (sorted(u16s(0, &[4, 3])), 2, "a sorted array that is not"),
            (sorted(u16s(u64::MAX, &[1])), 1, "a sum of more than 64 bits"),
            (unsorted(u32s(u64::MAX - 1, &[5, 0])), 2, "a sum of more than 64 bits"),
            (U64Segment { kind: None }, 0, "no kind of segment"),
            (sorted(EncodedU64Array { kind: None }), 0, "no kind of array"),
        ];
        for (segment, rows, why) in refused {
            assert!(RowIdSequence::parse(&encode(vec![segment]), rows).is_err(), "{why}");
        }
        for odd in [
            encoded_u64_array::Kind::U16(Offsets { base: 0, offsets: vec![0].into() }),
            encoded_u64_array::Kind::U32(Offsets { base: 0, offsets: vec![0; 6].into() }),
            encoded_u64_array::Kind::U64(Values { values: vec![0; 12].into() }),
        ] {
            let segment = unsorted(EncodedU64Array { kind: Some(odd) });
            assert!(RowIdSequence::parse(&encode(vec![segment]), 1).is_err());
        }
    }

    #[test]
    fn refuses_every_truncation() {
        let (mut segments, mut rows) = (Vec::new(), 0);
        for (segment, ids) in samples() {
            segments.push(segment);
            rows += ids.len() as u64;
        }
        let bytes = encode(segments);
        for len in 0..bytes.len() {
            assert!(RowIdSequence::parse(&bytes.slice(..len), rows).is_err(), "{len}");
        }
    }

    #[test]
    fn versions_by_the_lengths_of_spans() {
        let run = |span, version| proto::table::RowVersionRun { span, version };
        let encode = |runs| Bytes::from(proto::table::RowVersionSequence { runs }.encode_to_vec());
        let runs = vec![
            run(Some(with_holes(1, 80, u16s(50, &[0]))), 3),
            run(Some(range(0, 0)), 9),
            run(Some(range(7, 9)), 5),
        ];
        let bytes = encode(runs);
        let versions = RowVersions::parse(&bytes, 80).unwrap();
        assert!(versions.runs().eq([(0..78, 3), (78..80, 5)]));
        assert_eq!([0, 77, 78, 79].map(|offset| versions.get(offset)), [3, 3, 5, 5]);
        assert!(RowVersions::parse(&bytes, 79).is_err());
        assert!(RowVersions::parse(&bytes, 81).is_err());
        assert!(RowVersions::parse(&encode(vec![run(None, 1)]), 0).is_err());
        for len in 0..bytes.len() {
            assert!(RowVersions::parse(&bytes.slice(..len), 80).is_err(), "{len}");
        }
    }
}

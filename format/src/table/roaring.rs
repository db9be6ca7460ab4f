//! Roaring bitmaps: sets of 32-bit numbers, used where they lie in a file.
//!
//! ```text
//! u32 12346 | u32 n                                     no container holds runs, or
//! u16 12347 | u16 n - 1 | ⌈n / 8⌉ bytes                 bit i: container i holds runs
//! n × { u16 key | u16 cardinality - 1 }                 key: upper half of the numbers, ascending
//! n × { u32 position }                                  always after 12346; after 12347 if n ≥ 4
//! n × container                                         of the lower halves:
//!     runs      u16 r | r × { u16 start | u16 length - 1 }
//!     array     cardinality × u16, ascending            up to 4096 numbers
//!     bits      8192 bytes, least significant bit first
//! ```

use crate::{Error, Result, cursor::Cursor, ensure};
use alloc::{format, vec::Vec};
use bytes::Bytes;
use core::{fmt, hint::select_unpredictable, ops::Range};
use lancet_kernels::bits;

const COOKIE: u32 = 12346;
const COOKIE_WITH_RUNS: u16 = 12347;
/// From this many containers on, a bitmap with runs lists their positions.
const MIN_POSITIONS: usize = 4;
/// More numbers than this are kept as bits.
const MAX_ARRAY: u32 = 4096;
const BITS_BYTES: usize = 8192;
/// How many different numbers a container may hold.
const SPAN: u64 = 1 << 16;
/// Bits for each entry of the rank directory of a container of bits.
const BLOCK: usize = 512;

/// A set of 32-bit numbers in Roaring's portable layout, checked once and used in place.
#[derive(Clone)]
pub struct Roaring {
    bytes: Bytes,
    containers: Vec<Container>,
    /// For each run, or each block of bits, how many numbers of its container precede it.
    ranks: Vec<u16>,
    len: u64,
}

/// The numbers that share their upper half.
#[derive(Debug, Clone, Copy)]
struct Container {
    /// The upper half.
    key: u16,
    kind: Kind,
    /// How many numbers.
    cardinality: u32,
    /// How many numbers the containers before it hold.
    before: u64,
    /// Where its entries begin in the bytes.
    at: usize,
    /// Its numbers, runs or 512-bit blocks.
    entries: usize,
    /// Where its entries begin in the rank directory, unless it is an array.
    ranks: usize,
}

/// The lower halves of numbers with one upper half, where they lie; all numbers have the lowest byte first.
#[derive(Debug, Clone, Copy)]
pub enum Numbers<'a> {
    /// Ascending.
    Array(&'a [[u8; 2]]),
    /// Start and length − 1 of each run, ascending and disjoint.
    Runs(&'a [[u8; 4]]),
    /// 1024 words in which bit i stands for number i.
    Bits(&'a [[u8; 8]]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Array,
    Bits,
    Runs,
}

impl Roaring {
    /// Checks a whole bitmap, of which nothing may be left over. Shares the bytes.
    ///
    /// # Errors
    /// Corrupt, with the position in `bytes`.
    pub fn parse(bytes: &Bytes) -> Result<Self> {
        let (set, consumed) = Self::parse_prefix(bytes, 0)?;
        let rest = bytes.len() - consumed;
        ensure!(rest == 0, "bitmap: expected its end at byte {consumed}, found {rest} more bytes");
        Ok(set)
    }

    /// Checks the bitmap at the start of `bytes`, which lie at `offset`; also returns its size in bytes.
    pub(crate) fn parse_prefix(bytes: &Bytes, offset: u64) -> Result<(Self, usize)> {
        let mut cursor = Cursor::new(bytes, offset);
        let cookie = cursor.u32("bitmap cookie")?;
        let (count, runs) = if cookie == COOKIE {
            (cursor.u32("bitmap container count")? as usize, None)
        } else if cookie as u16 == COOKIE_WITH_RUNS {
            let count = (cookie >> 16) as usize + 1;
            (count, Some(cursor.take(count.div_ceil(8), "bitmap run flags")?))
        } else {
            return Err(Error::corrupt(format!(
                "bitmap: expected the cookie {COOKIE} or {COOKIE_WITH_RUNS}, found {cookie}"
            ))
            .at(offset));
        };
        ensure!(count as u64 <= SPAN, "bitmap: expected at most {SPAN} containers, found {count}");
        let (headers, _) = cursor.take(4 * count, "bitmap container headers")?.as_chunks::<4>();
        let has_positions = runs.is_none() || count >= MIN_POSITIONS;
        let positions = if has_positions { cursor.take(4 * count, "bitmap positions")? } else { &[] };
        let (positions, _) = positions.as_chunks::<4>();

        let mut set = Roaring {
            bytes: bytes.clone(),
            containers: Vec::with_capacity(count),
            ranks: Vec::new(),
            len: 0,
        };
        for (index, header) in headers.iter().enumerate() {
            let [key, cardinality] = [[header[0], header[1]], [header[2], header[3]]].map(u16::from_le_bytes);
            let ascends = set.containers.last().is_none_or(|last| last.key < key);
            let position = positions.get(index).map(|position| u32::from_le_bytes(*position));
            let is_runs = runs.is_some_and(|flags| bits::get(flags, index));
            let container = if !ascends {
                Err(Error::corrupt(format!("expected ascending keys, found {key}")))
            } else if position.is_some_and(|position| position as usize != cursor.consumed()) {
                Err(Error::corrupt(format!("expected the position {} in the table", cursor.consumed())))
            } else {
                set.container(key, u32::from(cardinality) + 1, is_runs, &mut cursor)
            };
            let container = container.map_err(|error| {
                error.at(cursor.offset()).within(format!("bitmap container {index} of {count}"))
            })?;
            set.len += u64::from(container.cardinality);
            set.containers.push(container);
        }
        set.bytes.truncate(cursor.consumed());
        Ok((set, cursor.consumed()))
    }

    /// Checks one container and adds it to the rank directory.
    fn container(
        &mut self,
        key: u16,
        cardinality: u32,
        is_runs: bool,
        cursor: &mut Cursor<'_>,
    ) -> Result<Container> {
        let (before, ranks) = (self.len, self.ranks.len());
        let mut container =
            Container { key, kind: Kind::Array, cardinality, before, at: 0, entries: 0, ranks };
        let found = if is_runs {
            container.kind = Kind::Runs;
            container.entries = cursor.u16("run count")? as usize;
            container.at = cursor.consumed();
            let (runs, _) = cursor.take(4 * container.entries, "runs")?.as_chunks::<4>();
            self.runs(runs)?
        } else if cardinality <= MAX_ARRAY {
            container.entries = cardinality as usize;
            container.at = cursor.consumed();
            let (values, _) = cursor.take(2 * container.entries, "numbers")?.as_chunks::<2>();
            let ascends = values.is_sorted_by(|a, b| u16::from_le_bytes(*a) < u16::from_le_bytes(*b));
            ensure!(ascends, "expected ascending numbers");
            cardinality
        } else {
            container.kind = Kind::Bits;
            container.entries = BITS_BYTES * 8 / BLOCK;
            container.at = cursor.consumed();
            let mut found = 0;
            for block in cursor.take(BITS_BYTES, "bits")?.chunks_exact(BLOCK / 8) {
                // At most 65,024 numbers precede the last block.
                self.ranks.push(found as u16);
                found += bits::count_ones(block, 0..BLOCK) as u32;
            }
            found
        };
        ensure!(found == cardinality, "expected {cardinality} numbers, found {found}");
        Ok(container)
    }

    /// Checks the runs of a container and returns how many numbers they hold.
    fn runs(&mut self, runs: &[[u8; 4]]) -> Result<u32> {
        let (mut found, mut end) = (0u32, 0u32);
        for (index, run) in runs.iter().enumerate() {
            let (start, last) = run_bounds(*run);
            ensure!(index == 0 || start >= end, "expected runs that ascend, found a start of {start}");
            ensure!(u64::from(last) < SPAN, "expected runs below {SPAN}, found an end at {last}");
            // Below 65,536, as another run follows the numbers counted so far.
            self.ranks.push(found as u16);
            found += last - start + 1;
            end = last + 1;
        }
        Ok(found)
    }

    /// A set of the numbers of `values`, which ascend strictly.
    ///
    /// # Panics
    /// If they do not.
    pub fn from_sorted(values: &[u32]) -> Self {
        let bytes = Bytes::from(encode(values));
        Self::parse(&bytes).expect("a bitmap of ascending numbers is valid")
    }

    /// The set as it lies in a file.
    pub fn as_bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The bytes of memory that the set keeps, those that it was parsed from among them.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.len() + self.containers.capacity() * size_of::<Container>() + self.ranks.capacity() * 2
    }

    /// How many numbers.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The largest number.
    pub fn max(&self) -> Option<u32> {
        let container = self.containers.last()?;
        let low = match container.kind {
            Kind::Array => u32::from(self.number(container, container.entries - 1)),
            Kind::Runs => self.run(container, container.entries - 1).1,
            Kind::Bits => {
                let words = (0..BITS_BYTES / 8).rev();
                let mut words = words.map(|index| (index as u32, self.word(container, index)));
                words.find(|(_, word)| *word != 0).map(|(index, word)| index * 64 + word.ilog2())?
            }
        };
        Some(u32::from(container.key) << 16 | low)
    }

    /// Whether `value` is in the set.
    #[inline]
    pub fn contains(&self, value: u32) -> bool {
        let (key, low) = split(value);
        let Ok(index) = self.find(key) else { return false };
        let container = &self.containers[index];
        match container.kind {
            Kind::Bits => bits::get(&self.bytes[container.at..], low as usize),
            Kind::Array => {
                let at = self.numbers_below(container, low);
                at < container.entries && u32::from(self.number(container, at)) == low
            }
            Kind::Runs => {
                let at = partition_point(container.entries, |index| self.run(container, index).0 <= low);
                at > 0 && low <= self.run(container, at - 1).1
            }
        }
    }

    /// How many numbers of the set are less than `value`.
    pub fn rank(&self, value: u32) -> u64 {
        let (key, low) = split(value);
        let container = match self.find(key) {
            Ok(index) => &self.containers[index],
            Err(index) => return self.containers.get(index).map_or(self.len, |next| next.before),
        };
        let within = match container.kind {
            Kind::Array => self.numbers_below(container, low) as u64,
            Kind::Bits => {
                let block = low as usize / BLOCK;
                let counted = u64::from(self.ranks[container.ranks + block]);
                counted + bits::count_ones(&self.bytes[container.at..], block * BLOCK..low as usize) as u64
            }
            Kind::Runs => {
                let at = partition_point(container.entries, |index| self.run(container, index).0 < low);
                match at.checked_sub(1) {
                    None => 0,
                    Some(at) => {
                        let (start, last) = self.run(container, at);
                        u64::from(self.ranks[container.ranks + at]) + u64::from(low.min(last + 1) - start)
                    }
                }
            }
        };
        container.before + within
    }

    /// The number that is not in the set and that `n` others which are not in it precede; it may lie
    /// beyond 32 bits.
    pub fn nth_absent(&self, n: u64) -> u64 {
        // How many absent numbers precede the container.
        let absent_before = |container: &Container| (u64::from(container.key) << 16) - container.before;
        let index = self.containers.partition_point(|container| absent_before(container) <= n);
        let Some(container) = index.checked_sub(1).map(|index| &self.containers[index]) else { return n };
        let start = u64::from(container.key) << 16;
        let rest = n - absent_before(container);
        match rest.checked_sub(SPAN - u64::from(container.cardinality)) {
            Some(beyond) => start + SPAN + beyond,
            None => start + u64::from(self.nth_absent_within(container, rest as u32)),
        }
    }

    /// The lower half of the absent number that `n` others of the container precede, if it has so many.
    fn nth_absent_within(&self, container: &Container, n: u32) -> u32 {
        let rank = |index: usize| u32::from(self.ranks[container.ranks + index]);
        match container.kind {
            Kind::Array => {
                let number = |index| u32::from(self.number(container, index));
                n + partition_point(container.entries, |index| number(index) - index as u32 <= n) as u32
            }
            Kind::Runs => {
                let at = partition_point(container.entries, |index| {
                    self.run(container, index).0 - rank(index) <= n
                });
                n + if at == container.entries { container.cardinality } else { rank(at) }
            }
            Kind::Bits => {
                let absent_before = |block: usize| (block * BLOCK) as u32 - rank(block);
                // Nothing precedes the first block, so the point lies behind it.
                let block = partition_point(container.entries, |block| absent_before(block) <= n) - 1;
                let mut rest = n - absent_before(block);
                let mut index = block * BLOCK / 64;
                loop {
                    let absent = !self.word(container, index);
                    if rest < absent.count_ones() {
                        return index as u32 * 64 + nth_one(absent, rest);
                    }
                    rest -= absent.count_ones();
                    index += 1;
                }
            }
        }
    }

    /// The numbers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges(0).flatten().map(|value| value as u32)
    }

    /// The numbers from `from` on as ascending ranges, which may touch each other.
    pub fn ranges(&self, from: u32) -> impl Iterator<Item = Range<u64>> + '_ {
        let (key, low) = split(from);
        let (container, at) = match self.find(key) {
            Ok(index) => {
                let container = &self.containers[index];
                let at = match container.kind {
                    Kind::Array => self.numbers_below(container, low),
                    Kind::Runs => partition_point(container.entries, |run| self.run(container, run).1 < low),
                    Kind::Bits => low as usize,
                };
                (index, at)
            }
            Err(index) => (index, 0),
        };
        Ranges { set: self, container, at, from: u64::from(from) }
    }

    /// The numbers as they are stored: for each upper half, ascending, how many there are and which lower halves.
    pub fn containers(&self) -> impl ExactSizeIterator<Item = (u16, u32, Numbers<'_>)> {
        self.containers.iter().map(|container| {
            let bytes = &self.bytes[container.at..];
            let numbers = match container.kind {
                Kind::Array => Numbers::Array(&bytes.as_chunks().0[..container.entries]),
                Kind::Runs => Numbers::Runs(&bytes.as_chunks().0[..container.entries]),
                Kind::Bits => Numbers::Bits(&bytes.as_chunks().0[..BITS_BYTES / 8]),
            };
            (container.key, container.cardinality, numbers)
        })
    }

    /// The position of the container for `key`, or where it would be.
    #[inline]
    fn find(&self, key: u16) -> Result<usize, usize> {
        let containers = &self.containers;
        // In a dense set container i has key i.
        match containers.get(key as usize) {
            Some(container) if container.key == key => Ok(key as usize),
            _ => containers.binary_search_by_key(&key, |container| container.key),
        }
    }

    /// Number `index` of an array.
    #[inline]
    fn number(&self, container: &Container, index: usize) -> u16 {
        let at = container.at + 2 * index;
        u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]])
    }

    /// How many numbers of an array are less than `low`.
    #[inline]
    fn numbers_below(&self, container: &Container, low: u32) -> usize {
        partition_point(container.entries, |index| u32::from(self.number(container, index)) < low)
    }

    /// The first and the last number of a run.
    #[inline]
    fn run(&self, container: &Container, index: usize) -> (u32, u32) {
        let at = container.at + 4 * index;
        let mut run = [0; 4];
        run.copy_from_slice(&self.bytes[at..at + 4]);
        run_bounds(run)
    }

    /// 64 bits of a container of bits.
    #[inline]
    fn word(&self, container: &Container, index: usize) -> u64 {
        let at = container.at + 8 * index;
        let mut word = [0; 8];
        word.copy_from_slice(&self.bytes[at..at + 8]);
        u64::from_le_bytes(word)
    }

    /// The next range at or behind entry (array, runs) or bit `at`, and where to go on.
    fn next_range(&self, container: &Container, at: usize) -> Option<(Range<u64>, usize)> {
        match container.kind {
            Kind::Array => {
                let numbers = (at..container.entries).map(|index| u64::from(self.number(container, index)));
                let mut numbers = numbers.peekable();
                let start = numbers.next()?;
                let mut end = start + 1;
                while numbers.next_if_eq(&end).is_some() {
                    end += 1;
                }
                Some((start..end, at + (end - start) as usize))
            }
            Kind::Runs => {
                let (start, last) = (at < container.entries).then(|| self.run(container, at))?;
                Some((u64::from(start)..u64::from(last) + 1, at + 1))
            }
            Kind::Bits => {
                let start = self.next_bit(container, at, 0)?;
                let end = self.next_bit(container, start, u64::MAX).unwrap_or(SPAN as usize);
                Some((start as u64..end as u64, end))
            }
        }
    }

    /// The first bit at or behind `from` that differs from the bits of `background`.
    fn next_bit(&self, container: &Container, from: usize, background: u64) -> Option<usize> {
        let mut mask = u64::MAX << (from % 64);
        for index in from / 64..BITS_BYTES / 8 {
            let word = (self.word(container, index) ^ background) & mask;
            if word != 0 {
                return Some(index * 64 + word.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }
}

/// Ranges of a set, see [`Roaring::ranges`].
struct Ranges<'a> {
    set: &'a Roaring,
    container: usize,
    at: usize,
    from: u64,
}

impl Iterator for Ranges<'_> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        loop {
            let container = self.set.containers.get(self.container)?;
            let Some((range, next)) = self.set.next_range(container, self.at) else {
                (self.container, self.at) = (self.container + 1, 0);
                continue;
            };
            self.at = next;
            let start = u64::from(container.key) << 16;
            // The first run may begin before the number that was asked for.
            return Some((start + range.start).max(self.from)..start + range.end);
        }
    }
}

impl fmt::Debug for Roaring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Roaring({} numbers)", self.len)
    }
}

impl PartialEq for Roaring {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl Eq for Roaring {}

/// The layout without runs of numbers that ascend strictly.
fn encode(values: &[u32]) -> Vec<u8> {
    let groups = || values.chunk_by(|a, b| a >> 16 == b >> 16);
    let count = groups().count();
    let mut out = Vec::with_capacity(8 + 8 * count + 2 * values.len());
    out.extend(COOKIE.to_le_bytes());
    out.extend((count as u32).to_le_bytes());
    for group in groups() {
        out.extend(((group[0] >> 16) as u16).to_le_bytes());
        out.extend((group.len() as u16).wrapping_sub(1).to_le_bytes());
    }
    let mut position = 8 + 8 * count;
    for group in groups() {
        out.extend((position as u32).to_le_bytes());
        position += if group.len() <= MAX_ARRAY as usize { 2 * group.len() } else { BITS_BYTES };
    }
    for group in groups() {
        if group.len() <= MAX_ARRAY as usize {
            out.extend(group.iter().flat_map(|value| (*value as u16).to_le_bytes()));
        } else {
            let start = out.len();
            out.resize(start + BITS_BYTES, 0);
            for value in group {
                bits::set(&mut out[start..], (*value as u16).into());
            }
        }
    }
    out
}

/// The upper and the lower half.
fn split(value: u32) -> (u16, u32) {
    ((value >> 16) as u16, value & 0xffff)
}

/// The first and the last number of a run; the last may exceed 16 bits in a corrupt one.
fn run_bounds(run: [u8; 4]) -> (u32, u32) {
    let [start, length] =
        [[run[0], run[1]], [run[2], run[3]]].map(|half| u32::from(u16::from_le_bytes(half)));
    (start, start + length)
}

/// The first index below `len` for which `is_before` does not hold; it holds for none behind that.
#[inline]
pub(crate) fn partition_point(len: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut size) = (0, len);
    // Which half comes next cannot be foreseen: it is chosen without a branch.
    while size > 1 {
        let half = size / 2;
        low = select_unpredictable(is_before(low + half), low + half, low);
        size -= half;
    }
    if size == 1 && is_before(low) { low + 1 } else { low }
}

/// The position of the set bit that `n` others precede.
pub(super) fn nth_one(mut word: u64, mut n: u32) -> u32 {
    let mut position = 0;
    for width in [32, 16, 8] {
        let ones = (word & ((1 << width) - 1)).count_ones();
        let above = ones <= n;
        n -= select_unpredictable(above, ones, 0);
        let shift = select_unpredictable(above, width, 0);
        word >>= shift;
        position += shift;
    }
    for _ in 0..n {
        word &= word - 1;
    }
    position + word.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Numbers of every kind of container: a few, dense ones, whole containers, and gaps between them.
    fn samples() -> Vec<Vec<u32>> {
        // More than an array holds, and a whole container.
        let (many, whole) = if cfg!(miri) { (5_000, 5_000) } else { (40_000, 1 << 16) };
        let dense = |start: u32, step: usize| (start..start + many).step_by(step);
        vec![
            vec![],
            vec![0],
            vec![u32::MAX],
            vec![3, 4, 5, 9, 65_535, 65_536, 200_000],
            dense(10, 3).collect(),
            dense(0, 1).chain([65_535, 65_536]).chain(dense(1 << 20, 7)).collect(),
            (0..whole).chain(131_072..131_072 + 2 * whole).collect(),
        ]
    }

    /// The layout with runs of the same numbers.
    fn encode_runs(values: &[u32]) -> Vec<u8> {
        let groups: Vec<&[u32]> = values.chunk_by(|a, b| a >> 16 == b >> 16).collect();
        let mut out = Vec::new();
        out.extend(COOKIE_WITH_RUNS.to_le_bytes());
        out.extend((groups.len() as u16 - 1).to_le_bytes());
        out.extend(vec![0xff; groups.len().div_ceil(8)]);
        let mut containers = Vec::new();
        let mut positions = Vec::new();
        for group in &groups {
            out.extend(((group[0] >> 16) as u16).to_le_bytes());
            out.extend((group.len() as u16).wrapping_sub(1).to_le_bytes());
            positions.push(containers.len());
            let runs: Vec<&[u32]> = group.chunk_by(|a, b| a + 1 == *b).collect();
            containers.extend((runs.len() as u16).to_le_bytes());
            for run in runs {
                containers.extend((run[0] as u16).to_le_bytes());
                containers.extend((run.len() as u16).wrapping_sub(1).to_le_bytes());
            }
        }
        if groups.len() >= MIN_POSITIONS {
            let start = out.len() + 4 * positions.len();
            out.extend(positions.iter().flat_map(|at| ((start + at) as u32).to_le_bytes()));
        }
        out.extend(containers);
        out
    }

    fn check(set: &Roaring, values: &[u32]) {
        assert!(set.iter().eq(values.iter().copied()));
        assert_eq!(set.len(), values.len() as u64);
        assert_eq!(set.max(), values.last().copied());
        let (step, next) = if cfg!(miri) { (4_999, 30) } else { (997, 300) };
        let around = values
            .iter()
            .step_by(step)
            .flat_map(|value| [value.wrapping_sub(1), *value, value.wrapping_add(1)]);
        for value in around.chain([0, 1, 511, 512, 65_535, 65_536, 1 << 20, u32::MAX]) {
            assert_eq!(set.contains(value), values.binary_search(&value).is_ok(), "{value}");
            let rank = values.partition_point(|other| *other < value);
            assert_eq!(set.rank(value), rank as u64, "{value}");
            if !set.contains(value) {
                assert_eq!(set.nth_absent(u64::from(value) - rank as u64), value.into(), "{value}");
            }
            let rest: Vec<u32> = set.ranges(value).flatten().map(|value| value as u32).take(next).collect();
            assert!(rest.iter().eq(values[rank..].iter().take(next)), "{value}");
        }
    }

    #[test]
    fn answers_like_a_plain_set() {
        for values in samples() {
            check(&Roaring::from_sorted(&values), &values);
            if !values.is_empty() {
                check(&Roaring::parse(&encode_runs(&values).into()).unwrap(), &values);
            }
        }
    }

    #[test]
    fn numbers_absent_beyond_32_bits() {
        let set = Roaring::from_sorted(&[7, u32::MAX]);
        assert_eq!(set.nth_absent((1 << 32) - 3), (1 << 32) - 2);
        assert_eq!(set.nth_absent((1 << 32) - 2), 1 << 32);
    }

    #[test]
    fn reads_real_bytes() {
        let bytes = b"\x3a\x30\0\0\x01\0\0\0\0\0\x02\0\x10\0\0\0\0\0\x01\0\x02\0";
        let set = Roaring::parse(&Bytes::from_static(bytes)).unwrap();
        assert!(set.iter().eq([0, 1, 2]));
        assert_eq!(&set.as_bytes()[..], bytes);
        assert_eq!(encode(&[0, 1, 2]), bytes);
    }

    #[test]
    fn refuses_every_truncation_and_what_follows() {
        let values = &samples()[3];
        for bytes in [encode(values), encode_runs(values)] {
            for len in 0..bytes.len() {
                assert!(Roaring::parse(&Bytes::copy_from_slice(&bytes[..len])).is_err(), "{len}");
            }
            let mut longer = bytes;
            longer.push(0);
            assert!(Roaring::parse(&longer.into()).is_err());
        }
    }

    #[test]
    fn refuses_what_contradicts_the_layout() {
        let with = |values: &[u32], at: usize, byte: u8| {
            let mut bytes = encode(values);
            bytes[at] = byte;
            Roaring::parse(&bytes.into())
        };
        assert!(with(&[1, 2], 0, 0x39).is_err(), "cookie");
        assert!(with(&[1, 2], 6, 0xff).is_err(), "container count");
        assert!(with(&[1, 1 << 16], 12, 0).is_err(), "keys");
        assert!(with(&[1, 2], 12, 17).is_err(), "positions");
        assert!(with(&[1, 2], 16, 2).is_err(), "array");
        let dense: Vec<u32> = (0..5000).collect();
        assert!(with(&dense, 16, 0xfe).is_err(), "cardinality of bits");
        let runs = |at: usize, byte: u8| {
            let mut bytes = encode_runs(&[1, 2, 5, 65_535]);
            bytes[at] = byte;
            Roaring::parse(&bytes.into())
        };
        assert!(runs(0, 0x3b).is_ok());
        assert!(runs(7, 1).is_err(), "cardinality of runs");
        assert!(runs(15, 2).is_err(), "overlap");
        assert!(runs(21, 1).is_err(), "end");
    }
}

//! Rows that compactions moved while an index was not told.

use super::{
    Chunk, RowSet,
    block::{Block, contains, number},
};
use alloc::vec::Vec;
use core::ops::Range;
use lancet_format::table::{FragmentReuse, Numbers, ReuseGroup, ReuseVersion, Roaring};

/// Fewer rows of a chunk than this are looked up one by one.
const FEW: u32 = 32;

/// Where rows are now that an index knows by older addresses.
#[derive(Debug, Default)]
pub struct Moved {
    /// The present addresses; rows that were deleted are not among them.
    pub rows: RowSet,
    /// Whether two of the older addresses became one.
    pub is_ambiguous: bool,
}

impl Moved {
    /// Follows rows through all compactions, the oldest first.
    pub fn of(rows: RowSet, reuse: &FragmentReuse) -> Self {
        let mut moved = Moved { rows, is_ambiguous: false };
        for version in reuse.versions() {
            if moved.rows.fragments().any(|(fragment, _)| version.group_of(fragment).is_some()) {
                moved.follow(version);
            }
        }
        moved
    }

    fn follow(&mut self, version: &ReuseVersion) {
        let (mut stay, mut ranges): (Vec<Chunk<'_>>, Vec<Range<u64>>) = (Vec::new(), Vec::new());
        let chunks: Vec<Chunk<'_>> = self.rows.chunks().collect();
        for chunks in chunks.chunk_by(|a, b| a.key >> 16 == b.key >> 16) {
            let fragment = (chunks[0].key >> 16) as u32;
            match version.group_of(fragment) {
                None => stay.extend(chunks),
                Some(group) => extend_places(fragment, chunks, group, &mut ranges),
            }
        }
        ranges.sort_unstable_by_key(|range| range.start);
        let mut rows = RowSet::new();
        rows.assign_ranges(ranges.iter().cloned());
        let expected = ranges.iter().map(|range| range.end - range.start).sum::<u64>()
            + stay.iter().map(|chunk| u64::from(chunk.cardinality)).sum::<u64>();
        if !stay.is_empty() {
            let mut all = RowSet::new();
            all.assign_union(stay.into_iter().chain(rows.chunks()), &mut Vec::new());
            rows = all;
        }
        self.is_ambiguous |= rows.len() < expected;
        self.rows = rows;
    }
}

/// Appends where the rows of one old fragment are now.
fn extend_places(fragment: u32, chunks: &[Chunk<'_>], group: &ReuseGroup, out: &mut Vec<Range<u64>>) {
    let first = group.kept.rank(u64::from(fragment) << 32);
    let Some((_, kept)) = group.kept.parts().find(|(upper, _)| *upper == fragment) else { return };
    let mut push = |numbers: Range<u64>| out.extend(group.places(first + numbers.start..first + numbers.end));
    let mut containers = containers(kept).peekable();
    for chunk in chunks {
        let key = chunk.key as u16;
        while containers.next_if(|(own, ..)| *own < key).is_some() {}
        let Some(&(_, before, rows)) = containers.peek().filter(|(own, ..)| *own == key) else { continue };
        match chunk.rows {
            Numbers::Array(wanted) if chunk.cardinality < FEW => {
                for low in wanted.iter().map(number).filter(|low| contains(rows, *low)) {
                    let number = kept.rank(u32::from(key) << 16 | u32::from(low));
                    push(number..number + 1);
                }
            }
            wanted => each_number(wanted, rows, |range| push(before + range.start..before + range.end)),
        }
    }
}

/// The containers of a set with how many numbers precede them.
fn containers(set: &Roaring) -> impl Iterator<Item = (u16, u64, Numbers<'_>)> {
    set.containers().scan(0, |before, (key, cardinality, numbers)| {
        let own = *before;
        *before += u64::from(cardinality);
        Some((key, own, numbers))
    })
}

/// The numbers that those of `wanted` have among `kept`, as ascending ranges.
fn each_number(wanted: Numbers<'_>, kept: Numbers<'_>, mut each: impl FnMut(Range<u64>)) {
    let (mut all, mut some) = (Block::new(), Block::new());
    all.insert(kept);
    some.insert(wanted);
    let (mut before, mut open) = (0, 0..0);
    for (&all, &some) in all.words().iter().zip(some.words()) {
        let mut rest = all & some;
        let mut push = |numbers: Range<u64>| match open.end == numbers.start {
            true => open.end = numbers.end,
            false => each(core::mem::replace(&mut open, numbers)),
        };
        if rest == all && rest != 0 {
            push(before..before + u64::from(all.count_ones()));
            rest = 0;
        }
        while rest != 0 {
            let below = (rest & rest.wrapping_neg()) - 1;
            let number = before + u64::from((all & below).count_ones());
            push(number..number + 1);
            rest &= rest - 1;
        }
        before += u64::from(all.count_ones());
    }
    each(open);
}

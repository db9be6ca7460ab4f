//! The sets against plain ones, with chunks of every kind.

use super::*;
use alloc::{collections::BTreeSet, format, vec};

/// A small generator of numbers: xorshift.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        self.word() % end
    }
}

/// Rows of two fragments: a few, many, runs, whole chunks.
fn rows(random: &mut Random) -> BTreeSet<u64> {
    let mut rows = BTreeSet::new();
    for _ in 0..random.below(4) {
        let base = random.below(2) << 32 | random.below(3) << 16;
        match random.below(4) {
            0 => rows.extend((0..random.below(30)).map(|_| base + random.below(1 << 16))),
            1 => rows.extend((0..6000).map(|_| base + random.below(1 << 16))),
            2 => {
                let start = base + random.below(70_000);
                rows.extend(start..start + random.below(9_000));
            }
            _ => rows.extend((base..base + (1 << 16)).step_by(1 + random.below(9) as usize)),
        }
    }
    rows
}

fn check(set: &RowSet, expected: &BTreeSet<u64>) {
    assert_eq!(set.len(), expected.len() as u64);
    assert!(set.iter().eq(expected.iter().copied()));
    let mut last = None;
    for range in set.ranges() {
        assert!(range.start < range.end && last.is_none_or(|last| last < range.start));
        last = Some(range.end);
    }
    for fragment in 0..3u32 {
        let own = expected.range(u64::from(fragment) << 32..u64::from(fragment + 1) << 32);
        assert!(set.ranges_of(fragment).flatten().eq(own.clone().map(|row| row & 0xffff_ffff)));
        assert_eq!(set.len_of(fragment), own.count() as u64);
    }
    let fragments: BTreeSet<u32> = expected.iter().map(|row| (row >> 32) as u32).collect();
    assert!(set.fragments().eq(fragments.iter().map(|&fragment| (fragment, set.len_of(fragment)))));
    for row in expected.iter().step_by(1 + expected.len() / 50).flat_map(|row| [*row, row + 1, row ^ 1 << 33])
    {
        assert_eq!(set.contains(row), expected.contains(&row), "{row}");
    }
}

#[test]
fn the_algebra_is_that_of_plain_sets() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut out, mut spare) = (RowSet::new(), Vec::new());
    for round in 0..if cfg!(miri) { 3 } else { 40 } {
        let plain: Vec<BTreeSet<u64>> = (0..1 + round % 4).map(|_| rows(&mut random)).collect();
        let sets: Vec<RowSet> = plain.iter().map(|rows| rows.iter().copied().collect()).collect();
        sets.iter().zip(&plain).for_each(|(set, plain)| check(set, plain));
        out.assign_union(sets.iter().flat_map(RowSet::chunks), &mut spare);
        check(&out, &plain.iter().flatten().copied().collect());
        spare = Vec::new();
        out.assign_intersection(&sets.iter().collect::<Vec<_>>());
        check(
            &out,
            &plain[0].iter().filter(|row| plain.iter().all(|set| set.contains(row))).copied().collect(),
        );
        let (a, b) = (&sets[0], &sets[sets.len() - 1]);
        check(&a.difference(b), &plain[0].difference(&plain[plain.len() - 1]).copied().collect());
        assert_eq!(a.union(b), b.union(a));
        assert_eq!(a.intersection(b), a.difference(&a.difference(b)));
    }
}

#[test]
fn ids_come_in_any_order() {
    let mut random = Random(7);
    let (mut set, mut spare) = (RowSet::new(), Vec::new());
    for _ in 0..20 {
        let plain = rows(&mut random);
        let mut ids: Vec<u64> = plain.iter().copied().collect();
        for i in (1..ids.len()).rev() {
            ids.swap(i, random.below(i as u64 + 1) as usize);
        }
        ids.extend_from_within(..ids.len() / 2);
        set.assign_ids(&ids, &mut spare);
        check(&set, &plain);
    }
    set.assign_ids(&[u64::MAX, 0, u64::MAX], &mut spare);
    assert!(set.len() == 2 && set.contains(u64::MAX) && set.contains(0));
}

#[test]
fn ranges_may_overlap() {
    let mut set = RowSet::new();
    set.assign_ranges([
        3..3,
        5..70_000,
        60_000..65_536,
        70_000..70_001,
        80_000..80_001,
        1 << 32..(1 << 32) + 2,
    ]);
    let ranges: Vec<Range<u64>> = set.ranges().collect();
    assert_eq!(ranges, vec![5..70_001, 80_000..80_001, 1 << 32..(1 << 32) + 2]);
    check(&set, &ranges.into_iter().flatten().collect());
    set.assign_ranges((0..10_000).map(|i| 2 * i..2 * i + 1));
    check(&set, &(0..20_000).step_by(2).collect());
    assert_eq!(format!("{set:?}"), "RowSet(10000 rows)");
}

#[test]
fn whole_chunks_are_short() {
    let mut set = RowSet::new();
    set.assign_ranges(core::iter::once(0..1 << 32));
    assert_eq!((set.len(), set.chunks().len()), (1 << 32, 1 << 16));
    assert!(set.memory() < 8 << 20);
    let hole: RowSet = [77, 1 << 20].into_iter().collect();
    let rest = set.difference(&hole);
    assert_eq!(rest.len(), (1 << 32) - 2);
    assert_eq!(rest.ranges().next(), Some(0..77));
    assert_eq!(set.difference(&rest), hole);
}

#[test]
fn a_set_that_is_filled_again_keeps_its_room() {
    let (mut set, mut spare) = (RowSet::new(), Vec::new());
    set.assign_ids(&[1, 2, 3, 1 << 40], &mut spare);
    let memory = set.memory();
    for id in 0..100 {
        set.assign_ids(&[id], &mut spare);
        assert_eq!((set.len(), set.memory()), (1, memory));
    }
}

/// A message of bytes: fields 1 to 15 with numbers or bytes.
fn message(fields: &[(u8, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, bytes) in fields {
        out.push(number << 3 | 2);
        put_varint(bytes.len() as u64, &mut out);
        out.extend_from_slice(bytes);
    }
    out
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn digest(id: u64, rows: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for (tag, value) in [(0x08, id), (0x10, rows)] {
        out.push(tag);
        put_varint(value, &mut out);
    }
    out
}

/// A compaction of old fragments, each with rows of which `kept` are left, into new ones of at most `most` rows.
fn compaction(version: u64, old: &[(u64, u64)], kept: &BTreeSet<u64>, new: u64, most: u64) -> Vec<u8> {
    let parts: BTreeSet<u32> = kept.iter().map(|row| (row >> 32) as u32).collect();
    let mut set = (parts.len() as u64).to_le_bytes().to_vec();
    for part in parts {
        let own: Vec<u32> =
            kept.iter().filter(|row| (**row >> 32) as u32 == part).map(|row| *row as u32).collect();
        set.extend(part.to_le_bytes());
        set.extend_from_slice(lancet_format::table::Roaring::from_sorted(&own).as_bytes());
    }
    let old: Vec<_> = old.iter().map(|(id, rows)| digest(*id, *rows)).collect();
    let count = kept.len() as u64;
    let new: Vec<_> = (0..count.div_ceil(most))
        .map(|fragment| digest(new + fragment, most.min(count - fragment * most)))
        .collect();
    let mut fields: Vec<(u8, &[u8])> = vec![(1, &set)];
    fields.extend(old.iter().map(|bytes| (2, &bytes[..])));
    fields.extend(new.iter().map(|bytes| (3, &bytes[..])));
    let group = message(&fields);
    let mut out = vec![0x08];
    put_varint(version, &mut out);
    out.extend(message(&[(3, &group)]));
    out
}

#[test]
fn rows_move_as_addresses_do() {
    const ROWS: u64 = 3 << 16;
    let mut random = Random(0x5eed);
    for _ in 0..60 {
        let mut kept = rows(&mut random);
        kept.extend((0..200).map(|_| random.below(2) << 32 | random.below(ROWS)));
        let most = 1 + random.below(kept.len() as u64);
        let last = 10 + (kept.len() as u64).div_ceil(most) - 1;
        let first = compaction(3, &[(0, ROWS), (1, ROWS)], &kept, 10, most);
        // The last of the new fragments is compacted again, alone.
        let rows_of_last = kept.len() as u64 - (last - 10) * most;
        let again = (0..rows_of_last).filter(|row| row % 3 != 1).map(|row| last << 32 | row).collect();
        let second = compaction(5, &[(last, rows_of_last)], &again, 900_000, 1 + random.below(900));
        let bytes = message(&[(1, &first), (1, &second)]);
        let reuse = lancet_format::table::FragmentReuse::parse(&bytes.into()).unwrap();
        // Rows that move, rows that were deleted, and others that stay.
        let mut some: BTreeSet<u64> = kept.iter().copied().filter(|_| random.below(3) > 0).collect();
        some.extend(rows(&mut random));
        some.extend((0..random.below(50)).map(|row| (5 << 32) + row * 7));
        let expected: BTreeSet<u64> = some.iter().filter_map(|row| reuse.map(*row)).collect();
        let moved = Moved::of(some.iter().copied().collect(), &reuse);
        check(&moved.rows, &expected);
        assert!(!moved.is_ambiguous);
        // The place of a row that moved, and the row.
        if let Some((old, now)) = some.iter().find_map(|row| Some((*row, reuse.map(*row)?)))
            && old != now
        {
            let both = Moved::of([old, now].into_iter().collect(), &reuse);
            assert!(both.is_ambiguous && both.rows.iter().eq([now]));
        }
    }
}

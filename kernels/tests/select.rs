//! Selection, with every instruction set, against sorting all rows.

mod common;

use common::{Random, rounds, some, with_each_isa};
use lancet_kernels::select::{Hit, Ids, TopK, merge, scan, smallest};
use std::ops::{Bound, RangeBounds};

/// Distances of some kind: with many ties, special ones, or any.
fn distances(random: &mut Random, rows: usize) -> Vec<f32> {
    const SPECIAL: [f32; 10] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -f32::NAN,
        f32::MIN_POSITIVE / 2.0,
        f32::MAX,
    ];
    let kind = random.below(6);
    (0..rows)
        .map(|row| match kind {
            0 => random.below(4) as f32,
            1 => random.pick(&SPECIAL),
            2 => row as f32,
            3 => -(row as f32),
            4 => 7.5,
            _ => f32::from_bits(random.word() as u32),
        })
        .collect()
}

fn expected(
    distances: &[f32],
    id: impl Fn(usize) -> u64,
    k: usize,
    lets_in: impl Fn(usize) -> bool,
) -> Vec<(u32, u64)> {
    let rows = (0..distances.len()).filter(|&row| !distances[row].is_nan() && lets_in(row));
    let mut hits: Vec<Hit> = rows.map(|row| Hit { distance: distances[row], id: id(row) }).collect();
    hits.sort();
    hits.truncate(k);
    plain(hits)
}

/// Hits that can be compared bit by bit.
fn plain(hits: impl IntoIterator<Item = Hit>) -> Vec<(u32, u64)> {
    hits.into_iter().map(|hit| (hit.distance.to_bits(), hit.id)).collect()
}

const LENGTHS: [usize; 18] =
    [0, 1, 2, 10, 63, 64, 65, 127, 128, 200, 255, 256, 257, 513, 1000, 1025, 3000, 10_000];
const KS: [usize; 12] = [0, 1, 2, 10, 64, 100, 256, 257, 1000, 5000, 10_000, usize::MAX];

#[test]
fn blocks_of_any_size() {
    with_each_isa(|isa| {
        let mut random = Random(1);
        let mut top = TopK::new();
        for rows in some(LENGTHS) {
            for k in some(KS) {
                let distances = distances(&mut random, rows);
                let ids: Vec<u64> =
                    (0..rows).map(|_| random.word() >> 60 << 32 | random.word() >> 48).collect();
                let want = expected(&distances, |row| ids[row], k, |_| true);
                top.reset(k, ..);
                assert_eq!(top.k(), k);
                let mut at = 0;
                while at < rows {
                    let end = rows.min(at + 1 + random.below(700));
                    if random.below(2) == 0 {
                        top.push_block(&distances[at..end], Ids::Of(&ids[at..end]), None);
                    } else {
                        (at..end).for_each(|row| top.push(distances[row], ids[row]));
                    }
                    at = end;
                }
                assert_eq!(plain(top.finish()), want, "{isa}: {k} of {rows}");
            }
        }
    });
}

#[test]
fn consecutive_ids_and_excluded_rows() {
    with_each_isa(|isa| {
        let mut random = Random(2);
        let mut top = TopK::default();
        for rows in some(LENGTHS) {
            for k in some(KS) {
                let distances = distances(&mut random, rows);
                let first = random.pick(&[0, 1 << 40, u64::MAX - 100]);
                let density = random.below(4);
                let mut excluded: Vec<u64> = (0..rows.div_ceil(64))
                    .map(|_| [0, random.word(), !0, random.word() | random.word()][density])
                    .collect();
                if let Some(last) = excluded.last_mut().filter(|_| rows % 64 != 0) {
                    *last &= (1 << (rows % 64)) - 1;
                }
                let is_in = |row: usize| excluded[row / 64] >> (row % 64) & 1 == 0;
                let id = |row: usize| first.wrapping_add(row as u64);
                for (excluded, want) in [
                    (None, expected(&distances, id, k, |_| true)),
                    (Some(&excluded[..]), expected(&distances, id, k, is_in)),
                ] {
                    top.reset(k, ..);
                    top.push_block(&distances, Ids::From(first), excluded);
                    assert_eq!(plain(top.finish()), want, "{isa}: {k} of {rows} from {first}");

                    top.reset(k, ..);
                    let copy = |range: std::ops::Range<usize>, out: &mut [f32]| {
                        out.copy_from_slice(&distances[range]);
                    };
                    scan(&mut top, rows, Ids::From(first), excluded, copy);
                    assert_eq!(plain(top.finish()), want, "{isa}: scan for {k} of {rows}");
                }
            }
        }
    });
}

#[test]
fn ranges_of_distances() {
    with_each_isa(|isa| {
        let mut random = Random(3);
        let mut top = TopK::new();
        for round in 0..rounds(300) {
            let distances = distances(&mut random, 300);
            let bounds = [random.pick(&distances), random.pick(&distances)];
            let bound = |random: &mut Random, at: f32| match random.below(3) {
                0 => Bound::Included(at),
                1 => Bound::Excluded(at),
                _ => Bound::Unbounded,
            };
            let range = (bound(&mut random, bounds[0]), bound(&mut random, bounds[1]));
            if bounds.iter().any(|bound| bound.is_nan()) {
                continue;
            }
            let want = expected(&distances, |row| row as u64, 20, |row| range.contains(&distances[row]));
            top.reset(20, range);
            scan(&mut top, 300, Ids::From(0), None, |range, out| out.copy_from_slice(&distances[range]));
            assert_eq!(plain(top.finish()), want, "{isa} {round} {range:?}");
            top.reset(20, range);
            distances.iter().zip(0..).for_each(|(&distance, id)| top.push(distance, id));
            assert_eq!(plain(top.finish()), want, "{isa} {round} {range:?}");
        }
    });
}

#[test]
fn ids_of_a_scan_are_sliced() {
    let distances: Vec<f32> = (0..1000).map(|row| (row * 7 % 1000) as f32).collect();
    let ids: Vec<u64> = (0..1000).rev().collect();
    let mut top = TopK::new();
    top.reset(3, ..);
    scan(&mut top, 1000, Ids::Of(&ids), None, |range, out| out.copy_from_slice(&distances[range]));
    assert_eq!(plain(top.finish()), expected(&distances, |row| ids[row], 3, |_| true));
}

#[test]
fn distances_of_excluded_blocks_are_not_asked_for() {
    let mut excluded = vec![0; 16];
    excluded[4..12].fill(!0);
    let mut asked = Vec::new();
    let mut top = TopK::new();
    top.reset(1, ..);
    scan(&mut top, 1024, Ids::From(0), Some(&excluded), |range, out| {
        asked.push(range);
        out.fill(1.0);
    });
    assert_eq!(asked, [0..256, 768..1024]);
}

#[test]
fn threshold_falls() {
    let mut top = TopK::new();
    assert!(top.threshold().is_nan());
    top.reset(2, ..);
    assert_eq!(top.threshold(), f32::INFINITY);
    top.push_block(&[3.0, 1.0, 2.0], Ids::From(0), None);
    assert_eq!(top.finish().len(), 2);
    assert_eq!(top.threshold(), 2.0);
    top.push(1.5, 9);
    top.push(2.5, 10);
    assert_eq!(top.finish().map(|hit| hit.id).collect::<Vec<_>>(), [1, 9]);
    top.reset(2, 0.5..1.0);
    assert!(top.threshold() < 1.0);
    top.reset(0, ..);
    assert!(top.threshold().is_nan());
    top.reset(5, f32::NAN..);
    assert!(top.threshold().is_nan());
}

#[test]
fn smallest_of_centroids() {
    with_each_isa(|_| {
        let mut random = Random(4);
        let mut top = TopK::new();
        for rows in some(LENGTHS) {
            for n in [0, 1, 10, 20, 48, 49, rows / 2, rows, rows + 1] {
                let distances = distances(&mut random, rows);
                let want = expected(&distances, |row| row as u64, n, |_| true);
                assert_eq!(plain(smallest(&distances, n, &mut top)), want);
            }
        }
    });
}

#[test]
fn merged_lists() {
    let mut random = Random(5);
    for round in 0..rounds(300) {
        let mut id = 0;
        let lists: Vec<Vec<Hit>> = (0..random.below(20))
            .map(|_| {
                let count = random.below(30);
                let mut hits: Vec<Hit> = distances(&mut random, count)
                    .into_iter()
                    .map(|distance| {
                        id += 1;
                        Hit { distance, id: id % 50 }
                    })
                    .collect();
                hits.sort();
                hits
            })
            .collect();
        let k = random.below(200);
        let mut want = lists.concat();
        want.sort();
        want.truncate(k);
        let mut slices: Vec<&[Hit]> = lists.iter().map(Vec::as_slice).collect();
        let mut got = Vec::new();
        merge(&mut slices, k, &mut got);
        assert_eq!(plain(got), plain(want), "round {round}");
        let left: usize = slices.iter().map(|list| list.len()).sum();
        assert_eq!(left, lists.concat().len().saturating_sub(k));
    }
}

/// Inputs that are drawn, and made plainer where they fail; too many for Miri.
#[cfg(not(miri))]
mod drawn {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    proptest! {
        #[test]
        fn any_distances(
            rows in vec((prop_oneof![proptest::num::f32::ANY, (0..5u8).prop_map(f32::from)], 0..50u64), 0..1500),
            k in 0..300usize,
            first in prop_oneof![Just(0), Just(u64::MAX - 700)],
        ) {
            let (distances, ids): (Vec<f32>, Vec<u64>) = rows.into_iter().unzip();
            with_each_isa(|_| {
                let mut top = TopK::new();
                top.reset(k, ..);
                top.push_block(&distances, Ids::Of(&ids), None);
                assert_eq!(plain(top.finish()), expected(&distances, |row| ids[row], k, |_| true));
                top.reset(k, ..);
                top.push_block(&distances, Ids::From(first), None);
                let id = |row: usize| first.wrapping_add(row as u64);
                assert_eq!(plain(top.finish()), expected(&distances, id, k, |_| true));
            });
        }
    }
}

#[test]
#[should_panic(expected = "an id for each distance")]
fn too_few_ids() {
    TopK::new().push_block(&[1.0, 2.0], Ids::Of(&[1]), None);
}

#[test]
#[should_panic(expected = "words of a mask of 65 rows")]
fn too_few_excluded() {
    TopK::new().push_block(&[1.0; 65], Ids::From(0), Some(&[0]));
}

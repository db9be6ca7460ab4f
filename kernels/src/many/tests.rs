//! Against the plain definition in f64, on every instruction set of this machine.

use std::{sync::Mutex, vec, vec::Vec};

use half::{bf16, f16};

use super::*;
use crate::{
    isa::Isa,
    parallel::Threads,
    random::{Random, rounds},
};

/// Numbers that are not too simple, of about unit size.
fn numbers(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| (random.word() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
}

/// Few different numbers, so that distances are often equal.
fn whole_numbers(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.below(3) as f32 - 1.0).collect()
}

fn distance(metric: Metric, row: &[f64], target: &[f64]) -> f64 {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let norm = |a: &[f64]| product(a, a).sqrt();
    match metric {
        Metric::L2 => row.iter().zip(target).map(|(a, b)| (a - b) * (a - b)).sum(),
        Metric::Dot => 1.0 - product(row, target),
        Metric::Cosine if norm(target) == 0.0 => 1.0,
        Metric::Cosine => 1.0 - product(row, target) / (norm(row) * norm(target)),
        Metric::UnitL2 => {
            let unit: Vec<f64> = row.iter().map(|x| x / norm(row)).collect();
            distance(Metric::L2, &unit, target)
        }
    }
}

const METRICS: [Metric; 4] = [Metric::L2, Metric::Dot, Metric::Cosine, Metric::UnitL2];

/// Checks all three kinds of answers for rows and targets, which `wide` makes f64 of.
fn check<E: Element>(rows: &[E], targets: &[E], dim: usize, metric: Metric, wide: impl Fn(E) -> f64) {
    let to_wide = |items: &[E]| items.iter().map(|&item| wide(item)).collect::<Vec<_>>();
    let (wide_rows, wide_targets) = (to_wide(rows), to_wide(targets));
    let (count, k) = (rows.len() / dim, targets.len() / dim);
    let exact: Vec<Vec<f64>> = wide_rows
        .chunks(dim)
        .map(|row| wide_targets.chunks(dim).map(|target| distance(metric, row, target)).collect())
        .collect();
    // The answers differ from the definition by the rounding of f64, and of a row that is brought to unit length in
    // f32.
    let slack = if metric == Metric::UnitL2 { 1e-6 } else { 1e-13 };
    let near = |a: f64, b: f64, scale: f64| (a - b).abs() <= 2e-6 * scale.abs() + 1e-6;

    let index = Targets::new(targets, dim, metric).unwrap();
    let (mut ids, mut distances) = (vec![7; count], vec![7.0; count]);
    index.nearest(rows, &mut ids, &mut distances, Threads::One);
    let n = 5;
    let (mut n_ids, mut n_distances) = (vec![7; count * n], vec![7.0; count * n]);
    index.nearest_n(rows, n, &mut n_ids, &mut n_distances, Threads::One);
    let mut all = vec![7.0; count * k];
    index.distances(rows, &mut all, Threads::One);

    for (row, exact) in exact.iter().enumerate() {
        let best = exact.iter().copied().fold(f64::INFINITY, f64::min);
        let id = ids[row] as usize;
        assert!(exact[id] <= best + slack * best.abs().max(1.0), "{metric:?} {row}: {id} {exact:?}");
        assert!(near(distances[row].into(), exact[id], exact[id]), "{metric:?} {row}: {}", distances[row]);
        let mut order: Vec<usize> = (0..k).collect();
        order.sort_by(|&a, &b| exact[a].total_cmp(&exact[b]).then(a.cmp(&b)));
        for (place, (&id, distance)) in n_ids[row * n..][..n].iter().zip(&n_distances[row * n..]).enumerate()
        {
            if place >= k {
                assert!(id == NONE && distance.is_nan());
                continue;
            }
            let expected = exact[order[place]];
            assert!((exact[id as usize] - expected).abs() <= slack * expected.abs().max(1.0));
            assert!(near((*distance).into(), expected, expected));
        }
        assert_eq!((n_ids[row * n], n_distances[row * n].to_bits()), (ids[row], distances[row].to_bits()));
        for (&distance, &exact) in all[row * k..].iter().zip(exact) {
            assert!(
                near(distance.into(), exact, 16.0 * exact.abs().max(1.0)),
                "{metric:?} {distance} {exact}"
            );
        }
    }
}

/// Runs a test on every instruction set, and checks that all give the same.
pub(crate) fn on_all<T: PartialEq + core::fmt::Debug>(test: impl Fn() -> T) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock();
    let before = Isa::current();
    let all: Vec<T> = Isa::available()
        .map(|isa| {
            Isa::force(isa).unwrap();
            test()
        })
        .collect();
    Isa::force(before).unwrap();
    assert!(all.windows(2).all(|two| two[0] == two[1]), "{all:?}");
}

#[test]
fn answers_are_those_of_the_definition() {
    on_all(|| {
        let mut random = Random(1);
        for _ in 0..rounds(20) {
            let (count, k, dim) = (1 + random.below(40), 1 + random.below(70), 1 + random.below(40));
            let rows = numbers(&mut random, count * dim);
            let targets = numbers(&mut random, k * dim);
            for metric in METRICS {
                check(&rows, &targets, dim, metric, f64::from);
            }
            let narrow = |items: &[f32]| items.iter().map(|&x| f16::from_f32(x)).collect::<Vec<_>>();
            check(&narrow(&rows), &narrow(&targets), dim, Metric::L2, f64::from);
            let narrow = |items: &[f32]| items.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>();
            check(&narrow(&rows), &narrow(&targets), dim, Metric::Dot, f64::from);
            let wide =
                |items: &[f32]| items.iter().map(|&x| f64::from(x) * 1.000_000_001).collect::<Vec<_>>();
            for metric in METRICS {
                check(&wide(&rows), &wide(&targets), dim, metric, |x| x);
            }
        }
    });
}

/// The nearest target by the distances in f64, of equal ones the first.
fn nearest_by_definition(row: &[f32], targets: &[f32]) -> u32 {
    let wide = |items: &[f32]| items.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    let row = wide(row);
    let costs = targets.chunks(row.len()).map(|target| distance(Metric::L2, &row, &wide(target)));
    let mut best = (f64::INFINITY, 0);
    for (id, cost) in costs.enumerate() {
        if cost < best.0 {
            best = (cost, id as u32);
        }
    }
    best.1
}

#[test]
fn of_equally_near_targets_the_first_is_taken() {
    on_all(|| {
        let mut random = Random(2);
        let mut answers = Vec::new();
        for _ in 0..rounds(50) {
            let (count, k, dim) = (1 + random.below(40), 1 + random.below(100), 1 + random.below(4));
            // Sums of squares of whole numbers are exact in any order, so equal distances are equal.
            let rows = whole_numbers(&mut random, count * dim);
            let targets = whole_numbers(&mut random, k * dim);
            let index = Targets::new(&targets, dim, Metric::L2).unwrap();
            let (mut ids, mut distances) = (vec![0; count], vec![0.0; count]);
            index.nearest(&rows, &mut ids, &mut distances, Threads::One);
            let expected: Vec<u32> =
                rows.chunks(dim).map(|row| nearest_by_definition(row, &targets)).collect();
            assert_eq!(ids, expected);
            answers.push((ids, distances));
        }
        answers
    });
}

/// Far from the origin, the products that scores are made of have lost the digits that decide.
#[test]
fn cancellation_does_not_change_the_nearest() {
    on_all(|| {
        let mut random = Random(3);
        let mut answers = Vec::new();
        for _ in 0..rounds(30) {
            let (count, k, dim) = (30, 60, 1 + random.below(30));
            let shift = |x: f32| 1000.0 + x / 16.0;
            let rows: Vec<f32> = numbers(&mut random, count * dim).into_iter().map(shift).collect();
            let targets: Vec<f32> = numbers(&mut random, k * dim).into_iter().map(shift).collect();
            let index = Targets::new(&targets, dim, Metric::L2).unwrap();
            let (mut ids, mut distances) = (vec![0; count], vec![0.0; count]);
            index.nearest(&rows, &mut ids, &mut distances, Threads::One);
            for (row, &id) in rows.chunks(dim).zip(&ids) {
                assert_eq!(id, nearest_by_definition(row, &targets));
            }
            let mut all = vec![0.0; count * k];
            index.distances(&rows, &mut all, Threads::One);
            for (row, all) in all.chunks(k).enumerate() {
                let (at, best) = (ids[row] as usize, distances[row]);
                assert!((all[at] - best).abs() <= 1e-4 * best, "{} {best}", all[at]);
            }
            answers.push((ids, distances));
        }
        answers
    });
}

#[test]
fn sizes_that_f32_does_not_hold_are_no_matter() {
    on_all(|| {
        let large = 3e38f32;
        let targets = [large, 0.0, 1.0, 1.0, 1e-30, 0.0, -large, large];
        let index = Targets::new(&targets, 2, Metric::L2).unwrap();
        let rows =
            [large, large / 4.0, 1.5, 1.0, 2e-30, 1e-30, -large, large, f32::NAN, 0.0, 0.0, f32::INFINITY];
        let (mut ids, mut distances) = ([0; 6], [0.0; 6]);
        index.nearest(&rows, &mut ids, &mut distances, Threads::One);
        assert_eq!(ids, [0, 1, 2, 3, NONE, NONE]);
        assert_eq!(distances[..4], [f32::INFINITY, 0.25, 0.0, 0.0]);
        assert!(distances[4..].iter().all(|distance| distance.is_nan()));
        let (mut ids, mut distances) = ([0; 12], [0.0; 12]);
        index.nearest_n(&rows, 2, &mut ids, &mut distances, Threads::One);
        assert_eq!(ids, [0, 1, 1, 2, 2, 1, 3, 1, NONE, NONE, NONE, NONE]);
        let mut all = [0.0; 24];
        index.distances(&rows, &mut all, Threads::One);
        assert!(all[16..].iter().all(|distance| distance.is_nan()));
        assert!(all[..16].iter().all(|distance| !distance.is_nan()));
    });
}

#[test]
fn one_far_target_does_not_blur_the_others() {
    on_all(|| {
        let mut random = Random(4);
        let (count, k, dim) = (50, 40, 8);
        let rows = numbers(&mut random, count * dim);
        let mut targets = numbers(&mut random, k * dim);
        targets[..dim].fill(1e9);
        let index = Targets::new(&targets, dim, Metric::L2).unwrap();
        let (mut ids, mut distances) = (vec![0; count], vec![0.0; count]);
        index.nearest(&rows, &mut ids, &mut distances, Threads::One);
        for (row, &id) in rows.chunks(dim).zip(&ids) {
            assert_eq!(id, nearest_by_definition(row, &targets));
        }
    });
}

#[test]
fn weights_are_added_to_distances() {
    on_all(|| {
        let mut index = Targets::new(&[0.0f32, 3.0], 1, Metric::L2).unwrap();
        let nearest = |index: &Targets<f32>| {
            let (mut ids, mut distances) = ([0; 3], [0.0; 3]);
            index.nearest(&[1.0f32, 1.5, 2.0], &mut ids, &mut distances, Threads::One);
            (ids, distances)
        };
        assert_eq!(nearest(&index), ([0, 0, 1], [1.0, 2.25, 1.0]));
        index.set_weights(&[1.0, 0.0]);
        assert_eq!(nearest(&index), ([0, 1, 1], [1.0, 2.25, 1.0]));
        index.set_weights(&[3.0, 0.0]);
        assert_eq!(nearest(&index), ([0, 1, 1], [1.0, 2.25, 1.0]), "4 = 4: the first");
        index.set_weights(&[0.0, 3.0]);
        assert_eq!(nearest(&index), ([0, 0, 0], [1.0, 2.25, 4.0]), "4 = 4: the first");
        let mut all = [0.0; 6];
        index.distances(&[1.0f32, 1.5, 2.0], &mut all, Threads::One);
        for (distance, expected) in all.into_iter().zip([1.0, 4.0, 2.25, 2.25, 4.0, 1.0f32]) {
            assert!((distance - expected).abs() <= 1e-6 * expected, "without weights");
        }
    });
}

#[test]
fn targets_that_cannot_be_measured_are_errors() {
    assert_eq!(Targets::new(&[1.0f32], 0, Metric::L2).err(), Some(Error::NoDimension));
    assert_eq!(Targets::new(&[1.0f32; 3], 2, Metric::L2).err(), Some(Error::Ragged));
    assert_eq!(Targets::<f32>::new::<f32>(&[], 2, Metric::L2).err(), Some(Error::Empty));
    assert_eq!(Targets::new(&[0.0, 1.0, f32::NAN, 1.0], 2, Metric::L2).err(), Some(Error::NotFinite(1)));
    assert_eq!(Targets::new(&[1e200f64, 0.0], 2, Metric::L2).err(), Some(Error::NotFinite(0)));
}

#[test]
fn bits_that_differ() {
    on_all(|| {
        let mut random = Random(5);
        let mut answers = Vec::new();
        for _ in 0..rounds(20) {
            let (count, k, width) = (1 + random.below(20), 1 + random.below(50), 1 + random.below(40));
            let (rows, targets) = (random.bytes(count * width), random.bytes(k * width));
            let differ = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
            let index = BitTargets::new(&targets, width).unwrap();
            let (mut ids, mut distances) = (vec![0; count], vec![0; count]);
            index.nearest(&rows, &mut ids, &mut distances, Threads::One);
            let n = 3;
            let (mut n_ids, mut n_distances) = (vec![0; count * n], vec![0; count * n]);
            index.nearest_n(&rows, n, &mut n_ids, &mut n_distances, Threads::One);
            for (at, row) in rows.chunks(width).enumerate() {
                let mut expected: Vec<(u32, u32)> =
                    targets.chunks(width).zip(0..).map(|(target, id)| (differ(row, target), id)).collect();
                expected.sort();
                expected.resize(k.max(n), (u32::MAX, NONE));
                assert_eq!((distances[at], ids[at]), expected[0]);
                for place in 0..n {
                    assert_eq!((n_distances[at * n + place], n_ids[at * n + place]), expected[place]);
                }
            }
            answers.push((ids, n_ids));
        }
        answers
    });
}

#[cfg(feature = "rayon")]
#[test]
fn threads_do_not_change_answers() {
    let mut random = Random(6);
    let (count, k, dim) = (3000, 50, 20);
    let (rows, targets) = (numbers(&mut random, count * dim), numbers(&mut random, k * dim));
    let index = Targets::new(&targets, dim, Metric::L2).unwrap();
    let answer = |threads| {
        let (mut ids, mut distances) = (vec![0; count], vec![0.0; count]);
        index.nearest(&rows, &mut ids, &mut distances, threads);
        let mut all = vec![0.0; count * k];
        index.distances(&rows, &mut all, threads);
        (ids, distances, all)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    assert_eq!(answer(Threads::One), pool.install(|| answer(Threads::Pool)));
}

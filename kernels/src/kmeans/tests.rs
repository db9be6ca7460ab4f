//! Against a naive k-means in f64, and the cases in which a k-means goes wrong.

use std::{
    ops::ControlFlow,
    sync::atomic::{AtomicBool, Ordering},
    vec,
    vec::Vec,
};

use half::f16;

use super::*;
use crate::{
    many::{Metric, NONE, Targets},
    parallel::Threads,
    random::{Random, rounds},
};

/// So many rows, or fewer where each operation takes a thousand times as long.
fn some(rows: usize) -> usize {
    if cfg!(miri) { rows / 8 } else { rows }
}

/// Points around `centers` random places.
fn clustered(random: &mut Random, count: usize, dim: usize, centers: usize) -> Vec<f32> {
    let unit = |random: &mut Random| (random.word() >> 40) as f32 / (1 << 23) as f32 - 1.0;
    let places: Vec<f32> = (0..centers * dim).map(|_| 10.0 * unit(random)).collect();
    (0..count)
        .flat_map(|_| {
            let place = random.below(centers) * dim;
            places[place..place + dim].iter().map(|x| x + unit(random)).collect::<Vec<_>>()
        })
        .collect()
}

/// Lloyd's algorithm in f64, with centroids rounded to f32 as rows are; the inertia of each iteration and the
/// centroids.
fn naive(
    rows: &[f32],
    mut centroids: Vec<f32>,
    dim: usize,
    iterations: usize,
    dot: bool,
) -> (Vec<f64>, Vec<f32>) {
    let mut inertias = Vec::new();
    for _ in 0..iterations {
        let mut sums = vec![0.0; centroids.len()];
        let mut sizes = vec![0; centroids.len() / dim];
        let mut inertia = 0.0;
        for row in rows.chunks(dim) {
            let mut best = (f64::INFINITY, 0);
            for (id, centroid) in centroids.chunks(dim).enumerate() {
                let pairs = row.iter().zip(centroid).map(|(&x, &c)| (f64::from(x), f64::from(c)));
                let distance = if dot {
                    1.0 - pairs.map(|(x, c)| x * c).sum::<f64>()
                } else {
                    pairs.map(|(x, c)| (x - c) * (x - c)).sum()
                };
                if distance < best.0 {
                    best = (distance, id);
                }
            }
            inertia += best.0;
            sizes[best.1] += 1;
            for (sum, &x) in sums[best.1 * dim..].iter_mut().zip(row) {
                *sum += f64::from(x);
            }
        }
        inertias.push(inertia);
        for (at, centroid) in centroids.iter_mut().enumerate() {
            if sizes[at / dim] > 0 {
                *centroid = (sums[at] / f64::from(sizes[at / dim])) as f32;
            }
        }
    }
    (inertias, centroids)
}

#[test]
fn centroids_are_those_of_the_definition() {
    let mut random = Random(1);
    for _ in 0..rounds(30) {
        let (count, dim, k) = (
            50 + random.below(if cfg!(miri) { 10 } else { 300 }),
            1 + random.below(20),
            2 + random.below(40),
        );
        let centers = 1 + random.below(30);
        let rows = clustered(&mut random, count, dim, centers);
        let first: Vec<f32> = rows[..k * dim].to_vec();
        for (metric, dot) in [(Metric::L2, false), (Metric::Dot, true)] {
            let iterations = 6;
            let (inertias, expected) = naive(&rows, first.clone(), dim, iterations, dot);
            for prune in [true, false] {
                let options = KMeans::plain(k).iterations(iterations).prune(prune);
                let trained =
                    options.train_from(&rows, &first, dim, metric, &mut Control::default()).unwrap();
                // An empty cluster gets half of another, which the naive one does not do.
                if trained.iterations.iter().any(|iteration| iteration.empty > 0) {
                    continue;
                }
                assert_eq!(trained.centroids, expected, "{metric:?}");
                for (iteration, expected) in trained.iterations.iter().zip(inertias.iter()) {
                    assert!((iteration.inertia - expected).abs() <= 1e-9 * (expected.abs() + count as f64));
                }
            }
        }
    }
}

#[test]
fn inertia_never_rises() {
    let mut random = Random(2);
    for round in 0..rounds(20) {
        let rows = clustered(&mut random, some(500), 8, 12);
        let options = KMeans::plain(10).seed(round as u64).seeding(Seeding::PlusPlus);
        let trained = options.train(&rows, 8, Metric::L2).unwrap();
        for two in trained.iterations.windows(2) {
            if two[0].empty == 0 {
                assert!(two[1].inertia <= two[0].inertia * (1.0 + 1e-6), "{two:?}");
            }
        }
        let last = trained.iterations.last().unwrap();
        assert!(last.number < 50 && last.moved == 0, "it settles: {last:?}");
    }
}

/// All bits of centroids and of the report.
fn fingerprint<T: PartialEq + Copy + Into<f64>>(trained: &Trained<T>) -> (Vec<u64>, Vec<u64>) {
    let centroids = trained.centroids.iter().map(|&c| c.into().to_bits()).collect();
    (centroids, trained.iterations.iter().map(|iteration| iteration.inertia.to_bits()).collect())
}

#[cfg(feature = "rayon")]
#[test]
fn threads_do_not_change_centroids() {
    let mut random = Random(3);
    let rows = clustered(&mut random, 4000, 24, 50);
    let bits = random.bytes(2000 * 9);
    // Two threads sum up parts of the rows while they assign them, seven are too many for the parts.
    let pools = [2, 7].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    for options in [KMeans::new(40), KMeans::new(300), KMeans::plain(40).seeding(Seeding::PlusPlus)] {
        let pooled = options.threads(Threads::Pool);
        for metric in [Metric::L2, Metric::Dot, Metric::Cosine] {
            let one = options.train(&rows, 24, metric).unwrap();
            for pool in &pools {
                let many = pool.install(|| pooled.train(&rows, 24, metric)).unwrap();
                assert_eq!(fingerprint(&one), fingerprint(&many));
            }
        }
        let one = options.train_bits(&bits, 9).unwrap();
        assert_eq!(one, pools[0].install(|| pooled.train_bits(&bits, 9)).unwrap());
    }
}

#[test]
fn instruction_sets_do_not_change_centroids() {
    let mut random = Random(4);
    let rows = clustered(&mut random, if cfg!(miri) { 60 } else { 2000 }, 17, 20);
    crate::many::on_all(|| {
        let trained = KMeans::new(16).iterations(5).train(&rows, 17, Metric::L2).unwrap();
        fingerprint(&trained)
    });
}

#[test]
fn pruning_does_not_change_centroids() {
    let mut random = Random(5);
    for round in 0..rounds(4) {
        let (dim, k) = (24 + random.below(10), if cfg!(miri) { 20 } else { 100 + random.below(100) });
        let rows = clustered(&mut random, if cfg!(miri) { 40 } else { 1000 }, dim, 60);
        let wide: Vec<f64> = rows.iter().map(|&x| f64::from(x)).collect();
        for options in [KMeans::plain(k), KMeans::new(k), KMeans::new(k).balance(1000.0)] {
            let options =
                options.seed(round as u64).flat_up_to(usize::MAX).iterations(if cfg!(miri) { 3 } else { 12 });
            for metric in [Metric::L2, Metric::Cosine] {
                let pruned = options.train(&rows, dim, metric).unwrap();
                let all = options.prune(false).train(&rows, dim, metric).unwrap();
                assert_eq!(fingerprint(&pruned), fingerprint(&all));
                let computed =
                    |trained: &Trained<f32>| trained.iterations.iter().map(|i| i.computed).sum::<u64>();
                // Miri has too few rows and iterations for bounds to pay.
                assert!(cfg!(miri) || computed(&pruned) <= computed(&all));
            }
            let pruned = options.train(&wide, dim, Metric::L2).unwrap();
            let all = options.prune(false).train(&wide, dim, Metric::L2).unwrap();
            assert_eq!(fingerprint(&pruned), fingerprint(&all));
        }
    }
}

#[test]
fn half_precision_is_trained_as_f32() {
    let mut random = Random(6);
    let rows = clustered(&mut random, some(400), 6, 8);
    let halves: Vec<f16> = rows.iter().map(|&x| f16::from_f32(x)).collect();
    let widened: Vec<f32> = halves.iter().map(|x| x.to_f32()).collect();
    let options = KMeans::new(8);
    let (a, b) = (options.train(&halves, 6, Metric::L2), options.train(&widened, 6, Metric::L2));
    assert_eq!(a.unwrap(), b.unwrap());
}

#[test]
fn cosine_sees_directions_alone() {
    let mut random = Random(7);
    let rows = clustered(&mut random, some(300), 5, 6);
    let stretched: Vec<f32> = rows
        .chunks(5)
        .enumerate()
        .flat_map(|(at, row)| row.iter().map(move |x| x * (1 << (at % 8)) as f32))
        .collect();
    let options = KMeans::plain(6).seeding(Seeding::PlusPlus);
    let (a, b) = (options.train(&rows, 5, Metric::Cosine), options.train(&stretched, 5, Metric::Cosine));
    assert_eq!(a.unwrap(), b.unwrap(), "powers of two lose nothing");
}

#[test]
fn one_cluster_is_the_mean_and_as_many_as_rows_are_the_rows() {
    let rows = [1.0f32, 2.0, 3.0, 5.0, 8.0, 11.0];
    let trained = KMeans::new(1).train(&rows, 2, Metric::L2).unwrap();
    assert_eq!(trained.centroids, [4.0, 6.0]);
    let trained = KMeans::plain(3).train(&rows, 2, Metric::L2).unwrap();
    let mut centroids: Vec<[f32; 2]> = trained.centroids.as_chunks().0.to_vec();
    centroids.sort_by(|a, b| a[0].total_cmp(&b[0]));
    assert_eq!(centroids.as_flattened(), rows);
    assert!(trained.inertia < 1e-9);
    let few = KMeans::new(4).train(&rows, 2, Metric::L2);
    assert_eq!(few, Err(Error::TooFewRows { rows: 3, clusters: 4 }));
}

#[test]
fn fewer_different_rows_than_clusters_end_all_the_same() {
    let rows: Vec<f32> = (0..400).map(|at| (at % 3) as f32 + 1.0).collect();
    for options in [KMeans::new(20), KMeans::plain(20), KMeans::plain(20).seeding(Seeding::PlusPlus)] {
        let trained = options.train(&rows, 1, Metric::L2).unwrap();
        assert!(trained.centroids.iter().all(|c| c.is_finite()));
        assert!(trained.inertia <= 1e-3, "{}", trained.inertia);
        let last = trained.iterations.last().unwrap();
        assert!(last.empty >= 17, "{last:?}");
    }
}

#[test]
fn all_rows_equal() {
    for value in [0.0f32, 7.0] {
        let rows = [value; 1200];
        let trained = KMeans::new(5).train(&rows, 4, Metric::L2).unwrap();
        assert!(trained.centroids.iter().all(|c| (c - value).abs() <= value / 100.0));
        let by_hierarchy = KMeans::new(5).flat_up_to(4).train(&rows, 4, Metric::L2);
        assert_eq!(by_hierarchy, Err(Error::TooFewClusters { found: 1, clusters: 5 }));
    }
}

#[test]
fn one_dominant_cluster_in_a_hierarchy() {
    let mut random = Random(8);
    let mut rows = vec![1.0f32; 3 * 900];
    rows.extend(clustered(&mut random, 100, 3, 100));
    let trained = KMeans::new(60).flat_up_to(16).train(&rows, 3, Metric::L2).unwrap();
    assert_eq!(trained.centroids.len(), 60 * 3);
    assert!(trained.centroids.iter().all(|c| c.is_finite()));
    let too_many = KMeans::new(200).flat_up_to(16).train(&rows, 3, Metric::L2);
    assert!(
        matches!(too_many, Err(Error::TooFewClusters { clusters: 200, found }) if found <= 101),
        "{too_many:?}"
    );
}

#[test]
fn a_hierarchy_makes_as_many_clusters_as_are_wanted() {
    let mut random = Random(9);
    let (count, iterations, clusters): (_, _, &[usize]) =
        if cfg!(miri) { (60, 4, &[2, 17]) } else { (3000, 50, &[2, 15, 16, 17, 100, 299]) };
    let rows = clustered(&mut random, count, 6, 40);
    for &k in clusters {
        let options = KMeans::new(k).sample_rate(None).flat_up_to(1).iterations(iterations);
        let trained = options.train(&rows, 6, Metric::L2).unwrap();
        assert_eq!(trained.centroids.len(), k * 6);
        let targets = Targets::new(&trained.centroids, 6, Metric::L2).unwrap();
        let (mut ids, mut distances) = (vec![0; count], vec![0.0; count]);
        targets.nearest(&rows, &mut ids, &mut distances, Threads::One);
        let inertia: f64 = distances.iter().map(|&distance| f64::from(distance)).sum();
        assert!(
            inertia <= trained.inertia * (1.0 + 1e-6),
            "rows may be nearer to another division's centroid"
        );
        let flat = KMeans::plain(k.min(16)).iterations(iterations).train(&rows, 6, Metric::L2).unwrap();
        assert!(inertia <= flat.inertia * 1.5, "{k}: {inertia} {}", flat.inertia);
    }
}

#[test]
fn rows_without_a_distance_are_left_out() {
    let mut rows = vec![1.0f32, 1.0, 2.0, 2.0, f32::NAN, 1.0, 3.0, 3.0, 0.0, f32::INFINITY, 0.0, 0.0];
    for (metric, left_out, mean) in [(Metric::L2, 2, 1.5f32), (Metric::Cosine, 3, 0.5f32.sqrt())] {
        let trained = KMeans::new(1).train(&rows, 2, metric).unwrap();
        assert_eq!(trained.left_out, left_out);
        assert_eq!(trained.rows, 6 - left_out);
        assert!(trained.centroids.iter().all(|c| (c - mean).abs() < 1e-6), "{:?}", trained.centroids);
        let assigned = if metric == Metric::Cosine { Metric::UnitL2 } else { metric };
        let targets = Targets::new(&trained.centroids, 2, assigned).unwrap();
        let (mut ids, mut distances) = ([0; 6], [0.0; 6]);
        targets.nearest(&rows, &mut ids, &mut distances, Threads::One);
        assert_eq!(ids.iter().filter(|&&id| id == NONE).count(), left_out);
    }
    rows.fill(f32::NAN);
    let none = KMeans::new(1).train(&rows, 2, Metric::L2);
    assert_eq!(none, Err(Error::TooFewRows { rows: 0, clusters: 1 }));
}

#[test]
fn numbers_of_any_size_have_finite_centroids() {
    let rows = [3e38f32, 1e-40, -3e38, 2e-40, 1.0, 0.0, 3e38, 3e38, -1e30, 5.0, 1e-20, 1e-20];
    for metric in [Metric::L2, Metric::Dot, Metric::Cosine] {
        for k in 1..=4 {
            let trained = KMeans::new(k).train(&rows, 2, metric).unwrap();
            assert!(
                trained.centroids.iter().all(|c| c.is_finite()),
                "{metric:?} {k} {:?}",
                trained.centroids
            );
            assert!(!trained.inertia.is_nan());
        }
    }
}

#[test]
fn a_sample_is_enough() {
    let mut random = Random(11);
    let rows = clustered(&mut random, some(2000), 4, 5);
    let trained = KMeans::new(5).sample_rate(Some(20)).train(&rows, 4, Metric::L2).unwrap();
    assert_eq!(trained.rows, 100);
    let trained = KMeans::new(5).sample_rate(Some(5000)).train(&rows, 4, Metric::L2).unwrap();
    assert_eq!(trained.rows, some(2000));
}

#[test]
fn more_redos_are_no_worse() {
    let mut random = Random(12);
    let rows = clustered(&mut random, some(600), 3, 25);
    let one = KMeans::plain(25).train(&rows, 3, Metric::L2).unwrap();
    let five = KMeans::plain(25).redos(5).train(&rows, 3, Metric::L2).unwrap();
    assert!(five.inertia <= one.inertia);
    assert_eq!(five.iterations.last().unwrap().redo, 4);
}

#[test]
fn a_caller_watches_and_cancels() {
    let mut random = Random(13);
    let rows = clustered(&mut random, some(500), 3, 25);
    let mut seen = 0;
    let mut progress = |iteration: &Iteration| {
        seen += 1;
        assert_eq!(iteration.number, seen);
        if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut control = Control { progress: Some(&mut progress), cancel: None };
    let cancelled = KMeans::plain(25).train_with(&rows, 3, Metric::L2, &mut control);
    assert_eq!((cancelled, seen), (Err(Error::Cancelled), 2));
    let flag = AtomicBool::new(false);
    let mut progress = |_: &Iteration| {
        flag.store(true, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let mut control = Control { progress: Some(&mut progress), cancel: Some(&flag) };
    let cancelled = KMeans::plain(25).train_with(&rows, 3, Metric::L2, &mut control);
    assert_eq!(cancelled, Err(Error::Cancelled));
}

#[test]
fn bits_go_to_the_majority() {
    let rows = [0b1100u8, 0b1101, 0b1110, 0b0000_0011, 0b0011, 0b1011, 0b1100];
    let trained = KMeans::plain(2).seed(1).seeding(Seeding::PlusPlus).train_bits(&rows, 1).unwrap();
    let mut centroids = trained.centroids.clone();
    centroids.sort_unstable();
    assert_eq!(centroids, [0b0011, 0b1100]);
    assert_eq!(trained.inertia, 3.0);
    let same = KMeans::new(3).train_bits(&[7; 20], 2).unwrap();
    assert_eq!(same.centroids, [7; 6]);
}

#[test]
fn what_cannot_be_trained_is_an_error() {
    let train = |k, dim| KMeans::new(k).train(&[0.0f32; 6], dim, Metric::L2).err();
    assert_eq!(train(0, 2), Some(Error::NoClusters));
    assert_eq!(train(1, 0), Some(Error::NoDimension));
    assert_eq!(train(1, 4), Some(Error::Ragged));
    assert_eq!(train(1 << 25, 1), Some(Error::TooManyClusters));
    let far =
        KMeans::plain(1).train_from(&[0.0f32; 6], &[f32::NAN, 0.0], 2, Metric::L2, &mut Control::default());
    assert_eq!(far, Err(Error::NotFinite));
}

//! Selection of the nearest rows, alone and fused into an exact search.
//!
//! `LANCET_ISA` picks the instruction set. Alone, the figures are rows a second; a search is 1 000 000 rows of 128
//! f32, one thread, in bytes of them a second, beside the bandwidth of the same buffer.

use criterion::{
    BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
    measurement::WallTime,
};
use lancet_benches::bandwidth;
use lancet_kernels::{
    distance::{DistanceTable, Metric},
    select::{Hit, Ids, TopK, merge, scan, smallest},
};
use std::{hint::black_box, ops::Range, time::Duration};

const ROWS: usize = 1_000_000;
const DIM: usize = 128;

/// Numbers of 24 bits in no order.
fn random(count: usize) -> impl Iterator<Item = f32> {
    (0..count as u64).map(|i| {
        let mut word = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (word >> 40) as f32
    })
}

fn group<'a>(criterion: &'a mut Criterion, name: &str, millis: u64) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group
        .sampling_mode(SamplingMode::Flat)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(millis));
    group
}

fn alone(criterion: &mut Criterion) {
    let inputs: [(&str, Vec<f32>); 5] = [
        ("random", random(ROWS).collect()),
        ("rising", (0..ROWS).map(|row| row as f32).collect()),
        ("falling", (0..ROWS).rev().map(|row| row as f32).collect()),
        ("64 distinct", random(ROWS).map(|distance| (distance % 64.0).floor()).collect()),
        ("all the same", vec![3.0; ROWS]),
    ];
    let mut top = TopK::new();
    for (name, distances) in &inputs {
        let mut group = group(criterion, &format!("top-k/{name}"), 300);
        group.throughput(Throughput::Elements(ROWS as u64));
        for k in [1, 10, 100, 1000, 10_000] {
            group.bench_function(k.to_string(), |bencher| {
                bencher.iter(|| {
                    top.reset(k, ..);
                    top.push_block(black_box(distances), Ids::From(0), None);
                    top.finish().len()
                });
            });
        }
    }
}

fn centroids(criterion: &mut Criterion) {
    let distances: Vec<f32> = random(16_384).collect();
    let mut top = TopK::new();
    let mut group = group(criterion, "smallest", 200);
    for centroids in [256, 1024, 4096, 16_384] {
        for n in [1, 20, 100] {
            group.bench_function(format!("{n} of {centroids}"), |bencher| {
                bencher.iter(|| smallest(black_box(&distances[..centroids]), n, &mut top).count());
            });
        }
    }
}

fn lists(criterion: &mut Criterion) {
    let lists: Vec<Vec<Hit>> = (0..20)
        .map(|list| {
            let mut hits: Vec<Hit> = random(2000)
                .skip(list * 100)
                .take(100)
                .zip(0..)
                .map(|(distance, id)| Hit { distance, id })
                .collect();
            hits.sort();
            hits
        })
        .collect();
    let mut out = Vec::new();
    let mut group = group(criterion, "merge", 200);
    group.bench_function("100 of 20 lists", |bencher| {
        bencher.iter(|| {
            out.clear();
            let mut slices: [&[Hit]; 20] = std::array::from_fn(|list| &lists[list][..]);
            merge(black_box(&mut slices), 100, &mut out);
        });
    });
}

fn search(criterion: &mut Criterion) {
    let rows: Vec<f32> = random(ROWS * DIM).map(|value| value / (1 << 24) as f32).collect();
    let query: Vec<f32> = random(DIM).map(|value| 1.0 - value / (1 << 24) as f32).collect();
    let table = DistanceTable::current();
    let compute = |range: Range<usize>, out: &mut [f32]| {
        let rows = &black_box(&rows)[range.start * DIM..range.end * DIM];
        table.distances(Metric::L2, &query, rows, DIM, out);
    };
    let mut top = TopK::new();
    let mut group = group(criterion, "search", 400);
    group.throughput(Throughput::Bytes(size_of_val(&rows[..]) as u64));
    let words = bytemuck::cast_slice(&rows);
    group
        .bench_function("bandwidth, one stream", |bencher| bencher.iter(|| bandwidth::sum(black_box(words))));
    group.bench_function("bandwidth, eight streams", |bencher| {
        bencher.iter(|| bandwidth::sum_streams(black_box(words)));
    });
    group.bench_function("distances only", |bencher| {
        let mut out = [0.0; 256];
        bencher.iter(|| {
            for start in (0..ROWS).step_by(256) {
                let range = start..ROWS.min(start + 256);
                let out = &mut out[..range.len()];
                compute(range, out);
                black_box(out);
            }
        });
    });
    for k in [1, 10, 100, 1000, 10_000] {
        group.bench_function(format!("random, k = {k}"), |bencher| {
            bencher.iter(|| {
                top.reset(k, ..);
                scan(&mut top, ROWS, Ids::From(0), None, compute);
                top.finish().len()
            });
        });
    }
    for k in [1, 10, 100, 1000, 10_000] {
        group.bench_function(format!("falling, k = {k}"), |bencher| {
            bencher.iter(|| {
                top.reset(k, ..);
                scan(&mut top, ROWS, Ids::From(0), None, |range, out| {
                    compute(range.clone(), out);
                    // The same work, and then the worst order.
                    out.iter_mut().zip(range).for_each(|(out, row)| *out = (ROWS - row) as f32);
                });
                top.finish().len()
            });
        });
    }
}

criterion_group!(all, alone, centroids, lists, search);
criterion_main!(all);

//! Distances of one query to rows, alone: `cargo bench -p lancet-benches --bench distance -- f32/128`.
//!
//! | input | what it is |
//! |---|---|
//! | `contiguous` | 1 MiB of rows without gaps |
//! | `picked` | 32 rows by id, as a step through a graph meets them, out of 1 MiB |
//! | `single` | one row |

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use half::{bf16, f16};
use lancet_kernels::distance::{DistanceTable, Element, Metric};
use std::hint::black_box;

const BYTES: usize = 1 << 20;
const METRICS: [(&str, Metric); 4] =
    [("l2", Metric::L2), ("dot", Metric::Dot), ("cosine", Metric::Cosine), ("hamming", Metric::Hamming)];

fn distances<T: Element>(criterion: &mut Criterion, element: &str, convert: impl Fn(f32) -> T) {
    let table = DistanceTable::<T>::current();
    for dim in [50, 96, 128, 384, 768, 1536] {
        let count = BYTES / (dim * size_of::<T>());
        let value = |i: usize| convert((i * 7919 % 1999) as f32 / 1000.0 - 1.0);
        let rows: Vec<T> = (0..count * dim).map(value).collect();
        let query: Vec<T> = (0..dim).map(|i| value(3 * i + 1)).collect();
        let ids: Vec<u32> = (0..32).map(|i| (i * 7919 % count) as u32).collect();
        let mut out = vec![0.0; count];
        for (name, metric) in METRICS {
            let mut group = criterion.benchmark_group(format!("{name}/{element}/{dim}"));
            group.throughput(Throughput::Bytes(size_of_val(rows.as_slice()) as u64));
            group.bench_function("contiguous", |bencher| {
                bencher.iter(|| table.distances(metric, black_box(&query), black_box(&rows), dim, &mut out));
            });
            group.throughput(Throughput::Bytes((ids.len() * dim * size_of::<T>()) as u64));
            group.bench_function("picked", |bencher| {
                let out = &mut out[..ids.len()];
                bencher
                    .iter(|| table.distances_of(metric, black_box(&query), &rows, dim, black_box(&ids), out));
            });
            group.throughput(Throughput::Bytes((dim * size_of::<T>()) as u64));
            group.bench_function("single", |bencher| {
                bencher.iter(|| table.distance(metric, black_box(&query), black_box(&rows[..dim])));
            });
        }
    }
}

fn all(criterion: &mut Criterion) {
    distances::<f32>(criterion, "f32", |x| x);
    distances::<f64>(criterion, "f64", f64::from);
    distances::<f16>(criterion, "f16", f16::from_f32);
    distances::<bf16>(criterion, "bf16", bf16::from_f32);
    distances::<i8>(criterion, "i8", |x| (x * 127.0) as i8);
    distances::<u8>(criterion, "u8", |x| (x.abs() * 255.0) as u8);
}

criterion_group!(benches, all);
criterion_main!(benches);

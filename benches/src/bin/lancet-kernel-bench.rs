//! Distances of one query to many rows, of every element type: a worker as `benches/peers` describes it.
//!
//! usage: lancet-kernel-bench [--serve]
//!
//! An operation is `METRIC/TYPE/DIM/PLACE`, for example `l2/f32/128/cache`: rows without gaps, 1 MiB of them in cache
//! or 512 MiB in memory. `bandwidth/PLACE/…` reads as many bytes: `sum` in order, `streams` in eight parts side by
//! side, `prefetch` the same and ahead of itself.

use half::{bf16, f16};
use lancet_benches::{bandwidth, median, run, throughput, time_rounds};
use lancet_kernels::{
    distance::{DistanceTable, Element, Metric},
    roofline,
};
use std::{cell::RefCell, hint::black_box, time::Duration};

const CACHE: usize = 1 << 20;
const MEMORY: usize = 512 << 20;
const TYPES: [&str; 6] = ["f32", "f16", "bf16", "f64", "i8", "u8"];
const DIMS: [usize; 6] = [50, 96, 128, 384, 768, 1536];

fn main() {
    let mut operations: Vec<String> = Vec::new();
    for place in ["cache", "memory"] {
        operations.extend(["sum", "streams", "prefetch"].map(|probe| format!("bandwidth/{probe}/{place}")));
    }
    operations.push("fma".into());
    for place in ["cache", "memory"] {
        for metric in ["l2", "dot", "cosine"] {
            for element in TYPES {
                operations.extend(DIMS.map(|dim| format!("{metric}/{element}/{dim}/{place}")));
            }
        }
        operations.extend([16, 32, 64, 96, 192].map(|bytes| format!("hamming/u8/{bytes}/{place}")));
    }
    let operations: Vec<&str> = operations.iter().map(String::as_str).collect();
    run(&operations, std::env::args().any(|argument| argument == "--serve"), measure);
}

fn measure(operation: &str) -> Option<String> {
    let parts: Vec<&str> = operation.split('/').collect();
    let len = |place| match place {
        "cache" => Some(CACHE),
        "memory" => Some(MEMORY),
        _ => None,
    };
    match parts[..] {
        ["fma"] => {
            let rounds = 100_000;
            let mut times = time_rounds(20, || {
                black_box(roofline::multiply_add(rounds));
            });
            let operations = roofline::multiply_add(rounds) as f64;
            Some(format!("\"gflop_per_s\": {:.1}", operations / median(&mut times).as_secs_f64() / 1e9))
        }
        ["bandwidth", probe, place] => {
            let probe = match probe {
                "sum" => bandwidth::sum,
                "streams" => bandwidth::sum_streams,
                "prefetch" => roofline::read,
                _ => return None,
            };
            let len = len(place)?;
            with_memory(|bytes| {
                let words = bytemuck::cast_slice(&bytes[..len]);
                Some(figure(len, || {
                    black_box(probe(black_box(words)));
                }))
            })
        }
        [metric, element, dim, place] => {
            let metric = match metric {
                "l2" => Metric::L2,
                "dot" => Metric::Dot,
                "cosine" => Metric::Cosine,
                "hamming" => Metric::Hamming,
                _ => return None,
            };
            let (dim, len) = (dim.parse().ok()?, len(place)?);
            Some(match element {
                "f32" => distances::<f32>(metric, dim, len, |x| x),
                "f64" => distances::<f64>(metric, dim, len, f64::from),
                "f16" => distances::<f16>(metric, dim, len, f16::from_f32),
                "bf16" => distances::<bf16>(metric, dim, len, bf16::from_f32),
                "i8" => distances::<i8>(metric, dim, len, |x| (x * 127.0) as i8),
                "u8" => distances::<u8>(metric, dim, len, |x| (x.abs() * 255.0) as u8),
                _ => return None,
            })
        }
        _ => None,
    }
}

/// Runs `action` on 512 MiB, which are made once.
fn with_memory<R>(action: impl FnOnce(&mut [u8]) -> R) -> R {
    thread_local!(static MEMORY_BYTES: RefCell<Vec<u128>> = const { RefCell::new(Vec::new()) });
    MEMORY_BYTES.with_borrow_mut(|memory| {
        memory.resize(MEMORY / size_of::<u128>(), 0);
        action(bytemuck::cast_slice_mut(memory))
    })
}

fn distances<T: Element>(metric: Metric, dim: usize, len: usize, convert: impl Fn(f32) -> T) -> String {
    with_memory(|bytes| {
        let rows: &mut [T] = bytemuck::cast_slice_mut(&mut bytes[..len]);
        let count = rows.len() / dim;
        let rows = &mut rows[..count * dim];
        for (i, value) in rows.iter_mut().enumerate() {
            *value = convert((i * 7919 % 1999) as f32 / 1000.0 - 1.0);
        }
        let query: Vec<T> = (0..dim).map(|i| convert(0.9 - i as f32 / 1600.0)).collect();
        let mut out = vec![0.0; count];
        let table = DistanceTable::<T>::current();
        figure(count * dim * size_of::<T>(), || {
            // In pieces whose distances stay in cache, as a search would do it.
            for (rows, out) in rows.chunks(1024 * dim).zip(out.chunks_mut(1024)) {
                table.distances(metric, black_box(&query), rows, dim, out);
            }
            black_box(&mut out);
        })
    })
}

/// The rate at which `action` goes through `bytes` bytes.
fn figure(bytes: usize, mut action: impl FnMut()) -> String {
    let repeats = (CACHE * 4).div_ceil(bytes);
    let rounds = if bytes > CACHE { 5 } else { 50 };
    let times: Vec<Duration> = time_rounds(rounds, || (0..repeats).for_each(|_| action()));
    throughput(times, bytes * repeats)
}

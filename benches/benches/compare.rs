//! Comparisons into masks, and masks to row numbers: 10⁹ bytes of the input a second, in the cache and in memory.
//!
//! `LANCET_ISA` picks the instruction set. `bandwidth` in a group is the better of two probes over the same bytes,
//! the limit of what is in memory.

use criterion::{
    BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
    measurement::WallTime,
};
use half::f16;
use lancet_benches::bandwidth;
use lancet_kernels::{
    compare::{self, Item, Op, Set, bytes},
    mask,
};
use std::{hint::black_box, time::Duration};

/// Bytes that fit in the nearest caches, and bytes that fit in none.
const SIZES: [(&str, usize); 2] = [("cache", 128 << 10), ("memory", 512 << 20)];

/// Numbers that are spread evenly over the low `bits` bits.
fn spread(count: usize, bits: u32) -> impl Iterator<Item = u64> {
    (0..count as u64).map(move |i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits))
}

fn group<'a>(criterion: &'a mut Criterion, name: &str, bytes: usize) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group
        .sampling_mode(SamplingMode::Flat)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400));
    group.throughput(Throughput::Bytes(bytes as u64));
    group
}

fn columns_of<T: Item>(criterion: &mut Criterion, name: &str, bits: u32, from: impl Fn(u64) -> T) {
    for (place, bytes) in SIZES {
        let rows = bytes / size_of::<T>();
        let values: Vec<T> = spread(rows, bits).map(&from).collect();
        let half = from(1 << (bits - 1));
        let mut mask = vec![0; rows.div_ceil(64)];
        let mut group = group(criterion, &format!("compare/{name}/{place}"), bytes);
        group.bench_function("less than a literal, half match", |bencher| {
            bencher.iter(|| compare::literal(Op::Lt, black_box(&values), half, &mut mask));
        });
        group.bench_function("in a range, a quarter match", |bencher| {
            let range = from(1 << (bits - 2))..half;
            bencher.iter(|| compare::range(black_box(&values), range.clone(), &mut mask));
        });
        let (left, right) = values.split_at(rows / 2);
        let mask = &mut mask[..left.len().div_ceil(64)];
        group.bench_function("equal columns", |bencher| {
            bencher.iter(|| compare::columns(Op::Eq, black_box(left), black_box(right), mask));
        });
        group.bench_function("less columns", |bencher| {
            bencher.iter(|| compare::columns(Op::Lt, black_box(left), black_box(right), mask));
        });
    }
}

fn numbers(criterion: &mut Criterion) {
    columns_of(criterion, "u8", 8, |word| word as u8);
    columns_of(criterion, "i16", 15, |word| word as i16);
    columns_of(criterion, "i32", 31, |word| word as i32);
    columns_of(criterion, "i64", 63, |word| word as i64);
    columns_of(criterion, "f16", 14, |word| f16::from_bits(word as u16));
    columns_of(criterion, "f32", 30, |word| f32::from_bits(word as u32));
    columns_of(criterion, "f64", 62, f64::from_bits);
    columns_of(criterion, "decimal128", 63, |word| i128::from(word).to_le_bytes());
}

fn limits(criterion: &mut Criterion) {
    for (place, size) in SIZES {
        let words: Vec<u64> = spread(size / 8, 64).collect();
        let mut group = group(criterion, &format!("bandwidth/{place}"), size);
        group.bench_function("one stream", |bencher| bencher.iter(|| bandwidth::sum(black_box(&words))));
        group.bench_function("eight streams", |bencher| {
            bencher.iter(|| bandwidth::sum_streams(black_box(&words)));
        });
    }
}

fn sets(criterion: &mut Criterion) {
    let values: Vec<i32> = spread(32 << 10, 12).map(|word| word as i32).collect();
    let mut mask = vec![0; values.len().div_ceil(64)];
    let mut group = group(criterion, "set/i32/cache", size_of_val(&values[..]));
    for members in [2, 8, 32, 64, 1000] {
        let set = Set::new(spread(members, 12).map(|word| word as i32));
        group.bench_function(format!("{members} members"), |bencher| {
            bencher.iter(|| set.contains(black_box(&values), &mut mask));
        });
    }
}

/// Texts of 4 to 35 bytes, of which one in four starts with `user-4`.
fn texts(criterion: &mut Criterion) {
    let (mut offsets, mut bytes) = (vec![0i32], Vec::new());
    for word in spread(100_000, 32) {
        bytes.extend(format!("user-{:0width$}", word & 7, width = 1 + (word >> 3) as usize % 30).bytes());
        offsets.push(bytes.len() as i32);
    }
    let rows = bytes::Variable { offsets: &offsets, bytes: &bytes };
    let mut mask = vec![0; (offsets.len() - 1).div_ceil(64)];
    let mut group = group(criterion, "text/100 000 rows", size_of_val(&offsets[..]) + bytes.len());
    group.throughput(Throughput::Elements(offsets.len() as u64 - 1));
    group.bench_function("equal, few of the length match", |bencher| {
        bencher.iter(|| bytes::literal(Op::Eq, black_box(rows), b"user-0000000004", &mut mask));
    });
    group.bench_function("less, half match", |bencher| {
        bencher.iter(|| bytes::literal(Op::Lt, black_box(rows), b"user-00000000000000", &mut mask));
    });
    group.bench_function("start, none match", |bencher| {
        bencher.iter(|| bytes::starts_with(black_box(rows), b"group-", &mut mask));
    });
    group.bench_function("start, half match", |bencher| {
        bencher.iter(|| bytes::starts_with(black_box(rows), b"user-00000000", &mut mask));
    });
}

/// A mask of 1 048 576 rows.
fn masks(criterion: &mut Criterion) {
    const WORDS: usize = 1 << 14;
    let inputs: [(&str, Vec<u64>); 6] = [
        ("none", vec![0; WORDS]),
        (
            "one in a thousand rows",
            spread(WORDS, 64).map(|word| u64::from(word % 16 == 0) << (word >> 58)).collect(),
        ),
        (
            "one in twenty rows",
            spread(WORDS, 64).map(|word| word & word << 13 & word << 29 & word << 41).collect(),
        ),
        ("half, at random", spread(WORDS, 64).collect()),
        ("half, in runs of a thousand", (0..WORDS).map(|i| if i / 16 % 2 == 0 { !0 } else { 0 }).collect()),
        ("all", vec![!0; WORDS]),
    ];
    let mut rows = Vec::with_capacity(WORDS * 64 + 64);
    for (name, words) in &inputs {
        let mut group = group(criterion, &format!("mask/{name}"), WORDS * 8);
        group.bench_function("positions", |bencher| {
            bencher.iter(|| {
                rows.clear();
                mask::positions(black_box(words), 0, &mut rows);
            });
        });
        group.bench_function("runs", |bencher| {
            bencher.iter(|| mask::runs(black_box(words)).map(|run| run.len()).sum::<usize>());
        });
    }
    let mut words = inputs[3].1.clone();
    let mut group = group(criterion, "mask/any", WORDS * 8);
    group.bench_function("count", |bencher| bencher.iter(|| mask::count(black_box(&words))));
    group.bench_function("and", |bencher| bencher.iter(|| mask::and(black_box(&mut words), &inputs[3].1)));
}

criterion_group!(all, limits, numbers, sets, texts, masks);
criterion_main!(all);

//! What decoders are made of, over data in the nearest caches: definition levels to validity, in 10⁹ levels a second, and
//! codes of FSST to texts, in 10⁹ bytes of text a second.
//!
//! `LANCET_ISA` picks the instruction set.

use criterion::{
    BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
    measurement::WallTime,
};
use lancet_kernels::{fsst::Symbols, levels, unpack};
use std::{hint::black_box, time::Duration};

const LEVELS: usize = 32 * unpack::BLOCK;
const CODES: usize = 1 << 15;

/// Numbers spread over all 64 bits.
fn spread(count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23).wrapping_mul(i | 1))
}

fn group<'a>(criterion: &'a mut Criterion, name: &str, size: Throughput) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group
        .sampling_mode(SamplingMode::Flat)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
        .throughput(size);
    group
}

/// Levels of one nullable leaf, a tenth of which is null.
fn validity(criterion: &mut Criterion) {
    let stored: Vec<u16> = spread(LEVELS).map(|word| u16::from(word % 10 == 0)).collect();
    let packed_len = unpack::packed_len(1);
    let mut packed = vec![0; LEVELS / unpack::BLOCK * packed_len];
    let blocks = stored.as_chunks::<{ unpack::BLOCK }>().0;
    for (block, packed) in blocks.iter().zip(packed.chunks_exact_mut(packed_len)) {
        unpack::pack_block(1, block, packed);
    }
    let mut bits = vec![0; LEVELS / 8];
    let mut group = group(criterion, "levels", Throughput::Elements(LEVELS as u64));
    group.bench_function("to validity", |bencher| {
        bencher.iter(|| levels::less_than(black_box(&stored), 1, &mut bits, 0));
    });
    let mut unpacked = vec![0; LEVELS];
    group.bench_function("of one bit, checked, to validity", |bencher| {
        bencher.iter(|| {
            let blocks = unpacked.as_chunks_mut::<{ unpack::BLOCK }>().0;
            for (packed, block) in black_box(&packed).chunks_exact(packed_len).zip(blocks) {
                unpack::block(1, packed, block);
            }
            (levels::max(&unpacked), levels::less_than(&unpacked, 1, &mut bits, 0))
        });
    });
}

/// A full table of symbols of at most `longest` bytes; of 1000 codes so many are escapes.
fn codes(criterion: &mut Criterion, name: &str, longest: u64, escapes: u64) {
    let lengths: Vec<u8> = spread(255).map(|word| 1 + (word >> 32) as u8 % longest as u8).collect();
    let mut table = vec![255, 0, 0, 1, 0x54, 0x53, 0x53, 0x46];
    table.extend(spread(255).flat_map(|word| (word & 0x7f7f_7f7f_7f7f_7f7f).to_le_bytes()));
    table.extend(lengths);
    table.resize(2312, 0);
    let symbols = Symbols::parse(&table).expect("a valid table");
    let code = |word: u64| match word >> 20 & 1023 {
        draw if draw < escapes => [255, word as u8].into_iter().take(2),
        _ => [(word % 255) as u8, 0].into_iter().take(1),
    };
    let codes: Vec<u8> = spread(CODES).flat_map(code).collect();
    let mut text = vec![0; CODES * 8 + 64];
    let len = symbols.decode_into(&codes, &mut text).expect("valid codes");
    let mut group = group(criterion, &format!("fsst/{name}"), Throughput::Bytes(len as u64));
    group.bench_function("size", |bencher| bencher.iter(|| symbols.most_decoded(black_box(&codes))));
    group.bench_function("decode", |bencher| {
        bencher.iter(|| symbols.decode_into(black_box(&codes), &mut text));
    });
    // Texts of 16 codes; where one ends in an escape, it goes on.
    let inner = (16..codes.len()).step_by(16).filter(|end| codes[end - 1] != 255);
    let ends: Vec<usize> = inner.chain([codes.len()]).collect();
    let mut places = vec![0i32; ends.len()];
    group.bench_function("decode texts of 16 codes", |bencher| {
        bencher.iter(|| {
            let mut places = places.iter_mut();
            symbols.decode_texts(black_box(&codes), ends.iter().copied(), &mut text, |end| {
                if let Some(place) = places.next() {
                    *place = end as i32;
                }
            })
        });
    });
}

fn texts(criterion: &mut Criterion) {
    codes(criterion, "symbols of 1 or 2 bytes", 2, 0);
    codes(criterion, "symbols of 1 or 2 bytes, 2 % escapes", 2, 20);
    codes(criterion, "symbols of 1 to 8 bytes", 8, 0);
    codes(criterion, "symbols of 1 to 8 bytes, 2 % escapes", 8, 20);
}

criterion_group!(all, validity, texts);
criterion_main!(all);

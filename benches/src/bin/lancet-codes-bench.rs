//! Scans of coded vectors for the ten nearest rows: a worker as `benches/peers` describes it.
//!
//! usage: lancet-codes-bench [--serve]
//!
//! An operation is `CODES/SIZE/PLACE`: codes `pq8` or `pq4` of so many parts, or `sq` (L2) or `sqdot` of so many numbers; a
//! million rows in memory, of which each query scans partitions of 2000 that others do not, or 64 such partitions in
//! cache. Ten partitions are a query, for which the table is not made anew. `table/CODES/PARTS/WIDTH` makes the tables of
//! ten partitions, of parts of so many numbers. Answers are nanoseconds a row and bytes a second, or microseconds.

use lancet_benches::{latency, median, run, time_rounds};
use lancet_index::nearest::{Arrivals, Collector, Range};
use lancet_kernels::{
    codes::{
        Candidates,
        product::{Codewords, Layout, Lookup},
        scalar,
    },
    distance::{DistanceTable, Metric},
};
use std::hint::black_box;

const ROWS: usize = 2000;
const PROBES: usize = 10;
const K: usize = 10;

fn main() {
    let mut operations = Vec::new();
    for place in ["cache", "memory"] {
        for codes in ["pq8/16", "pq8/25", "pq4/32", "pq4/50", "sq/128", "sq/50", "sqdot/128", "sqdot/50"] {
            operations.push(format!("{codes}/{place}"));
        }
    }
    operations.extend(["pq8/16/8", "pq8/25/2", "pq4/32/4", "pq4/50/1"].map(|codes| format!("table/{codes}")));
    let operations: Vec<&str> = operations.iter().map(String::as_str).collect();
    run(&operations, std::env::args().any(|argument| argument == "--serve"), measure);
}

fn measure(operation: &str) -> Option<String> {
    match operation.split('/').collect::<Vec<_>>()[..] {
        ["table", codes, parts, width] => Some(tables(layout(codes, parts)?, width.parse().ok()?)),
        [codes @ ("pq8" | "pq4"), parts, place] => {
            let layout = layout(codes, parts)?;
            Some(products(layout, partitions(place, layout.row_bytes())?))
        }
        ["sq", dim, place] => {
            let dim = dim.parse().ok()?;
            Some(scalars(dim, partitions(place, dim)?, |query, codes, out| {
                DistanceTable::<u8>::current().distances(Metric::L2, query, codes, query.len(), out);
            }))
        }
        ["sqdot", dim, place] => {
            let dim = dim.parse().ok()?;
            let query: Vec<f32> = (0..dim).map(|i| 0.5 - i as f32 / 200.0).collect();
            Some(scalars(dim, partitions(place, dim)?, move |_, codes, out| {
                scalar::products(&query, codes, out)
            }))
        }
        _ => None,
    }
}

fn layout(codes: &str, parts: &str) -> Option<Layout> {
    let bits = if codes == "pq8" { 8 } else { 4 };
    Some(Layout { parts: parts.parse().ok()?, bits, transposed: true })
}

/// Codes of some partitions, of rows of `bytes` bytes.
fn partitions(place: &str, bytes: usize) -> Option<Vec<Vec<u8>>> {
    let count = match place {
        "cache" => (1 << 19) / (ROWS * bytes),
        "memory" => 1_000_000 / ROWS,
        _ => return None,
    };
    let mut state = 1u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    Some((0..count.max(1)).map(|_| (0..ROWS * bytes).map(|_| byte()).collect()).collect())
}

/// Scans ten partitions for each query, in turn of all, with `scan`.
fn scans(partitions: &[Vec<u8>], mut scan: impl FnMut(&[u8], &mut Arrivals, &mut Candidates)) -> String {
    let (mut found, mut candidates, mut next) = (Arrivals::default(), Candidates::default(), 0);
    let mut times = time_rounds(1000, || {
        found.start(K, Range::default());
        for _ in 0..PROBES {
            scan(black_box(&partitions[next]), &mut found, &mut candidates);
            next = (next + 7) % partitions.len();
        }
        black_box(found.len());
    });
    let seconds = median(&mut times).as_secs_f64();
    let rows = (PROBES * ROWS) as f64;
    let bytes = (PROBES * partitions[0].len()) as f64;
    format!("\"ns_per_row\": {:.3}, \"gb_per_s\": {:.2}", seconds * 1e9 / rows, bytes / seconds / 1e9)
}

fn offer(candidates: &mut Candidates, ids: &[u64], found: &mut Arrivals) {
    found.offer(candidates.distances(), &ids[..candidates.len()], None);
    candidates.clear();
}

/// Numbers that are spread as the squared distances of parts are.
fn spread(i: usize) -> f32 {
    let unit = (i * 7919 % 8191) as f32 / 8191.0;
    0.1 + unit * unit * 3.0
}

fn products(layout: Layout, partitions: Vec<Vec<u8>>) -> String {
    let mut lookup = Lookup::default();
    let ids: Vec<u64> = (0..ROWS as u64).collect();
    let table: Vec<f32> = (0..layout.parts * layout.codewords()).map(spread).collect();
    scans(&partitions, |codes, found, candidates| {
        lookup.start(layout, |out| out.copy_from_slice(&table));
        let mut start = 0;
        let mut most = if found.threshold().is_finite() { 1024 } else { 64 };
        while start < ROWS {
            let threshold = found.threshold();
            let end = ROWS.min(start + most);
            most = 1024.min(most * 2);
            lookup.scan(codes, ROWS, start..end, None, threshold, candidates);
            offer(candidates, &ids, found);
            start = end;
        }
    })
}

fn scalars(dim: usize, partitions: Vec<Vec<u8>>, distances: impl Fn(&[u8], &[u8], &mut [f32])) -> String {
    let query: Vec<u8> = (0..dim).map(|i| (i * 37) as u8).collect();
    let ids: Vec<u64> = (0..ROWS as u64).collect();
    let mut out = vec![0.0; 1024];
    scans(&partitions, |codes, found, candidates| {
        for (block, codes) in codes.chunks(1024 * dim).enumerate() {
            let out = &mut out[..codes.len() / dim];
            distances(&query, codes, out);
            candidates.pick(block as u32 * 1024, out, None, found.threshold());
            offer(candidates, &ids, found);
        }
    })
}

fn tables(layout: Layout, width: usize) -> String {
    let codebook: Vec<f32> = (0..layout.parts * layout.codewords() * width).map(spread).collect();
    let vector: Vec<f32> = (0..layout.parts * width).map(|i| spread(i * 3)).collect();
    let codewords = Codewords::new(layout, &codebook);
    let mut lookup = Lookup::default();
    latency(time_rounds(1000, || {
        for _ in 0..PROBES {
            lookup.start(layout, |out| codewords.squared_distances(black_box(&vector), out));
        }
    }))
}

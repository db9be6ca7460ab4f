//! What two threads do beside one: queries, and reading memory.

use super::{Bench, LONGEST, QUERIES};
use lancet::{Prefilter, SearchParams};
use lancet_benches::{bandwidth, time_rounds};
use lancet_kernels::roofline;
use std::{
    hint::black_box,
    thread,
    time::{Duration, Instant},
};

/// One and two threads take so many turns.
const TURNS: u32 = 5;

/// What threads did together.
#[derive(Default)]
struct Work {
    queries: u64,
    rows: u64,
    time: Duration,
}

/// Queries a second of one thread and of two, each with room of its own, and the bytes of vectors or codes that they went
/// through.
pub(crate) fn measure(bench: &Bench<'_>, params: &SearchParams) -> String {
    let mut all = [Work::default(), Work::default()];
    for turn in 0..=TURNS {
        for (number, work) in all.iter_mut().enumerate() {
            let did = together(bench, params, number + 1);
            // The first turn warms up.
            if turn > 0 {
                work.queries += did.queries;
                work.rows += did.rows;
                work.time += did.time;
            }
        }
    }
    let bytes = bench.ivf.file().row_bytes() as u64;
    let fields = ["one", "two"].iter().zip(&all).map(|(name, work)| {
        let seconds = work.time.as_secs_f64();
        let rate = work.queries as f64 / seconds;
        let scanned = (work.rows * bytes) as f64 / seconds / 1e9;
        format!("\"{name}_per_s\": {rate:.0}, \"{name}_gb_per_s\": {scanned:.2}")
    });
    fields.collect::<Vec<_>>().join(", ")
}

/// Lets so many threads ask queries for one turn, each beginning with another one.
fn together(bench: &Bench<'_>, params: &SearchParams, threads: usize) -> Work {
    let start = Instant::now();
    let ask = |first: usize| {
        let (mut scratch, mut hits) = (bench.index.scratch(), Vec::new());
        let (mut queries, mut rows) = (0, 0);
        for number in (0..QUERIES).cycle().skip(first) {
            if start.elapsed() >= LONGEST / TURNS {
                break;
            }
            let query = bench.query(number);
            let work = bench.index.search(query, params, &Prefilter::default(), &mut scratch, &mut hits);
            rows += work.expect("a search").rows;
            queries += 1;
        }
        (queries, rows)
    };
    let done: Vec<(u64, u64)> = thread::scope(|scope| {
        let asking: Vec<_> =
            (0..threads).map(|number| scope.spawn(move || ask(number * QUERIES / 2))).collect();
        asking.into_iter().map(|thread| thread.join().expect("a thread that ends")).collect()
    });
    let time = start.elapsed();
    Work {
        queries: done.iter().map(|(queries, _)| queries).sum(),
        rows: done.iter().map(|(_, rows)| rows).sum(),
        time,
    }
}

/// How fast memory is read, by one thread and by two, each of which reads its half: in 10⁹ bytes a second.
pub(crate) fn bandwidth(bytes: &[u8]) -> String {
    let words: &[u64] = bytemuck::cast_slice(&bytes[..bytes.len() / 8 * 8]);
    let (left, right) = words.split_at(words.len() / 2);
    let probes: [fn(&[u64]) -> u64; 3] = [bandwidth::sum, bandwidth::sum_streams, roofline::read];
    let fastest = |read: &dyn Fn(fn(&[u64]) -> u64)| {
        let times = probes.map(|probe| {
            let mut times = time_rounds(3, || read(probe));
            lancet_benches::median(&mut times)
        });
        let least = times.into_iter().min().expect("three probes");
        size_of_val(words) as f64 / least.as_secs_f64() / 1e9
    };
    let one = fastest(&|probe| {
        black_box(probe(words));
    });
    let two = fastest(&|probe| {
        thread::scope(|scope| {
            scope.spawn(|| black_box(probe(left)));
            black_box(probe(right));
        });
    });
    format!("\"gb_per_s\": {one:.3}, \"two_gb_per_s\": {two:.3}")
}

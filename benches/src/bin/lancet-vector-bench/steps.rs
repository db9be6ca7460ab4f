//! What a search costs besides its two steps: the time of a query, less that of ranking the partitions and that of scanning
//! the nearest, which are timed in the same run, on the segment itself.
//!
//! Queries go in blocks, whole and in steps by turns, so that both see the same machine. Of each query the least of its
//! times counts for each step: what is fixed would else be lost in the noise of the scans.

use super::{Bench, K, LONGEST, QUERIES};
use lancet::{Prefilter, SearchParams};
use lancet_index::{
    ivf::{Partition, Query, Scratch},
    nearest::{Arrivals, Range},
    vector::Vector,
};
use std::time::{Duration, Instant};

/// Of one query.
#[derive(Clone, Copy)]
struct Times {
    whole: Duration,
    rank: Duration,
    scan: Duration,
}

/// Medians of whole, ranking, scan and the difference; `rows` and `bytes` are what a scan goes through.
pub(crate) fn measure(bench: &Bench<'_>, probes: usize) -> String {
    let params = SearchParams::default().k(K).nprobes(probes);
    let ivf = &bench.ivf;
    let item = ivf.file().centroids().item();
    let prepared = |number| {
        let numbers: Vec<f64> = bench.query(number).iter().map(|&x| x.into()).collect();
        ivf.query(&Vector::new(&numbers, item).expect("a vector")).expect("a query")
    };
    let queries: Vec<Query> = (0..QUERIES).map(prepared).collect();
    let partitions: Vec<Partition> =
        (0..ivf.partitions()).map(|number| ivf.read(number).expect("a partition")).collect();
    let probes = probes.min(ivf.partitions());

    let mut least = [Times { whole: Duration::MAX, rank: Duration::MAX, scan: Duration::MAX }; QUERIES];
    let (mut own, mut hits) = (bench.index.scratch(), Vec::new());
    let (mut scratch, mut found) = (Scratch::default(), Arrivals::default());
    let (mut searched, mut rounds) = (0, 0);
    let began = Instant::now();
    while rounds < 3 || began.elapsed() < 2 * LONGEST {
        searched = 0;
        for (number, least) in least.iter_mut().enumerate() {
            let query = bench.query(number);
            let start = Instant::now();
            let work = bench.index.search(query, &params, &Prefilter::default(), &mut own, &mut hits);
            least.whole = least.whole.min(start.elapsed());
            searched += work.expect("a search").rows;
        }
        for (query, least) in queries.iter().zip(&mut least) {
            let start = Instant::now();
            ivf.rank(query, probes, &mut scratch);
            let ranked = Instant::now();
            found.start(K, Range::default());
            for rank in 0..probes {
                let number = scratch.ranked()[rank].1 as usize;
                ivf.probe(query, number, &partitions[number], None, &mut scratch, &mut found)
                    .expect("a scan");
            }
            least.scan = least.scan.min(ranked.elapsed());
            least.rank = least.rank.min(ranked - start);
        }
        rounds += 1;
    }
    let of = |part: fn(&Times) -> f64| {
        let mut times: Vec<f64> = least.iter().map(part).collect();
        times.sort_unstable_by(f64::total_cmp);
        times[QUERIES / 2] * 1e6
    };
    let whole = of(|times| times.whole.as_secs_f64());
    let rank = of(|times| times.rank.as_secs_f64());
    let scan = of(|times| times.scan.as_secs_f64());
    let fixed = of(|times| times.whole.as_secs_f64() - (times.rank + times.scan).as_secs_f64());
    let total: Duration = least.iter().map(|times| times.scan).sum();
    let rate = (searched * ivf.file().row_bytes() as u64) as f64 / total.as_secs_f64() / 1e9;
    format!(
        "\"whole_us\": {whole:.2}, \"rank_us\": {rank:.2}, \"scan_us\": {scan:.2}, \"fixed_us\": {fixed:.2}, \
         \"scan_gb_per_s\": {rate:.2}, \"rounds\": {rounds}"
    )
}

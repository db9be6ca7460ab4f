//! Times the steps of searches of one segment of a vector index: the ranking of partitions, and the probes.
//!
//! usage: lancet-probe-bench SEGMENT QUERIES.npy [--k K]
//!
//! `SEGMENT` is the folder of `index.idx` and `auxiliary.idx`. For 1, 5, 10, 20 and 50 probes prints the medians over all
//! queries, of which each is searched on its own, after a round that warms the caches.

use lancet_benches::{median, npy, segment};
use lancet_index::{
    ivf::Scratch,
    nearest::{Arrivals, Range},
    vector::Vector,
};
use std::{env, error::Error, path::Path, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [folder, queries, rest @ ..] = &arguments[..] else {
        return Err("usage: lancet-probe-bench SEGMENT QUERIES.npy [--k K]".into());
    };
    let k = match rest {
        [name, k] if name == "--k" => k.parse()?,
        _ => 10,
    };
    let ivf = segment::open(Path::new(folder))?;
    let (queries, dim) = npy::read(Path::new(queries), 300)?;
    let item = ivf.file().centroids().item();
    let vectors = queries.chunks_exact(dim).map(|query| {
        let numbers: Vec<f64> = query.iter().map(|&x| x.into()).collect();
        Ok(ivf.query(&Vector::new(&numbers, item)?)?)
    });
    let vectors = vectors.collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let partitions = (0..ivf.partitions()).map(|number| ivf.read(number));
    let partitions = partitions.collect::<Result<Vec<_>, _>>()?;
    let (mut scratch, mut found) = (Scratch::default(), Arrivals::default());
    for probes in [1, 5, 10, 20, 50] {
        let (mut ranking, mut probing) = (Vec::new(), Vec::new());
        for warm in [false, true] {
            for query in &vectors {
                let begun = Instant::now();
                ivf.rank(query, probes, &mut scratch);
                let ranked = Instant::now();
                found.start(k, Range::default());
                for rank in 0..probes.min(ivf.partitions()) {
                    let number = scratch.ranked()[rank].1 as usize;
                    ivf.probe(query, number, &partitions[number], None, &mut scratch, &mut found)?;
                }
                if warm {
                    ranking.push(ranked - begun);
                    probing.push(ranked.elapsed());
                }
            }
        }
        let [rank, probe] = [ranking, probing].map(|mut times| median(&mut times).as_secs_f64() * 1e6);
        println!("{{\"probes\": {probes}, \"rank_us\": {rank:.1}, \"probe_us\": {probe:.1}}}");
    }
    Ok(())
}

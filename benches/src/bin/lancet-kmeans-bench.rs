//! Measures k-means: one training, or one assignment, of the rows of a numpy file; prints one JSON line.
//!
//! ```text
//! lancet-kmeans-bench ROWS.npy [--rows N] [--start CENTROIDS.npy | --clusters K] [--iterations I] [--threads T]
//!     [--all-distances] [--lance] [--assign] [--repeat R] [--seed S] [--out CENTROIDS.npy]
//! ```
//!
//! With `--start`, training is plain Lloyd from these centroids; `--lance` takes the rules of Lance, and its own. With
//! `--all-distances` nothing is left out for bounds. Seconds are those of the fastest of R times.

use std::{env, error::Error, path::Path, time::Instant};

use lancet_benches::npy;
use lancet_kernels::{
    isa::Isa,
    kmeans::{Control, KMeans, Trained},
    many::{Metric, Targets},
    parallel::Threads,
    roofline,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let value = |name: &str| {
        arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1)).cloned()
    };
    let number = |name: &str, default: usize| value(name).map_or(Ok(default), |text| text.parse::<usize>());

    let path = arguments.first().ok_or("a numpy file with rows is needed")?;
    let (rows, dim) = npy::read(Path::new(path), number("--rows", usize::MAX)?)?;
    let start = value("--start").map(|path| npy::read(Path::new(&path), usize::MAX)).transpose()?;
    let clusters = match &start {
        Some((start, _)) => start.len() / dim,
        None => number("--clusters", 256)?,
    };
    let threads = number("--threads", 1)?;
    let (pool, using) = (
        rayon::ThreadPoolBuilder::new().num_threads(threads).build()?,
        if threads == 1 { Threads::One } else { Threads::Pool },
    );
    let options = if has("--lance") { KMeans::new(clusters) } else { KMeans::plain(clusters) };
    let options = options
        .iterations(number("--iterations", 10)?)
        .seed(number("--seed", 0)? as u64)
        .prune(!has("--all-distances"))
        .threads(using);

    let peak = peak(threads);
    let mut seconds = f64::INFINITY;
    let mut answer = String::new();
    for _ in 0..number("--repeat", 1)? {
        let (fields, took) = if has("--assign") {
            let start = start.as_ref().map_or(&rows[..clusters * dim], |(start, _)| start);
            let (mut ids, mut distances) = (vec![0; rows.len() / dim], vec![0.0; rows.len() / dim]);
            let begun = Instant::now();
            let targets = Targets::new(start, dim, Metric::L2)?;
            pool.install(|| targets.nearest(&rows, &mut ids, &mut distances, using));
            let took = begun.elapsed().as_secs_f64();
            (
                fields(
                    (ids.len() * clusters) as u64,
                    dim,
                    took,
                    distances.iter().map(|&d| f64::from(d)).sum(),
                ),
                took,
            )
        } else {
            let begun = Instant::now();
            let trained =
                pool.install(|| train(&options, &rows, start.as_ref().map(|start| &start.0[..]), dim))?;
            let took = begun.elapsed().as_secs_f64();
            if let Some(path) = value("--out") {
                npy::write(Path::new(&path), &trained.centroids, dim)?;
            }
            let computed = trained.iterations.iter().map(|iteration| iteration.computed).sum();
            let by_iteration: Vec<String> =
                trained.iterations.iter().map(|iteration| iteration.inertia.to_string()).collect();
            let fields = fields(computed, dim, took, trained.inertia);
            (format!("{fields}, \"inertias\": [{}]", by_iteration.join(", ")), took)
        };
        if took < seconds {
            (seconds, answer) = (took, fields);
        }
    }
    println!("{{\"isa\": \"{}\", \"peak_gflops\": {peak:.2}, {answer}}}", Isa::current());
    Ok(())
}

fn train(
    options: &KMeans,
    rows: &[f32],
    start: Option<&[f32]>,
    dim: usize,
) -> Result<Trained<f32>, lancet_kernels::kmeans::Error> {
    match start {
        Some(start) => options.train_from(rows, start, dim, Metric::L2, &mut Control::default()),
        None => options.train(rows, dim, Metric::L2),
    }
}

/// A product and a sum for each element of each distance that was computed.
fn fields(computed: u64, dim: usize, seconds: f64, inertia: f64) -> String {
    let operations = 2.0 * computed as f64 * dim as f64;
    let rate = operations / seconds / 1e9;
    format!(
        "\"seconds\": {seconds:.4}, \"computed\": {computed}, \"gflops\": {rate:.2}, \"inertia\": {inertia}"
    )
}

/// The most multiplications and additions in a second, in 10⁹, on all `threads` together.
fn peak(threads: usize) -> f64 {
    let one = || {
        let measure = || {
            let begun = Instant::now();
            roofline::multiply_add(2_000_000) as f64 / begun.elapsed().as_secs_f64() / 1e9
        };
        (0..5).map(|_| measure()).fold(0.0, f64::max)
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|thread| thread.join().unwrap_or(0.0)).sum()
    })
}

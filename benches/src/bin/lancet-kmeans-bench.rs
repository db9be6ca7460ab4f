//! Measures k-means: a training, or an assignment, of the rows of a numpy file; prints one JSON line.
//!
//! ```text
//! lancet-kmeans-bench ROWS.npy [--rows N] [--start CENTROIDS.npy | --clusters K] [--iterations I] [--threads T]
//!     [--all-distances] [--lance [--sample-rate ROWS]] [--assign] [--repeat R] [--seed S] [--out CENTROIDS.npy]
//! ```
//!
//! With `--start`, training is plain Lloyd from these centroids, unless `--lance` takes the rules of Lance, and its own. With
//! `--all-distances` nothing is left out for bounds. Seconds are those of the fastest of R times.
//!
//! Other machines of a host come and go within a training, so each iteration (of an assignment, each part of the rows)
//! is followed by a moment of multiplications and additions in registers, on as many threads, which does not count.
//! `of_peak` is the median of what part of the mean rate before and after it each reached.

use std::{env, error::Error, ops::ControlFlow, path::Path, time::Instant};

use lancet_benches::npy;
use lancet_kernels::{
    isa::Isa,
    kmeans::{Control, Iteration, KMeans, Trained},
    many::{Metric, Targets},
    parallel::Threads,
    roofline,
};

/// Rows of a part of an assignment.
const PART: usize = 100_000;

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
    let start = start.as_ref().map(|(start, _)| &start[..]).filter(|_| !has("--lance"));
    let clusters = match start {
        Some(start) => start.len() / dim,
        None => number("--clusters", 256)?,
    };
    let threads = number("--threads", 1)?;
    let (pool, using) = (
        rayon::ThreadPoolBuilder::new().num_threads(threads).build()?,
        if threads == 1 { Threads::One } else { Threads::Pool },
    );
    let options = if has("--lance") { KMeans::new(clusters) } else { KMeans::plain(clusters) };
    let options = match value("--sample-rate") {
        Some(rate) => options.sample_rate(Some(rate.parse()?)),
        None => options,
    };
    let options = options
        .iterations(number("--iterations", 10)?)
        .seed(number("--seed", 0)? as u64)
        .prune(!has("--all-distances"))
        .threads(using);

    let mut best: Option<(Clock, f64, Vec<f64>)> = None;
    for _ in 0..number("--repeat", 1)? {
        let mut clock = Clock::new(threads, dim);
        let (inertia, inertias) = if has("--assign") {
            let targets = Targets::new(start.unwrap_or(&rows[..clusters * dim]), dim, Metric::L2)?;
            let (mut ids, mut distances) = (vec![0; PART], vec![0.0; PART]);
            let mut inertia = 0.0;
            clock.begin();
            for rows in rows.chunks(PART * dim) {
                let count = rows.len() / dim;
                let (ids, distances) = (&mut ids[..count], &mut distances[..count]);
                pool.install(|| targets.nearest(rows, ids, distances, using));
                clock.part((count * clusters) as u64);
                inertia += distances.iter().map(|&distance| f64::from(distance)).sum::<f64>();
                clock.begin();
            }
            (inertia, vec![])
        } else {
            clock.begin();
            let mut progress = |iteration: &Iteration| {
                clock.part(iteration.computed);
                clock.begin();
                ControlFlow::Continue(())
            };
            let mut control = Control { progress: Some(&mut progress), cancel: None };
            let trained = pool.install(|| train(&options, &rows, start, dim, &mut control))?;
            if let Some(path) = value("--out") {
                npy::write(Path::new(&path), &trained.centroids, dim)?;
            }
            (trained.inertia, trained.iterations.iter().map(|iteration| iteration.inertia).collect())
        };
        if best.as_ref().is_none_or(|best| clock.seconds() < best.0.seconds()) {
            best = Some((clock, inertia, inertias));
        }
    }
    let (clock, inertia, inertias) = best.ok_or("nothing was repeated")?;
    println!(
        "{{\"isa\": \"{}\", {}, \"inertia\": {inertia}, \"inertias\": {inertias:?}}}",
        Isa::current(),
        clock.fields()
    );
    Ok(())
}

fn train(
    options: &KMeans,
    rows: &[f32],
    start: Option<&[f32]>,
    dim: usize,
    control: &mut Control<'_>,
) -> Result<Trained<f32>, lancet_kernels::kmeans::Error> {
    match start {
        Some(start) => options.train_from(rows, start, dim, Metric::L2, control),
        None => options.train_with(rows, dim, Metric::L2, control),
    }
}

/// Times parts of the work, and between them what the machine can do.
struct Clock {
    threads: usize,
    dim: usize,
    begun: Instant,
    /// Operations and seconds of each part.
    parts: Vec<(f64, f64)>,
    /// 10⁹ multiplications and additions in a second, before each part and after the last.
    peaks: Vec<f64>,
}

impl Clock {
    fn new(threads: usize, dim: usize) -> Self {
        let peaks = vec![peak(threads)];
        Clock { threads, dim, begun: Instant::now(), parts: Vec::new(), peaks }
    }

    fn begin(&mut self) {
        self.begun = Instant::now();
    }

    /// Ends a part that computed so many distances: a product and a sum for each element.
    fn part(&mut self, computed: u64) {
        let took = self.begun.elapsed().as_secs_f64();
        self.parts.push((2.0 * computed as f64 * self.dim as f64, took));
        self.peaks.push(peak(self.threads));
    }

    fn seconds(&self) -> f64 {
        self.parts.iter().map(|part| part.1).sum()
    }

    fn fields(&self) -> String {
        let operations: f64 = self.parts.iter().map(|part| part.0).sum();
        let (computed, seconds) = (operations / 2.0 / self.dim as f64, self.seconds());
        let rate = operations / seconds / 1e9;
        let peaks = self.peaks.windows(2).map(|two| (two[0] + two[1]) / 2.0);
        let shares = self.parts.iter().zip(peaks).map(|(part, peak)| part.0 / part.1 / 1e9 / peak).collect();
        let peak = median(self.peaks.clone());
        format!(
            "\"peak_gflops\": {peak:.2}, \"seconds\": {seconds:.4}, \"computed\": {computed}, \"gflops\": {rate:.2}, \
             \"of_peak\": {:.3}",
            median(shares)
        )
    }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The most multiplications and additions in a second, in 10⁹, on all `threads` together.
fn peak(threads: usize) -> f64 {
    let one = || {
        let measure = || {
            let begun = Instant::now();
            roofline::multiply_add(500_000) as f64 / begun.elapsed().as_secs_f64() / 1e9
        };
        (0..3).map(|_| measure()).fold(0.0, f64::max)
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(one)).collect();
        one() + others.into_iter().map(|thread| thread.join().unwrap_or(0.0)).sum::<f64>()
    })
}

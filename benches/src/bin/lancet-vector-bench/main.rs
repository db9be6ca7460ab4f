//! Searches for the ten nearest rows: a worker as `benches/peers` describes it, on one thread.
//!
//! usage: lancet-vector-bench DATASET QUERIES.npy [--serve | --first | --growth]
//!
//! | operation | one round |
//! |---|---|
//! | `probes/N` | one query after the other, N partitions each |
//! | `refine/N` | the same, with ten times as many candidates, ranked by their exact distances |
//! | `batch/N` | 500 queries at once, N partitions each |
//! | `filtered/N` | as `probes`, of the rows for which `filter.sql`, beside the dataset, holds |
//! | `exact` | a few queries without the index |
//! | `steps/N` | as `probes`; ranking and scan of each query are timed apart as well (`steps.rs`) |
//! | `threads/N` | as `probes`, on one thread and on two (`threads.rs`) |
//! | `bandwidth` | all of `base.npy`, beside the dataset and mapped, is read: the limit of scans |
//!
//! Answers hold the times of single queries (of `batch`, of the whole of it), and `ids`: the row ids that each query found.
//! Those of `filtered` say in `prefilter_us` what evaluating the filter took, once for all queries; the last three have figures
//! of their own. `--first` and `--growth` are what a new process takes: time, and memory (`process.rs`).

mod process;
mod steps;
mod threads;

use lancet::{
    Batch, Column, Dataset, Prefilter, SearchParams, SearchScratch, VectorIndex,
    storage::{Mapped, Storage},
};
use lancet_benches::{latency, median, npy, run, segment, time_rounds};
use lancet_index::ivf::Ivf;
use std::{
    env,
    error::Error,
    fs,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

const COLUMN: &str = "vector";
const K: usize = 10;
const REFINE: usize = 10;
const QUERIES: usize = 300;
const BATCH: usize = 500;
const EXACT: usize = 5;
/// There are no more rounds over all queries after so long.
const LONGEST: Duration = Duration::from_millis(500);

const OPERATIONS: [&str; 12] = [
    "probes/1",
    "probes/5",
    "probes/10",
    "probes/20",
    "probes/50",
    "refine/10",
    "batch/10",
    "filtered/20",
    "exact",
    "steps/10",
    "threads/10",
    "bandwidth",
];

struct Bench<'a> {
    dataset: Dataset,
    index: VectorIndex,
    /// The segment of the index, for what is timed of its steps.
    ivf: Ivf,
    /// The folder that holds the dataset.
    folder: &'a Path,
    queries: Vec<f32>,
}

impl Bench<'_> {
    fn query(&self, number: usize) -> &[f32] {
        &self.queries[number * self.index.dimension()..][..self.index.dimension()]
    }

    fn measure(&self, operation: &str) -> Option<String> {
        let (name, probes) = operation.split_once('/').unwrap_or((operation, "1"));
        let probes = probes.parse().ok()?;
        let params = SearchParams::default().k(K).nprobes(probes);
        match name {
            "probes" => Some(self.single(&params, &Prefilter::default())),
            "refine" => Some(self.single(&params.refine(REFINE), &Prefilter::default())),
            "batch" => Some(self.batch(&params)),
            "filtered" => Some(self.filtered(&params)),
            "exact" => Some(rounds(EXACT, |number, ids| self.exact(number, ids))),
            "steps" => Some(steps::measure(self, probes)),
            "threads" => Some(threads::measure(self, &params)),
            "bandwidth" => Some(self.bandwidth()),
            _ => None,
        }
    }

    fn single(&self, params: &SearchParams, prefilter: &Prefilter) -> String {
        let (mut scratch, mut hits) = (self.index.scratch(), Vec::new());
        rounds(QUERIES, |number, ids| {
            let query = self.query(number);
            self.index.search(query, params, prefilter, &mut scratch, &mut hits).expect("a search");
            ids.extend(hits.iter().map(|hit| hit.row_id));
        })
    }

    fn batch(&self, params: &SearchParams) -> String {
        let queries: Vec<&[f32]> = (0..BATCH).map(|number| self.query(number)).collect();
        let (mut scratch, mut hits) = (SearchScratch::default(), Vec::new());
        let all = Prefilter::default();
        let times = time_rounds(5, || {
            self.index.search_batch(&queries, params, &all, &mut scratch, &mut hits).expect("a search");
        });
        let ids: Vec<Vec<u64>> =
            hits.iter().map(|hits| hits.iter().map(|hit| hit.row_id).collect()).collect();
        format!("{}, \"ids\": {ids:?}", latency(times))
    }

    fn filtered(&self, params: &SearchParams) -> String {
        let filter = fs::read_to_string(self.folder.join("filter.sql")).expect("a filter");
        let make = || {
            let scan = self.dataset.scan().filter(filter.as_str()).expect("a filter");
            self.index.prefilter(&scan).expect("a prefilter")
        };
        let mut times = time_rounds(20, || {
            make();
        });
        let made = median(&mut times).as_secs_f64() * 1e6;
        format!("{}, \"prefilter_us\": {made:.2}", self.single(params, &make()))
    }

    fn exact(&self, number: usize, ids: &mut Vec<u64>) {
        let search = self.dataset.scan().nearest(COLUMN, self.query(number)).expect("a search");
        let search = search.k(K).metric(self.index.metric()).use_index(false);
        let batch: Batch = search.columns(["_rowid"]).and_then(|search| search.collect()).expect("a search");
        ids.extend(batch.columns().first().and_then(Column::flat::<u64>).expect("row ids"));
    }

    fn bandwidth(&self) -> String {
        let mapping = Mapped.open(self.folder.join("base.npy").to_str().expect("a path of text"));
        let mapping = mapping.expect("the file opens");
        threads::bandwidth(mapping.in_memory().expect("a mapping is memory"))
    }
}

/// Times of single queries and what they find. `ask` is given the number of a query, and adds the ids of its rows.
fn rounds(queries: usize, mut ask: impl FnMut(usize, &mut Vec<u64>)) -> String {
    let mut found = vec![Vec::new(); queries];
    found.iter_mut().enumerate().for_each(|(number, ids)| ask(number, ids));
    let (mut times, mut ids) = (Vec::new(), Vec::new());
    let began = Instant::now();
    while times.is_empty() || began.elapsed() < LONGEST {
        for number in 0..queries {
            ids.clear();
            let start = Instant::now();
            ask(number, &mut ids);
            times.push(start.elapsed());
        }
    }
    format!("{}, \"ids\": {found:?}", latency(times))
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [path, queries, options @ ..] = &arguments[..] else {
        eprintln!("usage: lancet-vector-bench DATASET QUERIES.npy [--serve | --first | --growth]");
        return Ok(ExitCode::from(2));
    };
    let asked = |name: &str| options.iter().any(|option| option == name);
    let limit = if asked("--growth") { process::QUERIES } else { BATCH };
    let (queries, dimension) = npy::read(Path::new(queries), limit)?;
    if asked("--first") {
        println!("{}", process::first(path, &queries[..dimension])?);
        return Ok(ExitCode::SUCCESS);
    }
    if asked("--growth") {
        println!("{}", process::growth(path, &queries)?);
        return Ok(ExitCode::SUCCESS);
    }
    let dataset = Dataset::open(path)?;
    let index = dataset.vector_index(COLUMN)?;
    index.prewarm()?;
    let folder = Path::new(path).parent().unwrap_or(Path::new("."));
    let bench = Bench { dataset, index, ivf: segment::of_dataset(Path::new(path))?, folder, queries };
    run(&OPERATIONS, asked("--serve"), |name| bench.measure(name));
    Ok(ExitCode::SUCCESS)
}

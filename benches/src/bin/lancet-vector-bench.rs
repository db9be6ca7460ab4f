//! Searches for the ten nearest rows: a worker as `benches/peers` describes it, on one thread.
//!
//! usage: lancet-vector-bench DATASET QUERIES.npy [--serve | --first]
//!
//! | operation | one round |
//! |---|---|
//! | `probes/N` | one query after the other, N partitions each |
//! | `refine/N` | the same, with ten times as many candidates, ranked by their exact distances |
//! | `batch/N` | 500 queries at once, N partitions each |
//! | `exact` | a few queries without the index |
//! | `bandwidth` | all of `base.npy`, beside the dataset and mapped, is read: the limit of scans |
//!
//! Answers hold the times of single queries (of `batch`, of the whole of it), and `ids`: the row ids that each query found.
//! With `--first` it opens the dataset and its index, asks one query at ten probes, and prints how long that took: what a
//! new process sees.

use lancet::{
    Batch, Column, Dataset, Prefilter, SearchParams, SearchScratch, VectorIndex,
    storage::{Mapped, Storage},
};
use lancet_benches::{bandwidth, latency, npy, run, throughput, time_rounds};
use lancet_kernels::roofline;
use std::{
    env,
    error::Error,
    hint::black_box,
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

const OPERATIONS: [&str; 9] = [
    "probes/1",
    "probes/5",
    "probes/10",
    "probes/20",
    "probes/50",
    "refine/10",
    "batch/10",
    "exact",
    "bandwidth",
];

struct Bench<'a> {
    dataset: Dataset,
    index: VectorIndex,
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
        let params = SearchParams::default().k(K).nprobes(probes.parse().ok()?);
        match name {
            "probes" => Some(self.single(&params)),
            "refine" => Some(self.single(&params.refine(REFINE))),
            "batch" => Some(self.batch(&params)),
            "exact" => Some(rounds(EXACT, |number, ids| self.exact(number, ids))),
            "bandwidth" => Some(self.bandwidth()),
            _ => None,
        }
    }

    fn single(&self, params: &SearchParams) -> String {
        let (mut scratch, mut hits) = (self.index.scratch(), Vec::new());
        let all = Prefilter::default();
        rounds(QUERIES, |number, ids| {
            let query = self.query(number);
            self.index.search(query, params, &all, &mut scratch, &mut hits).expect("a search");
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

    fn exact(&self, number: usize, ids: &mut Vec<u64>) {
        let search = self.dataset.scan().nearest(COLUMN, self.query(number)).expect("a search");
        let search = search.k(K).metric(self.index.metric()).use_index(false);
        let batch: Batch = search.columns(["_rowid"]).and_then(|search| search.collect()).expect("a search");
        ids.extend(batch.columns().first().and_then(Column::flat::<u64>).expect("row ids"));
    }

    fn bandwidth(&self) -> String {
        let mapping = Mapped.open(self.folder.join("base.npy").to_str().expect("a path of text"));
        let mapping = mapping.expect("the file opens");
        let bytes = mapping.in_memory().expect("a mapping is memory");
        let words: &[u64] = bytemuck::cast_slice(&bytes[..bytes.len() / 8 * 8]);
        let fastest = [bandwidth::sum, bandwidth::sum_streams, roofline::read]
            .map(|probe: fn(&[u64]) -> u64| {
                time_rounds(3, || {
                    black_box(probe(words));
                })
            })
            .into_iter()
            .min_by_key(|times| times.iter().min().copied());
        throughput(fastest.expect("three probes"), words.len() * 8)
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

/// The times of a new process: until dataset and index are open, and until the first query is answered.
fn first(dataset: &str, query: &[f32]) -> lancet::Result<String> {
    let start = Instant::now();
    let index = Dataset::open(dataset)?.vector_index(COLUMN)?;
    let open = start.elapsed();
    let params = SearchParams::default().k(K).nprobes(10);
    let (mut scratch, mut hits) = (index.scratch(), Vec::new());
    index.search(query, &params, &Prefilter::default(), &mut scratch, &mut hits)?;
    let [open, both] = [open, start.elapsed()].map(|time| time.as_secs_f64() * 1e6);
    Ok(format!("{{\"open_us\": {open:.1}, \"first_query_us\": {both:.1}}}"))
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [path, queries, options @ ..] = &arguments[..] else {
        eprintln!("usage: lancet-vector-bench DATASET QUERIES.npy [--serve | --first]");
        return Ok(ExitCode::from(2));
    };
    let (queries, dimension) = npy::read(Path::new(queries), BATCH)?;
    if options.iter().any(|option| option == "--first") {
        println!("{}", first(path, &queries[..dimension])?);
        return Ok(ExitCode::SUCCESS);
    }
    let dataset = Dataset::open(path)?;
    let index = dataset.vector_index(COLUMN)?;
    index.prewarm()?;
    let folder = Path::new(path).parent().unwrap_or(Path::new("."));
    let bench = Bench { dataset, index, folder, queries };
    run(&OPERATIONS, options.iter().any(|option| option == "--serve"), |name| bench.measure(name));
    Ok(ExitCode::SUCCESS)
}

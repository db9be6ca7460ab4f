//! The read path of lancet, operation by operation; `benches/peers/README.md` says what each one is.

use lancet::{Batch, Column, Dataset, Projection, Rows};
use lancet_benches::{bandwidth, latency, run, throughput, time_rounds};
use std::{
    hint::black_box,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    time::Instant,
};

const COLUMNS: [&str; 3] = ["id", "text", "event_time"];
const OPERATIONS: [&str; 11] = [
    "open",
    "first_row",
    "take_1",
    "take_100",
    "take_10000_vectors",
    "scan_vectors",
    "scan_vectors_untouched",
    "bandwidth_mapped_sum",
    "bandwidth_mapped_streams",
    "process",
    "rss_anon_mb",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dataset, options @ ..] = arguments.as_slice() else {
        eprintln!("usage: lancet-read-bench DATASET [--rows-dir DIR] [--serve]");
        return ExitCode::from(2);
    };
    if options.iter().any(|option| option == "--once") {
        return once(dataset);
    }
    let rows_dir = options.iter().skip_while(|option| *option != "--rows-dir").nth(1);
    let bench = ReadBench {
        path: dataset.clone(),
        rows_dir: rows_dir.map_or_else(|| Path::new(dataset).join(".."), PathBuf::from),
        dataset: open(dataset),
    };
    run(&OPERATIONS, options.iter().any(|option| option == "--serve"), |name| bench.measure(name));
    ExitCode::SUCCESS
}

fn open(path: &str) -> Dataset {
    Dataset::open(path).unwrap_or_else(|error| panic!("{error}"))
}

/// What a new process does: open, read the first row, and say how long that took and what it holds.
fn once(path: &str) -> ExitCode {
    let start = Instant::now();
    let dataset = open(path);
    let opened = start.elapsed();
    black_box(first_row(&dataset));
    let first = start.elapsed();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let anonymous = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = anonymous.and_then(|rest| rest.split_whitespace().next()).unwrap_or("0");
    println!("{} {} {kib}", opened.as_secs_f64() * 1e6, first.as_secs_f64() * 1e6);
    ExitCode::SUCCESS
}

fn first_row(dataset: &Dataset) -> Batch {
    let scan = dataset.scan().columns(COLUMNS).expect("the columns are there").limit(1);
    scan.collect().expect("the first row can be read")
}

struct ReadBench {
    path: String,
    rows_dir: PathBuf,
    dataset: Dataset,
}

impl ReadBench {
    fn measure(&self, name: &str) -> Option<String> {
        Some(match name {
            "open" => latency(time_rounds(100, || drop(black_box(open(&self.path))))),
            "first_row" => latency(time_rounds(100, || drop(black_box(first_row(&open(&self.path)))))),
            "take_1" => self.take(1, &COLUMNS, 200),
            "take_100" => self.take(100, &COLUMNS, 50),
            "take_10000_vectors" => self.take(10_000, &["vector"], 7),
            "scan_vectors" => self.scan(3, |values| black_box(bandwidth::sum_streams(values))),
            "scan_vectors_untouched" => self.scan(3, |values| values.len() as u64),
            "bandwidth_mapped_sum" => self.bandwidth(bandwidth::sum),
            "bandwidth_mapped_streams" => self.bandwidth(bandwidth::sum_streams),
            "process" => self.process(5),
            "rss_anon_mb" => format!("\"mb\": {:.2}", self.new_process().2 * 1024.0 / 1e6),
            _ => return None,
        })
    }

    /// The takes of `rows-{n}.u64`, one a round.
    fn take(&self, n: usize, columns: &[&str], rounds: usize) -> String {
        let file = self.rows_dir.join(format!("rows-{n}.u64"));
        let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let rows: Vec<u64> = bytes.as_chunks().0.iter().map(|&row| u64::from_le_bytes(row)).collect();
        let mut takes = rows.chunks_exact(n).cycle();
        let projection: Projection = self.dataset.projection(columns).expect("the columns are there");
        latency(time_rounds(rounds, || {
            let rows = takes.next().expect("the file has takes");
            black_box(self.dataset.take(Rows::Offsets(rows), &projection).expect("the rows can be read"));
        }))
    }

    /// The vectors of the whole table, batch by batch.
    fn scan(&self, rounds: usize, mut touch: impl FnMut(&[u64]) -> u64) -> String {
        let mut bytes = 0;
        let times = time_rounds(rounds, || {
            bytes = 0;
            let scan = self.dataset.scan().columns(["vector"]).expect("the column is there");
            for batch in scan.batches().expect("the scan starts") {
                let batch = batch.expect("the batch can be read");
                let values = words(&batch.columns()[0]).expect("the vectors lie flat");
                bytes += values.len() * 8;
                touch(values);
            }
        });
        throughput(times, bytes)
    }

    /// One data file of the dataset, mapped and touched before.
    fn bandwidth(&self, probe: fn(&[u64]) -> u64) -> String {
        let name = &self.dataset.manifest().fragments[0].files[0].path;
        let path = format!("{}/data/{name}", self.path);
        let mapping =
            lancet::storage::Storage::open(&lancet::storage::Mapped, &path).expect("the file opens");
        let bytes = mapping.in_memory().expect("a mapping is memory");
        let words = words_of(&bytes[..bytes.len() / 8 * 8]);
        let times = time_rounds(5, || {
            black_box(probe(words));
        });
        throughput(times, words.len() * 8)
    }

    fn process(&self, rounds: usize) -> String {
        let (mut open, mut first) = (Vec::new(), Vec::new());
        let times = time_rounds(rounds, || {
            let (opened, row, _) = self.new_process();
            open.push(opened);
            first.push(row);
        });
        let median = |values: &mut Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let (open, first) = (median(&mut open), median(&mut first));
        format!("{}, \"open_us\": {open:.2}, \"first_row_us\": {first:.2}", latency(times))
    }

    /// Microseconds until open and until the first row, and KiB of anonymous memory then.
    fn new_process(&self) -> (f64, f64, f64) {
        let program = std::env::current_exe().expect("the program has a path");
        let output = Command::new(program).args([&self.path, "--once"]).output().expect("the program starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let mut numbers = text.split_whitespace().map(|word| word.parse().expect("three numbers"));
        let mut next = || numbers.next().expect("three numbers");
        (next(), next(), next())
    }
}

/// The bytes of a vector column as words.
fn words(column: &Column) -> Option<&[u64]> {
    column.flat::<f32>().map(words_of)
}

fn words_of<T: bytemuck::NoUninit>(values: &[T]) -> &[u64] {
    bytemuck::cast_slice(values)
}

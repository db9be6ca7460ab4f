//! Queries of lancet that scalar indices answer, prepared once and run with many values, on one thread.
//! `benches/peers/scalar_queries.py` says what the file of operations holds.
//!
//! With `--first OPERATION` it opens the dataset, asks one query of that operation, and prints how long each took: what
//! a new process sees.

use lancet::{Batch, Dataset, Scan, expr::Expr};
use lancet_benches::{latency, median, run};
use std::{
    fs,
    hint::black_box,
    process::ExitCode,
    time::{Duration, Instant},
};

/// Every query is run so often, and at least so many are run in all.
const PASSES: usize = 5;
const LEAST_ROUNDS: usize = 2000;
/// An operation takes about so long, however slow it is.
const LONGEST: Duration = Duration::from_millis(1500);

struct Operation {
    name: String,
    /// None of them: the rows are counted.
    columns: Vec<String>,
    template: String,
    /// The literals of each query, as they are written.
    literals: Vec<Vec<String>>,
}

impl Operation {
    fn of_line(line: &str) -> Self {
        let [name, columns, template, sets] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("expected four fields in {line}")
        };
        let list =
            |text: &str, by| text.split(by).filter(|part| !part.is_empty()).map(String::from).collect();
        Operation {
            name: name.into(),
            columns: list(columns, ','),
            template: template.into(),
            literals: sets.split(';').map(|set| list(set, '|')).collect(),
        }
    }

    /// The scan with this filter, of the columns that are wanted.
    fn scan(&self, dataset: &Dataset, filter: &str) -> Scan {
        let scan = dataset.scan().filter(filter).expect("a filter");
        match &self.columns[..] {
            [] => scan,
            columns => scan.columns(columns).expect("columns of the dataset"),
        }
    }

    /// The filter with one set of literals in the place of its parameters.
    fn text(&self, literals: &[String]) -> String {
        let mut parts = self.template.split('?');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for (literal, part) in literals.iter().zip(parts) {
            text.push_str(literal);
            text.push_str(part);
        }
        text
    }

    /// Times of runs with bound values, the medians of single queries, and times of planning.
    fn measure(&self, dataset: &Dataset) -> String {
        let mut prepared = self.scan(dataset, &self.template).prepare().expect("a plan");
        let parse = |literal: &String| Expr::parse(literal).expect("a literal");
        let values: Vec<Vec<Expr>> =
            self.literals.iter().map(|set| set.iter().map(parse).collect()).collect();
        let mut batch = Batch::new();
        let mut ask = |values: &[Expr]| {
            for (number, value) in values.iter().enumerate() {
                prepared.bind(number, value).expect("a value that fits");
            }
            if self.columns.is_empty() {
                return prepared.count().expect("the rows can be counted");
            }
            prepared.run_into(&mut batch).expect("the rows can be read");
            black_box(&batch).len() as u64
        };
        let rows: u64 = values.iter().map(|values| ask(values)).sum();

        let mut times: Vec<Vec<Duration>> = vec![Vec::new(); values.len()];
        let (began, mut rounds) = (Instant::now(), 0);
        while began.elapsed() < LONGEST && rounds < LEAST_ROUNDS.max(PASSES * values.len()) {
            let number = rounds % values.len();
            let start = Instant::now();
            black_box(ask(&values[number]));
            times[number].push(start.elapsed());
            rounds += 1;
        }
        let mut each: Vec<Duration> =
            times.iter_mut().filter(|times| !times.is_empty()).map(|times| median(times)).collect();
        each.sort_unstable();
        let slowest = each.last().map_or(0.0, Duration::as_secs_f64) * 1e6;
        format!(
            "{}, \"slowest_query_us\": {slowest:.2}, \"plan_us\": {:.2}, \"rows\": {rows}",
            latency(times.concat()),
            self.planning(dataset).as_secs_f64() * 1e6,
        )
    }

    /// How long the text of a query takes until it can run.
    fn planning(&self, dataset: &Dataset) -> Duration {
        let texts: Vec<String> = self.literals.iter().map(|set| self.text(set)).collect();
        let mut times: Vec<Duration> = (0..LEAST_ROUNDS / 10)
            .map(|round| {
                let start = Instant::now();
                black_box(self.scan(dataset, &texts[round % texts.len()]).prepare().expect("a plan"));
                start.elapsed()
            })
            .collect();
        median(&mut times)
    }

    /// How long opening the dataset takes, and then the first query.
    fn first(&self, path: &str) -> String {
        let start = Instant::now();
        let dataset = Dataset::open(path).unwrap_or_else(|error| panic!("{error}"));
        let opened = start.elapsed();
        let scan = self.scan(&dataset, &self.text(&self.literals[0]));
        let rows = match self.columns.is_empty() {
            true => scan.count().expect("the rows can be counted"),
            false => scan.collect().expect("the rows can be read").len() as u64,
        };
        let first = start.elapsed() - opened;
        let [opened, first] = [opened, first].map(|time| time.as_secs_f64() * 1e6);
        format!("{{\"open_us\": {opened:.1}, \"first_query_us\": {first:.1}, \"rows\": {rows}}}")
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, queries, options @ ..] = arguments.as_slice() else {
        eprintln!("usage: lancet-scalar-bench DATASET QUERIES [--serve | --first OPERATION]");
        return ExitCode::from(2);
    };
    let text = fs::read_to_string(queries).expect("a file of operations");
    let operations: Vec<Operation> = text.lines().map(Operation::of_line).collect();
    let find = |name: &str| operations.iter().find(|operation| operation.name == name);
    if let [option, name] = options
        && option == "--first"
    {
        println!("{}", find(name).expect("an operation").first(path));
        return ExitCode::SUCCESS;
    }
    let dataset = Dataset::open(path).unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<&str> = operations.iter().map(|operation| operation.name.as_str()).collect();
    let serve = options.iter().any(|option| option == "--serve");
    run(&names, serve, |name| find(name).map(|operation| operation.measure(&dataset)));
    ExitCode::SUCCESS
}

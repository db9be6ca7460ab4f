//! Scalar indices with one of their files damaged, and filters through them: rows of the dataset in order, or an error
//! that names the file, and neither panics nor much time or memory.
//!
//! `LANCET_DAMAGE_SCALARS` is how many cases there are.

use crate::{
    harness,
    indexed::Indexed,
    library::{self, ROOT},
    random::Random,
};
use lancet::{Dataset, Error, storage::InMemory};
use lancet_format::json::Value;
use std::{collections::BTreeSet, env, fs};

const CASES: u64 = 800;
/// What a filter may take: the files, the parts of indices that are read, and the rows of the answer.
const FACTOR: usize = 16;
const SLACK: usize = 4 << 20;

struct Subject {
    indexed: Indexed,
    filters: Vec<String>,
    /// The addresses of all rows.
    rows: BTreeSet<u64>,
}

impl Subject {
    /// `None` if no filter is asked of the dataset, or none that is right.
    fn new(indexed: Indexed) -> Option<Self> {
        let storage = indexed.stored.sound();
        let rows = addresses(&storage, None).ok()?.into_iter().collect();
        let mut filters = filters(&indexed.stored.name);
        filters.retain(|filter| addresses(&storage, Some(filter)).is_ok());
        let is_subject = !filters.is_empty() && indexed.size() > indexed.stored.size();
        is_subject.then_some(Subject { indexed, filters, rows })
    }

    /// Asks a filter; what became of it.
    fn ask(&self, storage: &InMemory, filter: &str) -> &'static str {
        match addresses(storage, Some(filter)) {
            Ok(found) => {
                assert!(found.is_sorted_by(|a, b| a < b), "{filter}: {found:?}");
                assert!(found.iter().all(|address| self.rows.contains(address)), "{filter}: {found:?}");
                "answered"
            }
            Err(error) => {
                assert!(error.to_string().contains("_indices/"), "{filter}: {error}");
                "refused"
            }
        }
    }
}

/// The filters in the cases of a dataset.
fn filters(name: &str) -> Vec<String> {
    let path = library::fixtures().join(name).with_extension("expected.json");
    let text = fs::read(path).unwrap_or_default();
    let cases = Value::parse(&text).unwrap_or(Value::Array(Vec::new()));
    let mut filters = BTreeSet::new();
    for case in cases.as_array().unwrap_or_default() {
        let words: Vec<&str> = case
            .get("args")
            .and_then(Value::as_array)
            .unwrap_or_default()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if let Some(at) = words.iter().position(|word| *word == "--filter") {
            filters.insert(words[at + 1].to_owned());
        }
    }
    filters.into_iter().collect()
}

/// The addresses of the rows that a filter leaves, or of all. Counting them may come to another number, since it
/// need not look at the ids, of which damage may have made two alike; but to no more than there are rows.
fn addresses(storage: &InMemory, filter: Option<&str>) -> Result<Vec<u64>, Error> {
    let dataset = Dataset::options().storage(storage.clone()).open(ROOT)?;
    let mut scan = dataset.scan().columns(["_rowaddr"])?;
    if let Some(filter) = filter {
        scan = scan.filter(filter)?;
    }
    let found = scan.clone().collect()?.columns()[0].primitive::<u64>().expect("addresses").to_vec();
    assert!(scan.count()? <= dataset.count_rows()?, "{filter:?}");
    Ok(found)
}

#[test]
fn damaged_scalar_indices() {
    let stored = library::datasets(&["events-tiny", "events-stable", "bugs/"]);
    let indexed = stored.into_iter().map(|stored| Indexed::new(stored, ".lance"));
    let subjects: Vec<Subject> = indexed.filter_map(Subject::new).collect();
    assert!(subjects.len() > 30, "{} datasets", subjects.len());
    let cases = env::var("LANCET_DAMAGE_SCALARS").map_or(CASES, |text| text.parse().expect("a number"));
    let report = harness::for_each(0, cases, |case, report| {
        let mut random = Random(case);
        let subject = &subjects[case as usize % subjects.len()];
        let (path, bytes, what) = subject.indexed.damaged(&mut random);
        let storage = subject.indexed.stored.with(path, bytes);
        let filter = random.pick(&subject.filters);
        let failure = match harness::run(case, || subject.ask(&storage, filter)) {
            Ok(run) => {
                let size = subject.indexed.size();
                report.add(run.result, &run, run.taken.peak as f64 / size as f64);
                if run.taken.peak <= size * FACTOR + SLACK {
                    return;
                }
                format!("MEMORY: {} bytes for {size}", run.taken.peak)
            }
            Err(failure) => failure,
        };
        let name = &subject.indexed.stored.name;
        report.failures.push(format!("{name} case {case}, {path}, {what}, {filter}: {failure}"));
    });
    println!("{:?}, slowest {:?}, most memory {:.1}", report.counts, report.slowest, report.most);
    assert!(report.failures.is_empty(), "{} cases fail, see above", report.failures.len());
    assert!(report.counts.len() >= 2, "{:?}", report.counts);
}

//! Vector indices with one of their two files damaged, searched through the dataset: an answer or an error that names
//! the file, and neither panics nor much time or memory.
//!
//! `LANCET_DAMAGE_VECTORS` is how many cases there are.

use crate::{
    harness,
    indexed::Indexed,
    library::{self, ROOT},
    random::Random,
};
use lancet::{Dataset, ErrorKind, storage::InMemory};
use std::env;

const CASES: u64 = 600;
/// What a search may take: the files, the partitions read from them, and the rows of the answer.
const FACTOR: usize = 16;
const SLACK: usize = 4 << 20;

/// Searches all partitions; what became of it.
fn search(storage: &InMemory) -> &'static str {
    let dataset = Dataset::options().storage(storage.clone()).open(ROOT).expect("a sound dataset");
    let dimension =
        match dataset.schema().resolve("vec").expect("a column").last().map(|field| &field.data_type) {
            Some(lancet::DataType::FixedSizeList(_, dimension)) => *dimension as usize,
            other => panic!("{other:?}"),
        };
    let query = vec![1u8; dimension];
    let search = dataset.scan().nearest("vec", &query).expect("a query").columns(["id"]).expect("a column");
    let error = match search.k(20).min_probes(1000).indexed_only(true).collect() {
        Ok(found) => {
            assert!(found.len() <= 20);
            return "answered";
        }
        Err(error) => error,
    };
    let text = error.to_string();
    match error.kind() {
        // The metric or the type may have become another sound one, which the query does not fit.
        ErrorKind::InvalidInput => "unfit",
        _ => {
            assert!(
                text.contains("index.idx") || text.contains("auxiliary.idx") || text.contains("_indices/"),
                "{text}"
            );
            "refused"
        }
    }
}

#[test]
fn damaged_vector_indices() {
    let names = ["vec-ivf-flat", "vec-ivf-pq-4bit", "vec-ivf-pq-l2.", "vec-ivf-pq-f64", "vec-ivf-sq-l2"];
    let subjects: Vec<Indexed> =
        library::datasets(&names).into_iter().map(|stored| Indexed::new(stored, ".idx")).collect();
    assert!(subjects.len() >= names.len());
    let cases = env::var("LANCET_DAMAGE_VECTORS").map_or(CASES, |text| text.parse().expect("a number"));
    let report = harness::for_each(0, cases, |case, report| {
        let subject = &subjects[case as usize % subjects.len()];
        let (path, bytes, what) = subject.damaged(&mut Random(case));
        let storage = subject.stored.with(path, bytes);
        let failure = match harness::run(case, || search(&storage)) {
            Ok(run) => {
                let size = subject.size();
                report.add(run.result, &run, run.taken.peak as f64 / size as f64);
                if run.taken.peak <= size * FACTOR + SLACK {
                    return;
                }
                format!("MEMORY: {} bytes for {size}", run.taken.peak)
            }
            Err(failure) => failure,
        };
        report.failures.push(format!("{} case {case}, {path}, {what}: {failure}", subject.stored.name));
    });
    println!("{:?}, slowest {:?}, most memory {:.1}", report.counts, report.slowest, report.most);
    assert!(report.failures.is_empty(), "{} cases fail, see above", report.failures.len());
    assert!(report.counts.len() >= 2, "{:?}", report.counts);
}

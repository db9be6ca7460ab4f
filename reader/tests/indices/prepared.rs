//! Prepared filters over the B-trees of all stored datasets: with values bound to `?`, the answer is that of a scan which
//! has them written out and no index.

use crate::{
    datasets,
    planner::{Conditions, Random},
    segments,
};
use lancet::{Batch, Dataset, IndexUse, Prepared, Scan, expr::Expr};
use lancet_format::index::IndexKind;
use std::path::Path;

/// Conditions on a column, with a value for each `?`.
const FORMS: [&str; 14] = [
    "{c} = ?",
    "? = {c}",
    "{c} IN (?)",
    "{c} IN (?, ?, ?)",
    "{c} BETWEEN ? AND ?",
    "{c} < ?",
    "{c} <= ?",
    "{c} > ?",
    "{c} >= ?",
    "{c} >= ? AND {c} < ?",
    "{c} != ?",
    "{c} NOT IN (?, ?)",
    "NOT ({c} BETWEEN ? AND ?)",
    "{c} = ? OR {c} > ?",
];

fn addresses(batch: &Batch) -> Vec<u64> {
    batch.column("_rowaddr").expect("addresses").primitive::<u64>().expect("numbers").to_vec()
}

/// The same scan with values written out and no index.
fn scanned(scan: &Scan) -> Vec<u64> {
    addresses(&scan.clone().indices(IndexUse::Never).collect().unwrap())
}

/// Other values for all parameters; the filter with them written out.
fn bind(prepared: &mut Prepared, filter: &str, values: &Conditions, random: &mut Random) -> String {
    let mut written = String::new();
    for (number, part) in filter.split('?').enumerate() {
        if number > 0 {
            let value = random.pick(&values.literals);
            prepared.bind(number - 1, Expr::parse(value).unwrap()).unwrap();
            written += value;
        }
        written += part;
    }
    written
}

/// The columns with a B-tree in a version, each with values.
fn trees(dataset: &Dataset) -> Vec<Conditions> {
    let of_trees = segments(dataset).into_iter().filter(|(_, kind)| matches!(kind, IndexKind::BTree(_)));
    let columns = of_trees.filter_map(|(entry, _)| dataset.schema().path_of(*entry.fields.first()?));
    let mut columns: Vec<String> = columns.collect();
    columns.dedup();
    columns.iter().filter_map(|column| Conditions::of(dataset, column)).collect()
}

/// Every fifth version of a dataset, and the newest: only in some do the indices know all fragments.
fn versions(path: &Path) -> Vec<Dataset> {
    let newest = Dataset::open(path).unwrap();
    let numbers = newest.versions().unwrap().into_iter().map(|version| version.version);
    let earlier = numbers.filter(|number| number % 5 == 2 && *number != newest.version());
    let mut versions: Vec<Dataset> = earlier.filter_map(|number| newest.at_version(number).ok()).collect();
    versions.push(newest);
    versions
}

#[test]
fn bound_values_answer_as_written_ones() {
    let mut random = Random(17);
    let (mut asked, mut found) = (0, 0);
    let paths = datasets("").into_iter().chain(datasets("bugs"));
    for dataset in paths.flat_map(|path| versions(&path)) {
        for values in trees(&dataset) {
            // One batch for all.
            let mut batch = Batch::new();
            for form in FORMS {
                let filter = form.replace("{c}", &values.column);
                let scan = || dataset.scan().columns(["_rowaddr"]).unwrap();
                let (offset, limit) = (random.below(4) as u64, 1 + random.below(30) as u64);
                let mut whole = scan().filter(&filter).unwrap().prepare().unwrap();
                let part = scan().filter(&filter).unwrap().offset(offset).limit(limit);
                let mut part = part.prepare().unwrap();
                for _ in 0..4 {
                    let state = random.0;
                    let written = bind(&mut whole, &filter, &values, &mut random);
                    random.0 = state;
                    bind(&mut part, &filter, &values, &mut random);
                    let expected = scanned(&scan().filter(&written).unwrap());
                    let say = format!("{} version {}: {written}", dataset.root(), dataset.version());
                    whole.run_into(&mut batch).unwrap_or_else(|error| panic!("{say}: {error}"));
                    assert_eq!(addresses(&batch), expected, "{say}");
                    assert_eq!(whole.count().unwrap(), expected.len() as u64, "{say}");
                    part.run_into(&mut batch).unwrap();
                    let window: Vec<u64> =
                        expected.iter().copied().skip(offset as usize).take(limit as usize).collect();
                    assert_eq!(addresses(&batch), window, "{say}, offset {offset}, limit {limit}");
                    assert_eq!(part.count().unwrap(), window.len() as u64, "{say}");
                    asked += 1;
                    found += usize::from(!expected.is_empty());
                }
            }
        }
    }
    println!("{asked} filters, {found} with rows");
    assert!(asked > 1000 && found * 3 > asked, "{found} of {asked} filters found rows");
}

#[test]
fn bound_values_read_all_columns_into_a_used_batch() {
    let mut random = Random(23);
    let mut compared = 0;
    for name in ["events", "events-stable", "events-compacted", "words"] {
        let path = datasets("").into_iter().find(|path| path.ends_with(format!("{name}.lance"))).unwrap();
        for dataset in versions(&path) {
            let mut batch = Batch::new();
            for values in trees(&dataset) {
                for form in ["{c} = ?", "{c} IN (?, ?)", "{c} BETWEEN ? AND ?"] {
                    let filter = form.replace("{c}", &values.column);
                    let scan = || dataset.scan().limit(50);
                    let mut prepared = scan().filter(&filter).unwrap().prepare().unwrap();
                    for _ in 0..4 {
                        let written = bind(&mut prepared, &filter, &values, &mut random);
                        prepared.run_into(&mut batch).unwrap();
                        let expected = scan().indices(IndexUse::Never).filter(&written).unwrap();
                        assert!(batch == expected.collect().unwrap(), "{name}: {written}");
                        compared += batch.len();
                    }
                }
            }
        }
    }
    assert!(compared > 100, "{compared} rows");
}

//! The filters of the stored cases parse, are typed against their datasets, and come back from their own text; those
//! that must be errors are.

use lancet::expr::{Expr, Item, split_items};
use lancet::{Dataset, Schema};
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path};

#[test]
fn filters_of_the_stored_cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    let (mut right, mut wrong, mut failures) = (0, 0, Vec::new());
    for folder in [root.clone(), root.join("bugs")] {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some(name) = name.strip_suffix(".expected.json") else { continue };
            let text = fs::read_to_string(&path).expect("a file");
            let cases: Vec<Value> = serde_json::from_str(&text).expect("a list of cases");
            let mut schemas = BTreeMap::new();
            for case in &cases {
                let arguments: Vec<&str> =
                    case["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let value = |flag: &str| {
                    let position = arguments.iter().position(|argument| *argument == flag)?;
                    arguments.get(position + 1).copied()
                };
                let place = value("--vector").and_then(|vector| vector.strip_prefix("where:"));
                let Some(filter) = value("--filter").or(place) else { continue };
                let version = ["--version", "--tag", "--branch"].map(|flag| value(flag).map(str::to_string));
                let schema = schemas
                    .entry(version.clone())
                    .or_insert_with(|| schema(&folder.join(format!("{name}.lance")), version));
                let expected_error = case["error"] == true;
                let bound = check(filter, schema);
                match (expected_error, bound) {
                    (false, Ok(())) => right += 1,
                    (true, Err(_)) => wrong += 1,
                    // A case may be an error for what is not the filter's fault.
                    (true, Ok(())) if value("--columns") == Some("nosuch") => (),
                    (_, found) => failures.push(format!("{name}: {filter}: {found:?}")),
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(right > 2900 && wrong > 20, "{right} filters that are right, {wrong} that are wrong");
}

fn schema(path: &Path, [version, tag, branch]: [Option<String>; 3]) -> Schema {
    let mut options = Dataset::options();
    if let Some(version) = version {
        options = options.version(version.parse().expect("a number"));
    }
    if let Some(tag) = tag {
        options = options.tag(tag);
    }
    if let Some(branch) = branch {
        options = options.branch(branch);
    }
    let dataset: Dataset = options.open(path.to_str().expect("a Unicode path")).expect("a dataset");
    dataset.schema().clone()
}

fn check(filter: &str, schema: &Schema) -> lancet::Result<()> {
    let expr = Expr::parse(filter)?;
    assert_eq!(Expr::parse(&expr.to_string())?, expr, "{filter}");
    expr.bind_filter(schema).map(drop)
}

#[test]
fn columns_of_the_stored_cases_are_cut_at_their_commas() {
    assert_eq!(split_items("country,id,loc.city,i8-n10"), ["country", "id", "loc.city", "i8-n10"]);
    let item = Item::parse("score * 2 AS s").expect("an item");
    assert_eq!(&*item.name, "s");
}

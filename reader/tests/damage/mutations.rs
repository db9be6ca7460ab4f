//! One place of one file of a stored dataset changed at random, index files included.
//!
//! `LANCET_DAMAGE_MUTATIONS` says how many changes to try (by default a few thousand, to small datasets; if it is
//! set, to all), `LANCET_DAMAGE_SEED` which.

use crate::{
    check, harness, layout,
    library::{self, ROOT, Stored},
    random::Random,
    wire,
};
use lancet::{Dataset, storage::InMemory, verify_file};
use std::{env, fmt};

const MUTATIONS: u64 = 2000;
/// A way of damaging a file may not fit it, or change nothing.
const TRIES: u64 = 16;
/// Columns that are read in one case.
const MAX_COLUMNS: usize = 3;

/// What reading may take: so many times the bytes of the files and of the rows asked for, and a little more.
const FACTOR: usize = 8;
const SLACK: usize = 4 << 20;

/// Rows that a verification reads at once.
const VERIFY_BATCH: usize = 8192;

/// One change to one file.
struct Damage {
    path: String,
    what: String,
    bytes: Vec<u8>,
    columns: Vec<usize>,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, columns {:?}", self.path, self.what, self.columns)
    }
}

/// The change number `case` of a dataset: the first of some tries that changes anything.
fn damage(stored: &Stored, case: u64) -> Option<Damage> {
    (0..TRIES).find_map(|number| damage_once(stored, Random(case | number << 56)))
}

fn damage_once(stored: &Stored, mut random: Random) -> Option<Damage> {
    let paths: Vec<&String> = stored.touched.keys().collect();
    let path = *random.pick(&paths);
    let parts = &stored.touched[path];
    let file = stored.file(path);
    let mut bytes = file.to_vec();
    if bytes.is_empty() {
        return None;
    }
    let (part, _) = random.pick(parts);
    let len = part.end - part.start;
    // Long parts are values; what matters lies at their ends if anywhere.
    let offset = match random.below(4) {
        0 | 1 => random.below(len.clamp(1, 64) as usize) as u64,
        2 => len.saturating_sub(1 + random.below(len.clamp(1, 64) as usize) as u64),
        _ => random.below(len.max(1) as usize) as u64,
    };
    let at = (part.start + offset).min(bytes.len() as u64 - 1);
    let mut columns = stored.columns_at(path, at);
    let is_manifest = path.ends_with(".manifest");
    let what = match random.below(16) {
        0..7 => {
            let was = bytes[at as usize];
            let flip = was ^ 1 << random.below(8);
            let is = *random.pick(&[0, 0xff, was.wrapping_add(1), was.wrapping_sub(1), flip, flip]);
            bytes[at as usize] = is;
            format!("byte {at}: {is} for {was}")
        }
        7..11 => {
            let width = *random.pick(&[2, 4, 8]);
            // Where numbers lie, mostly.
            let at = if random.below(4) > 0 { at - (at - part.start.min(at)) % width as u64 } else { at };
            let is = *random.pick(&wire::NUMBERS);
            let end = bytes.len().min(at as usize + width);
            let target = &mut bytes[at as usize..end];
            let size = target.len();
            target.copy_from_slice(&is.to_le_bytes()[..size]);
            format!("byte {at}: {is} in {width} bytes")
        }
        11 => {
            let to = *random.pick(&[part.start, part.end, at, part.end.saturating_sub(1)]);
            bytes.truncate(to as usize);
            columns = (0..stored.columns.len()).collect();
            format!("cut to {to} bytes")
        }
        _ if is_manifest => {
            let seed = random.word();
            bytes = layout::damage_manifest(file, &mut Random(seed))?;
            format!("a field of a message, seed {seed}")
        }
        _ if path.ends_with(".lance") || path.ends_with(".idx") => {
            let seed = random.word();
            let (damaged, victim) = layout::damage_columns(file, &mut Random(seed))?;
            bytes = damaged;
            columns = stored.columns_at(path, victim);
            format!("a field of a message, seed {seed}")
        }
        _ => return None,
    };
    while columns.len() > MAX_COLUMNS {
        columns.swap_remove(random.below(columns.len()));
    }
    (bytes[..] != file[..]).then(|| Damage { path: path.clone(), what, bytes, columns })
}

/// Reads the dataset, all of it if it says how. Gives what became of it and the bytes of one row.
fn read_dataset(storage: InMemory, columns: &[String]) -> (&'static str, usize) {
    let Ok(dataset) = Dataset::options().storage(storage).open(ROOT) else {
        return ("refused when opened", 0);
    };
    check::read_manifest(dataset.manifest());
    check::read_lists(&dataset);
    let widths = dataset.schema().fields.iter().map(|field| check::width(&field.data_type));
    let row = widths.fold(16, usize::saturating_add);
    match check::read(&dataset, columns) {
        Ok(()) => ("read", row),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            ("refused when read", row)
        }
    }
}

/// Verifies an index file by itself. Gives what became of it and the bytes of one row.
fn read_index_file(storage: &InMemory, path: &str) -> (&'static str, usize) {
    let findings = verify_file(storage, path, &mut |_| {});
    assert!(findings.iter().all(|finding| finding.error.path() == Some(path)), "{findings:?}");
    // The schema is in the file.
    let row = library::schema(storage, path).map_or(0, |schema| {
        schema.fields.iter().map(|field| check::width(&field.data_type)).max().unwrap_or(0)
    });
    (if findings.is_empty() { "index file read" } else { "index file refused" }, row)
}

fn attempt(stored: &Stored, case: u64, report: &mut harness::Report) {
    let Some(damage) = damage(stored, case) else { return };
    let columns: Vec<String> =
        damage.columns.iter().filter_map(|&i| stored.columns.get(i).cloned()).collect();
    let storage = stored.with(&damage.path, damage.bytes.clone());
    let is_index = library::is_index_file(&damage.path);
    let run = harness::run(case, || match is_index {
        true => read_index_file(&storage, &damage.path),
        false => read_dataset(storage.clone(), &columns),
    });
    let failure = match run {
        Ok(run) => {
            let (outcome, row) = run.result;
            let (bytes, rows) = match is_index {
                true => (damage.bytes.len(), VERIFY_BATCH),
                false => (stored.size(), check::BATCH),
            };
            let present = bytes.saturating_add(row.saturating_mul(rows));
            let (peak, largest) = (run.taken.peak, run.taken.largest);
            report.add(outcome, &run, peak.saturating_sub(SLACK / 4) as f64 / present.max(1) as f64);
            if peak <= present.saturating_mul(FACTOR).saturating_add(SLACK) {
                return;
            }
            format!("MEMORY: {peak} bytes, {largest} at once, for {present} present")
        }
        Err(failure) => failure,
    };
    report.failures.push(format!("{} case {case}, {damage}: {failure}", stored.name));
}

#[test]
fn no_damage_does_harm() {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let mutations = number("LANCET_DAMAGE_MUTATIONS");
    let first = number("LANCET_DAMAGE_SEED").unwrap_or(0);
    let small = [
        "types-fsl-struct",
        "events-tiny.",
        "events-tiny-w",
        "evolved.",
        "evolved-branch",
        "types-pages",
        "types-blob",
        "types-json",
    ];
    let large = ["types-", "events", "evolved", "vec-", "words", "corrupt/", "bugs/"];
    let mut stored = library::datasets(if mutations.is_some() { &large } else { &small });
    stored.retain(|stored| !stored.touched.is_empty());
    assert!(!stored.is_empty(), "there are no datasets");
    let mutations = mutations.unwrap_or(MUTATIONS);
    let report = harness::for_each(first, first + mutations, |case, report| {
        attempt(&stored[case as usize % stored.len()], case, report);
    });
    println!(
        "{} changes to {} datasets: {:?}, {} failures; slowest {:?}, most memory {:.1} times the bytes present",
        report.counts.values().sum::<u64>() + report.failures.len() as u64,
        stored.len(),
        report.counts,
        report.failures.len(),
        report.slowest,
        report.most,
    );
    assert!(report.failures.is_empty(), "{} cases fail, see above", report.failures.len());
}

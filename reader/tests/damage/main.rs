//! Damaged datasets: whatever the bytes are, reading them gives an error or columns that are what they say.
//!
//! Every stored dataset is read with one place of one file changed: a byte, a number, a field of a message, or
//! the file's end. No read may panic, run long, or take much more memory than there are bytes in the files and
//! in the rows asked for.
//!
//! `LANCET_DAMAGE_MUTATIONS` says how many changes to try (by default a few thousand), `LANCET_DAMAGE_SEED`
//! which, and `LANCET_FIXTURES` names another folder of datasets.

#[path = "../common/allocations.rs"]
mod allocations;
mod check;
mod claims;
mod layout;
mod library;
mod messages;
mod random;
mod regressions;
mod wire;

use allocations::Taken;
use lancet::Dataset;
use library::{ROOT, Stored};
use random::Random;
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    env, fmt,
    panic::{AssertUnwindSafe, catch_unwind, set_hook},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const MUTATIONS: u64 = 2000;
const THREADS: usize = 2;
/// Columns that are read in one case.
const MAX_COLUMNS: usize = 3;

/// What reading may take: so many times the bytes of the files and of the rows asked for, and a little more.
const FACTOR: usize = 8;
const SLACK: usize = 4 << 20;

/// No case takes nearly so long, even without optimization and beside other programs.
const SLOW: Duration = Duration::from_secs(30);

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

/// The change number `case` of a dataset.
fn damage(stored: &Stored, case: u64) -> Option<Damage> {
    let mut random = Random(case);
    let paths: Vec<&String> = stored.touched.keys().collect();
    if paths.is_empty() {
        return None;
    }
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
        _ if path.ends_with(".lance") => {
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

/// What became of one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The change was read as it is.
    Read,
    /// Refused when the dataset was opened.
    OpenError,
    /// Refused when rows were read.
    ReadError,
    /// There was nothing to change in this way.
    Nothing,
}

thread_local! {
    static IN_CASE: Cell<bool> = const { Cell::new(false) };
    /// Where the last panic of this thread was.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

fn try_case(stored: &Stored, case: u64) -> Result<(Outcome, Duration, f64), String> {
    let Some(damage) = damage(stored, case) else { return Ok((Outcome::Nothing, Duration::ZERO, 0.0)) };
    let columns: Vec<String> =
        damage.columns.iter().filter_map(|&i| stored.columns.get(i).cloned()).collect();
    let storage = stored.with(&damage.path, damage.bytes.clone());
    let mut row = 16;
    let started = Instant::now();
    let work = || {
        let dataset = match Dataset::options().storage(storage).open(ROOT) {
            Ok(dataset) => dataset,
            Err(_) => return Outcome::OpenError,
        };
        check::read_manifest(dataset.manifest());
        check::read_lists(&dataset);
        row += dataset
            .schema()
            .fields
            .iter()
            .map(|field| check::width(&field.data_type))
            .fold(0, usize::saturating_add);
        match check::read(&dataset, &columns) {
            Ok(()) => Outcome::Read,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                Outcome::ReadError
            }
        }
    };
    let label = [case, 0, 0];
    IN_CASE.set(true);
    let (outcome, taken) = allocations::measure(label, || catch_unwind(AssertUnwindSafe(work)));
    IN_CASE.set(false);
    let name = &stored.name;
    let outcome = outcome.map_err(|_| {
        format!("PANIC in {name} case {case}: {damage}: {}", PANIC.with_borrow(String::clone))
    })?;
    let time = started.elapsed();
    let present = stored.size().saturating_add(row.saturating_mul(check::BATCH));
    let Taken { peak, largest, .. } = taken;
    if peak > present.saturating_mul(FACTOR).saturating_add(SLACK) {
        return Err(format!(
            "MEMORY in {name} case {case}: {damage}: {peak} bytes, {largest} at once, for {present} present"
        ));
    }
    if time > SLOW {
        return Err(format!("TIME in {name} case {case}: {damage}: {time:?}"));
    }
    Ok((outcome, time, peak.saturating_sub(SLACK / 4) as f64 / present as f64))
}

#[test]
fn no_damage_does_harm() {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
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
    let large = ["types-", "events", "evolved", "vec-", "corrupt/", "bugs/"];
    let stored = library::datasets(if mutations.is_some() { &large } else { &small });
    assert!(!stored.is_empty(), "there are no datasets");
    let mutations = mutations.unwrap_or(MUTATIONS);
    set_hook(Box::new(|info| {
        if IN_CASE.get() {
            PANIC.set(info.to_string());
        } else {
            eprintln!("{info}");
        }
    }));
    let next = AtomicU64::new(first);
    let failures = Mutex::new(Vec::new());
    let counts = Mutex::new(BTreeMap::new());
    let worst = Mutex::new((Duration::ZERO, 0.0f64));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut own = BTreeMap::new();
                let (mut slowest, mut most) = (Duration::ZERO, 0.0f64);
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    if case >= first + mutations {
                        break;
                    }
                    let stored = &stored[case as usize % stored.len()];
                    match try_case(stored, case) {
                        Ok((outcome, time, ratio)) => {
                            *own.entry(outcome).or_insert(0u64) += 1;
                            slowest = slowest.max(time);
                            most = most.max(ratio);
                        }
                        Err(failure) => {
                            eprintln!("{failure}");
                            failures.lock().expect("no panic while it is held").push(failure);
                        }
                    }
                }
                let mut counts = counts.lock().expect("no panic while it is held");
                own.into_iter().for_each(|(outcome, n)| *counts.entry(outcome).or_insert(0) += n);
                let mut worst = worst.lock().expect("no panic while it is held");
                *worst = (worst.0.max(slowest), worst.1.max(most));
            });
        }
    });
    let failures = failures.into_inner().expect("no thread panicked");
    let (slowest, most) = worst.into_inner().expect("no thread panicked");
    println!(
        "{mutations} changes to {} datasets: {:?}, {} failures; slowest {slowest:?}, most memory {most:.1} times the bytes present",
        stored.len(),
        counts.into_inner().expect("no thread panicked"),
        failures.len()
    );
    assert!(failures.is_empty(), "{} cases fail, see above", failures.len());
}

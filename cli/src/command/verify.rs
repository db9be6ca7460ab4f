//! `lancet verify`: reads everything, and tells what is wrong.

use super::{open, options};
use crate::{
    args::VerifyArgs,
    error::{Error, Result},
    output::facts::{self, Fact, Record},
};
use lancet::{Finding, Progress};
use std::{
    io::{IsTerminal, stderr},
    time::{Duration, Instant},
};

const NAMES: [&str; 5] = ["file", "fragment", "column", "offset", "error"];
/// How often progress is told.
const INTERVAL: Duration = Duration::from_millis(200);

pub(super) fn run(args: &VerifyArgs) -> Result<()> {
    let path = &args.dataset.path;
    let mut bar = Bar::new();
    let mut progress = |progress| bar.show(progress);
    let findings = match path.to_str() {
        Some(name) if path.is_file() => options(&args.dataset).verify_file(name, &mut progress),
        _ => open(&args.dataset)?.verify(&mut progress),
    };
    bar.clear();
    let records: Vec<Record> = findings.iter().map(record).collect();
    facts::many(args.output.format(), &NAMES, &records)?;
    match findings.len() {
        0 => Ok(()),
        count => Err(Error::Findings(count)),
    }
}

fn record(finding: &Finding) -> Record {
    let facts: [Fact; 5] = [
        finding.error.path().map(String::from).into(),
        finding.fragment.map(u64::from).into(),
        finding.column.clone().into(),
        finding.error.offset().into(),
        finding.to_string().into(),
    ];
    NAMES.into_iter().zip(facts).collect()
}

/// One line on standard error, if somebody is there to see it.
struct Bar {
    visible: bool,
    last: Option<Instant>,
}

impl Bar {
    fn new() -> Self {
        Bar { visible: stderr().is_terminal(), last: None }
    }

    fn show(&mut self, Progress { done, total, .. }: Progress) {
        if self.visible && self.last.is_none_or(|last| last.elapsed() >= INTERVAL) {
            self.last = Some(Instant::now());
            eprint!("\r\x1b[Kverified {done} of {total}");
        }
    }

    fn clear(&self) {
        if self.last.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

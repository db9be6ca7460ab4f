//! Tries many cases: catches their panics, and sees how long each takes and how much memory.

use crate::allocations::{self, Taken};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind, set_hook},
    sync::{
        LazyLock, Mutex, Once,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const THREADS: usize = 2;

/// No case takes so many seconds, even without optimization; `LANCET_DAMAGE_SECONDS` names another limit.
const SECONDS: u64 = 10;

/// What one case came to.
pub(crate) struct Run<R> {
    pub(crate) result: R,
    pub(crate) taken: Taken,
    time: Duration,
}

thread_local! {
    static IN_CASE: Cell<bool> = const { Cell::new(false) };
    /// Where the last panic of this thread was.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Does `work`. An error says how it panicked, or that it took too long.
pub(crate) fn run<R>(case: u64, work: impl Fn() -> R) -> Result<Run<R>, String> {
    let run = once(case, &work)?;
    if run.time <= limit() {
        return Ok(run);
    }
    // It may have waited for other programs. Where the system does not tell how long it worked, it did all the time.
    let before = cpu_time();
    let mut run = once(case, &work)?;
    if let (Some(before), Some(after)) = (before, cpu_time()) {
        run.time = after.saturating_sub(before);
    }
    if run.time <= limit() { Ok(run) } else { Err(format!("TIME: {:?}", run.time)) }
}

fn once<R>(case: u64, work: impl Fn() -> R) -> Result<Run<R>, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        set_hook(Box::new(|info| {
            if IN_CASE.get() {
                PANIC.set(info.to_string());
            } else {
                eprintln!("{info}");
            }
        }));
    });
    let started = Instant::now();
    IN_CASE.set(true);
    let (result, taken) = allocations::measure([case, 0, 0], || catch_unwind(AssertUnwindSafe(work)));
    IN_CASE.set(false);
    let time = started.elapsed();
    let result = result.map_err(|_| format!("PANIC: {}", PANIC.with_borrow(String::clone)))?;
    Ok(Run { result, taken, time })
}

fn limit() -> Duration {
    static LIMIT: LazyLock<Duration> = LazyLock::new(|| {
        let seconds =
            env::var("LANCET_DAMAGE_SECONDS").map(|text| text.parse().expect("a number of seconds"));
        Duration::from_secs(seconds.unwrap_or(SECONDS))
    });
    *LIMIT
}

/// How long this thread has worked, where the system tells.
fn cpu_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// What many cases came to.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// How many cases there were of each kind.
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(crate) slowest: Duration,
    /// The most memory that a case took, in bytes for each that its limit counts.
    pub(crate) most: f64,
    pub(crate) failures: Vec<String>,
}

impl Report {
    pub(crate) fn add<R>(&mut self, kind: &'static str, run: &Run<R>, ratio: f64) {
        *self.counts.entry(kind).or_insert(0) += 1;
        self.slowest = self.slowest.max(run.time);
        self.most = self.most.max(ratio);
    }

    fn merge(&mut self, other: Report) {
        other.counts.into_iter().for_each(|(kind, n)| *self.counts.entry(kind).or_insert(0) += n);
        self.slowest = self.slowest.max(other.slowest);
        self.most = self.most.max(other.most);
        self.failures.extend(other.failures);
    }
}

/// Tries the cases `first..end` on several threads; `attempt` adds to the report of its own.
pub(crate) fn for_each(first: u64, end: u64, attempt: impl Fn(u64, &mut Report) + Sync) -> Report {
    let next = AtomicU64::new(first);
    let report = Mutex::new(Report::default());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let mut own = Report::default();
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    if case >= end {
                        break;
                    }
                    let told = own.failures.len();
                    attempt(case, &mut own);
                    own.failures[told..].iter().for_each(|failure| eprintln!("{failure}"));
                }
                report.lock().expect("no panic while it is held").merge(own);
            });
        }
    });
    report.into_inner().expect("no thread panicked")
}

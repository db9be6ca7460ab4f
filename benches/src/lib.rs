//! What the benchmarks share: timing by rounds, and how a driver asks for one figure at a time.
//!
//! The protocol is that of `benches/peers` (see its README): alone, a program measures everything; with
//! `--serve` it answers each line of its standard input, so that a driver can let peers take turns.

pub mod bandwidth;
pub mod npy;
pub mod segment;

use std::{
    fmt::Write as _,
    io::{self, BufRead, Write as _},
    time::{Duration, Instant},
};

/// Rounds before the first one that counts.
const WARM_UP: usize = 3;

/// Times `rounds` rounds of `action` after warm-up.
pub fn time_rounds(rounds: usize, mut action: impl FnMut()) -> Vec<Duration> {
    for _ in 0..WARM_UP {
        action();
    }
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        action();
        times.push(start.elapsed());
    }
    times
}

/// The middle one of `times`.
pub fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Median and 99th percentile (nearest rank) as the fields of an answer.
pub fn latency(mut times: Vec<Duration>) -> String {
    let rounds = times.len();
    let median = median(&mut times).as_secs_f64() * 1e6;
    let p99 = times[(rounds * 99).div_ceil(100) - 1].as_secs_f64() * 1e6;
    format!("\"median_us\": {median:.2}, \"p99_us\": {p99:.2}, \"rounds\": {rounds}")
}

/// The rate of going through `bytes` bytes, in 10⁹ bytes a second, as the fields of an answer.
pub fn throughput(mut times: Vec<Duration>, bytes: usize) -> String {
    let rounds = times.len();
    let rate = bytes as f64 / median(&mut times).as_secs_f64() / 1e9;
    format!("\"gb_per_s\": {rate:.3}, \"rounds\": {rounds}")
}

/// Measures `operations` one after the other, or those that standard input names. `measure` returns the
/// fields of an answer.
pub fn run(operations: &[&str], serve: bool, mut measure: impl FnMut(&str) -> Option<String>) {
    let mut answer = |name: &str| {
        let fields = measure(name).unwrap_or_else(|| "\"error\": \"unknown operation\"".into());
        let mut line = String::new();
        let _ = writeln!(line, "{{\"op\": \"{name}\", {fields}}}");
        let mut out = io::stdout().lock();
        out.write_all(line.as_bytes()).and_then(|()| out.flush())
    };
    if serve {
        for name in io::stdin().lock().lines().map_while(Result::ok) {
            if answer(name.trim()).is_err() {
                return;
            }
        }
    } else {
        for name in operations {
            if answer(name).is_err() {
                return;
            }
        }
    }
}

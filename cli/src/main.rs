//! `lancet`: Lance datasets at the prompt. The contract of flags and output is `docs/cli.md`.
//!
//! The command holds no logic of its own: [`args`] says what can be asked, [`command`] calls the library,
//! [`output`] writes the answer.

mod args;
mod command;
mod error;
mod npy;
mod output;
mod rows;
mod vectors;

use clap::Parser;
use std::process::ExitCode;

/// Exit status 0 for an answer, 1 for an error, 2 (by clap) for bad usage.
fn main() -> ExitCode {
    match command::run(&args::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the answer, `head` say, has seen enough.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", error.line());
            ExitCode::FAILURE
        }
    }
}

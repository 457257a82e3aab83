//! The program: see `cli`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}

//! The program: see `src/cli/`.

use std::process::ExitCode;

fn main() -> ExitCode {
    fpdb::cli::run()
}

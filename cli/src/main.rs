//! The program, in three layers: `typed` (the command line), `resolved` (the database, profile and options),
//! `verbs` (the commands, one a file). It uses only public names of the library and its members.

mod aborted;
mod colour;
mod complete;
mod excerpt;
mod hint;
mod html_report;
mod interrupt;
mod line_list;
mod output;
mod printer;
mod progress;
mod render;
mod resolved;
mod run;
mod run_status;
#[cfg(test)]
mod schemas;
mod setting;
mod step_report;
mod suggested;
mod typed;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    run::run()
}

//! The integration tests: one file per behaviour, one binary, so that RocksDB is linked once.

mod apply;
mod assemble;
mod bad_input;
mod care;
mod changing;
mod code;
mod commands;
mod containers;
mod crash;
mod dedup;
#[path = "../faults/mod.rs"]
mod faults;
mod federalist;
mod formats;
mod golden;
mod hostile;
mod identical;
mod json;
mod leftovers;
mod model;
mod moving_on;
mod mv;
mod numbers;
mod options;
mod oracle;
mod pairs;
mod phrases;
mod plants;
mod prune;
mod query_batch;
mod query_below;
mod quotes;
mod reader_process;
mod repeats;
mod report;
mod rewritten;
#[cfg(feature = "serve")]
mod serve;
mod stopping;
mod submissions;
mod supplied;
mod support;
mod terminal;
mod texts;
mod threads;
mod views;

//! Verbs: the commands, one a file. Each resolves its arguments and does the work.

pub(super) mod apply;
pub(super) mod assemble;
pub(super) mod backup;
pub(super) mod compact;
pub(super) mod completions;
pub(super) mod dedup;
pub(super) mod diff;
pub(super) mod help;
pub(super) mod ingest;
pub(super) mod init;
pub(super) mod list;
pub(super) mod man;
pub(super) mod merge;
pub(super) mod mv;
pub(super) mod pairs;
pub(super) mod query;
pub(super) mod repeats;
pub(super) mod restore;
pub(super) mod rm;
pub(super) mod serve;
pub(super) mod show;
mod skipped_reports;
pub(super) mod stats;
pub(super) mod thresholds;
mod unread_kinds;
pub(super) mod verify;

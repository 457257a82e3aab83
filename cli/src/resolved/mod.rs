//! Resolved: turns typed arguments into a database, a profile, sources and options, and checks where results
//! go.

pub(crate) mod database;
pub(crate) mod ingest_target;
pub(crate) mod output;
pub(crate) mod phrases;
pub(crate) mod profile;
pub(crate) mod query;
pub(crate) mod remembered;
pub(crate) mod sources;
pub(crate) mod submission_folders;

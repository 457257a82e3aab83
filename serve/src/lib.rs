//! The service of fpdb: one process answers many people from one database, over HTTP, with a page for a
//! browser.
//!
//! [`serve`] is the only entry point. It opens the database for writing and answers until a signal ends it.
//! `docs/serve.md` describes the routes, the settings and what the service defends against.
//!
//! A request passes the gate (`gate`: host, origin, key, limits), then a handler (`routes`). Handlers run the
//! library's work on blocking threads behind a bounded queue (`work`). All changes go to one thread
//! (`writer`), which commits waiting changes in groups. Pairs, dedup, repeats and compaction are jobs
//! (`jobs`). Errors leave in one shape (`problem`). With a certificate, connections are TLS (`tls`).

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]
// The allocator of tests counts bytes.
#![cfg_attr(not(test), forbid(unsafe_code))]

mod app;
mod connections;
#[cfg(test)]
#[path = "../../tests/counted_heap.rs"]
mod counted_heap;
mod error;
mod gate;
mod jobs;
mod keys;
mod log;
mod metrics;
mod openapi;
mod page;
mod problem;
mod removing;
mod reopening;
mod room;
mod routes;
mod settings;
mod tls;
mod work;
mod writer;

pub use app::serve;
pub use error::{Result, ServeError};
pub use keys::{Rights, new_key};
pub use log::event as log_event;
pub use settings::ServeOptions;

//! Host: the parts of fpdb that concern the program in which it is embedded, called the *host*. These are
//! errors, progress, stopping, threads, memory and temporary files.
//!
//! An embedded library must not change its host. So no hook, limit, pool or registry of the process is set
//! here, unless the host calls the function that sets it.

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]

#[cfg(not(unix))]
compile_error!("fpdb runs on Unix systems, such as Linux and macOS");

pub mod bounded;
pub mod clock;
pub mod dates;
pub mod durable;
pub mod error;
pub mod failure;
pub mod free_space;
pub mod guarded;
pub mod job_lock;
pub mod json_options;
pub mod memory;
pub mod names;
pub mod owned_folder;
pub mod pool;
pub mod progress;
pub mod same_bytes;
pub mod schema;
pub mod setters;
pub mod skip_reason;
pub mod spill;
pub mod stop;
pub mod temporary;
pub mod threads;

//! Archive: the jobs that compare all documents of a database with each other, and act on the findings.
//!
//! * [`pairs`]: all pairs of documents above a threshold.
//! * [`dedup`]: the removable documents, each with its survivor.
//! * [`repeats`]: passages that occur in an earlier document, or earlier in their own.
//! * [`apply`]: removes, links, moves or marks the documents in a report.

pub mod apply;
pub mod dedup;
pub(crate) mod nothing_fits;
pub mod pairs;
pub mod repeats;
pub(crate) mod submissions;

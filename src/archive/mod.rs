//! The archive jobs: they find documents of an archive that share text or are removable, and act on the
//! findings.
//!
//! * [`pairs`]: all pairs of documents above a threshold.
//! * [`dedup`]: the removable documents, each with its survivor.
//! * [`repeats`]: passages that stand in several documents.
//! * [`apply`]: removes, links, moves or marks the documents in a report.

pub mod apply;
pub mod dedup;
pub(crate) mod nothing_fits;
pub mod pairs;
pub mod repeats;
pub(crate) mod submissions;

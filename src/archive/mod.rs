//! The archive job: which documents of an archive share text, which are removable, and what is done about it.
//!
//! * [`pairs`]: all pairs of documents above a threshold.
//! * [`dedup`]: the removable documents, each with its survivor.
//! * [`repeats`]: passages that stand in several documents.
//! * [`apply`]: removes, links, moves or marks what a report names.

pub mod apply;
pub mod dedup;
pub(crate) mod nothing_fits;
pub mod pairs;
pub mod repeats;
pub(crate) mod submissions;

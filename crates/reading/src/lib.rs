//! Reading: from a path or bytes to documents, and from a document to its text, with the place of each part of the text in the
//! original.
//!
//! * [`input`]: walks folders, opens containers (archives, mailboxes, tables), and gives one document after the other.
//! * [`recognise`]: tells the format of a document from its name and its first bytes.
//! * [`extract`]: takes the text out of formats that hold more than text.
//! * [`fingerprint`]: a document of any format to its fingerprints.

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]
#![deny(clippy::undocumented_unsafe_blocks)]
// The readers that a feature leaves out leave their helpers without a user.
#![cfg_attr(not(feature = "all"), allow(dead_code, unused_imports))]

#[cfg(all(test, feature = "all"))]
#[path = "../../../tests/counted_heap.rs"]
mod counted_heap;
#[macro_use]
mod behind_feature;
pub mod extract;
pub mod fingerprint;
#[cfg(all(any(test, fuzzing), feature = "all"))]
pub mod fuzzing;
pub mod input;
pub mod recognise;

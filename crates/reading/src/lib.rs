//! Reading: finds documents below a path or in bytes, and extracts the text of each. It records the place of
//! each part of the text in the original.
//!
//! * [`input`]: walks folders, opens containers (archives, mailboxes, tables), and returns one document after
//!   the other.
//! * [`recognise`]: detects the format of a document from its name and first bytes.
//! * [`extract`]: extracts the text from formats that contain more than text.
//! * [`quotations`]: finds the parts of a document that its author attributes to someone else.
//! * [`fingerprint`]: turns a document of any format into fingerprints.

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]
#![deny(clippy::undocumented_unsafe_blocks)]
// Helpers of readers have no user in builds without the features of these readers.
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
pub mod quotations;
pub mod recognise;

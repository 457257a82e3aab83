//! The kernel of fpdb: from the bytes of a text to its fingerprints.
//!
//! All functions are pure: they use no files, no clock, no threads and no globals. The crate can be used
//! alone.
//!
//! * [`normalize`]: bytes to symbols (characters, words or code tokens), each with its byte range.
//! * [`kgram`]: symbols to the hashes of k consecutive symbols.
//! * [`winnow`]: hashes to fingerprints (Schleimer, Wilkerson and Aiken 2003).
//! * [`Kernel`] runs the three together, piece by piece.
//! * [`profile`]: the settings that decide which fingerprints a text has.
//! * [`columns`]: lists of fingerprints.
//! * [`estimate`]: measures of two sets from a sample of their hashes.

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]
#![deny(clippy::undocumented_unsafe_blocks)]

pub mod columns;
pub mod document;
pub mod estimate;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
pub mod hex;
pub mod kernel;
pub mod kgram;
#[cfg(not(feature = "measuring"))]
mod lanes;
#[cfg(feature = "measuring")]
pub mod lanes;
pub mod normalize;
pub mod profile;
pub mod winnow;

pub use kernel::{Kernel, TextTotals};

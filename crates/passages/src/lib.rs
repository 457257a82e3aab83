//! Passages: finds the stretches of two texts that agree. A text is a sequence of symbols, which are 64-bit
//! numbers. Equal symbols are equal numbers.
//!
//! [`maximal_matches`] finds the runs that both texts share, around the k-grams that both contain
//! ([`Occurrences`]). [`join`] makes passages of runs that are near each other on both sides. [`rewritten`]
//! finds passages of words that were reworded, rearranged or summarised. [`thin_out`] and [`tile`] leave out
//! passages that add little to others. [`PhraseFinder`] finds the places of many phrases in one text.
//!
//! Nothing here reads files or stored documents. Ranges count symbols; their ends are exclusive.

#![warn(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo))]

mod chain;
mod connected;
mod covered;
mod cutting;
mod gaps;
mod join;
mod joined;
mod maximal;
mod occurrences;
mod open;
mod phrases;
mod ranges;
mod repeats;
pub mod rewritten;
mod rulers;
mod runs;
#[cfg(test)]
mod tests;
mod thinning;

pub use covered::Covered;
pub use cutting::cut;
pub use gaps::Gaps;
pub use join::join;
pub use joined::{Joined, Joining};
pub use maximal::maximal_matches;
pub use occurrences::{KgramHashes, Occurrences};
pub use phrases::PhraseFinder;
pub use ranges::{Uncounted, difference, lies_in, union};
pub use rulers::rulers;
pub use runs::{IndexedText, MaximalMatch, Settings};
pub use thinning::{Extent, thin_out, tile};

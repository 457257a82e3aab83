//! Report: the report for a browser, and the passages of pairs.

mod evidence;
pub mod html;

pub use evidence::{PairEvidence, add_passages};

//! Query: finds the stored documents that share text with a query, how much, and where.
//!
//! The query is winnowed with any window w' >= w, which selects a subset of the fingerprints that w would
//! select. The distinct hashes of the query are looked up in ascending order. *Containment* uses all of them.
//! *Resemblance* uses only the n smallest. If n is small against |A|/w, these n hashes survive winnowing with
//! near certainty in every document that has them. So they are a uniform sample of the query's k-grams
//! (Schleimer et al. 2003, section 3.2; Broder 1998).
//!
//! A document's score is bounded by the number of hashes it holds, so counts alone find the best documents.
//! Only the texts of the best documents are compared with the query, symbol by symbol (`passages`).
//!
//! Up to a million of the postings that counting reads stay in memory, because passages need the same
//! postings.

mod answer;
mod answering;
mod candidates;
mod corpus;
mod diff;
mod disguise;
mod evidence;
mod ignored;
mod joined;
mod location;
#[cfg(all(test, target_os = "linux"))]
mod openings;
mod options;
mod passages;
mod phrases;
mod prepared;
mod query_reader;
mod rank;
mod rewritten;
mod source;
mod stored_place;
mod tally;
mod text;
mod text_cache;
mod text_limit;
mod text_sequence;
mod text_unavailable;
mod top_k;
mod units;
mod weight;

pub use answer::{
    Ignored, IgnoredBecause, Match, MatchMeasures, Measure, Passage, QueryAnswer, QueryDocument, TextLookup,
};
pub(crate) use answering::{answer, hashes_to_look_up};
pub use corpus::CorpusAnswer;
pub use diff::{DiffOptions, diff};
pub use disguise::DisguisedWords;
pub(crate) use joined::{JoinedQueries, answer_joined};
pub use location::Location;
#[cfg(all(test, target_os = "linux"))]
pub(crate) use openings::Openings;
pub use options::{Mode, PassageOptions, QueryOptions};
pub use phrases::Phrases;
pub(crate) use phrases::finder_of;
pub(crate) use prepared::PreparedQuery;
pub(crate) use query_reader::QueryReader;
pub use source::QuerySource;
pub(crate) use stored_place::stored_place;
pub use text::DocumentText;
pub(crate) use text::text_of;
pub use text::text_of_file;
#[cfg(feature = "html-report")]
pub(crate) use text::{text_as_given, text_in_memory};
pub(crate) use text_cache::TextCache;
pub(crate) use text_limit::TextLimit;
pub(crate) use text_sequence::TextSequence;
pub(crate) use text_unavailable::TextUnavailable;
pub(crate) use units::{SubmissionFacts, UnitCache, Units};
pub use weight::Weight;

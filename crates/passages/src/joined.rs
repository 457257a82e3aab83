//! Joined: matches that together form one passage.

use std::ops::Range;

use super::runs::MaximalMatch;
use crate::ranges::Uncounted;
use fpdb_host::stop::StopToken;

/// A pair of spans, in symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The symbols of the query.
    pub query: Range<u32>,
    /// The symbols of the document.
    pub document: Range<u32>,
    /// Number of symbols that are equal in both spans. A lower bound for rewritten text.
    pub agreed: u64,
    /// Number of the agreed symbols that count.
    pub counted: u64,
    /// Number of the agreed symbols that are in the same order in both spans.
    pub in_order: u64,
}

impl Joined {
    /// A passage of one match.
    pub fn of(found: &MaximalMatch, uncounted: &Uncounted) -> Self {
        Self {
            query: found.query..found.query_end(),
            document: found.document..found.document_end(),
            agreed: found.length.into(),
            counted: uncounted.counted(&(found.query.into()..found.query_end().into())),
            in_order: found.length.into(),
        }
    }

    /// Number of symbols in the longer span.
    pub fn length(&self) -> u64 {
        self.query.len().max(self.document.len()) as u64
    }
}

/// The settings for joining matches.
#[derive(Clone, Copy, Debug)]
pub struct Joining<'a> {
    /// Maximum number of symbols between two matches of a passage, on either side.
    pub gap: u32,
    /// t: shorter passages are left out if longer passages mark their places.
    pub guarantee: u64,
    /// Passages with fewer agreeing symbols that count are left out.
    pub least: u64,
    /// The symbols of the query that do not count.
    pub uncounted: &'a Uncounted,
    /// Stops the joining.
    pub stop: &'a StopToken,
}

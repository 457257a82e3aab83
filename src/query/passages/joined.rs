//! Joined: matches that together form one passage.

use std::ops::Range;

use super::runs::MaximalMatch;
use crate::query::ranges::Uncounted;
use fpdb_host::stop::StopToken;

/// A pair of spans, in symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Joined {
    pub(super) query: Range<u32>,
    pub(super) document: Range<u32>,
    /// Number of symbols that are equal in both spans. A lower bound for rewritten text.
    pub(super) agreed: u64,
    /// Number of these symbols that count.
    pub(super) counted: u64,
    /// Number of these symbols that are in the same order in both spans.
    pub(super) in_order: u64,
}

impl Joined {
    pub(super) fn of(found: &MaximalMatch, uncounted: &Uncounted) -> Self {
        Self {
            query: found.query..found.query_end(),
            document: found.document..found.document_end(),
            agreed: found.length.into(),
            counted: uncounted.counted(&(found.query.into()..found.query_end().into())),
            in_order: found.length.into(),
        }
    }

    /// Number of symbols in the longer span.
    pub(super) fn length(&self) -> u64 {
        self.query.len().max(self.document.len()) as u64
    }
}

/// How matches are joined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joining<'a> {
    /// Maximum number of symbols between two matches of a passage, on either side.
    pub(super) gap: u32,
    /// t: shorter passages are left out if longer passages mark their places.
    pub(super) guarantee: u64,
    /// Passages with fewer agreeing symbols that count are left out.
    pub(super) least: u64,
    /// The symbols of the query that do not count.
    pub(super) uncounted: &'a Uncounted,
    /// Stops the joining.
    pub(super) stop: &'a StopToken,
}

//! Joined: matches that make one passage together.

use std::ops::Range;

use super::runs::MaximalMatch;
use crate::query::ranges::Uncounted;
use fpdb_host::stop::StopToken;

/// A pair of spans in symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Joined {
    pub(super) query: Range<u32>,
    pub(super) document: Range<u32>,
    /// Symbols that are equal in both spans, for any order of joining: at least so many.
    pub(super) agreed: u64,
    /// The number of them that count.
    pub(super) counted: u64,
    /// The number of them that are in the same order in both.
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

    /// The symbols of the longer span.
    pub(super) fn length(&self) -> u64 {
        self.query.len().max(self.document.len()) as u64
    }
}

/// How matches are joined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joining<'a> {
    /// Symbols between two matches of a passage, at most, on either side.
    pub(super) gap: u32,
    /// Matches near each other in both texts are one passage in any order.
    pub(super) any_order: bool,
    /// Symbols of a k-gram.
    pub(super) k: u64,
    /// t: shorter passages whose places are part of longer ones are left out.
    pub(super) guarantee: u64,
    /// Passages with fewer symbols that agree and count are left out.
    pub(super) least: u64,
    /// The symbols of the query that do not count.
    pub(super) uncounted: &'a Uncounted,
    /// Ends the joining.
    pub(super) stop: &'a StopToken,
}

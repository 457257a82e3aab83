//! Within: receives the members of one container, and passes on each member or leaves it out.

use std::io;
use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::Expander;
use super::member_name::member_of;
use super::member_place::MemberPlace;
use crate::input::containers::{Member, MemberContent, Members};
use crate::input::read::reader::PIECE;
use crate::input::{About, WalkEvent};
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::skip_reason::SkipReason;

/// Receives the members of one container.
pub(crate) struct Within<'w, 'a> {
    pub(crate) outer: &'w MemberPlace,
    pub(crate) expander: &'w mut Expander<'a>,
    /// The suffix of the last member, if extents are reported for this container.
    pub(crate) last: String,
}

impl Within<'_, '_> {
    /// The part of a member's name after the name of the file. It is shortened if it is too long.
    fn suffix_of(&self, suffix: &str) -> String {
        const SHOWN: usize = 100;
        let outer = &self.outer.suffix;
        if suffix.len() as u64 <= self.expander.options.limits.name_bytes {
            return format!("{outer}{suffix}");
        }
        let shown: String = suffix.chars().take(SHOWN).collect();
        format!("{outer}{shown}...")
    }

    /// Counts an entry of the container, and reports it if extents are reported.
    fn count(&mut self) -> Result<()> {
        if self.outer.suffix.is_empty()
            && let Some(extents) = &mut self.expander.extents
        {
            extents.entry();
        }
        self.expander.meter.member()
    }

    fn leaves_out(&self, suffix: &str) -> bool {
        let About { name, file, .. } = self.expander.about;
        let path = file.as_ref().map_or(name, |file| &file.source);
        self.expander.filter.is_some_and(|filter| filter.leaves_out(Path::new(path), Path::new(name), suffix))
    }

    fn leave_out(&mut self, suffix: &str) -> Result<()> {
        let name = format!("{}{suffix}", self.expander.about.name);
        self.expander.send(WalkEvent::LeftOut(name))
    }
}

impl Members for Within<'_, '_> {
    fn member(&mut self, member: Member<'_>) -> Result<()> {
        self.expander.goes_on();
        self.count()?;
        let Member { suffix, hint, modified, metadata, content } = member;
        let limit = self.expander.options.limits.name_bytes;
        if suffix.len() as u64 > limit {
            return self.expander.fail(&self.suffix_of(&suffix), Error::Document(DocumentError::NameTooLong { limit }));
        }
        if self.expander.extents.is_some() && self.outer.suffix.is_empty() {
            self.last.clone_from(&suffix);
        }
        let suffix = self.suffix_of(&suffix);
        if self.leaves_out(&suffix) {
            return self.leave_out(&suffix);
        }
        let metadata = match self.outer.metadata.is_empty() {
            true => metadata,
            false => self.outer.metadata.iter().cloned().chain(metadata).collect(),
        };
        let is_new =
            matches!(content, MemberContent::Record(_)) || self.expander.names.insert(xxh3_64(suffix.as_bytes()));
        let (headers, repeated) = (self.outer.headers.clone(), self.outer.repeated || !is_new);
        let modified = modified.or(self.outer.modified);
        let place = MemberPlace { suffix, hint, modified, metadata, headers, repeated, ..*self.outer };
        match content {
            MemberContent::Record(text) => self.expander.record(place, text),
            MemberContent::Stream(input) => self.expander.layer(place, input),
        }
    }

    fn failed(&mut self, suffix: String, error: Error) -> Result<()> {
        self.count()?;
        let suffix = self.suffix_of(&suffix);
        if self.leaves_out(&suffix) { self.leave_out(&suffix) } else { self.expander.fail(&suffix, error) }
    }

    fn skipped(&mut self, suffix: String, reason: SkipReason) -> Result<()> {
        self.count()?;
        let name = format!("{}{}", self.expander.about.name, self.suffix_of(&suffix));
        self.expander.send(WalkEvent::Skipped { name, reason })
    }

    fn extent(&mut self, at: Range<u64>) {
        if !self.last.is_empty()
            && let Some(extents) = &mut self.expander.extents
        {
            extents.member(&self.last, at);
            self.last.clear();
        }
    }

    fn goes_on(&mut self) {
        self.expander.goes_on();
    }

    fn needed(&mut self, suffix: &str) {
        if self.outer.suffix.is_empty()
            && let Some(extents) = &mut self.expander.extents
        {
            extents.needed(suffix);
        }
    }
}

impl Expander<'_> {
    /// Passes on the text of a record, which is always a document. For a large text, only the head is copied.
    fn record(&mut self, place: MemberPlace, text: Vec<u8>) -> Result<()> {
        let member = member_of(&place.suffix, &self.options.fields);
        match text.split_at_checked(PIECE) {
            None => self.found(place, Some(member), text, &mut io::empty()),
            Some((head, mut rest)) => self.found(place, Some(member), head.to_vec(), &mut rest),
        }
    }
}

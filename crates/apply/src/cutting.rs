//! Cutting: removes the listed passages from the texts of their documents.

use rustc_hash::FxHashSet;

use super::check::Checked;
use super::passages::{Passages, RepeatedSpan};
use crate::stored::{StoredDocument, StoredDocuments};
use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::{Format, Span};
use fpdb_kernel::normalize::Readable;
use fpdb_kernel::profile::{Profile, Unit, WordRule};
use fpdb_reading::input::{CLOSED, InputLimits, is_joined, parts_of};

/// Passages, and the facts needed to cut them out of a text.
pub(super) struct Cutting<'a> {
    pub(super) passages: &'a Passages,
    pub(super) kept: Kept<'a>,
    pub(super) limits: &'a InputLimits,
}

/// The documents that can justify the removal of other documents.
#[derive(Clone, Copy)]
pub(super) struct Kept<'a> {
    pub(super) stored: &'a dyn StoredDocuments,
    pub(super) checked: &'a Checked,
    /// The indexes of files whose copying has failed.
    pub(super) lost: &'a FxHashSet<u32>,
}

impl Kept<'_> {
    /// True if a document is unchanged, and its file was copied or will be.
    pub(super) fn holds(&self, document: u32) -> Result<bool> {
        if !self.checked.sound.contains(document) || self.lost.is_empty() {
            return Ok(self.checked.sound.contains(document));
        }
        let source = self.stored.document(document)?.source;
        let number = source.and_then(|source| self.checked.number_of(&source));
        Ok(!number.is_some_and(|number| self.lost.contains(&number)))
    }
}

impl Cutting<'_> {
    /// The passages to cut out of a document: those whose first occurrence is in a document that is kept.
    pub(super) fn sound(&self, document: u32) -> Result<Vec<RepeatedSpan>> {
        let mut sound = self.passages.get(document)?;
        let mut failed = Ok(());
        sound.retain(|passage| match self.kept.holds(passage.source) {
            Ok(holds) => holds,
            Err(error) => {
                failed = Err(error);
                false
            }
        });
        failed.map(|()| sound)
    }

    /// The byte ranges to cut out of a document with this text, ascending and disjoint. They are whole words:
    /// letters that are alike by chance lengthen a passage, so it can begin or end inside a word that stays.
    fn ranges(&self, document: u32, text: &[u8]) -> Result<Vec<(u64, u64)>> {
        let mut spans: Vec<Span> = Vec::new();
        for RepeatedSpan { start, end, .. } in self.sound(document)? {
            match spans.last_mut() {
                // A word can be made of two passages.
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => spans.push(Span { start, end }),
            }
        }
        // Tokens of source code are whole already.
        if self.kept.stored.profile().unit() != Unit::Token {
            let readable = Readable::decode(text);
            spans.iter_mut().for_each(|span| *span = readable.whole_words(*span));
        }
        Ok(spans.into_iter().filter(|span| span.start < span.end).map(|span| (span.start, span.end)).collect())
    }

    /// The byte ranges to cut out of a document that is a whole file.
    pub(super) fn ranges_of_file(&self, document: u32) -> Result<Vec<(u64, u64)>> {
        let stored = self.kept.stored;
        match stored.text(document, self.limits)? {
            Some(text) => self.ranges(document, &text),
            None => {
                let record = stored.document(document)?;
                Err(Error::TextGone { name: record.name, source_path: record.source })
            }
        }
    }

    /// The text of a record without its passages; `None` if `text` is not the text that was ingested.
    pub(super) fn cut(&self, document: u32, text: &[u8]) -> Result<Option<Vec<u8>>> {
        let record = self.kept.stored.document(document)?;
        if xxhash_rust::xxh3::xxh3_128(text).to_be_bytes() != record.digest {
            return Ok(None);
        }
        let mut left = Vec::with_capacity(text.len());
        let mut at = 0;
        for range in self.ranges(document, text)? {
            let (start, end) = whole_characters(text, range);
            left.extend_from_slice(text.get(at..start as usize).unwrap_or_default());
            at = end as usize;
        }
        left.extend_from_slice(text.get(at..).unwrap_or_default());
        Ok(Some(left))
    }
}

/// Shrinks a range of a record to whole characters. A record with halves of surrogate pairs is no UTF-8 and
/// is read in another encoding, in which a word can begin inside a character of UTF-8.
fn whole_characters(text: &[u8], (mut start, mut end): (u64, u64)) -> (u64, u64) {
    let is_inside = |place: u64| text.get(place as usize).is_some_and(|byte| byte & 0xc0 == 0x80);
    while start < end && is_inside(start) {
        start += 1;
    }
    while end > start && is_inside(end) {
        end -= 1;
    }
    (start, end)
}

/// True if passages can be cut out of a document without harm to the text around them. The offsets of the
/// document must refer to the original, and a record must hold the text as one value. The document must have
/// no markup, since a cut could remove a start tag without its end tag. A container or compressed file that
/// was ingested without unpacking must stay whole, because a cut would damage it.
pub(super) fn can_be_cut(record: &StoredDocument) -> bool {
    let format = Format::named(&record.format).unwrap_or_default();
    let plain =
        matches!(format, Format::Text | Format::ReStructuredText | Format::Markdown | Format::Bytes | Format::Code(_));
    let field = record.member.as_deref().and_then(|member| parts_of(&record.name, member).1);
    plain && !record.extracted && record.member.as_deref() != Some(CLOSED) && !field.is_some_and(is_joined)
}

/// True if every letter and digit of a document is part of a symbol. Comments of programs, addresses of links
/// and, under some rules, numbers are not symbols: they can remain after all symbols of a text are cut out.
pub(super) fn is_all_symbols(record: &StoredDocument, profile: &Profile) -> bool {
    let plain = matches!(Format::named(&record.format), Some(Format::Text | Format::Bytes));
    match profile.unit() {
        Unit::Byte => true,
        Unit::Char => plain,
        Unit::Word => plain && profile.word_rule() == WordRule::Unicode,
        Unit::Token => false,
    }
}

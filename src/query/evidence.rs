//! Evidence: finds the passages of the documents that an answer shows.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::answer::{Ignored, IgnoredBecause};
use super::ignored::IgnoredText;
use super::location::Location;
use super::options::QueryOptions;
use super::passages::{self, DocumentPassages, QueryText, SharedFingerprint};
use super::prepared::{PreparedQuery, QueryHash};
use super::text::{Bytes, StoredTexts, Symboliser, WholeText};
use super::text_cache::TextCache;
use super::text_limit::TextLimit;
use super::text_unavailable::TextUnavailable;
use super::units::Units;
use fpdb_host::error::Result;
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::Format;
use fpdb_kernel::profile::Unit;
use fpdb_passages::Uncounted;
use fpdb_store::{DocumentRecord, FingerprintPlace, Holders, Lookup, Store};

/// The fingerprints that the documents of an answer share with the query.
#[derive(Default)]
pub(super) struct SharedFingerprints {
    /// By document, the fingerprints that the document shares with the query, in order of hash.
    marks: FxHashMap<u32, Vec<SharedFingerprint>>,
    /// The query's hashes that at least one of the documents holds, ascending.
    hashes: Vec<u64>,
    /// Parts of the query with ignored hashes.
    pub(super) ignored: Vec<Ignored>,
    /// The hashes that are common or that boilerplate holds, ascending.
    ignored_hashes: Vec<u64>,
    ignored_text: IgnoredText,
}

impl SharedFingerprints {
    /// Looks up all of the query's hashes. The ranking may have used a sample, but evidence must be complete.
    pub(super) fn find(
        lookup: &mut Lookup<'_>,
        subject: &PreparedQuery,
        documents: &[(u32, &DocumentRecord)],
        max_df: Option<u64>,
        units: &Units,
        stop: &StopToken,
    ) -> Result<Self> {
        let marks = documents.iter().map(|&(id, _)| (id, Vec::new())).collect();
        let mut shared = Self { marks, ..Self::default() };
        let mut ignored: Vec<(&QueryHash, IgnoredBecause)> = Vec::new();
        for hash in &subject.hashes {
            stop.check()?;
            if hash.skipped.is_some() {
                continue;
            }
            let Holders::Documents(postings) = lookup.holders(hash.hash)? else {
                ignored.push((hash, IgnoredBecause::Boilerplate));
                continue;
            };
            // A hash has no more holders than postings.
            if let Some(most) = max_df.filter(|&most| postings.len() as u64 > most) {
                let holders: FxHashSet<u32> = postings.iter().map(|posting| units.of(posting.document)).collect();
                if holders.len() as u64 > most {
                    ignored.push((hash, IgnoredBecause::Common));
                    continue;
                }
            }
            let mut found = false;
            for posting in postings {
                if let Some(marks) = shared.marks.get_mut(&posting.document) {
                    marks.push(SharedFingerprint { hash: hash.hash, ordinal: posting.ordinal });
                    found = true;
                }
            }
            if found {
                shared.hashes.push(hash.hash);
            }
        }
        shared.ignored = spans(subject, &ignored);
        shared.ignored_hashes = ignored.iter().map(|(hash, _)| hash.hash).collect();
        let boilerplate =
            |(hash, because): &(&QueryHash, _)| (*because == IgnoredBecause::Boilerplate).then_some(hash.hash);
        let boilerplate: Vec<u64> = ignored.iter().filter_map(boilerplate).collect();
        shared.ignored_text = IgnoredText::of(subject, &boilerplate, &shared.ignored_hashes);
        Ok(shared)
    }
}

/// The quotations and phrases that do not count, and the parts of the query that these hashes cover; adjacent
/// parts are joined.
pub(super) fn spans(subject: &PreparedQuery, hashes: &[(&QueryHash, IgnoredBecause)]) -> Vec<Ignored> {
    let mut spans = subject.skipped.clone();
    for &(hash, because) in hashes {
        spans.extend(subject.with_hash(hash.hash).iter().map(|fingerprint| Ignored {
            query: Location::new(fingerprint.span, [fingerprint.first_line, fingerprint.last_line]),
            because,
        }));
    }
    spans.sort_unstable_by_key(|ignored| (ignored.query.span(), ignored.because));
    spans.dedup_by(|next, last| {
        let touches = next.because == last.because && next.query.start <= last.query.end;
        if touches {
            last.query.end = last.query.end.max(next.query.end);
            last.query.lines[1] = last.query.lines[1].max(next.query.lines[1]);
        }
        touches
    });
    spans
}

/// Finds the passages of one document after the other.
pub(super) struct Evidence<'a> {
    store: &'a Store,
    subject: &'a PreparedQuery,
    options: &'a QueryOptions,
    texts: &'a TextCache,
    stored: StoredTexts<'a>,
    symboliser: Symboliser,
    stop: &'a StopToken,
    /// The query's text, or why it is not available.
    query: std::result::Result<QueryText, &'static str>,
}

impl<'a> Evidence<'a> {
    pub(super) fn new(
        store: &'a Store,
        subject: &'a PreparedQuery,
        options: &'a QueryOptions,
        texts: &'a TextCache,
        documents: &[(u32, &DocumentRecord)],
        shared: &SharedFingerprints,
        stop: &'a StopToken,
    ) -> Result<Self> {
        let limits = options.read.limits.clone();
        let rewritten = options.joining.rewritten;
        let mut symboliser =
            Symboliser::new(&subject.profile).with_limits(&limits).with_sentences(rewritten).with_names();
        let uncounted = subject.uncounted_with(&shared.ignored_hashes, rewritten);
        let hashes = shared.hashes.iter().copied();
        let query = query_text(subject, &mut symboliser, hashes, uncounted, shared.ignored_text.clone(), stop)?;
        let mut stored = StoredTexts::new(store, limits).stopped_by(stop);
        if query.is_ok() {
            for &(id, record) in documents {
                let is_own = subject.digest == Some(record.digest);
                let is_read = TextLimit::COMPARED.allows_document(record) && !is_own;
                if is_read && texts.ahead(id).is_none() && texts.get(id).is_none() {
                    stored.expect(record);
                    texts.note_read(record);
                }
            }
        }
        Ok(Self { store, subject, options, texts, stored, symboliser, stop, query })
    }

    /// The passages of a document; if they are inferred, also the reason.
    pub(super) fn of(
        &mut self,
        (id, record): (u32, &DocumentRecord),
        shared: &SharedFingerprints,
    ) -> Result<(DocumentPassages, Option<&'static str>)> {
        let options = &self.options.joining;
        let marks = shared.marks.get(&id).map_or(&[][..], Vec::as_slice);
        let why = match &self.query {
            Err(why) => *why,
            Ok(query) => {
                let text = match self.texts.get(id) {
                    Some(text) => Ok(text),
                    None => {
                        document_text(self.texts, &mut self.stored, self.subject, (id, record), &mut self.symboliser)?
                            .map(|text| match self.subject.digest == Some(record.digest) {
                                // The text was made of the query's own bytes. If the text were cached,
                                // answers would depend on which query came first.
                                true => Arc::new(text),
                                false => self.texts.put(id, text),
                            })
                    }
                };
                match text {
                    Ok(document) => {
                        self.stop.check()?;
                        let shared = marks.iter().map(|mark| mark.hash);
                        return Ok((query.compare(&document, shared, options, self.stop)?, None));
                    }
                    Err(why) => why,
                }
            }
        };
        let places = places_of(self.store, id, marks)?;
        let mut inferred = passages::infer(self.subject, marks, &places, &shared.ignored_text, options, self.stop)?;
        if let Ok(query) = &self.query {
            inferred.passages.iter_mut().for_each(|passage| passage.query.pages = query.pages(passage.query.span()));
        }
        Ok((inferred, Some(why)))
    }
}

/// The symbols of a stored document, or why they are not available.
fn document_text(
    texts: &TextCache,
    stored: &mut StoredTexts<'_>,
    subject: &PreparedQuery,
    (id, record): (u32, &DocumentRecord),
    symboliser: &mut Symboliser,
) -> Result<std::result::Result<WholeText, &'static str>> {
    // The size is checked first, even if the query has the same bytes: the query can have another format, and
    // fewer symbols.
    if !TextLimit::COMPARED.allows_document(record) {
        return Ok(Err(TextUnavailable::TooLarge.document()));
    }
    let read;
    let bytes = match &subject.text {
        // A document with the query's bytes need not be read.
        Ok(query) if subject.digest == Some(record.digest) => &query.bytes,
        _ => {
            let found = match texts.ahead(id) {
                Some(found) => found,
                None => {
                    read = stored.bytes_of(id, record, TextLimit::COMPARED)?;
                    &read
                }
            };
            match found {
                Bytes::Here(bytes) => bytes,
                Bytes::Unavailable(why) => return Ok(Err(why.document())),
            }
        }
    };
    let format = match symboliser.unit() {
        Unit::Byte => Format::Bytes,
        _ => Format::named(&record.format).unwrap_or_default(),
    };
    Ok(symboliser.read(bytes, format).map_err(|error| TextUnavailable::of(&error).document()))
}

/// The text of a query, prepared for comparison by the shared `hashes`; or why the text is not available.
/// `uncounted` are the symbols that do not count towards the least length of a passage.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped).
pub(super) fn query_text(
    subject: &PreparedQuery,
    symboliser: &mut Symboliser,
    hashes: impl Iterator<Item = u64>,
    uncounted: Uncounted,
    ignored: IgnoredText,
    stop: &StopToken,
) -> Result<std::result::Result<QueryText, &'static str>> {
    let text = whole_text(subject, symboliser);
    stop.check()?;
    Ok(match text {
        Ok(text) => Ok(QueryText::new(text, &subject.profile, hashes, uncounted, ignored, stop)?),
        Err(why) => Err(why.query()),
    })
}

/// The symbols of a document that was read like a query.
pub(super) fn whole_text(
    subject: &PreparedQuery,
    symboliser: &mut Symboliser,
) -> std::result::Result<WholeText, TextUnavailable> {
    let text = subject.text.as_ref().map_err(|why| *why)?;
    symboliser.read(&text.bytes, text.format).map_err(|error| TextUnavailable::of(&error))
}

/// The places of the marked fingerprints in the document, by ordinal.
fn places_of(store: &Store, document: u32, marks: &[SharedFingerprint]) -> Result<HashMap<u32, FingerprintPlace>> {
    let mut ordinals: Vec<u32> = marks.iter().map(|mark| mark.ordinal).collect();
    ordinals.sort_unstable();
    ordinals.dedup();
    let places = store.places(document, &ordinals)?;
    Ok(ordinals.into_iter().zip(places).collect())
}

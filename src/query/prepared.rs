//! Prepared query: the query document, winnowed at the query's window. The file is long because it has each
//! way to read a query document beside the facts that all of them give.

use super::stored_place;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::answer::{IgnoredBecause, QueryDocument};
use super::phrases::{IGNORING_PHRASES, PhraseFinder};
use super::quotes::{SKIPPING_QUOTATIONS, quotations};
use super::text::{Bytes, COMPARED_BYTES, Symboliser};
use super::text_cache::TextCache;
use super::text_unavailable::TextUnavailable;
use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_kernel::columns::{Fingerprint, Fingerprints};
use fpdb_kernel::document::{Digest, Format, Offsets, Span};
use fpdb_kernel::profile::{Profile, Unit, View};
use fpdb_passages::{Uncounted, difference};
use fpdb_reading::fingerprint::{DocumentFacts, Fingerprinter};
use fpdb_reading::input::{
    Candidate, ReadAs, ReadOptions, Reader, SEARCHED_BYTES, format_of, front_end_of_text, single_document,
    stored_document,
};
use fpdb_store::{DocumentRecord, Store};

/// A query document's fingerprints.
#[derive(Clone, Debug)]
pub(crate) struct PreparedQuery {
    pub(crate) name: String,
    /// Its id if it is a stored document, which then does not match itself.
    pub(crate) id: Option<u32>,
    /// `None` if the query is several documents.
    pub(crate) digest: Option<Digest>,
    /// Of several documents, the digest of each.
    pub(super) part_digests: Vec<Digest>,
    /// The database's profile with the query's window.
    pub(crate) profile: Profile,
    pub(crate) bytes: u64,
    /// Number of symbols; with two views, of the structure and of the text as written.
    pub(crate) symbols: u64,
    pub(crate) symbols_of_text: u64,
    /// True if its spans refer to text extracted from it.
    pub(crate) extracted: bool,
    /// Number of a mail's attachments that are not read.
    attachments: u64,
    /// Number of joined documents; 0 for one document.
    files: u64,
    pub(crate) metadata: BTreeMap<String, String>,
    /// Distinct hashes, ascending.
    pub(crate) hashes: Vec<QueryHash>,
    /// In order of hash, then position.
    pub(crate) fingerprints: Vec<Fingerprint>,
    /// The sizes of each view: the structure, then the text as written.
    pub(crate) sizes: [ViewSize; 2],
    /// Its symbols that do not count.
    pub(super) uncounted: Uncounted,
    /// Its bytes, or why they are not available.
    pub(super) text: std::result::Result<QueryBytes, TextUnavailable>,
}

/// The sizes of one view of a query. All are 0 if the profile has no such view.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ViewSize {
    /// Number of distinct hashes at the query's window.
    pub(crate) hashes: u64,
    /// Number of distinct hashes at the database's window, for comparison with the sizes of stored sets.
    pub(crate) stored: u64,
    /// Estimated number of distinct k-grams.
    pub(crate) distinct_kgrams: f64,
}

/// The bytes of a query document, and the format to read them in.
#[derive(Clone, Debug)]
pub(super) struct QueryBytes {
    pub(super) bytes: Vec<u8>,
    pub(super) format: Format,
}

/// A distinct hash of the query, and the range of its fingerprints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryHash {
    pub(crate) hash: u64,
    first: usize,
    end: usize,
    /// Why the hash does not count; `None` if it also occurs in text that counts.
    pub(crate) skipped: Option<IgnoredBecause>,
}

/// The facts of a query document, except its fingerprints.
struct QueryFacts {
    name: String,
    id: Option<u32>,
    digest: Digest,
    bytes: u64,
    symbols: u64,
    symbols_of_text: u64,
    /// By view.
    kgrams: [u64; 2],
    extracted: bool,
    attachments: u64,
}

/// The index of a hash's view in an array with one entry for each view.
pub(super) fn view_index(profile: &Profile, hash: u64) -> usize {
    usize::from(profile.view_of(hash) == View::Text)
}

/// The k-grams of each view.
fn kgrams_of(facts: &DocumentFacts) -> [u64; 2] {
    [facts.kgrams, facts.text_view.map_or(0, |text| text.kgrams)]
}

/// The estimated number of distinct k-grams of a document: the number of k-grams times the share of
/// fingerprints that are distinct.
pub(super) fn distinct_kgrams(kgrams: u64, fingerprints: u64, distinct: u64) -> f64 {
    if fingerprints == 0 { 0.0 } else { kgrams as f64 * distinct as f64 / fingerprints as f64 }
}

impl PreparedQuery {
    fn new(
        about: QueryFacts,
        profile: Profile,
        mut fingerprints: Vec<Fingerprint>,
        text: std::result::Result<QueryBytes, TextUnavailable>,
    ) -> Self {
        fingerprints.sort_unstable_by_key(|fingerprint| (fingerprint.hash, fingerprint.position));
        let mut hashes = Vec::new();
        let mut first = 0;
        for same in fingerprints.chunk_by(|a, b| a.hash == b.hash) {
            let end = first + same.len();
            hashes.push(QueryHash { hash: same[0].hash, first, end, skipped: None });
            first = end;
        }
        let QueryFacts { name, id, digest, bytes, symbols, symbols_of_text, kgrams, extracted, attachments } = about;
        let mut sizes = [ViewSize::default(); 2];
        let mut selected = [0; 2];
        for hash in &hashes {
            let view = view_index(&profile, hash.hash);
            sizes[view].hashes += 1;
            selected[view] += (hash.end - hash.first) as u64;
        }
        for (view, size) in sizes.iter_mut().enumerate() {
            size.stored = size.hashes;
            size.distinct_kgrams = distinct_kgrams(kgrams[view], selected[view], size.hashes);
        }
        Self {
            name,
            id,
            digest: Some(digest),
            part_digests: Vec::new(),
            profile,
            bytes,
            symbols,
            symbols_of_text,
            extracted,
            attachments,
            files: 0,
            metadata: BTreeMap::new(),
            hashes,
            fingerprints,
            sizes,
            uncounted: Uncounted::default(),
            text,
        }
    }

    /// The documents of a submission as one query, which can be ranked but not compared.
    pub(super) fn joined(name: String, profile: Profile, parts: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> u64| parts.iter().map(of).sum::<u64>();
        let about = QueryFacts {
            name,
            id: None,
            digest: Digest::default(),
            bytes: sum(|part| part.bytes),
            symbols: sum(|part| part.symbols),
            symbols_of_text: sum(|part| part.symbols_of_text),
            kgrams: [0; 2],
            extracted: false,
            attachments: sum(|part| part.attachments),
        };
        let mut whole = Self::new(about, profile, Vec::new(), Err(TextUnavailable::NotStored));
        (whole.digest, whole.files) = (None, parts.len() as u64);
        whole.part_digests = parts.iter().filter_map(|part| part.digest).collect();
        whole.hashes =
            parts.iter().flat_map(|part| &part.hashes).map(|hash| QueryHash { first: 0, end: 0, ..*hash }).collect();
        // A hash that counts in one document counts.
        whole.hashes.sort_by_key(|hash| (hash.hash, hash.skipped));
        whole.hashes.dedup_by_key(|hash| hash.hash);
        for hash in &whole.hashes {
            whole.sizes[view_index(&profile, hash.hash)].hashes += 1;
        }
        for (view, size) in whole.sizes.iter_mut().enumerate() {
            let of_parts = |of: fn(&ViewSize) -> f64| parts.iter().map(|part| of(&part.sizes[view])).sum::<f64>();
            // The share of hashes that are distinct holds for the other sizes too, as an estimate.
            let distinct = size.hashes as f64 / of_parts(|part| part.hashes as f64).max(1.0);
            size.stored = (of_parts(|part| part.stored as f64) * distinct).round() as u64;
            size.distinct_kgrams = of_parts(|part| part.distinct_kgrams) * distinct;
        }
        whole
    }

    /// Marks the hashes that occur only in text that does not count: in phrases, and in quotation marks if
    /// these are skipped. A k-gram does not count if it lies whole in one such part. A k-gram that reaches
    /// beyond also holds the query's own text.
    fn mark_skipped(&mut self, read: &ReadOptions, phrases: Option<&PhraseFinder>) -> Result<()> {
        let quotes = read.skip_quotes;
        let asked = if quotes { SKIPPING_QUOTATIONS } else { IGNORING_PHRASES };
        if !quotes && phrases.is_none() {
            return Ok(());
        }
        if matches!(self.profile.unit(), Unit::Byte | Unit::Token) {
            return Err(Error::NotProse { asked, unit: self.profile.unit() });
        }
        let text = self.text.as_ref().map_err(|_| Error::NoTextToIgnore { asked, name: self.name.clone() })?;
        let quotations = if quotes { quotations(&text.bytes, text.format, &read.limits)? } else { Vec::new() };
        let mut symboliser = Symboliser::new(&self.profile).with_limits(&read.limits);
        let symbols = symboliser.read(&text.bytes, text.format)?;
        let phrases = phrases.map_or_else(Vec::new, |finder| finder.find(symbols.values()));
        let quoted: Vec<Range<u32>> = quotations.iter().map(|&quotation| symbols.within(quotation)).collect();
        self.uncounted = Uncounted::new(quoted.iter().chain(&phrases));
        let k = u64::from(self.profile.k());
        let part = |fingerprint: &Fingerprint| {
            let after = quotations.partition_point(|quotation| quotation.start <= fingerprint.span.start);
            if after > 0 && fingerprint.span.end <= quotations[after - 1].end {
                return Some(IgnoredBecause::Quoted);
            }
            let at = fingerprint.position;
            let after = phrases.partition_point(|phrase| u64::from(phrase.start) <= at);
            (after > 0 && at + k <= u64::from(phrases[after - 1].end)).then_some(IgnoredBecause::Phrase)
        };
        for hash in &mut self.hashes {
            // All of its fingerprints must lie in such parts; the reason of the first is given.
            let parts = self.fingerprints[hash.first..hash.end].iter().map(part);
            hash.skipped = parts.reduce(|first, next| next.and(first)).flatten();
        }
        Ok(())
    }

    /// The memory that it takes, in bytes, approximately.
    pub(crate) fn memory(&self) -> usize {
        self.text.as_ref().map_or(0, |text| text.bytes.len())
            + self.fingerprints.len() * size_of::<Fingerprint>()
            + self.hashes.len() * size_of::<QueryHash>()
    }

    /// The query document as the answer shows it.
    pub(super) fn about(&self) -> QueryDocument {
        QueryDocument {
            name: self.name.clone(),
            bytes: self.bytes,
            symbols: self.symbols,
            fingerprints: self.sizes[0].hashes,
            window: self.profile.w(),
            extracted: self.extracted,
            attachments: self.attachments,
            files: self.files,
            files_unread: 0,
            metadata: self.metadata.clone(),
        }
    }

    /// The symbols that fingerprints of these hashes cover and no other fingerprint covers, ascending.
    pub(super) fn only_in(&self, hashes: &[u64]) -> Vec<Range<u32>> {
        let symbols = |fingerprint: &Fingerprint| {
            let start = fingerprint.position as u32;
            start..start.saturating_add(self.profile.k())
        };
        let is_given = |fingerprint: &&Fingerprint| hashes.binary_search(&fingerprint.hash).is_ok();
        let (given, others): (Vec<_>, Vec<_>) = self.fingerprints.iter().partition(is_given);
        let ranges = |fingerprints: Vec<&Fingerprint>| fingerprints.into_iter().map(symbols).collect::<Vec<_>>();
        difference(&ranges(given), &ranges(others))
    }

    /// The symbols of structure that fingerprints within these bytes cover. The range has all symbols between
    /// the first and the last of them.
    pub(super) fn symbols_within(&self, span: Span) -> Range<u64> {
        let of_structure = |fingerprint: &&Fingerprint| self.profile.view_of(fingerprint.hash) == View::Structure;
        let inside =
            |fingerprint: &&Fingerprint| span.start <= fingerprint.span.start && fingerprint.span.end <= span.end;
        let positions = self.fingerprints.iter().filter(of_structure).filter(inside).map(|found| found.position);
        let (first, last) = positions.fold((u64::MAX, 0), |(first, last), at| (first.min(at), last.max(at)));
        if first == u64::MAX { 0..0 } else { first..last + u64::from(self.profile.k()) }
    }

    /// The first `n` hashes of each view, ascending. `None`: all hashes.
    pub(super) fn looked_up(&self, n: Option<u64>) -> Vec<&QueryHash> {
        let most = n.unwrap_or(u64::MAX);
        let mut taken = [0; 2];
        let is_taken = |hash: &&QueryHash| {
            let taken = &mut taken[view_index(&self.profile, hash.hash)];
            *taken += 1;
            *taken <= most
        };
        self.hashes.iter().filter(is_taken).collect()
    }

    /// True if it has a fingerprint with this hash.
    pub(super) fn has(&self, hash: u64) -> bool {
        self.hashes.binary_search_by_key(&hash, |entry| entry.hash).is_ok()
    }

    /// The fingerprints with a hash, in order of position.
    pub(crate) fn with_hash(&self, hash: u64) -> &[Fingerprint] {
        match self.hashes.binary_search_by_key(&hash, |entry| entry.hash) {
            Ok(index) => &self.fingerprints[self.hashes[index].first..self.hashes[index].end],
            Err(_) => &[],
        }
    }
}

/// Reads query documents; each thread has its own.
pub(crate) struct QueryReader<'a> {
    /// The database's profile; then the same profile at the query's window.
    stored: Profile,
    profile: Profile,
    read: ReadOptions,
    phrases: Option<&'a PhraseFinder>,
    stop: StopToken,
    reader: Reader,
    fingerprinter: Fingerprinter,
    /// Winnows at the database's window too, if the query's window differs.
    at_stored_window: Option<Fingerprinter>,
}

impl<'a> QueryReader<'a> {
    /// A reader for a database with the profile `stored`, at `window` or at the database's own window. Parts
    /// that `phrases` finds do not count. Reading ends with [`Error::Stopped`] once `stop` is stopped.
    pub(crate) fn new(
        stored: &Profile,
        window: Option<u32>,
        read: &ReadOptions,
        phrases: Option<&'a PhraseFinder>,
        stop: &StopToken,
    ) -> Result<Self> {
        let profile = stored.with_window(window.unwrap_or(stored.w()))?;
        let fingerprinter = |profile: &Profile| Fingerprinter::new(profile).with_limits(&read.limits);
        Ok(Self {
            stored: *stored,
            profile,
            read: read.clone(),
            phrases,
            stop: stop.clone(),
            reader: Reader::new(read.limits.clone()),
            fingerprinter: fingerprinter(&profile),
            at_stored_window: (profile != *stored).then(|| fingerprinter(stored)),
        })
    }

    /// Reads a file, or standard input if the path is `-`.
    pub(crate) fn read(&mut self, path: &Path) -> Result<PreparedQuery> {
        let candidate = single_document(path, &self.read, &self.stop)?;
        self.read_as(&candidate, self.read.front_end)
    }

    /// Reads a document that was found in a folder or container.
    pub(crate) fn read_found(&mut self, candidate: &Candidate) -> Result<PreparedQuery> {
        let subject = self.read_as(candidate, self.read.front_end)?;
        // They are queries of their own.
        let attachments = if self.read.reads_attachments() { 0 } else { subject.attachments };
        Ok(PreparedQuery { metadata: candidate.about.metadata.iter().cloned().collect(), attachments, ..subject })
    }

    /// Reads a text in memory.
    pub(crate) fn read_text(&mut self, name: &str, text: &str) -> Result<PreparedQuery> {
        let front_end = front_end_of_text(self.read.front_end, text, self.profile.unit());
        self.read_held(name, "", text.as_bytes(), front_end)
    }

    /// Reads a document in memory.
    pub(crate) fn read_in_memory(&mut self, name: &str, bytes: &[u8]) -> Result<PreparedQuery> {
        self.read_held(name, name, bytes, self.read.front_end)
    }

    fn read_held(&mut self, name: &str, hint: &str, bytes: &[u8], front_end: ReadAs) -> Result<PreparedQuery> {
        self.read_pieces((name, hint), front_end, |reader, stop, take| reader.read_whole(bytes, stop, take))
    }

    /// Prepares a stored document: from its text if that can be read again unchanged, otherwise from its
    /// postings.
    pub(crate) fn read_stored(&mut self, store: &Store, id: u32, texts: &TextCache) -> Result<PreparedQuery> {
        let record = store.document(id)?;
        let metadata = record.metadata.iter().cloned().collect();
        let subject = self.read_record(store, id, record, texts)?;
        let mut attachments = subject.attachments;
        if attachments > 0 {
            store.for_each_name_beginning(&format!("{}!", subject.name), |_, _| {
                // They are documents of their own.
                attachments = 0;
                Ok(false)
            })?;
        }
        Ok(PreparedQuery { metadata, attachments, ..subject })
    }

    fn read_record(
        &mut self,
        store: &Store,
        id: u32,
        record: DocumentRecord,
        texts: &TextCache,
    ) -> Result<PreparedQuery> {
        if record.stored_text {
            let text = store.text(id, &record)?;
            let subject = self.read_bytes(&record, &text)?;
            return Ok(PreparedQuery { id: Some(id), ..subject });
        }
        // The postings exist even if the text cannot be read again.
        let read = match texts.ahead(id) {
            Some(Bytes::Here(bytes)) => Some(self.read_bytes(&record, bytes)),
            Some(Bytes::Unavailable(why)) if self.profile == self.stored => {
                return self.subject_of_postings(store, id, record, *why);
            }
            _ => self.read_again(&record),
        };
        let (why, cause) = match read {
            Some(Ok(subject)) if subject.digest == Some(record.digest) => {
                return Ok(PreparedQuery { name: record.name, id: Some(id), ..subject });
            }
            Some(Err(Error::Stopped)) => return Err(Error::Stopped),
            Some(Ok(_)) => (TextUnavailable::Changed, None),
            Some(Err(error)) => (TextUnavailable::of(&error), Some(error)),
            None => (TextUnavailable::NotStored, None),
        };
        if self.profile == self.stored {
            return self.subject_of_postings(store, id, record, why);
        }
        // A query at a window above the database's needs the text.
        Err(match (why, cause) {
            (TextUnavailable::Missing | TextUnavailable::Changed | TextUnavailable::NotStored, _) | (_, None) => {
                Error::TextGone { name: record.name, source_path: record.source }
            }
            (_, Some(error)) => Error::NotReadAgain { source: Box::new(error) },
        })
    }

    /// Reads a stored document from its original place, if that is a file.
    fn read_again(&mut self, record: &DocumentRecord) -> Option<Result<PreparedQuery>> {
        let candidate = stored_document(stored_place(record)?, &self.read, SEARCHED_BYTES, &self.stop);
        Some(candidate.and_then(|candidate| self.read_as(&candidate, ReadAs::of(&record.format))))
    }

    /// Reads a document.
    fn read_as(&mut self, candidate: &Candidate, front_end: ReadAs) -> Result<PreparedQuery> {
        let names = (candidate.about.name.as_str(), candidate.about.hint.as_str());
        self.read_pieces(names, front_end, |reader, stop, take| reader.read(candidate, stop, &|_| {}, take))
    }

    /// Reads a document of this name and hint, whose pieces `read` passes on.
    fn read_pieces(
        &mut self,
        (name, hint): (&str, &str),
        front_end: ReadAs,
        read: impl FnOnce(&mut Reader, &StopToken, &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<Digest>,
    ) -> Result<PreparedQuery> {
        let mut reading = QueryReading::default();
        let unit = self.profile.unit();
        let (fingerprinter, at_stored_window) = (&mut self.fingerprinter, &mut self.at_stored_window);
        let digest = read(&mut self.reader, &self.stop, &mut |bytes| {
            if reading.format.is_none() {
                let format = format_of(front_end, hint, bytes, unit)?;
                reading.begin(format, fingerprinter, at_stored_window);
            }
            reading.take(bytes, fingerprinter, at_stored_window);
            Ok(())
        });
        self.finish(name, digest, reading)
    }

    /// Prepares a stored document from its bytes.
    fn read_bytes(&mut self, record: &DocumentRecord, bytes: &[u8]) -> Result<PreparedQuery> {
        let mut reading = QueryReading::default();
        let format = Format::named(&record.format).unwrap_or_default();
        reading.begin(format, &mut self.fingerprinter, &mut self.at_stored_window);
        reading.take(bytes, &mut self.fingerprinter, &mut self.at_stored_window);
        self.finish(&record.name, Ok(record.digest), reading)
    }

    fn finish(&mut self, name: &str, digest: Result<Digest>, mut reading: QueryReading) -> Result<PreparedQuery> {
        // Finishes even after an error, so as to be ready for the next document.
        let facts = self.fingerprinter.finish(&mut reading.fingerprints);
        let stored = self.stored;
        let coarser = self.at_stored_window.as_mut().map(|fingerprinter| {
            let facts = fingerprinter.finish(&mut reading.at_stored_window);
            facts.map(|facts| (facts, counts(&stored, &reading.at_stored_window)))
        });
        let digest = digest?;
        let facts = facts?;
        let about = QueryFacts {
            name: name.to_owned(),
            id: None,
            digest,
            bytes: facts.text.bytes,
            symbols: facts.symbols,
            symbols_of_text: facts.text_view.map_or(0, |text| text.symbols),
            kgrams: kgrams_of(&facts),
            extracted: facts.offsets == Offsets::Extracted,
            attachments: facts.attachments,
        };
        let format = reading.format.unwrap_or_default();
        let text = reading.text.map(|bytes| QueryBytes { bytes, format }).ok_or(TextUnavailable::TooLarge);
        let mut subject = PreparedQuery::new(about, self.profile, reading.fingerprints.iter().collect(), text);
        if let Some(coarser) = coarser {
            let (facts, counts) = coarser?;
            let views = subject.sizes.iter_mut().zip(kgrams_of(&facts)).zip(counts);
            for ((size, kgrams), (selected, distinct)) in views {
                size.stored = distinct;
                size.distinct_kgrams = distinct_kgrams(kgrams, selected, distinct);
            }
        }
        subject.mark_skipped(&self.read, self.phrases)?;
        Ok(subject)
    }

    /// Prepares a stored document from its postings. Possible at the database's own window only.
    fn subject_of_postings(
        &self,
        store: &Store,
        id: u32,
        record: DocumentRecord,
        why: TextUnavailable,
    ) -> Result<PreparedQuery> {
        let mut postings = store.postings_of(id, &self.stop)?;
        postings.sort_unstable_by_key(|posting| posting.ordinal);
        let ordinals: Vec<u32> = postings.iter().map(|posting| posting.ordinal).collect();
        let places = store.places(id, &ordinals)?;
        let fingerprints = postings
            .iter()
            .zip(places)
            .map(|(posting, place)| Fingerprint {
                hash: posting.hash,
                position: place.position,
                span: place.span(),
                first_line: place.first_line,
                last_line: place.last_line,
            })
            .collect();
        let about = QueryFacts {
            name: record.name,
            id: Some(id),
            digest: record.digest,
            bytes: record.bytes,
            symbols: record.symbols,
            symbols_of_text: record.text_view.0.map_or(0, |text| text.symbols),
            kgrams: [record.kgrams, record.text_view.0.map_or(0, |text| text.kgrams)],
            extracted: record.extracted,
            // Not stored.
            attachments: 0,
        };
        let why = if record.bytes > COMPARED_BYTES { TextUnavailable::TooLarge } else { why };
        let mut subject = PreparedQuery::new(about, self.profile, fingerprints, Err(why));
        subject.mark_skipped(&self.read, self.phrases)?;
        Ok(subject)
    }
}

/// The part of a query document read so far.
struct QueryReading {
    fingerprints: Fingerprints,
    at_stored_window: Fingerprints,
    /// Its bytes; `None` if there are too many.
    text: Option<Vec<u8>>,
    /// Its format, once its first bytes are known.
    format: Option<Format>,
}

impl Default for QueryReading {
    fn default() -> Self {
        Self {
            fingerprints: Fingerprints::new(),
            at_stored_window: Fingerprints::new(),
            text: Some(Vec::new()),
            format: None,
        }
    }
}

impl QueryReading {
    fn begin(&mut self, format: Format, fingerprinter: &mut Fingerprinter, coarser: &mut Option<Fingerprinter>) {
        fingerprinter.begin(format);
        if let Some(fingerprinter) = coarser {
            fingerprinter.begin(format);
        }
        self.format = Some(format);
    }

    fn take(&mut self, bytes: &[u8], fingerprinter: &mut Fingerprinter, coarser: &mut Option<Fingerprinter>) {
        fingerprinter.feed(bytes, &mut self.fingerprints);
        if let Some(fingerprinter) = coarser {
            fingerprinter.feed(bytes, &mut self.at_stored_window);
        }
        if let Some(text) = &mut self.text {
            if (text.len() + bytes.len()) as u64 <= COMPARED_BYTES {
                text.extend_from_slice(bytes);
            } else {
                self.text = None;
            }
        }
    }
}

/// By view, the numbers of fingerprints and of distinct hashes.
fn counts(profile: &Profile, fingerprints: &Fingerprints) -> [(u64, u64); 2] {
    let mut hashes: Vec<u64> = fingerprints.iter().map(|fingerprint| fingerprint.hash).collect();
    hashes.sort_unstable();
    let mut counts = [(0, 0); 2];
    for same in hashes.chunk_by(|a, b| a == b) {
        let (selected, distinct) = &mut counts[view_index(profile, same[0])];
        *selected += same.len() as u64;
        *distinct += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counted_heap;

    /// A text that is too large to be compared has no copy at all.
    #[test]
    fn a_document_in_memory_is_read_where_it_is() {
        let (profile, read) = (Profile::PROSE, ReadOptions::default());
        let mut reader = QueryReader::new(&profile, None, &read, None, &StopToken::new()).unwrap();
        let bytes = vec![b' '; COMPARED_BYTES as usize + 1];
        let (subject, peak) = counted_heap::peak(|| reader.read_in_memory("a", &bytes));
        assert_eq!(subject.unwrap().bytes, COMPARED_BYTES + 1);
        assert!(peak < COMPARED_BYTES / 4, "{peak}");
    }
}

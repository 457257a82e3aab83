//! Query reader: reads query documents from files, from memory and from the store.

use std::path::Path;

use super::disguise::DisguisedWords;
use super::prepared::{PreparedQuery, QueryBytes, distinct_kgrams, view_index};
use super::stored_place;
use super::text::Bytes;
use super::text_cache::TextCache;
use super::text_limit::TextLimit;
use super::text_unavailable::TextUnavailable;
use fpdb_host::error::{Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_kernel::columns::{Fingerprint, Fingerprints};
use fpdb_kernel::document::{Digest, Format, Offsets};
use fpdb_kernel::profile::{Profile, Unit};
use fpdb_passages::PhraseFinder;
use fpdb_reading::extract;
use fpdb_reading::fingerprint::{DocumentFacts, Fingerprinter};
use fpdb_reading::input::{
    Candidate, Hint, ReadAs, ReadOptions, Reader, SEARCHED_BYTES, format_of, front_end_of_text, single_document,
    standard_input, stored_document,
};
use fpdb_store::{DocumentRecord, Store};

/// Reads query documents; each thread has its own.
pub(crate) struct QueryReader<'a> {
    /// The database's profile. `profile` is the same profile at the query's window.
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

    /// Reads the document on standard input.
    pub(crate) fn read_standard_input(&mut self, name: &str) -> Result<PreparedQuery> {
        let candidate = standard_input(name, &self.read, &self.stop)?;
        self.read_as(&candidate, self.read.front_end)
    }

    /// Reads a document that was found in a folder or container.
    pub(crate) fn read_found(&mut self, candidate: &Candidate) -> Result<PreparedQuery> {
        let subject = self.read_as(candidate, self.read.front_end)?;
        // Attachments that are read are queries of their own.
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
        self.read_pieces((name, &hint.into()), front_end, |reader, stop, take| reader.read_whole(bytes, stop, take))
    }

    /// Prepares a stored document: from its text if the text can be read again and is unchanged, otherwise
    /// from its postings.
    pub(crate) fn read_stored(&mut self, store: &Store, id: u32, texts: &TextCache) -> Result<PreparedQuery> {
        let record = store.document(id)?;
        let metadata = record.metadata.iter().cloned().collect();
        let subject = self.read_record(store, id, record, texts)?;
        let mut attachments = subject.attachments;
        if attachments > 0 {
            store.for_each_name_beginning(&format!("{}!", subject.name), |_, _| {
                // The attachments are stored as documents of their own.
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
        // If the text cannot be read again, the postings can take its place.
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
        let names = (candidate.about.name.as_str(), &candidate.about.hint);
        self.read_pieces(names, front_end, |reader, stop, take| reader.read(candidate, stop, &|_| {}, take))
    }

    /// Reads a document with this name and this hint about its format. `read` delivers its bytes in pieces.
    fn read_pieces(
        &mut self,
        (name, hint): (&str, &Hint),
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
        // The fingerprinter is finished even after an error, to be ready for the next document.
        let unit = self.profile.unit();
        let is_prose = matches!(unit, Unit::Char | Unit::Word);
        let mut disguised = None;
        let facts = self.fingerprinter.finish_seeing(&mut reading.fingerprints, &mut |extracted| {
            disguised = is_prose.then(|| DisguisedWords::in_extracted(extracted, unit)).flatten();
        });
        let stored = self.stored;
        let coarser = self.at_stored_window.as_mut().map(|fingerprinter| {
            let facts = fingerprinter.finish(&mut reading.at_stored_window);
            facts.map(|facts| (facts, counts(&stored, &reading.at_stored_window)))
        });
        let digest = digest?;
        let facts = facts?;
        let format = reading.format.unwrap_or_default();
        if let Some(bytes) = reading.text.as_ref().filter(|_| is_prose && !extract::applies(format)) {
            disguised = DisguisedWords::in_document(bytes, unit);
        }
        let symbols_of_text = facts.text_view.map_or(0, |text| text.symbols);
        let is_compared = TextLimit::COMPARED.allows(facts.text.bytes, [facts.symbols, symbols_of_text]);
        let text = reading.text.filter(|_| is_compared);
        let text = text.map(|bytes| QueryBytes { bytes, format }).ok_or(TextUnavailable::TooLarge);
        let subject = PreparedQuery {
            digest: Some(digest),
            bytes: facts.text.bytes,
            symbols: facts.symbols,
            symbols_of_text,
            extracted: facts.offsets == Offsets::Extracted,
            attachments: facts.attachments,
            disguised,
            ..PreparedQuery::empty(name.to_owned(), self.profile, text)
        };
        let mut subject = subject.with_fingerprints(reading.fingerprints.iter().collect(), kgrams_of(&facts));
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

    /// Prepares a stored document from its postings. This is possible at the database's own window only.
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
        let why = if TextLimit::COMPARED.allows_document(&record) { why } else { TextUnavailable::TooLarge };
        let text_view = record.text_view.0;
        let subject = PreparedQuery {
            id: Some(id),
            digest: Some(record.digest),
            bytes: record.bytes,
            symbols: record.symbols,
            symbols_of_text: text_view.map_or(0, |text| text.symbols),
            extracted: record.extracted,
            // The number of attachments is not stored.
            attachments: 0,
            ..PreparedQuery::empty(record.name, self.profile, Err(why))
        };
        let kgrams = [record.kgrams, text_view.map_or(0, |text| text.kgrams)];
        let mut subject = subject.with_fingerprints(fingerprints, kgrams);
        subject.mark_skipped(&self.read, self.phrases)?;
        Ok(subject)
    }
}

/// The part of a query document read so far.
struct QueryReading {
    fingerprints: Fingerprints,
    at_stored_window: Fingerprints,
    /// The document's bytes; `None` if there are too many.
    text: Option<Vec<u8>>,
    /// The document's format, once its first bytes are known.
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
            if (text.len() + bytes.len()) as u64 <= TextLimit::COMPARED.bytes {
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

/// The k-grams of each view.
fn kgrams_of(facts: &DocumentFacts) -> [u64; 2] {
    [facts.kgrams, facts.text_view.map_or(0, |text| text.kgrams)]
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
        let bytes = vec![b' '; TextLimit::COMPARED.bytes as usize + 1];
        let (subject, peak) = counted_heap::peak(|| reader.read_in_memory("a", &bytes));
        assert_eq!(subject.unwrap().bytes, TextLimit::COMPARED.bytes + 1);
        assert!(peak < TextLimit::COMPARED.bytes / 4, "{peak}");
    }
}

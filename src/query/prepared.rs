//! Prepared query: the query document, winnowed at the query's window.

use std::collections::BTreeMap;
use std::ops::Range;

use super::answer::{Ignored, IgnoredBecause, QueryDocument};
use super::disguise::DisguisedWords;
use super::ignored::is_long;
use super::location::Location;
use super::phrases::IGNORING_PHRASES;
use super::text::Symboliser;
use super::text_unavailable::TextUnavailable;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::columns::Fingerprint;
use fpdb_kernel::document::{Digest, Format, Span};
use fpdb_kernel::profile::{Profile, Unit, View};
use fpdb_passages::{PhraseFinder, Uncounted, difference, lies_in, union};
use fpdb_reading::input::ReadOptions;
use fpdb_reading::quotations::quotations;

/// How error messages call the option that skips quotations.
const SKIPPING_QUOTATIONS: &str = "skipping quotations";

/// A query document's fingerprints.
#[derive(Clone, Debug)]
pub(crate) struct PreparedQuery {
    pub(crate) name: String,
    /// Id of the query document if it is stored. A stored document does not match itself.
    pub(crate) id: Option<u32>,
    /// `None` if the query is several documents.
    pub(crate) digest: Option<Digest>,
    /// If the query is several documents, the digest of each.
    pub(super) part_digests: Vec<Digest>,
    /// The database's profile with the query's window.
    pub(crate) profile: Profile,
    pub(crate) bytes: u64,
    /// Number of symbols. With two views, `symbols` counts those of the structure, and `symbols_of_text`
    /// those of the text as written.
    pub(crate) symbols: u64,
    pub(crate) symbols_of_text: u64,
    /// True if spans refer to text extracted from the document.
    pub(crate) extracted: bool,
    /// Number of a mail's attachments that are not read.
    pub(super) attachments: u64,
    /// Number of joined documents; 0 for one document.
    pub(super) files: u64,
    /// True if a stored submission has the name of this stored document too.
    pub(crate) names_submission: bool,
    pub(crate) metadata: BTreeMap<String, String>,
    /// Distinct hashes, ascending.
    pub(crate) hashes: Vec<QueryHash>,
    /// The fingerprints, in order of hash, then position.
    pub(crate) fingerprints: Vec<Fingerprint>,
    /// The sizes of each view: the structure, then the text as written.
    pub(crate) sizes: [ViewSize; 2],
    /// Symbols of the document that do not count: those of quotations and phrases.
    pub(super) uncounted: Uncounted,
    /// The long ones of these quotations and phrases. No match lies in them.
    pub(super) excluded: Vec<Range<u32>>,
    /// The places of these quotations and phrases, without those shorter than a k-gram.
    pub(super) skipped: Vec<Ignored>,
    pub(super) disguised: Option<DisguisedWords>,
    /// The document's bytes, or why they are not available.
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
    /// The reason why the hash does not count; `None` if it also occurs in text that counts.
    pub(crate) skipped: Option<IgnoredBecause>,
}

/// Maximum bytes of memory for a fingerprint of a document that is part of a joined query.
pub(super) const JOINED_BYTES: u64 = (size_of::<Fingerprint>() + 2 * size_of::<QueryHash>()) as u64;

/// The index of a hash's view in an array with one entry for each view.
pub(super) fn view_index(profile: &Profile, hash: u64) -> usize {
    usize::from(profile.view_of(hash) == View::Text)
}

/// The estimated number of distinct k-grams of a document: the number of k-grams times the share of
/// fingerprints that are distinct.
pub(super) fn distinct_kgrams(kgrams: u64, fingerprints: u64, distinct: u64) -> f64 {
    if fingerprints == 0 { 0.0 } else { kgrams as f64 * distinct as f64 / fingerprints as f64 }
}

impl PreparedQuery {
    /// A query document without fingerprints.
    pub(super) fn empty(
        name: String,
        profile: Profile,
        text: std::result::Result<QueryBytes, TextUnavailable>,
    ) -> Self {
        Self {
            name,
            id: None,
            digest: None,
            part_digests: Vec::new(),
            profile,
            bytes: 0,
            symbols: 0,
            symbols_of_text: 0,
            extracted: false,
            attachments: 0,
            files: 0,
            names_submission: false,
            metadata: BTreeMap::new(),
            hashes: Vec::new(),
            fingerprints: Vec::new(),
            sizes: Default::default(),
            uncounted: Uncounted::default(),
            excluded: Vec::new(),
            skipped: Vec::new(),
            disguised: None,
            text,
        }
    }

    /// The query document with these fingerprints, selected from this number of k-grams in each view.
    pub(super) fn with_fingerprints(mut self, mut fingerprints: Vec<Fingerprint>, kgrams: [u64; 2]) -> Self {
        fingerprints.sort_unstable_by_key(|fingerprint| (fingerprint.hash, fingerprint.position));
        let mut first = 0;
        let mut selected = [0; 2];
        for same in fingerprints.chunk_by(|a, b| a.hash == b.hash) {
            let (hash, end) = (same[0].hash, first + same.len());
            self.hashes.push(QueryHash { hash, first, end, skipped: None });
            let view = view_index(&self.profile, hash);
            self.sizes[view].hashes += 1;
            selected[view] += same.len() as u64;
            first = end;
        }
        for (view, size) in self.sizes.iter_mut().enumerate() {
            size.stored = size.hashes;
            size.distinct_kgrams = distinct_kgrams(kgrams[view], selected[view], size.hashes);
        }
        Self { fingerprints, ..self }
    }

    /// The documents of a submission as one query. It serves for ranking only, because it has no text to
    /// compare.
    pub(super) fn joined(name: String, profile: Profile, parts: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> u64| parts.iter().map(of).sum::<u64>();
        let mut whole = Self {
            // The id of one document excludes the whole submission from the matches.
            id: parts.first().and_then(|part| part.id),
            part_digests: parts.iter().filter_map(|part| part.digest).collect(),
            bytes: sum(|part| part.bytes),
            symbols: sum(|part| part.symbols),
            symbols_of_text: sum(|part| part.symbols_of_text),
            attachments: sum(|part| part.attachments),
            files: parts.len() as u64,
            disguised: DisguisedWords::of_files(parts.iter().map(|part| (&*part.name, part.disguised.as_ref()))),
            ..Self::empty(name, profile, Err(TextUnavailable::NotStored))
        };
        whole.hashes =
            parts.iter().flat_map(|part| &part.hashes).map(|hash| QueryHash { first: 0, end: 0, ..*hash }).collect();
        // A hash counts if it counts in one of the documents.
        whole.hashes.sort_by_key(|hash| (hash.hash, hash.skipped));
        whole.hashes.dedup_by_key(|hash| hash.hash);
        for hash in &whole.hashes {
            whole.sizes[view_index(&profile, hash.hash)].hashes += 1;
        }
        for (view, size) in whole.sizes.iter_mut().enumerate() {
            let of_parts = |of: fn(&ViewSize) -> f64| parts.iter().map(|part| of(&part.sizes[view])).sum::<f64>();
            // Estimates the other sizes by the share of hashes that are distinct.
            let distinct = size.hashes as f64 / of_parts(|part| part.hashes as f64).max(1.0);
            size.stored = (of_parts(|part| part.stored as f64) * distinct).round() as u64;
            size.distinct_kgrams = of_parts(|part| part.distinct_kgrams) * distinct;
        }
        whole
    }

    /// Marks the hashes that occur only in text that does not count: in phrases, and in quotation marks if
    /// these are skipped. A k-gram that reaches beyond such a part also holds the query's own text, and
    /// counts. But if the part is long, it does not count: a document with this part would be a match if it
    /// has the same letter beside it. A shared run of t symbols of the query's own text holds other k-grams.
    pub(super) fn mark_skipped(&mut self, read: &ReadOptions, phrases: Option<&PhraseFinder>) -> Result<()> {
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
        let (profile, k) = (self.profile, self.profile.k());
        let parts = [(quoted, IgnoredBecause::Quoted), (phrases, IgnoredBecause::Phrase)];
        let parts = parts.map(|(ranges, because)| {
            let long: Vec<Range<u32>> = ranges.iter().filter(|range| is_long(&profile, range)).cloned().collect();
            (ranges, long, because)
        });
        for (ranges, _, because) in &parts {
            let place = |range: &Range<u32>| Location { pages: None, ..symbols.locate(range) };
            let held = ranges.iter().filter(|range| range.len() >= k as usize);
            self.skipped.extend(held.map(|range| Ignored { query: place(range), because: *because }));
        }
        self.uncounted = Uncounted::new(parts.iter().flat_map(|(ranges, ..)| ranges));
        self.excluded = union(parts.iter().flat_map(|(_, long, _)| long));
        let part = |fingerprint: &Fingerprint| {
            let at = fingerprint.position as u32;
            let kgram = at..at.saturating_add(k);
            let skips = |(ranges, long, _): &&(Vec<Range<u32>>, Vec<Range<u32>>, _)| {
                let next = long.get(long.partition_point(|range| range.end <= kgram.start));
                next.is_some_and(|range| range.start < kgram.end) || lies_in(ranges, &kgram)
            };
            parts.iter().find(skips).map(|(.., because)| *because)
        };
        for hash in &mut self.hashes {
            // All fingerprints of the hash must lie in such parts. The first fingerprint decides the reason.
            let parts = self.fingerprints[hash.first..hash.end].iter().map(part);
            hash.skipped = parts.reduce(|first, next| next.and(first)).flatten();
        }
        Ok(())
    }

    /// Approximate memory of the query, in bytes.
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
            disguised: self.disguised.clone(),
            ignored: Vec::new(),
            names_submission: self.names_submission,
            id: None,
        }
    }

    /// The symbols that do not count towards the least length of a passage. If `rewritten`, symbols that only
    /// `ignored` hashes cover do not count either, because passages of rewritten text form without
    /// fingerprints too.
    pub(super) fn uncounted_with(&self, ignored: &[u64], rewritten: bool) -> Uncounted {
        match rewritten {
            true => self.uncounted.with(&self.only_in(ignored)),
            false => self.uncounted.clone(),
        }
    }

    /// The symbols that fingerprints of these hashes cover and no other fingerprint covers, ascending.
    fn only_in(&self, hashes: &[u64]) -> Vec<Range<u32>> {
        let symbols = |fingerprint: &Fingerprint| {
            let start = fingerprint.position as u32;
            start..start.saturating_add(self.profile.k())
        };
        let is_given = |fingerprint: &&Fingerprint| hashes.binary_search(&fingerprint.hash).is_ok();
        let (given, others): (Vec<_>, Vec<_>) = self.fingerprints.iter().partition(is_given);
        let ranges = |fingerprints: Vec<&Fingerprint>| fingerprints.into_iter().map(symbols).collect::<Vec<_>>();
        difference(&ranges(given), &ranges(others))
    }

    /// Returns a function from a span of bytes to a range of symbols of the structure. The range goes from
    /// the first to the last fingerprint within the span.
    pub(super) fn symbols_within(&self) -> impl Fn(Span) -> Range<u64> {
        let of_structure = |fingerprint: &&Fingerprint| self.profile.view_of(fingerprint.hash) == View::Structure;
        let fingerprints = self.fingerprints.iter().filter(of_structure);
        let mut places: Vec<(u64, Span)> = fingerprints.map(|found| (found.position, found.span)).collect();
        places.sort_unstable_by_key(|(position, _)| *position);
        let k = u64::from(self.profile.k());
        move |bytes| {
            let first = places.partition_point(|(_, span)| span.start < bytes.start);
            let end = places.partition_point(|(_, span)| span.end <= bytes.end);
            let inside = places.get(first..end).unwrap_or_default();
            match (inside.first(), inside.last()) {
                (Some((first, _)), Some((last, _))) => *first..last + k,
                _ => 0..0,
            }
        }
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

    /// True if the query has a fingerprint with this hash.
    pub(super) fn has(&self, hash: u64) -> bool {
        !self.with_hash(hash).is_empty()
    }

    /// The fingerprints with a hash, in order of position.
    pub(crate) fn with_hash(&self, hash: u64) -> &[Fingerprint] {
        match self.hashes.binary_search_by_key(&hash, |entry| entry.hash) {
            Ok(index) => &self.fingerprints[self.hashes[index].first..self.hashes[index].end],
            Err(_) => &[],
        }
    }
}

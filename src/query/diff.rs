//! Diff: compares two documents without a database. The first document is the query. The second stands for a
//! database of one document.

use std::collections::HashMap;

use super::answer::{IgnoredBecause, Match, MatchMeasures, QueryAnswer, TextLookup};
use super::answering::containment_of;
use super::evidence::{query_text, spans, whole_text};
use super::ignored::IgnoredText;
use super::options::{Mode, PassageOptions};
use super::passages::{self, DocumentPassages, SharedFingerprint};
use super::phrases::{Phrases, finder_of};
use super::prepared::{PreparedQuery, view_index};
use super::query_reader::QueryReader;
use super::source::QuerySource;
use super::text::Symboliser;
use super::text_unavailable::TextUnavailable;
use super::weight::Weight;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::progress::Task;
use fpdb_host::schema::Schema;
use fpdb_host::setters::setters;
use fpdb_host::stop::StopToken;
use fpdb_kernel::columns::Fingerprint;
use fpdb_kernel::estimate::Sizes;
use fpdb_kernel::profile::Profile;
use fpdb_reading::input::{ReadOptions, WalkOptions, for_each_held};
use fpdb_store::FingerprintPlace;

/// The step that a comparison reports.
const STEP: &str = "documents read";

/// Options for comparing two documents.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DiffOptions {
    /// The options for reading all documents.
    pub read: ReadOptions,
    /// Phrases of the first document that count in no match; by default none.
    pub phrases: Option<Phrases>,
    /// Documents whose text does not count: the text of a task, say. The answer equals the answer of a query
    /// in a database that also holds these documents, as boilerplate. The two compared documents are not
    /// boilerplate: they match if their bytes are the same. Each source of the list is a file, a folder or
    /// archive of documents, or bytes in memory; by default the list is empty.
    pub boilerplate: Vec<QuerySource>,
    /// The options for joining shared runs to passages.
    pub joining: PassageOptions,
}

impl DiffOptions {
    setters! {
        read: ReadOptions,
        phrases: Option<Phrases>,
        boilerplate: Vec<QuerySource>,
        joining: PassageOptions,
    }
}

/// Compares the documents `a` and `b`, symbol by symbol and with all their fingerprints. Each is a file or
/// bytes in memory; one can be standard input. There is no match if the documents share no fingerprint that
/// counts and their bytes differ.
///
/// # Errors
/// [`Error::Stopped`]; [`Error::InvalidParameter`] for a stored document; [`Error::NotCompared`] for a
/// document that cannot be read as text; errors from reading a file or searching it for phrases.
pub fn diff(
    a: &QuerySource,
    b: &QuerySource,
    profile: &Profile,
    options: &DiffOptions,
    task: &Task<'_>,
) -> Result<QueryAnswer> {
    options.joining.check(profile)?;
    let finder = finder_of(options.phrases.as_ref(), profile)?;
    let stop = task.token();
    // A mail is one document, without its attachments.
    let read = options.read.clone().attachments(false);
    let total = 2 + options.boilerplate.len() as u64;
    task.step(STEP, 0, total)?;
    let mut a = prepared(&mut QueryReader::new(profile, None, &read, finder.as_ref(), stop)?, a)?;
    task.step(STEP, 1, total)?;
    // Text is ignored only in the first document, the query.
    let mut reader = QueryReader::new(profile, None, &read.clone().skip_quotes(false), None, stop)?;
    let b = prepared(&mut reader, b)?;
    // As in a database, all k-grams of boilerplate are its fingerprints.
    let read = read.skip_quotes(false);
    let mut reader = QueryReader::new(&profile.of_boilerplate(), None, &read, None, stop)?;
    for (number, source) in (2..).zip(&options.boilerplate) {
        task.step(STEP, number, total)?;
        each_prepared(&mut reader, source, &read, stop, |boilerplate| {
            for hash in &mut a.hashes {
                let is_held = || boilerplate.has(hash.hash);
                hash.skipped = hash.skipped.or_else(|| is_held().then_some(IgnoredBecause::Boilerplate));
            }
        })?;
    }
    task.step(STEP, total, total)?;
    let mut shared = [0; 2];
    shared_hashes(&a, &b).for_each(|hash| shared[view_index(&a.profile, hash)] += 1);
    let skipped: Vec<_> = a.hashes.iter().filter_map(|entry| Some((entry, entry.skipped?))).collect();
    let of_boilerplate = skipped.iter().copied().filter(|(_, because)| *because == IgnoredBecause::Boilerplate);
    let ignored = spans(&a, &of_boilerplate.collect::<Vec<_>>());
    let skipped = |reason: IgnoredBecause, view: usize| {
        let of_view = skipped.iter().filter(|(entry, _)| view_index(&a.profile, entry.hash) == view);
        of_view.filter(|&&(_, because)| because == reason).count() as u64
    };
    let matches = if shared != [0; 2] || a.digest == b.digest {
        let own = |view: usize| {
            let of_boilerplate = skipped(IgnoredBecause::Boilerplate, view);
            containment_of(shared[view], a.sizes[view].hashes - of_boilerplate, a.hashes.is_empty())
        };
        let own = || MatchMeasures { containment: own(0), text_containment: a.profile.has_two_views().then(|| own(1)) };
        let without_boilerplate = (!options.boilerplate.is_empty()).then(own);
        vec![Match { without_boilerplate, ..compare(&a, &b, shared, options, stop)? }]
    } else {
        Vec::new()
    };
    let [fingerprints, of_text] = a.sizes.map(|sizes| sizes.hashes);
    let text = a.profile.has_two_views().then(|| TextLookup {
        symbols: a.symbols_of_text,
        fingerprints: of_text,
        looked_up: of_text,
        found: shared[1],
        boilerplate: skipped(IgnoredBecause::Boilerplate, 1),
        common: 0,
        corpus_containment: containment_of(shared[1], of_text, a.digest == b.digest),
    });
    let [shared, _] = shared;
    Ok(QueryAnswer {
        schema: Schema::new(),
        mode: Mode::Containment,
        weight: Weight::None,
        profile: a.profile,
        query: a.about(),
        looked_up: fingerprints,
        found: shared,
        boilerplate: skipped(IgnoredBecause::Boilerplate, 0),
        common: 0,
        quoted: skipped(IgnoredBecause::Quoted, 0),
        phrases: skipped(IgnoredBecause::Phrase, 0),
        corpus_containment: containment_of(shared, fingerprints, a.digest == b.digest),
        text,
        matching_documents: matches.len() as u64,
        compared: 0,
        below: 0,
        documents_left_out: 0,
        ignored,
        has_identical: a.digest == b.digest,
        coverage: matches.iter().find_map(|found| found.coverage).unwrap_or(0.0),
        matches,
    })
}

fn prepared(reader: &mut QueryReader<'_>, source: &QuerySource) -> Result<PreparedQuery> {
    let stored = |value: String| Error::InvalidParameter {
        name: "a document to compare without a database",
        value,
        expected: "a file, or bytes in memory",
    };
    let (name, read) = match source {
        QuerySource::File(path) => (path.display().to_string(), reader.read(path)),
        QuerySource::StandardInput { name } => (name.clone(), reader.read_standard_input(name)),
        QuerySource::Bytes { name, bytes } => (name.clone(), reader.read_in_memory(name, bytes)),
        QuerySource::Text { name, text } => (name.clone(), reader.read_text(name, text)),
        QuerySource::Stored(name) => return Err(stored(format!("the stored document {name}"))),
        QuerySource::Number(id) => return Err(stored(format!("the stored document {id}"))),
    };
    read.map_err(|error| not_compared(name, error))
}

/// Adds the document's name to an error that lacks it.
fn not_compared(name: String, error: Error) -> Error {
    match error {
        Error::Document(document) if document.path().is_none() => {
            Error::NotCompared { name, source: Box::new(Error::Document(document)) }
        }
        error => error,
    }
}

/// Calls `visit` with the document of a source, or with each document of a folder or container. Skips files
/// and members that are not documents, as an ingest does.
fn each_prepared(
    reader: &mut QueryReader<'_>,
    source: &QuerySource,
    read: &ReadOptions,
    stop: &StopToken,
    mut visit: impl FnMut(&PreparedQuery),
) -> Result<()> {
    use DocumentError::{Binary, IsAContainer, NotAFile};
    let path = match (prepared(reader, source), source) {
        (Err(Error::Document(IsAContainer { .. })), QuerySource::File(path)) if path.is_file() => path,
        (Err(Error::Document(NotAFile { .. })), QuerySource::File(path)) if path.is_dir() => path,
        (prepared, _) => return prepared.map(|document| visit(&document)),
    };
    let mut documents = 0;
    for_each_held(path, &WalkOptions::default(), read, stop, &mut |found| {
        let (name, read) = match found {
            Ok(candidate) => (candidate.about.name.clone(), reader.read_found(&candidate)),
            Err((name, error)) => (name, Err(error)),
        };
        if matches!(read, Err(Error::Document(Binary { .. }))) {
            return Ok(());
        }
        documents += 1;
        read.map(|document| visit(&document)).map_err(|error| not_compared(name, error))
    })?;
    if documents == 0 {
        return Err(Error::Document(DocumentError::NoDocuments { path: path.clone() }));
    }
    Ok(())
}

/// The hashes of `a` that count and that `b` has too.
fn shared_hashes(a: &PreparedQuery, b: &PreparedQuery) -> impl Iterator<Item = u64> {
    a.hashes.iter().filter(|entry| entry.skipped.is_none() && b.has(entry.hash)).map(|entry| entry.hash)
}

fn compare(
    a: &PreparedQuery,
    b: &PreparedQuery,
    shared: [u64; 2],
    options: &DiffOptions,
    stop: &StopToken,
) -> Result<Match> {
    // Documents too short for a fingerprint are compared here only if their bytes are the same, so all
    // measures are 1. For other documents the hashes decide. If no hash of the query counts, all measures are
    // 0.
    let are_short = a.hashes.is_empty();
    let measured = |view: usize| {
        let (query, document) = (a.sizes[view].stored as f64, b.sizes[view].stored as f64);
        let (sizes, found) = (Sizes { query, document }, shared[view] as f64);
        let [all, none] = [1.0, 0.0].map(|share| [share; 3]);
        match query {
            0.0 => {
                if are_short {
                    all
                } else {
                    none
                }
            }
            _ => [found / query, sizes.document_containment(found, query), sizes.resemblance(found, query)],
        }
    };
    let [containment, document_containment, resemblance] = measured(0);
    let text = a.profile.has_two_views().then(|| measured(1));
    let (DocumentPassages { passages, left_out, longest, covered, repeats }, inferred) =
        find_passages(a, b, options, stop)?;
    Ok(Match {
        document: b.name.clone(),
        document_bytes: b.bytes,
        document_symbols: b.symbols,
        extracted: b.extracted,
        shared: shared[0],
        score: text.map_or(containment, |[of_text, ..]| containment.max(of_text)),
        containment,
        document_containment,
        resemblance,
        text_shared: text.map(|_| shared[1]),
        text_containment: text.map(|[containment, ..]| containment),
        text_document_containment: text.map(|[_, containment, _]| containment),
        text_resemblance: text.map(|[.., resemblance]| resemblance),
        identical: a.digest == b.digest,
        coverage: Some(covered.share()),
        passages,
        passages_left_out: left_out,
        longest,
        inferred: inferred.map(Into::into),
        repeats,
        ..Match::default()
    })
}

/// Finds the passages by comparing the texts. If a text is too large, infers them from the fingerprints, and
/// also returns the reason.
fn find_passages(
    a: &PreparedQuery,
    b: &PreparedQuery,
    options: &DiffOptions,
    stop: &StopToken,
) -> Result<(DocumentPassages, Option<&'static str>)> {
    let DiffOptions { read, joining, .. } = options;
    let mut symboliser =
        Symboliser::new(&a.profile).with_limits(&read.limits).with_sentences(joining.rewritten).with_names();
    let held: Vec<u64> = a
        .hashes
        .iter()
        .filter(|hash| hash.skipped == Some(IgnoredBecause::Boilerplate))
        .map(|hash| hash.hash)
        .collect();
    let uncounted = a.uncounted_with(&held, joining.rewritten);
    let ignored = IgnoredText::of(a, &held, &held);
    let texts = query_text(a, &mut symboliser, shared_hashes(a, b), uncounted, ignored.clone(), stop)?
        .and_then(|a| Ok((a, whole_text(b, &mut symboliser).map_err(TextUnavailable::document)?)));
    stop.check()?;
    Ok(match texts {
        Ok((text, other)) => (text.compare(&other, shared_hashes(a, b), joining, stop)?, None),
        Err(why) => {
            let (marks, places) = marks(a, b);
            (passages::infer(a, &marks, &places, &ignored, joining, stop)?, Some(why))
        }
    })
}

/// The fingerprints of `b` that `a` has too, in order of hash, and their places.
fn marks(a: &PreparedQuery, b: &PreparedQuery) -> (Vec<SharedFingerprint>, HashMap<u32, FingerprintPlace>) {
    let common: Vec<&Fingerprint> = shared_hashes(a, b).flat_map(|hash| b.with_hash(hash)).collect();
    let marks = (0..)
        .zip(&common)
        .map(|(ordinal, fingerprint)| SharedFingerprint { hash: fingerprint.hash, ordinal })
        .collect();
    let places = (0..)
        .zip(&common)
        .map(|(ordinal, fingerprint)| (ordinal, FingerprintPlace::of(fingerprint, &b.profile)))
        .collect();
    (marks, places)
}

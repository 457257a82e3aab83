//! Record: the facts about a document that are stored beside its fingerprints.

use super::messages::ReadDocument;
use super::options::IngestOptions;
use fpdb_host::clock;
use fpdb_kernel::document::{Modified, Offsets};
use fpdb_reading::input::{About, FileFacts};
use fpdb_store::{DocumentRecord, TextCounts, TextView};

/// The time of a file is not trusted if the file was written less than this number of seconds before its
/// facts were read. The file could change again and keep the same time, because file systems count in steps
/// of up to two seconds.
const UNTRUSTED_SECONDS: i64 = 3;

/// The record of a document that was read. Of its `fingerprints`, `of_text` are those of the text as written;
/// the others are those of the structure.
pub(crate) fn record_of(about: About, read: &ReadDocument, (fingerprints, of_text): (u64, u64)) -> DocumentRecord {
    let (source, modified) = origin_of(&about);
    let facts = &read.facts;
    DocumentRecord {
        name: about.name,
        source,
        bytes: facts.text.bytes,
        modified,
        digest: read.digest,
        encoding: facts.text.encoding.to_owned(),
        undecodable: facts.text.undecodable,
        lines: facts.text.lines,
        symbols: facts.symbols,
        kgrams: facts.kgrams,
        fingerprints,
        // Repeated hashes are subtracted once the postings are sorted.
        distinct: fingerprints,
        ingested_at: clock::now(),
        member: about.member,
        format: read.format.name().to_owned(),
        extracted: facts.offsets == Offsets::Extracted,
        metadata: about.metadata,
        boilerplate: read.boilerplate,
        stored_text: read.stored_text,
        text_view: TextView(facts.text_view.map(|text| TextCounts {
            symbols: text.symbols,
            kgrams: text.kgrams,
            fingerprints: of_text,
            distinct: of_text,
        })),
    }
}

/// The file and the time of a document. The time is `None` if it is that of a file and is not trusted. The
/// time of a member need not be trusted, because the time and size of the archive's file show whether the
/// archive has changed.
pub(super) fn origin_of(about: &About) -> (Option<String>, Option<(i64, u32)>) {
    let Some(file) = &about.file else { return (None, None) };
    let own = about.modified.map(|modified| (modified.seconds, modified.nanoseconds));
    (Some(file.source.clone()), own.or_else(|| trusted_mtime(file)))
}

/// The new metadata of a stored document that was found again as `name` with metadata `found`. A row of a
/// table replaces all metadata. Otherwise stored values stay if `found` does not have their names.
pub(super) fn metadata_after(
    stored: &[(String, String)],
    (name, source, member): (&str, Option<&str>, Option<&str>),
    mut found: Vec<(String, String)>,
    options: &IngestOptions,
) -> Vec<(String, String)> {
    if !options.metadata.as_ref().is_some_and(|table| table.names(name, source, member)) {
        let is_said = |name: &String| found.iter().any(|(known, _)| known == name);
        let unsaid: Vec<_> = stored.iter().filter(|(name, _)| !is_said(name)).cloned().collect();
        found.extend(unsaid);
    }
    found
}

/// True for an empty file or member of an archive: many are empty on purpose, such as `__init__.py`. False
/// for an empty record or an empty document from memory.
pub(crate) fn is_empty_file(record: &DocumentRecord) -> bool {
    let part = record.member.as_deref().unwrap_or_default().rsplit('!').next().unwrap_or_default();
    record.bytes == 0 && record.source.is_some() && !part.contains(':')
}

/// The time of a file, if it is old enough to be trusted: see [`UNTRUSTED_SECONDS`].
pub(super) fn trusted_mtime(file: &FileFacts) -> Option<(i64, u32)> {
    let is_trusted = |modified: &Modified| modified.seconds < file.observed_at - UNTRUSTED_SECONDS;
    file.modified.filter(is_trusted).map(|modified| (modified.seconds, modified.nanoseconds))
}

//! Record: what is kept of a document beside its fingerprints.

use super::messages::ReadDocument;
use super::options::IngestOptions;
use fpdb_host::clock;
use fpdb_kernel::document::{Modified, Offsets};
use fpdb_reading::input::{About, FileFacts};
use fpdb_store::DocumentRecord;

/// A file written to this shortly before it was looked at could be written to again without its time changing:
/// file systems count time in steps of up to two seconds.
const UNTRUSTED_SECONDS: i64 = 3;

/// The record of a document that has been read, and of which so many fingerprints have been taken.
pub(crate) fn record_of(about: About, read: &ReadDocument, fingerprints: u64, boilerplate: bool) -> DocumentRecord {
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
        boilerplate,
        stored_text: read.stored_text,
    }
}

/// Where a document was read from, and when that was written, where it can vouch for the content.
pub(super) fn origin_of(about: &About) -> (Option<String>, Option<(i64, u32)>) {
    let Some(file) = &about.file else { return (None, None) };
    (Some(file.source.clone()), trusted_mtime(file))
}

/// The metadata of a stored document that has been found again as `name`, with this metadata. A table that names it says all of it.
/// Otherwise what was said before under other names stays: to say nothing of a document is not to take back what was said.
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

/// When a file was written, where it can vouch for the content.
pub(super) fn trusted_mtime(file: &FileFacts) -> Option<(i64, u32)> {
    let is_trusted = |modified: &Modified| modified.seconds < file.observed_at - UNTRUSTED_SECONDS;
    file.modified.filter(is_trusted).map(|modified| (modified.seconds, modified.nanoseconds))
}

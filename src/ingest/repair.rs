//! Repair: reads documents with damaged fingerprints again, if their text is unchanged.

use super::fingerprinters::Fingerprinters;
use crate::query::stored_place;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fpdb_host::error::{Error, Result, StoreFailure};
use fpdb_host::progress::Task;
use fpdb_host::stop::StopToken;
use fpdb_kernel::columns::Fingerprints;
use fpdb_kernel::document::{Format, Offsets};
use fpdb_reading::fingerprint::{DocumentFacts, Fingerprinter};
use fpdb_reading::input::{ContainerBatch, ReadOptions, Reader};
use fpdb_store::{
    DocumentRecord, Repair, RepairStart, Repairing, StoreOptions, TextCounts, TextView, Verification, decompress,
    text_chunks,
};

/// Rebuilds the damaged database at `root`, as far as possible. With `give_up_missing`, gives up the
/// documents of needed files that are missing.
///
/// # Errors
/// [`Error::SourcesMissing`] if a needed file is missing and `give_up_missing` is false. The database is
/// unchanged.
pub(crate) fn repair(
    root: &Path,
    options: &StoreOptions,
    give_up_missing: bool,
    task: &Task<'_>,
) -> Result<Verification> {
    let mut repairing = match Repairing::begin(root, options, task)? {
        RepairStart::Whole(now) => return Ok(now.repaired(Repair::default())),
        RepairStart::Damaged(repairing) => repairing,
    };
    if !give_up_missing && let Err(error) = check_sources(root, &repairing) {
        repairing.abandon()?;
        return Err(error);
    }
    repairing.copy_whole(task)?;
    let limits = ReadOptions::default().limits;
    let mut fingerprinters = Fingerprinters::new(repairing.profile(), &limits);
    let mut reader = Reader::new(limits);
    let damaged = repairing.damaged_documents();
    let (mut batch, mut expected) = (ContainerBatch::default(), 0);
    for (done, &id) in (1..).zip(&damaged) {
        if expected < done {
            (batch, expected) = expect(&repairing, &damaged, done)?;
        }
        let record = repairing.read_record(id)?;
        let fingerprinter = fingerprinters.of(record.boilerplate);
        match read_again(&mut repairing, (&mut reader, &mut batch), fingerprinter, id, &record)? {
            Ok(now) => repairing.keep(now, record.stored_text)?,
            Err(reason) => repairing.lose(record, reason)?,
        }
        task.step("documents read again", done, damaged.len() as u64)?;
    }
    repairing.finish(task)
}

/// Fails if a needed file cannot be opened now, because its disk may not be mounted.
fn check_sources(root: &Path, repairing: &Repairing) -> Result<()> {
    let (mut documents, mut first, mut last) = (0, None, (String::new(), false));
    for id in repairing.damaged_documents() {
        let record = repairing.record(id)?;
        let Some(source) = record.source.as_deref().filter(|_| stored_place(&record).is_some()) else { continue };
        // The members of a container come one after the other.
        if last.0 != source {
            // A pipe in the place of the file is not opened: that would wait for a writer.
            last = (source.to_owned(), !Path::new(source).is_file() || File::open(source).is_err());
        }
        if last.1 && !repairing.has_text(id, &record)? {
            documents += 1;
            first.get_or_insert_with(|| PathBuf::from(source));
        }
    }
    first.map_or(Ok(()), |source| Err(Error::SourcesMissing { path: root.to_owned(), documents, source_path: source }))
}

/// Chooses the damaged documents to read in one pass of a container, as far as memory allows. Returns these
/// documents, and the number of the last one. Numbers count from 1, and the first document chosen is number
/// `first`.
fn expect(repairing: &Repairing, damaged: &[u32], first: u64) -> Result<(ContainerBatch, u64)> {
    let mut batch = ContainerBatch::default();
    let mut last = first;
    for (number, &id) in (1..).zip(damaged).skip(usize::try_from(first - 1).unwrap_or(usize::MAX)) {
        let record = repairing.record(id)?;
        if stored_place(&record).is_some_and(|place| !batch.expect(place)) {
            break;
        }
        last = number;
    }
    Ok((batch, last))
}

/// Writes the fingerprints of a document and returns its new record, or the reason why its text is
/// unavailable.
fn read_again(
    repairing: &mut Repairing,
    (reader, batch): (&mut Reader, &mut ContainerBatch),
    fingerprinter: &mut Fingerprinter,
    id: u32,
    record: &DocumentRecord,
) -> Result<std::result::Result<DocumentRecord, String>> {
    fingerprinter.begin(Format::named(&record.format).unwrap_or_default());
    if repairing.has_text(id, record)? {
        return take_stored(repairing, fingerprinter, id, record);
    }
    let record = &DocumentRecord { stored_text: false, ..record.clone() };
    let Some(place) = stored_place(record) else { return Ok(Err("it was not read from a file".into())) };
    // The size of the container has no limit here, because the document would otherwise be lost.
    let candidate = match batch.document(place, &ReadOptions::default(), u64::MAX, &StopToken::new()) {
        Ok(candidate) => candidate,
        Err(error) if ends_repair(&error, place.source) => {
            // The batch shares the error among the members of a container.
            *batch = ContainerBatch::default();
            return Err(Arc::into_inner(error).unwrap_or(Error::Stopped));
        }
        Err(error) => return Ok(Err(error.chain())),
    };
    let mut fingerprints = Fingerprints::new();
    // An error of the store ends the repair.
    let mut store_failed = false;
    let digest = reader.read(&candidate, &StopToken::new(), &|_| {}, &mut |bytes| {
        fingerprinter.feed(bytes, &mut fingerprints);
        let taken = repairing.take(&fingerprints);
        store_failed = taken.is_err();
        fingerprints.clear();
        taken
    });
    // The fingerprinter is finished even after an error, to be ready for the next document.
    let facts = fingerprinter.finish(&mut fingerprints);
    let facts = match digest.map(|digest| (digest == record.digest, facts)) {
        Ok((true, Ok(facts))) => facts,
        Ok((false, _)) => return Ok(Err(format!("{} has changed since it was read", place.source))),
        Ok((true, Err(error))) | Err(error) if store_failed || ends_repair(&error, place.source) => return Err(error),
        Ok((true, Err(error))) | Err(error) => return Ok(Err(error.chain())),
    };
    repairing.take(&fingerprints)?;
    Ok(Ok(record_again(record, &facts)))
}

/// True if an error says nothing about the document in the file `source`: the system refused something, or
/// the folder for temporary files is missing. Another repair may succeed. Any other error loses the document.
fn ends_repair(error: &Error, source: &str) -> bool {
    let is_refusal = |cause| StoreFailure::of_io(cause).is_refusal();
    match error {
        // A file that may not be read counts as missing, as in [`check_sources`].
        Error::Io { path, source: cause, .. } if path == Path::new(source) => {
            is_refusal(cause) && StoreFailure::of_io(cause) != StoreFailure::PermissionDenied
        }
        Error::System { source: cause, .. } => is_refusal(cause),
        Error::Io { .. } | Error::Threads { .. } | Error::Stopped => true,
        _ => false,
    }
}

/// Like [`read_again`], but from the stored text.
fn take_stored(
    repairing: &mut Repairing,
    fingerprinter: &mut Fingerprinter,
    id: u32,
    record: &DocumentRecord,
) -> Result<std::result::Result<DocumentRecord, String>> {
    let mut fingerprints = Fingerprints::new();
    for chunk in 0..text_chunks(record.bytes) {
        let chunk = repairing.stored_chunk(id, chunk)?;
        // The stored text was checked before and is intact.
        fingerprinter.feed(&decompress(&chunk).unwrap_or_default(), &mut fingerprints);
        repairing.take(&fingerprints)?;
        fingerprints.clear();
        repairing.take_text(chunk)?;
    }
    Ok(match fingerprinter.finish(&mut fingerprints) {
        Ok(facts) => {
            repairing.take(&fingerprints)?;
            Ok(record_again(record, &facts))
        }
        Err(error) if ends_repair(&error, "") => return Err(error),
        Err(error) => Err(error.chain()),
    })
}

fn record_again(record: &DocumentRecord, facts: &DocumentFacts) -> DocumentRecord {
    DocumentRecord {
        encoding: facts.text.encoding.to_owned(),
        undecodable: facts.text.undecodable,
        lines: facts.text.lines,
        symbols: facts.symbols,
        kgrams: facts.kgrams,
        extracted: facts.offsets == Offsets::Extracted,
        // The store counts the fingerprints of the text as written.
        text_view: TextView(facts.text_view.map(|text| TextCounts {
            symbols: text.symbols,
            kgrams: text.kgrams,
            ..TextCounts::default()
        })),
        ..record.clone()
    }
}

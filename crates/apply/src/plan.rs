//! Plan: lists the files that documents of the database come from, and the documents to check in each.

use std::collections::HashMap;

use bytemuck::{Pod, Zeroable};
use xxhash_rust::xxh3::xxh3_64;

use super::log_lines::SEVERAL_FIELDS;
use super::passages::Passages;
use super::report::{Identity, ParsedReport, ReportedPair};
use crate::stored::StoredDocuments;
use fpdb_host::error::{Error, Result};
use fpdb_host::progress::{Task, is_due};
use fpdb_host::spill::{Sorter, TempSpace};
use fpdb_kernel::document::{Digest, Format};
use fpdb_reading::input::{CLOSED, may_be_attached, member_today, parts_of};

/// A file that documents come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceFile {
    /// Absolute path of the file.
    pub(super) path: String,
    /// The prefix of its documents' names.
    pub(super) name: String,
    /// Other such prefixes. A merge can bring documents that were read from this file under another name.
    pub(super) other_names: Vec<String>,
    /// True if an ingest by this version of fpdb would give one of its members another name.
    pub(super) old_members: bool,
    /// The way in which the file was read.
    pub(super) reading: SourceReading,
    /// True if attachments of mails may be among its documents.
    pub(super) attachments: bool,
    /// True if one of its documents is a mail.
    pub(super) mail: bool,
    /// The facts of the file at the last ingest that added a document of it: the size, if this document is
    /// the whole file, and the time. `None` if no document tells the time.
    pub(super) ingested: Option<(Option<u64>, (i64, u32))>,
    /// Number of documents in the database that come from this file.
    pub(super) documents: u64,
}

impl SourceFile {
    /// A file without documents in the database.
    pub(super) fn unknown(path: String, reading: SourceReading) -> Self {
        Self::new(path, String::new(), reading, true)
    }

    fn new(path: String, name: String, reading: SourceReading, attachments: bool) -> Self {
        Self {
            path,
            name,
            other_names: Vec::new(),
            old_members: false,
            reading,
            attachments,
            mail: false,
            ingested: None,
            documents: 0,
        }
    }

    /// True if a document can be in the database twice, under two names.
    pub(super) fn has_other_names(&self) -> bool {
        self.old_members || !self.other_names.is_empty()
    }

    /// The names that the document with this suffix may have, with those that an ingest would give it now.
    pub(super) fn names_of(&self, suffix: &str) -> impl Iterator<Item = String> {
        let today = member_today(&self.path, suffix);
        let suffixes = std::iter::once(suffix).chain((today != suffix).then_some(&*today));
        let names = suffixes.flat_map(|suffix| {
            let names = std::iter::once(&self.name).chain(&self.other_names);
            names.map(move |name| format!("{name}{suffix}"))
        });
        names.collect::<Vec<_>>().into_iter()
    }
}

/// The way in which a file was read when its documents were ingested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SourceReading {
    /// As one document, compressed or not.
    Whole,
    /// As its raw bytes, although it is a container or compressed.
    Closed,
    /// As a container of members. The value is the field of records that holds the text; `None` for the
    /// default field.
    Members(Option<String>),
    /// In several of these ways. Also a mail that was read as a document with attachments.
    Mixed,
}

impl SourceReading {
    /// The field to record in the log. With it, a copy can be read even if the database no longer has the
    /// file.
    pub(super) fn text_field(&self) -> Option<&str> {
        match self {
            Self::Members(field) => field.as_deref(),
            Self::Mixed => Some(SEVERAL_FIELDS),
            Self::Whole | Self::Closed => None,
        }
    }
}

/// A document to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct PlannedDocument {
    /// Index of its file.
    pub(super) source: u32,
    pub(super) id: u32,
    /// Hash of the part of its name after the name of the file, as an ingest would name this part now.
    pub(super) suffix: u64,
    /// The survivor of the document, or its own id if the document is a survivor.
    pub(super) keep: u32,
    _unused: u32,
    pub(super) digest: [u64; 2],
}

impl PlannedDocument {
    pub(super) fn new(source: u32, id: u32, keep: u32, digest: &Digest, suffix: &str) -> Self {
        let (high, low) = digest.split_at(8);
        let word = |bytes: &[u8]| bytes.iter().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
        Self { source, id, suffix: xxh3_64(suffix.as_bytes()), keep, _unused: 0, digest: [word(high), word(low)] }
    }

    pub(super) fn is_removable(&self) -> bool {
        self.keep != self.id
    }

    /// The hash of its suffix, and its digest. Members of a file can have one suffix.
    pub(super) fn identity(&self) -> (u64, Digest) {
        (self.suffix, self.digest())
    }

    pub(super) fn digest(&self) -> Digest {
        let mut digest = [0; 16];
        digest[..8].copy_from_slice(&self.digest[0].to_be_bytes());
        digest[8..].copy_from_slice(&self.digest[1].to_be_bytes());
        digest
    }
}

/// The part of a document's name after the name of its file, and how the file was read.
pub(super) fn place_in_file<'n>(name: &'n str, member: Option<&'n str>) -> (&'n str, SourceReading) {
    match member {
        None => ("", SourceReading::Whole),
        Some(CLOSED) => ("", SourceReading::Closed),
        Some(member) => {
            let (suffix, field) = parts_of(name, member);
            (suffix, SourceReading::Members(field.map(str::to_owned)))
        }
    }
}

/// Calls `visit` with the index of each file that has documents to check, and with these documents in order
/// of identity.
pub(super) fn for_each_file(
    documents: Sorter<'_, PlannedDocument>,
    visit: &mut dyn FnMut(usize, &[PlannedDocument]) -> Result<()>,
) -> Result<()> {
    let mut documents = documents.sorted()?.peekable();
    let mut of_file: Vec<PlannedDocument> = Vec::new();
    while let Some(document) = documents.next().transpose()? {
        of_file.push(document);
        // If the next item is an error, the error is reported when the loop takes the item.
        let ends = documents.peek().is_none_or(|next| next.as_ref().is_ok_and(|next| next.source != document.source));
        if ends {
            of_file.sort_unstable_by_key(PlannedDocument::identity);
            visit(document.source as usize, &of_file)?;
            of_file.clear();
        }
    }
    Ok(())
}

/// All files, and the documents to check in the order of files.
pub(super) struct ApplyPlan<'a> {
    pub(super) sources: Vec<SourceFile>,
    pub(super) entries: Sorter<'a, PlannedDocument>,
    /// Number of removable documents that the database does not hold, or holds without a file.
    pub(super) missing: u64,
    /// Number of documents of the report that have another name now.
    pub(super) renamed: u64,
}

impl<'a> ApplyPlan<'a> {
    pub(super) fn of(
        stored: &dyn StoredDocuments,
        report: ParsedReport<'a>,
        passages: Option<&Passages>,
        temp: &'a TempSpace,
        task: &Task<'_>,
    ) -> Result<Self> {
        let ParsedReport { path, removed, survivors, pairs, kept, .. } = report;
        let mut kept = kept.sorted()?.peekable();
        let mut pairs = pairs.sorted()?.peekable();
        let mut sources: Vec<SourceFile> = Vec::new();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut entries = Sorter::new(temp, stored.memory() / 4);
        let (mut seen, mut done, mut renamed) = (0, 0, 0);
        stored.for_each(&mut |id, record| {
            done += 1;
            if is_due(done) {
                task.step("documents looked up", done, 0)?;
            }
            let (mut pair, mut identity): (Option<ReportedPair>, _) = (None, None);
            let mut unlike: Option<Identity> = None;
            let mut compare = |identity: Identity| {
                unlike = unlike.or(Some(identity).filter(|identity| !identity.fits(&record)));
            };
            // A document can be in the report and in a list. Its last pair then comes from the list and has
            // no survivor.
            while let Some(next) = pairs.next_if(|next| next.as_ref().map_or(true, |next| next.remove <= id)) {
                pair = Some(next?).filter(|next| next.remove == id);
                pair.iter().for_each(|pair| compare(pair.identity));
            }
            while let Some(next) = kept.next_if(|next| next.as_ref().map_or(true, |next| next.id <= id)) {
                let next = next?;
                if next.id == id {
                    compare(next.identity);
                    identity = Some(next.identity);
                }
            }
            let identity = identity.or(pair.map(|pair| pair.identity));
            renamed += u64::from(identity.is_some_and(|identity| identity.is_renamed(&record)));
            if let Some(unlike) = unlike {
                let what = match unlike.is_by_name() {
                    true => "name: a report without digests tells documents by their names",
                    false => "content: the report is of another one",
                };
                let detail = format!("document {id} of this database has another {what}");
                return Err(Error::NotADedupReport { path: path.clone(), line: 1, detail });
            }
            if passages.is_some_and(|passages| passages.end(id) > record.bytes) {
                let detail = format!("a passage ends beyond its document, {}", record.name);
                return Err(Error::NotADedupReport { path: path.clone(), line: 1, detail });
            }
            let Some(source) = record.source else { return Ok(()) };
            let (suffix, reading) = place_in_file(&record.name, record.member.as_deref());
            let name = record.name.strip_suffix(suffix).unwrap_or(&record.name);
            let number = match numbers.get(&source) {
                Some(&number) => number,
                None => {
                    let number = u32::try_from(sources.len()).unwrap_or(u32::MAX);
                    sources.push(SourceFile::new(source.clone(), name.to_owned(), reading.clone(), false));
                    numbers.insert(source, number);
                    number
                }
            };
            let known = &mut sources[number as usize];
            known.documents += 1;
            known.mail |= record.format == Format::Mail.name();
            if known.name != name && known.other_names.iter().all(|other| other != name) {
                known.other_names.push(name.to_owned());
            }
            known.attachments |= may_be_attached(&known.path, suffix);
            // Members of archives have times of their own.
            if let Some(modified) = record.modified.filter(|_| !suffix.contains('!')) {
                known.ingested = Some((suffix.is_empty().then_some(record.bytes), modified));
            }
            let today = member_today(&known.path, suffix);
            known.old_members |= today != suffix;
            if known.reading != reading {
                known.reading = SourceReading::Mixed;
            }
            if pair.is_some() || survivors.contains(id) {
                seen += u64::from(pair.is_some());
                let keep = pair.map_or(id, |pair| pair.keep);
                entries.push(PlannedDocument::new(number, id, keep, &record.digest, &today))?;
            }
            Ok(())
        })?;
        Ok(Self { sources, entries, missing: removed.len() - seen, renamed })
    }
}

//! Scan: finds the concerned documents in one file, with their digests and places. The *suffix* of a document
//! is the part of its name after the name of the file.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::thread::JoinHandle;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use super::judged::Judging;
use super::plan::PlannedDocument;
use fpdb_host::threads;
use fpdb_kernel::document::Digest;
use fpdb_kernel::profile::Unit;
use fpdb_reading::input::{Candidate, Container, Content, Extents, Hint, ReadAs, WalkEvent, format_of};
use fpdb_reading::recognise::FORMAT_HEAD;

/// The documents of a member, which leave together or stay together: a mail and its attachments, or one
/// document with a content that is looked for.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) at: Range<u64>,
    /// Their suffixes, that of the mail first, and their digests as far as they are known.
    pub(super) documents: Vec<(String, Option<Digest>)>,
}

/// A member of a tar or crawl. Who unpacks a tar gets the last one of each name, and an ingest takes it.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) at: Range<u64>,
    pub(super) digest: Option<Digest>,
    /// True for a mail with attachments.
    pub(super) is_mail: bool,
}

/// A document that a scan found. Empty if the scan does not note all documents.
#[derive(Default)]
pub(super) struct FoundDocument {
    pub(super) suffix: String,
    hint: Hint,
    /// True if the document lies in another one, as an attachment in a mail.
    pub(super) is_attached: bool,
}

impl FoundDocument {
    /// True if an ingest skips or refuses a document that begins with `head`, because it is no text.
    pub(super) fn is_skipped(&self, head: &[u8], unit: Unit) -> bool {
        format_of(ReadAs::Auto, &self.hint, head, unit).is_err()
    }
}

/// A document whose digest another thread is computing.
struct Pending {
    suffix: u64,
    found: FoundDocument,
    /// The digest, and the first bytes of the document.
    digest: JoinHandle<Option<(Digest, Vec<u8>)>>,
}

/// A scan of one file.
#[derive(Default)]
pub(super) struct Scan<'a> {
    /// Ascending by identity.
    pub(super) entries: &'a [PlannedDocument],
    /// For each entry: true if a document with its suffix and digest was found.
    pub(super) found: Vec<bool>,
    /// True if it has a place in the file, and is not only in a container within the file.
    pub(super) placed: Vec<bool>,
    /// For suffixes of entries: the last digest found, if one of these entries does not have it.
    pub(super) others: FxHashMap<u64, Digest>,
    name: usize,
    pending: Option<Pending>,
    /// The contents to look for in all documents.
    looked_for: Option<&'a FxHashSet<Digest>>,
    /// Compares all documents with the database, if the file may not be as it was ingested.
    pub(super) judging: Option<Judging<'a>>,
    /// The suffixes and digests of the documents with a content in `looked_for`, except those in `groups`:
    /// they are in containers within the file.
    pub(super) kept_out: Vec<(String, Digest)>,
    /// The number of documents that could not be read, so their contents are not known.
    pub(super) unread: u64,
    /// The number of entries of the outermost container, also of those without documents.
    pub(super) members: u64,
    /// The places of other members with the identity of an entry, and the index of this entry.
    pub(super) places: Vec<(usize, Range<u64>)>,
    pub(super) needed: FxHashSet<u64>,
    pub(super) container: Option<(Container, u32)>,
    pub(super) whole: Option<Candidate>,
    /// The groups in which a document is concerned, or has a content that is looked for.
    pub(super) groups: Vec<Group>,
    /// The last document found that is not an attachment, and the documents found in it so far.
    documents: Vec<(String, Option<Digest>)>,
    /// The last document of each name in a tar or crawl, by the hash of its suffix: of the names that are
    /// concerned, or of all if contents are looked for.
    pub(super) versions: FxHashMap<u64, Version>,
    /// The earlier documents of such a name, by suffix.
    pub(super) hidden: BTreeMap<String, Vec<Version>>,
    /// The digests of all documents, if the caller wants these.
    pub(super) all: Option<FxHashSet<Digest>>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(entries: &'a [PlannedDocument], path: &str) -> Self {
        let (found, placed) = (vec![false; entries.len()], vec![false; entries.len()]);
        Self { entries, found, placed, name: path.len(), ..Self::default() }
    }

    /// The same scan, looking for these contents in all documents.
    pub(super) fn looking_for(self, contents: Option<&'a FxHashSet<Digest>>) -> Self {
        Self { looked_for: contents.filter(|contents| !contents.is_empty()), ..self }
    }

    /// The same scan, which also compares all documents with the database.
    pub(super) fn judging(self, judging: Option<Judging<'a>>) -> Self {
        Self { judging, ..self }
    }

    pub(super) fn looks_for_contents(&self) -> bool {
        self.looked_for.is_some()
    }

    /// A scan for the digests of all documents of a file.
    pub(super) fn of_all(path: &str) -> Self {
        Self { all: Some(FxHashSet::default()), ..Self::new(&[], path) }
    }

    /// The index of the first entry with this suffix and digest.
    pub(super) fn entry(&self, suffix: u64, digest: &Digest) -> Option<usize> {
        let wanted = (suffix, *digest);
        let at = self.entries.partition_point(|entry| entry.identity() < wanted);
        self.entries.get(at).filter(|entry| entry.identity() == wanted).map(|_| at)
    }

    /// The index of the first entry with this suffix, if there is one, or with a later one.
    fn first(&self, suffix: u64) -> usize {
        self.entries.partition_point(|entry| entry.suffix < suffix)
    }

    fn concerns(&self, suffix: u64) -> bool {
        self.all.is_some() || self.entries.get(self.first(suffix)).is_some_and(|entry| entry.suffix == suffix)
    }

    /// Notes a document whose digest is not known yet. A mail comes directly before its attachments.
    fn note_outer(&mut self, suffix: &str) {
        let inside = self.documents.first().and_then(|(outer, _)| suffix.strip_prefix(&**outer));
        if !inside.is_some_and(|inside| inside.starts_with('!')) {
            self.documents.clear();
        }
        self.documents.push((suffix.to_owned(), None));
    }

    /// Notes the place of a member. The last documents found are in this member. If it is not a document
    /// itself, it is a container, which may have the name of a document elsewhere in the file.
    pub(super) fn member(&mut self, suffix: &str, at: Range<u64>) {
        let documents = std::mem::take(&mut self.documents);
        let Some(&(_, digest)) = documents.first().filter(|(outer, _)| outer == suffix) else { return };
        let is_kept_out = |digest: Digest| self.looked_for.is_some_and(|contents| contents.contains(&digest));
        let kept_out = documents.iter().filter(|(_, digest)| digest.is_some_and(is_kept_out)).count();
        self.kept_out.truncate(self.kept_out.len() - kept_out);
        let is_mail = documents.len() > 1;
        let (can_hide, hash) =
            (matches!(self.container, Some((Container::Tar | Container::Warc, _))), xxh3_64(suffix.as_bytes()));
        if can_hide && (self.looks_for_contents() || self.concerns(hash)) {
            let version = Version { at: at.clone(), digest, is_mail };
            if let Some(earlier) = self.versions.insert(hash, version) {
                self.hidden.entry(suffix.to_owned()).or_default().push(earlier);
            }
        }
        let mut entry = None;
        for (suffix, digest) in &documents {
            entry = digest
                .and_then(|digest| self.entry(xxh3_64(suffix.as_bytes()), &digest))
                .inspect(|&at| self.placed[at] = true)
                .or(entry);
        }
        match entry {
            None if kept_out == 0 => {}
            Some(entry) if kept_out == 0 && !is_mail => self.places.push((entry, at)),
            _ => self.groups.push(Group { at, documents }),
        }
    }

    /// Takes the digest that another thread was computing.
    pub(super) fn finish_pending(&mut self) {
        if let Some(Pending { suffix, found, digest }) = self.pending.take() {
            match digest.join().ok().flatten() {
                Some((digest, head)) => {
                    self.note_found(found, digest, &head);
                    self.note(suffix, digest);
                }
                None => self.note_unread(&found.suffix),
            }
        }
    }

    /// Notes that a part of the file could not be read.
    fn note_unread(&mut self, suffix: &str) {
        self.unread += 1;
        if let Some(judging) = &mut self.judging {
            judging.note_unread(suffix);
        }
    }

    fn note_found(&mut self, found: FoundDocument, digest: Digest, head: &[u8]) {
        if let Some(judging) = &mut self.judging {
            judging.note(&found, &digest, head);
        }
        let FoundDocument { suffix, .. } = found;
        if self.looked_for.is_some_and(|contents| contents.contains(&digest)) {
            self.kept_out.push((suffix, digest));
        }
    }

    pub(super) fn note(&mut self, suffix: u64, digest: Digest) {
        if let Some(all) = &mut self.all {
            all.insert(digest);
            return;
        }
        if let Some((_, known)) = self.documents.last_mut() {
            *known = Some(digest);
        }
        let same = self.first(suffix)..self.entries.partition_point(|entry| entry.suffix <= suffix);
        let ([first, .., last] | [first @ last]) = &self.entries[same] else { return };
        match first.digest() == digest && last.digest() == digest {
            true => self.others.remove(&suffix),
            false => self.others.insert(suffix, digest),
        };
        if let Some(entry) = self.entry(suffix, &digest) {
            self.found[entry] = true;
        }
    }

    pub(super) fn found(&mut self, found: WalkEvent) {
        self.finish_pending();
        let Candidate { about, content } = match found {
            WalkEvent::Document(candidate) => candidate,
            WalkEvent::Failed { name, .. } => {
                self.note_unread(name.get(self.name..).unwrap_or_default());
                return;
            }
            _ => return,
        };
        let suffix = about.name.get(self.name..).unwrap_or_default();
        if self.all.is_none() {
            self.note_outer(suffix);
        }
        let notes_all = self.looked_for.is_some() || self.judging.is_some();
        let found = match notes_all {
            true => FoundDocument {
                suffix: suffix.to_owned(),
                hint: about.hint.clone(),
                is_attached: self.documents.len() > 1,
            },
            false => FoundDocument::default(),
        };
        let suffix = xxh3_64(suffix.as_bytes());
        match content {
            Content::File | Content::Compressed(_) => self.whole = Some(Candidate { about, content }),
            _ if !self.concerns(suffix) && !notes_all => {}
            Content::Whole(bytes) => {
                let digest = xxh3_128(&bytes).to_be_bytes();
                self.note_found(found, digest, &bytes);
                self.note(suffix, digest);
            }
            // This thread sends the pieces, so another one must receive them.
            Content::Pieces(pieces) => {
                let take = move || {
                    let (mut digest, mut head) = (Xxh3::new(), None);
                    while let Some(piece) = pieces.receive().ok()? {
                        digest.update(&piece);
                        head.get_or_insert_with(|| piece[..piece.len().min(FORMAT_HEAD)].to_vec());
                    }
                    Some((digest.digest128().to_be_bytes(), head.unwrap_or_default()))
                };
                // If no thread can start, the digest is missing and the document counts as changed.
                let digest = threads::start("digest", take).ok();
                self.pending = digest.map(|digest| Pending { suffix, found, digest });
            }
            Content::Temporary(_) | Content::Pipe(_) => {}
        }
    }
}

/// Records the places of members.
pub(super) struct Places<'s, 'a>(pub(super) &'s RefCell<Scan<'a>>);

impl Extents for Places<'_, '_> {
    fn container(&mut self, container: Container, depth: u32) {
        self.0.borrow_mut().container.get_or_insert((container, depth));
    }

    fn entry(&mut self) {
        self.0.borrow_mut().members += 1;
    }

    fn member(&mut self, suffix: &str, at: Range<u64>) {
        let mut scan = self.0.borrow_mut();
        // All bytes of the member have been sent.
        scan.finish_pending();
        scan.member(suffix, at);
    }

    fn needed(&mut self, suffix: &str) {
        self.0.borrow_mut().needed.insert(xxh3_64(suffix.as_bytes()));
    }
}

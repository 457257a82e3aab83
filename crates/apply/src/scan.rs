//! Scan: finds the concerned documents in one file, with their digests and places. The *suffix* of a document
//! is the part of its name after the name of the file.

use std::cell::RefCell;
use std::ops::Range;
use std::thread::JoinHandle;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use super::judged::Judging;
use super::kept_out::KeptOutRecord;
use super::plan::PlannedDocument;
use fpdb_host::threads;
use fpdb_kernel::document::Digest;
use fpdb_kernel::profile::Unit;
use fpdb_reading::input::{Candidate, Container, Content, Extents, Hint, ReadAs, WalkEvent, format_of};
use fpdb_reading::recognise::FORMAT_HEAD;

/// A mail and its attachments that are documents, if one of them is removable. They are left out together, or
/// stay together.
#[derive(Debug)]
pub(super) struct WholeMail {
    /// The place of the mail in the file.
    pub(super) at: Range<u64>,
    /// Hashes of the suffixes of the removable documents.
    pub(super) removable: Vec<u64>,
    /// The suffixes of the other documents that were found. The database may not hold them.
    pub(super) others: Vec<String>,
    /// True if the mail itself is removable, or has a content that is looked for. Nothing justifies the
    /// removal of any other mail.
    pub(super) may_go: bool,
}

/// The last document found that is not an attachment, and the documents found in it so far.
#[derive(Default)]
struct Outer {
    suffix: String,
    removable: Vec<u64>,
    others: Vec<String>,
    /// The suffixes of all these documents, if the scan looks for contents.
    all: Vec<String>,
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
pub(super) struct Scan<'a> {
    /// Ascending by suffix.
    pub(super) entries: &'a [PlannedDocument],
    name: usize,
    pending: Option<Pending>,
    /// The contents to look for in all documents.
    looked_for: Option<&'a FxHashSet<Digest>>,
    /// Compares all documents with the database, if the file may not be as it was ingested.
    pub(super) judging: Option<Judging<'a>>,
    /// The documents with a content in `looked_for`. The first `before` of them lie before the member that is
    /// being read.
    pub(super) kept_out: Vec<KeptOutRecord>,
    before: usize,
    /// The number of documents that could not be read, so their contents are not known.
    pub(super) unread: u64,
    /// The number of entries of the outermost container, also of those without documents.
    pub(super) members: u64,
    /// The concerned documents by the hash of the suffix, with their last digests once they are found.
    digests: FxHashMap<u64, Option<Digest>>,
    /// Suffixes that several different members share.
    pub(super) ambiguous: FxHashSet<u64>,
    /// Places of the concerned members.
    pub(super) places: Vec<(u64, Range<u64>)>,
    pub(super) needed: FxHashSet<u64>,
    pub(super) container: Option<(Container, u32)>,
    pub(super) whole: Option<Candidate>,
    /// The mails with attachments and a removable document.
    pub(super) mails: Vec<WholeMail>,
    outer: Outer,
    /// The digests of all documents, if the caller wants these.
    pub(super) all: Option<FxHashSet<Digest>>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(entries: &'a [PlannedDocument], path: &str) -> Self {
        Self {
            entries,
            name: path.len(),
            pending: None,
            looked_for: None,
            judging: None,
            kept_out: Vec::new(),
            before: 0,
            unread: 0,
            members: 0,
            digests: entries.iter().map(|entry| (entry.suffix, None)).collect(),
            ambiguous: FxHashSet::default(),
            places: Vec::new(),
            needed: FxHashSet::default(),
            container: None,
            whole: None,
            mails: Vec::new(),
            outer: Outer::default(),
            all: None,
        }
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

    /// The last digest of a concerned document, if it was found.
    pub(super) fn digest(&self, suffix: u64) -> Option<Digest> {
        self.digests.get(&suffix).copied().flatten()
    }

    fn concerns(&self, suffix: u64) -> bool {
        self.all.is_some() || self.digests.contains_key(&suffix)
    }

    /// Notes the place of a member. `is_document` is false for a container, which may have the name of a
    /// document elsewhere in the file.
    fn place(&mut self, suffix: &str, at: Range<u64>, is_document: bool) {
        let hash = xxh3_64(suffix.as_bytes());
        if is_document && self.concerns(hash) {
            self.places.push((hash, at.clone()));
        }
        if let Some(record) = self.kept_out[self.before..].iter_mut().find(|record| record.suffix == suffix) {
            record.place = Some(at);
        }
        self.before = self.kept_out.len();
    }

    fn is_removable(&self, suffix: u64) -> bool {
        let at = self.entries.partition_point(|entry| entry.suffix < suffix);
        self.entries[at..].iter().take_while(|entry| entry.suffix == suffix).any(PlannedDocument::is_removable)
    }

    /// Notes a document. A mail comes directly before its attachments.
    fn note_outer(&mut self, suffix: &str) {
        let is_first = self.outer.removable.is_empty() && self.outer.others.is_empty();
        let inside = suffix.strip_prefix(&self.outer.suffix).filter(|_| !is_first);
        if !inside.is_some_and(|inside| inside.starts_with('!')) {
            self.outer.suffix.clear();
            self.outer.suffix.push_str(suffix);
            self.outer.removable.clear();
            self.outer.others.clear();
            self.outer.all.clear();
        }
        if self.looked_for.is_some() {
            self.outer.all.push(suffix.to_owned());
        }
        let hash = xxh3_64(suffix.as_bytes());
        if self.is_removable(hash) {
            self.outer.removable.push(hash);
        } else {
            self.outer.others.push(suffix.to_owned());
        }
    }

    /// Notes that the member with this suffix ends. The last documents found are in this member. If the
    /// member is itself a document, it may be a mail with attachments. Returns true for a document.
    pub(super) fn end_member(&mut self, suffix: &str, at: Range<u64>) -> bool {
        let Outer { suffix: outer, removable, others, all } = std::mem::take(&mut self.outer);
        if outer == suffix {
            for record in &mut self.kept_out[self.before..] {
                match record.suffix == suffix {
                    true => record.inside.clone_from(&all),
                    false => record.mail = Some(at.clone()),
                }
            }
        }
        if outer == suffix && !removable.is_empty() && removable.len() + others.len() > 1 {
            let may_go = removable.contains(&xxh3_64(suffix.as_bytes()))
                || self.kept_out[self.before..].iter().any(|record| record.suffix == suffix);
            self.mails.push(WholeMail { at, removable, others, may_go });
        }
        outer == suffix
    }

    /// Takes the digest that another thread was computing.
    pub(super) fn finish_pending(&mut self) {
        if let Some(Pending { suffix, found, digest }) = self.pending.take() {
            match digest.join().ok().flatten() {
                Some((digest, head)) => {
                    self.note_found(found, digest, &head);
                    self.note(suffix, digest);
                }
                None => {
                    self.note_unread(&found.suffix);
                    let _ = self.digests.get_mut(&suffix).and_then(Option::take);
                }
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
            self.kept_out.push(KeptOutRecord { suffix, digest, place: None, mail: None, inside: Vec::new() });
        }
    }

    pub(super) fn note(&mut self, suffix: u64, digest: Digest) {
        if let Some(all) = &mut self.all {
            all.insert(digest);
            return;
        }
        if let Some(known) = self.digests.get_mut(&suffix)
            && known.replace(digest).is_some_and(|before| before != digest)
        {
            self.ambiguous.insert(suffix);
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
                is_attached: self.all.is_none() && self.outer.suffix != suffix,
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
        let is_document = scan.end_member(suffix, at.clone());
        scan.place(suffix, at, is_document);
    }

    fn needed(&mut self, suffix: &str) {
        self.0.borrow_mut().needed.insert(xxh3_64(suffix.as_bytes()));
    }
}

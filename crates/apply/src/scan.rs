//! Scan: finds the documents concerned in one file, with their digests and places.

use std::cell::RefCell;
use std::ops::Range;
use std::thread::JoinHandle;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use super::plan::PlannedDocument;
use fpdb_host::threads;
use fpdb_kernel::document::Digest;
use fpdb_reading::input::{Candidate, Container, Content, Extents, WalkEvent, next_piece};

/// A scan of one file.
pub(super) struct Scan<'a> {
    /// Ascending by suffix.
    pub(super) entries: &'a [PlannedDocument],
    name: usize,
    /// A document whose digest another thread is computing.
    pending: Option<(u64, JoinHandle<Option<Digest>>)>,
    /// The concerned documents by the hash of the suffix, with their last digests once they are found.
    digests: FxHashMap<u64, Option<Digest>>,
    /// Suffixes that several different members share.
    pub(super) ambiguous: FxHashSet<u64>,
    /// Places of the concerned members.
    pub(super) places: Vec<(u64, Range<u64>)>,
    pub(super) needed: FxHashSet<u64>,
    pub(super) container: Option<(Container, u32)>,
    pub(super) whole: Option<Candidate>,
    /// The digests of all documents, if they are wanted.
    pub(super) all: Option<FxHashSet<Digest>>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(entries: &'a [PlannedDocument], path: &str) -> Self {
        Self {
            entries,
            name: path.len(),
            pending: None,
            digests: entries.iter().map(|entry| (entry.suffix, None)).collect(),
            ambiguous: FxHashSet::default(),
            places: Vec::new(),
            needed: FxHashSet::default(),
            container: None,
            whole: None,
            all: None,
        }
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

    /// Takes the digest that another thread was computing.
    pub(super) fn finish_pending(&mut self) {
        if let Some((suffix, thread)) = self.pending.take() {
            match thread.join().ok().flatten() {
                Some(digest) => self.note(suffix, digest),
                None => _ = self.digests.get_mut(&suffix).and_then(Option::take),
            }
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
        let WalkEvent::Document(Candidate { about, content }) = found else { return };
        let suffix = xxh3_64(about.name.get(self.name..).unwrap_or_default().as_bytes());
        match content {
            Content::File | Content::Compressed(_) => self.whole = Some(Candidate { about, content }),
            _ if !self.concerns(suffix) => {}
            Content::Whole(bytes) => {
                self.note(suffix, xxh3_128(&bytes).to_be_bytes());
            }
            // This thread sends the pieces, so another one must receive them.
            Content::Pieces(pieces) => {
                let take = move || {
                    let mut digest = Xxh3::new();
                    while let Some(piece) = next_piece(&pieces).ok()? {
                        digest.update(&piece);
                    }
                    Some(digest.digest128().to_be_bytes())
                };
                // If no thread can start, the digest is missing and the document counts as changed.
                self.pending = threads::start("digest", take).ok().map(|thread| (suffix, thread));
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

    fn member(&mut self, suffix: &str, at: Range<u64>) {
        let mut scan = self.0.borrow_mut();
        let suffix = xxh3_64(suffix.as_bytes());
        if scan.concerns(suffix) {
            scan.places.push((suffix, at));
        }
    }

    fn needed(&mut self, suffix: &str) {
        self.0.borrow_mut().needed.insert(xxh3_64(suffix.as_bytes()));
    }
}

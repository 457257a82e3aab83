//! Judged: tells if a file is as it was ingested. A report judges only the contents that the database holds.
//! So a file with other contents is neither copied nor marked.

use std::cell::RefCell;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::check::Contents;
use super::files::Facts;
use super::plan::{PlannedDocument, SourceFile, SourceReading, place_in_file};
use super::scan::{FoundDocument, Scan};
use crate::stored::StoredContainer;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::Digest;
use fpdb_kernel::profile::Unit;
use fpdb_reading::input::PathFilter;

/// The version of a file, by its size and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileVersion {
    /// The version that was ingested.
    Ingested,
    /// Another version, maybe with the same contents.
    Other,
    /// The database does not know a size and time that would prove that the file is unchanged.
    Unknown {
        /// If size and time are those of the ingest: the number of the file's documents that were removed
        /// from the database. Otherwise 0.
        removed: u64,
    },
}

impl FileVersion {
    /// The reason to leave alone a file that was ingested in several ways; `None` if the file is unchanged.
    /// The documents of such a file cannot be compared, so only its size and time count.
    fn told_of_mixed(self) -> Option<String> {
        let changed = match self {
            Self::Ingested => return None,
            Self::Other => "has changed",
            Self::Unknown { .. } => "may have changed",
        };
        Some(format!("it {changed} since it was ingested, and it was ingested in several ways"))
    }
}

/// Returns true if the found document was ingested with its present content.
type IsJudged<'a> = &'a dyn Fn(&FoundDocument, &Digest) -> Result<bool>;

/// The members of a file that an ingest could not read, so that the database does not hold them. Each copy of
/// the file holds them too.
#[derive(Default)]
struct UnreadMembers {
    /// The members whose suffixes the database lists, by the hash of the suffix ([`UnreadMembers::key`]).
    listed: FxHashMap<u64, ListedMember>,
    /// The number of members whose suffixes the database does not list, minus those that still cannot be
    /// read.
    unlisted: u64,
    in_copy: bool,
}

/// The members with one key. Up to `listed` of them may be documents that the database does not hold.
#[derive(Default)]
struct ListedMember {
    listed: u64,
    /// The number of documents found with this key that the database does not hold.
    found: u64,
    /// The number of listed members that still cannot be read, so they are not found as documents.
    unread: u64,
}

impl UnreadMembers {
    fn key(&self, suffix: &str) -> u64 {
        if self.in_copy { without_numbers(suffix) } else { xxh3_64(suffix.as_bytes()) }
    }

    /// Notes a document that was not ingested with its present content. Returns false if the database lists
    /// no unread member with this suffix.
    fn note(&mut self, suffix: &str) -> bool {
        let key = self.key(suffix);
        self.listed.get_mut(&key).map(|member| member.found += 1).is_some()
    }

    fn note_unread(&mut self, suffix: &str) {
        let key = self.key(suffix);
        match self.listed.get_mut(&key) {
            Some(member) if member.unread < member.listed => member.unread += 1,
            _ => self.unlisted = self.unlisted.saturating_sub(1),
        }
    }

    /// The number of documents and unreadable members in excess of the listed members.
    fn unjudged(&self) -> u64 {
        self.listed.values().map(|member| (member.found + member.unread).saturating_sub(member.listed)).sum()
    }
}

/// A hash of a suffix without the numbers of records, because a copy numbers its records anew.
fn without_numbers(suffix: &str) -> u64 {
    let parts = suffix.split_inclusive(['#', ':']);
    xxh3_64(parts.map(|part| part.trim_start_matches(|at: char| at.is_ascii_digit())).collect::<String>().as_bytes())
}

/// Counts the documents of a file that are not as they were ingested.
pub(super) struct Judging<'a> {
    is_judged: IsJudged<'a>,
    unit: Unit,
    source: &'a SourceFile,
    /// The globs that an ingest of the file would use.
    filter: Option<PathFilter>,
    unread: UnreadMembers,
    seen: u64,
    /// The documents that are not as they were ingested, by the hash of the suffix. The value is the suffix,
    /// if the document may be one that was removed from the database. If two documents have the same suffix,
    /// the later one decides, as in an ingest.
    unjudged: FxHashMap<u64, Option<String>>,
    removed: u64,
    failed: Option<Error>,
}

impl<'a> Judging<'a> {
    /// Notes a document that begins with `head`. A document that was not ingested does not count in two
    /// cases: an ingest would skip it, because it is binary data or globs leave it out; or the ingest could
    /// not read it.
    pub(super) fn note(&mut self, found: &FoundDocument, digest: &Digest, head: &[u8]) {
        let is_judged = (self.is_judged)(found, digest);
        let is_ignored = || found.is_skipped(head, self.unit) || self.is_left_out(&found.suffix);
        if matches!(is_judged, Ok(false)) && (is_ignored() || self.unread.note(&found.suffix)) {
            return;
        }
        self.seen += 1;
        let hash = xxh3_64(found.suffix.as_bytes());
        match is_judged {
            Ok(true) => _ = self.unjudged.remove(&hash),
            Ok(false) => {
                let may_be_removed = (self.unjudged.len() as u64) < self.may_be_removed();
                self.unjudged.insert(hash, may_be_removed.then(|| found.suffix.clone()));
            }
            Err(error) => self.failed = Some(error),
        }
    }

    /// Notes a part that cannot be read.
    pub(super) fn note_unread(&mut self, suffix: &str) {
        self.unread.note_unread(suffix);
    }

    /// If there are more unjudged documents than this number, none of them is taken for a document that was
    /// removed from the database.
    fn may_be_removed(&self) -> u64 {
        if self.removed == 0 { 0 } else { self.removed.saturating_add(self.unread.unlisted) }
    }

    fn is_left_out(&self, suffix: &str) -> bool {
        let (path, name) = (Path::new(&self.source.path), Path::new(&self.source.name));
        !suffix.is_empty() && self.filter.as_ref().is_some_and(|filter| filter.leaves_out(path, name, suffix))
    }

    fn unjudged(self) -> Result<u64> {
        let unjudged = (self.unjudged.len() as u64).saturating_sub(self.unread.unlisted) + self.unread.unjudged();
        self.failed.map_or(Ok(unjudged), Err)
    }

    /// The reason to leave a file of this version alone; `None` if it is as it was ingested. `unread` is the
    /// number of its parts that cannot be read.
    fn told(self, version: FileVersion, unread: u64) -> Result<Option<String>> {
        let (source, seen) = (self.source, self.seen + self.unread.unjudged());
        let unjudged = self.unjudged()?;
        Ok(match (seen, unjudged) {
            // A part that cannot be read may be new.
            (_, 0) if unread > 0 && version == FileVersion::Other => {
                Some(format!("it may have changed since it was ingested: {unread} of its parts cannot be read"))
            }
            (0, _) => Some("it has changed since it was ingested: it holds no document now".into()),
            (_, 0) => None,
            (1, 1) if matches!(source.reading, SourceReading::Whole | SourceReading::Closed) => {
                Some("it has changed since it was ingested".into())
            }
            _ => Some(format!(
                "it is not as it was ingested: the database does not hold {unjudged} of its {seen} documents as they are now"
            )),
        })
    }
}

impl Contents<'_> {
    /// The [`Judging`] of a file of this version; `None` if the file is surely the one that was ingested.
    pub(super) fn judging<'j>(
        &self,
        source: &'j SourceFile,
        version: FileVersion,
        is_judged: IsJudged<'j>,
    ) -> Result<Option<Judging<'j>>> {
        if version == FileVersion::Ingested {
            return Ok(None);
        }
        let (unit, filter) = (self.stored.profile().unit(), self.stored.filter(&source.path)?);
        let removed = if let FileVersion::Unknown { removed } = version { removed } else { 0 };
        // In another version of the file, the listed suffixes may belong to other members.
        let unread = match version {
            FileVersion::Unknown { .. } => self.unread_members(source, false)?,
            _ => UnreadMembers::default(),
        };
        let unjudged = FxHashMap::default();
        Ok(Some(Judging { is_judged, unit, source, filter, unread, seen: 0, unjudged, removed, failed: None }))
    }

    fn unread_members(&self, source: &SourceFile, in_copy: bool) -> Result<UnreadMembers> {
        let mut members = UnreadMembers { in_copy, ..UnreadMembers::default() };
        let Some(container) = self.stored.container(&source.path)? else { return Ok(members) };
        members.unlisted = container.unread.saturating_sub(container.unread_suffixes.len() as u64);
        for suffix in &container.unread_suffixes {
            members.listed.entry(members.key(suffix)).or_default().listed += 1;
        }
        Ok(members)
    }

    /// The reason to leave a file of this version alone; `None` if it is as it was ingested. `unread` is the
    /// number of its parts that cannot be read.
    pub(super) fn told(
        &self,
        source: &SourceFile,
        judging: Option<Judging<'_>>,
        version: FileVersion,
        unread: u64,
    ) -> Result<Option<String>> {
        match judging {
            Some(_) if self.is_mixed(source) => Ok(version.told_of_mixed()),
            Some(mut judging) => {
                self.leave_removed(source, &mut judging)?;
                judging.told(version, unread)
            }
            None => Ok(None),
        }
    }

    /// Stops counting the documents whose names are not stored. Up to `removed` of them were removed from the
    /// database. The others are members that the ingest could not read and did not list.
    fn leave_removed(&self, source: &SourceFile, judging: &mut Judging<'_>) -> Result<()> {
        let all = judging.unjudged.len() as u64;
        if all <= judging.may_be_removed() {
            for (hash, suffix) in std::mem::take(&mut judging.unjudged) {
                if suffix.as_deref().map_or(Ok(true), |suffix| self.holds(source, suffix))? {
                    judging.unjudged.insert(hash, suffix);
                }
            }
            let left = all - judging.unjudged.len() as u64;
            let removed = left.min(judging.removed);
            judging.removed -= removed;
            judging.unread.unlisted -= left - removed;
        }
        Ok(())
    }

    /// The version of a file, by comparing its size and time with those of its ingest.
    pub(super) fn version(&self, source: &SourceFile, facts: &Facts) -> Result<FileVersion> {
        let now = facts.time();
        let is_same = |modified| if Some(modified) == now { FileVersion::Ingested } else { FileVersion::Other };
        if let Some((Some(bytes), modified)) = source.ingested
            && bytes == facts.bytes
            && is_same(modified) == FileVersion::Ingested
        {
            return Ok(FileVersion::Ingested);
        }
        Ok(match (self.stored.container(&source.path)?, source.ingested) {
            (Some(StoredContainer { bytes, modified: None, .. }), _) if bytes == 0 || bytes == facts.bytes => {
                FileVersion::Unknown { removed: 0 }
            }
            (None, None) => FileVersion::Unknown { removed: 0 },
            (Some(StoredContainer { bytes, modified: Some((modified, is_proven)), documents, .. }), _)
                if bytes == facts.bytes =>
            {
                let is_told = is_proven || source.ingested.is_some_and(|(_, told)| told == modified);
                match is_same(modified) {
                    version if is_told => version,
                    FileVersion::Ingested => {
                        FileVersion::Unknown { removed: documents.saturating_sub(source.documents) }
                    }
                    _ => FileVersion::Unknown { removed: 0 },
                }
            }
            // If a document of a container is renamed, the database forgets the container, but not the times
            // of its other documents.
            (None, Some((None, modified))) => is_same(modified),
            _ => FileVersion::Other,
        })
    }

    /// True if the found document was ingested with its present content, or this content is kept out.
    pub(super) fn is_judged(&self, source: &SourceFile, found: &FoundDocument, digest: &Digest) -> Result<bool> {
        let suffix = &*found.suffix;
        // A copy leaves out the members whose contents are kept out of the database, or names them.
        let is_kept_out = || !suffix.is_empty() && self.keeps_out(digest);
        // The search for contents that are kept out reads attachments too, even if they were not ingested.
        let is_ignored = || found.is_attached && !source.attachments && self.reads_attachments(source);
        // A document may have the content under an old name.
        let has_old_name = || Ok::<_, Error>(source.old_members && self.stored.holds(digest)?);
        Ok(is_kept_out() || is_ignored() || self.holds_content(source, suffix, digest)? || has_old_name()?)
    }

    /// Reads the copy of a file. Returns the digests of all documents in the copy, and the number of those
    /// that the database does not hold as documents of this file. A whole copy may also hold removed
    /// documents: `version` has their number.
    pub(super) fn in_copy(
        &self,
        copy: &Path,
        source: &SourceFile,
        version: FileVersion,
    ) -> Result<(FxHashSet<Digest>, u64)> {
        let path = copy.display().to_string();
        let names = RefCell::new(FxHashSet::default());
        // Records are renumbered in a copy, so contents are compared.
        let is_judged = |found: &FoundDocument, digest: &Digest| {
            let holds = self.stored.holds(digest)?;
            if holds {
                names.borrow_mut().insert(xxh3_64(found.suffix.as_bytes()));
            }
            Ok(holds)
        };
        let mut judging = self.judging(source, version, &is_judged)?;
        // Globs that name records use the record numbers of the file, and the copy has other numbers.
        if let Some(Judging { filter, unread, .. }) = &mut judging {
            *filter = filter.take().map(PathFilter::without_records);
            *unread = self.unread_members(source, true)?;
        }
        let scan = Scan::of_all(&path).judging(judging);
        let (scan, ..) = self.scan(copy, source, scan)?;
        let (mut unjudged, mut removed) = (0, 0);
        if let Some(mut judging) = scan.judging {
            removed = judging.removed;
            self.leave_removed(source, &mut judging)?;
            // Documents that `leave_removed` took for removed ones may be members that the ingest could not
            // read.
            let unread = judging.unread.unlisted.saturating_sub(judging.unjudged.len() as u64);
            removed = removed.min(judging.removed + unread);
            unjudged = judging.unjudged()?;
        }
        // The database may hold the content of a removed document in another file. So the documents in excess
        // of the stored and the removed ones of this file count too.
        let more = (names.borrow().len() as u64).saturating_sub(source.documents + removed);
        Ok((scan.all.unwrap_or_default(), unjudged + more))
    }

    /// True if the database holds the document of a file with this suffix, or may hold it under an old name.
    pub(super) fn holds(&self, source: &SourceFile, suffix: &str) -> Result<bool> {
        if source.old_members {
            return Ok(true);
        }
        for name in source.names_of(suffix) {
            for id in self.stored.named(&name)? {
                if self.stored.document(id)?.source.as_deref() == Some(source.path.as_str()) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// True if a document that is not removable has the place and content of `entry` under another name.
    pub(super) fn stays(
        &self,
        source: &SourceFile,
        entry: &PlannedDocument,
        removable: &FxHashSet<u32>,
    ) -> Result<bool> {
        if !source.has_other_names() {
            return Ok(false);
        }
        let record = self.stored.document(entry.id)?;
        let (suffix, _) = place_in_file(&record.name, record.member.as_deref());
        for name in source.names_of(suffix) {
            let other = self.stored.newest_version(&name, &record.digest, &mut |id| {
                let stays = !removable.contains(&id);
                Ok(stays && self.stored.document(id)?.source.as_deref() == Some(source.path.as_str()))
            })?;
            if other.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if a document with this digest is stored under the same name and from the same file.
    pub(super) fn is_current(&self, digest: &Digest, source: &SourceFile, entry: &PlannedDocument) -> Result<bool> {
        self.is_stored(source, &self.stored.document(entry.id)?.name, digest)
    }
}

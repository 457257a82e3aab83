//! Members: the ranges of a file that a copy leaves out. Tells which documents leave a file together, and
//! which earlier members of a tar leave with later ones of their names.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::check::{Contents, Looked};
use super::judged::RemovedFromFile;
use super::passages::{NO_DOCUMENT, NO_SURVIVOR, REMOVED};
use super::plan::{PlannedDocument, SourceFile};
use super::scan::{Group, Scan, Version};
use fpdb_host::error::Result;
use fpdb_reading::input::Container;

/// A range of a file to leave out, in the unit of `Members::extent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Cut {
    pub(super) start: u64,
    pub(super) end: u64,
    /// A document in this range. A mail and its attachments have the same range.
    pub(super) id: u32,
    /// The survivor of the document.
    pub(super) keep: u32,
}

impl Cut {
    pub(super) fn of(document: &PlannedDocument, at: &Range<u64>) -> Self {
        Self { start: at.start, end: at.end, id: document.id, keep: document.keep }
    }

    /// The survivor of the document; `None` if there is no document, or it has none.
    pub(super) fn survivor(&self) -> Option<u32> {
        (self.id != NO_DOCUMENT && self.keep != NO_SURVIVOR).then_some(self.keep)
    }

    /// True for a record whose content is kept out.
    pub(super) fn is_kept_out(&self) -> bool {
        self.id == NO_DOCUMENT && self.keep != REMOVED
    }

    /// True for a record that was removed from the database.
    pub(super) fn is_removed(&self) -> bool {
        self.id == NO_DOCUMENT && self.keep == REMOVED
    }
}

/// The cuts of one file, as a range in the cuts of all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CutRange {
    pub(super) start: u64,
    pub(super) count: u64,
}

/// The reason why documents of a mail stay.
const TOGETHER: &str =
    "some removable documents stay: a mail and its attachments stay together unless all are removable";

/// The reason why documents stay that hide earlier members of their names.
const HIDDEN: &str =
    "some removable documents stay: without them, earlier ones of their names that are not stored would come to light";

impl Contents<'_> {
    /// Adds cuts for documents that were removed from the database, and for groups of documents. A group
    /// leaves if its first document is removable, kept out or removed, and no other document stays. `goes`
    /// tells the entries that can leave.
    pub(super) fn leave_groups(
        &self,
        source: &SourceFile,
        scan: &Scan<'_>,
        (cuttable, goes, removed): (bool, &[bool], &RemovedFromFile),
        looked: &mut Looked,
    ) -> Result<()> {
        let can_leave = |suffix: u64| cuttable && !scan.needed.contains(&suffix);
        let mut removed_left = 0;
        for (suffix, at) in &scan.removed {
            if removed.leaves(*suffix) && can_leave(*suffix) {
                removed_left += 1;
                looked.cuts.push(Cut { start: at.start, end: at.end, id: NO_DOCUMENT, keep: REMOVED });
            }
        }
        for Group { at, documents } in &scan.groups {
            let (mut cuts, mut kept_out, mut gone, mut may_go, mut stays) = (Vec::new(), 0, 0, false, false);
            for (suffix, digest) in documents {
                let is_first = *suffix == documents[0].0;
                let entry = digest
                    .and_then(|digest| scan.entry(xxh3_64(suffix.as_bytes()), &digest))
                    .filter(|&entry| goes[entry]);
                if let Some(entry) = entry {
                    cuts.push(Cut::of(&scan.entries[entry], at));
                    may_go |= is_first;
                    continue;
                }
                let is_stored = match digest {
                    Some(digest) => self.holds_content(source, suffix, digest)?,
                    None => self.holds(source, suffix)?,
                };
                // A document may have its content under an old name.
                stays |= is_stored || source.old_members;
                let is_kept_out = !is_stored && digest.is_some_and(|digest| self.keeps_out(&digest));
                let hash = xxh3_64(suffix.as_bytes());
                let is_removed = !is_stored && !is_kept_out && removed.leaves(hash);
                kept_out += usize::from(is_kept_out);
                gone += usize::from(is_removed);
                may_go |= is_first && (is_kept_out || is_removed) && can_leave(hash);
            }
            let left = &mut looked.kept_out;
            if may_go && !stays {
                if let ([], (suffix, Some(digest))) = (&*cuts, &documents[0]) {
                    let mut keep = REMOVED;
                    if self.keeps_out(digest) {
                        kept_out -= 1;
                        left.cut = xxh3_64_with_seed(&[suffix.as_bytes(), digest].concat(), left.cut);
                        keep = NO_SURVIVOR;
                    }
                    cuts.push(Cut { start: at.start, end: at.end, id: NO_DOCUMENT, keep });
                }
                looked.cuts.append(&mut cuts);
                removed_left += gone;
            } else if !cuts.is_empty() {
                looked.reason = Some(TOGETHER.into());
            }
            left.attached.extend(std::iter::repeat_n(at.start, kept_out));
        }
        for (suffix, digest) in &scan.kept_out {
            looked.kept_out.left += u64::from(!self.holds_content(source, suffix, digest)?);
        }
        if removed_left < removed.suffixes.len() {
            looked.kept_out.removed_stay = true;
            looked.reason.get_or_insert_with(|| "some documents that the database no longer holds stay in it".into());
        }
        Ok(())
    }

    /// Adds cuts for earlier members of a tar that would come to light: a member that is no document leaves
    /// with the later ones of its name, unless a document of this name stays after it. Such a member may hold
    /// documents, as a mail does, or be a record of a crawl, which readers find behind later ones too. Or it
    /// would leave with a mail, or with documents that have several survivors, so that a part of them may
    /// stay. Then all members of its name stay.
    pub(super) fn leave_hidden(&self, source: &SourceFile, scan: &Scan<'_>, looked: &mut Looked) -> Result<()> {
        looked.cuts.sort_unstable();
        let (mut more, mut stays) = (Vec::new(), FxHashSet::default());
        for (suffix, earlier) in &scan.hidden {
            let members = || scan.versions.get(&xxh3_64(suffix.as_bytes())).into_iter().chain(earlier.iter().rev());
            // The cut of a later member; one with a survivor, if there is one.
            let mut later: Option<Cut> = None;
            let (mut hidden, mut is_mixed, mut all_stay) = (Vec::new(), false, false);
            for Version { at, digest, is_mail } in members() {
                if let Ok(cut) = looked.cuts.binary_search_by_key(&at.start, |cut| cut.start) {
                    let cut = looked.cuts[cut];
                    is_mixed |= *is_mail;
                    match later.and_then(|later| later.survivor()) {
                        Some(survivor) => is_mixed |= cut.survivor().is_some_and(|other| other != survivor),
                        None => later = Some(cut),
                    }
                    continue;
                }
                // A part that cannot be read stays as it is.
                let Some(digest) = digest else { continue };
                if source.old_members || self.holds_content(source, suffix, digest)? {
                    break;
                }
                if let Some(cut) = later {
                    hidden.push(Cut { start: at.start, end: at.end, ..cut });
                    all_stay |= is_mixed || *is_mail || looked.container == Some(Container::Warc);
                }
            }
            if all_stay {
                looked.reason = Some(HIDDEN.into());
                stays.extend(members().map(|member| member.at.start));
            } else {
                more.append(&mut hidden);
            }
        }
        let attached = &mut looked.kept_out.attached;
        looked.cuts.retain(|cut| {
            let leaves = !stays.contains(&cut.start);
            attached.extend((!leaves && cut.is_kept_out()).then_some(cut.start));
            leaves
        });
        looked.cuts.append(&mut more);
        Ok(())
    }
}

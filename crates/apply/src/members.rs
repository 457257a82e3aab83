//! Members: which documents leave a file together, and which earlier members of a tar leave with later ones
//! of their names.

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::check::{Contents, Cut, Looked};
use super::passages::{NO_DOCUMENT, NO_SURVIVOR};
use super::plan::SourceFile;
use super::scan::{Group, Scan, Version};
use fpdb_host::error::Result;
use fpdb_reading::input::Container;

/// The reason why documents of a mail stay.
const TOGETHER: &str =
    "some removable documents stay: a mail and its attachments stay together unless all are removable";

/// The reason why documents stay that hide earlier members of their names.
const HIDDEN: &str =
    "some removable documents stay: without them, earlier ones of their names that are not stored would come to light";

impl Contents<'_> {
    /// Adds cuts for groups of documents. A group leaves if its first document is removable or kept out, and
    /// no other document stays. `goes` tells the entries that can leave.
    pub(super) fn leave_groups(
        &self,
        source: &SourceFile,
        scan: &Scan<'_>,
        cuttable: bool,
        goes: &[bool],
        looked: &mut Looked,
    ) -> Result<()> {
        for Group { at, documents } in &scan.groups {
            let (mut cuts, mut kept_out, mut may_go, mut stays) = (Vec::new(), 0, false, false);
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
                if !is_stored && digest.is_some_and(|digest| self.keeps_out(&digest)) {
                    kept_out += 1;
                    may_go |= is_first && cuttable && !scan.needed.contains(&xxh3_64(suffix.as_bytes()));
                }
            }
            let left = &mut looked.kept_out;
            if may_go && !stays {
                if let ([], (suffix, Some(digest))) = (&*cuts, &documents[0]) {
                    kept_out -= 1;
                    left.cut = xxh3_64_with_seed(&[suffix.as_bytes(), digest].concat(), left.cut);
                    cuts.push(Cut { start: at.start, end: at.end, id: NO_DOCUMENT, keep: NO_SURVIVOR });
                }
                looked.cuts.append(&mut cuts);
            } else if !cuts.is_empty() {
                looked.reason = Some(TOGETHER.into());
            }
            left.attached.extend(std::iter::repeat_n(at.start, kept_out));
        }
        for (suffix, digest) in &scan.kept_out {
            looked.kept_out.left += u64::from(!self.holds_content(source, suffix, digest)?);
        }
        Ok(())
    }

    /// Adds cuts for earlier members of a tar that would come to light: a member that is no document leaves
    /// with the later ones of its name, unless a document of this name stays after it. Such a member may hold
    /// documents, as a mail does, or be a record of a crawl, which readers find behind later ones too. Or it
    /// would leave with a mail, or with documents that have several survivors, so that a part of them may
    /// stay. Then all members of its name stay, except those whose contents are kept out.
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
                    match later.filter(|later| later.keep != NO_SURVIVOR) {
                        Some(later) => is_mixed |= cut.keep != NO_SURVIVOR && cut.keep != later.keep,
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
                stays.extend(members().map(|member| member.at.start));
            } else {
                more.append(&mut hidden);
            }
        }
        let before = looked.cuts.len();
        looked.cuts.retain(|cut| cut.id == NO_DOCUMENT || !stays.contains(&cut.start));
        if looked.cuts.len() < before {
            looked.reason = Some(HIDDEN.into());
        }
        looked.cuts.append(&mut more);
        Ok(())
    }
}

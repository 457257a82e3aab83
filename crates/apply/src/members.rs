//! Members: which documents leave a file together, and which earlier members of a tar leave with later ones
//! of their names.

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::check::{Contents, Cut, Looked};
use super::passages::{NO_DOCUMENT, NO_SURVIVOR};
use super::plan::SourceFile;
use super::scan::{Group, Scan, Version};
use fpdb_host::error::Result;

/// The reason why documents of a mail stay.
const TOGETHER: &str =
    "some removable documents stay: a mail and its attachments stay together unless all are removable";

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
                let entry = digest.and_then(|digest| scan.entry(suffix, &digest)).filter(|&entry| goes[entry]);
                if let Some(entry) = entry {
                    cuts.push(Cut::of(&scan.entries[entry], at));
                    may_go |= is_first;
                    continue;
                }
                let is_stored = match digest {
                    Some(digest) => self.holds_content(source, suffix, digest)?,
                    None => self.holds(source, std::slice::from_ref(suffix))?,
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
    /// with a later one of its name, unless a document of this name stays after it. If it is a mail with
    /// attachments, which may be documents, the later ones stay instead.
    pub(super) fn leave_hidden(&self, source: &SourceFile, scan: &Scan<'_>, looked: &mut Looked) -> Result<()> {
        looked.cuts.sort_unstable();
        let (mut more, mut stays) = (Vec::new(), FxHashSet::default());
        for (suffix, earlier) in &scan.hidden {
            let mut later: Vec<Cut> = Vec::new();
            let last = scan.versions.get(&xxh3_64(suffix.as_bytes()));
            for Version { at, digest, is_mail } in last.into_iter().chain(earlier.iter().rev()) {
                if let Ok(cut) = looked.cuts.binary_search_by_key(&at.start, |cut| cut.start) {
                    later.push(looked.cuts[cut]);
                    continue;
                }
                // A part that cannot be read stays as it is.
                let Some(digest) = digest else { continue };
                if source.old_members || self.holds_content(source, suffix, digest)? {
                    break;
                }
                if *is_mail && !later.is_empty() {
                    looked.reason = Some(TOGETHER.into());
                    stays.extend(later.iter().map(|cut| cut.start));
                    let kept_out = later.iter().filter(|cut| cut.id == NO_DOCUMENT);
                    looked.kept_out.attached.extend(kept_out.map(|cut| cut.start));
                    break;
                }
                more.extend(later.first().map(|cut| Cut { start: at.start, end: at.end, ..*cut }));
            }
        }
        looked.cuts.retain(|cut| !stays.contains(&cut.start));
        looked.cuts.append(&mut more);
        Ok(())
    }
}

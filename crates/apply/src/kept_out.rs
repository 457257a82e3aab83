//! Kept out: the records of a file whose contents were removed from the database for good. A copy lacks them.

use std::ops::Range;

use super::check::{Contents, Cut, Looked};
use super::passages::{NO_DOCUMENT, NO_SURVIVOR};
use super::plan::SourceFile;
use fpdb_host::error::Result;
use fpdb_kernel::document::Digest;

/// A record whose content is kept out.
#[derive(Debug)]
pub(super) struct KeptOutRecord {
    pub(super) suffix: String,
    pub(super) digest: Digest,
    /// Its place in the file. `None` for an attachment, and for a member of a container within the file.
    pub(super) place: Option<Range<u64>>,
    /// The suffixes of the documents in it, if it is a mail.
    pub(super) inside: Vec<String>,
}

impl Contents<'_> {
    /// Cuts the records of a file whose contents are kept out, unless a document of the file has them.
    pub(super) fn leave_out(
        &self,
        source: &SourceFile,
        records: Vec<KeptOutRecord>,
        cuttable: bool,
        looked: &mut Looked,
    ) -> Result<()> {
        let mut mail: Option<String> = None;
        for KeptOutRecord { suffix, digest, place, mut inside } in records {
            if self.holds_content(source, &suffix, &digest)? {
                continue;
            }
            let is_inside = |mail: &String| suffix.strip_prefix(mail).is_some_and(|rest| rest.starts_with('!'));
            if mail.as_ref().is_some_and(is_inside) {
                continue;
            }
            inside.retain(|other| *other != suffix);
            match place.filter(|_| cuttable) {
                Some(at) if !self.holds(source, &inside)? => {
                    looked.cuts.push(Cut { start: at.start, end: at.end, id: NO_DOCUMENT, keep: NO_SURVIVOR });
                    mail = Some(suffix);
                }
                _ => looked.kept_out_left += 1,
            }
        }
        if looked.kept_out_left > 0 {
            let why = looked.reason.take().unwrap_or_else(|| "they are in a mail, or in a container within it".into());
            looked.reason =
                Some(format!("{} of its records stay although they are kept out: {why}", looked.kept_out_left));
        }
        Ok(())
    }

    /// True if a document with this place and content is stored.
    fn holds_content(&self, source: &SourceFile, suffix: &str, digest: &Digest) -> Result<bool> {
        for name in std::iter::once(&source.name).chain(&source.other_names) {
            if self.is_stored(source, &format!("{name}{suffix}"), digest)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

//! Kept out: the records of a file whose contents were removed from the database for good. A copy lacks them.

use std::path::Path;

use rustc_hash::FxHashSet;

use super::answer::Act;
use super::check::{Contents, Cut};
use super::log_lines::{LogLine, SEVERAL_FIELDS};
use super::plan::{SourceFile, SourceReading};
use super::scan::Scan;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::Digest;
use fpdb_reading::input::{FileKind, compression_of};

/// The records of a file whose contents are kept out and that no cut of their own leaves out.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptOutOfFile {
    /// The number of records that cannot be left out.
    pub(super) left: u64,
    /// The places of the other records. Each is left out only if other documents at its place are, as an
    /// attachment with its mail.
    pub(super) attached: Vec<u64>,
    /// The number of parts of the file that could not be searched.
    pub(super) unsearched: u64,
    /// A digest of the names and contents of the records that cuts leave out or mark; 0 if there are none.
    pub(super) cut: u64,
}

impl KeptOutOfFile {
    pub(super) fn is_none(&self) -> bool {
        self.left == 0 && self.attached.is_empty() && self.unsearched == 0
    }

    /// The number of records that stay in the copy if these `cuts`, ascending, are made.
    pub(super) fn left_after(&self, cuts: &[Cut]) -> u64 {
        let stays = |start: &&u64| cuts.binary_search_by_key(*start, |cut| cut.start).is_err();
        self.left + self.attached.iter().filter(stays).count() as u64
    }

    /// The number of these records that leave the copy because one of these `cuts` removes their mail.
    pub(super) fn gone_with(&self, cuts: &[Cut]) -> u64 {
        self.left + self.attached.len() as u64 - self.left_after(cuts)
    }
}

/// The contents that are kept out and that an old copy still holds.
#[derive(Default)]
pub(super) struct KeptOutInCopy {
    pub(super) contents: u64,
    /// The number of parts of the copy that could not be searched.
    pub(super) unsearched: u64,
}

impl Contents<'_> {
    /// Searches the copy of a file that the database no longer has. Returns the number of kept-out contents
    /// in the copy. Reads the copy in the way that the file was read, and also as one document.
    pub(super) fn kept_out_in(&self, copy: &Path, made: &LogLine) -> Result<KeptOutInCopy> {
        let mut found = KeptOutInCopy::default();
        let Some(kept_out) = self.kept_out.filter(|contents| !contents.is_empty()) else { return Ok(found) };
        let field = made.text_field.clone().filter(|field| field != SEVERAL_FIELDS);
        let mut all = FxHashSet::default();
        for reading in [SourceReading::Members(field), SourceReading::Closed] {
            let source = SourceFile::unknown(copy.display().to_string(), reading);
            let kind = match self.scan(copy, &source, Scan::of_all(&source.path)) {
                Ok((scan, kind, _)) => {
                    found.unsearched += scan.unread;
                    all.extend(scan.all.unwrap_or_default());
                    kind
                }
                Err(Error::Stopped) => return Err(Error::Stopped),
                Err(_) => {
                    found.unsearched += 1;
                    continue;
                }
            };
            if kind == FileKind::Document && matches!(compression_of(copy), Ok(None)) {
                break;
            }
        }
        found.contents = all.intersection(kept_out).count() as u64;
        // A text without its passages has another digest. Of several fields, this search reads only one.
        let is_other = made.act == Act::Cut || made.text_field.as_deref() == Some(SEVERAL_FIELDS);
        found.unsearched += u64::from(is_other);
        Ok(found)
    }

    /// True if a scan of a file must read attachments: they are documents of the file, or a kept-out content
    /// may be attached to one of its mails.
    pub(super) fn reads_attachments(&self, source: &SourceFile) -> bool {
        let looks = self.kept_out.is_some_and(|contents| !contents.is_empty());
        source.attachments || looks && (source.mail || matches!(source.reading, SourceReading::Members(_)))
    }

    /// True if this content is kept out of the database.
    pub(super) fn keeps_out(&self, digest: &Digest) -> bool {
        self.kept_out.is_some_and(|contents| contents.contains(digest))
    }

    /// True if a document with this place and content is stored.
    pub(super) fn holds_content(&self, source: &SourceFile, suffix: &str, digest: &Digest) -> Result<bool> {
        for name in source.names_of(suffix) {
            if self.is_stored(source, &name, digest)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if a document with this name and digest, read from this file, is stored.
    pub(super) fn is_stored(&self, source: &SourceFile, name: &str, digest: &Digest) -> Result<bool> {
        let found = self.stored.newest_version(name, digest, &mut |id| {
            Ok(self.stored.document(id)?.source.as_deref() == Some(source.path.as_str()))
        })?;
        Ok(found.is_some())
    }
}

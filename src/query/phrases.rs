//! Phrases: common wording that does not count in a query, one phrase on each line of a file.
//!
//! A phrase is compared in the standard form, as documents are. Case, layout and, with characters, spaces
//! make no difference.
//!
//! A k-gram is ignored if it lies whole in a quotation, or in phrases that overlap or touch. A k-gram that
//! reaches beyond also holds other text of the query. To ignore that k-gram would hide up to k - 1 symbols
//! beside a phrase. So a phrase of fewer than k symbols ignores nothing by itself, nor does it match by
//! itself. The program prints the number of such phrases. With characters there are no borders between words.

use std::path::{Path, PathBuf};

use super::text::Symboliser;
use fpdb_host::bounded;
use fpdb_host::error::{Error, Result};
use fpdb_kernel::document::Format;
use fpdb_kernel::profile::{Profile, Unit};
use fpdb_passages::PhraseFinder;

/// Maximum bytes of a file of phrases, which is read into memory whole.
const LARGEST: u64 = 64 << 20;

/// The name of this feature in error messages.
pub(super) const IGNORING_PHRASES: &str = "ignoring phrases";

/// Phrases to ignore, brought into the standard form that a profile defines for text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrases {
    path: PathBuf,
    profile: Profile,
    count: usize,
    shorter_than_k: usize,
    finder: PhraseFinder,
}

impl Phrases {
    /// Reads a file of phrases: UTF-8, one on each line. Empty lines and lines that begin with `#` are
    /// skipped.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Phrase`] for a line that is not UTF-8, a line without symbols in the standard
    /// form, or a file without phrases; [`Error::NotProse`] for a unit other than characters and words.
    pub fn read(path: &Path, profile: &Profile) -> Result<Self> {
        let wrong = |line: u64, why| Error::Phrase { path: path.to_owned(), line, why };
        let bytes = bounded::read_file(path, LARGEST).map_err(Error::io("read", path))?;
        if matches!(profile.unit(), Unit::Byte | Unit::Token) {
            return Err(Error::NotProse { asked: IGNORING_PHRASES, unit: profile.unit() });
        }
        let mut symboliser = Symboliser::new(profile);
        let mut phrases: Vec<Vec<u64>> = Vec::new();
        let mut last = 1;
        let bytes = bounded::without_byte_order_mark(&bytes);
        for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
            let line = str::from_utf8(line).map_err(|_| wrong(number, "it is not UTF-8"))?.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match symboliser.read(line.as_bytes(), Format::Text)?.values() {
                [] => return Err(wrong(number, "the phrase has no letter or digit, so nothing of it is compared")),
                symbols => phrases.push(symbols.to_vec()),
            }
            last = number;
        }
        if phrases.is_empty() {
            return Err(wrong(1, "there is no phrase in the file"));
        }
        Ok(Self {
            path: path.to_owned(),
            profile: *profile,
            count: phrases.len(),
            shorter_than_k: phrases.iter().filter(|phrase| phrase.len() < profile.k() as usize).count(),
            finder: PhraseFinder::of_symbols(phrases)
                .ok_or_else(|| wrong(last, "there are too many phrases up to here to be looked for at once"))?,
        })
    }

    /// Number of phrases; equal ones are counted each time.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of phrases with fewer than k symbols. They ignore nothing unless other phrases overlap or touch
    /// them.
    #[must_use]
    pub fn shorter_than_k(&self) -> usize {
        self.shorter_than_k
    }
}

/// A finder of these phrases; `None` without phrases.
///
/// # Errors
/// [`Error::InvalidParameter`] if the phrases were read for a profile with another standard form.
pub(crate) fn finder_of(phrases: Option<&Phrases>, profile: &Profile) -> Result<Option<PhraseFinder>> {
    let Some(phrases) = phrases else { return Ok(None) };
    let form = |profile: &Profile| (profile.unit(), profile.word_rule(), profile.hash_version());
    if form(&phrases.profile) != form(profile) {
        return Err(Error::InvalidParameter {
            name: "phrases",
            value: phrases.path.display().to_string(),
            expected: "phrases that were read for documents of the same unit and words",
        });
    }
    Ok(Some(phrases.finder.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fpdb_kernel::profile::{Selection, WordRule};

    #[test]
    fn phrases_read_for_other_documents_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "# What all say\n\nto be\nTo be\nor not to be\n").unwrap();
        let of_words = Profile::new(Unit::Word, WordRule::Letters, 3, 4, Selection::Robust).unwrap();
        let phrases = Phrases::read(file.path(), &of_words).unwrap();
        assert_eq!((phrases.count(), phrases.shorter_than_k()), (3, 2));
        let wider = of_words.with_window(8).unwrap();
        assert!(finder_of(Some(&phrases), &wider).unwrap().is_some());
        let of_characters = Profile::new(Unit::Char, WordRule::Letters, 25, 51, Selection::Robust).unwrap();
        assert!(finder_of(Some(&phrases), &of_characters).is_err());
    }
}

//! Records beside the engine's files of a backup. A backup can be restored without them.
//!
//! When backup NUMBER is made, `decisions/NUMBER` gets the record of a dedup's decisions, if there is one.
//! `kept-out/NUMBER` gets the digests of the contents that are kept out, in hexadecimal digits, one a line,
//! if there are any. `documents/NUMBER` gets one line: `crc32 CHECKSUM DOCUMENTS DECISIONS KEPT_OUT TIME`.
//! CHECKSUM covers the rest of the line. DOCUMENTS is the number of documents. DECISIONS and KEPT_OUT are the
//! checksums of the other two records, or `-` if the record does not exist. TIME is when the backup was made,
//! in seconds since 1970. Checksums are CRC-32C in decimal. Earlier versions wrote no TIME, or only the
//! number of documents and, if there was a record, the checksum of the decisions.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::Store;
use crate::care::backup_files::checksum_of;
use crate::codec::format::DECISIONS;
use crate::open::files::{read_short, unless_refused};
use fpdb_host::durable::{create_folders, replace_file};
use fpdb_host::error::{Error, Result, StoreFailure};
use fpdb_kernel::document::Digest;
use fpdb_kernel::hex;

pub(super) const RECORDS: &str = "decisions";
pub(super) const COUNTS: &str = "documents";
const KEPT_OUT: &str = "kept-out";

/// The facts of a backup in its file of [`COUNTS`]. A field is `None` if an earlier version did not write it.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) documents: Option<u64>,
    /// The checksums of the record of decisions and of the list of contents that are kept out.
    decisions: Option<u32>,
    kept_out: Option<u32>,
    /// When the backup was made, in seconds since 1970.
    pub(super) made_at: Option<i64>,
    /// A record that is damaged or missing.
    pub(super) damaged: Option<String>,
}

impl Facts {
    /// Reads the facts of a backup, and compares its records with their checksums.
    pub(super) fn of(folder: &Path, number: u32) -> Result<Self> {
        let path = folder.join(COUNTS).join(number.to_string());
        let mut facts = match read_short(&path) {
            Ok(text) => Self::parse(&String::from_utf8_lossy(&text))
                .unwrap_or_else(|| Self { damaged: Some(format!("{COUNTS}/{number}")), ..Self::default() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::default(),
            Err(error) if StoreFailure::of_io(&error).is_refusal() => return Err(Error::io("read", &path)(error)),
            Err(_) => Self { damaged: Some(format!("{COUNTS}/{number}")), ..Self::default() },
        };
        for (records, checksum) in [(RECORDS, facts.decisions), (KEPT_OUT, facts.kept_out)] {
            let path = folder.join(records).join(number.to_string());
            if checksum.is_some() && unless_refused(&path, checksum_of)? != checksum {
                facts.damaged.get_or_insert_with(|| format!("{records}/{number}"));
            }
        }
        Ok(facts)
    }

    /// `None` if the text is damaged.
    fn parse(text: &str) -> Option<Self> {
        let facts = match text.strip_prefix("crc32 ") {
            Some(checked) => {
                let (checksum, facts) = checked.split_once(' ')?;
                (checksum.parse() == Ok(crc32c::crc32c(facts.as_bytes()))).then_some(facts)?
            }
            None => text,
        };
        let mut words = facts.split_whitespace();
        let documents = Some(words.next()?.parse().ok()?);
        let mut checksum = || words.next().and_then(|word| word.parse().ok());
        let (decisions, kept_out) = (checksum(), checksum());
        let made_at = words.next().and_then(|word| word.parse().ok());
        Some(Self { documents, decisions, kept_out, made_at, damaged: None })
    }
}

impl Store {
    /// Writes the records of the backup `number`, which was made at this time. Returns the size of the record
    /// of decisions in bytes.
    pub(super) fn back_up_records(&self, folder: &Path, number: u32, made_at: i64) -> Result<u64> {
        let (bytes, decisions) = self.back_up_decisions(&folder.join(RECORDS).join(number.to_string()))?;
        let kept_out = self.back_up_kept_out(&folder.join(KEPT_OUT), number)?;
        let word = |checksum: Option<u32>| checksum.map_or_else(|| "-".to_owned(), |checksum| checksum.to_string());
        let facts = format!("{} {} {} {made_at}", self.view().state().documents, word(decisions), word(kept_out));
        create_folders(&folder.join(COUNTS))?;
        let line = format!("crc32 {} {facts}", crc32c::crc32c(facts.as_bytes()));
        replace_file(&folder.join(COUNTS).join(number.to_string()), line.as_bytes())?;
        Ok(bytes)
    }

    /// Writes the list of the contents that are kept out, if there are any, into the folder `lists`. Returns
    /// the checksum of the list.
    fn back_up_kept_out(&self, lists: &Path, number: u32) -> Result<Option<u32>> {
        let mut list = String::new();
        for (digest, _) in self.kept_out()? {
            list.push_str(&hex::encode(&digest));
            list.push('\n');
        }
        if list.is_empty() {
            return Ok(None);
        }
        create_folders(lists)?;
        replace_file(&lists.join(number.to_string()), list.as_bytes())?;
        Ok(Some(crc32c::crc32c(list.as_bytes())))
    }

    /// Copies the record of decisions, if there is one, to the file `to`. Returns the size and the checksum
    /// of the copy.
    fn back_up_decisions(&self, to: &Path) -> Result<(u64, Option<u32>)> {
        let from = self.root.join(DECISIONS);
        let mut record = match File::open(&from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((0, None)),
            file => file.map_err(Error::io("read", &from))?,
        };
        let records = to.parent().unwrap_or(Path::new("."));
        create_folders(records)?;
        let mut copy = || {
            let mut file = tempfile::NamedTempFile::new_in(records)?;
            let bytes = io::copy(&mut record, &mut file)?;
            file.as_file().sync_all()?;
            file.persist(to).map_err(|error| error.error)?;
            File::open(records)?.sync_all()?;
            Ok((bytes, checksum_of(to)?))
        };
        copy().map_err(Error::io("write", to))
    }
}

/// Adds the digests in the list of the backup `number`, if it has one, to `digests`.
pub(super) fn add_kept_out(folder: &Path, number: u32, digests: &mut impl Extend<Digest>) -> Result<()> {
    let path = folder.join(KEPT_OUT).join(number.to_string());
    let list = unless_refused(&path, |path| fs::read(path))?;
    let digest = |line: &str| Digest::try_from(hex::decode(line)?).ok();
    digests.extend(String::from_utf8_lossy(&list).lines().filter_map(digest));
    Ok(())
}

/// Copies the record of decisions of the backup `number`, if it has one, to the file `to`.
pub(super) fn restore_decisions(folder: &Path, number: u32, to: PathBuf) -> Result<()> {
    match fs::copy(folder.join(RECORDS).join(number.to_string()), &to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        copied => copied.and_then(|_| File::open(&to)?.sync_all()).map_err(Error::io("copy from the backup", folder)),
    }
}

/// Removes the records of all backups except those with these numbers.
pub(super) fn keep_records(folder: &Path, numbers: &[u32]) -> Result<()> {
    let is_kept = |name: &std::ffi::OsStr| {
        name.to_str().and_then(|name| name.parse().ok()).is_some_and(|number| numbers.contains(&number))
    };
    for folder in [RECORDS, COUNTS, KEPT_OUT].map(|records| folder.join(records)) {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(Error::io("read", &folder))?,
        };
        for entry in entries {
            let entry = entry.map_err(Error::io("read", &folder))?;
            if !is_kept(&entry.file_name()) {
                fs::remove_file(entry.path()).map_err(Error::io("remove", entry.path()))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Facts;

    #[test]
    fn facts_that_were_cut_or_changed_are_damaged() {
        let facts = "12 345 - 1700000000";
        let line = format!("crc32 {} {facts}", crc32c::crc32c(facts.as_bytes()));
        let of = |text: &str| Facts::parse(text).map(|facts| (facts.documents, facts.decisions, facts.made_at));
        assert_eq!(of(&line), Some((Some(12), Some(345), Some(1_700_000_000))));
        // The forms of earlier versions.
        assert_eq!(of("12"), Some((Some(12), None, None)));
        assert_eq!(of("12 345"), Some((Some(12), Some(345), None)));
        for end in 0..line.len() {
            assert_eq!(of(&line[..end]), None, "{end}");
        }
        assert_eq!(of(&line.replace("12 ", "13 ")), None);
    }
}

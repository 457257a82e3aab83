//! Files of backups: compares each with its listed checksum.
//!
//! The engine compares checksums only while it copies, later only sizes. The text file `meta/n` lists the
//! files of backup n. The list ends with the number of files, and one line `path crc32 checksum` for each
//! file. The checksum is a CRC-32C in decimal.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::open::files::{check_regular, unless_refused};
use fpdb_host::durable::sync_folder;
use fpdb_host::error::{Error, Result};

/// The folder of files that several backups share.
const SHARED: &str = "shared_checksum/";

/// Bytes read at once.
const PIECE: usize = 1 << 20;

/// The folder of the files of one backup each, and of the lists of files.
const PRIVATE: &str = "private";
const LISTS: &str = "meta";

/// Checks the files in a folder of backups. Looks at each file once.
pub(crate) struct BackupFiles {
    engine: PathBuf,
    by_size: bool,
    /// By path in the engine's folder.
    checked: BTreeMap<String, CheckedFile>,
}

struct CheckedFile {
    /// The listed checksum.
    checksum: u32,
    is_whole: bool,
}

impl BackupFiles {
    /// With `by_size`, only the sizes of shared files are compared, which their names contain. Other files
    /// are small, so their checksums are compared in any case.
    pub(crate) fn new(engine: PathBuf, by_size: bool) -> Self {
        Self { engine, by_size, checked: BTreeMap::new() }
    }

    /// Checks the files of a backup that were not checked before. Returns the first damaged file of the
    /// backup, if any.
    pub(crate) fn check(&mut self, number: u32) -> Result<Option<String>> {
        let Some(files) = listed(&self.engine, number)?.files else { return Ok(Some(format!("{LISTS}/{number}"))) };
        let mut damaged = None;
        for (file, checksum) in files {
            let is_whole = match self.checked.get(&file) {
                Some(checked) => checked.is_whole,
                None => {
                    let path = self.engine.join(&file);
                    let is_whole = match size_in_name(&file).filter(|_| self.by_size) {
                        Some(size) => unless_refused(&path, size_of)? == Some(size),
                        None => unless_refused(&path, checksum_of)? == Some(checksum),
                    };
                    self.checked.insert(file.clone(), CheckedFile { checksum, is_whole });
                    is_whole
                }
            };
            if !is_whole {
                damaged = damaged.or(Some(file));
            }
        }
        Ok(damaged)
    }

    /// Copies damaged shared files again from the folder `store`, if it still has the same tables. Returns
    /// the number of files copied. Other damaged files stay: most of their rows may be right.
    pub(crate) fn mend_shared(&self, store: &Path) -> Result<usize> {
        let mut mended = 0;
        for (file, checked) in self.checked.iter().filter(|(_, checked)| !checked.is_whole) {
            // The name begins with the number of the table.
            let Some(name) = file.strip_prefix(SHARED) else { continue };
            let digits = name.bytes().take_while(u8::is_ascii_digit).count();
            let table = store.join(format!("{}.sst", &name[..digits]));
            if checksum_of(&table).map_err(Error::io("read", &table))? != Some(checked.checksum) {
                continue;
            }
            let (path, new) = (self.engine.join(file), self.engine.join(format!("{file}.tmp")));
            let copied = fs::copy(&table, &new).and_then(|_| File::open(&new)?.sync_all());
            copied.map_err(Error::io("copy a table to", &new))?;
            if checksum_of(&new).map_err(Error::io("read", &new))? == Some(checked.checksum) {
                fs::rename(&new, &path).map_err(Error::io("replace", &path))?;
                sync_folder(&self.engine.join(SHARED))?;
                mended += 1;
            }
        }
        Ok(mended)
    }

    /// Forgets the damaged files, so that the next check reads them again.
    pub(crate) fn forget_damaged(&mut self) {
        self.checked.retain(|_, checked| checked.is_whole);
    }
}

/// The content of the list of a backup's files.
struct FileList {
    /// The time of the backup, in seconds since 1970.
    made_at: Option<i64>,
    /// `None` if the list is damaged.
    files: Option<Vec<(String, u32)>>,
}

fn listed(engine: &Path, number: u32) -> Result<FileList> {
    let path = engine.join(LISTS).join(number.to_string());
    let list = unless_refused(&path, |path| fs::read(path))?;
    let list = String::from_utf8_lossy(&list);
    Ok(FileList { made_at: list.lines().next().and_then(|line| line.parse().ok()), files: parse(&list) })
}

/// The time of a backup, in seconds since 1970. `None` if its list is damaged.
pub(super) fn made_at(engine: &Path, number: u32) -> Result<Option<i64>> {
    let list = listed(engine, number)?;
    Ok(list.made_at.filter(|_| list.files.is_some()))
}

/// The numbers of all backups, including damaged ones that the engine does not list, ascending. A backup that
/// has lost its list of files is still counted in the folder `counts`, and has files of its own.
pub(super) fn numbers(engine: &Path, counts: &Path) -> Result<Vec<u32>> {
    let numbered = |folder: &Path| -> Result<BTreeSet<u32>> {
        Ok(names(folder)?.iter().filter_map(|name| name.parse().ok()).collect())
    };
    let counted = &numbered(counts)? & &numbered(&engine.join(PRIVATE))?;
    Ok(numbered(&engine.join(LISTS))?.union(&counted).copied().collect())
}

/// Removes all backups except those with the numbers `kept`, and all files that no kept backup needs. The
/// engine cannot remove a damaged backup, and it would remove files that a damaged backup still needs. The
/// counts are removed first, so that after a crash a backup is either whole or not listed.
pub(super) fn keep_only(engine: &Path, counts: &Path, kept: &[u32]) -> Result<()> {
    let (lists, private, shared) = (engine.join(LISTS), engine.join(PRIVATE), engine.join(SHARED));
    let is_kept = |name: &str| name.parse().is_ok_and(|number| kept.contains(&number));
    let remove = |path: PathBuf| match path.is_dir() {
        true => fs::remove_dir_all(&path).map_err(Error::io("remove", path)),
        false => fs::remove_file(&path).map_err(Error::io("remove", path)),
    };
    // A backup without a list of files does not exist. Lists are removed before files, so that after a crash
    // no list names a file that is gone.
    for folder in [counts, &lists] {
        for name in names(folder)?.iter().filter(|name| !is_kept(name)) {
            remove(folder.join(name))?;
        }
        sync_folder(folder)?;
    }
    for name in names(&private)?.iter().filter(|name| !is_kept(name)) {
        remove(private.join(name))?;
    }
    let mut needed = BTreeSet::new();
    for &number in kept {
        // A backup whose list is damaged may need any shared file, so all of these stay.
        let Some(files) = listed(engine, number)?.files else { return Ok(()) };
        needed.extend(files.into_iter().map(|(file, _)| file));
    }
    for name in names(&shared)?.iter().filter(|name| !needed.contains(&format!("{SHARED}{name}"))) {
        remove(shared.join(name))?;
    }
    Ok(())
}

/// The names of the files of a folder. Empty if the folder is missing.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io("read", folder))?,
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry.map_err(Error::io("read", folder))?.file_name());
    let names = entries.map(name).collect::<Result<Vec<_>>>()?;
    Ok(names.into_iter().filter_map(|name| name.into_string().ok()).collect())
}

/// The paths and checksums in a list of files. `None` if the list is damaged.
fn parse(list: &str) -> Option<Vec<(String, u32)>> {
    let file = |line: &str| {
        let mut words = line.split(' ');
        let (path, "crc32", checksum) = (words.next()?, words.next()?, words.next()?) else { return None };
        // A damaged list must not name files outside the engine's folder.
        let inside = !path.starts_with('/') && !path.split('/').any(|part| part == "..");
        inside.then_some((path.to_owned(), checksum.parse().ok()?))
    };
    let lines: Vec<&str> = list.lines().collect();
    let first = lines.iter().position(|line| line.contains(" crc32 "))?;
    let files: Vec<(String, u32)> = lines[first..].iter().map(|line| file(line)).collect::<Option<_>>()?;
    let count: usize = lines[..first].last()?.parse().ok()?;
    (files.len() == count).then_some(files)
}

/// The size of a shared file, by its name `NUMBER_sSESSION_SIZE.sst`.
fn size_in_name(file: &str) -> Option<u64> {
    file.strip_prefix(SHARED)?.rsplit_once('_')?.1.strip_suffix(".sst")?.parse().ok()
}

/// The size of a file. `None` if the file does not exist.
fn size_of(path: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => Ok(Some(found?.len())),
    }
}

/// The CRC-32C of a file. `None` if the file does not exist.
pub(super) fn checksum_of(path: &Path) -> io::Result<Option<u32>> {
    let mut file = match check_regular(path).and_then(|()| File::open(path)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let (mut piece, mut checksum) = (vec![0; PIECE], 0);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(Some(checksum)),
            read => checksum = crc32c::crc32c_append(checksum, &piece[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_files_below_its_folder() {
        let list = "1795274540\n505\n2\nshared_checksum/a_1.sst crc32 17\nprivate/1/CURRENT crc32 0\n";
        let files = vec![("shared_checksum/a_1.sst".to_owned(), 17), ("private/1/CURRENT".to_owned(), 0)];
        assert_eq!(parse(list), Some(files));
        // A list that lacks a line, or has one too many, is damaged.
        assert_eq!(parse(&list[..list.len() - 26]), None);
        for line in ["d crc32 1", "../b crc32 1", "/c crc32 1", "d crc32 x", ""] {
            assert_eq!(parse(&format!("{list}{line}\n")), None, "{line}");
            assert_eq!(parse(&format!("{}{line}\n", list.replace("\n2\n", "\n3\n"))).is_some(), line == "d crc32 1");
        }
        assert_eq!(parse("\u{fffd}\n"), None);
    }

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers");
        assert_eq!(checksum_of(&path).unwrap(), None);
        fs::write(&path, "123456789").unwrap();
        assert_eq!(checksum_of(&path).unwrap(), Some(0xe306_9283));
    }
}

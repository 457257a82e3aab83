//! Files of backups: compares each with its listed checksum.
//!
//! The engine compares checksums only while it copies, later only sizes. The text file `meta/n` lists the
//! files of backup n. It ends with the number of files, and one line `path crc32 checksum` for each file. The
//! checksum is a CRC-32C in decimal.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::open::files::check_regular;
use fpdb_host::error::{Error, Result};

/// The folder of files that several backups share.
const SHARED: &str = "shared_checksum/";

/// Bytes read at once.
const PIECE: usize = 1 << 20;

/// Checks the files in a folder of backups. Reads each file once.
pub(crate) struct BackupFiles {
    engine: PathBuf,
    /// By path in the engine's folder: true if the file is intact.
    checked: BTreeMap<String, bool>,
}

impl BackupFiles {
    pub(crate) fn new(engine: PathBuf) -> Self {
        Self { engine, checked: BTreeMap::new() }
    }

    /// Reads the files of a backup that were not read before. Returns a damaged one, if any.
    pub(crate) fn check(&mut self, number: u32) -> Result<Option<String>> {
        let name = format!("meta/{number}");
        let path = self.engine.join(&name);
        let list = check_regular(&path).and_then(|()| fs::read(&path)).map_err(Error::io("read", &path))?;
        let Some(files) = parse(&String::from_utf8_lossy(&list)) else { return Ok(Some(name)) };
        let mut damaged = None;
        for (file, checksum) in files {
            let whole = match self.checked.get(&file) {
                Some(&whole) => whole,
                None => {
                    let path = self.engine.join(&file);
                    let whole = checksum_of(&path).map_err(Error::io("read", &path))? == Some(checksum);
                    self.checked.insert(file.clone(), whole);
                    whole
                }
            };
            if !whole {
                damaged = damaged.or(Some(file));
            }
        }
        Ok(damaged)
    }

    /// Removes the damaged shared files, and returns their number.
    pub(crate) fn remove_damaged_shared(&self) -> Result<usize> {
        let mut removed = 0;
        for (file, _) in self.checked.iter().filter(|(file, whole)| !**whole && file.starts_with(SHARED)) {
            let path = self.engine.join(file);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(Error::io("remove", path)(error)),
                _ => removed += 1,
            }
        }
        Ok(removed)
    }

    /// Forgets the damaged files, so that the next check reads them again.
    pub(crate) fn forget_damaged(&mut self) {
        self.checked.retain(|_, whole| *whole);
    }
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

//! Mark: the number of the last commit, kept beside the engine's files.
//!
//! A log or a list of tables that is cut between two records looks to the engine like an older database that
//! is whole. The mark tells it from one: it is written after each commit, so it is never ahead of a store that
//! has kept all of them.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::format::COMMITTED;
use crate::error::{Error, Result};

/// Writes the mark after commit number `commits`.
///
/// It is not synced: after a loss of power an older mark is as good, and a torn one vouches for nothing.
pub(super) fn write(root: &Path, commits: u64) -> Result<()> {
    let path = root.join(COMMITTED);
    // One write over the old text, which is as long: a kill leaves either.
    let open = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    open.and_then(|mut file: File| file.write_all(text(commits).as_bytes())).map_err(Error::io("write", &path))
}

/// The number of the last commit as marked; 0 where there is no mark that can be trusted.
pub(super) fn read(root: &Path) -> Result<u64> {
    let path = root.join(COMMITTED);
    match fs::read(&path) {
        Ok(bytes) => Ok(parse(&bytes).unwrap_or(0)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
        Err(source) => Err(Error::Io { action: "read", path, source }),
    }
}

/// Of one length for every number.
pub(super) fn text(commits: u64) -> String {
    let number = format!("commit {commits:020}");
    format!("{number} {:016x}\n", xxh3_64(number.as_bytes()))
}

pub(super) fn parse(bytes: &[u8]) -> Option<u64> {
    let number = std::str::from_utf8(bytes).ok()?.strip_prefix("commit ")?.get(..20)?.parse().ok()?;
    (text(number).as_bytes() == bytes).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_comes_back_and_a_damaged_one_vouches_for_nothing() {
        for commits in [0, 1, 10, u64::MAX] {
            let mark = text(commits).into_bytes();
            assert_eq!(parse(&mark), Some(commits));
            for index in 0..mark.len() {
                let mut flipped = mark.clone();
                flipped[index] ^= 1;
                assert_eq!(parse(&flipped), None);
                assert_eq!(parse(&mark[..index]), None);
            }
        }
    }
}

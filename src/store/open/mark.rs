//! Mark: the number of the last commit, the length of the list of tables and the documents there were, kept beside the
//! engine's files.
//!
//! A log or a list of tables (`MANIFEST`) that is cut between two records looks to the engine like an older database that
//! is whole. The mark tells it from one: it is written when a writer opens the store, after each commit, and when the
//! engine has let go of it, so it is never ahead of a store that has kept all of them.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::store::codec::format::{COMMITTED, STORE};
use crate::store::open::files::{check_regular, read_short};

/// A commit that was there once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::store) struct CommitMark {
    /// The number of the last commit; 0 where nothing vouches for one.
    pub(in crate::store) commits: u64,
    tables: Option<TableList>,
    /// The counts of that commit. Programs that do not know of them leave those of an older commit, which are not used.
    pub(in crate::store) counts: Option<Counts>,
}

/// The counts of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Counts {
    /// Documents that are not deleted.
    pub(in crate::store) documents: u64,
    /// The id the next document gets.
    pub(in crate::store) next_document: u32,
}

/// A list of tables; it only ever grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TableList {
    /// The number of its file, `MANIFEST-` and at least six digits.
    number: u64,
    bytes: u64,
    /// The digest of its first bytes, in which the engine names the store: another store can have a list of this number.
    head: u64,
}

/// `TableList::head` is the XXH3-64 of so many bytes.
const HEAD_BYTES: u64 = 64;

/// Writes the mark after commit number `commits`, which counted so much.
///
/// It is not synced: after a loss of power an older mark is as good, and a torn one vouches for nothing.
pub(in crate::store) fn write(root: &Path, commits: u64, counts: Option<Counts>) -> Result<()> {
    let mark = CommitMark { commits, tables: TableList::synced(root)?, counts };
    let path = root.join(COMMITTED);
    // One write over the old text, which is as long: a kill leaves either.
    let open =
        check_regular(&path).and_then(|()| OpenOptions::new().write(true).create(true).truncate(false).open(&path));
    open.and_then(|mut file: File| file.write_all(mark.text().as_bytes())).map_err(Error::io("write", &path))
}

/// The mark, as far as it can be trusted.
pub(in crate::store) fn read(root: &Path) -> Result<CommitMark> {
    let path = root.join(COMMITTED);
    match read_short(&path) {
        Ok(bytes) => Ok(CommitMark::parse(&bytes).unwrap_or_default()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(CommitMark::default()),
        Err(source) => Err(Error::Io { action: "read", path, source }),
    }
}

impl CommitMark {
    /// The text of the mark, of one length for every mark.
    pub(in crate::store) fn text(&self) -> String {
        // No list has the number 0.
        let TableList { number, bytes, head } = self.tables.unwrap_or(TableList { number: 0, bytes: 0, head: 0 });
        let commit = format!("commit {:020}", self.commits);
        let tables = format!("tables {number:020} {bytes:020} {head:016x}");
        // Counts of no commit where none are known: nothing vouches for a commit 0.
        let (of, Counts { documents, next_document }) =
            self.counts.map_or((0, Counts { documents: 0, next_document: 0 }), |counts| (self.commits, counts));
        let counts = format!("documents {of:020} {documents:020} {next_document:010}");
        [commit, tables, counts].map(|line| format!("{line} {:016x}\n", xxh3_64(line.as_bytes()))).concat()
    }

    pub(in crate::store) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(bytes).ok()?.split_inclusive('\n');
        let commits = vouched(lines.next()?)?.strip_prefix("commit ")?.parse().ok()?;
        let tables = lines.next().and_then(TableList::parse);
        let counts = lines.next().and_then(|line| Counts::parse(line, commits));
        Some(Self { commits, tables, counts })
    }

    /// Says so where the list of tables has become shorter.
    pub(in crate::store) fn check_tables(&self, root: &Path) -> Result<()> {
        let (Some(marked), Some((found, path))) = (self.tables, TableList::of(root)?) else { return Ok(()) };
        if (found.number, found.head) == (marked.number, marked.head) && found.bytes < marked.bytes {
            return Err(Error::TablesLost { path, found: found.bytes, marked: marked.bytes });
        }
        Ok(())
    }
}

/// The path of the list of tables, and the bytes of it that were marked; `None` where it has not grown since, or is another
/// list.
pub(super) fn grown_list(root: &Path) -> Result<Option<(PathBuf, u64)>> {
    let (Some(marked), Some((found, path))) = (read(root)?.tables, TableList::of(root)?) else { return Ok(None) };
    let same = (found.number, found.head) == (marked.number, marked.head);
    Ok((same && found.bytes > marked.bytes).then_some((path, marked.bytes)))
}

/// The path of the list of tables and its bytes; `None` where the engine is about to write another.
pub(super) fn list_end(root: &Path) -> Result<Option<(PathBuf, u64)>> {
    Ok(TableList::of(root)?.map(|(list, path)| (path, list.bytes)))
}

/// The text before the checksum at the end of a line, if that is right.
fn vouched(line: &str) -> Option<&str> {
    let (text, sum) = line.strip_suffix('\n')?.rsplit_once(' ')?;
    (sum == format!("{:016x}", xxh3_64(text.as_bytes()))).then_some(text)
}

impl Counts {
    /// The counts of this commit.
    fn parse(line: &str, commits: u64) -> Option<Self> {
        let mut parts = vouched(line)?.strip_prefix("documents ")?.split(' ');
        let of: u64 = parts.next()?.parse().ok()?;
        let counts = Self { documents: parts.next()?.parse().ok()?, next_document: parts.next()?.parse().ok()? };
        (of == commits && of != 0).then_some(counts)
    }
}

impl TableList {
    fn parse(line: &str) -> Option<Self> {
        let mut parts = vouched(line)?.strip_prefix("tables ")?.split(' ');
        let number = parts.next()?.parse().ok().filter(|&number| number != 0)?;
        let bytes = parts.next()?.parse().ok()?;
        Some(Self { number, bytes, head: u64::from_str_radix(parts.next()?, 16).ok()? })
    }

    /// The list of tables as it is, and its path; `None` where the engine is about to write another, or there is none.
    fn of(root: &Path) -> Result<Option<(Self, PathBuf)>> {
        let Some((number, path, mut file)) = open(root)? else { return Ok(None) };
        Ok(Some((Self::measure(number, &path, &mut file)?, path)))
    }

    /// As [`Self::of`], and on the disk to the length that is given.
    fn synced(root: &Path) -> Result<Option<Self>> {
        let Some((number, path, mut file)) = open(root)? else { return Ok(None) };
        let tables = Self::measure(number, &path, &mut file)?;
        file.sync_data().map_err(Error::io("sync", &path))?;
        Ok(Some(tables))
    }

    fn measure(number: u64, path: &Path, file: &mut File) -> Result<Self> {
        let bytes = file.metadata().map_err(Error::io("read", path))?.len();
        let mut head = Vec::new();
        file.take(HEAD_BYTES).read_to_end(&mut head).map_err(Error::io("read", path))?;
        Ok(Self { number, bytes, head: xxh3_64(&head) })
    }
}

/// The list of tables that the file `CURRENT` names, its number and path.
fn open(root: &Path) -> Result<Option<(u64, PathBuf, File)>> {
    let store = root.join(STORE);
    let absent = |error: &std::io::Error| error.kind() == ErrorKind::NotFound;
    let path = store.join("CURRENT");
    let current = match read_short(&path) {
        Err(error) if absent(&error) => return Ok(None),
        read => read.map_err(Error::io("read", &path))?,
    };
    // The engine reports a damaged name when it opens the store.
    let Ok(name) = std::str::from_utf8(&current) else { return Ok(None) };
    let Some(number) = name.trim_end().strip_prefix("MANIFEST-").and_then(|number| number.parse().ok()) else {
        return Ok(None);
    };
    let path = store.join(name.trim_end());
    match check_regular(&path).and_then(|()| File::open(&path)) {
        Err(error) if absent(&error) => Ok(None),
        opened => Ok(Some((number, path.clone(), opened.map_err(Error::io("read", &path))?))),
    }
}

/// Brings the mark up to date when the engine has let go of a store: what it did beside and after the last commit is in
/// the list of tables, too.
pub(in crate::store) struct AtClose {
    root: PathBuf,
    /// Set where a write has failed: the list of tables is not to be relied on then.
    failed: Arc<AtomicBool>,
}

impl AtClose {
    pub(in crate::store) fn new(root: &Path, failed: Arc<AtomicBool>) -> Self {
        Self { root: root.to_owned(), failed }
    }
}

impl Drop for AtClose {
    fn drop(&mut self) {
        if !self.failed.load(Ordering::Relaxed) {
            // The mark that is there is as true.
            let _ = read(&self.root).and_then(|mark| write(&self.root, mark.commits, mark.counts));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_mark_comes_back_and_a_damaged_one_vouches_for_nothing() {
        let all = TableList { number: u64::MAX, bytes: u64::MAX, head: u64::MAX };
        for tables in [None, Some(TableList { number: 1, bytes: 0, head: 0 }), Some(all)] {
            for (commits, counts) in [(0, None), (1, Some(held(0))), (10, None), (u64::MAX, Some(held(u64::MAX)))] {
                let mark = CommitMark { commits, tables, counts };
                let text = mark.text().into_bytes();
                assert_eq!(text.len(), CommitMark::default().text().len());
                assert_eq!(CommitMark::parse(&text), Some(mark));
                let ends: Vec<usize> = (1..).zip(&text).filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
                for index in 0..text.len() {
                    let mut flipped = text.clone();
                    flipped[index] ^= 1;
                    let found = CommitMark::parse(&flipped);
                    if index == ends[1] - 1 {
                        // Two lines become one.
                        assert_eq!(found, Some(CommitMark { commits, tables: None, counts: None }));
                    } else if index >= ends[0] {
                        let (flips_tables, flips_counts) = (index < ends[1], index >= ends[1]);
                        let tables = tables.filter(|_| !flips_tables);
                        assert_eq!(
                            found,
                            Some(CommitMark { commits, tables, counts: counts.filter(|_| !flips_counts) })
                        );
                    } else {
                        assert_eq!(found, None, "{index}");
                    }
                    let cut = (index >= ends[0]).then_some(CommitMark {
                        commits,
                        tables: tables.filter(|_| index >= ends[1]),
                        counts: None,
                    });
                    assert_eq!(CommitMark::parse(&text[..index]), cut, "{index}");
                }
            }
        }
    }

    fn held(documents: u64) -> Counts {
        Counts { documents, next_document: u32::try_from(documents).unwrap_or(u32::MAX) }
    }

    #[test]
    fn counts_of_another_commit_are_not_used() {
        let text = |commits| CommitMark { commits, tables: None, counts: Some(held(commits)) }.text();
        let lines = |text: &str| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<String>>();
        let (older, newer) = (lines(&text(6)), lines(&text(7)));
        let mixed = [&newer[0], &newer[1], &older[2]].map(String::as_str).concat();
        assert_eq!(CommitMark::parse(mixed.as_bytes()), Some(CommitMark { commits: 7, tables: None, counts: None }));
    }

    #[test]
    fn only_a_shorter_list_of_the_same_store_is_told_of() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join(STORE)).unwrap();
        let list = |number: u32| root.join(STORE).join(format!("MANIFEST-{number:06}"));
        let is_short = |mark: &CommitMark| matches!(mark.check_tables(root), Err(Error::TablesLost { .. }));
        write(root, 7, None).unwrap();
        assert!(!is_short(&read(root).unwrap()), "there is none");
        let text = "the store's own name, and more to fill what is looked at of the head of a list";
        for (number, text) in [(5, text), (6, text), (7, &"another store".repeat(9))] {
            fs::write(list(number), text).unwrap();
        }
        fs::write(root.join(STORE).join("CURRENT"), "MANIFEST-000005\n").unwrap();
        write(root, 8, Some(held(3))).unwrap();
        let mark = read(root).unwrap();
        assert_eq!((mark.commits, mark.counts), (8, Some(held(3))));
        assert!(!is_short(&mark));
        fs::write(list(5), format!("{text}, longer")).unwrap();
        assert!(!is_short(&mark));
        fs::write(list(5), &text[..text.len() - 1]).unwrap();
        assert!(is_short(&mark));
        fs::write(list(5), "a shorter list that another store has under this number, of more than its head").unwrap();
        assert!(!is_short(&mark));
        fs::write(root.join(STORE).join("CURRENT"), "MANIFEST-000006\n").unwrap();
        fs::write(list(6), &text[..text.len() - 1]).unwrap();
        assert!(!is_short(&mark));
    }
}

//! Commit mark: a file beside the store. It holds the number of the last commit, the length of the list of
//! tables, the number of documents and the identity of the database.
//!
//! If a log or a list of tables (`MANIFEST`) is cut between two records, the engine sees an intact older
//! database. Likewise, the store of another database looks intact to the engine. The mark detects both. A
//! writer writes the mark when it opens the store, after each commit, and after the engine has closed the
//! store. So the mark is never ahead of an intact store.
//!
//! Creation and repair write a mark. So the mark is missing only if it was deleted, or if an earlier version
//! of this program created the database.
//!
//! The list of tables is synced before it is marked. So a loss of power cannot make the list shorter than the
//! mark says. A kill during a fold, or between the opening of the store and the writing of the mark, can
//! leave a mark that is older than the list. If the list is then cut as well, only `verify` notices the cut,
//! unless a run is missing.
//!
//! RocksDB's own check of logs does not replace the mark (`engine::options`).

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use xxhash_rust::xxh3::xxh3_64;

use crate::codec::format::{COMMITTED, STORE};
use crate::codec::records::Counts;
use crate::open::files::{LIST, check_regular, read_short};
use fpdb_host::durable::sync_folder;
use fpdb_host::error::{Error, Result};

/// The facts of a commit that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CommitMark {
    /// The number of the last commit; 0 if unknown.
    pub(crate) commits: u64,
    tables: Option<TableList>,
    /// The counts of that commit. Older programs do not update the counts. Counts of an earlier commit are
    /// ignored.
    pub(crate) counts: Option<Counts>,
    /// The identity of the database. Older programs do not update the identity. An identity of an earlier
    /// commit is ignored, because an older program may have replaced the store.
    pub(crate) identity: Option<String>,
}

/// Maximum length, in bytes, of the database identity in a commit mark.
const IDENTITY_BYTES: usize = 64;

/// A list of tables, which only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TableList {
    /// The number of its file, `MANIFEST-` and at least six digits.
    number: u64,
    bytes: u64,
    /// The digest of its first bytes, which name the store: lists of other stores can have the same number.
    head: u64,
}

/// Number of bytes that `TableList::head` hashes with XXH3-64.
const HEAD_BYTES: u64 = 64;

/// Writes the mark of a commit, with the current list of tables.
///
/// Only the first mark is synced. If a loss of power brings an older mark back, that mark protects as well.
/// Without any mark, the list of an older copy would look right.
pub(crate) fn write(root: &Path, commits: u64, counts: Option<Counts>, identity: Option<String>) -> Result<()> {
    let mark = CommitMark { commits, tables: TableList::synced(root)?, counts, identity };
    let path = root.join(COMMITTED);
    // One write replaces the old text of the same length: a kill leaves either the old or the new text.
    let open =
        check_regular(&path).and_then(|()| OpenOptions::new().write(true).create(true).truncate(false).open(&path));
    let mut file = open.map_err(Error::io("write", &path))?;
    let (before, length) = (file.metadata().map_err(Error::io("read", &path))?.len(), mark.text().len() as u64);
    file.write_all(mark.text().as_bytes()).map_err(Error::io("write", &path))?;
    if before > length {
        // Stray bytes after the mark.
        file.set_len(length).map_err(Error::io("cut", &path))?;
    }
    if before < length {
        file.sync_all().map_err(Error::io("sync", &path))?;
        sync_folder(root)?;
    }
    Ok(())
}

/// The mark, without its damaged lines. Empty if there is no mark.
pub(crate) fn read(root: &Path) -> Result<CommitMark> {
    let path = root.join(COMMITTED);
    match read_short(&path) {
        Ok(bytes) => Ok(CommitMark::parse(&bytes).unwrap_or_default()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(CommitMark::default()),
        Err(source) => Err(Error::Io { action: "read", path, source }),
    }
}

/// The mark, as a verification names it.
pub(crate) const NAMED: &str = "the file `committed`";

/// The fault of the mark as a phrase, or `None` if it is whole. Older programs write fewer lines, and the
/// oldest no mark. A program that gives databases an identity (`has_identity`) always writes a mark.
pub(crate) fn fault(root: &Path, has_identity: bool) -> Result<Option<&'static str>> {
    let path = root.join(COMMITTED);
    let mut fault = None;
    // A writer may replace the mark while it is read, so a damaged one is read again.
    for _ in 0..2 {
        fault = match read_short(&path) {
            Ok(bytes) => {
                let text = std::str::from_utf8(&bytes).unwrap_or_default();
                let is_whole = !text.is_empty() && text.split_inclusive('\n').all(|line| vouched(line).is_some());
                (!is_whole).then_some("it is not what was written; the next command that writes makes it again")
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                has_identity.then_some("it is missing; the next command that writes makes it again")
            }
            Err(source) => return Err(Error::Io { action: "read", path, source }),
        };
        if fault.is_none() {
            break;
        }
    }
    Ok(fault)
}

impl CommitMark {
    /// The text of the mark. All marks have the same length.
    pub(crate) fn text(&self) -> String {
        // The number 0 stands for an unknown list, because no list has it.
        let TableList { number, bytes, head } = self.tables.unwrap_or(TableList { number: 0, bytes: 0, head: 0 });
        let commit = format!("commit {:020}", self.commits);
        let tables = format!("tables {number:020} {bytes:020} {head:016x}");
        // Unknown counts are written as counts of commit 0, which does not exist.
        let (of, Counts { documents, next_document }) =
            self.counts.map_or((0, Counts { documents: 0, next_document: 0 }), |counts| (self.commits, counts));
        let counts = format!("documents {of:020} {documents:020} {next_document:010}");
        let is_markable = |identity: &&str| {
            !identity.is_empty()
                && identity.len() <= IDENTITY_BYTES
                && identity.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let identity = self.identity.as_deref().filter(is_markable).unwrap_or_default();
        let identity = format!("identity {:020} {identity:<IDENTITY_BYTES$}", self.commits);
        [commit, tables, counts, identity].map(|line| format!("{line} {:016x}\n", xxh3_64(line.as_bytes()))).concat()
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(bytes).ok()?.split_inclusive('\n');
        let commits = vouched(lines.next()?)?.strip_prefix("commit ")?.parse().ok()?;
        let tables = lines.next().and_then(TableList::parse);
        let counts = lines.next().and_then(|line| Counts::parse(line, commits));
        let identity = lines.next().and_then(|line| parse_identity(line, commits));
        Some(Self { commits, tables, counts, identity })
    }

    /// The number of marked bytes of the list with this number and content. 0 if the list is later than the
    /// marked one. `None` if it is another list that is not later.
    pub(super) fn compare_list(&self, number: u64, content: &[u8]) -> Option<u64> {
        let marked = self.tables?;
        let head = content.get(..HEAD_BYTES as usize).map_or(marked.head, xxh3_64);
        match number.cmp(&marked.number) {
            std::cmp::Ordering::Greater => Some(0),
            // A cut list may be too short for its head.
            std::cmp::Ordering::Equal if head == marked.head => Some(marked.bytes),
            _ => None,
        }
    }

    /// True if a list of tables was marked.
    pub(crate) fn has_list(&self) -> bool {
        self.tables.is_some()
    }

    /// The name of the marked list of tables.
    pub(super) fn list_name(&self) -> Option<String> {
        self.tables.map(|tables| format!("{LIST}{:06}", tables.number))
    }
}

/// The path of the list of tables, and the number of its bytes that were marked. `None` if the list has not
/// grown since, or is not the marked one.
pub(super) fn grown_list(root: &Path) -> Result<Option<(PathBuf, u64)>> {
    let (Some(marked), Some((found, path))) = (read(root)?.tables, TableList::of(root)?) else { return Ok(None) };
    let same = (found.number, found.head) == (marked.number, marked.head);
    Ok((same && found.bytes > marked.bytes).then_some((path, marked.bytes)))
}

/// The name of the list of tables that `CURRENT` names. `None` if no such list exists.
pub(super) fn list_named(root: &Path) -> Result<Option<String>> {
    Ok(open(root)?.and_then(|(_, path, _)| Some(path.file_name()?.to_str()?.to_owned())))
}

/// The path of the list of tables and its length in bytes. `None` if the engine is about to write another
/// list.
pub(super) fn list_end(root: &Path) -> Result<Option<(PathBuf, u64)>> {
    Ok(TableList::of(root)?.map(|(list, path)| (path, list.bytes)))
}

/// The text before the checksum at the end of a line, if the checksum is right.
fn vouched(line: &str) -> Option<&str> {
    let (text, sum) = line.strip_suffix('\n')?.rsplit_once(' ')?;
    (sum == format!("{:016x}", xxh3_64(text.as_bytes()))).then_some(text)
}

/// The identity in a line, if the line belongs to this commit.
fn parse_identity(line: &str, commits: u64) -> Option<String> {
    let (of, identity) = vouched(line)?.strip_prefix("identity ")?.split_once(' ')?;
    let identity = identity.trim_end();
    (of.parse() == Ok(commits) && !identity.is_empty()).then(|| identity.to_owned())
}

impl Counts {
    /// The counts in a line, if the line belongs to this commit.
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

    /// The current list of tables, and its path. `None` if there is no list, or the engine is about to write
    /// another.
    fn of(root: &Path) -> Result<Option<(Self, PathBuf)>> {
        let Some((number, path, mut file)) = open(root)? else { return Ok(None) };
        Ok(Some((Self::measure(number, &path, &mut file)?, path)))
    }

    /// Like [`Self::of`], and syncs the list to disk up to the returned length.
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
    let Some(number) = name.trim_end().strip_prefix(LIST).and_then(|number| number.parse().ok()) else {
        return Ok(None);
    };
    let path = store.join(name.trim_end());
    match check_regular(&path).and_then(|()| File::open(&path)) {
        Err(error) if absent(&error) => Ok(None),
        opened => Ok(Some((number, path.clone(), opened.map_err(Error::io("read", &path))?))),
    }
}

/// Updates the mark after the engine has closed a store, because the list of tables has grown since the last
/// commit.
pub(crate) struct AtClose {
    root: PathBuf,
    /// Set after a failed write: the list of tables is then unreliable.
    failed: Arc<AtomicBool>,
}

impl AtClose {
    pub(crate) fn new(root: &Path, failed: Arc<AtomicBool>) -> Self {
        Self { root: root.to_owned(), failed }
    }
}

impl Drop for AtClose {
    fn drop(&mut self) {
        if !self.failed.load(Ordering::Relaxed) {
            // If this fails, the old mark stays, and still protects.
            let _ = read(&self.root).and_then(|mark| write(&self.root, mark.commits, mark.counts, mark.identity));
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
                for identity in [None, Some("cce828ed-62ae-463b-9359-c2c520ccd46b"), Some(&"x".repeat(IDENTITY_BYTES))]
                {
                    each_damage(&CommitMark { commits, tables, counts, identity: identity.map(str::to_owned) });
                }
            }
        }
    }

    /// Flips a bit of each byte of the mark, and cuts the mark before each byte.
    #[track_caller]
    fn each_damage(mark: &CommitMark) {
        let text = mark.text().into_bytes();
        assert_eq!(text.len(), CommitMark::default().text().len());
        assert_eq!(CommitMark::parse(&text).as_ref(), Some(mark));
        let ends: Vec<usize> = (1..).zip(&text).filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        // The mark without the fields of these lines.
        let without = |lines: &[usize]| CommitMark {
            tables: mark.tables.filter(|_| !lines.contains(&1)),
            counts: mark.counts.filter(|_| !lines.contains(&2)),
            identity: mark.identity.clone().filter(|_| !lines.contains(&3)),
            ..mark.clone()
        };
        for at in 0..text.len() {
            let line = ends.iter().filter(|&&end| end <= at).count();
            let mut flipped = text.clone();
            flipped[at] ^= 1;
            // If its line end is damaged, a line merges with the next one.
            let lost: &[usize] = match (line, at + 1 == ends[line]) {
                (1, true) | (2, true) => &[1, 2, 3][line - 1..],
                (line, _) => &[line],
            };
            let found = CommitMark::parse(&flipped);
            assert_eq!(found, (line > 0).then(|| without(lost)), "{at}");
            let cut = CommitMark::parse(&text[..at]);
            assert_eq!(cut, (line > 0).then(|| without(&[1, 2, 3][line - 1..])), "{at}");
        }
    }

    #[test]
    fn an_identity_that_does_not_fit_is_not_marked() {
        for identity in [String::new(), "a b".into(), "\n".into(), "ä".into(), "x".repeat(IDENTITY_BYTES + 1)] {
            let mark = CommitMark { commits: 7, identity: Some(identity), ..CommitMark::default() };
            assert_eq!(mark.text().len(), CommitMark::default().text().len());
            assert_eq!(CommitMark::parse(mark.text().as_bytes()).unwrap().identity, None);
        }
    }

    fn held(documents: u64) -> Counts {
        Counts { documents, next_document: u32::try_from(documents).unwrap_or(u32::MAX) }
    }

    #[test]
    fn counts_and_identity_of_another_commit_are_not_used() {
        let identity = Some("one".to_owned());
        let mark =
            |commits| CommitMark { commits, tables: None, counts: Some(held(commits)), identity: identity.clone() };
        let lines = |mark: &CommitMark| mark.text().split_inclusive('\n').map(str::to_owned).collect::<Vec<String>>();
        let (older, newer) = (lines(&mark(6)), lines(&mark(7)));
        let mixed = [&newer[0], &newer[1], &older[2], &older[3]].map(String::as_str).concat();
        let found = CommitMark::parse(mixed.as_bytes()).unwrap();
        assert_eq!((found.commits, found.counts, found.identity), (7, None, None));
    }

    #[test]
    fn a_list_is_compared_with_the_one_that_was_marked() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join(STORE)).unwrap();
        let text = "the store's own name, and more to fill what is looked at of the head of a list";
        let other = "another store".repeat(9);
        write(root, 7, None, None).unwrap();
        assert_eq!(read(root).unwrap().compare_list(5, text.as_bytes()), None, "there was none");
        fs::write(root.join(STORE).join("MANIFEST-000005"), text).unwrap();
        fs::write(root.join(STORE).join("CURRENT"), "MANIFEST-000005\n").unwrap();
        write(root, 8, Some(held(3)), Some("one".into())).unwrap();
        let mark = read(root).unwrap();
        assert_eq!((mark.commits, mark.counts, mark.identity.as_deref()), (8, Some(held(3)), Some("one")));
        assert_eq!(mark.list_name().as_deref(), Some("MANIFEST-000005"));
        assert_eq!(list_named(root).unwrap().as_deref(), Some("MANIFEST-000005"));
        let marked = Some(text.len() as u64);
        for (number, content, expected) in [
            (5, text, marked),
            (5, &text[..70], marked),
            (5, &text[..3], marked),
            (5, "", marked),
            (5, &other, None),
            (6, &other, Some(0)),
            (4, text, None),
        ] {
            assert_eq!(mark.compare_list(number, content.as_bytes()), expected, "{number} {content}");
        }
    }
}

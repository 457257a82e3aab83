//! Files: copies, links and moves whole files, and writes new files beside their place.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::options::LinkKind;
use fpdb_host::clock;
use fpdb_host::durable::create_folders_like;
use fpdb_host::error::{DocumentError, Error, Result};
use fpdb_host::stop::StopToken;
use fpdb_host::temporary::Temporary;

/// Bytes read at a time.
pub(super) const BUFFER: usize = 256 << 10;

/// Distinguishes a file from a later version of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) bytes: u64,
    pub(super) modified: Option<SystemTime>,
    /// Device and inode.
    inode: (u64, u64),
    /// Time of the last change to the file or its metadata (ctime), in seconds and nanoseconds. No program
    /// can set it.
    changed: (i64, i64),
}

impl Facts {
    /// The facts of the file that a path leads to.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let facts = path.metadata().map_err(Error::io("read", path))?;
        if !facts.is_file() {
            return Err(Error::Document(DocumentError::NotAFile { path: path.to_owned() }));
        }
        Ok(Self::from(&facts))
    }

    /// Like [`Self::of`], but opens the file first: a network file system then asks its server.
    pub(super) fn of_opened(path: &Path) -> Result<Self> {
        let opened = File::open(path).and_then(|file| file.metadata()).map_err(Error::io("read", path))?;
        // Another file may have taken this name since the file was opened.
        let facts = Self::of(path)?;
        if facts != Self::from(&opened) {
            return Err(Error::Document(DocumentError::ChangedWhileReading { path: path.to_owned() }));
        }
        Ok(facts)
    }

    /// The facts of a file, read so late that any later change alters its times. Two changes within the
    /// resolution of the file system's clock have the same time.
    pub(super) fn settled(path: &Path) -> Result<Self> {
        let facts = Self::of(path)?;
        match facts.unsettled() {
            None => Ok(facts),
            Some(rest) => {
                std::thread::sleep(rest);
                Self::of(path)
            }
        }
    }

    /// The time to wait until a further change would alter the times; `None` if no wait is needed.
    fn unsettled(&self) -> Option<Duration> {
        let (seconds, nanoseconds) = self.changed;
        // A time in whole seconds shows that the file system has no smaller unit. Other times follow the
        // kernel's clock.
        let resolution = if nanoseconds == 0 { Duration::from_secs(2) } else { Duration::from_millis(20) };
        let changed = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanoseconds).ok()?);
        let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + changed).unwrap_or_default();
        resolution.checked_sub(age)
    }

    /// The time of the last change, in seconds since 1970 and nanoseconds.
    pub(super) fn time(&self) -> Option<(i64, u32)> {
        self.modified.map(clock::seconds_and_nanoseconds)
    }

    /// A digest of `digest`, the size and the time.
    pub(super) fn mixed_with(&self, digest: u64) -> u64 {
        let time = self.modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok()).unwrap_or_default();
        let mut bytes = self.bytes.to_le_bytes().to_vec();
        bytes.extend(time.as_nanos().to_le_bytes());
        xxh3_64_with_seed(&bytes, digest)
    }

    /// A hash that distinguishes the file from others.
    fn file(&self) -> u64 {
        let (device, inode) = self.inode;
        xxh3_64(&[device.to_le_bytes(), inode.to_le_bytes()].concat())
    }

    /// True if the facts are equal except the time of the last change to the file or its metadata.
    pub(super) fn differs_in_change_only(&self, other: &Self) -> bool {
        Self { changed: other.changed, ..*self } == *other
    }
}

/// The facts of files after this run acted on them. An act on one name of a file changes the facts of its
/// other names.
#[derive(Debug, Default)]
pub(super) struct OwnActs(FxHashMap<u64, Facts>);

impl OwnActs {
    /// Records the facts of an open file after an act on it.
    pub(super) fn note(&mut self, file: &File, path: &Path) -> Result<()> {
        let facts = Facts::from(&file.metadata().map_err(Error::io("read", path))?);
        self.0.insert(facts.file(), facts);
        Ok(())
    }

    /// True if the facts of a file did not change from `before` to `now`, or only acts of this run changed
    /// them.
    pub(super) fn explain(&self, before: &Facts, now: &Facts) -> bool {
        before == now || before.differs_in_change_only(now) && self.0.get(&now.file()) == Some(now)
    }
}

impl From<&Metadata> for Facts {
    fn from(facts: &Metadata) -> Self {
        Self {
            bytes: facts.len(),
            modified: facts.modified().ok(),
            inode: (facts.dev(), facts.ino()),
            changed: (facts.ctime(), facts.ctime_nsec()),
        }
    }
}

/// Tells whether two names lead to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileIdentity {
    /// Hash of its directory entry. It is the same for all paths to the entry, through symbolic links and
    /// mounts.
    pub(super) entry: u64,
    /// Hash of the file itself.
    pub(super) file: u64,
    /// True if the file has no other directory entry.
    pub(super) is_only: bool,
}

impl FileIdentity {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let find = || Error::io("find", path);
        let real = path.canonicalize().map_err(find())?;
        let facts = real.metadata().map_err(find())?;
        let folder = real.parent().unwrap_or(&real).metadata().map_err(find())?;
        let name = real.file_name().unwrap_or_default().as_encoded_bytes();
        Ok(Self { entry: Self::hash(&folder, name), file: Self::file_of(&facts), is_only: facts.nlink() == 1 })
    }

    /// The hash of the file with these facts.
    pub(super) fn file_of(facts: &Metadata) -> u64 {
        Self::hash(facts, b"/")
    }

    fn hash(facts: &Metadata, name: &[u8]) -> u64 {
        xxh3_64(&[&facts.dev().to_le_bytes()[..], &facts.ino().to_le_bytes(), name].concat())
    }
}

/// Makes a relative path from a name, without the components that lead out of the folder.
pub(super) fn relative(name: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => path.push(part),
            Component::ParentDir => {
                path.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    path
}

/// A complete new file, not yet in its place.
#[derive(Debug)]
pub(super) struct Placing {
    file: File,
    part: Part,
    target: PathBuf,
}

/// The unfinished file. It is removed on drop unless it was renamed.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    _noted: Temporary,
}

impl Drop for Part {
    fn drop(&mut self) {
        // If the file was renamed, this fails, and nothing needs to be removed.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes an unfinished file of an earlier run. A power failure can leave this file but lose the line of the
/// log that names it.
pub(super) fn remove_lost_part(part: &Path) -> Result<()> {
    match fs::remove_file(part) {
        Err(error) if !is_missing(&error) => Err(Error::io("remove", part)(error)),
        _ => Ok(()),
    }
}

/// Writes a file for `target` under the hidden name `part` beside it, with the permissions of `like`. Until
/// the file is complete, only this user can read it.
pub(super) fn place(
    target: &Path,
    part: PathBuf,
    like: &Path,
    write: impl FnOnce(&mut File) -> Result<()>,
) -> Result<Placing> {
    let folder = target.parent().unwrap_or(Path::new("."));
    create_folders_like(folder, like.parent())?;
    let new = File::options().read(true).write(true).create_new(true).mode(0o600).open(&part);
    let mut file = new.map_err(Error::io("create", &part))?;
    let part = Part { _noted: Temporary::new(&part), path: part };
    write(&mut file).map_err(|error| match error {
        // The disk of the new file is full, not that of the file that it was copied from.
        Error::Io { source, .. }
            if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) =>
        {
            Error::io("write", target)(source)
        }
        error => error,
    })?;
    let mode = like.metadata().map_err(Error::io("read", like))?.mode();
    // A program that runs as its owner must not become one that runs as this user.
    file.set_permissions(fs::Permissions::from_mode(mode & 0o777)).map_err(Error::io("write", target))?;
    Ok(Placing { file, part, target: target.to_owned() })
}

impl Placing {
    /// Gives the file to the owner and the group of another file, as far as the system allows it.
    pub(super) fn keep_owner(&self, like: &Path) -> Result<()> {
        let like = like.metadata().map_err(Error::io("read", like))?;
        let _ = fchown(&self.file, Some(like.uid()), Some(like.gid()))
            .or_else(|_| fchown(&self.file, None, Some(like.gid())));
        Ok(())
    }

    /// Copies the modification time of another file.
    pub(super) fn keep_time(&self, like: &Path) -> Result<()> {
        let modified = like.metadata().and_then(|facts| facts.modified()).map_err(Error::io("read", like))?;
        self.file.set_modified(modified).map_err(Error::io("write", &self.target))
    }

    /// Syncs the file to disk and returns its facts.
    pub(super) fn synced(&self) -> Result<Facts> {
        self.file.sync_all().map_err(Error::io("write", &self.target))?;
        Ok(Facts::from(&self.file.metadata().map_err(Error::io("write", &self.target))?))
    }

    /// Moves the file to its place.
    pub(super) fn finish(self) -> Result<()> {
        fs::rename(&self.part.path, &self.target).map_err(Error::io("write", &self.target))
    }

    /// Moves the file to its place if nothing is there.
    pub(super) fn finish_new(self) -> Result<()> {
        rename_new(&self.part.path, &self.target).map_err(Error::io("write", &self.target))
    }
}

/// Copies all bytes of a file.
pub(super) fn copy(source: &Path, target: &mut File, stop: &StopToken) -> Result<()> {
    let mut input = File::open(source).map_err(Error::io("read", source))?;
    let mut left = input.metadata().map_err(Error::io("read", source))?.len();
    // The file is copied in parts, so that the copy can be stopped. If possible, the system copies the bytes
    // without passing them through this process.
    const PART: u64 = 64 << 20;
    while left > 0 {
        stop.check()?;
        let copied = io::copy(&mut (&mut input).take(PART), target).map_err(Error::io("copy", source))?;
        if copied == 0 {
            break;
        }
        left = left.saturating_sub(copied);
    }
    target.flush().map_err(Error::io("copy", source))
}

/// Renames a file. Fails if the new name exists.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from).inspect_err(|_| {
            // The file still exists under its old name.
            let _ = fs::remove_file(to);
        }),
        Err(error) => match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::CrossesDevices | io::ErrorKind::NotFound => Err(error),
            // The file system has no hard links, or the file belongs to another user.
            _ => rename_without_link(from, to),
        },
    }
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn rename_without_link(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)?)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn rename_without_link(from: &Path, to: &Path) -> io::Result<()> {
    match to.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
        Err(error) => Err(error),
    }
}

/// Sets a file aside by giving it a second name. If hard links are impossible, renames the file.
pub(super) fn keep_aside(path: &Path, aside: &Path) -> Result<()> {
    fs::hard_link(path, aside).or_else(|_| rename_new(path, aside)).map_err(Error::io("set aside", path))
}

/// Puts back a file that was set aside. The file replaces the link that was made in its place.
pub(super) fn put_back(aside: &Path, path: &Path) -> io::Result<()> {
    fs::rename(aside, path)?;
    // Renaming does nothing if both names lead to one file already.
    match fs::remove_file(aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes `link`, a hard or symbolic link to the file `survivor`. The link is removed on drop unless it is put
/// in place.
pub(super) fn link(survivor: &Path, link: PathBuf, kind: LinkKind) -> Result<Linked> {
    let made = match kind {
        // Links to the resolved path: a link to a relative symbolic link would lead elsewhere from here.
        LinkKind::Hard => fs::hard_link(survivor.canonicalize().map_err(Error::io("find", survivor))?, &link),
        LinkKind::Symbolic => symbolic(&way(&link, survivor)?, &link),
    };
    made.map_err(Error::io("link", &link))?;
    Ok(Linked(Part { _noted: Temporary::new(&link), path: link }))
}

/// A link that is not in its place yet.
#[derive(Debug)]
pub(super) struct Linked(Part);

impl Linked {
    pub(super) fn path(&self) -> &Path {
        &self.0.path
    }

    /// Puts the link in the place of a file.
    pub(super) fn replace(self, path: &Path) -> Result<()> {
        // If both names already lead to one file, renaming does nothing, and dropping `self` removes the
        // other name.
        fs::rename(&self.0.path, path).map_err(Error::io("link", path))
    }
}

/// True if a file is a link of this kind to a survivor, as [`link`] makes it.
pub(super) fn is_link(path: &Path, survivor: &Path, kind: LinkKind) -> bool {
    let identity = |path| FileIdentity::of(path).ok();
    let (Some(link), Some(survivor)) = (identity(path), identity(survivor)) else { return false };
    match kind {
        LinkKind::Hard => link.file == survivor.file,
        LinkKind::Symbolic => path.is_symlink() && link.entry == survivor.entry,
    }
}

/// True if the file does not exist, or if another file is in the place of its folder.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// True if a file could not be read because it does not exist.
pub(super) fn is_absent(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if is_missing(source))
}

/// True if the system refuses to read, change or place a file. False if the file is gone or has changed.
pub(super) fn is_refused(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() != io::ErrorKind::NotFound)
}

fn symbolic(way: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(way, link)
}

/// The relative path from the folder of one file to another file.
fn way(from: &Path, to: &Path) -> Result<PathBuf> {
    let folder = from.parent().unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(Error::io("find", folder))?;
    let to = to.canonicalize().map_err(Error::io("find", to))?;
    let shared = folder.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    Ok(up.chain(to.components().skip(shared)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_that_of_the_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("source"), "copied").unwrap();
        for (kind, expected) in [(io::ErrorKind::StorageFull, "target"), (io::ErrorKind::PermissionDenied, "source")] {
            let fails = |_: &mut File| Err(Error::io("copy", path("source"))(kind.into()));
            match place(&path("target"), path("part"), &path("source"), fails) {
                Err(Error::Io { path: named, .. }) => assert_eq!(named, path(expected)),
                other => panic!("{other:?}"),
            }
        }
    }

    /// A copy grants the rights of its owner to nobody, and is private until it is complete.
    #[test]
    fn a_new_file_gets_its_mode_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mode_of = |file: &File| file.metadata().unwrap().mode() & 0o7777;
        fs::write(path("source"), "copied").unwrap();
        fs::set_permissions(path("source"), fs::Permissions::from_mode(0o6754)).unwrap();
        let placing = place(&path("target"), path("part"), &path("source"), |file| {
            assert_eq!(mode_of(file), 0o600);
            Ok(())
        });
        assert_eq!(mode_of(&placing.unwrap().file), 0o754);
    }

    /// A file that has the name of an unfinished one is never written, followed or removed.
    #[test]
    fn a_file_in_the_place_of_an_unfinished_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("source"), "copied").unwrap();
        fs::write(path("victim"), "kept").unwrap();
        std::os::unix::fs::symlink(path("victim"), path("link")).unwrap();
        std::os::unix::fs::symlink(path("nowhere"), path("dangling")).unwrap();
        let copied = |part: &str| {
            place(&path("target"), path(part), &path("source"), |file| copy(&path("source"), file, &StopToken::new()))
        };
        for taken in ["victim", "link", "dangling"] {
            copied(taken).unwrap_err();
            assert_eq!(fs::read_to_string(path("victim")).unwrap(), "kept");
            assert!(path(taken).symlink_metadata().is_ok() && !path("nowhere").exists());
            link(&path("source"), path(taken), LinkKind::Hard).unwrap_err();
            for renaming in [rename_new, rename_without_link] {
                assert!(renaming(&path("source"), &path(taken)).is_err() && path("source").exists());
            }
        }
        rename_without_link(&path("victim"), &path("moved")).unwrap();
        assert!(path("moved").exists() && !path("victim").exists());
        let placing = copied("part").unwrap();
        assert_eq!(placing.synced().unwrap().bytes, 6);
        placing.finish().unwrap();
        assert_eq!(fs::read_to_string(path("target")).unwrap(), "copied");
    }

    /// The facts show a change that keeps size and time, even directly after another change.
    #[test]
    fn facts_tell_a_file_from_one_whose_time_was_set_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "before").unwrap();
        let facts = Facts::settled(&path).unwrap();
        let time = path.metadata().unwrap().modified().unwrap();
        fs::write(&path, "behind").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let now = Facts::of(&path).unwrap();
        assert!(now != facts && now.differs_in_change_only(&facts));
    }
}

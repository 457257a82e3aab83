//! Files: whole files, copied, linked and moved; and new ones, written beside their place.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use xxhash_rust::xxh3::xxh3_64;

use super::options::LinkKind;
use crate::error::{DocumentError, Error, Result};
use crate::stop::StopToken;
use crate::temporary::Temporary;

/// Bytes taken at a time.
pub(super) const BUFFER: usize = 256 << 10;

/// Tells a file from a later version of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    bytes: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode: (u64, u64),
}

impl Facts {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let facts = path.metadata().map_err(Error::io("read", path))?;
        if !facts.is_file() {
            return Err(Error::Document(DocumentError::NotAFile { path: path.to_owned() }));
        }
        Ok(Self::from(&facts))
    }
}

impl From<&Metadata> for Facts {
    fn from(facts: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            bytes: facts.len(),
            modified: facts.modified().ok(),
            #[cfg(unix)]
            inode: (facts.dev(), facts.ino()),
        }
    }
}

/// Tells whether two names lead to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileIdentity {
    /// The hash of its entry in its folder. It is the same for all names that lead there, through symbolic links and through mounts.
    pub(super) entry: u64,
    /// The hash of the file itself.
    pub(super) file: u64,
    /// True if the file has no other entry.
    pub(super) is_only: bool,
}

impl FileIdentity {
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let find = || Error::io("find", path);
        let real = path.canonicalize().map_err(find())?;
        let facts = real.metadata().map_err(find())?;
        let folder = real.parent().unwrap_or(&real).metadata().map_err(find())?;
        let hash = |facts: &Metadata, name: &[u8]| {
            xxh3_64(&[&facts.dev().to_le_bytes()[..], &facts.ino().to_le_bytes(), name].concat())
        };
        let name = real.file_name().unwrap_or_default().as_encoded_bytes();
        Ok(Self { entry: hash(&folder, name), file: hash(&facts, b"/"), is_only: facts.nlink() == 1 })
    }

    #[cfg(not(unix))]
    pub(super) fn of(path: &Path) -> Result<Self> {
        let real = path.canonicalize().map_err(Error::io("find", path))?;
        let entry = xxh3_64(real.as_os_str().as_encoded_bytes());
        Ok(Self { entry, file: entry, is_only: false })
    }
}

/// The place of a file of this name below a folder: without what leads out of it.
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

/// The most bytes of a file's name.
const MOST_OF_NAME: usize = 255;

/// The name of an unfinished file: that of the finished one between marks, or the hash of a name for which that would be too long.
fn part_name(target: &Path) -> OsString {
    let name = target.file_name().unwrap_or_default();
    let marked = |name: &OsStr| [OsStr::new("."), name, OsStr::new(".fpdb-part")].into_iter().collect::<OsString>();
    match marked(name) {
        part if part.len() <= MOST_OF_NAME => part,
        _ => marked(OsStr::new(&format!("{:016x}", xxh3_64(name.as_encoded_bytes())))),
    }
}

/// A file written whole, to be put in its place.
#[derive(Debug)]
pub(super) struct Placing {
    file: File,
    part: Part,
    target: PathBuf,
}

/// The unfinished file. It is removed unless it becomes the finished one.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    _noted: Temporary,
}

impl Drop for Part {
    fn drop(&mut self) {
        // After the renaming there is none.
        let _ = fs::remove_file(&self.path);
    }
}

/// Writes a file for `target` beside it, with the permissions of `like`.
pub(super) fn place(target: &Path, like: &Path, write: impl FnOnce(&mut File) -> Result<()>) -> Result<Placing> {
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let path = folder.join(part_name(target));
    // One that was killed may have left it. A file made anew is never another one that a link of this name leads to.
    remove_part(&path)?;
    let new = File::options().read(true).write(true).create_new(true).open(&path);
    let mut file = new.map_err(Error::io("create", target))?;
    let part = Part { _noted: Temporary::new(&path), path };
    write(&mut file)?;
    let permissions = like.metadata().map_err(Error::io("read", like))?.permissions();
    file.set_permissions(permissions).map_err(Error::io("write", target))?;
    Ok(Placing { file, part, target: target.to_owned() })
}

/// Removes an unfinished file, if there is one.
fn remove_part(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}

impl Placing {
    /// Gives the file the time of another.
    pub(super) fn keep_time(&self, like: &Path) -> Result<()> {
        let modified = like.metadata().and_then(|facts| facts.modified()).map_err(Error::io("read", like))?;
        self.file.set_modified(modified).map_err(Error::io("write", &self.target))
    }

    /// Its bytes, once they are on the disk.
    pub(super) fn synced(&self) -> Result<u64> {
        self.file.sync_all().map_err(Error::io("write", &self.target))?;
        Ok(self.file.metadata().map_err(Error::io("write", &self.target))?.len())
    }

    /// Puts it in its place. Returns its bytes.
    pub(super) fn finish(self) -> Result<u64> {
        let bytes = self.file.metadata().map_err(Error::io("write", &self.target))?.len();
        fs::rename(&self.part.path, &self.target).map_err(Error::io("write", &self.target))?;
        Ok(bytes)
    }
}

/// Copies all bytes of a file.
pub(super) fn copy(source: &Path, target: &mut File, stop: &StopToken) -> Result<()> {
    let mut input = File::open(source).map_err(Error::io("read", source))?;
    let mut left = input.metadata().map_err(Error::io("read", source))?.len();
    // In parts, so that it can be stopped; the system copies without passing them through this process where it can.
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

/// True if two files are not one and have the same bytes.
pub(super) fn same_bytes(one: &Path, other: &Path) -> Result<bool> {
    let open = |path: &Path| File::open(path).map_err(Error::io("read", path));
    let (mut first, mut second) = (open(one)?, open(other)?);
    let length = |file: &File, path: &Path| Ok::<_, Error>(file.metadata().map_err(Error::io("read", path))?.len());
    if length(&first, one)? != length(&second, other)? {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; BUFFER], vec![0; BUFFER]);
    loop {
        let read = first.read(&mut left).map_err(Error::io("read", one))?;
        if read == 0 {
            return Ok(true);
        }
        match second.read_exact(&mut right[..read]) {
            Ok(()) if left[..read] == right[..read] => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(Error::io("read", other)(error)),
        }
    }
}

/// Replaces a file by a link to another one.
pub(super) fn link(path: &Path, survivor: &Path, kind: LinkKind) -> Result<()> {
    let part = path.with_file_name(part_name(path));
    remove_part(&part)?;
    match kind {
        LinkKind::Hard => {
            // The file itself: a link to a symbolic link would lead elsewhere from here.
            let survivor = survivor.canonicalize().map_err(Error::io("find", survivor))?;
            fs::hard_link(survivor, &part).map_err(Error::io("link", path))?;
        }
        LinkKind::Symbolic => symbolic(&way(path, survivor)?, &part).map_err(Error::io("link", path))?,
    }
    let part = Part { _noted: Temporary::new(&part), path: part };
    // If both are one file already this does nothing, and the guard removes the other name.
    fs::rename(&part.path, path).map_err(Error::io("link", path))
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

/// True if the system refuses to let a file be read, changed or placed; false if the file is gone, or is not what it was.
pub(super) fn is_refused(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() != io::ErrorKind::NotFound)
}

#[cfg(unix)]
fn symbolic(way: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(way, link)
}

#[cfg(windows)]
fn symbolic(way: &Path, link: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(way, link)
}

/// The way from the folder of one file to another file.
fn way(from: &Path, to: &Path) -> Result<PathBuf> {
    let folder = from.parent().unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(Error::io("find", folder))?;
    let to = to.canonicalize().map_err(Error::io("find", to))?;
    let shared = folder.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    Ok(up.chain(to.components().skip(shared)).collect())
}

/// Moves a file; onto another file system by copying it.
pub(super) fn move_to(path: &Path, target: &Path, stop: &StopToken) -> Result<()> {
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    match fs::rename(path, target) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            let before = Facts::of(path)?;
            let placing = place(target, path, |file| copy(path, file, stop))?;
            if Facts::of(path)? != before {
                return Err(Error::Document(DocumentError::ChangedWhileReading { path: path.to_owned() }));
            }
            placing.keep_time(path)?;
            placing.synced()?;
            placing.finish()?;
            fs::remove_file(path).map_err(Error::io("remove", path))
        }
        moved => moved.map_err(Error::io("move", path)),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A link of the unfinished file's name does not lead the copy to another file.
    #[test]
    fn a_planted_link_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("source"), "copied").unwrap();
        fs::write(path("victim"), "kept").unwrap();
        let target = path("target");
        for planted in [path("victim"), path("nowhere")] {
            std::os::unix::fs::symlink(planted, folder.path().join(part_name(&target))).unwrap();
            let copied =
                place(&target, &path("source"), |file| copy(&path("source"), file, &StopToken::new())).unwrap();
            assert_eq!((copied.synced().unwrap(), copied.finish().unwrap()), (6, 6));
            assert_eq!(fs::read_to_string(&target).unwrap(), "copied");
            assert!(!target.is_symlink());
            assert_eq!(fs::read_to_string(path("victim")).unwrap(), "kept");
            assert!(!path("nowhere").exists());
        }
    }
}

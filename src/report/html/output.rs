//! Output: writes a report (a folder or one file) beside its place, and moves it there whole. It replaces
//! only an earlier report.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile, TempDir};

use super::page;
use fpdb_host::error::{Error, Result};
use fpdb_host::temporary::Temporary;
use fpdb_reading::recognise::REPORT_PAGE;

/// The page of a report in a folder.
const PAGE: &str = "index.html";
/// The folder of its data.
const DATA: &str = "data";

/// A report that is being written.
pub(super) struct Output {
    /// The final place of the report.
    target: PathBuf,
    making: FolderInProgress,
    _noted: Temporary,
    files: u64,
    bytes: u64,
}

enum FolderInProgress {
    /// Pairs and texts are separate files.
    Folder(TempDir),
    /// Everything is in one file.
    File(BufWriter<NamedTempFile>),
}

impl Output {
    /// Begins a report at `target`.
    ///
    /// # Errors
    /// [`Error::NotAReport`] if something else exists there; [`Error::Io`].
    pub(super) fn create(target: &Path, single_file: bool) -> Result<Self> {
        // If the path is a link, the target of the link is replaced.
        let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        check(&target, single_file)?;
        let parent = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        fs::create_dir_all(&parent).map_err(Error::io("create", &parent))?;
        let mut builder = Builder::new();
        builder.prefix(".fpdb-report-");
        let failed = Error::io("create a file in", &parent);
        let mut output = if single_file {
            let file = permit(&mut builder, 0o666).tempfile_in(&parent).map_err(failed)?;
            let _noted = Temporary::new(file.path());
            Self { target, making: FolderInProgress::File(BufWriter::new(file)), _noted, files: 1, bytes: 0 }
        } else {
            let made = Temporary::folder(|| permit(&mut builder, 0o777).tempdir_in(&parent));
            let (folder, _noted) = made.map_err(failed)?;
            let data = folder.path().join(DATA);
            fs::create_dir(&data).map_err(Error::io("create", &data))?;
            Self { target, making: FolderInProgress::Folder(folder), _noted, files: 1, bytes: 0 }
        };
        if single_file {
            output.append(&page::head())?;
        }
        Ok(output)
    }

    /// Adds packed data, which the page loads by `name`.
    pub(super) fn part(&mut self, name: &str, packed: &str) -> Result<()> {
        match &self.making {
            FolderInProgress::File(_) => self.append(&page::packed(name, packed)),
            FolderInProgress::Folder(folder) => {
                let path = folder.path().join(DATA).join(format!("{name}.js"));
                let content = page::part(name, packed);
                fs::write(&path, &content).map_err(Error::io("write", &path))?;
                self.files += 1;
                self.bytes += content.len() as u64;
                Ok(())
            }
        }
    }

    /// Writes the overview and moves the report to its place. Returns its number of files and bytes.
    pub(super) fn finish(mut self, overview: &str) -> Result<(u64, u64)> {
        let rest = page::data("overview", overview) + &page::foot();
        match self.making {
            FolderInProgress::File(_) => {
                self.append(&rest)?;
                let FolderInProgress::File(file) = self.making else { return Ok((self.files, self.bytes)) };
                let failed = || Error::io("write", &self.target);
                let file = file.into_inner().map_err(|error| failed()(error.into_error()))?;
                check(&self.target, true)?;
                file.persist(&self.target).map_err(|error| failed()(error.error))?;
            }
            FolderInProgress::Folder(folder) => {
                let path = folder.path().join(PAGE);
                let content = page::head() + &rest;
                fs::write(&path, &content).map_err(Error::io("write", &path))?;
                self.bytes += content.len() as u64;
                replace(folder, &self.target)?;
            }
        }
        Ok((self.files, self.bytes))
    }

    fn append(&mut self, text: &str) -> Result<()> {
        self.bytes += text.len() as u64;
        match &mut self.making {
            FolderInProgress::File(file) => file.write_all(text.as_bytes()).map_err(Error::io("write", &self.target)),
            FolderInProgress::Folder(_) => Ok(()),
        }
    }
}

/// Gives a report the permissions of an ordinary file. Temporary files are private to their owner.
fn permit<'a, 'b>(builder: &'a mut Builder<'b, 'b>, mode: u32) -> &'a mut Builder<'b, 'b> {
    builder.permissions(PermissionsExt::from_mode(mode))
}

/// Moves the folder to the report's place, and replaces an earlier report.
fn replace(made: TempDir, target: &Path) -> Result<()> {
    check(target, false)?;
    let failed = || Error::io("create", target);
    if target.exists() {
        // The earlier report goes into a folder that is removed at the end.
        let parent = made.path().parent().unwrap_or(Path::new("."));
        let aside = Builder::new().prefix(".fpdb-report-").tempdir_in(parent).map_err(failed())?;
        let old = aside.path().join("old");
        fs::rename(target, &old).map_err(failed())?;
        if let Err(error) = fs::rename(made.path(), target) {
            // Puts the earlier report back. If that fails too, the first error is the one to report.
            let _ = fs::rename(&old, target);
            return Err(failed()(error));
        }
    } else {
        fs::rename(made.path(), target).map_err(failed())?;
    }
    // The folder has moved, so there is nothing left to remove.
    let _ = made.keep();
    Ok(())
}

/// Fails if a report cannot be written at `target`, before the work for it begins. Leaves nothing there.
///
/// # Errors
/// [`Error::NotAReport`] if something else exists there; [`Error::Io`].
pub fn check_place(target: impl AsRef<Path>, single_file: bool) -> Result<()> {
    let target = target.as_ref();
    check(target, single_file)?;
    // Folders that do not exist yet are created with the report.
    let around = std::path::absolute(target).map_err(Error::io("find the folder of", target))?;
    let folder = around.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    tempfile::tempfile_in(folder).map(drop).map_err(Error::io("create a file in", folder))
}

/// Refuses to replace anything except a report of the same kind. A folder with a report and other files is
/// refused too.
fn check(target: &Path, single_file: bool) -> Result<()> {
    let refuse = |what: String| Error::NotAReport { path: target.to_owned(), what };
    let Ok(facts) = fs::metadata(target) else { return Ok(()) };
    if single_file {
        return match facts.is_file() && is_page(target) {
            true => Ok(()),
            false => Err(refuse("something else is there".into())),
        };
    }
    if !facts.is_dir() {
        return Err(refuse("it is a file".into()));
    }
    let entries = names(target)?;
    if entries.is_empty() {
        return Ok(());
    }
    if !is_page(&target.join(PAGE)) {
        return Err(refuse("it is a folder of other files".into()));
    }
    let is_data = |name: &String| {
        let number = name.strip_suffix(".js").and_then(|name| name.split_once('-'));
        number.is_some_and(|(kind, number)| {
            ["pair", "text"].contains(&kind) && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let foreign = entries.into_iter().find(|name| name != PAGE && name != DATA);
    let data = target.join(DATA);
    let foreign = match foreign {
        None if data.is_dir() => names(&data)?.into_iter().find(|name| !is_data(name)),
        other => other,
    };
    foreign.map_or(Ok(()), |name| Err(refuse(format!("beside a report it holds {name}"))))
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<std::io::Result<Vec<_>>>());
    let entries = entries.map_err(Error::io("read", folder))?;
    let mut names: Vec<String> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn is_page(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(REPORT_PAGE.len() as u64).read_to_end(&mut beginning));
    read.is_ok() && beginning == REPORT_PAGE.as_bytes()
}

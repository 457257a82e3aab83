//! Path filter: selects files of a folder, members of archives and records by their names.

use std::path::{Path, PathBuf};

use super::globs::Globs;
use super::options::WalkOptions;
use crate::input::expand::member_name::{is_number, layer_named};
use crate::recognise::{Container, Layer};
use fpdb_host::error::Result;

/// Selects files of a folder, members of archives and records by their names.
pub struct PathFilter {
    exclude: Globs,
    /// `None` if all files count.
    include: Option<Globs>,
    /// The globs of `exclude` that can name a record; `None` if there are none.
    exclude_records: Option<Globs>,
    /// The globs of `include` that can name a record; `None` if there are none.
    include_records: Option<Globs>,
    /// The globs of `include`, as they were given.
    include_globs: Vec<String>,
}

impl PathFilter {
    /// The filter of these options.
    ///
    /// # Errors
    /// [`Error::InvalidParameter`](fpdb_host::error::Error::InvalidParameter) for a glob that does not parse.
    pub fn new(options: &WalkOptions) -> Result<Self> {
        let exclude =
            |globs: &[String]| Globs::new("exclude", "a glob without `!` in front: what it matches is left out", globs);
        let include = |globs: &[String]| {
            Globs::new("include", "a glob without `!` in front: only what it matches is taken", globs)
        };
        let some = |globs: &[String], new: &dyn Fn(&[String]) -> Result<Globs>| {
            (!globs.is_empty()).then(|| new(globs)).transpose()
        };
        // Globs without `#` or `:`, such as `*1`, are meant for files, and would match records by accident.
        let of_records = |globs: &[String]| -> Vec<String> {
            globs.iter().filter(|glob| glob.contains(['#', ':'])).cloned().collect()
        };
        Ok(Self {
            exclude: exclude(&options.exclude)?,
            include: some(&options.include, &include)?,
            exclude_records: some(&of_records(&options.exclude), &exclude)?,
            include_records: some(&of_records(&options.include), &include)?,
            include_globs: options.include.clone(),
        })
    }

    /// The same filter without the numbers of records: a glob of `include` that names a record names its
    /// whole file.
    #[must_use]
    pub fn without_records(self) -> Self {
        let files = |glob: &String| -> Vec<String> {
            let begins = glob.match_indices(['#', ':']).map(|(at, _)| glob[..at].to_owned());
            begins.chain([glob.clone()]).collect()
        };
        let globs: Vec<String> = self.include_globs.iter().flat_map(files).collect();
        // If the part of a glob before the record is not a valid glob, for example if it is empty, the glob
        // may name every file.
        let include = self.include.and_then(|_| Globs::new("include", "", &globs).ok());
        Self { exclude_records: None, include_records: None, include, ..self }
    }

    /// True if a file of a folder counts.
    pub(crate) fn counts(&self, path: &Path) -> bool {
        !self.excludes(path) && self.includes(path)
    }

    /// True if a document counts: a file of a folder, or a part of such a file.
    pub(crate) fn counts_member(&self, path: &Path, suffix: &str) -> bool {
        if suffix.is_empty() {
            return self.counts(path);
        }
        let part = PartPaths::of([path], suffix);
        !self.excludes_part(&part) && self.includes_part(&part)
    }

    /// True if a part of a file is left out. If a part may hold documents that `include` matches, only
    /// `exclude` can leave it out, because `include` is applied to each of these documents. Globs match the
    /// path of the file, and also its name, which may come from a run in another folder.
    pub fn leaves_out(&self, path: &Path, name: &Path, suffix: &str) -> bool {
        let Some(member) = named_member(suffix) else {
            let names_records = self.include_records.is_some() || self.exclude_records.is_some();
            if !names_records {
                return false;
            }
            let part = PartPaths::of([path, name], suffix);
            // A file that was named itself counts with all its records, unless a glob chooses among records.
            return self.excludes_part(&part) || !(self.include_records.is_none() || self.includes_part(&part));
        };
        if self.include.is_none() && self.exclude.is_empty() {
            return false;
        }
        let part = PartPaths::of([path, name], suffix);
        self.excludes_part(&part) || !(self.may_hold_included(member) || self.includes_part(&part))
    }

    /// True if `exclude` matches the path of a file, or of a folder around it.
    pub fn excludes(&self, path: &Path) -> bool {
        self.exclude.matches_or_parents(path)
    }

    /// Like [`excludes`](Self::excludes), for an entry of a folder that is not excluded.
    pub(crate) fn excludes_entry(&self, path: &Path, is_folder: bool) -> bool {
        self.exclude.matches(path, is_folder)
    }

    /// Like `counts`, for a path that is known not to be excluded.
    pub fn includes(&self, path: &Path) -> bool {
        self.include.as_ref().is_none_or(|include| include.matches_or_parents(path))
    }

    /// True if a file with this name can hold documents that `include` matches by their own names. Such
    /// documents are members of an archive such as zip or tar, or records if a glob can name a record.
    pub fn may_hold_included(&self, name: &str) -> bool {
        match container_named(name) {
            Some(Container::Zip | Container::Tar) => true,
            Some(_) => self.include_records.is_some(),
            None => false,
        }
    }

    fn excludes_part(&self, part: &PartPaths) -> bool {
        part.files.iter().any(|path| self.exclude.matches_or_parents(path))
            || part.is_named(self.exclude_records.as_ref())
    }

    fn includes_part(&self, part: &PartPaths) -> bool {
        part.files.iter().any(|path| self.includes(path)) || part.is_named(self.include_records.as_ref())
    }
}

/// The container that a file with this name is, maybe compressed.
fn container_named(name: &str) -> Option<Container> {
    if let Layer::Container(container) = layer_named(name) { Some(container) } else { None }
}

/// The name of a member of an archive, or of an attachment of a mail in an mbox, such as `#17!a.pdf`. `None`
/// for a member without a name, such as a record.
fn named_member(suffix: &str) -> Option<&str> {
    let attachment = || suffix.strip_prefix('#')?.split_once('!');
    suffix.strip_prefix('!').or_else(|| attachment().filter(|(mail, _)| is_number(mail)).map(|(_, name)| name))
}

/// The paths by which globs match a part of a file.
struct PartPaths {
    /// Two paths of the part's innermost file, for each path of the outermost file. In the first path, the
    /// archives around the file are folders. The second path is the file's name in answers.
    files: Vec<PathBuf>,
    /// The names, in answers, of the part and of each part around it.
    names: Vec<PathBuf>,
}

impl PartPaths {
    fn of<'a>(paths: impl IntoIterator<Item = &'a Path>, suffix: &str) -> Self {
        let mut all = Self { files: Vec::new(), names: Vec::new() };
        for path in paths {
            let named = |suffix: &str| {
                let mut name = path.as_os_str().to_owned();
                name.push(suffix);
                PathBuf::from(name)
            };
            let file = &suffix[..record_start(path, suffix)];
            // A mail of an mbox is not a folder: its attachments are in the folder with the mbox's name.
            let without_number = |part: &str| match part.rsplit_once('#') {
                Some((mbox, number)) if is_number(number) => mbox.to_owned(),
                _ => part.to_owned(),
            };
            let folders: Vec<String> = file.split('!').map(without_number).collect();
            let inside = match folders.join("/").trim_start_matches('/') {
                "" => path.to_owned(),
                inside => path.join(inside),
            };
            let around = suffix.match_indices(['!', '#', ':']).filter(|&(at, _)| at > 0).map(|(at, _)| &suffix[..at]);
            all.files.extend([inside, named(file)]);
            all.names.extend(around.chain([suffix]).map(named));
        }
        all
    }

    /// True if one of these globs matches a name.
    fn is_named(&self, globs: Option<&Globs>) -> bool {
        globs.is_some_and(|globs| self.names.iter().any(|name| globs.matches_or_parents(name)))
    }
}

/// Offset in a suffix at which the record begins: `:3` for a line, `#17` for a mail, `#` and the id for a web
/// record. The length of the suffix if the part is a file.
fn record_start(path: &Path, suffix: &str) -> usize {
    if let Some((file, number)) = suffix.rsplit_once([':', '#'])
        && is_number(number)
    {
        return file.len();
    }
    let of_container = |&(at, _): &(usize, &str)| {
        let outer = format!("{}{}", path.display(), &suffix[..at]);
        container_named(&outer) == Some(Container::Warc)
    };
    suffix.match_indices('#').find(of_container).map_or(suffix.len(), |(at, _)| at)
}

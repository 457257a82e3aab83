//! Renamed: remembered folders that have another name now. Their flags still hold, so that a file that they
//! left out stays out.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use fpdb::Database;
use fpdb::maintenance::RememberedSource;
use fpdb_host::stop::StopToken;
use fpdb_kernel::document::Digest;
use fpdb_reading::input::{InputLimits, Reader, Source, WalkEvent, WalkOptions, candidate_of, is_gone, walk};

/// Maximum number of documents of a folder whose files are looked for.
const LOOKED_AT: usize = 100;

/// A remembered folder that is gone, and the files in it from which documents were read. Each path begins
/// with `/`.
struct GoneFolder<'a> {
    source: &'a RememberedSource,
    files: BTreeMap<String, GoneFile>,
}

enum GoneFile {
    Document(u64, Digest),
    /// The bytes of a container, and the time of its last change.
    Container(u64, (i64, u32)),
}

impl GoneFile {
    fn bytes(&self) -> u64 {
        match self {
            Self::Document(bytes, _) | Self::Container(bytes, _) => *bytes,
        }
    }

    /// True if the file at this path is this one.
    fn is_at(&self, path: &str) -> bool {
        let Ok(candidate) = candidate_of(Path::new(path)) else { return false };
        let Some(file) = candidate.about.file.as_ref().filter(|file| file.bytes == self.bytes()) else { return false };
        match self {
            Self::Document(_, digest) => {
                let mut reader = Reader::new(InputLimits::default());
                let read = reader.read(&candidate, &StopToken::new(), &|_| {}, &mut |_| Ok(()));
                read.is_ok_and(|read| read == *digest)
            }
            Self::Container(_, time) => file.modified.is_some_and(|now| (now.seconds, now.nanoseconds) == *time),
        }
    }
}

/// Finds remembered folders that are gone below other names. A new folder without documents is such a folder
/// if half of the files are at the same paths in it, with the same bytes.
pub(super) struct Renamed<'a> {
    database: &'a Database,
    sources: &'a [RememberedSource],
    /// The folders that are gone; `None` until they are needed.
    gone: Option<Vec<GoneFolder<'a>>>,
    /// The folders that were found, by their absolute paths now.
    pub(super) found: BTreeMap<String, &'a RememberedSource>,
}

impl<'a> Renamed<'a> {
    pub(super) fn new(database: &'a Database, sources: &'a [RememberedSource]) -> Self {
        Self { database, sources, gone: None, found: BTreeMap::new() }
    }

    /// The old folder of the folder that is at this absolute path now.
    pub(super) fn at(&self, path: &Path) -> Option<&'a RememberedSource> {
        self.found.get(path.to_str()?).copied()
    }

    /// Looks for the folders in a typed file or folder.
    pub(super) fn look_in(&mut self, path: &Path) -> anyhow::Result<()> {
        let gone = match &self.gone {
            Some(gone) => gone,
            None => self.gone.insert(gone_folders(self.database, self.sources)?),
        };
        if gone.is_empty() {
            return Ok(());
        }
        let mut alike = BTreeSet::new();
        walk(&[Source::Path(path.to_owned())], &WalkOptions::default(), &mut |event| {
            if let WalkEvent::Document(candidate) = event
                && let Some(file) = candidate.about.file
            {
                for (at, _) in file.source.match_indices('/') {
                    let (new, below) = file.source.split_at(at);
                    let has_it = |folder: &GoneFolder<'_>| {
                        folder.files.get(below).is_some_and(|known| known.bytes() == file.bytes)
                    };
                    alike
                        .extend((0..gone.len()).filter(|&folder| has_it(&gone[folder])).map(|of| (new.to_owned(), of)));
                }
            }
            ControlFlow::Continue(())
        })?;
        for (new, of) in alike {
            let GoneFolder { source, files } = &gone[of];
            let half = files.len().div_ceil(2);
            let there = files.iter().filter(|(below, file)| file.is_at(&format!("{new}{below}")));
            if self.sources.iter().all(|source| source.path != new)
                && self.database.documents_at(&new, 1)?.is_empty()
                && there.take(half).count() == half
            {
                self.found.insert(new, source);
            }
        }
        Ok(())
    }
}

/// The remembered folders that are gone, with files in them that were read.
fn gone_folders<'a>(database: &Database, sources: &'a [RememberedSource]) -> anyhow::Result<Vec<GoneFolder<'a>>> {
    let mut folders = Vec::new();
    for source in sources.iter().filter(|source| is_gone(Path::new(&source.path))) {
        let mut files = BTreeMap::new();
        for (document, container) in database.documents_at(&source.path, LOOKED_AT)? {
            let below = document.source.as_deref().and_then(|file| file.strip_prefix(&source.path));
            let Some(below) = below.filter(|below| below.starts_with('/')) else { continue };
            let file = match container {
                Some((bytes, time)) => GoneFile::Container(bytes, time),
                None if document.member.is_none() => GoneFile::Document(document.bytes, document.digest),
                None => continue,
            };
            files.insert(below.to_owned(), file);
        }
        if !files.is_empty() {
            folders.push(GoneFolder { source, files });
        }
    }
    Ok(folders)
}

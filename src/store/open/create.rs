//! Making and opening a database: the marker, the lock, the engine, and what a crash left behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use rocksdb::{Cache, DB, IteratorMode, Options, WriteBatch, WriteOptions};
use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::profile::Profile;
use crate::store::care::repair;
use crate::store::codec::format::{
    FILTERS, FORMAT_VERSION, INCOMING, MARKER, POSITIONS, POSTINGS, PROFILE_KEY, RUN_FAMILIES, STATE_KEY, STORE, TEXTS,
    encode_profile, marker, marker_version, position_key, posting_key, run_of_key,
};
use crate::store::codec::records::{self, StateRecord};
use crate::store::engine::options;
use crate::store::open::lock::{self, WriterLock};
use crate::store::open::mark;
use crate::store::open::mark::AtClose;
use crate::store::open::open_files;
use crate::store::read::filter_cursor::FilterUse;
use crate::store::read::lookup::{Reading, rows_of};
use crate::store::turns::Turns;
use crate::store::view::{View, load_profile};
use crate::store::{Store, cause, failed, family, missing};
use crate::temporary::Temporary;

/// How often a reader follows the writer to a state that is whole. Once is enough unless commits come fast.
const CATCH_UPS: usize = 5;

/// How often a reader that a writer gets in the way of tries to open the database, and how long it waits in between.
const OPENINGS: usize = 20;
const PAUSE: Duration = Duration::from_millis(5);

impl Store {
    /// Makes an empty database at `root`, where nothing may be yet but an empty folder, and opens it for
    /// writing.
    pub(crate) fn create(root: &Path, profile: &Profile) -> Result<Self> {
        make_whole(root, |inside| {
            let mut opts = options::database();
            opts.create_if_missing(true);
            opts.create_missing_column_families(true);
            let cache = options::cache();
            let db = DB::open_cf_descriptors(&opts, inside.join(STORE), options::families(&cache)?)
                .map_err(failed("create its files"))?;
            let mut batch = WriteBatch::default();
            batch.put(PROFILE_KEY, encode_profile(profile));
            batch.put(STATE_KEY, records::encode(&StateRecord::default())?);
            db.write_opt(batch, &synced()).map_err(failed("write its first record"))?;
            Ok(*profile)
        })?;
        Self::open_writer(root)
    }

    /// Opens a database for writing, and discards what an interrupted run did not commit.
    pub(crate) fn open_writer(root: &Path) -> Result<Self> {
        check_marker(root)?;
        let lock = WriterLock::take(root)?;
        repair::settle(root)?;
        Self::open_locked(root, lock)
    }

    /// As [`Self::open_writer`], with the lock in hand.
    pub(in crate::store) fn open_locked(root: &Path, lock: WriterLock) -> Result<Self> {
        // The engine drops what a damaged log or list of tables does not name; so this is looked at before.
        drop(Self::open_unlocked(root)?);
        let cache = options::cache();
        let db = DB::open_cf_descriptors(&options::database(), root.join(STORE), options::families(&cache)?)
            .map_err(cannot_open(root))?;
        let store = Self::load(root, db, cache, None, Some(lock))?;
        store.discard_unfinished()?;
        // Opening has made a new list of tables.
        store.mark()?;
        Ok(store)
    }

    /// Opens a database for reading, as of its last commit; a writer may be at work beside it.
    pub(crate) fn open_reader(root: &Path) -> Result<Self> {
        check_marker(root)?;
        for _ in 0..OPENINGS {
            // Without a writer beside it the engine opens a database for reading whole, or says what is missing.
            let before = lock::last_writer(root)?;
            let opened = match before {
                Some(_) => Self::open_unlocked(root),
                None => Self::open_beside_writer(root),
            };
            let undisturbed = before.is_some() && lock::last_writer(root)? == before;
            if undisturbed || before.is_none() && opened.is_ok() {
                return opened;
            }
            // A table can be folded away between being found in the list and being opened.
            thread::sleep(PAUSE);
        }
        Self::open_beside_writer(root)
    }

    /// Opens a database for reading that another process may be writing.
    fn open_beside_writer(root: &Path) -> Result<Self> {
        open_files::allow_for(root)?;
        let marked = marked(root)?;
        let (opts, folder) = reader_options()?;
        let path = root.join(STORE);
        let cache = options::cache();
        // Beside a writer it defines reading for a secondary instance only. That leaves out tables it cannot
        // find, and says nothing; but the writer has found them all.
        let db = DB::open_cf_descriptors_as_secondary(&opts, path.as_path(), folder.path(), options::families(&cache)?)
            .map_err(cannot_open(root))?;
        catch_up(&db)?;
        let store = Self::load(root, db, cache, Some(folder), None)?;
        // Opened while a writer commits, it can have read its tables before the list of runs.
        for _ in 0..CATCH_UPS {
            if store.missing_run()?.is_none() {
                return store.checked(marked);
            }
            catch_up(&store.db)?;
            *store.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(View::load(&store.db)?);
        }
        match store.missing_run()? {
            None => store.checked(marked),
            Some(run) => Err(missing(&format!("run {run} of the postings"))),
        }
    }

    /// Opens a database that no other process writes, for reading.
    pub(in crate::store) fn open_unlocked(root: &Path) -> Result<Self> {
        open_files::allow_for(root)?;
        let marked = marked(root)?;
        let (opts, folder) = reader_options()?;
        let cache = options::cache();
        let db = DB::open_cf_descriptors_read_only(&opts, root.join(STORE), options::families(&cache)?, false);
        let store = Self::load(root, db.map_err(cannot_open(root))?, cache, Some(folder), None)?.checked(marked)?;
        // A list of tables that was cut between two records leaves out tables without a word.
        match store.missing_run()? {
            None => Ok(store),
            Some(run) => Err(missing(&format!("run {run} of the postings"))),
        }
    }

    /// The store, unless it lacks commits that were marked before it was opened.
    fn checked(self, marked: u64) -> Result<Self> {
        let found = self.view().state.commits;
        if found < marked {
            return Err(Error::CommitsLost { path: self.root, found, marked });
        }
        Ok(self)
    }

    /// A run that is listed and has no postings, or not the filters it was written with, if there is one.
    fn missing_run(&self) -> Result<Option<u32>> {
        for (run, record) in &self.view().runs {
            for (name, expected) in [(POSTINGS, record.postings > 0), (FILTERS, record.filter_bytes > 0)] {
                let mut rows = rows_of(self, name, *run, Reading::Points)?;
                rows.seek_to_first();
                // What cannot be read is there, and says what is wrong with it when it is needed.
                if expected && !rows.valid() && rows.status().is_ok() {
                    return Ok(Some(*run));
                }
            }
        }
        Ok(None)
    }

    fn load(root: &Path, db: DB, cache: Cache, reader: Option<LogFolder>, lock: Option<WriterLock>) -> Result<Self> {
        Ok(Self {
            root: root.to_owned(),
            profile: load_profile(&db)?,
            view: RwLock::new(Arc::new(View::load(&db)?)),
            filter_use: FilterUse::new(cache),
            db,
            _at_close: lock.as_ref().map(|_| AtClose(root.to_owned())),
            _reader: reader,
            lock,
            turns: Turns::default(),
        })
    }

    /// Removes files and rows of a batch that was never committed. Readers never saw them.
    fn discard_unfinished(&self) -> Result<()> {
        let incoming = self.root.join(INCOMING);
        match fs::remove_dir_all(&incoming) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::Io { action: "empty", path: incoming, source: error });
            }
            _ => fs::create_dir_all(&incoming).map_err(Error::io("create", &incoming))?,
        }
        // Runs that a crash left before they were committed, or after they were folded into another.
        let view = self.view();
        for name in RUN_FAMILIES {
            let mut rows = self.db.raw_iterator_cf(family(&self.db, name)?);
            rows.seek_to_first();
            while let Some(key) = rows.key() {
                let run = run_of_key(key).ok_or_else(|| Error::Damaged {
                    what: format!("a row of the {name}"),
                    detail: "its key names no run",
                })?;
                if !view.runs.iter().any(|&(listed, _)| listed == run) {
                    self.remove_run(run)?;
                }
                rows.seek(posting_key(run + 1, 0, 0));
            }
            rows.status().map_err(failed("look for unfinished batches"))?;
        }

        // Positions and texts have keys that begin with the document.
        let first = position_key(view.state.next_document, 0);
        for name in [POSITIONS, TEXTS] {
            let rows = family(&self.db, name)?;
            let Some(last) = self.db.iterator_cf(rows, IteratorMode::End).next() else { continue };
            let (last, _) = last.map_err(failed("look for unfinished batches"))?;
            if last[..] >= first[..] {
                let mut batch = WriteBatch::default();
                batch.delete_range_cf(rows, &first[..], &[&last[..], &[0]].concat()[..]);
                self.db.write_opt(batch, &synced()).map_err(failed("discard an unfinished batch"))?;
            }
        }
        Ok(())
    }
}

/// How the name of a database's folder begins while it is being made.
pub(crate) const MAKING: &str = ".fpdb-making-";

/// Makes a database at `root`, whose store `fill` puts into the folder it is given, and says its profile. It appears whole or not
/// at all: it is made beside its place and then renamed.
pub(in crate::store) fn make_whole(root: &Path, fill: impl FnOnce(&Path) -> Result<Profile>) -> Result<()> {
    match check_marker(root) {
        Err(Error::NoDatabase { .. }) => {}
        Err(error) => return Err(error),
        Ok(()) => return Err(Error::DatabaseExists { path: root.to_owned() }),
    }
    // An empty folder may be a disk of its own, somebody's current folder, or behind a link: it is filled, not replaced.
    let fills = root.is_dir();
    let parent = match root.parent() {
        _ if fills => root.to_owned(),
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    fs::create_dir_all(&parent).map_err(Error::io("create", &parent))?;
    let making = Temporary::folder(|| tempfile::Builder::new().prefix(MAKING).tempdir_in(&parent));
    let (making, _noted) = making.map_err(Error::io("create a folder in", &parent))?;
    let inside = making.path();
    let profile = fill(inside)?;
    let marker_path = inside.join(MARKER);
    fs::write(&marker_path, marker(&profile))
        .and_then(|()| fs::File::open(&marker_path)?.sync_all())
        .and_then(|()| fs::File::open(inside)?.sync_all())
        .map_err(Error::io("write", &marker_path))?;
    if fills {
        // The marker comes last, and makes it a database.
        for name in [STORE, MARKER] {
            fs::rename(inside.join(name), root.join(name)).map_err(Error::io("fill", root))?;
        }
        fs::File::open(root).and_then(|folder| folder.sync_all()).map_err(Error::io("sync", root))?;
        return Ok(());
    }
    fs::rename(inside, root).map_err(Error::io("create", root))?;
    // The folder has moved: there is nothing left to remove.
    let _ = making.keep();
    fs::File::open(&parent).and_then(|folder| folder.sync_all()).map_err(Error::io("sync", &parent))
}

/// Brings a reader up to the writer's last commit.
///
/// The engine reads its list of tables first and its logs then. What a writer moves meanwhile from a log into
/// tables, as it does when it opens, is in neither, with no error: only the list, read again, has it. So the
/// reader is sure once the state has not changed while the list was read again.
fn catch_up(db: &DB) -> Result<()> {
    let state = || db.get(STATE_KEY).map_err(failed("read its state"));
    let mut seen = state()?;
    loop {
        db.try_catch_up_with_primary().map_err(failed("catch up with the writer"))?;
        let now = state()?;
        if now == seen {
            return Ok(());
        }
        seen = now;
    }
}

/// The folder of a reader's log; it goes when this does, or when the program is told to end.
pub(in crate::store) struct LogFolder {
    folder: TempDir,
    _noted: Temporary,
}

impl LogFolder {
    fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Options of a reader, and the folder for the engine's own log, which would otherwise be written into the
/// database.
pub(in crate::store) fn reader_options() -> Result<(Options, LogFolder)> {
    let made = Temporary::folder(|| tempfile::Builder::new().prefix("fpdb-reader-").tempdir());
    let (folder, _noted) = made.map_err(Error::io("create a folder in", std::env::temp_dir()))?;
    let folder = LogFolder { folder, _noted };
    let mut options = options::database();
    options.set_db_log_dir(folder.path());
    Ok((options, folder))
}

fn cannot_open(root: &Path) -> impl FnOnce(rocksdb::Error) -> Error {
    let path = root.to_owned();
    move |error| Error::CannotOpen { path, source: cause(&error) }
}

/// Write options of a commit: on the disk before the call returns.
pub(in crate::store) fn synced() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.set_sync(true);
    options
}

/// The number of the last commit that was marked, unless the list of tables has become shorter since.
fn marked(root: &Path) -> Result<u64> {
    let mark = mark::read(root)?;
    mark.check_tables(root)?;
    Ok(mark.commits)
}

pub(in crate::store) fn check_marker(root: &Path) -> Result<()> {
    let path = root.join(MARKER);
    let text = match fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                let path = root.to_owned();
                // In an empty folder one can be made.
                let taken = root.symlink_metadata().is_ok() && !is_empty_folder(root);
                return Err(if taken { Error::NotADatabase { path } } else { Error::NoDatabase { path } });
            }
            _ => return Err(Error::Io { action: "read", path, source: error }),
        },
    };
    match marker_version(&text) {
        Some(version) if version == FORMAT_VERSION.to_string() => Ok(()),
        Some(version) => Err(Error::FormatVersion {
            path: root.to_owned(),
            found: version.chars().take(20).collect(),
            supported: FORMAT_VERSION,
        }),
        None => Err(Error::NotADatabase { path: root.to_owned() }),
    }
}

pub(in crate::store) fn is_empty_folder(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

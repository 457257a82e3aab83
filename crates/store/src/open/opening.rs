//! Opening: opens a database for its one writer, or for a reader, even beside a writer.
//!
//! A reader checks the lock before and after it opens the store. If no process holds the lock, the reader
//! opens the store read-only, and the engine reports missing files. Beside a writer, the reader opens a
//! secondary instance, because RocksDB supports nothing else there. A secondary instance silently ignores
//! missing tables, but the writer has checked them.
//!
//! If the writer moves rows between the log and tables meanwhile, the reader opens the database again. If the
//! writer only adds tables, the reader catches up. After a bounded number of tries, the reader fails with an
//! error. Fast commits alone do not delay a reader.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use crate::care::repair;
use crate::codec::format::{FILTERS, POSTINGS, STORE};
use crate::engine::failure::EngineError;
use crate::engine::failure::missing;
use crate::engine::{Access, Engine};
use crate::open::commit_mark::{self, AtClose, CommitMark};
use crate::open::format_marker::check_marker;
use crate::open::linked_store::LinkedStore;
use crate::open::lock::{self, WriterLock};
use crate::open::manifest::{self, ListChange, ListEnd, TrustedList};
use crate::open::place::Place;
use crate::open::{files, open_files};
use crate::past::Past;
use crate::read::filter_use::FilterUse;
use crate::read::run_rows::{ReadPattern, rows_of};
use crate::turns::Turns;
use crate::view::{View, load_identity, load_profile};
use crate::{Store, StoreOptions};
use fpdb_host::error::{Error, Result, StoreFailure};
use fpdb_host::pool::Pool;
use fpdb_kernel::profile::Profile;

/// Maximum number of times that a reader catches up with the writer. Nearly always the first state is
/// complete.
const CATCH_UPS: usize = 20;

/// Maximum number of times that a reader tries to open the database beside a writer, and the pause between
/// tries. On a busy machine, a writer that commits without a break disturbed 20 tries in a row.
const OPENINGS: usize = 100;
const PAUSE: Duration = Duration::from_millis(5);

impl Store {
    /// Opens a database for writing, and discards uncommitted rows and files of an interrupted run.
    pub fn open_writer(root: &Path, options: &StoreOptions) -> Result<Self> {
        check_marker(root)?;
        let lock = WriterLock::take(root)?;
        let finished_repair = repair::finish_interrupted(root)?;
        let mut store = Self::open_locked(root, lock, options)?;
        store.finished_repair = finished_repair;
        Ok(store)
    }

    /// Like [`Self::open_writer`], with the lock already taken.
    pub(crate) fn open_locked(root: &Path, lock: WriterLock, options: &StoreOptions) -> Result<Self> {
        if let Some(list) = TrustedList::of(root)? {
            list.put_in_place()?;
        }
        // This check comes before the engine opens the store for writing, because the engine then deletes
        // tables that a damaged list does not name.
        drop(Self::open_unlocked(root, options)?);
        let engine = Engine::open(&root.join(STORE), Access::Write, options.cache_bytes).map_err(cannot_open(root))?;
        let store = Self::load(root, engine, None, Some(lock), options)?;
        store.discard_unfinished()?;
        // Opening creates a new list of tables.
        store.mark()?;
        Ok(store)
    }

    /// Opens a database for reading, as of its last commit. A writer may be active.
    pub fn open_reader(root: &Path, options: &StoreOptions) -> Result<Self> {
        check_marker(root)?;
        for _ in 0..OPENINGS {
            // Without a writer the engine opens the whole database, or reports missing files.
            let before = lock::last_writer(root)?;
            let opened = match before {
                Some(_) => Self::open_unlocked(root, options),
                None => Self::open_beside_writer(root, options),
            };
            let undisturbed = before.is_some() && lock::last_writer(root)? == before;
            if undisturbed || (before.is_none() && opened.is_ok()) {
                return opened;
            }
            // Another try is useless, because the system will refuse again.
            if let Err(Error::Store { failure, .. } | Error::CannotOpen { failure, .. }) = &opened
                && failure.is_refusal()
                && *failure != StoreFailure::Busy
            {
                return opened;
            }
            // A fold can remove a table after it was found in the list and before it is opened.
            thread::sleep(PAUSE);
        }
        Self::open_beside_writer(root, options)
    }

    /// Opens a database for reading while another process may write it.
    fn open_beside_writer(root: &Path, options: &StoreOptions) -> Result<Self> {
        open_files::allow_for(root, options.raise_open_files)?;
        files::check(root)?;
        let mark = checked_mark(root)?;
        // The engine silently ignores missing tables, but the writer has checked them.
        let before = ListEnd::of(root)?;
        let engine = Engine::open(&root.join(STORE), Access::ReadBesideWriter, options.cache_bytes);
        let engine = engine.map_err(cannot_open(root))?;
        let store = Self::load(root, engine, None, None, options)?;
        store.follow_to_a_commit(before)?;
        store.checked(&mark)
    }

    /// Moves a reader beside a writer to the first state that is certainly one whole commit. `read` is the
    /// list of tables before the engine read it.
    ///
    /// The engine reads its list of tables first, then its logs, which hold the commits. So the commit that
    /// the reader sees can be later than the tables that it sees:
    /// * If the writer moves a row meanwhile, from a log into a table or between tables, the row is missing
    ///   without an error. Catching up does not help: deleted rows from a log would reappear once the tables
    ///   have dropped their deletions. The reader must open the database again, so this is an error here.
    /// * Tables of rows that were added and committed meanwhile are missing. The list shows them, and the
    ///   reader catches up.
    /// * Tables of a run that the commit names can be missing too: all of them are there or none. They are
    ///   removed only after a commit that does not name the run.
    ///
    /// A writer moves rows only once in many commits. Catching up reads the later changes.
    fn follow_to_a_commit(&self, mut read: Option<ListEnd>) -> Result<()> {
        let ahead = |why: &str| {
            let source = format!("{why} each time that it was read; nothing is lost, try again").into();
            Err(Error::Store { action: "read it beside its writer", failure: StoreFailure::Busy, source })
        };
        for _ in 0..CATCH_UPS {
            #[cfg(test)]
            tests::look();
            let now = ListEnd::of(&self.root)?;
            let absent = self.missing_run()?;
            let change = match (&now, &read) {
                (Some(now), Some(read)) => now.change_since(read)?,
                // The writer is replacing the list.
                _ => ListChange::Rows,
            };
            match (change, absent) {
                (ListChange::None | ListChange::Runs, None) => return Ok(()),
                (ListChange::None, Some(run)) => return Err(missing(&format!("run {run} of the postings"))),
                (ListChange::Rows, _) => return ahead("the writer moved rows"),
                (ListChange::Runs | ListChange::MoreRows, _) => {}
            }
            read = now;
            self.engine.catch_up()?;
            *self.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(View::load(&self.engine)?);
        }
        ahead("the writer added tables")
    }

    /// Opens a database for reading while no process writes it.
    pub(crate) fn open_unlocked(root: &Path, options: &StoreOptions) -> Result<Self> {
        open_files::allow_for(root, options.raise_open_files)?;
        files::check(root)?;
        let mark = checked_mark(root)?;
        let links = TrustedList::of(root)?.map(|list| list.link_store()).transpose()?;
        let store = links.as_ref().map_or_else(|| root.join(STORE), LinkedStore::path);
        let engine = Engine::open(&store, Access::Read, options.cache_bytes).map_err(cannot_open(root))?;
        let store = Self::load(root, engine, links, None, options)?.checked(&mark)?;
        if !mark.has_list() {
            manifest::check_unmarked_list(root)?;
        }
        // A list of tables that was cut between two records omits tables without an error.
        match store.missing_run()? {
            None => Ok(store),
            Some(run) => Err(missing(&format!("run {run} of the postings"))),
        }
    }

    /// Returns the store. Fails if the mark, which was read before opening, shows that the store is of
    /// another database or lacks commits.
    fn checked(self, mark: &CommitMark) -> Result<Self> {
        if let (Some(found), Some(marked)) = (&self.identity, &mark.identity)
            && found != marked
        {
            let (found, marked) = (found.clone(), marked.clone());
            return Err(Error::OtherStore { path: self.root, found, marked });
        }
        let state = self.view().state.clone();
        if state.commits < mark.commits {
            return Err(Error::CommitsLost { path: self.root, found: state.commits, marked: mark.commits });
        }
        // A copy of this database that was changed since has the same identity, so the counts are compared
        // too.
        if state.commits == mark.commits && mark.counts.is_some_and(|counts| counts != state.counts()) {
            let what = format!("the store of the database at {}", self.root.display());
            return Err(Error::Damaged {
                what,
                detail: "it does not have the documents that were there after its last commit",
            });
        }
        Ok(self)
    }

    /// A listed run without its postings or filters, if any.
    fn missing_run(&self) -> Result<Option<u32>> {
        for (run, record) in &self.view().runs {
            for (name, expected) in [(POSTINGS, record.postings > 0), (FILTERS, record.filter_bytes > 0)] {
                let mut rows = rows_of(&self.engine, name, *run, ReadPattern::Points)?;
                rows.seek_to_first();
                // A row that cannot be read is damaged, not missing. Its damage is reported when the row is
                // needed.
                if expected && !rows.valid() && rows.check().is_ok() {
                    return Ok(Some(*run));
                }
            }
        }
        Ok(None)
    }

    fn load(
        root: &Path,
        engine: Engine,
        links: Option<LinkedStore>,
        lock: Option<WriterLock>,
        options: &StoreOptions,
    ) -> Result<Self> {
        let profile = load_profile(&engine)?;
        check_hash_version(root, &profile)?;
        Ok(Self {
            root: root.to_owned(),
            profile,
            identity: load_identity(&engine)?,
            view: RwLock::new(Arc::new(View::load(&engine)?)),
            past: Past::default(),
            filter_use: Arc::new(FilterUse::new(engine.cache().clone())),
            _at_close: lock.as_ref().map(|_| AtClose::new(root, engine.failure_flag())),
            engine,
            _links: links,
            lock,
            turns: Turns::default(),
            unfinished: AtomicBool::new(false),
            unfoldable: Mutex::default(),
            options: *options,
            place: Arc::new(Place::of(root)),
            pool: Arc::new(Pool::new(options.threads)),
            finished_repair: None,
        })
    }
}

fn cannot_open(root: &Path) -> impl FnOnce(EngineError) -> Error {
    let path = root.to_owned();
    move |error| Error::CannotOpen { path, failure: error.failure, source: error.source }
}

/// The mark of the last commit. Fails if the list of tables is shorter or older than marked.
fn checked_mark(root: &Path) -> Result<CommitMark> {
    let mark = commit_mark::read(root)?;
    manifest::check_list(root, &mark)?;
    Ok(mark)
}

/// Fails if this program makes other fingerprints than those in the database, because then no query would
/// find anything.
fn check_hash_version(root: &Path, profile: &Profile) -> Result<()> {
    let (unit, found, supported) = (profile.unit(), profile.hash_version(), profile.supported_hash_version());
    if found == supported {
        return Ok(());
    }
    Err(Error::HashVersion { path: root.to_owned(), unit, found, supported })
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    use super::*;
    use crate::codec::format::MAIN;
    use crate::tests::replace_all;
    use fpdb_host::progress::Task;
    use fpdb_kernel::profile::Unit;

    thread_local! {
        static LOOK: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
    }

    /// Runs a test's writer after a reader in this thread has read the store, and before the reader checks
    /// that the state is whole.
    pub(super) fn look() {
        if let Some(mut write) = LOOK.take() {
            write();
            LOOK.set(Some(write));
        }
    }

    #[test]
    fn a_reader_takes_the_first_whole_commit_however_many_the_writer_makes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("db");
        let options = StoreOptions::default();
        let writer = Rc::new(Store::create(&root, &Profile::named("words").unwrap(), &options).unwrap());
        let (looks, moves) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let write = {
            let (writer, looks, moves) = (Rc::clone(&writer), Rc::clone(&looks), Rc::clone(&moves));
            move || {
                replace_all(&writer, looks.get());
                looks.set(looks.get() + 1);
                if moves.get() > 0 {
                    moves.set(moves.get() - 1);
                    writer.engine.move_rows(MAIN);
                }
            }
        };
        LOOK.set(Some(Box::new(write)));
        for number in 0..20 {
            let (before, commits) = (looks.get(), writer.view().state.commits);
            // The number of times that the reader must read the store: the writer moves rows after each time
            // except the last.
            let expected = [1, 1, 1, 2, 4][number % 5];
            moves.set(expected - 1);
            let reader = Store::open_reader(&root, &options).unwrap();
            assert_eq!(looks.get() - before, expected, "{number}");
            let seen = reader.view().state.commits;
            assert!(seen >= commits && seen < writer.view().state.commits, "{commits} {seen}");
            // Later commits do not change the state of the reader.
            replace_all(&writer, 1000 + number as u64);
            assert_eq!(reader.verify(&Task::new()).unwrap().problems, []);
            assert_eq!(reader.view().state.documents, 3 * u64::from(seen > 0));
        }
        moves.set(u64::MAX);
        let before = looks.get();
        let error = Store::open_reader(&root, &options).err().unwrap();
        assert!(matches!(error, Error::Store { failure: StoreFailure::Busy, .. }), "{error}");
        assert_eq!(looks.get() - before, OPENINGS as u64 + 1);
        LOOK.take();
    }

    #[test]
    fn a_database_of_other_tokens_is_refused_and_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("db");
        let options = StoreOptions::default();
        let profile = Profile::named("code").unwrap().with_hash_version(1);
        // The first call creates the database. All three calls then fail to open it.
        let errors = [
            Store::create(&root, &profile, &options).err(),
            Store::open_reader(&root, &options).err(),
            Store::open_writer(&root, &options).err(),
        ];
        for error in errors.map(|error| error.expect("refused")) {
            assert!(matches!(error, Error::HashVersion { unit: Unit::Token, found: 1, supported: 2, .. }));
            assert!(error.to_string().contains("was made with version 1 of the rules of unit token"));
            assert!(error.hint().expect("a hint").starts_with("ingest the documents again"));
        }
        // Databases of text are not affected.
        assert!(Store::create(&folder.path().join("text"), &Profile::named("text").unwrap(), &options).is_ok());
    }
}
